package quantisation

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// filled returns a matrix of draws.
func filled(rows, cols int, draw func(i, j int) float64) blas64.General {
	z := matrix.New64(rows, cols)
	for i := range rows {
		for j := range cols {
			z.Data[i*cols+j] = draw(i, j)
		}
	}
	return z
}

// data are kinds of matrices, M × K and K × N, whose rows or columns are alike
// in no way but one.
var data = map[string]func(M, K, N int, r *rand.Rand) (a, b blas64.General){
	"N(0,1)": func(M, K, N int, r *rand.Rand) (a, b blas64.General) {
		draw := func(int, int) float64 { return r.NormFloat64() }
		return filled(M, K, draw), filled(K, N, draw)
	},
	"U(0,1)": func(M, K, N int, r *rand.Rand) (a, b blas64.General) {
		draw := func(int, int) float64 { return r.Float64() }
		return filled(M, K, draw), filled(K, N, draw)
	},
	"constants": func(M, K, N int, _ *rand.Rand) (a, b blas64.General) {
		draw := func(int, int) float64 { return 0.3 }
		return filled(M, K, draw), filled(K, N, draw)
	},
	"AR(1)": func(M, K, N int, r *rand.Rand) (a, b blas64.General) {
		a = autoregressive(M, K, r)
		b = autoregressive(N, K, r)
		return a, filled(K, N, func(k, j int) float64 { return b.Data[j*K+k] })
	},
	"sorted": func(M, K, N int, _ *rand.Rand) (a, b blas64.General) {
		return filled(M, K, func(i, k int) float64 { return (float64(k) + float64(i)/float64(M)) / float64(K) }),
			filled(K, N, func(k, j int) float64 { return (float64(k) + float64(j)/float64(N)) / float64(K) })
	},
	"outliers": func(M, K, N int, r *rand.Rand) (a, b blas64.General) { // columns of A of very different scale
		scale := make([]float64, K)
		for k := range scale {
			scale[k] = math.Exp(float64(1.5*r.NormFloat64()) - 3)
		}
		return filled(M, K, func(_, k int) float64 { return min(6, max(-6, scale[k]*r.NormFloat64())) }),
			filled(K, N, func(int, int) float64 { return r.NormFloat64() })
	},
	"decimal grid": func(M, K, N int, r *rand.Rand) (a, b blas64.General) {
		draw := func(int, int) float64 { return float64(1+r.IntN(10)) / 10 }
		return filled(M, K, draw), filled(K, N, draw)
	},
}

// autoregressive returns rows x_k = 0.9 x_(k-1) + noise of variance 1.
func autoregressive(rows, K int, r *rand.Rand) blas64.General {
	x := 0.0
	return filled(rows, K, func(_, k int) float64 {
		if k == 0 {
			x = r.NormFloat64()
		} else {
			x = float64(0.9*x) + float64(math.Sqrt(1-0.81)*r.NormFloat64())
		}
		return x
	})
}

// nearest returns x rounded to nearest.
func nearest(f tcore.Format, x blas64.General) blas64.General {
	return matrix.Map64(func(v float64) float64 { return f.Round(v, tcore.ToNearestEven) }, x)
}

// known is Known of matrices that are rounded to nearest.
func known(t *testing.T, f tcore.Format, a, b blas64.General) KnownProduct {
	t.Helper()
	p, err := Known(a, b, nearest(f, a), nearest(f, b))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exactly returns Σ x_ik y_kj in numbers of so many bits that nothing is
// rounded.
func exactly(x, y blas64.General, i, j int) *big.Float {
	sum := new(big.Float).SetPrec(4000)
	for k := range x.Cols {
		p := new(big.Float).SetPrec(4000).Mul(big.NewFloat(x.Data[i*x.Stride+k]), big.NewFloat(y.Data[k*y.Stride+j]))
		sum.Add(sum, p)
	}
	return sum
}

func TestKnownErrorIsExactUpToBinary64(t *testing.T) {
	const M, K, N = 5, 40, 4
	for name, make := range data {
		a, b := make(M, K, N, rand.New(rand.NewPCG(1, 0)))
		qa, qb := nearest(tcore.E4M3, a), nearest(tcore.E2M1, b)
		p, err := Known(a, b, qa, qb)
		if err != nil {
			t.Fatal(err)
		}
		E, size, V, z := p.Error(), p.Elementwise(), p.Variance(), p.Standardised()
		if part := p.Rows(1, 3).Standardised(); !slices.Equal(part.Data, z.Data[z.Stride:3*z.Stride]) {
			t.Errorf("%s: rows 1 and 2 have %v, want those of %v", name, part.Data, z.Data)
		}
		n := 2.0*K + 1
		γ := n * 0x1p-53 / (1 - n*0x1p-53)
		for i := range M {
			for j := range N {
				want, _ := new(big.Float).Sub(exactly(qa, qb, i, j), exactly(a, b, i, j)).Float64()
				at := i*N + j
				if math.Abs(E.Data[at]-want) > γ*size.Data[at] || math.Abs(want) > size.Data[at]*(1+γ) {
					t.Errorf("%s: E = %v, bound %v, want %v", name, E.Data[at], size.Data[at], want)
				}
				v, bound := 0.0, 0.0
				for k := range K {
					x, y, qx, qy := a.Data[i*K+k], b.Data[k*N+j], qa.Data[i*K+k], qb.Data[k*N+j]
					v += (qx-x)*(qx-x)*y*y + x*x*(qy-y)*(qy-y)
					bound += math.Abs(qx-x)*math.Abs(y) + math.Abs(qx)*math.Abs(qy-y)
				}
				near(t, name+", V", V.Data[at], v, 1e-12)
				near(t, name+", bound", size.Data[at], bound, 1e-12)
				if v > 0 {
					near(t, name+", z", z.Data[at], E.Data[at]/math.Sqrt(v), 1e-12)
				}
			}
		}
	}
}

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func TestRowSquaresHaveTheRightMean(t *testing.T) {
	const M, K, N, probes, seeds = 4, 30, 20, 7, 400
	r := rand.New(rand.NewPCG(2, 0))
	a, b := data["N(0,1)"](M, K, N, r)
	p := known(t, tcore.E4M3, a, b)
	E := p.Error()
	for i := range M {
		want := 0.0
		for j := range N {
			want += square(E.Data[i*N+j])
		}
		mean, spread := 0.0, 0.0
		for seed := range uint64(seeds) {
			v := p.RowSquares(probes, seed)[i]/want - 1
			mean, spread = mean+v/seeds, spread+v*v/seeds
		}
		if limit := math.Sqrt(2.0 / probes); math.Sqrt(spread) > 1.1*limit || math.Abs(mean) > 5*limit/math.Sqrt(seeds) {
			t.Errorf("row %d: relative error of mean %v and root mean square %v, want 0 and less than %v", i, mean, math.Sqrt(spread), limit)
		}
	}
	one := p.RowSquares(1, 3) // one column: (Ex)² is E² itself, whatever the sign
	q := known(t, tcore.E4M3, a, filled(K, 1, func(k, _ int) float64 { return b.Data[k*N] }))
	for i, v := range q.RowSquares(1, 3) {
		near(t, "one column", v, square(q.Error().Data[i]), 1e-12)
	}
	if len(one) != M {
		t.Errorf("%d rows, want %d", len(one), M)
	}
}

func TestMeanPartIsWhatTheMeansMake(t *testing.T) {
	const M, K, N = 30, 512, 20
	r := rand.New(rand.NewPCG(3, 0))
	a, b := data["U(0,1)"](M, K, N, r)
	p := known(t, tcore.E4M3, a, b)
	L, R := p.MeanPart()
	E, part := p.Error(), sumOfProducts(L, R)
	var left []float64
	for i := range M {
		for j := range N {
			meanA, meanB := 0.0, 0.0
			for k := range K {
				meanA += nearest(tcore.E4M3, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: a.Data[i*K+k:]}).Data[0] / K
				meanB += b.Data[k*N+j] / K
			}
			want := 0.0
			for k := range K {
				x, y := a.Data[i*K+k], b.Data[k*N+j]
				qx, qy := tcore.E4M3.Round(x, tcore.ToNearestEven), tcore.E4M3.Round(y, tcore.ToNearestEven)
				want += (qx-meanA)*(qy-y) + (qx-x)*(y-meanB)
			}
			got := E.Data[i*N+j] - part.Data[i*N+j]
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("E - LR = %v at (%d, %d), want %v", got, i, j, want)
			}
			left = append(left, got)
		}
	}
	if share := sample.RMS(left) / sample.RMS(E.Data); share < 0.4 || share > 0.6 {
		t.Errorf("without the means of U(0,1) %.2f of the error is left, want about half", share)
	}
}

// Given the data, E/√V has a root mean square of about 1 where errors of
// elements are like random signs.
func TestStandardisedErrorsOfRandomData(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for _, name := range []string{"N(0,1)", "U(0,1)", "AR(1)", "outliers"} {
		for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.BFloat16} {
			a, b := data[name](64, 1024, 64, r)
			z := sample.RMS(known(t, f, a, b).Standardised().Data)
			t.Logf("%s in %s: rms of z %.3f", name, f.Name, z)
			if z < 0.85 || z > 1.15 {
				t.Errorf("%s in %s: rms of z %.3f, want about 1", name, f.Name, z)
			}
		}
	}
}

func TestKnownRefuses(t *testing.T) {
	one, two := filled(1, 1, func(int, int) float64 { return 1 }), filled(2, 2, func(int, int) float64 { return 1 })
	nan := filled(2, 2, func(i, j int) float64 { return math.NaN() })
	if _, err := Known(two, two, two, nan); err == nil || !strings.Contains(err.Error(), "qb(0, 0) = NaN") {
		t.Errorf("error %v, want one that names qb(0, 0)", err)
	}
	panics.WantPart(t, "a has 1 columns, b has 2 rows", func() { Known(one, two, one, two) })
	panics.WantPart(t, "qa is 1 × 1, want 2 × 2", func() { Known(two, two, one, two) })
	panics.WantPart(t, "a is 0 × 0", func() { Known(blas64.General{}, two, one, two) })
	p, _ := Known(one, one, one, one)
	panics.WantPart(t, "probes = 0, want probes >= 1", func() { p.RowSquares(0, 1) })
	if z := p.Standardised().Data[0]; z != 0 {
		t.Errorf("z = %v without errors, want 0", z)
	}
}
