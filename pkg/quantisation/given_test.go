package quantisation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// columns returns K × N numbers of a law, and what a recipe makes of them.
func (m measured) columns(t *testing.T, r *rand.Rand, K, N int) (b, bhat blas64.General) {
	t.Helper()
	x, rounded := m.vectors(t, r, N, K)
	b = blas64.General{Rows: K, Cols: N, Stride: N, Data: make([]float64, K*N)}
	bhat = blas64.General{Rows: K, Cols: N, Stride: N, Data: make([]float64, K*N)}
	for j := range N {
		for k := range K {
			b.Data[k*N+j], bhat.Data[k*N+j] = x[j*K+k], rounded[j*K+k]
		}
	}
	return b, bhat
}

// Mean, deviation and bound of a column are those of sums of exponentials over
// the nodes of A, product by product.
func TestGivenIsTheSumOfExponentials(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const M, K = 50, 20
	b, bhat := measured{law: Normal(0, 1), format: tcore.E2M1}.columns(t, r, K, 2)
	for k := range K {
		b.Data[2*k+1], bhat.Data[2*k+1] = 0, 0
	}
	a := Factor{Law: Uniform(-0.5, 2), Format: tcore.E4M3}
	f := roundoff.FailureOf(0.99)
	e := Given{a, M, b, bhat}.Errors(f)
	if (e[1] != Errors{}) {
		t.Errorf("a column of zeros has errors %v", e[1])
	}
	nodes := a.Law.nodes(a.Format, 1, nil)
	cumulant := func(τ float64) (k0, k1, k2 float64) {
		for k := range K {
			var sum [3]float64
			for _, n := range nodes {
				q := (n.x+n.delta)*bhat.Data[2*k] - n.x*b.Data[2*k]
				w := n.weight * math.Exp(τ*q)
				sum[0] += w
				sum[1] += w * q
				sum[2] += w * q * q
			}
			mean := sum[1] / sum[0]
			k0, k1, k2 = k0+math.Log(sum[0]), k1+mean, k2+sum[2]/sum[0]-mean*mean
		}
		return k0, k1, k2
	}
	_, mean, variance := cumulant(0)
	sd := math.Sqrt(variance)
	within(t, "Mean", e[0].Mean, mean, 1e-10*sd)
	within(t, "Deviation", e[0].Deviation, sd, 1e-10*sd)
	for _, sign := range []float64{1, -1} {
		least := math.Inf(1)
		for i := 1; i < 400; i++ {
			τ := float64(i) * 0.02 / sd
			k, _, _ := cumulant(sign * τ)
			least = min(least, (k-sign*τ*mean+math.Log(2*2*M/0.01))/τ)
		}
		got := e[0].Above
		if sign < 0 {
			got = e[0].Below
		}
		within(t, fmt.Sprintf("side %v", sign), got, least, 1e-4*least)
	}
}

// Of blocks of two, the errors with two known numbers can be gone through one
// by one.
func TestGivenBlocksOfTwo(t *testing.T) {
	a := Factor{Law: Uniform(0.1, 1), Format: tcore.E2M1, Length: 2, Others: 1, Scales: []Scale{{0.0625, 0.5}, {0.125, 0.8}, {0.25, 3}}}
	b := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1.3, -0.4}}
	bhat := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1.5, -0.5}}
	e := Given{a, 1, b, bhat}.Errors(-3)[0]
	list, weights := blocksOf(a)
	var mean, square float64
	for i, x := range list {
		q := x.rounded[0]*1.5 - x.x[0]*1.3 - x.rounded[1]*0.5 + x.x[1]*0.4
		mean += weights[i] * q
		square += weights[i] * q * q
	}
	within(t, "Mean", e.Mean, mean, 1e-9)
	within(t, "Deviation", e.Deviation, math.Sqrt(square-mean*mean), 1e-9)
}

// An unbounded law of A costs a sixteenth of the probability.
func TestGivenOfAnUnboundedLaw(t *testing.T) {
	const M, K = 50, 20
	b, bhat := measured{law: Normal(0, 1), format: tcore.E4M3}.columns(t, rand.New(rand.NewPCG(7, 8)), K, 1)
	x := Factor{Law: Normal(0, 1), Format: tcore.E4M3}
	got := Given{x, M, b, bhat}.Errors(-4)[0]
	T := math.Sqrt(2 * (4 + math.Log(16*M*K)))
	x.Law = x.Law.Truncated(-T, T)
	want := Given{x, M, b, bhat}.Errors(roundoff.Failure(-4 + math.Log(15./16)))[0]
	within(t, "Above", got.Above, want.Above, 1e-9*want.Above)
	within(t, "Below", got.Below, want.Below, 1e-9*want.Below)
}

// Where B is drawn from a law too, its columns have on average the mean and
// variance of that law, blocks with scales included.
func TestGivenAveragesToTheLaw(t *testing.T) {
	for _, m := range []measured{
		{Uniform(0, 1), tcore.E4M3, "", 0}, {Uniform(0, 1), tcore.Format{}, "mxe4m3-floor", 0}, {Uniform(-1, 1), tcore.Format{}, "mxe2m1-floor", 0}, {Normal(0, 1), tcore.Format{}, "mxe2m1-even", 0},
	} {
		x := m.factor(t)
		const K, N = 64, 40
		b, bhat := m.columns(t, rand.New(rand.NewPCG(9, 10)), K, N)
		means, squares := 0.0, 0.0
		list := Given{x, 8, b, bhat}.Errors(-3)
		for _, e := range list {
			means += e.Mean / N
			squares += e.Deviation * e.Deviation / N
		}
		for _, e := range list { // the law of a sum has the variance of the column means besides
			squares += (e.Mean - means) * (e.Mean - means) / (N - 1)
		}
		if x.Law.Interval != nil {
			x.Law = x.Law.Truncated(-6, 6)
		}
		c := NewCumulant(x, x)
		sd := math.Sqrt(K * c.Variance())
		within(t, m.law.Name+m.recipe+": mean", means, K*c.Mean(), 4*sd/math.Sqrt(N))
		within(t, m.law.Name+m.recipe+": deviation", math.Sqrt(squares), sd, 0.15*sd)
	}
}

// No row of A makes an error above its column's bound, and the largest error
// is near it.
func TestGivenHoldsAndIsTight(t *testing.T) {
	const M, K, N = 1024, 256, 8
	for _, m := range []measured{{Uniform(0, 1), tcore.E4M3, "", 0}, {Normal(0, 1), tcore.E4M3, "", 0}, {Uniform(0, 1), tcore.Format{}, "mxe4m3-floor", 0}} {
		r := rand.New(rand.NewPCG(11, 12))
		b, bhat := m.columns(t, r, K, N)
		bounds := Given{m.factor(t), M, b, bhat}.Errors(roundoff.FailureOf(0.99))
		most := 0.0
		for range M {
			a, ahat := m.vectors(t, r, 1, K)
			for j, bound := range bounds {
				e := -bound.Mean
				for k := range K {
					e += ahat[k]*bhat.Data[k*N+j] - a[k]*b.Data[k*N+j]
				}
				most = max(most, e/bound.Above, -e/bound.Below)
			}
		}
		t.Logf("%s %s: largest distance from the mean %.3f of the bound", m.law.Name, m.format.Name+m.recipe, most)
		if most > 1 || most < 0.6 {
			t.Errorf("%s %s: largest distance from the mean %.3f of the bound, want 0.6 to 1", m.law.Name, m.format.Name+m.recipe, most)
		}
	}
}
