package quantisation

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Of uniform numbers and unit roundoff u, Var q = (2/63)u² + (u²/21)².
func TestVarianceOfUniformProducts(t *testing.T) {
	x := Factor{Law: Uniform(-1, 1), Format: tcore.BFloat16}
	u := tcore.BFloat16.UnitRoundoff()
	within(t, "Var q / u²", NewCumulant(x, x).Variance()/(u*u), 2./63+u*u/441, 1e-9)
}

// What 256 × 4096 × 256 products of recipes showed: the deviation of q over
// E|ab|, and the mean over it for U(0,1).
func TestDeviationAndDrift(t *testing.T) {
	laws := [3]Law{Uniform(-1, 1), Normal(0, 1).Truncated(-6, 6), Laplace(0, 1).Truncated(-20, 20)}
	sizes := [3]float64{0.25, 2 / math.Pi, 1}
	for _, c := range []struct {
		recipe     string // unscaled e4m3 if empty
		deviations [3]float64
		unit       float64 // of the last digit
		drift      float64
		resolution float64
	}{
		{"", [3]float64{.0446, .0590, .0746}, 1e-4, 0, 6e-5},
		{"mxe4m3-rceil", [3]float64{.0446, .0590, .0746}, 1e-4, 0, 6e-5},
		{"te-e4m3-128x128-power", [3]float64{.0446, .0590, .0746}, 1e-4, 0, 6e-5},
		{"mxe4m3-floor", [3]float64{.0992, .0655, .0892}, 1e-4, -.031, 5e-4},
		{"mxe5m2-floor", [3]float64{.1193, .1202, .1554}, 1e-4, -.031, 5e-4},
		{"mxe3m2-floor", [3]float64{.1193, .1202, .1554}, 1e-4, -.031, 5e-4},
		{"mxe2m3-floor", [3]float64{.0523, .0631, .0863}, 1e-4, -.0078, 5e-5},
		{"mxe2m1-floor", [3]float64{.295, .255, .356}, 1e-3, -.121, 5e-4},
		{"mxe2m1-even", [3]float64{.188, .248, .348}, 1e-3, 0, 3e-4},
		{"mxe2m1-rceil", [3]float64{.188, .256, .372}, 1e-3, 0, 3e-4},
		{"mxe2m1-ceil", [3]float64{.188, .320, .482}, 1e-3, 0, 3e-4},
	} {
		for i, l := range append(laws[:], Uniform(0, 1)) {
			x := Factor{Law: l, Format: tcore.E4M3}
			if c.recipe != "" {
				r, err := quant.Named(c.recipe)
				if err != nil {
					t.Fatal(err)
				}
				if x, err = Quantised(l, r); err != nil {
					t.Fatal(err)
				}
			}
			k := NewCumulant(x, x)
			if i == len(laws) {
				within(t, c.recipe+": drift", k.Mean()/0.25, c.drift, c.resolution)
				continue
			}
			// What was measured has the noise of 2·10⁶ numbers, of which those that
			// are clipped count most.
			within(t, fmt.Sprintf("%s, %s: deviation", c.recipe, l.Name), math.Sqrt(k.Variance())/sizes[i], c.deviations[i], c.unit+1e-2*c.deviations[i])
		}
	}
}

// A shape of a product, and the law and rounding of both factors.
type measured struct {
	law    Law
	format tcore.Format // unless there is a recipe
	recipe string
	size   float64 // E|ab|
}

func (m measured) factor(t *testing.T) Factor {
	t.Helper()
	if m.recipe == "" {
		return Factor{Law: m.law, Format: m.format}
	}
	r, err := quant.Named(m.recipe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Quantised(m.law, r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// vectors returns rows of K numbers and what they are rounded to.
func (m measured) vectors(t *testing.T, r *rand.Rand, rows, K int) (x, rounded []float64) {
	t.Helper()
	x, rounded = make([]float64, rows*K), make([]float64, rows*K)
	if m.recipe == "" {
		for i := range x {
			x[i] = draw(r, m.law)
		}
		m.format.RoundSlice(rounded, x, tcore.ToNearestEven)
		return x, rounded
	}
	recipe, err := quant.Named(m.recipe)
	if err != nil {
		t.Fatal(err)
	}
	narrow := blas32.General{Rows: rows, Cols: K, Stride: K, Data: make([]float32, rows*K)}
	for i := range x {
		narrow.Data[i] = float32(draw(r, m.law))
		x[i] = float64(narrow.Data[i])
	}
	q, err := recipe.Quantise(narrow, quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range q.Dequantise().Data {
		rounded[i] = float64(y)
	}
	return x, rounded
}

// errors calls see with all errors of an M × K by K × N product.
func (m measured) errors(t *testing.T, r *rand.Rand, M, K, N int, see func(e float64)) {
	t.Helper()
	b, bhat := m.vectors(t, r, N, K)
	const batch = 32 // of rows, which M is a multiple of
	for range M / batch {
		a, ahat := m.vectors(t, r, batch, K)
		for i := range batch {
			x, y := a[i*K:(i+1)*K], ahat[i*K:(i+1)*K]
			for j := range N {
				e := 0.0
				z, w := b[j*K:(j+1)*K], bhat[j*K:(j+1)*K]
				for k := range x {
					e += y[k]*w[k] - x[k]*z[k]
				}
				see(e)
			}
		}
	}
}

// whole is for all lengths, seeds and outputs of the tables of tightness and
// coverage; make tightness sets it.
var whole = flag.Bool("whole", false, "test tightness and coverage on as many products as tables tell of: half an hour")

// The largest error of 1024 × 8 outputs is that part of the bound, or more. Of
// five products one may exceed its bound, as one of a hundred does.
func TestTightness(t *testing.T) {
	uniform, positive, normal, laplace := Uniform(-1, 1), Uniform(0, 1), Normal(0, 1), Laplace(0, 1)
	sizes, seeds := []int{256}, uint64(1)
	switch {
	case *whole:
		sizes, seeds = []int{256, 4096, 32768}, 5
	case !testing.Short():
		sizes = []int{256, 4096}
	}
	type row struct {
		measured
		floor float64
	}
	var rows []row
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.Binary16, tcore.BFloat16} {
		rows = append(rows, row{measured{uniform, f, "", 0.25}, 0.6}, row{measured{positive, f, "", 0.25}, 0.6},
			row{measured{normal, f, "", 2 / math.Pi}, 0.6}, row{measured{laplace, f, "", 1}, 0.4})
	}
	for _, recipe := range []string{"mxe4m3-floor", "mxe4m3-rceil", "mxe2m1-floor", "mxe2m1-even", "nvfp4-torchao-one-level"} {
		rows = append(rows, row{measured{uniform, tcore.Format{}, recipe, 0.25}, 0.55}, row{measured{normal, tcore.Format{}, recipe, 2 / math.Pi}, 0.55},
			row{measured{positive, tcore.Format{}, recipe, 0.25}, 0.55})
	}
	for _, recipe := range []string{"deepseek-1x128", "torchao-e4m3-row", "int8-row"} {
		rows = append(rows, row{measured{uniform, tcore.Format{}, recipe, 0.25}, 0.55})
		if !testing.Short() {
			rows = append(rows, row{measured{normal, tcore.Format{}, recipe, 2 / math.Pi}, 0.55}, row{measured{positive, tcore.Format{}, recipe, 0.25}, 0.55})
		}
	}
	const M, N = 1024, 8
	for _, row := range rows {
		t.Run(row.law.Name+" "+row.format.Name+row.recipe, func(t *testing.T) {
			x := row.factor(t)
			for _, K := range sizes {
				e := Product{x, x, M, K, N}.Errors(roundoff.FailureOf(0.99))
				least, beyond := math.Inf(1), uint64(0)
				for seed := range seeds {
					largest := 0.0
					row.errors(t, rand.New(rand.NewPCG(seed, uint64(K))), M, K, N, func(err float64) {
						largest = max(largest, math.Abs(err))
					})
					if largest > e.Size() {
						t.Logf("K = %d: the largest error %v is above its bound %v", K, largest, e.Size())
						beyond++
					}
					least = min(least, largest/e.Size())
				}
				t.Logf("K = %d: τ = %.3f, bound %.3g K E|ab|", K, least, e.Size()/(float64(K)*row.size))
				if beyond > seeds/5 {
					t.Errorf("K = %d: %d of %d products are beyond their bounds, at 99 %%", K, beyond, seeds)
				}
				if least < row.floor {
					t.Errorf("K = %d: τ = %.3f, want %v", K, least, row.floor)
				}
			}
		})
	}
}

// One output of many fails no oftener than it may, beyond chance: outputs are
// independent here, and bounds so near to what errors have that in half of all
// runs more would fail than on average. Of bounded laws not much fewer fail.
func TestCoverage(t *testing.T) {
	outputs := 5_000
	switch {
	case *whole:
		outputs = 1_000_000
	case !testing.Short():
		outputs = 100_000
	}
	const K, batch = 256, 500
	for _, m := range []measured{
		{Uniform(-1, 1), tcore.E4M3, "", 0}, {Uniform(0, 1), tcore.E5M2, "", 0}, {Normal(0, 1), tcore.E4M3, "", 0}, {Laplace(0, 1), tcore.E4M3, "", 0},
		{Uniform(0, 1), tcore.Format{}, "mxe4m3-floor", 0}, {Normal(0, 1), tcore.Format{}, "mxe2m1-floor", 0},
		{Uniform(0, 1), tcore.Format{}, "deepseek-1x128", 0}, {Normal(0, 1), tcore.Format{}, "deepseek-1x128", 0}, {Normal(0, 1), tcore.Format{}, "torchao-e4m3-row", 0}, {Uniform(-1, 1), tcore.Format{}, "int8-row", 0},
	} {
		x := m.factor(t)
		if testing.Short() && x.Aim != 0 && x.Law.Interval != nil {
			continue
		}
		confidences := []float64{0.9, 0.99, 0.999}
		var bounds []Errors
		for _, c := range confidences {
			bounds = append(bounds, Product{x, x, 1, K, 1}.Errors(roundoff.FailureOf(c)))
		}
		r := rand.New(rand.NewPCG(5, 6))
		failures := make([]int, len(bounds))
		for range outputs / batch {
			a, ahat := m.vectors(t, r, batch, K)
			b, bhat := m.vectors(t, r, batch, K)
			for row := range batch {
				e := 0.0
				for k := row * K; k < row*K+K; k++ {
					e += ahat[k]*bhat[k] - a[k]*b[k]
				}
				for i, b := range bounds {
					if e < b.Mean-b.Below || e > b.Mean+b.Above {
						failures[i]++
					}
				}
			}
		}
		t.Logf("%s %s: %v failures of %d", m.law.Name, m.format.Name+m.recipe, failures, outputs)
		for i, c := range confidences {
			mean := (1 - c) * float64(outputs)
			noise := 4 * math.Sqrt(mean*c)
			least := 0.8 * mean
			switch {
			case x.Aim != 0: // of which there are so few blocks that Chernoff's bound has no refinement
				least = 0.1 * mean
			case m.law.Interval != nil:
				least = 0.2 * mean
			}
			if n := float64(failures[i]); n > mean+noise || n < least-noise {
				t.Errorf("%s %s: %d of %d outputs fail at %v", m.law.Name, m.format.Name+m.recipe, failures[i], outputs, c)
			}
		}
	}
}

// Of all pairs of numbers, those that a staircase leaves out have less than the
// probability that it was given, and more than a thousandth of it.
func TestStaircaseLeavesOutFewPairs(t *testing.T) {
	beyond := map[string]func(x float64) float64{
		"N(1,2)":       func(x float64) float64 { return math.Erfc(math.Abs(x-1) / 2 / math.Sqrt2) },
		"Laplace(0,3)": func(x float64) float64 { return math.Exp(-math.Abs(x) / 3) },
	}
	for _, a := range []Law{Normal(1, 2), Laplace(0, 3)} {
		for _, b := range []Law{Normal(1, 2), Laplace(0, 3)} {
			for _, f := range []roundoff.Failure{-5, -24, -60} {
				as, bs := staircase(a.Interval, b.Interval, f, steps)
				// outside returns the probability to leave the first i intervals.
				outside := func(l Law, intervals [][2]float64, i int) float64 {
					if i == 0 {
						return 1
					}
					return beyond[l.Name](intervals[i-1][1])
				}
				out := outside(a, as, len(as))
				for i := range as { // a in the shell i, b beyond interval len - i
					out += (outside(a, as, i) - outside(a, as, i+1)) * outside(b, bs, len(bs)-i)
				}
				if p := math.Log(out); p > float64(f) || p < float64(f)-7 {
					t.Errorf("%s × %s: log P = %v, want %v", a.Name, b.Name, p, f)
				}
			}
		}
	}
}

// The bounds are those of the pieces, with the probability that is left.
func TestErrorsOfPieces(t *testing.T) {
	const M, K, N = 100, 64, 10 // K counts as 256 where laws are cut
	f := roundoff.FailureOf(0.99)
	ζ := 0.01
	uniform, normal := Factor{Law: Uniform(0, 1), Format: tcore.E4M3}, Factor{Law: Normal(0, 1), Format: tcore.E5M2}
	check := func(name string, p Product, a, b Factor, left float64) {
		t.Helper()
		c := NewCumulant(a, b)
		each := roundoff.Failure(math.Log(left / (2 * M * N)))
		e := p.Errors(f)
		within(t, name+": Mean", e.Mean, K*c.Mean(), 1e-12)
		within(t, name+": Deviation", e.Deviation, math.Sqrt(K*c.Variance()), 1e-12)
		within(t, name+": Below", e.Below, c.Tightest(K, each, true), 1e-9)
		within(t, name+": Above", e.Above, c.Tightest(K, each, false), 1e-9)
		within(t, name+": Size", e.Size(), math.Max(math.Abs(e.Mean-e.Below), math.Abs(e.Mean+e.Above)), 0)
	}
	check("bounded", Product{uniform, uniform, M, K, N}, uniform, uniform, ζ)
	cut := normal
	T := math.Sqrt(-2 * math.Log(ζ/16/(M*256)))
	cut.Law = normal.Law.Truncated(-T, T)
	check("A cut", Product{normal, uniform, M, K, N}, cut, uniform, ζ*15/16)
	T = math.Sqrt(-2 * math.Log(ζ/16/(256*N)))
	cut.Law = normal.Law.Truncated(-T, T)
	check("B cut", Product{uniform, normal, M, K, N}, uniform, cut, ζ*15/16)
	as, bs := staircase(normal.Law.Interval, normal.Law.Interval, roundoff.Failure(math.Log(ζ/8/(M*256*N))), steps)
	cut.shells = as
	cut.Law = normal.Law.Truncated(as[len(as)-1][0], as[len(as)-1][1])
	other := cut
	other.shells = bs
	check("both cut", Product{normal, normal, M, K, N}, cut, other, ζ*7/8)
}

// What a product of one length has from the cumulant generating function of
// another one with the same Reach is its own.
func TestReach(t *testing.T) {
	row, err := Quantised(Normal(0, 1), quant.Torchao(tcore.E4M3, quant.PerVector, false))
	if err != nil {
		t.Fatal(err)
	}
	x, f := Factor{Law: Normal(0, 1), Format: tcore.E4M3}, roundoff.FailureOf(0.99)
	for K, want := range map[int]int{1: 1, 2: 16, 16: 16, 17: 256, 4096: 4096, 4097: 1 << 16, 1 << 24: 1 << 24} {
		if got := (Product{A: x, B: x, M: 9, K: K, N: 7}).Reach(); got != want {
			t.Errorf("K = %d counts as %d, want %d", K, got, want)
		}
		for _, p := range []Product{{A: row, B: x, M: 9, K: K, N: 7}, {A: x, B: row, M: 9, K: K, N: 7}} {
			if got := p.Reach(); got != K {
				t.Errorf("with a scale of whole rows K = %d counts as %d", K, got)
			}
		}
	}
	short, long := Product{A: x, B: x, M: 9, K: 300, N: 7}, Product{A: x, B: x, M: 9, K: 4000, N: 7}
	if got, want := short.ErrorsOf(long.Cumulant(f), f), short.Errors(f); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
