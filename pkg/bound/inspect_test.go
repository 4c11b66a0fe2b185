package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

// A filling draws one element.
type filling = func(*rand.Rand) float64

// sources are distributions of independent elements, some with heavy tails,
// some with few values.
var sources = map[string]filling{
	"U(-1,1)":    func(r *rand.Rand) float64 { return 2*r.Float64() - 1 },
	"U(0,1)":     (*rand.Rand).Float64,
	"N(0,1)":     (*rand.Rand).NormFloat64,
	"N(1,1)":     func(r *rand.Rand) float64 { return 1 + r.NormFloat64() },
	"log-normal": func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
	"Laplace":    func(r *rand.Rand) float64 { return r.ExpFloat64() - r.ExpFloat64() },
	"t3": func(r *rand.Rand) float64 {
		x, y, z := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		return r.NormFloat64() / math.Sqrt((x*x+y*y+z*z)/3)
	},
	"Cauchy": func(r *rand.Rand) float64 { return r.NormFloat64() / r.NormFloat64() },
	"sparse": func(r *rand.Rand) float64 {
		if r.IntN(10) > 0 {
			return 0
		}
		return r.NormFloat64()
	},
	"log-uniform": func(r *rand.Rand) float64 { return math.Exp2(16*r.Float64() - 8) },
	"k/8":         func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 },
	"0.1":         func(*rand.Rand) float64 { return 0.1 },
}

// draw64 fills a matrix.
func draw64(rng *rand.Rand, rows, cols int, s filling) blas64.General {
	z := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	for i := range z.Data {
		z.Data[i] = s(rng)
	}
	return z
}

func inspect(t *testing.T, a, b blas64.General) *Inspection {
	t.Helper()
	in, err := Inspect(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Independent elements of one distribution are refused no more often than the
// level allows, whatever their distribution.
func TestInspectKeepsItsLevel(t *testing.T) {
	type shape struct{ m, n, k, seeds int }
	shapes := []shape{{8, 8, 100, 4}, {64, 8, 400, 1}}
	if !testing.Short() {
		shapes = []shape{{8, 8, 100, 100}, {64, 64, 100, 4}, {1, 8, 1000, 10}, {64, 8, 1000, 2}, {16, 16, 10000, 1}}
	}
	trials, refused := 0, 0
	for name, s := range sources {
		worst := 0.0
		for _, shape := range shapes {
			for seed := range shape.seeds {
				rng := rand.New(rand.NewPCG(uint64(seed), 9))
				in := inspect(t, draw64(rng, shape.m, shape.k, s), draw64(rng, shape.k, shape.n, s))
				if in.Fails()&^ManyBits != 0 {
					refused++
					t.Logf("%s, %+v, seed %d:\n%v", name, shape, seed, in)
				}
				for _, f := range in.Findings {
					if f.Level > 0 {
						worst = max(worst, f.Statistic/f.Limit)
					}
				}
				trials++
			}
		}
		if name != "0.1" && worst < 0.4 {
			t.Errorf("%s: no statistic comes nearer to its limit than %.2g: the limits are too wide", name, worst)
		}
	}
	if most := float64(trials) * inspectionLevel; float64(refused) > most+3*math.Sqrt(most) {
		t.Errorf("%d of %d refused, want %.2g at most in the mean", refused, trials, most)
	}
}

// along applies f to every line of A or of B.
func along(l lines, f func(i int, x []float64)) {
	for i := range l.n {
		x := l.line(i)
		f(i, x)
		for k, v := range x {
			if l.columns {
				l.m.Data[k*l.m.Stride+i] = v
			} else {
				l.m.Data[i*l.m.Stride+k] = v
			}
		}
	}
}

func autoregressive(rng *rand.Rand, ρ float64) func(int, []float64) {
	return func(_ int, x []float64) {
		z := rng.NormFloat64()
		for k := range x {
			x[k] = z
			z = ρ*z + math.Sqrt(1-ρ*ρ)*rng.NormFloat64()
		}
	}
}

func slowProduct(x []float64, c float64) {
	for k := range x {
		x[k] *= c
	}
}

// Inspect finds what violates an assumption, and nothing else.
func TestInspectFindsWhatIsWrong(t *testing.T) {
	const m, n, K = 16, 8, 1000
	ascending := func(_ int, x []float64) { slices.Sort(x) }
	descending := func(_ int, x []float64) { slices.Sort(x); slices.Reverse(x) }
	for _, c := range []struct {
		name string
		want Assumption
		also Assumption // what may be found in addition
		make func(rng *rand.Rand, a, b lines)
	}{
		{"independent", 0, 0, func(*rand.Rand, lines, lines) {}},
		{"A ascending", AnyOrder, 0, func(_ *rand.Rand, a, _ lines) { along(a, ascending) }},
		{"B descending", AnyOrder, 0, func(_ *rand.Rand, _, b lines) { along(b, descending) }},
		{"both sorted", AnyOrder | Unpaired, 0, func(_ *rand.Rand, a, b lines) { along(a, ascending); along(b, descending) }},
		{"every other row ascending", AnyOrder, 0, func(_ *rand.Rand, a, _ lines) {
			along(a, func(i int, x []float64) {
				ascending(i, x)
				if i%2 == 0 {
					slices.Reverse(x)
				}
			})
		}},
		{"sorted, then permuted", 0, 0, func(rng *rand.Rand, a, _ lines) {
			order := rng.Perm(K)
			along(a, func(i int, x []float64) {
				ascending(i, x)
				sorted := slices.Clone(x)
				for k, from := range order {
					x[k] = sorted[from]
				}
			})
		}},
		{"both sorted, then permuted", Unpaired, 0, func(rng *rand.Rand, a, b lines) {
			order := rng.Perm(K)
			permute := func(i int, x []float64) {
				ascending(i, x)
				sorted := slices.Clone(x)
				for k, from := range order {
					x[k] = sorted[from]
				}
			}
			along(a, permute)
			along(b, permute)
		}},
		{"AR 0.99 in A", AnyOrder, OneDistribution, func(rng *rand.Rand, a, _ lines) { along(a, autoregressive(rng, 0.99)) }},
		{"AR 0.9 in B", AnyOrder, OneDistribution, func(rng *rand.Rand, _, b lines) { along(b, autoregressive(rng, 0.9)) }},
		{"AR 0.5 in both", AnyOrder, OneDistribution, func(rng *rand.Rand, a, b lines) {
			along(a, autoregressive(rng, 0.5))
			along(b, autoregressive(rng, 0.5))
		}},
		{"trend", AnyOrder, 0, func(_ *rand.Rand, a, _ lines) {
			along(a, func(_ int, x []float64) {
				for k := range x {
					x[k] += float64(k) / K
				}
			})
		}},
		{"sine", AnyOrder, 0, func(_ *rand.Rand, a, _ lines) {
			along(a, func(i int, x []float64) {
				for k := range x {
					x[k] += math.Sin(0.7*float64(k) + float64(i))
				}
			})
		}},
		{"growing sizes", AnyOrder, 0, func(_ *rand.Rand, _, b lines) {
			along(b, func(_ int, x []float64) {
				for k := range x {
					x[k] *= 1 + float64(k)/K
				}
			})
		}},
		{"second half takes back the first", AnyOrder, 0, func(_ *rand.Rand, a, b lines) {
			along(a, func(_ int, x []float64) { copy(x[K/2:], x) })
			along(b, func(_ int, x []float64) { copy(x[K/2:], x); slowProduct(x[K/2:], -1) })
		}},
		{"rows of many scales", OneDistribution, 0, func(_ *rand.Rand, a, _ lines) {
			along(a, func(i int, x []float64) { slowProduct(x, math.Ldexp(1, i%7)) })
		}},
		{"one large column", OneDistribution, 0, func(_ *rand.Rand, _, b lines) {
			along(b, func(j int, x []float64) {
				if j == 3 {
					slowProduct(x, 10)
				}
			})
		}},
		{"outliers in one row", OneDistribution, 0, func(rng *rand.Rand, a, _ lines) {
			along(a, func(i int, x []float64) {
				for k := range x {
					if i == 0 && rng.IntN(8) == 0 {
						x[k] *= 100
					}
				}
			})
		}},
		{"A is the transpose of B", Unpaired, 0, func(_ *rand.Rand, a, b lines) {
			along(b, func(j int, x []float64) { copy(x, a.line(j)) })
		}},
		{"B has the sizes of A", Unpaired, 0, func(_ *rand.Rand, a, b lines) {
			along(b, func(j int, x []float64) {
				for k, v := range a.line(j) {
					x[k] = math.Copysign(v, x[k])
				}
			})
		}},
		{"bits are paired", Unpaired, ManyBits, func(rng *rand.Rand, a, b lines) {
			x, y := make([]float64, K), make([]float64, K)
			for k := range K {
				odd := 2*rng.IntN(512) + 1
				inverse := odd
				for range 4 {
					inverse = inverse * (2 - odd*inverse) & 1023
				}
				x[k], y[k] = float64(1024+odd), float64(2048-inverse)
			}
			along(a, func(_ int, z []float64) {
				for k := range z {
					z[k] = math.Ldexp(x[k], rng.IntN(3))
				}
			})
			along(b, func(_ int, z []float64) {
				for k := range z {
					z[k] = math.Ldexp(y[k], rng.IntN(3))
				}
			})
		}},
		{"tenths", ManyBits, 0, func(rng *rand.Rand, a, b lines) {
			tenths := func(_ int, x []float64) {
				for k := range x {
					x[k] = float64(rng.IntN(20)) / 10
				}
			}
			along(a, tenths)
			along(b, tenths)
		}},
		{"one output of few values", ManyBits, OneDistribution, func(rng *rand.Rand, a, b lines) {
			signs := func(_ int, x []float64) {
				for k := range x {
					x[k] = float64(2*rng.IntN(2) - 1)
				}
			}
			along(a, func(i int, x []float64) {
				if i == 11 {
					signs(i, x)
				}
			})
			along(b, func(j int, x []float64) {
				if j == 5 {
					signs(j, x)
				}
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			a, b := draw64(rng, m, K, sources["N(0,1)"]), draw64(rng, K, n, sources["N(0,1)"])
			c.make(rng, newLines("A", "row", a, false), newLines("B", "column", b, true))
			in := inspect(t, a, b)
			if got := in.Fails(); got&^c.also != c.want {
				t.Errorf("refused: %v, want %v\n%v", got, c.want, in)
			}
			if offers := strings.HasPrefix(in.Offer(), "permute"); offers != (c.want&AnyOrder != 0 && in.Fails()&(OneDistribution|Unpaired) == 0) {
				t.Errorf("of %v it offers %q", in.Fails(), in.Offer())
			}
			in.Permuted = true
			if in.Fails()&AnyOrder != 0 || in.Offer() != "" {
				t.Errorf("permuted K is refused for its order")
			}
		})
	}
}

// A departure slightly above the Power of a test is detected.
func TestInspectSeesWhatItSays(t *testing.T) {
	const m, n, K, seeds = 8, 4, 400, 20
	power := func(in *Inspection, of string) float64 {
		i := slices.IndexFunc(in.Findings, func(f Finding) bool { return f.Name == of })
		return in.Findings[i].Power
	}
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		a, b := draw64(rng, m, K, sources["N(0,1)"]), draw64(rng, K, n, sources["N(0,1)"])
		A := newLines("A", "row", a, false)
		before := inspect(t, a, b)
		scale := 1 + 1.3*power(before, "distribution of the rows of A in size")
		along(A, func(i int, x []float64) {
			if i == 2 {
				slowProduct(x, scale)
			}
		})
		if in := inspect(t, a, b); in.Fails() != OneDistribution {
			t.Errorf("seed %d: a row of scale %.3g is not seen, refused: %v", seed, scale, in.Fails())
		}
		ρ := 1.15 * power(before, "lag correlations of A")
		along(A, autoregressive(rng, ρ))
		if in := inspect(t, a, b); in.Fails()&AnyOrder == 0 {
			t.Errorf("seed %d: a lag correlation of %.3g is not seen", seed, ρ)
		}
		a = draw64(rng, m, K, sources["N(0,1)"])
		r := 1.15 * power(before, "correlation of A with B, of one output")
		for k := range K {
			b.Data[k*n] = r*a.Data[3*K+k] + math.Sqrt(1-r*r)*b.Data[k*n]
		}
		if in := inspect(t, a, b); in.Fails()&Unpaired == 0 {
			t.Errorf("seed %d: a correlation of %.3g is not seen", seed, r)
		}
	}
}

// An assumption that cannot be tested is refused.
func TestInspectRefusesWhatItCannotSee(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		m, n, k int
		want    Assumption
	}{
		{64, 64, fewestTerms - 1, AnyOrder | OneDistribution | Unpaired | ManyBits},
		{64, 64, fewestTerms, 0},
		{1, 1, 100, AnyOrder},
		{1, 1, 1000, 0},
		{8, 8, 100, 0},
	} {
		in := inspect(t, draw64(rng, c.m, c.k, sources["U(0,1)"]), draw64(rng, c.k, c.n, sources["U(0,1)"]))
		if in.Fails() != c.want {
			t.Errorf("%+v: refused %v, want %v\n%v", c, in.Fails(), c.want, in)
		}
	}
	if in := inspect(t, draw64(rng, 1, 64, sources["sparse"]), draw64(rng, 64, 1, sources["sparse"])); in.Fails()&Unpaired == 0 {
		t.Errorf("a few pairs that are not 0 tell nothing, refused %v\n%v", in.Fails(), in)
	}
	a := draw64(rng, 2, 100, sources["U(0,1)"])
	a.Data[103] = math.Inf(-1)
	if _, err := Inspect(a, draw64(rng, 100, 2, sources["U(0,1)"])); err == nil || !strings.Contains(err.Error(), "a[1, 3] = -Inf") {
		t.Errorf("%v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic where a and b do not fit")
		}
	}()
	Inspect(a, a)
}

// A bound is valid only if no assumption that it makes about the data is
// refused. Refusing other assumptions does not affect it.
func TestBoundsFollowTheInspection(t *testing.T) {
	all := AnyOrder | OneDistribution | Unpaired | ManyBits
	for _, d := range []tcore.Device{devices.HopperF16(), devices.PaperCoreF32(), devices.IEEEF32()} {
		for _, stochastic := range []bool{false, true} {
			k := Problem{M: 8, N: 8, K: 1000, Machine: tcore.Machine{Device: d}, X: Uniform(0, 1), Y: Uniform(0, 1)}
			if stochastic {
				k.Stochastic.Bits = 32
			}
			if stochastic && k.truncates() {
				continue
			}
			for one := AnyOrder; one <= ManyBits; one <<= 1 {
				in := &Inspection{Level: inspectionLevel, Findings: []Finding{{Name: "x", Tests: one, Statistic: 2, Limit: 1, Level: 1e-4, Words: "something"}}}
				looked := k
				looked.Data = in
				before, after := results(t, k, at99), results(t, looked, at99)
				for i, r := range after {
					b, _ := Find(r.Bound)
					refused := b.takes(k)&one != 0
					if want := before[i].Holds && !refused; r.Holds != want {
						t.Errorf("%s, stochastic %v, %s: holds %v without %v, want %v", d.Name, stochastic, r.Bound, r.Holds, one, want)
					}
					if before[i].Holds && refused && r.Why != "refused: something (found at level 0.0001)" {
						t.Errorf("%s: %q", r.Bound, r.Why)
					}
					if r.Holds && b.takes(k) != 0 && !strings.Contains(r.Why, "tested on the matrices: "+b.takes(k).String()) {
						t.Errorf("%s: %q does not tell what was tested", r.Bound, r.Why)
					}
				}
			}
			for _, b := range Catalogue() {
				takes := b.takes(k)
				switch {
				case !b.Model.Random && takes != 0, takes&^all != 0:
					t.Errorf("%s takes %v", b.Name, takes)
				case b.Needs == Moments && b.Model.Random && takes&(AnyOrder|OneDistribution|Unpaired) != AnyOrder|OneDistribution|Unpaired:
					t.Errorf("%s is of random data and takes only %v", b.Name, takes)
				}
			}
		}
	}
}

// The least nonzero |A||B| limits the relative effect of underflow.
func TestLeastOutput(t *testing.T) {
	a := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, -2, 0, 0, 0x1p-30, 0}}
	b := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{-3, 1, 1, 1}}
	if got := leastOf(a, b); !(got <= 0x1p-30) || got < 0x1p-30*(1-1e-14) {
		t.Errorf("%v, want 2⁻³⁰", got)
	}
	long := blas64.General{Rows: 4000, Cols: 1, Stride: 1, Data: slices.Repeat([]float64{3}, 4000)}
	long.Data[3999] = 2
	wide := blas64.General{Rows: 1, Cols: 4000, Stride: 4000, Data: long.Data}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := leastOf(long, wide); !(got <= 4) || got < 4*(1-1e-14) {
		t.Errorf("%v, want 4, of the last row and column", got)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("the outputs of two vectors take %d bytes, as if all were kept", after.TotalAlloc-before.TotalAlloc)
	}
	k := Problem{K: 2, Data: &Inspection{Least: 0.5, k: 2}}
	r := Result{Constant: 0.25, Absolute: 0.1, Underflow: 0.01}
	if got := k.relative(r); math.Abs(got-0.22) > 1e-12 { // (0.1 + 0.01)/0.5
		t.Errorf("%v, want 0.22", got)
	}
	for _, size := range []float64{0.5, 0.7, 3, 1e6} {
		if r.Limit(size) > k.relative(r)*size {
			t.Errorf("an output of |A||B| = %v errs by more than %v of it", size, k.relative(r))
		}
	}
}

// The fast algorithms agree with direct computation.
func TestInspectionByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, K := range []int{64, 65, 101} {
		s := series{nil, nil, nil}
		for i := range s {
			for range K {
				s[i] = append(s[i], float64(rng.IntN(12)-5))
			}
		}
		t.Run(fmt.Sprint(K), func(t *testing.T) {
			ranks := s.ranks()
			for i, line := range s {
				for k, x := range line {
					rank := 0.0
					for _, y := range line {
						switch {
						case y < x:
							rank += 0.5
						case y > x:
							rank -= 0.5
						}
					}
					if got := ranks[i][k] * float64(K); math.Abs(got-rank) > 1e-9 {
						t.Fatalf("rank of %v is %v, want %v", x, got, rank)
					}
				}
			}
			c := ranks.autocorrelation()
			for lag, got := range c {
				want := 0.0
				for _, line := range ranks {
					for k := range line {
						want += line[k] * line[(k+lag)%K]
					}
				}
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("lag %d: %v, want %v", lag, got, want)
				}
			}
			var squares, sum, sumSquares, n float64
			var all []float64
			for k := range K {
				for l := range K {
					g := 0.0
					for _, line := range ranks {
						g += line[k] * line[l]
					}
					if k == l {
						squares += g
						continue
					}
					n, sum, sumSquares, all = n+1, sum+g, sumSquares+g*g, append(all, g)
				}
			}
			mean := sum / n
			largest := 0.0
			for _, g := range all {
				largest = max(largest, math.Abs(g-mean))
			}
			a, b, c2, d := ranks.pairs()
			for i, got := range []float64{a, b, c2, d} {
				if want := []float64{squares, mean, sumSquares/n - mean*mean, largest}[i]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%d: %v, want %v", i, got, want)
				}
			}
		})
	}
	if values, equal, n := variety([]float64{1, 0, 2, 1, 0, 1, 3}); equal != 3 || n != 5 || math.Abs(values-10./3) > 1e-12 {
		t.Errorf("%v values, %d equal pairs of %d", values, equal, n)
	}
	seen := map[string]int{}
	for range 6000 {
		seen[fmt.Sprint(sample(rng, 4, 2))]++
	}
	for set, n := range seen {
		if len(seen) != 6 || n < 800 || n > 1200 {
			t.Errorf("of 4 numbers %s is drawn %d times in 6000", set, n)
		}
	}
}
