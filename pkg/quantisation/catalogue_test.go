package quantisation

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// single returns a matrix in binary32.
func single(m blas64.General) blas32.General {
	z := matrix.New(m.Rows, m.Cols)
	for at, v := range m.Data {
		z.Data[at] = float32(v)
	}
	return z
}

// randomly returns a recipe that rounds with 8 random bits.
func randomly(r quant.Recipe, seed uint64) quant.Recipe {
	r.Stochastic = tcore.Stochastic{Seed: seed, Bits: 8}
	return r
}

// find returns the result of a bound.
func find(t *testing.T, results []Result, name string) Result {
	t.Helper()
	for _, r := range results {
		if r.Bound == name {
			return r
		}
	}
	t.Fatalf("no bound %q", name)
	return Result{}
}

// evaluated returns the results for a problem at 90 %.
func evaluated(t *testing.T, p Problem) []Result {
	t.Helper()
	results, err := Evaluate(p, roundoff.FailureOf(0.9))
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// Every record says what it is, none has the name of another, and those that
// always hold come first.
func TestCatalogueIsWhole(t *testing.T) {
	names, random := map[string]bool{}, false
	for _, b := range Catalogue() {
		if b.Name == "" || names[b.Name] || b.Source == "" || b.Formula == "" || b.Needs == 0 || b.Assumes == "" || b.limit == nil {
			t.Errorf("%+v", b)
		}
		if random && !b.Random && b.Needs&(LawOfA|LawOfB) == 0 {
			t.Errorf("%s always holds and comes after those that do not", b.Name)
		}
		names[b.Name], random = true, random || b.Random
		if found, ok := Find(b.Name); !ok || found.Name != b.Name {
			t.Errorf("%s is not found", b.Name)
		}
	}
	if _, ok := Find("none"); ok {
		t.Error("none is found")
	}
}

// A bound that holds is not exceeded more often than it says: products are
// drawn from laws, or are fixed where random bits are drawn, and every bound is
// computed anew for each if it reads them. At most 10 % may fail.
func TestBoundsOfTheCatalogueHold(t *testing.T) {
	const M, K, N, n, ζ = 4, 128, 4, 60, 0.1
	runs := 60
	switch {
	case *whole:
		runs = 400
	case testing.Short():
		runs = 12
	}
	type kind struct {
		name           string
		a, b           Law
		roundA, roundB Rounding
		kind           string   // of data that are not drawn from laws
		want           []string // bounds that hold here
	}
	plain := func(f tcore.Format) Rounding { return Rounding{Format: f} }
	by := func(r quant.Recipe) Rounding { return Rounding{Recipe: r} }
	laws := []string{"laws", "law-of-a", "law-of-b", "conformal", "worst-case-laws"}
	bits := []string{"tilted", "sub-gaussian"}
	random := Rounding{Format: tcore.E4M3, Stochastic: tcore.Stochastic{Bits: 8}}
	for _, c := range []kind{
		{"e4m3", Uniform(-1, 1), Uniform(0, 1), plain(tcore.E4M3), plain(tcore.E4M3), "", laws},
		{"bfloat16, e5m2", Normal(0, 1), Laplace(0, 1), plain(tcore.BFloat16), plain(tcore.E5M2), "", laws},
		{"MXFP4 floor", Uniform(0, 1), Normal(0, 1), by(quant.MX(tcore.E2M1, quant.FloorScale)), by(quant.MX(tcore.E2M1, quant.FloorScale)), "", laws},
		{"MXFP8, e4m3", Normal(0, 1), Uniform(-1, 1), by(quant.MX(tcore.E4M3, quant.RoundUpScale)), plain(tcore.E4M3), "", laws},
		{"int8 per row", Normal(0, 1), Normal(0, 1), by(quant.Integers(quant.PerVector)), by(quant.Integers(quant.PerVector)), "", []string{"conformal", "worst-case"}},
		{"stochastic e4m3", Law{}, Law{}, random, random, "constants", append(bits, "hoeffding", "hoeffding-norms", "worst-case")},
		{"stochastic NVFP4", Law{}, Law{}, by(quant.NVFP4(quant.Vector16)), by(quant.NVFP4(quant.Vector16)), "AR(1)", bits},
		{"stochastic MXFP4 floor", Law{}, Law{}, by(quant.MX(tcore.E2M1, quant.FloorScale)), by(quant.MX(tcore.E2M1, quant.FloorScale)), "U(0,1)", bits},
		{"stochastic A, int8", Law{}, Law{}, random, by(quant.Integers(quant.PerVector)), "decimal grid", bits},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, 12))
			f := roundoff.FailureOf(1 - ζ)
			matrixOf := func(rows, cols int, l Law) blas32.General {
				return single(filled(rows, cols, func(int, int) float64 { return draw(r, l) }))
			}
			p := Problem{M: M, K: K, N: N, RoundA: c.roundA, RoundB: c.roundB, LawA: c.a, LawB: c.b}
			limits := map[string]float64{} // of what needs no matrix
			for _, result := range evaluated(t, p) {
				if result.Holds {
					limits[result.Bound] = result.Absolute
				}
			}
			var fixedA, fixedB blas32.General
			if c.kind != "" {
				a, b := data[c.kind](M, K, N, r)
				fixedA, fixedB = single(a), single(b)
			}
			runs := runs
			if testing.Short() && c.name == "int8 per row" {
				runs = 4 // each takes as long as all others together
			}
			failed, tightness, holds := map[string]int{}, map[string]float64{}, map[string]int{}
			for seed := range uint64(runs) {
				if p.A, p.B = fixedA, fixedB; c.kind == "" {
					p.A, p.B, p.Rows = matrixOf(M, K, c.a), matrixOf(K, N, c.b), matrixOf(n, K, c.a)
				} else {
					p.RoundA.Stochastic.Seed, p.RoundB.Stochastic.Seed = 2*seed, 2*seed+1
					if p.RoundA.Recipe.Name != "" {
						p.RoundA.Recipe = randomly(c.roundA.Recipe, 2*seed)
						p.RoundB.Recipe = randomly(c.roundB.Recipe, 2*seed+1)
					}
				}
				e, err := p.rounded()
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range Catalogue() {
					result := Result{Absolute: limits[b.Name], Ratio: limits[b.Name] / e.largest, Holds: limits[b.Name] > 0}
					if b.Needs&(MatrixA|MatrixB) != 0 {
						result = b.result(e, f)
					}
					if strings.HasPrefix(result.Why, "exceeded") {
						failed[b.Name]++
					} else if !result.Holds {
						continue
					} else if result.Ratio < 1 {
						failed[b.Name]++
					}
					if !b.Random && result.Ratio < 1 {
						t.Errorf("%s is exceeded: ratio %v", b.Name, result.Ratio)
					}
					holds[b.Name]++
					tightness[b.Name] = max(tightness[b.Name], 1/result.Ratio)
				}
			}
			for _, b := range Catalogue() {
				if holds[b.Name] == 0 {
					continue
				}
				t.Logf("%-16s holds in %d of %d, exceeded in %d; τ %.2f at most", b.Name, holds[b.Name], runs, failed[b.Name], tightness[b.Name])
				if most := ζ*float64(runs) + 3*math.Sqrt(ζ*float64(runs)); float64(failed[b.Name]) > most {
					t.Errorf("%s is exceeded in %d of %d, want %.0f at most", b.Name, failed[b.Name], runs, most)
				}
			}
			for _, name := range append(c.want, "exact", "elementwise") {
				if holds[name] == 0 {
					t.Errorf("%s holds in no run", name)
				}
			}
		})
	}
}

// E of the record is that of the triple loop, of the codes and scales
// themselves; the mean of |A||B| is that of all outputs.
func TestExactIsTheTripleLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := data["outliers"](3, 64, 2, r)
	for _, recipe := range quant.Recipes() {
		p := Problem{M: 3, K: 64, N: 2, A: single(a), B: single(b), RoundA: Rounding{Recipe: recipe}, RoundB: Rounding{Recipe: recipe}}
		x, errX := recipe.Quantise(p.A, quant.Left)
		y, errY := recipe.Quantise(p.B, quant.Right)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		largest, size := 0.0, 0.0
		for i := range 3 {
			for j := range 2 {
				e := 0.0
				for k := range 64 {
					u, v := float64(p.A.Data[i*64+k]), float64(p.B.Data[k*2+j])
					e += float64(x.Number(i, k))*x.Unit(i, k)*float64(y.Number(k, j))*y.Unit(k, j) - u*v
					size += math.Abs(u*v) / 6
				}
				largest = max(largest, math.Abs(e))
			}
		}
		got := find(t, evaluated(t, p), "exact")
		near(t, recipe.Name, got.Absolute, largest, 1e-9)
		near(t, recipe.Name+", relative", got.Relative, largest/size, 1e-9)
	}
}

// Constants of a law that are rounded as badly as they can be, or clipped, are
// within the worst case, and one comes near it.
func TestWorstCaseOfLaws(t *testing.T) {
	const K = 32
	for _, c := range []struct {
		name  string
		law   Law
		round Rounding
		near  float64 // a ratio that is reached
		peak  bool    // with the greatest number in each block
	}{
		{"e4m3", Uniform(-1, 1.07), Rounding{Format: tcore.E4M3}, 0.8, false},
		{"e4m3, subnormal", Uniform(0, 0x1p-7), Rounding{Format: tcore.E4M3}, 0.15, false},
		{"e2m1, clipped", Uniform(0, 12), Rounding{Format: tcore.E2M1}, 0.4, false},
		{"MXFP4 floor", Uniform(0, 1.99), Rounding{Recipe: quant.MX(tcore.E2M1, quant.FloorScale)}, 0.6, false},
		{"NVFP4", Uniform(0, 1), Rounding{Recipe: quant.TorchaoNVFP4(false)}, 0.2, true},
	} {
		p := Problem{M: 1, K: K, N: 1, LawA: c.law, LawB: c.law, RoundA: c.round, RoundB: c.round}
		bound := find(t, evaluated(t, p), "worst-case-laws")
		if !bound.Holds {
			t.Fatalf("%s: %s", c.name, bound.Why)
		}
		lo, hi := c.law.bounds()
		worst := 0.0
		for i := range 401 {
			x := float32(lo + (hi-lo)*float64(i)/400)
			p.A, p.B = matrix.New(1, K), matrix.New(K, 1)
			for k := range K {
				p.A.Data[k], p.B.Data[k] = x, x
				if c.peak && k%16 == 0 {
					p.A.Data[k], p.B.Data[k] = float32(hi), float32(hi)
				}
			}
			k, err := p.rounded()
			if err != nil {
				t.Fatal(err)
			}
			worst = max(worst, k.largest)
		}
		t.Logf("%s: %.2f of the worst case", c.name, worst/bound.Absolute)
		if worst > bound.Absolute || worst < c.near*bound.Absolute {
			t.Errorf("%s: the largest error is %v, want at most %v and %v of it", c.name, worst, bound.Absolute, c.near)
		}
	}
}

// E|x| of laws, and with it the mean of |A||B|, however much of A and B is
// known.
func TestMeanSize(t *testing.T) {
	for _, c := range []struct {
		law  Law
		want float64
	}{{Uniform(-1, 1), 0.5}, {Uniform(-1, 3), 1.25}, {Uniform(2, 3), 2.5}, {Normal(0, 3), 3 * math.Sqrt(2/math.Pi)}, {Laplace(0, 2), 2}} {
		near(t, c.law.Name, c.law.meanSize(), c.want, 1e-6)
	}
	e4m3 := Rounding{Format: tcore.E4M3}
	a := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{-3, 0.5}}
	b := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{2, -8}}
	for _, c := range []struct {
		p    Problem
		want float64
	}{
		{Problem{A: a, B: b}, 10},
		{Problem{A: a, LawB: Uniform(-1, 1)}, 1.75},
		{Problem{LawA: Uniform(-1, 1), B: b}, 5},
		{Problem{LawA: Uniform(-1, 1), LawB: Uniform(2, 3)}, 2.5},
		{Problem{Rows: a, B: b}, 10},
		{Problem{A: a}, math.NaN()},
	} {
		c.p.M, c.p.K, c.p.N, c.p.RoundA, c.p.RoundB = 1, 2, 1, e4m3, e4m3
		k, err := c.p.rounded()
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(c.want) && math.IsNaN(k.size) {
			continue
		}
		near(t, "the mean of |A||B| from "+c.p.Knows().String(), k.size, c.want, 1e-12)
	}
}

// Where what a bound needs or assumes is not there, it does not hold, and says
// why. Models and predictions never hold.
func TestBoundsAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	normal, row := Normal(0, 1), Rounding{Recipe: quant.MX(tcore.E4M3, quant.RoundUpScale)}
	e4m3, bits := Rounding{Format: tcore.E4M3}, Rounding{Format: tcore.E4M3, Stochastic: tcore.Stochastic{Bits: 8}}
	a, b := data["N(0,1)"](2, 64, 2, r)
	rows, _ := data["N(0,1)"](30, 64, 1, r)
	both := func(p Problem, x Rounding) Problem {
		p.RoundA, p.RoundB = x, x
		return p
	}
	files := Problem{M: 2, K: 64, N: 2, A: single(a), B: single(b)}
	laws := Problem{M: 2, K: 64, N: 2, LawA: normal, LawB: normal}
	all := files
	all.LawA, all.LawB, all.Rows = normal, normal, single(rows)
	suspect := all
	suspect.Suspect = "elements repeat"
	others := all
	others.LawA = Uniform(-0.1, 0.1)
	few := both(Problem{M: 1, K: 2, N: 1, LawA: Uniform(-0.1, 0.1), LawB: Uniform(-0.1, 0.1)}, e4m3)
	few.A = blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{3.3, 3.3}}
	few.B = blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{3.3, 3.3}}
	short, long := laws, files
	short.K = 48
	long.A = single(filled(2, 64, func(int, int) float64 { return 700 }))
	little := files
	little.A = single(filled(2, 64, func(int, int) float64 { return 500 }))
	wide := laws
	wide.LawA = Uniform(-1e300, 1e300)
	narrow := laws
	narrow.LawB = Normal(1e30, 1)
	mixed := both(laws, row)
	mixed.RoundB.Recipe = quant.TorchaoNVFP4(false)
	big := both(laws, bits)
	big.M, big.N = 1024, 1024
	big.A, big.B = single(matrix.New64(1024, 64)), single(matrix.New64(64, 1024))
	for _, c := range []struct {
		p         Problem
		name, why string
	}{
		{both(laws, e4m3), "exact", "needs A, B"},
		{both(files, e4m3), "laws", "needs law of A, law of B"},
		{both(files, e4m3), "law-of-a", "needs law of A"},
		{both(files, e4m3), "conformal", "needs other rows of A"},
		{both(files, e4m3), "hoeffding", "a model: that errors of rounding to nearest have mean zero, each given those before it"},
		{both(files, e4m3), "random-signs", "a prediction: that errors of elements have random signs, to first order"},
		{both(files, bits), "random-signs", "a prediction: that errors of elements have random signs, to first order"},
		{both(suspect, e4m3), "random-signs", "a prediction: that errors of elements have random signs, to first order, and of these factors elements repeat"},
		{both(suspect, e4m3), "laws", "refused: elements repeat"},
		{both(suspect, e4m3), "law-of-b", "refused: elements repeat"},
		{both(others, e4m3), "law-of-a", "refused: of the elements of A 18 % are below -0.8925, of U(-0.1,0.1) 0 % (found at level 0.05 %)"},
		{both(others, e4m3), "laws", "refused: of the elements of A 18 % are below -0.8925, of U(-0.1,0.1) 0 % (found at level 0.05 %)"},
		{few, "laws", "exceeded by the error of these matrices: what it assumes, elements of A and B are independent, of these laws, is false, or they are among those outside of 90 %"},
		{both(files, e4m3), "tilted", "refused: no factor is rounded with random bits"},
		{both(laws, bits), "laws", "refused: e4m3: stochastic rounding, want rounding to nearest"},
		{both(all, Rounding{Recipe: quant.NVFP4(quant.Vector16)}), "law-of-a", "refused: recipe nvfp4-te-1x16: a scale of the tensor besides those of blocks, want none or the laws of both factors"},
		{both(laws, Rounding{Recipe: quant.NVFP4(quant.Vector16)}), "worst-case-laws", "refused: the scales of recipe nvfp4-te-1x16 are not known beforehand"},
		{both(laws, Rounding{Recipe: quant.Integers(quant.PerTensor)}), "worst-case-laws", "refused: "},
		{both(short, row), "laws", "refused: K = 48, want a multiple of 32, the length of a block"},
		{both(wide, e4m3), "laws", "refused: law U(-1e+300,1e+300), want numbers between"},
		{both(narrow, e4m3), "laws", "refused: law N(1e+30,1), want numbers between 7.89e-31 and 3.4e+38 that differ by more than 9.31e-10 of the greatest"},
		{mixed, "laws", "refused: blocks of 32 and 16 elements, want one length"},
		{both(long, e4m3), "worst-case", "refused: A(0, 0) = 700 becomes 448, which is further than 0.0625 of it"},
		{both(little, e4m3), "worst-case", "refused: A(0, 0) = 500 becomes 448, which is further than 0.0625 of it"},
		{both(long, bits), "hoeffding", "refused: A(0, 0) = 700 becomes 448"},
		{both(all, Rounding{Recipe: quant.Torchao(tcore.E4M3, quant.PerTensor, false)}), "conformal", "refused: the errors of a row depend on other rows"},
		{both(all, Rounding{Recipe: quant.NVFP4(quant.Vector16)}), "conformal", "refused: the errors of a row depend on other rows"},
		{both(big, bits), "tilted", "refused: MKN = 6.71e+07, want at most 16777216"},
	} {
		got := find(t, evaluated(t, c.p), c.name)
		if got.Holds || !strings.HasPrefix(got.Why, c.why) {
			t.Errorf("%s: holds is %v, %q, want %q", c.name, got.Holds, got.Why, c.why)
		}
		if model := strings.HasPrefix(c.why, "a "); model && !(got.Absolute > 0 && got.Relative > 0 && got.Ratio > 0) {
			t.Errorf("%s: %q without its numbers, %+v", c.name, got.Why, got)
		}
	}
	got, err := Evaluate(both(laws, e4m3), -601)
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, got, "laws"); r.Why != "refused: law N(0,1) has no bounds, and is cut at a confidence of 1 - e^-600" {
		t.Errorf("%q", r.Why)
	}
	got, err = Evaluate(both(all, e4m3), roundoff.FailureOf(0.999))
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, got, "conformal"); !strings.HasPrefix(r.Why, "refused: Conformal: n = 30 calibration rows, want n >= 1999 for") {
		t.Errorf("%q", r.Why)
	}
}

// What is no product panics, and data that cannot be rounded give errors.
func TestEvaluateRefuses(t *testing.T) {
	e4m3 := Rounding{Format: tcore.E4M3}
	p := Problem{M: 1, K: 2, N: 1, RoundA: e4m3, RoundB: e4m3}
	with := func(change func(p *Problem)) func() {
		q := p
		change(&q)
		return func() { Evaluate(q, -1) }
	}
	panics.WantPart(t, "quantisation: K = 0, want K >= 1", with(func(p *Problem) { p.K = 0 }))
	panics.WantPart(t, "quantisation: f = 0, want -Inf < f < 0", func() { Evaluate(p, 0) })
	panics.WantPart(t, "quantisation: Problem.A is 2 × 2 with stride 2 and 4 elements, want 1 × 2", with(func(p *Problem) { p.A = matrix.New(2, 2) }))
	panics.WantPart(t, "quantisation: Problem.Rows is 3 × 1 with stride 1 and 3 elements, want 3 × 2", with(func(p *Problem) { p.Rows = matrix.New(3, 1) }))
	for _, name := range []string{"A", "Rows"} {
		q, m := p, blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, float32(math.Inf(-1))}}
		if q.A = m; name == "Rows" {
			q.A, q.Rows = blas32.General{}, m
		}
		if _, err := Evaluate(q, -1); err == nil || err.Error() != "quantisation: "+name+"(0, 1) = -Inf, want a finite number" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Factors that lie half way between two numbers come near the worst case, and
// with the same step on both sides of a power of two the law has it beforehand.
func TestWorstCaseIsReached(t *testing.T) {
	const K = 64
	half := filled(1, K, func(int, int) float64 { return 1.0625 }) // a tie of e4m3, to 1
	e4m3 := Rounding{Format: tcore.E4M3}
	p := Problem{M: 1, K: K, N: 1, RoundA: e4m3, RoundB: e4m3, A: single(half), B: single(transposed(half)), LawA: Uniform(1, 1.0625), LawB: Uniform(1, 1.0625)}
	results := evaluated(t, p)
	for _, name := range []string{"worst-case", "worst-case-laws"} {
		if r := find(t, results, name); !(r.Ratio >= 1 && r.Ratio < 1.14) {
			t.Errorf("%s is %v of the error, want 1 to 1.14", name, r.Ratio)
		}
	}
	near(t, "worst-case-mean", find(t, results, "worst-case-mean").Relative, 2*0.0625+0.0625*0.0625, 1e-12)
	// All errors have the greatest size here, and one sign: random signs do not.
	if r := find(t, results, "random-signs"); !(r.Ratio < 0.5) || r.Holds {
		t.Errorf("%+v", r)
	}
	near(t, "λ√V", find(t, results, "random-signs").Absolute, math.Sqrt(2*math.Log(20)*2*K)*1.0625*0.0625, 1e-9)
	near(t, "Hoeffding", find(t, results, "hoeffding").Absolute, math.Sqrt(2*math.Log(20)*K)*1.0625*1.0625*(2*0.0625+0.0625*0.0625), 1e-9)
}
