package bound

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// quantisedGiven returns what is known of the quantised factors of given
// matrices. Rows of A and columns of B that are longer than those given are
// taken to go on like them. If a recipe rounds at random, the statement fails
// with probability at most e^f.
func (k Problem) quantisedGiven(f roundoff.Failure) quantisedProduct {
	g := k.Given
	if k.K < g.A.Cols {
		return quantisedProduct{why: fmt.Sprintf("K = %d, less than that of the matrices, %d", k.K, g.A.Cols)}
	}
	m := g.quantise(k.Recipes, k.Device.ScaleBlock > 0, k.Data != nil, f)
	if m.why != "" {
		return quantisedProduct{why: m.why}
	}
	if most := m.most * float64(k.K) / float64(g.A.Cols); most > k.Device.C.Max()/2 {
		return quantisedProduct{why: fmt.Sprintf("products of codes add up to %.3g, %s ends at %.3g", most, k.Device.C.Name, k.Device.C.Max())}
	}
	q := quantisedProduct{conversion: m.conversion, device: k.ofCodes(m.x, m.y), outer: m.outer}
	if m.random {
		q.note = "for random bits that are ideal, those of A and of B independent"
	} else if k.Data != nil {
		q.device.X, q.device.Y, q.device.Data = m.momentsX, m.momentsY, m.data
	}
	return q
}

// A quantisedMatrices is what is known of given matrices after recipes have
// quantised them.
type quantisedMatrices struct {
	conversion
	outer              outer
	x, y               Range // of the numbers of the codes, with the scales that the device takes
	momentsX, momentsY Distribution
	data               *Inspection // of the numbers that the device multiplies
	most               float64     // Σ|p| over the products p that the device adds, at most
	why                string      // why nothing is known, or ""
}

// A quantisedKey contains what that depends on.
type quantisedKey struct {
	recipes           Recipes
	scaled, inspected bool
	f                 roundoff.Failure // 0 unless a recipe rounds at random
}

// quantise returns what is known of the matrices after recipes have quantised
// them, for devices that take scales, scaled, or that do not. It takes the
// moments of their codes and inspects them if the given matrices are inspected.
func (g *Given) quantise(r *Recipes, scaled, inspected bool, f roundoff.Failure) quantisedMatrices {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := quantisedKey{recipes: *r, scaled: scaled, inspected: inspected}
	if r.stochastic() {
		key.inspected, key.f = false, f
	}
	m, ok := g.quantised[key]
	if !ok {
		if err := m.find(g, key); err != nil {
			m.why = err.Error()
		}
		if g.quantised == nil {
			g.quantised = map[quantisedKey]quantisedMatrices{}
		}
		g.quantised[key] = m
	}
	return m
}

func (m *quantisedMatrices) find(g *Given, key quantisedKey) error {
	r, scaled := &key.recipes, key.scaled
	a, err := newCodes(r.A, quant.Left, g.A, scaled)
	if err != nil {
		return err
	}
	b, err := newCodes(r.B, quant.Right, g.B, scaled)
	if err != nil {
		return err
	}
	if r.stochastic() {
		m.conversion, err = g.loseAtRandom(a, b, key.f)
		m.x, m.y = anyCodes(r.A.Element, g.A.Cols, a.inner), anyCodes(r.B.Element, g.A.Cols, b.inner)
	} else {
		m.conversion, err = g.lose(a.values, b.values)
		m.x, m.y = RangesOf(a.numbers, b.numbers)
	}
	if err != nil {
		return err
	}
	m.x.Scale, m.x.LeastScale = a.inner.greatest, a.inner.least
	m.y.Scale, m.y.LeastScale = b.inner.greatest, b.inner.least
	m.outer = outer{r.outside(scaled), a.outer.greatest * b.outer.greatest, b.outer.greatest}
	within := r.within(scaled)
	if least := a.outer.least * b.outer.least; (scaled || within) && (least < tcore.Binary32.MinNormal() || m.outer.greatest > tcore.Binary32.Max()) {
		return fmt.Errorf("bound: the scales of the matrices have the product %.3g, which is no normal number of binary32", least)
	}
	for lo, hi := range bands(g.A.Rows, g.B.Cols) {
		m.most = max(m.most, slices.Max(sizes(matrix.Rows64(a.device, lo, hi), b.device).Data))
	}
	if !key.inspected || scaled || within { // no bound where scales change along K needs more
		return nil
	}
	if m.momentsX, err = MomentsOf("the codes of A", a.device); err != nil {
		return err
	}
	if m.momentsY, err = MomentsOf("the codes of B", b.device); err != nil {
		return err
	}
	m.data, err = Inspect(a.device, b.device)
	return err
}

// codes is a quantised matrix in parts. If it is rounded at random, its numbers
// are the greater ones of the two that each can be.
type codes struct {
	random  quantisation.TwoPoint // with all scales
	numbers blas64.General        // of the codes
	device  blas64.General        // as the device multiplies them, with the scales that it takes
	values  blas64.General        // with all scales
	inner   span                  // that the device takes; 1 if it takes none
	outer   span                  // by which sums are multiplied
}

// A span is the greatest and the least positive scale.
type span struct{ greatest, least float64 }

// add counts one more scale.
func (s *span) add(x float64) {
	s.greatest = max(s.greatest, x)
	if x > 0 && (s.least == 0 || x < s.least) {
		s.least = x
	}
}

// newCodes quantises x. The error names an element that is not finite
// afterwards.
func newCodes(r quant.Recipe, side quant.Side, x blas64.General, scaled bool) (codes, error) {
	q, err := r.Quantise(single(x), side)
	if err != nil {
		return codes{}, err
	}
	c := codes{numbers: matrix.New64(x.Rows, x.Cols), device: matrix.New64(x.Rows, x.Cols), values: matrix.New64(x.Rows, x.Cols)}
	divided, scale := matrix.Float64(q.Divided(single(x))), matrix.New64(x.Rows, x.Cols)
	for i := range x.Rows {
		for j := range x.Cols {
			at, number, inner, outer := i*x.Cols+j, float64(q.Number(i, j)), float64(q.Scale(i, j)), float64(q.TensorScale())
			if r.Stochastic.Bits > 0 {
				// Numbers beyond the format become its greatest, with no randomness.
				most := r.Element.Max()
				divided.Data[at] = max(-most, min(divided.Data[at], most))
				number = awayFromZero(r.Element, divided.Data[at])
			}
			scale.Data[at] = inner * outer
			if !scaled {
				inner, outer = 1, inner
			}
			c.inner.add(inner)
			c.outer.add(outer)
			c.numbers.Data[at] = number
			c.device.Data[at] = number * inner
			c.values.Data[at] = number * inner * outer
		}
	}
	if err := checkFinite(r.Name+" of "+side.String(), x.Rows, x.Cols, x.Cols, c.values.Data); err != nil {
		return c, err
	}
	if r.Stochastic.Bits == 0 {
		c.random, err = quantisation.Exact(c.values)
		return c, err
	}
	if c.random, err = quantisation.Rounded(divided, r.Element, r.Stochastic.Bits); err == nil {
		c.random, err = c.random.Times(scale)
	}
	return c, err
}

// awayFromZero returns the number of the format next to x that is no smaller
// than x.
func awayFromZero(f tcore.Format, x float64) float64 {
	if x < 0 {
		return f.Round(x, tcore.ToNegative)
	}
	return f.Round(x, tcore.ToPositive)
}

// loseAtRandom is lose for matrices that are rounded at random, with
// probability at least 1 - e^f: what their means lose, which is known, and the
// sub-Gaussian bound on the rest.
func (g *Given) loseAtRandom(a, b codes, f roundoff.Failure) (conversion, error) {
	p := quantisation.Stochastic(a.random, b.random)
	means, err := quantisation.Known(g.A, g.B, a.random.Mean(), b.random.Mean())
	if err != nil {
		return conversion{}, err
	}
	each := f.Split(float64(g.A.Rows) * float64(g.B.Cols))
	return g.relative(func(lo, hi int) []float64 {
		e := g.largest(means.Rows(lo, hi))
		for i, t := range p.Rows(lo, hi).SubGaussian(each).Data {
			e[i] += t
		}
		return e
	}, a.values, b.values, true), nil
}

// single returns the matrix in binary32.
func single(x blas64.General) blas32.General {
	z := matrix.New(x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			z.Data[i*z.Stride+j] = float32(v)
		}
	}
	return z
}
