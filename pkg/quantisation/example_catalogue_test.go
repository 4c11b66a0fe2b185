package quantisation_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// normal returns a matrix of normal numbers.
func normal(r *rand.Rand, rows, cols int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	return m
}

// Of 1024 × 8 sums of 4096 products of normal numbers in e4m3 none has an error
// above 0.5 % of the mean of |A||B|, although each factor may be off by 6 %:
// with a confidence of 99 %, from the laws alone.
func ExampleEvaluate() {
	e4m3 := quantisation.Rounding{Format: tcore.E4M3}
	results, err := quantisation.Evaluate(quantisation.Problem{
		M: 1024, K: 4096, N: 8,
		RoundA: e4m3, LawA: quantisation.Normal(0, 1),
		RoundB: e4m3, LawB: quantisation.Normal(0, 1),
	}, roundoff.FailureOf(0.99))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		if r.Relative > 0 {
			fmt.Printf("%-16s %7.4f  holds: %-5v  %s\n", r.Bound, r.Relative, r.Holds, r.Why)
		}
	}
	// Output:
	// worst-case-laws   7.2726  holds: true   elements of A and B are of these laws, dependent or not
	// worst-case-mean   0.1289  holds: false  a mean: every output has v + w + vw of its own |A||B|, this is that of all outputs, without clipping and underflow
	// laws              0.0046  holds: true   elements of A and B are independent, of these laws
}

// A product of two matrices, of which the second is rounded to nearest: what
// bounds it, and what predicts it only.
func ExampleProblem() {
	r := rand.New(rand.NewPCG(1, 2))
	mxfp8 := quantisation.Rounding{Recipe: quant.MX(tcore.E4M3, quant.RoundUpScale)}
	p := quantisation.Problem{M: 16, K: 256, N: 8, A: normal(r, 16, 256), B: normal(r, 256, 8), RoundA: mxfp8, RoundB: mxfp8}
	p.RoundA.Recipe.Stochastic = tcore.Stochastic{Seed: 1, Bits: 8}
	fmt.Println("known:", p.Knows())
	results, err := quantisation.Evaluate(p, roundoff.FailureOf(0.99))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		if r.Relative > 0 {
			fmt.Printf("%-15s %.4f  holds: %-5v  %s\n", r.Bound, r.Relative, r.Holds, r.Why)
		}
	}
	// Output:
	// known: A, B
	// exact           0.0114  holds: true   always
	// elementwise     0.0655  holds: true   always
	// worst-case      0.2451  holds: true   no element is clipped
	// tilted          0.0241  holds: true   random bits are ideal and independent
	// sub-gaussian    0.0289  holds: true   random bits are ideal and independent
	// hoeffding       0.1619  holds: false  a model: that errors of rounding to nearest have mean zero, each given those before it
	// hoeffding-norms 0.2376  holds: false  a model: that errors of rounding to nearest have mean zero, each given those before it
	// random-signs    0.0291  holds: false  a prediction: that errors of elements have random signs, to first order
}

// The catalogue: what must be known for which bound.
func ExampleCatalogue() {
	for _, b := range quantisation.Catalogue() {
		fmt.Printf("%-16s %-20v %s\n", b.Name, b.Needs, b.Assumes)
	}
	// Output:
	// exact            A, B                 always
	// elementwise      A, B                 always
	// worst-case       A, B                 no element is clipped
	// worst-case-laws  law of A, law of B   elements of A and B are of these laws, dependent or not
	// worst-case-mean  law of A, law of B   no element is clipped or underflows
	// laws             law of A, law of B   elements of A and B are independent, of these laws
	// law-of-a         B, law of A          elements of A are independent, of this law
	// law-of-b         A, law of B          elements of B are independent, of this law
	// conformal        B, other rows of A   these rows and those of A are exchangeable
	// tilted           A, B                 random bits are ideal and independent
	// sub-gaussian     A, B                 random bits are ideal and independent
	// hoeffding        A, B                 random bits are ideal and independent, and no element is clipped
	// hoeffding-norms  A, B                 random bits are ideal and independent, and no element is clipped
	// random-signs     A, B                 errors of elements have random signs
}

func ExampleFind() {
	b, ok := quantisation.Find("conformal")
	fmt.Println(b.Formula, ok)
	// Output:
	// the ⌈(n+1)(1-ζ/M)⌉-th of the largest errors of n other rows of A true
}

// bfloat16 with 8 random bits, and NVFP4 as TransformerEngine computes it.
func ExampleRounding() {
	p := quantisation.Problem{
		M: 1, K: 2, N: 1,
		RoundA: quantisation.Rounding{Format: tcore.BFloat16, Stochastic: tcore.Stochastic{Seed: 1, Bits: 8}},
		RoundB: quantisation.Rounding{Recipe: quant.NVFP4(quant.Vector16)},
		A:      blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1.7, -0.3}},
		B:      blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0.2, 0.9}},
	}
	results, err := quantisation.Evaluate(p, roundoff.FailureOf(0.99))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("|E| = %.3f\n", results[0].Absolute)
	// Output:
	// |E| = 0.042
}

func ExampleKnowledge() {
	fmt.Println(quantisation.LawOfA | quantisation.MatrixB)
	// Output:
	// B, law of A
}
