package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Erratum is one mistake in the paper, with its correction and a computation
// that demonstrates it.
type Erratum struct {
	ID      string
	Where   string
	Printed string
	Correct string
	Shown   string // the demonstration, with numbers computed here
}

// Errata returns the mistakes found in the paper, in the order of the paper.
// The packages implement the corrected form. Where the printed form is useful
// for comparison, it has a name of its own (roundoff.Printed,
// roundoff.LogVariancePrinted).
func Errata() []Erratum {
	list := []func() Erratum{
		labelTwice, unitInterval, missingGammaTilde, cancellation, forwardBackward,
		roundedTwice, unstatedMAC, significandBits, specialCaseCondition, missingFactors,
		laterBlocks, oneSided, smallUnion, unionBrackets, missingTilde, sumRedefined, wrongLemma, undefinedSquare,
		rowTwo, blockWidth, roundingModel,
		distributionReversed, tableUnits, representationOnly,
		wrongPower, cuBLASCall, dimensionNames, wrongDistribution, independence,
	}
	task := progress.Start(len(list))
	defer task.End()
	errata := make([]Erratum, len(list))
	for i, erratum := range list {
		errata[i] = erratum()
		task.Step(1)
	}
	return errata
}

// ErrataTable returns the errata as a table, one row for each.
func ErrataTable() *viz.Table {
	list := Errata()
	t := viz.NewTable("errata",
		fmt.Sprintf("The paper needs %d corrections: none overturns its conclusions for the model that it states, several change a number.",
			len(list)),
		"Of arXiv:2411.18747v1. The last column demonstrates each of them, by numbers that are computed here.",
		[]string{"Erratum", "Where", "Printed", "Correct", "Shown by"})
	for _, e := range list {
		t.Row(e.ID, e.Where, e.Printed, e.Correct, e.Shown)
	}
	return t
}

func labelTwice() Erratum {
	return Erratum{"label", "Lemma 1, source", "\\label{lemma:dbea} twice", "once",
		"by reading: both stand in the one lemma, so that references to it still say 1"}
}

func unitInterval() Erratum {
	return Erratum{"unit-interval", "Lemma 2", "u ≤ 1", "u < 1",
		fmt.Sprintf("log(1 − u) at u = 1 is %v", math.Log(0))}
}

func missingGammaTilde() Erratum {
	const n, lambda = 1 << 15, 4
	return Erratum{"gamma-tilde", "Lemma 2", "γ̃ₙ(λ) is used, not defined; λ and confidence of the experiments are not stated",
		"γ̃ₙ(λ) = exp(λ√n u + n u²/(1 − u)) − 1; its linear part λ√n u is no bound at probability P_{B}",
		fmt.Sprintf("u = 2⁻¹¹, n = 2¹⁵, λ = 4: linear %.3f, rigorous %.4f; in binary32 at λ = 11.4 they agree to %s",
			roundoff.GammaTildeLinear(n, u16, lambda), roundoff.GammaTilde(n, u16, lambda),
			digits(roundoff.GammaTilde(n-1, u32, 11.385)/roundoff.GammaTildeLinear(n-1, u32, 11.385)-1, 1))}
}

func cancellation() Erratum {
	at := func(p int) string {
		u := roundoff.UnitRoundoff(p)
		return fmt.Sprintf("%s for %s at u = 2%s", digits(roundoff.LogVariancePrinted(u), 5), digits(roundoff.LogVariance(u), 5), superscript(-p))
	}
	return Erratum{"variance", "Lemma 2", "σ² as a difference of logarithms", "the same number from its series in u²",
		"the formula is right and cannot be evaluated: binary64 gives " + at(24) + ", " + at(53)}
}

func forwardBackward() Erratum {
	const a, b, c = 1, 1, -(1 - 1.0/1024)
	bound := roundoff.FMA(u32)
	return Erratum{"forward-backward", "Figures 5, 6", "“backward error bounds” in the captions", "the plots show forward errors and forward bounds",
		fmt.Sprintf("for 1·1 − (1 − 2⁻¹⁰) the FMA's backward bound is u and its forward bound %s u", short(bound.Relative(a, b, c)/u32))}
}

func roundedTwice() Erratum {
	rng := rand.New(rand.NewPCG(Seed, 6))
	const n = 20_000
	worst := 0.0
	for range n {
		a, b, c := float64(1+rng.Float32()), float64(1+rng.Float32()), float64(1+rng.Float32())
		worst = max(worst, macError(tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven), a, b, c))
	}
	return Erratum{"fma-proof", "Lemma FMA, proof", "ẑ = fma(a, b, c)(1 + δ), where fma is the correctly rounded result", "ẑ = fma(a, b, c) = (ab + c)(1 + δ)",
		fmt.Sprintf("of %d random ones the fma itself is off by up to %.2f u; a factor 1 + δ more would be a second rounding, of %s in all and not u = %s",
			n, worst/u32, short(roundoff.Compound(2, u32)), short(u32))}
}

func unstatedMAC() Erratum {
	m := roundoff.MAC(u32, roundoff.DBEA)
	return Erratum{"mac-bound", "Figure 5", "a bound for MAC without FMA is plotted, none is stated", "(γ₂|a||b| + u|c|)/|ab + c|",
		fmt.Sprintf("coefficients %s and %s in binary32", short(m.Product), short(m.Addend))}
}

func significandBits() Erratum {
	return Erratum{"bits", "Section 3.2", "20 significant bits of a product, 23 of binary32", "22 and 24",
		fmt.Sprintf("2047² = %d has %d bits; %.4f of all significand products are exact in binary32", 2047*2047, significantBits(2047*2047), countExactProducts())}
}

func specialCaseCondition() Erratum {
	r := tcore.PaperF32.Roundoffs()
	return Erratum{"output-rounding", "Lemma MPFMA", "u_{FMA} > ū is assumed, and the theorems for tensor cores forget it", "with u_{FMA} = ū the output is rounded once",
		fmt.Sprintf("row 1: ζ = %s as if twice, %s for the one rounding there is; coefficient of |c| with representation error %s and %s",
			short(roundoff.MPFMA(r).Product), short(roundoff.MPFMASpecial(r.High).Product),
			short(roundoff.MPFMARepresented(r, roundoff.DBEA).Addend), short(roundoff.MPFMASpecialRepresented(r, roundoff.DBEA).Addend))}
}

// missingFactors uses a = 1, for which the error of ẑ is Δb + Δc.
func missingFactors() Erratum {
	const b, c, long = 1000, 0x1p-20, 1000.25
	f := tcore.PaperF32.MPFMA
	change := math.Abs(f.FMA(1, b, c) - (b + c))
	converted := math.Abs(f.Low.Round(long, tcore.ToNearestEven) - long)
	return Erratum{"missing-factors", "MPFMA, special case and with representation error",
		"|Δb| ≤ u_{high}, |Δc| ≤ u_{high}; |Δb| ≤ γ₂, |Δb| ≤ γ̃₂ at u_{low}", "|Δb| ≤ u_{high}|b|, |Δc| ≤ u_{high}|c|; |Δb| ≤ γ₂|b|, |Δb| ≤ γ̃₂|b|",
		fmt.Sprintf("1·%d + 2⁻²⁰ in row 1 needs |Δb| + |Δc| ≥ %s, above 2u_{high} = %s; converting b = %g changes it by %g, above γ₂ = %s",
			b, short(change), short(2*f.Roundoffs().High), long, converted, short(roundoff.Gamma(2, f.Roundoffs().Low)))}
}

func laterBlocks() Erratum {
	const k, b = 64, 4
	additions, _ := Roundings(k, b)
	printed, counted := 0, 0
	for j := 1; j <= k; j++ {
		printed = max(printed, PrintedCount((j-1)/b+1, j, k/b, b))
		counted = max(counted, additions[j-1])
	}
	return Erratum{"later-blocks", "Section 3.3", "product over ℓ = max(2, i) … q; c₁ = b − ((j−1) mod b) + b(q − max(2, i) + 1)",
		"ℓ = i + 1 … q; c₁ = b − ((j−1) mod b) + b(q − i)",
		fmt.Sprintf("K = %d, b = %d: at most %d roundings as printed, %d counted by running the algorithm", k, b, printed, counted)}
}

func oneSided() Erratum {
	t := DefaultGEMM.Theorem()
	n := t.Blocks()
	θ := math.Expm1(float64(n) * math.Log1p(-t.Output))
	γ := roundoff.GammaTilde(n, t.Output, t.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed))
	return Erratum{"one-sided", "Section 3.3, probabilistic", "θ̃_{ζ} ≤ |γ̃_{ζ}| at u_{FMA}", "|θ̃_{ζ}| ≤ γ̃_{ζ}",
		fmt.Sprintf("%d errors of −u make θ̃ = %s: below γ̃ = %s, as every negative number is, and %s times it in size", n, short(θ), short(γ), digits(-θ/γ, 2))}
}

func smallUnion() Erratum {
	t := DefaultGEMM.Theorem()
	printed := t.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed)
	f := t.Failure(roundoff.VIBEA{Lambda: printed}, roundoff.Corrected)
	return Erratum{"union-too-small", "Theorem, probabilistic", "the union bound with the printed c₁", "with the corrected c₁, which has small counts in the last block",
		fmt.Sprintf("paper's GEMM at 99 %%: λ = %s printed, %s corrected; at the printed λ the failure probability is %.2f %%, not 1 %%",
			short(printed), short(t.Lambda(roundoff.FailureOf(Confidence), roundoff.Corrected)), 100*math.Exp(float64(f)))}
}

func unionBrackets() Erratum {
	t := DefaultGEMM.Theorem()
	lo, hi := 1.0, 20.0
	for hi-lo > 1e-9 {
		if mid := (lo + hi) / 2; t.Failure(roundoff.VIBEA{Lambda: mid}, roundoff.Printed).Vacuous() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return Erratum{"union-brackets", "Theorem, probabilistic", "Σ 2 − P − P", "Σ (2 − P − P); vacuous for small λ",
		fmt.Sprintf("at the paper's size the probability is negative unless λ > %.2f", hi)}
}

func missingTilde() Erratum {
	t := DefaultGEMM.Theorem()
	v := roundoff.VIBEA{Lambda: t.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed)}
	return Erratum{"missing-tilde", "Theorem, probabilistic, without representation error", "γ", "γ̃",
		fmt.Sprintf("ζ = %s as printed would hold always; %s is what the probability is for", short(t.Zeta(roundoff.DBEA)), short(t.Zeta(v)))}
}

func sumRedefined() Erratum {
	t := DefaultGEMM.Theorem()
	ζ := t.Zeta(roundoff.VIBEA{Lambda: t.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed)})
	return Erratum{"delta-p", "Section 3.3, probabilistic, with representation error",
		"Δp ≔ AΔB + AΔ(B + ΔB) + ΔAB + ΔAΔB + ΔAΔ(B + ΔB), where |Δp| ≤ ζ|A + ΔA||B + ΔB|", "Δe ≔ AΔB + ΔAB + ΔAΔB + Δp, as in the deterministic analysis",
		fmt.Sprintf("AΔB alone may be u_{low}|A||B|, u_{low} = %s, and Δp is at most ζ(1 + u_{low})² = %s of it", short(t.Low), short(ζ*(1+t.Low)*(1+t.Low)))}
}

func wrongLemma() Erratum {
	t := DefaultGEMM.Theorem()
	v := roundoff.VIBEA{Lambda: t.Lambda(roundoff.FailureOf(Confidence), roundoff.Printed)}
	return Erratum{"wrong-lemma", "Theorem, probabilistic, with representation error", "under Lemma 1", "under Lemma 2",
		fmt.Sprintf("%s under Lemma 1, %s under Lemma 2", short(t.ZetaRepresented(roundoff.DBEA)), short(t.ZetaRepresented(v)))}
}

func undefinedSquare() Erratum {
	t := DefaultGEMM.Theorem()
	z := t.ZetaRepresented(roundoff.DBEA)
	return Erratum{"undefined-u", "Theorems with representation error", "2u_{low} + u² + ζ(1 + u_{low})²", "2u_{low} + u_{low}² + ζ(1 + u_{low})²",
		fmt.Sprintf("u_{low}² = %s of %s: harmless, but u is not defined there", digits(u16*u16, 2), short(z))}
}

func rowTwo() Erratum {
	e := Binary16Counterexample()
	return Erratum{"row-two", "Table 2, row 2", "the first addition, to zero, is free of error", "only if a product fits the accumulation format; binary16 does not hold 22 bits",
		fmt.Sprintf("K = 2: computed %g, exact %s, relative error %s = %.3f u > γ₁ = %s", e.Computed, digits(e.Exact, 10), short(e.Error), e.Error/u16, short(e.GammaK1))}
}

func blockWidth() Erratum {
	t := DefaultGEMM.Theorem()
	zeta := func(b int) float64 { t.Block = b; return t.Zeta(roundoff.DBEA) }
	return Erratum{"block-width", "Section 3.3", "4 × 4 × 4 for every tensor core", "true of Volta; an H100 takes 16 binary16 terms at once",
		fmt.Sprintf("ζ is %s for b = 4, %s for 8, %s for 16", short(zeta(4)), short(zeta(8)), short(zeta(16)))}
}

func roundingModel() Erratum {
	rng := rand.New(rand.NewPCG(Seed, 4))
	const n = 1 << 16
	worst, nearest, truncated := 0.0, 0.0, 0.0
	for range n {
		x := 1 + rng.Float64()
		d := tcore.Binary32.Round(x, tcore.ToZero)/x - 1
		worst = max(worst, math.Abs(d))
		truncated += d / n
		nearest += (tcore.Binary32.Round(x, tcore.ToNearestEven)/x - 1) / n
	}
	return Erratum{"rounding-model", "Section 3.3", "|δ| ≤ u with mean zero", "holds for IEEE rounding to nearest, but for a bias that is small against the errors; tensor cores align and truncate",
		fmt.Sprintf("%d numbers in [1, 2): truncation has |δ| up to %.2f u and mean %.2f u, rounding to nearest %s u", n, worst/u32, truncated/u32, digits(nearest/u32, 1))}
}

func distributionReversed() Erratum {
	r := DefaultMAC
	r.Samples = 20_000
	m := r.Run()
	below := func(k MACVariant) float64 {
		n := 0
		for _, e := range k.Errors {
			if e <= u32 {
				n++
			}
		}
		return float64(n) / float64(len(k.Errors))
	}
	return Erratum{"edf", "Section 4.1", "F₁(t) < F₂(t): X₁ is the likelier to be less than t; 1{X = xᵢ ≤ t}", "X₁ is the less likely; 1{xᵢ ≤ t}",
		fmt.Sprintf("at t = u: F = %.3f without FMA, %.3f with it, and it is FMA that has the small errors", below(m.Plain), below(m.FMA))}
}

func tableUnits() Erratum {
	return Erratum{"table-3", "Table 3", "0.00995, 0.00989, 0.02442 flop/byte; 0.00004, 0.00004, 0.00008 “Flops/s”", "2/16 = 0.125 and 2/12 = 0.167 flop/byte; the rates lack a unit",
		fmt.Sprintf("the ratio of the intensities is %.3f by the bytes and %.3f as printed", bytesSaved(), profileRows[2].PaperIntensity/profileRows[1].PaperIntensity)}
}

func representationOnly() Erratum {
	f := tcore.PaperF32.MPFMA
	exact, converted := 0.0, 0.0
	for _, x := range DefaultMAC.sample() {
		a, b, c := x[0], x[1], x[2]
		converted = max(converted, macError(f.FMA(a, b, c), a, b, c))
		a, b = f.Low.Round(a, tcore.ToNearestEven), f.Low.Round(b, tcore.ToNearestEven)
		exact = max(exact, macError(f.FMA(a, b, c), a, b, c))
	}
	return Erratum{"representation", "Conclusions", "MPFMA has 10⁴ times the error of FMA", "only if the inputs must be converted",
		fmt.Sprintf("of the samples of Figure 5: largest error %s u with conversion, %.2f u where a and b are rounded to binary16 beforehand", short(converted/u32), exact/u32)}
}

func wrongPower() Erratum {
	return Erratum{"power-of-ten", "Section 4.2, Conclusions", "u₃₂ × 10¹¹ ≈ O(10²) for an error of O(10⁻²); in the conclusions bounds of O(10⁵) times the error", "u₃₂ × 10¹¹ = O(10⁴)",
		fmt.Sprintf("2⁻²⁴ × 10¹¹ = %s; over 10⁻² that is %s, near the conclusions' 10⁵, where 10² over 10⁻² is %s", short(u32*1e11), digits(u32*1e11/1e-2, 1), digits(1e2/1e-2, 1))}
}

func cuBLASCall() Erratum {
	g := DefaultGEMM
	return Erratum{"cublas-call", "Listing, Section 4.2", "cublasGemmEx(…, m, t, n, &alpha …) with int alpha, CUDA_R_16F output", "m, n, t in that order; float alpha and beta for a 32-bit compute type; binary32 output as in Table 2",
		fmt.Sprintf("as printed the product is %d × %d with an inner dimension of %d and writes %d elements into %d; the integer 1 read as a float is %s; C in binary16 would add a roundoff of %s",
			g.M, g.K, g.N, g.M*g.K, g.M*g.N, digits(float64(math.Float32frombits(1)), 2), short(u16))}
}

func dimensionNames() Erratum {
	g := DefaultGEMM
	return Erratum{"dimensions", "Sections 3.3, 4.2", "the inner dimension is n in one and t in the other", "K throughout",
		fmt.Sprintf("γ with n = %d of Section 4.2 would be %s; with the inner dimension it is %s", g.N, digits(roundoff.Gamma(g.N-1, u32), 3), short(roundoff.Gamma(g.K-1, u32)))}
}

func wrongDistribution() Erratum {
	condition := func(d Distribution) float64 {
		g := GEMM{M: 64, N: 8, K: 1 << 10, Core: tcore.PaperF32, Distribution: d, Confidence: Confidence, Seed: Seed}
		r, err := g.Run()
		if err != nil {
			panic("paper: " + err.Error())
		}
		return slices.Max(r.Exact.Conditions)
	}
	return Erratum{"distribution", "Conclusions", "10⁻² error for U(0, 1)", "U(−1, 1), as in Section 4.2",
		fmt.Sprintf("largest |A||B|/|AB| of 64 × 1024 × 8: %s for U(−1, 1), %g for U(0, 1)", digits(condition(UniformSymmetric), 3), condition(UniformUnit))}
}

func independence() Erratum {
	return Erratum{"independence", "Section 1", "Higham and Mary treat errors as independent and identically distributed", "they need independence (later mean independence) and mean zero only",
		"by reading: their probability has no variance in it and holds for any such errors"}
}
