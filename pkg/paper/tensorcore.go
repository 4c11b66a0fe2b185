package paper

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// TensorCoreTable returns Table 2: formats and unit roundoffs of the two modes.
func TensorCoreTable() *viz.Table {
	t := viz.NewTable("table2-tensor-core",
		fmt.Sprintf("Both modes of the paper's tensor core multiply exactly; they differ in the unit roundoff of the sum, %s or %s.",
			power(tcore.PaperF32.Roundoffs().Accumulate), power(tcore.PaperF16.Roundoffs().Accumulate)),
		"Table 2 of the paper, with numbers for its symbols. A, B, C and D are the formats of D = AB + C.",
		[]string{"A", "B", "C", "D", "*u*_{low}", "*u*_{high}", "*ũ* product", "*ū* accumulate", "*u*_{FMA} output"})
	for _, core := range []tcore.TensorCore{tcore.PaperF32, tcore.PaperF16} {
		r := core.Roundoffs()
		t.Row(core.Low.Name, core.Low.Name, core.High.Name, core.Output.Name,
			power(r.Low), power(r.High), power(r.Product), power(r.Accumulate), power(r.Output))
	}
	return t
}

// power returns a power of two as text.
func power(u float64) string { return "2" + superscript(int(math.Log2(u))) }

// Roundings returns, for each term of a dot product of k terms, the number of
// additions of Algorithm 1 that round it and the number of block outputs that
// convert it; both slices have length k. It counts by running the algorithm
// symbolically. The first addition is to zero and rounds nothing. It panics
// unless k and block are at least 1 and k is a multiple of block.
func Roundings(k, block int) (additions, outputs []int) {
	if block < 1 || k < 1 || k%block != 0 {
		panic(fmt.Sprintf("paper: K = %d is not a multiple of b = %d", k, block))
	}
	additions, outputs = make([]int, k), make([]int, k)
	for j := range k {
		if j > 0 { // this addition rounds the running sum and term j
			for i := 0; i <= j; i++ {
				additions[i]++
			}
		}
		if (j+1)%block == 0 {
			for i := 0; i <= j; i++ {
				outputs[i]++
			}
		}
	}
	return additions, outputs
}

// PrintedCount returns c_1 of the paper's theorem as printed, for term j of
// block i, both counted from 1: the number of additions that round the term.
func PrintedCount(i, j, q, block int) int {
	return block - (j-1)%block + block*(q-max(2, i)+1)
}

// CorrectedCount returns c_1 with the later blocks counted from i + 1.
func CorrectedCount(i, j, q, block int) int {
	return block - (j-1)%block + block*(q-i)
}

// RoundingsTable returns, for a dot product of three blocks of four terms, how
// often each term is rounded: counted by [Roundings], and by the formulas of
// the theorem.
func RoundingsTable() *viz.Table {
	const k, b = 12, 4
	const q = k / b
	additions, outputs := Roundings(k, b)
	t := viz.NewTable("roundings",
		fmt.Sprintf("From the second block on the paper's formula counts a term's own block twice: term %d has %d additions by the formula, in fact %d.",
			b+1, PrintedCount(2, b+1, q, b), additions[b]),
		fmt.Sprintf("K = %d terms in blocks of b = %d, counted by running Algorithm 1 on counters. The corrected formula gives %d for the first term, where %d round: the addition to zero does not.",
			k, b, CorrectedCount(1, 1, q, b), additions[0]),
		[]string{"block i", "term j", "additions counted", "c₁ as printed", "c₁ corrected", "block ends counted", "c₂"})
	for j := 1; j <= k; j++ {
		i := (j-1)/b + 1
		t.Row(fmt.Sprint(i), fmt.Sprint(j), fmt.Sprint(additions[j-1]), fmt.Sprint(PrintedCount(i, j, q, b)),
			fmt.Sprint(CorrectedCount(i, j, q, b)), fmt.Sprint(outputs[j-1]), fmt.Sprint(q-i+1))
	}
	return t
}

// TheoremTable returns the constants of the theorems at the paper's size, for
// both modes and three block widths.
func TheoremTable() *viz.Table {
	g := DefaultGEMM
	narrow, wide := g.Theorem(), g.Theorem()
	wide.Block = 16
	t := viz.NewTable("theorems",
		fmt.Sprintf("Blocks of 16 terms in place of %d lower the deterministic constant by %s %% only, and binary16 sums leave no guarantee: there Ku = %.0f.",
			narrow.Block, digits(100*(1-wide.Zeta(roundoff.DBEA)/narrow.Zeta(roundoff.DBEA)), 2), float64(g.K)*u16),
		fmt.Sprintf("Constants ζ of |error| ≤ ζ|A||B|: products %d × %d × %d, %s over all outputs, corrected union bound. With representation error, A and B are rounded to binary16 first.",
			g.M, g.K, g.N, percent(g.Confidence)),
		[]string{"Accumulation", "b", "DBEA ζ", "restriction-free", "λ", "VIBEA ζ̃", "DBEA with representation", "VIBEA with representation"})
	for _, core := range []tcore.TensorCore{tcore.PaperF32, tcore.PaperF16} {
		for _, b := range []int{4, 8, 16} {
			th := g.Theorem()
			th.Block, th.Roundoffs = b, core.Roundoffs()
			v := roundoff.VIBEA{Lambda: th.Lambda(roundoff.FailureOf(g.Confidence), roundoff.Corrected)}
			t.Row(core.Accumulate.Name, fmt.Sprint(b), short(th.Zeta(roundoff.DBEA)), short(th.Zeta(roundoff.Unconditional)),
				short(v.Lambda), short(th.Zeta(v)), short(th.ZetaRepresented(roundoff.DBEA)), short(th.ZetaRepresented(v)))
		}
	}
	return t
}

// TheoremFigure returns a chart of the theorems' constants against K.
func TheoremFigure() *viz.Chart {
	g := DefaultGEMM
	names := []string{"DBEA", "VIBEA", "Higham & Mary 2019"}
	var x []float64
	y := make([][]float64, len(names))
	for k := 4; k <= 1<<22; k *= 2 {
		g.K = k
		x = append(x, float64(k))
		for i, name := range names {
			y[i] = append(y[i], g.Constant(name).Zeta)
		}
	}
	at := DefaultGEMM
	c := viz.NewChart("theorem-growth",
		fmt.Sprintf("The deterministic constant grows like K, the probabilistic ones like √K: at K = 2¹⁵ VIBEA is %.1f times smaller than DBEA, and Higham & Mary's bound %.1f times smaller still.",
			at.Constant("DBEA").Zeta/at.Constant("VIBEA").Zeta, at.Constant("VIBEA").Zeta/at.Constant("Higham & Mary 2019").Zeta),
		fmt.Sprintf("Constant ζ of the theorem without representation error, binary32 sums, b = %d, %s over all %d outputs, corrected union bound.",
			g.Core.Block, percent(g.Confidence), g.M*g.N))
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true}, viz.Axis{Label: "Constant ζ", Log: true})
	for i, s := range []viz.Series{DBEA, VIBEA, HighamMary} {
		s.Label = names[i]
		p.Line(s, x, y[i])
	}
	return c
}

// Counterexample is a dot product whose error exceeds gamma_{K-1}, because its
// products are not exact in the accumulation format, as in row 2 of Table 2.
type Counterexample struct {
	X, Y            []float64
	Computed, Exact float64
	Error           float64 // relative error of Computed
	GammaK1, GammaK float64
}

// Binary16Counterexample returns a dot product of two terms in binary16
// accumulation whose error exceeds gamma_1.
func Binary16Counterexample() Counterexample {
	e := Counterexample{X: []float64{1 + 1.0/1024, 1 - 1.0/2048}, Y: []float64{1 - 1.0/2048, 1.0 / 2048}}
	core := tcore.PaperF16
	core.Block = len(e.X)
	e.Computed = core.Device(core.Name).Dot(e.X, e.Y, 0)
	e.Exact = e.X[0]*e.Y[0] + e.X[1]*e.Y[1] // exact in binary64, since all numbers have few bits
	e.Error = math.Abs(e.Computed-e.Exact) / e.Exact
	u := core.Accumulate.UnitRoundoff()
	e.GammaK1, e.GammaK = roundoff.Gamma(len(e.X)-1, u), roundoff.Gamma(len(e.X), u)
	return e
}

// TensorCoreClaims returns the paper's claims in Table 2 and Section 3.3.
func TensorCoreClaims() []Claim {
	c := claims{source: "Table 2", notebook: "04-tensor-cores", file: "tensorcore.go"}
	for i, core := range []tcore.TensorCore{tcore.PaperF32, tcore.PaperF16} {
		want := []float64{math.Ldexp(1, -11), math.Ldexp(1, -24), math.Ldexp(1, -24), math.Ldexp(1, -24), math.Ldexp(1, -24)}
		if i == 1 {
			want = []float64{math.Ldexp(1, -11), math.Ldexp(1, -11), math.Ldexp(1, -24), math.Ldexp(1, -11), math.Ldexp(1, -11)}
		}
		r := core.Roundoffs()
		same := 0
		for j, u := range []float64{r.Low, r.High, r.Product, r.Accumulate, r.Output} {
			if u == want[j] {
				same++
			}
		}
		c.equal(fmt.Sprintf("table2-row-%d", i+1), fmt.Sprintf("Row %d: five unit roundoffs, %s inputs and %s output", i+1, core.Low.Name, core.Output.Name),
			5, float64(same), 0, "of 5", "unit roundoffs of the formats that the emulated core uses, which agree")
	}
	c.source = "Section 3.3"
	const k, b = 64, 4
	additions, _ := Roundings(k, b)
	most := 0
	for _, n := range additions {
		most = max(most, n)
	}
	c.equal("tc-k-minus-1", "Each term meets at most n − 1 rounded additions (here n = 64)", k-1, float64(most), 0, "additions",
		"counted by running Algorithm 1 on counters; it needs exact products in the accumulation format")
	printed := 0
	for j := 1; j <= k; j++ {
		printed = max(printed, PrintedCount((j-1)/b+1, j, k/b, b))
	}
	c.equal("tc-index", "c₁ = b − ((j−1) mod b) + b(q − max(2, i) + 1) has the maximum n − 1 (here 63)", k-1, float64(printed), 0, "additions",
		"two slips, each of which alone gives n: from the second block on a block's own additions are counted twice, and in the first block the addition to zero, which rounds nothing, is counted")
	const block = 4
	terms, _ := Roundings(block, block)
	c.equal("tc-64-mpfma", "A tensor core does 64 MPFMA operations at once: 16 dot products of size 4", 64, float64(block*block*len(terms)), 0, "",
		"terms that Algorithm 1 adds for one of the 4 × 4 outputs, times their number")
	c.untestable("tc-one-clock", "… in a single clock cycle", nil, "", "a statement about the hardware's timing; true of Volta, whose blocks are 4 × 4 × 4, by its vendor's documents")
	c.untestable("tc-at-least-single", "Products and binary32 accumulation are done in at least single precision", nil, "",
		"a quotation from the vendor's guide; it says nothing of the rounding, and real tensor cores align and truncate")
	e := Binary16Counterexample()
	c.holds("tc-row2-gamma", "γₙ₋₁ suffices because multiplication is free of error (relative error in units of γ₁, at most 1)",
		e.Error/e.GammaK1, "", e.Error <= e.GammaK1,
		fmt.Sprintf("row 2 of Table 2: products do not fit binary16, so the first addition rounds too; K = 2 reaches %s where γ₁ = %s. The theorem's sum with γ_q stays valid", short(e.Error), short(e.GammaK1)))
	return c.list
}
