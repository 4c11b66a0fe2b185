package sweep

import (
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A factor is the distribution of one matrix: that of its rows, of A, or of its
// columns, of B. Each is filled from a generator of its own.
type factor struct {
	name               string
	bound.Distribution // what the bounds are told; the zero value is nothing
	fill               func(r *rand.Rand, x []float32)
	scale              func(r *rand.Rand, f tcore.Format) uint64
	mixed              bool
	dependent          string
	alike              bool // numbers of a vector are few, or like those next to them
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

// fewValues returns the factor of independent elements from d, which are a few
// numbers.
func fewValues(d bound.Distribution) factor {
	z := drawn(d)
	z.alike = true
	return z
}

// independent reports whether elements are, and all of one distribution.
func (z factor) independent() bool { return !z.mixed && z.dependent == "" && z.CanDraw() }

// each returns the factor of elements to which f has been done, and their
// moments.
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

// times returns the distribution of matrices of two factors. They have nothing
// in common but for their seed.
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
	if !z.CanDraw() || !y.CanDraw() { // half of it is of no use
		l.X, l.Y = bound.Distribution{}, bound.Distribution{}
		if z.alike && y.alike { // rounding makes the same errors over and over
			l.Adverse = "products are alike, which no bound is told"
		}
	}
	return l
}

// scaledVectors returns the factor whose vectors are multiplied by what scale
// draws first.
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

// known returns the distribution, of no name, that has these moments and is
// drawn like that.
func known(m bound.DataMoments, draw func(*rand.Rand) float64) bound.Distribution {
	return bound.FromMoments("", m, draw)
}

// from returns a number of the distribution, drawn from r.
func from(d bound.Distribution, r *rand.Rand) float64 {
	d.Src = r
	return d.Rand()
}
