package sweep

import (
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A factor is the distribution of one matrix, given by how each of its vectors
// is filled: the rows of A, or the columns of B. Each vector has its own random
// number generator.
type factor struct {
	name               string
	bound.Distribution // what the bounds are given; the zero value if nothing
	fill               func(r *rand.Rand, x []float32)
	scale              func(r *rand.Rand, f tcore.Format) uint64
	mixed              bool
	dependent          string
	alike              bool // a vector has few different values, or neighbouring elements are close
}

// drawn returns the factor of independent elements from d.
func drawn(d bound.Distribution) factor {
	return factor{Distribution: d, fill: func(r *rand.Rand, x []float32) {
		d := d
		d.Src = r
		for k := range x {
			x[k] = float32(d.Rand())
		}
	}}
}

// fewValues returns the factor of independent elements from d, which has few
// different values.
func fewValues(d bound.Distribution) factor {
	z := drawn(d)
	z.alike = true
	return z
}

// independent reports whether all elements are independent and of one known
// distribution.
func (z factor) independent() bool { return !z.mixed && z.dependent == "" && z.CanDraw() }

// each returns the factor with f applied to every element. m are the moments of
// the results.
func (z factor) each(m bound.DataMoments, f func(r *rand.Rand, x float64) float64) factor {
	fill, d := z.fill, z.Distribution
	z.Distribution = bound.Distribution{}
	if d.CanDraw() {
		z.Distribution = known(m, func(r *rand.Rand) float64 { return f(r, from(d, r)) })
	}
	z.fill = func(r *rand.Rand, x []float32) {
		fill(r, x)
		for k := range x {
			x[k] = float32(f(r, float64(x[k])))
		}
	}
	return z
}

// times returns the distribution of A from z and B from y. For a given seed the
// two matrices are drawn from different streams.
func (z factor) times(y factor, name string) Generator {
	l := Generator{
		Name: name, X: z.Distribution, Y: y.Distribution, Mixed: z.mixed || y.mixed, Dependent: z.dependent,
		scaleX: z.scale, scaleY: y.scale,
		Draw: func(m, n, k int, seed uint64) (a, b blas32.General) {
			vectors := func(rows int, stream uint64, fill func(r *rand.Rand, x []float32)) blas32.General {
				v := matrix.New(rows, k)
				parallel.Each(rows, func(i int) {
					fill(rand.New(rand.NewPCG(seed, stream<<32|uint64(i))), v.Data[i*k:(i+1)*k])
				})
				return v
			}
			return vectors(m, 1, z.fill), matrix.Transpose(vectors(n, 2, y.fill))
		},
	}
	if l.Dependent == "" {
		l.Dependent = y.dependent
	}
	if !z.CanDraw() || !y.CanDraw() { // the bounds need both distributions
		l.X, l.Y = bound.Distribution{}, bound.Distribution{}
		if z.alike && y.alike { // the same rounding errors recur
			l.Adverse = "products are alike, which no bound knows"
		}
	}
	return l
}

// scaledVectors returns the factor f with each vector multiplied by a number
// that scale draws. The scale is drawn before the vector.
func scaledVectors(f factor, scale func(*rand.Rand) float64) factor {
	z := f
	z.Distribution = bound.Distribution{}
	z.mixed = true
	z.fill = func(r *rand.Rand, x []float32) {
		c := scale(r)
		f.fill(r, x)
		for k := range x {
			x[k] = float32(c * float64(x[k]))
		}
	}
	return z
}

// known returns the distribution without a name that has moments m and samples
// from draw.
func known(m bound.DataMoments, draw func(*rand.Rand) float64) bound.Distribution {
	return bound.FromMoments("", m, draw)
}

// from returns a sample of the distribution, drawn with r.
func from(d bound.Distribution, r *rand.Rand) float64 {
	d.Src = r
	return d.Rand()
}
