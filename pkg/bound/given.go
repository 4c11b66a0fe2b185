package bound

import (
	"iter"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// Given are the matrices of a product, M × K and K × N. Where they are known,
// what a device loses by converting them is known as well. Its methods may be
// called at the same time. It must not be copied.
type Given struct {
	A, B blas64.General

	mu    sync.Mutex
	known map[givenKey]conversion

	quantised map[quantisedKey]quantisedMatrices
}

// A givenKey contains what the conversion of given matrices depends on.
type givenKey struct {
	a, b tcore.Format
	mode tcore.RoundingMode
}

// conversion returns the largest error of converting A and B over all outputs,
// for which it multiplies three times, in binary64. It is +Inf if an element
// overflows. The bounds on the errors of these products are added.
func (g *Given) conversion(d tcore.Device) conversion {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := givenKey{d.A, d.B, d.Convert}
	c, ok := g.known[key]
	if !ok {
		c = g.convert(d)
		if g.known == nil {
			g.known = map[givenKey]conversion{}
		}
		g.known[key] = c
	}
	return c
}

func (g *Given) convert(d tcore.Device) conversion {
	rounded := func(m blas64.General, f tcore.Format) blas64.General {
		return matrix.Map64(func(x float64) float64 { return f.Round(x, d.Convert) }, m)
	}
	z, err := g.lose(rounded(g.A, d.A), rounded(g.B, d.B))
	if err != nil {
		return conversion{error: math.Inf(1), sizes: math.Inf(1)}
	}
	return z
}

// lose returns what is lost where qa and qb are multiplied in place of the
// matrices. The error names an element that is not finite.
func (g *Given) lose(qa, qb blas64.General) (conversion, error) {
	p, err := quantisation.Known(g.A, g.B, qa, qb)
	if err != nil {
		return conversion{}, err
	}
	return g.relative(func(lo, hi int) []float64 { return g.largest(p.Rows(lo, hi)) }, qa, qb, false), nil
}

// largest returns upper bounds of |E| for a known product, those on the errors
// of computing it included.
func (g *Given) largest(p quantisation.KnownProduct) []float64 {
	e, most := p.Error().Data, p.Elementwise().Data
	for i := range e {
		e[i] = math.Abs(e[i]) + g.γ()*most[i]
	}
	return e
}

// relative returns the conversion with errors at most those that of returns for
// the outputs of some rows, and with Â and B̂ no greater in size than qa and
// qb.
func (g *Given) relative(of func(lo, hi int) []float64, qa, qb blas64.General, random bool) conversion {
	z, γ := conversion{sizes: 1, random: random}, g.γ()
	for lo, hi := range bands(g.A.Rows, g.B.Cols) {
		size, converted := sizes(matrix.Rows64(g.A, lo, hi), g.B), sizes(matrix.Rows64(qa, lo, hi), qb)
		errors := of(lo, hi)
		for i, s := range size.Data {
			if s > 0 {
				z.error = max(z.error, errors[i]/s*(1+γ))
				z.sizes = max(z.sizes, converted.Data[i]/s*(1+γ)*(1+γ))
			}
		}
	}
	return z
}

// bandRows returns how many rows of a matrix have about a million elements, as
// many as are kept at a time.
func bandRows(cols int) int { return max(1, 1<<20/cols) }

// bands yields the rows lo to hi-1 of a matrix, one band after the other.
func bands(rows, cols int) iter.Seq2[int, int] {
	band := bandRows(cols)
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < rows; lo += band {
			if !yield(lo, min(lo+band, rows)) {
				return
			}
		}
	}
}

// γ returns the relative error of a sum of 2K + 1 terms in binary64, as those
// of the errors of a product are.
func (g *Given) γ() float64 { return roundoff.Gamma(2*g.A.Cols+1, tcore.Binary64.UnitRoundoff()) }

// sizes returns |A||B|.
func sizes(a, b blas64.General) blas64.General {
	return matrix.Product64(matrix.Map64(math.Abs, a), matrix.Map64(math.Abs, b))
}
