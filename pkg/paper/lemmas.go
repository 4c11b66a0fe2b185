package paper

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Lemmas is a test of the lemmas of Sections 3.1 and 3.2. Each operation (MAC,
// FMA, MPFMA) is run on random operands of either sign, so that cancellation
// occurs, and its relative error is compared with the lemma's bound for these
// operands.
type Lemmas struct {
	Samples    int
	Confidence float64
	Seed       uint64
}

// DefaultLemmas is the test that the notebooks run.
var DefaultLemmas = Lemmas{Samples: 200_000, Confidence: Confidence, Seed: Seed}

// LemmaRow is the result for one lemma and one analysis.
type LemmaRow struct {
	Name       string
	Analysis   string
	Bound      roundoff.MACBound
	Tightest   float64 // largest error/bound over the samples
	Violations int
}

// LemmasResult is the result of the test.
type LemmasResult struct {
	Lemmas
	Rows []LemmaRow
}

// operands are the operands of one sample: in binary64, rounded to binary16 and
// rounded to binary32. An operation of lower precision must convert the
// binary64 operands, with a representation error.
type operands struct{ given, low, high [3]float64 }

// Run tests every lemma. It panics if Samples < 1 or Confidence is outside (0,
// 1).
func (l Lemmas) Run() *LemmasResult {
	if l.Samples < 1 {
		panic(fmt.Sprintf("paper: Samples = %d, want Samples >= 1", l.Samples))
	}
	f, row1, row2 := tcore.Binary32, tcore.PaperF32.MPFMA, tcore.PaperF16.MPFMA
	u, r1, r2 := f.UnitRoundoff(), row1.Roundoffs(), row2.Roundoffs()
	wide := row1 // binary32 accumulation, binary16 output: u_FMA > u-bar
	wide.Output = tcore.Binary16
	rw := wide.Roundoffs()
	vibea := func(u float64) roundoff.Analysis {
		return roundoff.VIBEA{Lambda: roundoff.Lambda(roundoff.FailureOf(l.Confidence), u, 2)}
	}
	plain := func(a, b, c float64) float64 { return f.MAC(a, b, c, tcore.ToNearestEven) }
	fused := func(a, b, c float64) float64 { return f.FMA(a, b, c, tcore.ToNearestEven) }
	converted := func(a, b, c float64) float64 {
		round := func(x float64) float64 { return f.Round(x, tcore.ToNearestEven) }
		return fused(round(a), round(b), round(c))
	}
	given := func(o operands) [3]float64 { return o.given }
	low := func(o operands) [3]float64 { return o.low }
	high := func(o operands) [3]float64 { return o.high }
	lowC := func(o operands) [3]float64 { return [3]float64{o.low[0], o.low[1], o.high[2]} }

	trials := l.operands()
	task := progress.Start(10)
	defer task.End()
	result := &LemmasResult{Lemmas: l}
	test := func(name, analysis string, kernel func(a, b, c float64) float64, pick func(operands) [3]float64, b roundoff.MACBound) {
		errors, bounds, quotients := make([]float64, l.Samples), make([]float64, l.Samples), make([]float64, l.Samples)
		parallel.Each(l.Samples, func(i int) {
			x := pick(trials[i])
			errors[i] = exactMACError(kernel(x[0], x[1], x[2]), x[0], x[1], x[2])
			bounds[i] = b.Relative(x[0], x[1], x[2])
			quotients[i] = errors[i] / bounds[i]
		})
		result.Rows = append(result.Rows, LemmaRow{name, analysis, b, slices.Max(quotients), violations(errors, bounds)})
		task.Step(1)
	}
	test("MAC without FMA", "DBEA", plain, high, roundoff.MAC(u, roundoff.DBEA))
	test("MAC without FMA", "VIBEA", plain, high, roundoff.MAC(u, vibea(u)))
	test("FMA", "both", fused, high, roundoff.FMA(u))
	test("FMA, representation error", "DBEA", converted, given, roundoff.FMARepresented(u, roundoff.DBEA))
	test("FMA, representation error", "VIBEA", converted, given, roundoff.FMARepresented(u, vibea(u)))
	test("MPFMA, special case", "both", row1.FMA, lowC, roundoff.MPFMASpecial(r1.High))
	test("MPFMA, binary16 output", "both", wide.FMA, lowC, roundoff.MPFMA(rw))
	test("MPFMA, binary16 throughout", "both", row2.FMA, low, roundoff.MPFMA(r2))
	test("MPFMA, representation error", "DBEA", row1.FMA, given, roundoff.MPFMARepresented(r1, roundoff.DBEA))
	test("MPFMA, representation error", "VIBEA", row1.FMA, given, roundoff.MPFMARepresented(r1, vibea(r1.Low)))
	return result
}

// operands draws binary64 numbers with magnitude in [1/2, 1) and random sign.
// No format underflows on them.
func (l Lemmas) operands() []operands {
	rng := rand.New(rand.NewPCG(l.Seed, 3))
	trials := make([]operands, l.Samples)
	for i := range trials {
		for j := range 3 {
			x := (1 + rng.Float64()) / 2
			if rng.Uint64()&1 == 0 {
				x = -x
			}
			trials[i].given[j] = x
			trials[i].low[j] = tcore.Binary16.Round(x, tcore.ToNearestEven)
			trials[i].high[j] = tcore.Binary32.Round(x, tcore.ToNearestEven)
		}
	}
	return trials
}

// Table returns every lemma with its coefficients, the number of violations and
// the largest quotient of error and bound.
func (r *LemmasResult) Table() *viz.Table {
	bad := 0
	for _, k := range r.Rows {
		bad += k.Violations
	}
	t := viz.NewTable("lemmas",
		hold("The bounds of the lemmas", bad, len(r.Rows)*r.Samples)+".",
		fmt.Sprintf("Each bound is (P|a||b| + C|c|)/|ab + c|; the last column has the largest quotient of error and bound. "+
			"%d samples for each row, of either sign, magnitudes in [1/2, 1), %s for VIBEA, seed %d.",
			r.Samples, percent(r.Confidence), r.Seed),
		[]string{"Kernel", "Analysis", "P", "C", "holds", "violations", "worst error / bound"})
	for _, k := range r.Rows {
		t.Row(k.Name, k.Analysis, short(k.Bound.Product), short(k.Bound.Addend), k.Bound.Failure.String(),
			fmt.Sprint(k.Violations), fmt.Sprintf("%.3f", k.Tightest))
	}
	return t
}

// Claims returns the paper's claims in Sections 3.1 and 3.2.
func (r *LemmasResult) Claims() []Claim {
	c := claims{source: "Section 3.1", notebook: "03-fma-and-mpfma", file: "lemmas.go"}
	bad := map[string]int{}
	for _, k := range r.Rows {
		bad[k.Analysis] += k.Violations
	}
	n := fmt.Sprintf("%d samples a lemma, every operand of either sign", r.Samples)
	c.holds("lemma-fma-exact", "FMA without representation error: DBEA and VIBEA give one bound, which always holds (0 violations)",
		float64(bad["both"]), "samples", bad["both"] == 0, n)
	c.holds("lemma-fma-dbea", "The deterministic FMA and MPFMA lemmas hold (0 violations)",
		float64(bad["DBEA"]), "samples", bad["DBEA"] == 0, n)
	rate := float64(bad["VIBEA"]) / float64(r.Samples)
	c.holds("lemma-fma-vibea", fmt.Sprintf("The probabilistic lemmas hold with probability at least P_B, here %s (fraction violating)", percent(r.Confidence)),
		rate, "", rate <= 1-r.Confidence, n)
	c.source = "Section 3.2"
	mp, fma := roundoff.MPFMASpecial(u32), roundoff.FMA(u32)
	c.equal("mpfma-special-is-fma", "In the special case ũ = ū = u_FMA the MPFMA bound is that of FMA (ratio 1)", 1, mp.Product/fma.Product, 0, "",
		"one rounding only; it needs u_FMA = ū alone, ũ does not enter")
	bits := significantBits(2047 * 2047)
	c.equal("product-bits", "The product of two binary16 numbers has at most 20 significant bits", 20, float64(bits), 0, "bits",
		"11 × 11 bits: (2¹¹ − 1)² = 4190209 needs 22; it still fits, so the conclusion stands")
	c.equal("float32-bits", "binary32 has 23 significant bits", 23, float64(tcore.Binary32.Precision), 0, "bits",
		"23 are stored, 24 count; the paper's own Table 1 has p = 24")
	exact := countExactProducts()
	c.equal("product-exact", "The product of two binary16 numbers is exact in binary32 (fraction of significand pairs)", 1, exact, 0, "",
		"all pairs of 11-bit significands")
	return c.list
}

// significantBits returns the number of bits of n from its first to its last
// nonzero bit.
func significantBits(n int) int {
	for n%2 == 0 {
		n /= 2
	}
	bits := 0
	for ; n > 0; n /= 2 {
		bits++
	}
	return bits
}

// countExactProducts returns the fraction of products of two 11-bit binary16
// significands that are exact in binary32.
func countExactProducts() float64 {
	exact, n := 0, 0
	for a := 1 << 10; a < 1<<11; a++ {
		for b := a; b < 1<<11; b++ {
			n++
			if p := float64(a * b); tcore.Binary32.Round(p, tcore.ToNearestEven) == p {
				exact++
			}
		}
	}
	return float64(exact) / float64(n)
}
