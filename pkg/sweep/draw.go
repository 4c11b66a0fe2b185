package sweep

import (
	"math/rand/v2"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// A draw is the pair of matrices of one seed, which all machines multiply, with
// results about them that are computed once and shared.
type draw struct {
	data Generator
	seed uint64
	a, b blas32.General

	moments    func() momentsFound
	ranges     func() rangesFound
	inspection func() inspectionFound

	mu     sync.Mutex
	exact  map[exactKey]func() exactFound
	losses map[lossesKey]func() *truncation.Losses

	quantised map[*bound.Recipes]func() quantisedFound
	matrices  map[*bound.Recipes]*bound.Given // nil without recipes
}

type momentsFound struct {
	x, y bound.Distribution
	err  error
}

type inspectionFound struct {
	*bound.Inspection
	err error
}

type rangesFound struct{ x, y bound.Range }

// An exactFound is the exact product of the matrices, after their conversion to
// the formats of a machine unless represented.
type exactFound struct {
	*trial.Product
	err error
}

// An exactKey has the fields on which the exact product depends. Machines with
// equal keys multiply the same numbers.
type exactKey struct {
	a, b        tcore.Format
	convert     tcore.RoundingMode
	represented bool
}

// A lossesKey has the fields on which the losses of products depend. On
// machines with equal keys each product loses the same.
type lossesKey struct {
	a, b, c tcore.Format
	convert tcore.RoundingMode
	core    tcore.Core
}

// draw draws the matrices of a distribution.
func (p Plan) draw(data Generator, k int, seed uint64) *draw {
	a, b := data.Matrices(p.M, p.N, k, seed)
	return &draw{
		data: data, seed: seed, a: a, b: b,
		moments: sync.OnceValue(func() momentsFound {
			x, errX := bound.MomentsOf("A", matrix.Float64(a))
			y, errY := bound.MomentsOf("B", matrix.Float64(b))
			if errX == nil {
				errX = errY
			}
			return momentsFound{x, y, errX}
		}),
		ranges: sync.OnceValue(func() rangesFound {
			x, y := bound.RangesOf32(a, b)
			return rangesFound{x, y}
		}),
		inspection: sync.OnceValue(func() inspectionFound {
			found, err := bound.Inspect(matrix.Float64(a), matrix.Float64(b))
			return inspectionFound{found, err}
		}),
		exact:  map[exactKey]func() exactFound{},
		losses: map[lossesKey]func() *truncation.Losses{},

		quantised: map[*bound.Recipes]func() quantisedFound{},
		matrices:  map[*bound.Recipes]*bound.Given{},
	}
}

// exactly returns the exact product of the numbers that a machine multiplies
// or, if represented, of the matrices before they are rounded to its formats.
func (d *draw) exactly(m tcore.Device, represented bool) exactFound {
	key := exactKey{m.A, m.B, m.Convert, represented}
	if represented {
		key = exactKey{represented: true}
	}
	d.mu.Lock()
	find, ok := d.exact[key]
	if !ok {
		find = sync.OnceValue(func() (z exactFound) {
			if represented {
				z.Product, z.err = trial.Of(d.a, d.b)
			} else {
				z.Product, z.err = trial.On(m, d.a, d.b)
			}
			return z
		})
		d.exact[key] = find
	}
	d.mu.Unlock()
	return find()
}

// lossesOf returns find, or the function that an earlier machine with the same
// losses passed.
func (d *draw) lossesOf(m tcore.Device, find func() *truncation.Losses) func() *truncation.Losses {
	key := lossesKey{m.A, m.B, m.C, m.Convert, m.Core}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.losses[key]; !ok {
		d.losses[key] = find
	}
	return d.losses[key]
}

// scales are the codes of the scales of each vector, a row of A or a column of
// B, one for each block.
type scales struct {
	codes [][]uint64
}

// scales returns the scales of A and of B on a machine. They are 1 where the
// distribution has no scales.
func (d *draw) scales(m tcore.Device) (x, y scales) {
	of := func(vectors int, stream uint64, scale func(r *rand.Rand, f tcore.Format) uint64) scales {
		z := scales{make([][]uint64, vectors)}
		for i := range z.codes {
			r := rand.New(rand.NewPCG(d.seed, stream<<32|uint64(i)))
			z.codes[i] = make([]uint64, (d.a.Cols+m.ScaleBlock-1)/m.ScaleBlock)
			for j := range z.codes[i] {
				if scale == nil {
					z.codes[i][j] = m.Scale.Encode(1, tcore.ToNearestEven)
				} else {
					z.codes[i][j] = scale(r, m.Scale)
				}
			}
		}
		return z
	}
	return of(d.a.Rows, 5, d.data.scaleX), of(d.b.Cols, 6, d.data.scaleY)
}

// span returns the greatest and the least value of the scales.
func (s scales) span(f tcore.Format) (greatest, least float64) {
	for i, codes := range s.codes {
		for j, code := range codes {
			x := f.Decode(code)
			if i+j == 0 {
				least = x
			}
			greatest, least = max(greatest, x), min(least, x)
		}
	}
	return greatest, least
}

// scaled reports whether the distribution has scales for the blocks of A or of
// B.
func (l Generator) scaled() bool { return l.scaleX != nil || l.scaleY != nil }
