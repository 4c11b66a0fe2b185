package tolerance

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// spoil changes an output by two units in the last place of a format: one may
// be what another order of the sums of parts makes of it.
func spoil(got blas64.General, i int, f tcore.Format) {
	got.Data[i] = f.Decode(f.Encode(got.Data[i], tcore.ToNearestEven) ^ 2)
}

// An output that bounds allow stands apart if all others have the bits of the
// device; not if many do, nor if cuts may differ, nor if the order of additions
// shows in too few.
func TestOutputsThatStandApart(t *testing.T) {
	const m, k, n = 24, 1003, 24
	for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperF16F16(), devices.AmpereTF32(), devices.HopperE4M3()} {
		rng := rand.New(rand.NewPCG(8, 8))
		a, b := numbers(m, k, d.A, rng.NormFloat64), numbers(k, n, d.B, rng.NormFloat64)
		tolerance, mixed := toleranceOf(t, d, a, b, UnknownSplit), toleranceOf(t, d, a, b, MixedSplits)
		for _, parts := range []int{1, 2, 5} {
			got := kernel(tcore.Machine{Device: d, SplitK: parts}, a, b, identity)
			if r := tolerance.Compare(got); !r.Within() || r.Alike != 0 {
				t.Errorf("%s in %d parts: %v", d.Name, parts, r)
			}
			spoil(got, 5*n+7, d.C)
			if !tolerance.bounded(got).Within() {
				t.Fatalf("%s in %d parts: bounds refuse two units in the last place", d.Name, parts)
			}
			r := tolerance.Compare(got)
			if r.Beyond != 1 || r.Alike != parts || r.Worst[0].Row != 5 || r.Worst[0].Column != 7 || !strings.Contains(r.String(), "all others have the bits of the device") {
				t.Errorf("%s in %d parts, one apart: %d, alike %d, %v", d.Name, parts, r.Beyond, r.Alike, r)
			}
			if r := mixed.Compare(got); !r.Within() {
				t.Errorf("%s in %d parts, mixed: %v", d.Name, parts, r)
			}
			if emulations, _ := tolerance.Emulate(); parts < 3 {
				if r, _ := tolerance.CompareEmulated(got, emulations, true); r.Beyond != 1 || r.Alike != 0 {
					t.Errorf("%s in %d parts, emulated: %v", d.Name, parts, r)
				}
			}
			for i := range (m*n-1)/fewApart + 1 {
				spoil(got, 5*n+7+i, d.C)
			}
			spoil(got, 0, d.C)
			if r := tolerance.Compare(got); !r.Within() {
				t.Errorf("%s in %d parts, many apart: %v", d.Name, parts, r)
			}
		}
	}
}

// Sums of parts that are added in another order in each product, as by atomic
// additions, do not stand apart.
func TestSumsInAnyOrderDoNotStandApart(t *testing.T) {
	const m, k, n = 32, 1003, 32
	for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperF16F16(), devices.HopperE4M3F16(), devices.BlackwellE4M3()} {
		rng := rand.New(rand.NewPCG(3, 9))
		a, b := numbers(m, k, d.A, rng.NormFloat64), numbers(k, n, d.B, rng.NormFloat64)
		tolerance := toleranceOf(t, d, a, b, UnknownSplit)
		for _, parts := range []int{3, 8, 20} {
			all := make([]blas64.General, 6)
			for i := range all {
				all[i] = kernel(tcore.Machine{Device: d, SplitK: parts}, a, b, func(parts int) []int { return rng.Perm(parts) })
			}
			got := matrix.New64(m, n)
			for i := range got.Data { // each output in an order of its own
				got.Data[i] = all[rng.IntN(len(all))].Data[i]
			}
			if r := tolerance.Compare(got); !r.Within() {
				t.Errorf("%s in %d parts: %v", d.Name, parts, r)
			}
			order := rng.Perm(k)
			x, y := permuted(a, b, order)
			if r := tolerance.Compare(kernel(tcore.Machine{Device: d, SplitK: parts}, x, y, identity)); !r.Within() {
				t.Errorf("%s in %d parts of other products: %v", d.Name, parts, r)
			}
		}
	}
}

// Where all orders have nearly the same bits, though not those of the exact
// outputs, as where a device cuts the last bits of sums of e4m3 alone, no
// output of another order stands apart, nor where K in one number of parts has
// nearly the bits of another.
func TestSumsThatFewOrdersChangeDoNotStandApart(t *testing.T) {
	for _, c := range []struct {
		device  tcore.Device
		size, k int
		normal  bool
	}{
		{devices.RTXBlackwellE4M3(), 16, 500, false},
		{devices.HopperMMAE5M2(), 24, 256, true},
	} {
		d, few := c.device, 0
		for seed := range uint64(16) {
			rng := rand.New(rand.NewPCG(seed, 7))
			draw := rng.Float64
			if c.normal {
				draw = rng.NormFloat64
			}
			a, b := numbers(c.size, c.k, d.A, draw), numbers(c.k, c.size, d.B, draw)
			tolerance := toleranceOf(t, d, a, b, UnknownSplit)
			for _, parts := range []int{1, 2, 5} {
				machine := tcore.Machine{Device: d, SplitK: parts}
				x, y := permuted(a, b, rng.Perm(c.k))
				got := kernel(machine, x, y, identity)
				if n := differing(got, kernel(machine, a, b, identity), blas64.General{}); n > 0 && n <= (c.size*c.size-1)/fewApart {
					few++
				}
				if r := tolerance.Compare(got); !r.Within() {
					t.Errorf("%s, seed %d, %d parts: %v", d.Name, seed, parts, r)
				}
			}
		}
		if few == 0 {
			t.Errorf("%s: in no product so few outputs differ from those in sequence, want a test of some", d.Name)
		}
	}
}

// Each of the other orders that are asked is the only one somewhere: from the
// last block to the first where all parts are full, and the rest of K before
// all others where each part is one block.
func TestOrdersOfOneKindDoNotStandApart(t *testing.T) {
	const m, n = 16, 16
	d := devices.RTXBlackwellE4M3()
	for _, c := range []struct{ k, parts int }{{512, 1}, {1003, 32}} {
		machine, few := tcore.Machine{Device: d, SplitK: c.parts}, 0
		for seed := range uint64(24) {
			rng := rand.New(rand.NewPCG(seed, 7))
			a, b := numbers(m, c.k, d.A, rng.Float64), numbers(c.k, n, d.B, rng.Float64)
			data, err := Measure(a, b)
			if err != nil {
				t.Fatal(err)
			}
			tolerance, err := data.Of(Implementation{Machine: machine, Orders: OneMachine}, roundoff.FailureOf(1-1e-6))
			if err != nil {
				t.Fatal(err)
			}
			blocks := identity(c.k)
			for l := range blocks {
				blocks[l] = c.k - 1 - l
			}
			x, y := permuted(a, b, blocks)
			rest := data.padded(31 - (c.k-1)%32)
			for order, got := range map[string]blas64.General{
				"backwards":  kernel(machine, x, y, identity),
				"rest first": kernel(machine, rest.A, rest.B, identity),
				"shuffled":   kernel(machine, a, b, rng.Perm),
			} {
				if differing(got, kernel(machine, a, b, identity), blas64.General{}) == 1 {
					few++
				}
				if r := tolerance.Compare(got); !r.Within() {
					t.Errorf("K = %d, %d parts, seed %d, %s: %v", c.k, c.parts, seed, order, r)
				}
			}
		}
		if few == 0 {
			t.Errorf("K = %d, %d parts: in no product one output differs from those in sequence, want a test of some", c.k, c.parts)
		}
	}
}

// Where few outputs tell one number of parts from another, the one that fits
// all of them is found. Sums are of two blocks: of one, no order shows.
func TestFewOutputsTellTheParts(t *testing.T) {
	const m, k, n, block = 48, 1003, 48, 33
	d := devices.HopperE4M3()
	rng := rand.New(rand.NewPCG(2, 2))
	a, b := numbers(m, k, d.A, rng.NormFloat64), numbers(k, n, d.B, rng.NormFloat64)
	for i := 1; i < m; i++ {
		clear(matrix.Row(a, i)[block:])
	}
	for l := block; l < k; l++ {
		clear(matrix.Row(b, l)[12:])
	}
	tolerance := toleranceOf(t, d, a, b, UnknownSplit)
	for _, parts := range []int{1, 2, 3, 8, 32} {
		got := kernel(tcore.Machine{Device: d, SplitK: parts}, a, b, identity)
		if r := tolerance.Compare(got); !r.Within() {
			t.Errorf("%d parts: %v", parts, r)
		}
		spoil(got, 20*n+20, d.C)
		if r := tolerance.Compare(got); r.Beyond != 1 || r.Alike != parts {
			t.Errorf("%d parts, one apart: %d, alike %d, %v", parts, r.Beyond, r.Alike, r)
		}
	}
}

// Backwards is what the device computes of products whose blocks are in the
// other order, with sums of parts from the last to the first.
func TestBackwards(t *testing.T) {
	const m, k, n, parts = 5, 512, 6, 4
	d := devices.HopperE4M3()
	machine := tcore.Machine{Device: d, SplitK: parts}
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := numbers(m, k, d.A, rng.NormFloat64), numbers(k, n, d.B, rng.NormFloat64)
	length, block := partLength(machine, k), d.BlockTerms()
	order := identity(k)
	for l := range order {
		lo := l / length * length
		order[l] = lo + (length/block-1-(l-lo)/block)*block + l%block
	}
	x, y := permuted(a, b, order)
	last := func(parts int) []int { z := identity(parts); slices.Reverse(z); return z }
	got, want := toleranceOf(t, d, a, b, UnknownSplit).backwards(d, length), kernel(machine, x, y, last)
	if c := differing(got, want, blas64.General{}); c > 0 {
		t.Errorf("%d outputs differ from those of reversed blocks", c)
	}
	if c := differing(got, kernel(machine, a, b, identity), blas64.General{}); c == 0 {
		t.Error("all outputs are those in sequence, want data where the order shows")
	}
}

// With scales as well.
func TestBackwardsWithScales(t *testing.T) {
	const m, k, n = 16, 1024, 16
	d := devices.BlackwellMXE4M3()
	block := d.BlockTerms()
	scales := block / d.ScaleBlock // in a block
	rng := rand.New(rand.NewPCG(6, 6))
	x, y := randomCodes(rng, d, m, k, m*k/d.ScaleBlock), randomCodes(rng, d, k, n, n*k/d.ScaleBlock)
	measured := func(x, y tcore.Codes) *Tolerance {
		data, err := MeasureScaled(d, x, y)
		if err != nil {
			t.Fatal(err)
		}
		z, err := data.Of(Implementation{Machine: tcore.Machine{Device: d}}, roundoff.Never)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	reversed := func(data []uint8, rows, cols int, along bool, block int) (z []uint8) {
		z = make([]uint8, len(data))
		for i := range rows {
			for j := range cols {
				l, of := i, rows
				if along {
					l, of = j, cols
				}
				l = of - block - l/block*block + l%block
				if along {
					z[i*cols+l] = data[i*cols+j]
				} else {
					z[l*cols+j] = data[i*cols+j]
				}
			}
		}
		return z
	}
	u, v := x, y
	u.Data, u.Scales = reversed(x.Data, m, k, true, block), reversed(x.Scales, m, k/d.ScaleBlock, true, scales)
	v.Data, v.Scales = reversed(y.Data, k, n, false, block), reversed(y.Scales, k/d.ScaleBlock, n, false, scales)
	got := measured(x, y).backwards(d, k)
	if c := differing(got, measured(u, v).emulate(d, k).Bits, blas64.General{}); c > 0 {
		t.Errorf("%d outputs differ from those of reversed blocks", c)
	}
	if c := differing(got, measured(x, y).emulate(d, k).Bits, blas64.General{}); c == 0 {
		t.Error("all outputs are those in sequence, want data where the order shows")
	}
}

// Where another order changes half as many outputs as are asked for, at most
// few of them differ with a probability of 10⁻⁴.
func TestAtLeast(t *testing.T) {
	for few := range 40 {
		mean := float64(atLeast(float64(few))) / 2
		p, term := 0.0, math.Exp(-mean) // of Poisson's distribution
		for i := range few + 1 {
			p += term
			term *= mean / float64(i+1)
		}
		if p > 1e-4 {
			t.Errorf("few = %d: %.1e, want 1e-4 or less", few, p)
		}
	}
}

func TestDiffering(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	got := blas64.General{Rows: 3, Cols: 2, Stride: 3, Data: []float64{1, inf, 0, nan, 2, 0, 9, 9, 0}}
	want := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1.5, inf, nan, 4}}
	limits := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{0.5, 0, 0, 1}}
	if n := differing(got, want, blas64.General{}); n != 2 {
		t.Errorf("%d differ, want 2", n)
	}
	if n := differing(got, want, limits); n != 1 {
		t.Errorf("%d differ by more than limits, want 1", n)
	}
}

// The first rows of codes and scales are those of the data.
func TestTop(t *testing.T) {
	d := devices.BlackwellMXE4M3()
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := randomCodes(rng, d, 6, 64, 12), randomCodes(rng, d, 64, 5, 10)
	data, err := MeasureScaled(d, a, b)
	if err != nil {
		t.Fatal(err)
	}
	all, few := matrix.New(6, 5), matrix.New(2, 5)
	data.part(d, 0, 64, blas32.General{}, all)
	data.top(2).part(d, 0, 64, blas32.General{}, few)
	for i, x := range few.Data {
		if x != all.Data[i] {
			t.Errorf("%v, want %v", few.Data, all.Data[:10])
			break
		}
	}
	if z := data.top(9); z.A.Rows != 6 || data.A.Rows != 6 || data.scaled.a.Rows != 6 {
		t.Errorf("%d rows, want 6", z.A.Rows)
	}
}

// randomCodes returns codes of numbers, and of scales near 1.
func randomCodes(rng *rand.Rand, d tcore.Device, rows, cols, scales int) tcore.Codes {
	z := tcore.Codes{Rows: rows, Cols: cols, Data: make([]uint8, rows*cols), Scales: make([]uint8, scales)}
	for i := range z.Data {
		z.Data[i] = uint8(d.A.Encode(rng.NormFloat64(), tcore.ToNearestEven))
	}
	for i := range z.Scales {
		z.Scales[i] = uint8(125 + rng.IntN(5))
	}
	return z
}
