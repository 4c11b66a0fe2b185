package tcore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// fl32 returns x rounded to binary32, by package math/big.
func fl32(x *big.Float) float64 {
	z, _ := x.Float32()
	return float64(z)
}

func bigSum(x, y float64) *big.Float { return exactly(0).Add(exactly(x), exactly(y)) }

func bigProduct(x, y float64) *big.Float { return exactly(0).Mul(exactly(x), exactly(y)) }

// slowOrder returns the sum of products in binary32 by the textbook algorithm,
// without an FMA: in pairs level by level, or compensated with the errors
// computed as differences of exact numbers.
func slowOrder(o Order, x, y []float64) float64 {
	switch o {
	case InPairs:
		var level []float64
		for i := range x {
			level = append(level, fl32(bigProduct(x[i], y[i])))
		}
		for len(level) > 1 {
			var next []float64
			for i := 0; i < len(level); i += 2 {
				if i+1 == len(level) {
					next = append(next, level[i])
				} else {
					next = append(next, fl32(bigSum(level[i], level[i+1])))
				}
			}
			level = next
		}
		return level[0]
	case Compensated:
		s, c := 0.0, 0.0
		for i := range x {
			p := fl32(bigProduct(x[i], y[i]))
			lost := fl32(exactly(0).Sub(bigProduct(x[i], y[i]), exactly(p)))
			t := fl32(bigSum(s, p))
			cut := fl32(exactly(0).Sub(exactly(0).Add(exactly(s), exactly(p)), exactly(t)))
			s, c = t, fl32(bigSum(c, fl32(bigSum(cut, lost))))
		}
		return fl32(bigSum(s, c))
	}
	s := 0.0
	for i := range x {
		s = fl32(exactly(0).Add(bigProduct(x[i], y[i]), exactly(s)))
	}
	return s
}

func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 60))
	for _, k := range []int{1, 2, 3, 7, 8, 9, 100} {
		x, y := make([]float64, k), make([]float64, k)
		for range 50 {
			for i := range x {
				x[i] = float64(float32(rng.NormFloat64()))
				y[i] = float64(float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)))))
			}
			for o := InSequence; o <= Compensated; o++ {
				m := Machine{Device: IEEEF32, Order: o}
				if got, want := m.Dot(x, y, 0), slowOrder(o, x, y); got != want {
					t.Fatalf("%v, K = %d: %v, want %v", o, k, got, want)
				}
			}
		}
	}
}

// GEMM of a machine equals Dot of its rows and columns, element by element,
// also if K is split.
func TestOrderOfMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 61))
	a, b, d := matrix.New(3, 50), matrix.New(50, 4), matrix.New(3, 4)
	for i := range a.Data {
		a.Data[i] = rng.Float32()
	}
	for i := range b.Data {
		b.Data[i] = rng.Float32()
	}
	rows, columns := matrix.Vectors(a), matrix.Vectors(matrix.Transpose(b))
	for _, m := range []Machine{
		{Device: IEEEF32}, {Device: IEEEF32, SplitK: 3, Order: InPairs}, {Device: IEEEF16, Order: Compensated, Output: BFloat16},
		{Device: IEEEF32, Stochastic: Stochastic{Seed: 1, Bits: 32}}, {Device: IEEEF16, SplitK: 4, Order: InPairs, Stochastic: Stochastic{Seed: 2, Bits: 5}},
		{Device: HopperF16, SplitK: 2}, {Device: IEEEF64, SplitK: 3}, {Device: IEEEF64, SplitK: 2, Order: InPairs, Output: Binary16},
	} {
		m.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		for i, z := range d.Data {
			if want := m.Dot(rows[i/4], columns[i%4], uint64(i)); float64(z) != want {
				t.Errorf("%s, %v: element %d is %v, want %v", m.Device.Name, m.Order, i, z, want)
			}
		}
	}
}

// Each stochastic FMA is one of the two neighbours, and their mean is the exact
// result.
func TestStochasticFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 62))
	s := Stochastic{Seed: 7, Bits: 32}
	const n = 4096
	for range 40 {
		a, b, c := float64(rng.Float32()), float64(rng.Float32()), float64(rng.Float32())-0.5
		exact, _ := exactly(0).Add(bigProduct(a, b), exactly(c)).Float64()
		lo, hi := Binary32.FMA(a, b, c, ToNegative), Binary32.FMA(a, b, c, ToPositive)
		mean := 0.0
		for i := range uint64(n) {
			z := s.FMA(Binary32, a, b, c, i)
			if z != lo && z != hi {
				t.Fatalf("FMA(%v, %v, %v) = %v, want %v or %v", a, b, c, z, lo, hi)
			}
			mean += (z - exact) / n
		}
		if math.Abs(mean) > 5*(hi-lo)/2/math.Sqrt(n) {
			t.Errorf("FMA(%v, %v, %v): mean error %v of %v", a, b, c, mean, hi-lo)
		}
	}
	t.Run("differs_from_step_to_step", func(t *testing.T) {
		// Errors of n steps add up as a random walk, up to √n gaps, not to n.
		const n, sums = 1024, 50
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = 1, 0.3*0x1p-23 // 0.3 of a gap of the numbers above 1
		}
		x[0], y[0] = 1, 1
		m, worst := Machine{Device: IEEEF32, Stochastic: s}, 0.0
		for i := range uint64(sums) {
			worst = max(worst, math.Abs(m.Dot(x, y, i)-1-0.3*0x1p-23*(n-1)))
		}
		if gaps := worst * 0x1p23; gaps > 3*math.Sqrt(n) || gaps < math.Sqrt(n)/4 {
			t.Errorf("the largest of %d errors is %v gaps, want about √%d", sums, gaps, n)
		}
	})
	t.Run("differs_from_sum_to_sum", func(t *testing.T) {
		x := make([]float64, 1000)
		for i := range x {
			x[i] = float64(rng.Float32())
		}
		seen := map[float64]bool{}
		m := Machine{Device: IEEEF32, Stochastic: s}
		for i := range uint64(100) {
			seen[m.Dot(x, x, i)] = true
		}
		if len(seen) < 20 {
			t.Errorf("%d different sums of 100", len(seen))
		}
	})
}
