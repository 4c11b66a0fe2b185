package paper

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// within fails the test unless got agrees with want to the relative tolerance
// tol.
func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %v, want %v to %g", what, got, want, tol)
	}
}

func TestMAC(t *testing.T) {
	r := DefaultMAC.Run()
	t.Run("largest errors are 1.50 u, 1.00 u and 4.7e-4", func(t *testing.T) {
		within(t, "without FMA", r.Plain.Largest()/u32, 1.50, 0.03)
		within(t, "with FMA", r.FMA.Largest()/u32, 1.00, 0.03)
		within(t, "with MPFMA", r.Mixed.Largest(), 4.7e-4, 0.03)
	})
	t.Run("deterministic bounds", func(t *testing.T) {
		within(t, "MAC", slices.Max(r.Plain.DBEA), 1.071e-7, 3e-3)
		within(t, "FMA", slices.Max(r.FMA.DBEA), 5.96e-8, 1e-3)
		within(t, "MPFMA", slices.Max(r.Mixed.DBEA), 7.79e-4, 5e-3)
	})
	t.Run("probabilistic bounds at 99 %", func(t *testing.T) {
		within(t, "MAC", slices.Max(r.Plain.VIBEA), 2.48e-7, 5e-3)
		within(t, "FMA", slices.Max(r.FMA.VIBEA), 5.96e-8, 1e-3)
		within(t, "MPFMA", slices.Max(r.Mixed.VIBEA), 1.93e-3, 5e-3)
	})
	t.Run("MPFMA errs 5e3 to 1e4 times as much as FMA", func(t *testing.T) {
		if q := r.Mixed.Largest() / r.FMA.Largest(); q < 5e3 || q > 1e4 {
			t.Errorf("quotient %v", q)
		}
	})
	t.Run("deterministic bounds are never exceeded", func(t *testing.T) {
		for _, k := range []MACVariant{r.Plain, r.FMA, r.Mixed} {
			if n := violations(k.Errors, k.DBEA); n != 0 {
				t.Errorf("%s: %d violations", k.Name, n)
			}
		}
	})
	t.Run("MPFMA row maximum bounds", func(t *testing.T) {
		if !(slices.Max(r.Mixed.VIBEA) > slices.Max(r.Mixed.DBEA)) || !(slices.Max(r.Plain.VIBEA) > slices.Max(r.Plain.DBEA)) {
			t.Error("DBEA is not the tighter one")
		}
	})
}

// small is the paper's experiment at a size for short tests.
var small = GEMM{M: 64, N: 8, K: 1 << 10, Core: tcore.PaperF32, Distribution: UniformSymmetric, Confidence: Confidence, Seed: 7}

func TestGEMM(t *testing.T) {
	for _, d := range []Distribution{UniformSymmetric, UniformUnit} {
		for _, core := range []tcore.TensorCore{tcore.PaperF32, tcore.PaperF16} {
			t.Run(d.Name+" "+core.Accumulate.Name+" no bound is exceeded", func(t *testing.T) {
				g := small
				g.Distribution, g.Core = d, core
				r, err := g.Run()
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range g.Constants() {
					if n := r.Exact.Violations(c.Zeta); n != 0 {
						t.Errorf("%s: %d violations", c.Name, n)
					}
					if n := r.Represented.Violations(c.ZetaRepresented); n != 0 {
						t.Errorf("%s with representation error: %d violations", c.Name, n)
					}
				}
			})
		}
	}
	t.Run("positive data has condition 1", func(t *testing.T) {
		g := small
		g.Distribution = UniformUnit
		r, err := g.Run()
		if err != nil {
			t.Fatal(err)
		}
		if m := slices.Max(r.Exact.Conditions); m != 1 {
			t.Errorf("largest condition %v", m)
		}
	})
	t.Run("does not depend on the number of cores", func(t *testing.T) {
		a, err := small.Run()
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
		b, err := small.Run()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Exact.Errors, b.Exact.Errors) || !slices.Equal(a.Represented.Errors, b.Represented.Errors) {
			t.Error("errors differ")
		}
	})
}

func TestGEMMAtThePapersSize(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 268 million multiply-adds and their exact reference")
	}
	r, err := DefaultGEMM.Run()
	if err != nil {
		t.Fatal(err)
	}
	// One run with another seed gave 2.6e-6 and 2.6e-4; medians vary little.
	within(t, "median error", sample.Median(r.Exact.Errors), 2.6e-6, 0.1)
	within(t, "median error with representation", sample.Median(r.Represented.Errors), 2.6e-4, 0.1)
	within(t, "median condition", sample.Median(r.Exact.Conditions), 196, 0.05)
	if e := slices.Max(r.Exact.Errors); e < 1e-3 || e > 1e-1 {
		t.Errorf("largest error %v, want about 1e-2", e)
	}
	for _, c := range r.Constants() {
		if n := r.Exact.Violations(c.Zeta); n != 0 {
			t.Errorf("%s: %d violations", c.Name, n)
		}
	}
	within(t, "DBEA over VIBEA as printed", r.Constant("DBEA").Zeta/r.Constant(PrintedBound).Zeta, 13.3, 0.01)
}

func TestRoundings(t *testing.T) {
	for _, b := range []int{1, 2, 4, 8, 16} {
		for q := 1; q <= 5; q++ {
			k := b * q
			additions, outputs := Roundings(k, b)
			for j := 1; j <= k; j++ {
				i := (j-1)/b + 1
				want := CorrectedCount(i, j, q, b)
				if j == 1 {
					want-- // adding to zero rounds nothing
				}
				if additions[j-1] != want || outputs[j-1] != q-i+1 {
					t.Errorf("b=%d q=%d term %d: counted %d and %d, want %d and %d", b, q, j, additions[j-1], outputs[j-1], want, q-i+1)
				}
			}
		}
	}
}

// Counting the roundings of each term symbolically gives the same numbers as
// perturbing one addition at a time.
func TestRoundingsAgreeWithPerturbation(t *testing.T) {
	const k, b = 8, 4
	additions, _ := Roundings(k, b)
	for term := range k {
		count := 0
		for perturbed := range k { // index of the perturbed addition
			s := 0.0
			for j := range k {
				p := 0.0
				if j == term {
					p = 1
				}
				s += p
				if j == perturbed && j > 0 {
					s *= 2
				}
			}
			if s == 2 {
				count++
			}
		}
		if count != additions[term] {
			t.Errorf("term %d: %d perturbations change it, %d counted", term+1, count, additions[term])
		}
	}
}

func TestBinary16Counterexample(t *testing.T) {
	e := Binary16Counterexample()
	within(t, "relative error", e.Error, 9.749e-4, 1e-3)
	if !(e.Error > e.GammaK1) || !(e.Error <= e.GammaK) {
		t.Errorf("error %v is not between gamma_1 = %v and gamma_2 = %v", e.Error, e.GammaK1, e.GammaK)
	}
}

func TestLemmas(t *testing.T) {
	l := DefaultLemmas
	l.Samples = 20_000
	for _, k := range l.Run().Rows {
		if k.Analysis != "VIBEA" && k.Violations != 0 {
			t.Errorf("%s, %s: %d violations", k.Name, k.Analysis, k.Violations)
		}
		if rate := float64(k.Violations) / float64(l.Samples); rate > 1-l.Confidence {
			t.Errorf("%s, %s: violation rate %v", k.Name, k.Analysis, rate)
		}
		if !(k.Tightest > 0.05) {
			t.Errorf("%s, %s: worst error is %v of the bound: is the kernel run at all?", k.Name, k.Analysis, k.Tightest)
		}
	}
}

func TestProduct(t *testing.T) {
	p := DefaultProduct
	p.Trials = 20_000
	r := p.Run()
	if r.Coverage(r.Gamma) != 1 {
		t.Error("a product exceeds gamma")
	}
	if c := r.Coverage(r.Tilde); c < p.Confidence {
		t.Errorf("coverage %v", c)
	}
	if c := r.Coverage(r.Tilde / 2); c > 0.99 {
		t.Errorf("half the bound covers %v: the test sees nothing", c)
	}
}

// Products and their logarithms give the same theta, of a few large errors, of
// many small ones, and beyond n u = 1, where a product can be far from 1.
func TestProduct_theta(t *testing.T) {
	for _, p := range []Product{{Terms: 3, Unit: 0.3}, {Terms: 1, Unit: 0.99}, DefaultProduct, {Terms: 100_000, Unit: u32}, {Terms: 2000, Unit: 0.5}} {
		p.Trials, p.Confidence, p.Seed = 50, Confidence, 7
		least, far := math.Inf(1), 0.0
		for i, got := range p.Run().Thetas {
			want := math.Abs(p.thetaOfLogarithms(rand.New(rand.NewPCG(p.Seed, uint64(i)))))
			if off := math.Abs(got - want); off > 1e-10*want+float64(p.Terms)*p.Unit*0x1p-53 && !(got == want) {
				t.Errorf("%d terms, u = %v: theta %v, want %v", p.Terms, p.Unit, got, want)
			}
			least, far = min(least, got), max(far, got)
		}
		if far == least {
			t.Errorf("%d terms, u = %v: all theta are %v", p.Terms, p.Unit, far)
		}
	}
}

func TestMeasureFormat(t *testing.T) {
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.Binary32, tcore.Binary64, tcore.E5M2} {
		if p, emin, emax := measureFormat(f); p != f.Precision || emin != f.Emin || emax != f.Emax {
			t.Errorf("%s: measured %d %d %d, want %d %d %d", f.Name, p, emin, emax, f.Precision, f.Emin, f.Emax)
		}
	}
}

func TestMACErrorAgreesWithBigFloat(t *testing.T) {
	for _, x := range DefaultMAC.sample()[:1000] {
		a, b, c := x[0], x[1], -x[2] // so that the sum cancels
		z := tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven)
		if fast, slow := macError(z, a, b, c), exactMACError(z, a, b, c); math.Abs(fast-slow) > 1e-15*slow {
			t.Fatalf("a, b, c = %v: %v, want %v", x, fast, slow)
		}
	}
}

// A pair of binary64 numbers is as near the quotient as it says, for nearly all
// trials of the lemmas, where much is cancelled, and of numbers of all sizes;
// and the error has the bits of that in 400 bits.
func TestExactMACErrorAgreesWithBigFloat(t *testing.T) {
	const n = 20_000
	pairs := 0
	check := func(z, a, b, c float64) {
		t.Helper()
		slow := bigQuotient(z, a, b, c)
		if q, r, ok := pairQuotient(z, a, b, c); ok {
			pairs++
			pair := new(big.Float).SetPrec(400).SetFloat64(q)
			off, _ := pair.Add(pair, big.NewFloat(r)).Sub(pair, slow).Float64()
			if math.Abs(off) > pairError*math.Abs(q) || math.Abs(r) > 0x1p-19*math.Abs(q) {
				t.Errorf("z, a, b, c = %v, %v, %v, %v: %v + %v is off by %v", z, a, b, c, q, r, off)
			}
		}
		want, _ := slow.Float64()
		if got := exactMACError(z, a, b, c); got != math.Abs(want) {
			t.Errorf("z, a, b, c = %v, %v, %v, %v: %v, want %v", z, a, b, c, got, math.Abs(want))
		}
	}
	for _, x := range (Lemmas{Samples: n, Seed: 1}).operands() {
		a, b, c := x.given[0], x.given[1], x.given[2]
		check(tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven), a, b, c)
	}
	if pairs < n-n/100 {
		t.Errorf("pairs for %d of %d errors", pairs, n)
	}
	rng := rand.New(rand.NewPCG(241118747, 1))
	wide := func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1000) }
	for range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		for k := 0.; k < 60; k += 5 {
			check((a*b+c)*(1+math.Ldexp(rng.NormFloat64(), -int(k))), a, b, c)
			check(rng.NormFloat64(), a, b, -a*b*(1-math.Ldexp(rng.Float64(), -int(k))))
		}
		check(wide(), wide(), wide(), wide())
	}
	check(0.25, 0.5, 0.5, 0)
	check(0x1p-1000, 0x1.00000001p-500, 0x1.000000011p-500, 0)
	if e := exactMACError(-3, 0.5, 0.5, -0.25); e != 3 {
		t.Errorf("error %v of a sum that is 0, want 3", e)
	}
	check(math.Inf(1), 0.5, 0.5, 0)
}

// The time of a stream is that of its shortest pass, of which the first does
// not count: here the first takes no time, the fourth a little, and others
// much.
func TestBestPass(t *testing.T) {
	sleeps := []time.Duration{0, 200, 200, 20, 200}
	pass := 0
	best := Profile{Elements: 1, Repeats: 4}.best(func(lo, hi int) {
		time.Sleep(sleeps[pass] * time.Millisecond)
		pass++
	})
	if pass != 5 || len(best) != 1 || best[0] < 0.02 || best[0] > 0.19 {
		t.Errorf("%v s after %d passes, want .02 after 5", best, pass)
	}
}

func TestClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment")
	}
	list, err := AllClaims("")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.ID] {
			t.Errorf("%s: id used twice", c.ID)
		}
		seen[c.ID] = true
		if c.ID == "" || c.Source == "" || c.Paper == "" || c.Why == "" || c.Notebook == "" || c.Tolerance == "" {
			t.Errorf("incomplete: %+v", c)
		}
		if (c.Measured == nil) && c.Verdict != CannotBeTested {
			t.Errorf("%s: %s without a measurement", c.ID, c.Verdict)
		}
		if c.Measured != nil && (math.IsNaN(*c.Measured) || math.IsInf(*c.Measured, 0)) {
			t.Errorf("%s: measured %v", c.ID, *c.Measured)
		}
	}
	compareClaims(t, list, true)
}

// The claims that take no time are compared in short mode too.
func TestClaims_that_take_no_time(t *testing.T) {
	compareClaims(t, slices.Concat(FormatClaims(), TensorCoreClaims()), false)
}

// compareClaims compares claims with testdata/claims.csv. Each line contains
// the identifier, the verdict, the paper's value, the measured value and its
// relative tolerance across machines, 0 if it is the same on all. A rate is of
// the machine at that moment and has no tolerance: whether its verdict follows
// from it is all that can be said. With all, no line may be missing from the
// list.
func compareClaims(t *testing.T, list []Claim, all bool) {
	t.Helper()
	f, err := os.Open("testdata/claims.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', -1, 64)
	}
	seen := 0
	for _, c := range list {
		i := slices.IndexFunc(rows, func(r []string) bool { return r[0] == c.ID })
		if i < 0 {
			t.Errorf("%s is not in testdata/claims.csv", c.ID)
			continue
		}
		seen++
		want := rows[i]
		if want[4] == "" {
			if text(c.Value) != want[2] || c.Measured == nil || c.Verdict != rated(c) {
				t.Errorf("%s: %s, the paper says %q, measured %s", c.ID, c.Verdict, text(c.Value), text(c.Measured))
			}
			continue
		}
		tolerance, err := strconv.ParseFloat(want[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		measured, _ := strconv.ParseFloat(want[3], 64)
		same := (c.Measured == nil) == (want[3] == "") && (c.Measured == nil || math.Abs(*c.Measured-measured) <= tolerance*math.Abs(measured))
		if string(c.Verdict) != want[1] || text(c.Value) != want[2] || !same {
			t.Errorf("%s: %s, the paper says %q, measured %s; want %v", c.ID, c.Verdict, text(c.Value), text(c.Measured), want[1:])
		}
	}
	if all && seen != len(rows)-1 {
		t.Errorf("%d claims of %d", seen, len(rows)-1)
	}
}

// rated returns the verdict that follows from a measured rate: the paper's
// quotient of rates is reproduced within 15 %, other rates it gives no value.
func rated(c Claim) Verdict {
	switch {
	case c.Value == nil:
		return CannotBeTested
	case math.Abs(*c.Measured / *c.Value - 1) <= 0.15:
		return Reproduced
	}
	return Differs
}

// A claim about an order of magnitude is reproduced within a factor of ten in
// both directions, a claim about a value within its tolerance.
func TestVerdicts(t *testing.T) {
	var c claims
	c.order("", "", 1e-2, 0.0999, "", "")
	c.order("", "", 1e-2, 0.101, "", "")
	c.order("", "", 1e-2, 1.01e-3, "", "")
	c.order("", "", 1e-2, 0.99e-3, "", "")
	c.equal("", "", -4, -4, 0, "", "")
	c.equal("", "", 4, 4.0000001, 0, "", "")
	c.equal("", "", 4, 4.39, 0.1, "", "")
	c.equal("", "", 4, 4.41, 0.1, "", "")
	c.holds("", "", 1, "", false, "")
	c.holds("", "", 1, "", true, "")
	c.untestable("", "", nil, "", "")
	want := []Verdict{Reproduced, Differs, Reproduced, Differs, Reproduced, Differs, Reproduced, Differs, Differs, Reproduced, CannotBeTested}
	for i, v := range want {
		if c.list[i].Verdict != v {
			t.Errorf("claim %d: %s, want %s", i, c.list[i].Verdict, v)
		}
	}
}

func TestWriteClaims(t *testing.T) {
	dir := t.TempDir()
	v := 1.5
	list := []Claim{
		{"a", "Section 1", "1.4", &v, &v, "u", Differs, "because", "01", "pkg/paper/a.go", "5 %"},
		{"b", "Section 2", "x", nil, nil, "", CannotBeTested, "no", "02", "pkg/paper/b.go", "none"},
	}
	if err := WriteClaims(dir, list); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back) != 2 || back[0]["measured"] != 1.5 || back[1]["measured"] != nil || len(back[0]) != 11 {
		t.Errorf("read back %v", back)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".claims-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if err := WriteClaims(filepath.Join(dir, "missing"), list); err == nil {
		t.Error("a missing folder is no error")
	}
	if err := WriteClaims("", list); err != nil {
		t.Errorf("outside a run: %v", err)
	}
}

func TestErrata(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Errata() {
		if seen[e.ID] || e.Where == "" || e.Printed == "" || e.Correct == "" || e.Shown == "" || strings.Contains(e.Shown, "%!") {
			t.Errorf("%+v", e)
		}
		seen[e.ID] = true
	}
	s := smallUnion().Shown
	for _, want := range []string{"λ = 11.39", "11.53", "1.25 %"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q does not contain %q", s, want)
		}
	}
	if s := unionBrackets().Shown; !strings.Contains(s, "8.3") {
		t.Errorf("%q: want λ > 8.30", s)
	}
}

// The numbers that errata state about single operations agree with those of
// native arithmetic.
func TestErrata_are_so(t *testing.T) {
	// The computation of 1·1000 + 2⁻²⁰ has one rounding, to binary32, which Δb and
	// Δc must explain.
	const b, c = 1000, 0x1p-20
	sum := float32(b)
	sum += float32(c)
	change := math.Abs(float64(sum) - (b + c))
	if !(change > 2*0x1p-24 && change < 0x1p-24*(b+c)) {
		t.Errorf("changed by %v", change)
	}
	// The spacing of binary16 numbers at 1000.25 is 1/2.
	if s := missingFactors().Shown; !strings.Contains(s, short(change)) || !strings.Contains(s, "changes it by 0.25") {
		t.Error(s)
	}
	// All errors are −u.
	g := DefaultGEMM.Theorem()
	product := 1.0
	for range g.Blocks() {
		product *= 1 - g.Output
	}
	γ := roundoff.GammaTilde(g.Blocks(), g.Output, g.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed))
	if s := oneSided().Shown; !strings.Contains(s, "θ̃ = "+short(product-1)+":") || γ >= 1-product {
		t.Error(s)
	}
	if s := wrongPower().Shown; !strings.Contains(s, short(1e11/float64(1<<24))) {
		t.Error(s)
	}
}

// The bounds for one rounding hold on the emulated machine and are nearly
// attained if c is large.
func TestMPFMASpecialRepresented(t *testing.T) {
	f := tcore.PaperF32.MPFMA
	r := f.Roundoffs()
	all, inputs := roundoff.MPFMASpecialRepresented(r, roundoff.DBEA), roundoff.MPFMASpecialRepresentedInputs(r, roundoff.DBEA)
	rng := rand.New(rand.NewPCG(Seed, 7))
	worst := [2]float64{}
	for i := range 20_000 {
		a, b, c := 1+rng.Float64(), 1+rng.Float64(), 1+rng.Float64()
		if i%2 == 0 {
			a, b = a*0x1p-13, b*0x1p-13
		}
		high := float64(float32(c))
		for j, ratio := range []float64{
			exactMACError(f.FMA(a, b, float64(float32(c))), a, b, c) / all.Relative(a, b, c),
			exactMACError(f.FMA(a, b, high), a, b, high) / inputs.Relative(a, b, high),
		} {
			if ratio > 1 {
				t.Errorf("%v × %v + %v: %v times the bound", a, b, c, ratio)
			}
			worst[j] = max(worst[j], ratio)
		}
	}
	if worst[0] < 0.9 || worst[1] < 0.9 {
		t.Errorf("at most %v of the bounds", worst)
	}
}

func TestFigures(t *testing.T) {
	g := small
	r, err := g.Run()
	if err != nil {
		t.Fatal(err)
	}
	p := DefaultProduct
	p.Trials = 1000
	m := DefaultMAC
	m.Samples = 1000
	mac := m.Run()
	for _, f := range []viz.Figure{GrowthFigure(), VarianceFigure(), TheoremFigure(), RoundingFigure(), p.Run().Figure(), mac.Figure(), mac.Table(),
		r.Figure(), r.ExceedanceFigure(), r.Table(), FormatTable(), TensorCoreTable(), RoundingsTable(), TheoremTable()} {
		if svg, err := f.SVG(); err != nil || len(svg) < 500 || strings.Contains(viz.Caption(f), "%!") {
			t.Errorf("%s: %d bytes, %v, %s", f.Name(), len(svg), err, viz.Caption(f))
		}
	}
}

func TestDistribution(t *testing.T) {
	for _, d := range []Distribution{UniformOneTwo, UniformSymmetric, UniformUnit} {
		m := d.Matrix(100, 100, 1, 0)
		lo, hi, mean := float32(math.Inf(1)), float32(math.Inf(-1)), 0.0
		for _, x := range m.Data {
			lo, hi = min(lo, x), max(hi, x)
			mean += float64(x) / 1e4
		}
		width := d.High - d.Low
		if lo < d.Low || hi > d.High || lo > d.Low+width/100 || hi < d.High-width/100 {
			t.Errorf("%s: from %v to %v", d.Name, lo, hi)
		}
		if middle := float64(d.Low+d.High) / 2; math.Abs(mean-middle) > 0.02*float64(width) {
			t.Errorf("%s: mean %v", d.Name, mean)
		}
	}
}

func TestBadInput(t *testing.T) {
	for name, f := range map[string]func(){
		"no samples":                func() { MAC{Distribution: UniformOneTwo, Confidence: 0.99}.Run() },
		"no confidence":             func() { MAC{Samples: 1, Distribution: UniformOneTwo}.Run() },
		"certainty":                 func() { MAC{Samples: 1, Distribution: UniformOneTwo, Confidence: 1}.Run() },
		"empty interval":            func() { MAC{Samples: 1, Confidence: 0.99}.Run() },
		"empty matrix":              func() { UniformUnit.Matrix(0, 3, 1, 1) },
		"K not a multiple of b":     func() { Roundings(10, 4) },
		"negative repeats":          func() { Profile{Repeats: -1}.Run() },
		"no trials":                 func() { Product{Terms: 1, Unit: 0.5, Confidence: 0.9}.Run() },
		"no lemma samples":          func() { Lemmas{Confidence: 0.9}.Run() },
		"GEMM of a ragged K":        func() { g := small; g.K = 10; _, _ = g.Run() },
		"bounds of an unknown name": func() { small.Constant("none") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.Contains(s, ": ") {
					t.Errorf("panic %q does not name package and argument", s)
				}
			}()
			f()
		})
	}
}

func TestProfile(t *testing.T) {
	r := Profile{Elements: 1 << 16, Repeats: 2, Seed: 1}.Run()
	for _, k := range r.Rows {
		if !(k.Rate > 0) || k.Intensity != flopsPerMAC/float64(k.Bytes) {
			t.Errorf("%+v", k)
		}
	}
	if n := streamLength(0) * 12; n < 191<<20 {
		t.Errorf("without a known cache %d bytes are streamed", n)
	}
}
