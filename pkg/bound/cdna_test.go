package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// cdna returns the matrix cores of AMD that sum in binary32, and the
// instructions of Intel that do, some of which flush subnormal numbers as well.
func cdna() []tcore.Device {
	return slices.DeleteFunc(devices.All(), func(d tcore.Device) bool {
		return !strings.HasPrefix(d.Name, "cdna") && d.Architecture != "Sapphire Rapids" || !d.C.Equal(tcore.Binary32)
	})
}

// An elementsOf draws the elements of matrices, numbers of f.
type elementsOf struct {
	name string
	draw func(r *rand.Rand, f tcore.Format) float64
}

// hard are data that are difficult for AMD machines, subnormal factors,
// subnormal products, tiny and mixed numbers, zeros; and ordinary data.
var hard = []elementsOf{
	{"subnormal", func(r *rand.Rand, f tcore.Format) float64 { return f.MinNormal() * r.NormFloat64() }},
	{"some subnormal", func(r *rand.Rand, f tcore.Format) float64 {
		if r.IntN(4) == 0 {
			return f.MinNormal() * r.Float64()
		}
		return r.NormFloat64()
	}},
	{"tiny", func(r *rand.Rand, f tcore.Format) float64 { return math.Ldexp(r.NormFloat64(), f.Emin/2) }},
	{"mixed", func(r *rand.Rand, f tcore.Format) float64 {
		return math.Copysign(math.Exp2(40*r.Float64()-20), r.Float64()-0.5)
	}},
	{"mixed, positive", func(r *rand.Rand, f tcore.Format) float64 { return math.Exp2(24*r.Float64() - 20) }},
	{"U(-1,1)", func(r *rand.Rand, _ tcore.Format) float64 { return 2*r.Float64() - 1 }},
	{"U(0,1)", func(r *rand.Rand, _ tcore.Format) float64 { return r.Float64() }},
	{"N(0,1)", func(r *rand.Rand, _ tcore.Format) float64 { return r.NormFloat64() }},
	{"sparse", func(r *rand.Rand, _ tcore.Format) float64 { return r.NormFloat64() * float64(r.IntN(10)/9) }},
}

func (s elementsOf) matrix(r *rand.Rand, rows, cols int, f tcore.Format) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(min(max(s.draw(r, f), -f.Max()/16), f.Max()/16))
	}
	return m
}

// afterRun returns the bounds from a run that are valid on the machine: those
// that always hold, and those that treat the products as random. It omits those
// that treat rounding to nearest as random.
func afterRun(k Problem) (bounds []Bound) {
	for _, b := range Catalogue() {
		if b.Interval != nil && b.fails(k) == "" && (!b.Model.Random || b.Model.Name == TruncatingRandom.Name) {
			bounds = append(bounds, b)
		}
	}
	return bounds
}

// On these machines, every bound from a run is valid for data of all kinds and
// lengths, and the emulation computes what the device computes.
func TestCDNA(t *testing.T) {
	lengths, seeds := []int{1, 2, 3, 7, 33, 100, 129, 1000}, 6
	if testing.Short() {
		lengths, seeds = []int{1, 2, 3, 7, 33, 129}, 2
	}
	for _, d := range cdna() {
		t.Run(d.Name, func(t *testing.T) {
			near := map[string]float64{}
			for seed := range uint64(seeds) {
				for _, s := range hard {
					for _, K := range lengths {
						rng := rand.New(rand.NewPCG(seed, uint64(K)))
						k := Problem{M: 6, N: 3, K: K, Machine: tcore.Machine{Device: d}}
						a, b := s.matrix(rng, k.M, K, d.A), s.matrix(rng, K, k.N, d.B)
						if what := fmt.Sprintf("%s and a large last product, K = %d, seed %d", s.name, K, seed); seed%2 == 1 {
							for i := K - 1; i < len(a.Data); i += K {
								a.Data[i] = float32(d.A.Round(math.Ldexp(1+rng.Float64(), min(12, d.A.Emax-1)), tcore.ToZero))
							}
							bounds := afterRun(k)
							// The data are not of one distribution.
							bounds = slices.DeleteFunc(bounds, func(b Bound) bool { return b.Model.Random })
							holds(t, k, a, b, bounds, what, near)
							continue
						}
						holds(t, k, a, b, afterRun(k), fmt.Sprintf("%s, K = %d, seed %d", s.name, K, seed), near)
					}
				}
			}
			for _, b := range afterRun(Problem{M: 1, N: 1, K: 1000, Machine: tcore.Machine{Device: d}}) {
				if b.Name != Exact.Name && near[b.Name] < 0.5 {
					t.Errorf("no error comes nearer to %s than %v", b.Name, near[b.Name])
				}
			}
		})
	}
}

// holds tests bounds on one product. It records in near the largest ratio of an
// error to each bound.
func holds(t *testing.T, k Problem, a, b blas32.General, bounds []Bound, what string, near map[string]float64) {
	t.Helper()
	c := blas32.General{Rows: k.M, Cols: k.N, Stride: k.N, Data: make([]float32, k.M*k.N)}
	k.Device.MultiplyAdd(a, b, blas32.General{}, c)
	exact, err := k.Device.ExactGEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	errors := exact.Error(c).Data
	run, err := Emulate(k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for o := range run {
		if got := o.Sums; len(got) > 0 && got[len(got)-1] != float64(c.Data[i]) {
			t.Fatalf("%s: output %d is %v, the device has %v", what, i, got[len(got)-1], c.Data[i])
		}
		for _, b := range bounds {
			z := b.Interval(k, o, at99)
			if math.IsNaN(z.Radius) && len(o.Sums) == 0 { // one exact product
				continue
			}
			e := errors[i]
			if !(math.Abs(e-z.Centre) <= z.Radius+1e-15*(math.Abs(e)+o.Abs*0x1p-20)) {
				t.Errorf("%s: error %v, %s is %v ± %v", what, e, b.Name, z.Centre, z.Radius)
				return
			}
			near[b.Name] = max(near[b.Name], over(math.Abs(e), z.Bound()))
		}
		i++
	}
	if i != len(errors) {
		t.Errorf("%s: %d outputs, want %d", what, i, len(errors))
	}
}

// What flushing discards is not in any rounding error: a bound that neglects it
// is violated.
func TestFlushed(t *testing.T) {
	k := Problem{M: 1, N: 1, K: 4, Machine: tcore.Machine{Device: devices.CDNA2F16()}}
	a := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0x1p-15, 1, 0x1p-20, 1}}
	b := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 1, 0x1p10, 1}}
	run, err := Emulate(k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	const lost = 0x1p-15 + 0x1p-10
	for o := range run {
		if got := Exact.Interval(k, o, at99).Centre; o.Flushed != lost || got != -lost {
			t.Errorf("flushed %v, error %v, want %v", o.Flushed, got, lost)
		}
		for _, b := range []Bound{Running, RunningHalfUlp} {
			with := b.Interval(k, o, at99).Radius
			o.Flushed = 0
			if without := b.Interval(k, o, at99).Radius; without >= lost || with != without+lost {
				t.Errorf("%s: %v, without what is flushed %v", b.Name, with, without)
			}
			o.Flushed = lost
		}
	}
}

// The error of a sum between subnormal numbers can be as large as half their
// distance, whatever its size.
func TestSubnormalSums(t *testing.T) {
	for _, d := range []tcore.Device{devices.CDNA1BF16(), devices.PaperCoreF16()} {
		near := map[string]float64{}
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := elementsOf{draw: func(r *rand.Rand, f tcore.Format) float64 {
				return math.Ldexp(r.NormFloat64(), (d.C.Emin-d.C.Precision)/2)
			}}
			k := Problem{M: 2, N: 2, K: 8, Machine: tcore.Machine{Device: d}}
			holds(t, k, s.matrix(rng, 2, 8, d.A), s.matrix(rng, 8, 2, d.B), afterRun(k), d.Name, near)
		}
		if near[Running.Name] < 0.3 {
			t.Errorf("%s: no error comes near: %v", d.Name, near)
		}
	}
}

// On a machine that sums pairwise, the bounds from a run are smaller than gamma
// for 1000 products of one sign. On a machine that rounds once per block, gamma
// counts one rounding per block.
func TestEmulatedTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	k := Problem{M: 2, N: 2, K: 1000, Machine: tcore.Machine{Device: devices.CDNA2F16()}}
	a, b := draw(rng, 2, 1000, Uniform(0.5, 1)), draw(rng, 1000, 2, Uniform(0.5, 1))
	k.Run, _ = Emulate(k, a, b)
	all := evaluate(t, k, at99)
	for _, name := range []string{"running", "running-half-ulp", "ipsen-zhou", "half-ulp-bernstein", "hallman-ipsen-sums"} {
		if r := all[name]; !r.Holds || !(r.Constant < all["gamma"].Constant) {
			t.Errorf("%+v, gamma is %v", r, all["gamma"].Constant)
		}
	}
	k.Device = devices.CDNA1F16()
	k.Run, _ = Emulate(k, a, b)
	all = evaluate(t, k, at99)
	if want := roundoff.Gamma(250, 0x1p-24); all["gamma"].Constant != want {
		t.Errorf("gamma of CDNA1 is %v, want that of a rounding for each block, %v", all["gamma"].Constant, want)
	}
	if r := all["truncation"]; r.Holds {
		t.Errorf("%+v", r)
	}
}

// The bounds on what the second stage does are valid for every block, given
// exponents and sums: apart from moved, it rounds down by at most down, and to
// nearest by at most half a unit in the last place. All of these cases occur.
func TestStages(t *testing.T) {
	const blocks = 6
	for _, d := range cdna() {
		core, ok := d.Core.(tcore.TwoStage)
		if !ok {
			continue
		}
		below, least, up, moved, dropped := 0, 0.0, 0.0, 0, 0
		for seed := range uint64(40) {
			for _, s := range hard {
				rng := rand.New(rand.NewPCG(seed, 11))
				k := Problem{M: 4, N: 4, K: blocks * core.Terms, Machine: tcore.Machine{Device: d}}
				a, b := s.matrix(rng, 4, k.K, d.A), s.matrix(rng, k.K, 4, d.B)
				for i := range blocks { // of different sizes, some with one nonzero product
					scale := float32(math.Ldexp(1, rng.IntN(24)-16))
					for l := i * core.Terms; l < (i+1)*core.Terms; l++ {
						for j := range 4 {
							x := &a.Data[j*k.K+l]
							*x = min(max(scale**x, -float32(d.A.Max())/64), float32(d.A.Max())/64)
							if seed%3 == 0 && l%core.Terms > 0 {
								*x = 0
							}
						}
					}
				}
				run, err := Emulate(k, a, b)
				if err != nil {
					t.Fatal(err)
				}
				for o := range run {
					i, before := 0, 0.0
					o.stages(k, func(s stage) {
						rest := o.Stages[i].Moved - s.moved
						blur := math.Ldexp(1, o.Stages[i].Exponent-70)
						if !(-s.down-s.ulp/2-blur <= rest && rest <= s.ulp/2+blur) {
							t.Fatalf("%s, seed %d: second stage did %v, want between %v and %v less", d.Name, seed, rest, s.down, s.ulp/2)
						}
						below += count(rest < -s.ulp/2-blur)
						if s.down > 0 {
							least = max(least, -(rest+s.ulp/2)/s.down)
						}
						if s.ulp > 0 {
							up = max(up, rest/(s.ulp/2))
						}
						moved += count(s.moved != 0)
						dropped += count(s.moved == -before && before != 0)
						before = o.Stages[i].Result
						i++
					})
				}
			}
		}
		t.Logf("%s: below %d, least %v, up %v, moved %d, dropped %d", d.Name, below, least, up, moved, dropped)
		// Products of so few exponents are hardly ever rounded down.
		if d.A.Emin > -10 {
			continue
		}
		if below < 10 || least < 0.5 || up < 1 || moved < 10 || core.Parts == 2 && dropped == 0 {
			t.Errorf("%s: not tried", d.Name)
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// On AMD machines, no error exceeds a bound, computed after a run or before it.
// The test logs the tightness.
func TestCDNATightness(t *testing.T) {
	rows, lengths := 96, []int{256, 4096}
	if testing.Short() {
		rows, lengths = 8, []int{256}
	}
	for i, d := range []tcore.Device{devices.CDNA1F16(), devices.CDNA2F16(), devices.CDNA3F16(), devices.CDNA3FP8()} {
		for j, dist := range dists[:3] {
			if rarely(3, i, j) {
				continue
			}
			for _, K := range lengths {
				rng := rand.New(rand.NewPCG(241118747, uint64(K)))
				a, b := draw(rng, rows, K, dist), draw(rng, K, 8, dist)
				k, outputs := run(t, d, K, rows, a, b)
				k.X, k.Y = dist, dist
				near, size := map[string]float64{}, 0.0
				var before []Result
				for _, r := range results(t, k, at99) {
					if b, _ := Find(r.Bound); b.Constant != nil && r.Holds && (!b.Model.Random || b.Model.Name == TruncatingRandom.Name) {
						before = append(before, r)
					}
				}
				for o := range outputs {
					e := Exact.Interval(k, o, at99).Centre
					size = max(size, math.Abs(e))
					for _, b := range afterRun(k) {
						if b.Name == Exact.Name {
							continue
						}
						z := b.Interval(k, o, at99)
						if !(math.Abs(e-z.Centre) <= z.Radius+1e-14*math.Abs(e)) {
							t.Errorf("%s, %s, K = %d: error %v, %s is %v ± %v", d.Name, dist, K, e, b.Name, z.Centre, z.Radius)
						}
						near[b.Name] = max(near[b.Name], over(math.Abs(e), z.Bound()))
					}
					for _, r := range before {
						τ := over(math.Abs(e), r.Limit(o.Abs))
						if τ > 1 {
							t.Errorf("%s, %s, K = %d: error %v, %s is %v", d.Name, dist, K, e, r.Bound, r.Limit(o.Abs))
						}
						near[r.Bound] = max(near[r.Bound], τ)
					}
				}
				cells := []string{}
				for _, b := range Catalogue() {
					if τ, ok := near[b.Name]; ok {
						cells = append(cells, fmt.Sprintf("%s %.2g", b.Name, τ))
					}
				}
				t.Logf("%s, %s, K = %d: %s", d.Name, dist, K, strings.Join(cells, ", "))
			}
		}
	}
}

// The mean loss of the first stage is the one that the distribution of the
// products predicts, for positive products and for products of both signs. The
// rest of the error is that of the second stage.
func TestStageLossIsThatOfTheDistribution(t *testing.T) {
	const n, K = 24, 512
	for _, d := range []tcore.Device{devices.CDNA3F16(), devices.CDNA3FP8()} {
		for _, s := range hard {
			if s.name != "U(0,1)" && s.name != "mixed, positive" && s.name != "N(0,1)" {
				continue
			}
			rng := rand.New(rand.NewPCG(241118747, 23))
			k := Problem{M: n, N: n, K: K, Machine: tcore.Machine{Device: d}}
			run, err := Emulate(k, s.matrix(rng, n, K, d.A), s.matrix(rng, K, n, d.B))
			if err != nil {
				t.Fatal(err)
			}
			off, square, mean := 0.0, 0.0, 0.0
			for o := range run {
				sum, lost := newStageLoss(k, o.Losses(), at99), -Exact.Interval(k, o, at99).Centre
				i := 0
				o.stages(k, func(s stage) {
					lost += o.Stages[i].Moved
					sum.addParts(s)
					i++
				})
				off += (lost - sum.mean) / (n * n)
				square += (lost - sum.mean) * (lost - sum.mean) / (n * n)
				mean += sum.mean / (n * n)
			}
			// Outputs of one row share its elements, so that they count as 24 independent
			// ones rather than 576.
			σ := math.Sqrt(square / n)
			t.Logf("%s, %s: %.3g cut off, distribution %.3g ± %.2g", d.Name, s.name, mean+off, mean, σ)
			if math.Abs(off) > 4*σ || d == devices.CDNA3F16() && s.name != "N(0,1)" && !(mean > 20*σ) {
				t.Errorf("%s, %s: %v is cut off in the mean, %v by the distribution, ± %v", d.Name, s.name, mean+off, mean, σ)
			}
		}
	}
}
