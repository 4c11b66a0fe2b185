package paper_test

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

func ExampleFormatTable() {
	fmt.Println(paper.FormatTable().Finding())
	// Output:
	// The precision p of a format determines its unit roundoff u, which is 2⁻¹¹, 2⁻²⁴ and 2⁻⁵³; the exponents determine its largest and smallest numbers.
}

func ExampleFormatClaims() {
	for _, c := range paper.FormatClaims()[:3] {
		fmt.Printf("%s: %s: %v\n", c.Source, c.Paper, c.Verdict)
	}
	// Output:
	// Table 1: binary16 has precision p = 11: reproduced
	// Table 1: binary16 has e_min = −14: reproduced
	// Table 1: binary16 has e_max = 15: reproduced
}

func ExampleRoundingFigure() {
	fmt.Println(paper.RoundingFigure().Finding())
	// Output:
	// The relative rounding error reaches 0.9995 u just above a power of two and only half as much just below one.
}

// The backward error is small, as the analysis guarantees; cancellation makes
// the forward error large.
func ExampleSumOfThree() {
	s := paper.SumOfThree(tcore.Binary16, 1, 0.3333, -1.332)
	fmt.Printf("forward %.2g, backward %.2g, condition %.0f\n", s.Forward, s.Backward, s.Condition)
	// Output:
	// forward 0.2, backward 9.2e-05, condition 2183
}

// Lemma 2 says at least 99 % of the products lie below γ̃ₙ(λ).
func ExampleProduct() {
	p := paper.DefaultProduct
	p.Trials = 2000
	r := p.Run()
	fmt.Printf("%.1f %% below γ̃, %.0f %% below γ\n", 100*r.Coverage(r.Tilde), 100*r.Coverage(r.Gamma))
	fmt.Println(r.Figure().Finding())
	// Output:
	// 99.9 % below γ̃, 100 % below γ
	// The probabilistic bound γ̃ₙ is 15.1 times smaller than the deterministic γₙ, and 0.1 % of 2000 products exceed it where 1 % may.
}

// The claims about Lemmas 1 and 2, on products of 512 errors. The computation
// takes some seconds.
func ExampleProductClaims() {
	for _, c := range paper.ProductClaims() {
		fmt.Printf("%-12s %s\n", c.Verdict, c.Paper)
	}
}

func ExampleGrowthFigure() {
	fmt.Println(paper.GrowthFigure().Finding())
	// Output:
	// The deterministic bound γₙ grows like n and ends at n = 1/u; the probabilistic γ̃ₙ grows like √n while it is well below 1, and is smaller from n = 8.
}

func ExampleVarianceFigure() {
	fmt.Println(paper.VarianceFigure().Finding())
	// Output:
	// Evaluated as printed, the variance of Lemma 2 is off by 6.3 % at the precision of binary32, and by a factor of 1.825·10³² at that of binary64, far above this chart.
}

// No lemma of Sections 3.1 and 3.2 is violated, and most bounds are almost
// attained.
func ExampleLemmas() {
	r := paper.Lemmas{Samples: 1000, Confidence: 0.99, Seed: 1}.Run()
	for _, row := range r.Rows[:4] {
		fmt.Printf("%-30s %-5s %d violations\n", row.Name, row.Analysis, row.Violations)
	}
	fmt.Println(len(r.Claims()), "claims,", r.Table().Name())
	// Output:
	// MAC without FMA                DBEA  0 violations
	// MAC without FMA                VIBEA 0 violations
	// FMA                            both  0 violations
	// FMA, representation error      DBEA  0 violations
	// 7 claims, lemmas
}

func ExampleTensorCoreTable() {
	fmt.Println(paper.TensorCoreTable().Finding())
	// Output:
	// Both modes of the paper's tensor core multiply exactly; they differ in the unit roundoff of the sum, 2⁻²⁴ or 2⁻¹¹.
}

func ExampleRoundingsTable() {
	fmt.Println(paper.RoundingsTable().Finding())
	// Output:
	// From the second block on the paper's formula counts a term's own block twice: term 5 has 12 additions by the formula, in fact 8.
}

// The fifth of 8 products is the first one of the second block of 4. It is
// rounded by at most 4 additions; the printed formula gives 8.
func ExampleCorrectedCount() {
	const q, b = 2, 4
	fmt.Println(paper.PrintedCount(2, 5, q, b), paper.CorrectedCount(2, 5, q, b))
	// Output:
	// 8 4
}

func ExamplePrintedCount() {
	const q, b = 2, 4
	fmt.Println(paper.PrintedCount(1, 1, q, b), paper.PrintedCount(2, 8, q, b))
	// Output:
	// 8 5
}

func ExampleTheoremTable() {
	fmt.Println(paper.TheoremTable().Finding())
	// Output:
	// Blocks of 16 terms in place of 4 lower the deterministic constant by 15 % only, and binary16 sums leave no guarantee: there Ku = 16.
}

func ExampleTheoremFigure() {
	fmt.Println(paper.TheoremFigure().Finding())
	// Output:
	// The deterministic constant grows like K, the probabilistic ones like √K: at K = 2¹⁵ VIBEA is 13.1 times smaller than DBEA, and Higham & Mary's bound 1.6 times smaller still.
}

// If products are not exact in the accumulation format, the error may exceed
// γ_(K-1).
func ExampleBinary16Counterexample() {
	e := paper.Binary16Counterexample()
	fmt.Println(e.Error > e.GammaK1, e.Error <= e.GammaK)
	// Output:
	// true true
}

func ExampleTensorCoreClaims() {
	for _, c := range paper.TensorCoreClaims() {
		fmt.Println(c.Verdict, c.ID)
	}
	// Output:
	// reproduced table2-row-1
	// reproduced table2-row-2
	// reproduced tc-k-minus-1
	// differs tc-index
	// reproduced tc-64-mpfma
	// cannot-be-tested tc-one-clock
	// cannot-be-tested tc-at-least-single
	// differs tc-row2-gamma
}

// Figure 5 with fewer samples.
func ExampleMACResult() {
	mac := paper.DefaultMAC
	mac.Samples = 2000
	r := mac.Run()
	fmt.Println(r.Figure().Finding())
	fmt.Println(r.Table().Finding())
	for _, c := range r.Claims()[:2] {
		fmt.Println(c.Source, c.Verdict)
	}
	// Output:
	// The probabilistic bound is never below the deterministic one; MPFMA's largest error is 7411 times that of FMA (the paper: 10⁴).
	// The bounds hold in all 12000 cases, and the largest deterministic bound is 1.02 to 1.76 times the largest error.
	// Section 4.1, Figure 5 reproduced
	// Section 4.1, Figure 5 reproduced
}

func ExampleMACVariant_Largest() {
	r := paper.MAC{Samples: 500, Distribution: paper.UniformOneTwo, Confidence: 0.99, Seed: 2}.Run()
	fmt.Println(r.FMA.Largest() < r.Plain.Largest(), r.Plain.Largest() < r.Mixed.Largest())
	// Output:
	// true true
}

// If memory bandwidth limits both, MPFMA is a third faster than FMA, since it
// moves fewer bytes. The measured speedup depends on the machine.
func ExampleProfile() {
	p := paper.Profile{Elements: 1 << 14, Repeats: 2, Seed: 1}
	a, _, _, a16, _ := p.Operands()
	fmt.Println(float32(tcore.Binary16.Round(float64(a[0]), tcore.ToNearestEven)) == decode(a16[0]))
	r := p.Run()
	fmt.Printf("promised %.3f, measured %v\n", r.Promised(), r.Speedup() > 0)
	fmt.Println(r.Table().Name(), len(r.Claims()), "claims")
	// Output:
	// true
	// promised 1.333, measured true
	// table3-mac-profile 8 claims
}

func decode(code uint16) float32 {
	z := []float32{0}
	tcore.DecodeSlice16(z, []uint16{code})
	return z[0]
}

// A record stores the times of the three kernels of Table 3 on a GPU.
func ExampleProfile_NewRecord() {
	r := paper.Profile{Elements: 1 << 20, Seed: 1}.NewRecord(paper.Provenance{GPU: "none, an example", Date: "2026-01-02"})
	for range 3 {
		r.Add(time.Millisecond, 1<<20)
	}
	fmt.Println(r.File(), len(r.Kernels), "kernels")
	// Output:
	// profile-1048576-1.json 3 kernels
}

// Figure 6 for a small product.
func ExampleGEMM() {
	g := paper.DefaultGEMM
	g.M, g.K = 32, 1<<10
	r, err := g.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Theorem().Blocks(), "blocks,", len(r.Exact.Errors), "outputs")
	fmt.Println(r.Figure().Finding())
	fmt.Println(r.ExceedanceFigure().Finding())
	fmt.Println(r.Table().Name(), len(r.Claims()) > 0)
	// Output:
	// 256 blocks, 256 outputs
	// The probabilistic bound is 2.9 times smaller than the deterministic one (the paper: 10), 1.0 times with representation error, and 1596 times the largest error.
	// The bounds hold in all 512 cases, and the tails are parallel: the factor |A||B|/|AB| of an output multiplies its error and its bounds alike.
	// gemm-bounds-symmetric true
}

// The bound on one output is the constant of the theorem times |A||B|/|AB| of
// this output.
func ExampleGEMMErrors_Bounds() {
	e := paper.GEMMErrors{Errors: []float64{1e-6, 5e-4}, Conditions: []float64{1, 200}}
	fmt.Printf("%.1g\n", e.Bounds(2e-6))
	// Output:
	// [2e-06 0.0004]
}

func ExampleGEMMResult() {
	g := paper.DefaultGEMM
	g.M, g.K, g.Distribution = 16, 256, paper.UniformUnit
	r, err := g.Run()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range []viz.Figure{r.Figure(), r.ExceedanceFigure(), r.Table()} {
		fmt.Println(f.Name())
	}
	for _, c := range r.Claims() {
		fmt.Println(c.ID)
	}
	// Output:
	// fig6-gemm-edf-positive
	// fig6-gemm-exceedance-positive
	// gemm-bounds-positive
	// gemm-positive-1e-2
}

// The result of a GPU, or of the emulation that replaces it, is compared with
// that of the paper's model.
func ExampleSiliconGEMM() {
	os.Unsetenv("ROUNDOFF_DEVICE")
	g := paper.DefaultGEMM
	g.M, g.K = 16, 256
	r, err := g.Run()
	if err != nil {
		log.Fatal(err)
	}
	s, err := r.OnGPU()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Emulated(), s.Figure().Name(), s.Table().Name())
	// Output:
	// true gemm-silicon-edf-symmetric gemm-silicon-symmetric
}

func ExampleSiliconProfile() {
	usual := paper.DefaultGPUProfile
	defer func() { paper.DefaultGPUProfile = usual }()
	paper.DefaultGPUProfile.Elements = 1 << 12 // a length without a record
	os.Unsetenv("ROUNDOFF_DEVICE")
	s, err := paper.Profile{Elements: 1 << 12, Repeats: 1, Seed: 1}.Run().OnGPU()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Table().Name())
	// Output:
	// table3-silicon
}

func ExampleOrigin() {
	fmt.Println(paper.Origin{}.Emulated(), paper.Origin{Provenance: paper.Provenance{GPU: "H100"}}.Emulated())
	// Output:
	// true false
}

func ExampleGemmEx_Extent() {
	right := paper.GemmExCalls(1024, 32768, 8)[4]
	fmt.Println(right.Extent())
	// Output:
	// 262144 33554432 8192
}

func ExampleGemmExTable() {
	fmt.Println(paper.GemmExTable().Finding())
	// Output:
	// As printed the call reads 4096 times the length of B, writes 4096 times that of C and multiplies by 1.401·10⁻⁴⁵, the integer 1 read as a float.
}

// Each row is drawn from its own generator, so that the matrix is the same for
// any number of cores.
func ExampleDistribution() {
	m := paper.UniformSymmetric.Matrix(2, 2, 1, 0)
	fmt.Printf("%.3f\n", m.Data)
	// Output:
	// [-0.690 0.625 -0.415 -0.523]
}

func ExampleClaimTable() {
	t := paper.ClaimTable("claims-01", paper.FormatClaims())
	fmt.Println(t.Finding())
	// Output:
	// Claims of the paper: 10 of 10 reproduced, 0 differing, 0 that cannot be tested here.
}

// The second call returns the times that the first call measured.
func ExampleTable3() {
	dir, err := os.MkdirTemp("", "table3")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	first, err := paper.Table3(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := paper.Table3(dir)
	fmt.Println(len(second.Rows), first.Speedup() == second.Speedup(), err)
	// Output:
	// 3 true <nil>
}

func ExampleWriteClaims() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	if err := paper.WriteClaims(dir, paper.FormatClaims()); err != nil {
		log.Fatal(err)
	}
	files, _ := os.ReadDir(dir)
	fmt.Println(files[0].Name())
	// Output:
	// claims.json
}

func ExampleWriteAnswer() {
	err := paper.WriteAnswer("", paper.FormatClaims()) // far from all
	fmt.Println(err.Error()[:48])
	// Output:
	// paper: no claims ["lemma1-holds" "lemma2-holds"
}

// All claims of the paper, each with its verdict. The computation takes about
// ten seconds.
func ExampleAllClaims() {
	claims, err := paper.AllClaims("")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range claims {
		fmt.Printf("%-12s %s: %s\n", c.Verdict, c.Source, c.Paper)
	}
}

func ExampleErrata() {
	for _, e := range paper.Errata()[:3] {
		fmt.Printf("%s, %s\n", e.ID, e.Where)
	}
	// Output:
	// label, Lemma 1, source
	// unit-interval, Lemma 2
	// gamma-tilde, Lemma 2
}

func ExampleErrataTable() {
	fmt.Println(paper.ErrataTable().Finding())
	// Output:
	// The paper needs 29 corrections: none overturns its conclusions for the model that it states, several change a number.
}

// A record contains the bits of the product. The operands follow from the seed.
func ExampleGEMMRecord() {
	g := paper.DefaultGEMM
	g.M, g.K = 2, 32
	a, b := g.Operands()
	d := blas32.General{Rows: 2, Cols: 8, Stride: 8, Data: make([]float32, 16)}
	devices.PaperCoreF32().MultiplyAdd(a, b, blas32.General{}, d)

	r := g.NewRecord(paper.Provenance{GPU: "none, an example", Date: "2026-01-02"})
	r.Add("Algorithm 1", "", 1, time.Millisecond, d)
	fmt.Println(r.File(), len(r.Products), "product")
	// Output:
	// gemm-symmetric-2x32x8-241118747.json 1 product
}

// The operands are the same on every machine, and a GPU receives the same ones.
func ExampleGEMM_Operands() {
	g := paper.DefaultGEMM
	g.M, g.K, g.N = 1, 4, 1
	a, b := g.Operands()
	fmt.Printf("%.3f %.3f\n", a.Data, b.Data)
	// Output:
	// [-0.150 0.483 0.571 -0.066] [-0.078 -0.796 0.257 -0.465]
}

func ExampleGEMM_NewRecord() {
	r := paper.DefaultGEMM.NewRecord(paper.Provenance{})
	fmt.Println(r.M, r.K, r.N, r.File())
	// Output:
	// 1024 32768 8 gemm-symmetric-1024x32768x8-241118747.json
}

func ExampleLemmasResult() {
	r := paper.Lemmas{Samples: 500, Confidence: 0.99, Seed: 3}.Run()
	fmt.Println(r.Table().Finding())
	fmt.Println(r.Claims()[0].Paper)
	// Output:
	// The bounds of the lemmas hold in all 5000 cases.
	// FMA without representation error: DBEA and VIBEA give one bound, which always holds (0 violations)
}

func ExampleProductResult() {
	r := paper.Product{Terms: 64, Unit: 0x1p-11, Trials: 500, Confidence: 0.9, Seed: 4}.Run()
	fmt.Println(r.Coverage(r.Tilde) >= 0.9, r.Figure().Name())
	// Output:
	// true product-edf
}

// The speedup is measured; the predicted one follows from the bytes per
// element.
func ExampleProfileResult() {
	r := paper.Profile{Elements: 1 << 12, Repeats: 1, Seed: 1}.Run()
	fmt.Printf("%.2f promised, %v\n", r.Promised(), r.Speedup() > 0)
	fmt.Println(r.Table().Name())
	fmt.Println(r.Claims()[0].Paper)
	least, most := r.Unexplained()
	fmt.Printf("%.1f to %.1f times smaller in the paper\n", least, most)
	// Output:
	// 1.33 promised, true
	// table3-mac-profile
	// Arithmetic intensity of MAC without FMA is 0.00995 flop/byte
	// 6.8 to 12.6 times smaller in the paper
}

func ExampleProfileRecord() {
	r := paper.Profile{Elements: 1 << 16, Seed: 2}.NewRecord(paper.Provenance{GPU: "none, an example"})
	r.Add(time.Millisecond, 1<<16)
	fmt.Println(r.File(), r.Kernels[0].Equal == r.Elements)
	// Output:
	// profile-65536-2.json true
}

// A is drawn from the first stream of the seed, B from the second.
func ExampleDistribution_Matrices() {
	a, b := paper.UniformUnit.Matrices(2, 4, 3, paper.Seed)
	first := paper.UniformUnit.Matrix(2, 3, paper.Seed, 1)
	fmt.Println(slices.Equal(a.Data, first.Data), b.Rows, b.Cols)
	// Output:
	// true 3 4
}

// The number of outputs of a trial whose error exceeds a bound.
func ExampleErrorsOf() {
	exact, err := trial.On(devices.PaperCoreF32(), matrixOf(1, 0.5, 0.25, 0.125), transposed(matrixOf(1, 1./1024, 1./1024, 1./1024)))
	if err != nil {
		log.Fatal(err)
	}
	e := paper.ErrorsOf(exact.Run(tcore.Machine{Device: devices.PaperCoreF16()}))
	fmt.Printf("%.2g, condition %v\n", e.Errors[0], e.Conditions[0])
	// Output:
	// 0.00085, condition 1
}

func ExampleGEMMErrors_Violations() {
	e := paper.GEMMErrors{Errors: []float64{0.1, 0.3}, Conditions: []float64{1, 2}}
	fmt.Println(e.Violations(0.2), e.Violations(0.12))
	// Output:
	// 0 1
}

func ExampleGEMM_Constant() {
	fmt.Printf("%.4g\n", paper.DefaultGEMM.Constant("DBEA").Zeta)
	// Output:
	// 0.002446
}

func ExampleGEMM_Slug() {
	fmt.Println(paper.DefaultGEMM.Slug())
	// Output:
	// symmetric
}

func matrixOf(x ...float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}
}

func transposed(m blas32.General) blas32.General {
	return blas32.General{Rows: m.Cols, Cols: m.Rows, Stride: 1, Data: m.Data}
}

func ExampleFigureMPFMA() {
	fmt.Println(paper.FigureMPFMA().Finding())
	// Output:
	// A mixed-precision FMA rounds twice at most: the sum, by δ, and the output, by η.
}

func ExampleFigureTensorCoreBlock() {
	fmt.Println(paper.FigureTensorCoreBlock().Finding())
	// Output:
	// A tensor core multiplies 4 × 4 blocks and adds a third: 16 inner products of length 4, 64 multiply-adds.
}

func ExampleFigureTensorCoreKernel() {
	fmt.Println(paper.FigureTensorCoreKernel().Finding())
	// Output:
	// An inner product of length K = qb passes through the kernel q times, with b of its terms at a time.
}

// The CSV of a schematic lists its parts, some of which are texts.
func ExampleFigureErrors() {
	csv, err := paper.FigureErrors().CSV()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(string(csv), "backward"), strings.Contains(string(csv), "brace"))
	// Output:
	// true true
}
