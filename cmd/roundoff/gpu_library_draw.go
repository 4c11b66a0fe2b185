package main

import (
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/library"
	"gonum.org/v1/gonum/blas/blas32"
)

// drawShape returns a shape by turns with one row or column, few rows, nearly
// square, deep, and odd. Sizes are as often in each octave.
func drawShape(rng *rand.Rand, turn int) library.Shape {
	size := func(from, to int) int {
		return int(float64(from) * math.Pow(float64(to+1)/float64(from), rng.Float64()))
	}
	switch turn % 5 {
	case 0:
		s := library.Shape{M: 1, N: size(1, 4096), K: size(1, 8192)}
		if rng.IntN(2) == 0 {
			s.M, s.N = s.N, s.M
		}
		return s
	case 1:
		return library.Shape{M: size(2, 16), N: size(8, 1024), K: size(2, 1200)}
	case 2:
		return library.Shape{M: 8 * size(4, 64), N: 8 * size(4, 64), K: 8 * size(4, 128)}
	case 3:
		return library.Shape{M: size(1, 32), N: size(1, 32), K: 8 * size(512, 8192)}
	}
	return library.Shape{M: size(1, 300), N: size(1, 300), K: size(1, 2000)}
}

// drawnFactors are the factors of a product, in their format.
type drawnFactors struct {
	name string
	a, b blas32.General
}

// planData draw the data on which orders are compared, as those who published
// the plans did (bitequiv 2026): products of like sizes, products whose sizes
// grow along K while their signs alternate, and two large ones that cancel
// beside a tiny one, which is lost where it meets only one of them. No one of
// them tells all orders apart.
var planData = []func(*rand.Rand, library.Shape, library.Kind) drawnFactors{
	func(rng *rand.Rand, s library.Shape, k library.Kind) drawnFactors {
		return drawFactors("normal", s, k, func(int, int) float64 { return 0.3 * rng.NormFloat64() }, func(int, int) float64 { return 0.3 * rng.NormFloat64() })
	},
	func(rng *rand.Rand, s library.Shape, k library.Kind) drawnFactors {
		decades := 3.0
		if k == library.FP8 {
			decades = 1
		}
		grown := func(_, l int) float64 {
			size := math.Pow(10, decades*(2*float64(l)/float64(max(1, s.K-1))-1))
			return rng.NormFloat64() * size * float64(1-2*(l%2))
		}
		return drawFactors("ramp", s, k, grown, func(int, int) float64 { return 0.1 * rng.NormFloat64() })
	},
	func(rng *rand.Rand, s library.Shape, k library.Kind) drawnFactors {
		large, tiny := 1024.0, 0x1p-15
		if k == library.FP8 {
			large, tiny = 256, 0x1p-9
		}
		one := func(int, int) float64 { return 1 }
		rows := s.M >= s.N
		sparse := make([][3]int, max(s.M, s.N)) // positions in K of a row of A, or of a column of B
		for i := range sparse {
			sparse[i] = [3]int{rng.IntN(s.K), rng.IntN(s.K), rng.IntN(s.K)}
		}
		spikes := func(i, l int) (x float64) {
			for j, v := range []float64{large, -large, tiny} {
				if sparse[i][j] == l {
					x += v
				}
			}
			return x
		}
		if rows {
			return drawFactors("spikes", s, k, spikes, one)
		}
		return drawFactors("spikes", s, k, one, spikes)
	},
}

// drawFactors returns factors rounded to the format of the kind: a of rows of
// A and positions in K, b of columns of B and positions in K.
func drawFactors(name string, s library.Shape, k library.Kind, a, b func(i, l int) float64) drawnFactors {
	o := drawnFactors{name, matrix.New(s.M, s.K), matrix.New(s.K, s.N)}
	for i := range s.M {
		for l := range s.K {
			o.a.Data[i*s.K+l] = float32(a(i, l))
		}
	}
	for l := range s.K {
		for j := range s.N {
			o.b.Data[l*s.N+j] = float32(b(j, l))
		}
	}
	f := k.Factors()
	f.RoundSlice32(o.a.Data, o.a.Data)
	f.RoundSlice32(o.b.Data, o.b.Data)
	return o
}
