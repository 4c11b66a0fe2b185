package study

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tolerance"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Criteria are ways to tell whether outputs are right, by the exact ones:
// [tolerance.Tolerance.Compare] with an unknown split of K, the same with the
// bits of emulations, of which one number of parts has to fit, |got - want| <=
// atol + rtol |want| with the defaults of numpy.allclose, 1e-5 and 1e-8, and
// with 1e-2 for both, and |got - want| <= 6√(2K) u |A||B| with the u of the
// format in which the device adds.
var Criteria = []string{"tolerance", "emulated", "allclose", "loose", "root"}

// The faults that are planted, by name. No fault is a sound product.
const (
	NoFault   = "none"
	TailFault = "tail"  // the last products of K are missing, those of the last block
	OneScale  = "scale" // a block of one row of A counts twice or half
	HalfSums  = "sums"  // the sums of 8 parts of K are binary16
	Swapped   = "rows"  // two rows of D are swapped
	OneBit    = "bit"   // a bit of one output is flipped, in the lower half of its significand
)

// Planted says how many faults of a kind were planted into products on a
// device, and which criteria saw them. A fault is above rounding size if it
// changes an output by more than the largest error of any output of the sound
// products of the same matrices, over all splits of K that were tried. What is
// less than that nobody can tell from rounding who knows the exact product and
// no more. No limit of package tolerance has a part in it.
type Planted struct {
	Device, Data, Fault string
	Emulated            bool // whether the device is emulated for the second of the Criteria, which is else the first

	Faults int   // how many were planted, or sound products
	Above  int   // how many are above rounding size
	Caught []int // of these by each of the Criteria; of sound products how many were refused
	Far    int   // how many are above ten times rounding size
	Seen   []int // of these by each of the Criteria

	Below   int // how many below rounding size were caught by the tolerance
	Named   int // of those that the tolerance caught, how many have this as their first cause
	Outputs int // of sound products
	Alarms  []int
}

// PlantedDevices returns the tensor cores of NVIDIA in the catalogue.
func PlantedDevices() (all []tcore.Device) {
	for _, d := range devices.All() {
		if slices.Contains([]string{"Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "RTX Blackwell"}, d.Architecture) {
			all = append(all, d)
		}
	}
	return all
}

// PlantedData are the distributions of the elements of A and B: of mean zero,
// where products cancel, and of one sign, where truncation has a drift.
var PlantedData = []string{"N(0,1)", "U(0,1)"}

// The sizes of the products, the numbers of parts of K that are tried, and how
// many faults of each kind are planted in each product.
const (
	plantedRows  = 48
	plantedTerms = 1003 // no multiple of a block
	scaledTerms  = 1024
)

var (
	plantedSplits = []int{1, 2, 3, 5, 8, 32}
	plantedFaults = []struct {
		name  string
		times int
	}{{TailFault, 3}, {OneScale, 6}, {HalfSums, 1}, {Swapped, 6}, {OneBit, 24}}
)

// A planting is a product into which faults are planted.
type planting struct {
	tcore.Device
	a, b     blas32.General // what the device multiplies
	ca, cb   tcore.Codes    // of a device with scales
	rng      *rand.Rand
	t        *tolerance.Tolerance
	emulated []tolerance.Emulation // nil where there are none
	rounding float64               // the largest error of sound products
}

// Plant plants faults of every kind into products on the device of matrices
// from the distribution, one of PlantedData, and returns what the criteria say.
// The error says that there is no tolerance for the device.
func Plant(d tcore.Device, data string, seed uint64) ([]Planted, error) {
	p := planting{Device: d, rng: rand.New(rand.NewPCG(seed, 0))}
	p.draw(data)
	measured, err := p.measure()
	if err != nil {
		return nil, err
	}
	if p.t, err = measured.Of(tolerance.Implementation{Machine: tcore.Machine{Device: d, Output: d.C}}, roundoff.FailureOf(1-1e-6)); err != nil {
		return nil, err
	}
	p.emulated, _ = p.t.Emulate() // but of devices that add in binary64
	row := func(fault string) Planted {
		n := len(Criteria)
		return Planted{Device: d.Name, Data: data, Fault: fault, Emulated: len(p.emulated) > 0, Caught: make([]int, n), Seen: make([]int, n), Alarms: make([]int, n)}
	}
	sound := map[int]blas64.General{}
	none := row(NoFault)
	for _, s := range plantedSplits {
		sound[s] = p.product(p.a, p.ca, s, p.a.Cols)
		for i, x := range sound[s].Data {
			p.rounding = max(p.rounding, math.Abs(x-p.t.Exact.Data[i]))
		}
		none.Faults++
		none.Outputs += len(sound[s].Data)
		refused, _ := p.judge(sound[s])
		for i, n := range refused {
			none.Alarms[i] += n
			if n > 0 {
				none.Caught[i]++
			}
		}
	}
	all := []Planted{none}
	for _, fault := range plantedFaults {
		if fault.name == HalfSums && d.C.Precision != tcore.Binary32.Precision {
			continue // it is what the device does, or what nobody would do
		}
		z := row(fault.name)
		for range fault.times {
			s := plantedSplits[p.rng.IntN(len(plantedSplits))]
			p.plant(&z, sound[s], s)
		}
		all = append(all, z)
	}
	return all, nil
}

// plant plants one fault of the kind of z, and adds what is said of it.
func (p *planting) plant(z *Planted, sound blas64.General, s int) {
	got, change := p.spoiled(z.Fault, sound, s), 0.0
	for i, x := range got.Data {
		change = max(change, math.Abs(x-sound.Data[i]))
	}
	z.Faults++
	flagged, r := p.judge(got)
	above, far := change > p.rounding, change > 10*p.rounding
	if above {
		z.Above++
	} else if flagged[0] > 0 {
		z.Below++
	}
	if far {
		z.Far++
	}
	for i, n := range flagged {
		if n > 0 && above {
			z.Caught[i]++
		}
		if n > 0 && far {
			z.Seen[i]++
		}
	}
	if flagged[0] == 0 {
		return
	}
	causes := map[string][]string{TailFault: {"dropped"}, OneScale: {"scale", "dropped"}, HalfSums: {"sums"}, Swapped: {"rows"}, OneBit: {"bit"}}[z.Fault]
	if c := r.Causes; len(c) > 0 && slices.Contains(causes, c[0].Name) {
		z.Named++
	}
}

// measure returns the data of the matrices.
func (p *planting) measure() (*tolerance.Data, error) {
	if p.ScaleBlock > 0 {
		return tolerance.MeasureScaled(p.Device, p.ca, p.cb)
	}
	return tolerance.Measure(p.a, p.b)
}

// draw draws the matrices.
func (p *planting) draw(data string) {
	k := plantedTerms
	if p.ScaleBlock > 0 {
		k = scaledTerms
	}
	number := func() float64 {
		if data == "U(0,1)" {
			return p.rng.Float64()
		}
		return p.rng.NormFloat64()
	}
	p.a, p.b = matrix.New(plantedRows, k), matrix.New(k, plantedRows)
	fill := func(m blas32.General, f tcore.Format) {
		for i := range m.Data {
			m.Data[i] = float32(f.Round(number(), p.Convert))
		}
	}
	fill(p.a, p.A)
	fill(p.b, p.B)
	if p.ScaleBlock == 0 {
		return
	}
	codes := func(m blas32.General, f tcore.Format, scales int) tcore.Codes {
		z := tcore.Codes{Rows: m.Rows, Cols: m.Cols, Data: make([]uint8, len(m.Data)), Scales: make([]uint8, scales)}
		for i, x := range m.Data {
			z.Data[i] = uint8(f.Encode(float64(x), p.Convert))
		}
		for i := range z.Scales {
			z.Scales[i] = uint8(p.Scale.Encode(math.Exp2(float64(p.rng.IntN(5)-2)), tcore.ToNearestEven))
		}
		return z
	}
	blocks := k / p.ScaleBlock
	p.ca, p.cb = codes(p.a, p.A, plantedRows*blocks), codes(p.b, p.B, blocks*plantedRows)
	for i := range p.a.Data {
		p.a.Data[i] *= float32(p.Scale.Decode(uint64(p.ca.Scales[i/k*blocks+i%k/p.ScaleBlock])))
		l, j := i/plantedRows, i%plantedRows
		p.b.Data[i] *= float32(p.Scale.Decode(uint64(p.cb.Scales[l/p.ScaleBlock*plantedRows+j])))
	}
}

// product returns what the device makes of the first k products in s parts of
// K.
func (p *planting) product(a blas32.General, ca tcore.Codes, s, k int) blas64.General {
	m, z := tcore.Machine{Device: p.Device, SplitK: s}, matrix.New(plantedRows, plantedRows)
	switch {
	case p.C.Precision > tcore.Binary32.Precision:
		return p.wideProduct(a, bound.Problem{K: k, Machine: m}.Length(), k)
	case p.ScaleBlock > 0:
		m.GEMMCodes(1, ca.Left(0, k, p.ScaleBlock), p.cb.Right(0, k, p.ScaleBlock), 0, blas32.General{}, z)
	default:
		m.GEMM(blas.NoTrans, blas.NoTrans, 1, matrix.Columns(a, 0, k), matrix.Rows(p.b, 0, k), 0, blas32.General{}, z)
	}
	return matrix.Float64(z)
}

// wideProduct is product on a device that adds in binary64, where the sums of
// parts of a length are added, too.
func (p *planting) wideProduct(a blas32.General, length, k int) blas64.General {
	z, rows, columns := matrix.New64(plantedRows, plantedRows), matrix.Vectors(a), matrix.Vectors(matrix.Transpose(p.b))
	for i := range z.Data {
		x, y := rows[i/z.Cols], columns[i%z.Cols]
		for lo := 0; lo < k; lo += length {
			hi := min(k, lo+length)
			z.Data[i] += p.Dot(x[lo:hi], y[lo:hi], 0)
		}
	}
	return z
}

// halfSums returns the product in 8 parts of K, whose sums are rounded to
// binary16 and added in it.
func (p *planting) halfSums() blas64.General {
	z, next, half := matrix.New64(plantedRows, plantedRows), matrix.New(plantedRows, plantedRows), tcore.Binary16
	length := bound.Problem{K: p.a.Cols, Machine: tcore.Machine{Device: p.Device, SplitK: 8}}.Length()
	for lo := 0; lo < p.a.Cols; lo += length {
		hi := min(p.a.Cols, lo+length)
		if p.ScaleBlock > 0 {
			p.MultiplyAddCodes(p.ca.Left(lo, hi, p.ScaleBlock), p.cb.Right(lo, hi, p.ScaleBlock), blas32.General{}, next)
		} else {
			p.MultiplyAdd(matrix.Columns(p.a, lo, hi), matrix.Rows(p.b, lo, hi), blas32.General{}, next)
		}
		for i, x := range next.Data {
			z.Data[i] = half.Add(z.Data[i], half.Round(float64(x), tcore.ToNearestEven), tcore.ToNearestEven)
		}
	}
	return z
}

// spoiled returns the product with a fault.
func (p *planting) spoiled(fault string, sound blas64.General, s int) blas64.General {
	k, block := p.a.Cols, max(p.BlockTerms(), p.ScaleBlock)
	got := matrix.Map64(func(x float64) float64 { return x }, sound)
	switch fault {
	case TailFault:
		tail := k % block
		if tail == 0 {
			tail = block
		}
		return p.product(p.a, p.ca, s, k-tail)
	case OneScale:
		length := 128
		if p.ScaleBlock > 0 {
			length = p.ScaleBlock
		}
		i, b, q := p.rng.IntN(plantedRows), p.rng.IntN(k/length), math.Exp2(float64(2*p.rng.IntN(2)-1))
		if p.ScaleBlock > 0 {
			wrong := p.ca
			wrong.Scales = slices.Clone(wrong.Scales)
			at := &wrong.Scales[i*(k/length)+b]
			*at = uint8(p.Scale.Encode(q*p.Scale.Decode(uint64(*at)), tcore.ToNearestEven))
			return p.product(p.a, wrong, s, k)
		}
		return p.scaled(i, b*length, (b+1)*length, q, s)
	case HalfSums:
		return p.halfSums()
	case Swapped:
		i, j := p.rng.IntN(plantedRows), p.rng.IntN(plantedRows-1)
		if j >= i {
			j++
		}
		for c := range got.Cols {
			x, y := &got.Data[i*got.Stride+c], &got.Data[j*got.Stride+c]
			*x, *y = *y, *x
		}
	case OneBit:
		at := &got.Data[p.rng.IntN(len(got.Data))]
		place := p.rng.IntN(p.C.Precision / 2)
		*at = p.C.Decode(p.C.Encode(*at, tcore.ToNearestEven) ^ 1<<place)
	}
	return got
}

// scaled returns the product where elements lo to hi-1 of row i of A are times
// q, in the format of A.
func (p *planting) scaled(i, lo, hi int, q float64, s int) blas64.General {
	row := blas32.General{Rows: plantedRows, Cols: p.a.Cols, Stride: p.a.Stride, Data: slices.Clone(p.a.Data)}
	for l := lo; l < hi; l++ {
		x := &row.Data[i*row.Stride+l]
		*x = float32(p.A.Round(q*float64(*x), p.Convert))
	}
	return p.product(row, p.ca, s, p.a.Cols)
}

// judge returns how many outputs each of the criteria refuses, and what the
// tolerance reports. Where there is no emulation, the second is the first.
func (p *planting) judge(got blas64.General) ([]int, tolerance.Report) {
	n, r := make([]int, len(Criteria)), p.t.Compare(got)
	root := 6 * math.Sqrt(2*float64(p.a.Cols)) * p.C.UnitRoundoff()
	n[0], n[1] = r.Beyond, r.Beyond
	for i, x := range got.Data {
		want := p.t.Exact.Data[i]
		off := math.Abs(x - want)
		for j, limit := range []float64{1e-8 + 1e-5*math.Abs(want), 1e-2 + 1e-2*math.Abs(want), root * p.t.Sizes.Data[i]} {
			if !(off <= limit) {
				n[2+j]++
			}
		}
	}
	if len(p.emulated) > 0 && n[1] == 0 {
		fewest := len(got.Data)
		for _, e := range p.emulated {
			other := 0
			for i, x := range got.Data {
				if x != e.Bits.Data[i] {
					other++
				}
			}
			fewest = min(fewest, other)
		}
		n[1] = fewest
	}
	return n, r
}
