package quantisation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestSquaresAgainstSums(t *testing.T) {
	const M, K, N = 7, 50, 5
	r := rand.New(rand.NewPCG(11, 0))
	a, b := data["N(0,1)"](M, K, N, r)
	a.Data[3] = 0
	for _, least := range []float64{0, 0.3} {
		S, above := Squares(a, b, least), SquaresByNorms(a, b, least)
		size := func(x float64) float64 {
			if x == 0 {
				return 0
			}
			return math.Max(math.Abs(x), least)
		}
		for i := range M {
			for j := range N {
				var want, a2, a4, aMax, b2, b4, bMax float64
				for k := range K {
					x, y := size(a.Data[i*K+k]), size(b.Data[k*N+j])
					want += x * x * y * y
					a2, b2 = a2+x*x, b2+y*y
					a4, b4 = a4+x*x*x*x, b4+y*y*y*y
					aMax, bMax = max(aMax, x), max(bMax, y)
				}
				near(t, "Σ a²b²", S.Data[i*N+j], want, 1e-12)
				near(t, "by norms", above.Data[i*N+j], min(math.Sqrt(a4*b4), a2*bMax*bMax, aMax*aMax*b2), 1e-12)
				if above.Data[i*N+j] < want {
					t.Errorf("by norms %v, less than %v", above.Data[i*N+j], want)
				}
			}
		}
	}
	outlier := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{100, 1}}
	flat := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 1}}
	near(t, "an outlier times ones", SquaresByNorms(outlier, flat, 0).Data[0], Squares(outlier, flat, 0).Data[0], 1e-15)
	ones, column := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: flat.Data}, blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: outlier.Data}
	near(t, "ones times an outlier", SquaresByNorms(ones, column, 0).Data[0], Squares(ones, column, 0).Data[0], 1e-15)
}

// Each product of rounded numbers, underflow included, is within
// (2w+w²)|a|'|b|' of that of the numbers: w = u to nearest, w = 2u to either
// neighbour.
func TestHoeffdingHasTheRangeOfEachError(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 0))
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1, tcore.E5M2, tcore.Binary16} {
		u := f.UnitRoundoff()
		tightest := 0.0
		for range 20000 {
			x := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{r.Float64() * math.Ldexp(4, -r.IntN(20))}}
			y := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{-r.Float64() * math.Ldexp(4, -r.IntN(20))}}
			size := math.Sqrt(Squares(x, y, f.MinNormal()).Data[0])
			for _, mode := range []tcore.RoundingMode{tcore.ToNearestEven, tcore.ToNegative, tcore.ToPositive, tcore.ToZero} {
				w := 2 * u
				if mode == tcore.ToNearestEven {
					w = u
				}
				q := math.Abs(f.Round(x.Data[0], mode)*f.Round(y.Data[0], mode) - x.Data[0]*y.Data[0])
				if limit := (2*w + w*w) * size; q > limit {
					t.Fatalf("%s, %v: error %v of %v times %v, limit %v", f.Name, mode, q, x.Data[0], y.Data[0], limit)
				} else if mode == tcore.ToNearestEven {
					tightest = max(tightest, q/limit)
				}
			}
		}
		if tightest < 0.6 {
			t.Errorf("%s: the largest error is %.2f of its limit, want nearly 1", f.Name, tightest)
		}
	}
}

// For stochastic rounding Hoeffding's bound is a theorem, for rounding to
// nearest a model, which constants contradict.
func TestHoeffding(t *testing.T) {
	const M, K, N = 256, 256, 8
	f := tcore.E4M3
	u := f.UnitRoundoff()
	all := roundoff.FailureOf(0.99).Split(M * N)
	largest := func(e, S blas64.General, w float64) (τ float64) {
		for at, v := range S.Data {
			τ = max(τ, math.Abs(e.Data[at])/Hoeffding(w, v, all))
		}
		return τ
	}
	for name, make := range data {
		a, b := make(M, K, N, rand.New(rand.NewPCG(13, 0)))
		exactS, normS := Squares(a, b, f.MinNormal()), SquaresByNorms(a, b, f.MinNormal())
		s := stochastic(t, f, 32, a, b)
		p, err := Known(s.a.Mean(), s.b.Mean(), drawn(f, 32, a, 1), drawn(f, 32, b, 2))
		if err != nil {
			t.Fatal(err)
		}
		random, model := largest(p.Error(), exactS, 2*u), largest(known(t, f, a, b).Error(), exactS, u)
		t.Logf("%-12s τ %.2f stochastic, %.2f by norms; %.2f to nearest", name, random, largest(p.Error(), normS, 2*u), model)
		if random > 0.5 || random < 0.02 {
			t.Errorf("%s: stochastic rounding is %.2f of the bound, want 0.02 to 0.5", name, random)
		}
		if (name == "constants") != (model > 1) {
			t.Errorf("%s: rounding to nearest is %.2f of the bound, which constants alone should exceed", name, model)
		}
	}
	near(t, "the formula", Hoeffding(0.1, 9, roundoff.FailureOf(0.5)), math.Sqrt(2*math.Log(4))*0.21*3, 1e-12)
}

func TestNormsRefuse(t *testing.T) {
	one, two := filled(1, 1, func(int, int) float64 { return 1 }), filled(2, 2, func(int, int) float64 { return 1 })
	panics.WantPart(t, "a has 1 columns, b has 2 rows", func() { Squares(one, two, 0) })
	panics.WantPart(t, "a has 1 columns, b has 2 rows", func() { SquaresByNorms(one, two, 0) })
	panics.WantPart(t, "least = -1, want", func() { Squares(one, one, -1) })
	panics.WantPart(t, "least = NaN, want", func() { SquaresByNorms(one, one, math.NaN()) })
	panics.WantPart(t, "w = 1, want", func() { Hoeffding(1, 1, -1) })
	panics.WantPart(t, "S = -1, want", func() { Hoeffding(0.1, -1, -1) })
}
