package infer

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A kind of question is a distribution of operands, each made to show some
// parameters of a record.
type kind int

const (
	high    kind = iota // no zeros, and no small exponents of products: shows how terms are added
	mixed               // exponents anywhere, few or many nonzero products, cancellation
	tiny                // products around the least number of C among zeros: shows the exponent of a zero
	raw                 // codes drawn uniformly
	special             // as mixed, with infinities, NaN, zeros, least and greatest numbers; some of negative zeros alone
	kinds               // how many there are
)

// A drawer draws questions. The same seed gives the same questions.
type drawer struct {
	Shape
	rng      *rand.Rand
	specials int // how many questions of this kind were drawn
}

func newDrawer(s Shape, seed uint64) *drawer {
	return &drawer{Shape: s, rng: rand.New(rand.NewPCG(seed, 0x696e666572))}
}

// questions returns n questions of one kind.
func (w *drawer) questions(n int, k kind) []Dot {
	qs := make([]Dot, n)
	for i := range qs {
		qs[i] = w.question(k)
	}
	return qs
}

// question returns one question of a kind.
func (w *drawer) question(k kind) Dot {
	switch k {
	case high:
		return w.high()
	case tiny:
		return w.tiny()
	case raw:
		return w.raw()
	case special:
		return w.special()
	}
	return w.mixed()
}

// terms are the operands of a question, as numbers.
type terms struct {
	x, y           []float64
	scaleX, scaleY []float64
	c              float64
}

func (w *drawer) zeros() terms {
	t := terms{x: make([]float64, w.K), y: make([]float64, w.K), scaleX: make([]float64, w.scales()), scaleY: make([]float64, w.scales())}
	for i := range t.scaleX {
		t.scaleX[i], t.scaleY[i] = 1, 1
	}
	return t
}

// codes returns the question with these numbers, rounded to the formats.
func (w *drawer) codes(t terms) Dot {
	encode := func(f tcore.Format, x []float64) (z []uint64) {
		for _, v := range x {
			z = append(z, code(f, v))
		}
		return z
	}
	return Dot{encode(w.A, t.x), encode(w.B, t.y), encode(w.Scale, t.scaleX), encode(w.Scale, t.scaleY), code(w.C, t.c)}
}

func (w *drawer) high() Dot {
	t := w.zeros()
	spread, low := 1+w.rng.IntN(4), 0
	if w.rng.IntN(2) == 0 { // some products are small, one is not
		spread, low = max(2, (w.C.Emax-3-bits.Len(uint(w.K)))/2), -6
	}
	for i := range t.x {
		t.x[i] = w.number(w.A, w.exponent(w.A, low, min(spread, 12)))
		t.y[i] = w.number(w.B, w.exponent(w.B, low, min(spread, 12)))
	}
	for i := range t.scaleX {
		t.scaleX[i], t.scaleY[i] = math.Ldexp(1, w.rng.IntN(3)), math.Ldexp(1, w.rng.IntN(3))
		if w.Scale.Precision > 1 && w.rng.IntN(2) == 0 {
			t.scaleX[i] *= 1.25
		}
	}
	w.cancel(t)
	t.c = w.number(w.C, max(w.C.Emin, w.rng.IntN(58)-45))
	if w.rng.IntN(8) == 0 {
		i := w.rng.IntN(w.K)
		t.c = -t.x[i] * t.y[i]
	}
	return w.codes(t)
}

func (w *drawer) mixed() Dot {
	t := w.zeros()
	eA, eB := w.center(w.A), w.center(w.B)
	spread, share := []int{1, 3, 9, 33}[w.rng.IntN(4)], []int{1, 2, w.K}[w.rng.IntN(3)]
	for i := range t.x {
		if w.rng.IntN(w.K) < share {
			t.x[i] = w.number(w.A, eA+w.rng.IntN(spread)-spread/2)
			t.y[i] = w.number(w.B, eB+w.rng.IntN(spread)-spread/2)
		} else if w.rng.IntN(4) == 0 {
			t.x[i], t.y[i] = math.Copysign(0, w.sign()), w.sign()
		}
	}
	for i := range t.scaleX {
		if w.rng.IntN(2) == 0 {
			t.scaleX[i], t.scaleY[i] = w.number(w.Scale, w.rng.IntN(9)-4), w.number(w.Scale, w.rng.IntN(9)-4)
			t.scaleX[i], t.scaleY[i] = math.Abs(t.scaleX[i]), math.Abs(t.scaleY[i])
		}
	}
	w.cancel(t)
	i := w.rng.IntN(w.K)
	switch w.rng.IntN(5) {
	case 0:
	case 1:
		t.c = math.Copysign(0, -1)
	case 2:
		t.c = w.number(w.C, w.center(w.C))
	case 3:
		t.c = -t.x[i] * t.y[i]
	default:
		t.c = w.number(w.C, eA+eB+w.rng.IntN(61)-30)
	}
	return w.codes(t)
}

func (w *drawer) tiny() Dot {
	if w.scales() > 1 && w.rng.IntN(4) == 0 {
		return w.borrow()
	}
	t := w.zeros()
	if w.rng.IntN(2) == 0 {
		for i := range t.x {
			t.x[i] = math.Copysign(0, w.sign())
		}
	}
	low := w.C.Emin - w.C.Precision + 1
	for range 1 + w.rng.IntN(3) {
		e := low + w.rng.IntN(70) - 50
		if w.rng.IntN(3) == 0 {
			e = low - 1 - w.rng.IntN(2)
		}
		e = max(e, w.A.Emin-w.A.Precision+w.B.Emin-w.B.Precision+2)
		x := min(max(e/2, w.A.Emin-w.A.Precision+1), w.A.Emax)
		y := min(max(e-x, w.B.Emin-w.B.Precision+1), w.B.Emax)
		x = max(e-y, w.A.Emin-w.A.Precision+1)
		i := w.rng.IntN(w.K)
		t.x[i], t.y[i] = w.sign()*math.Ldexp(1, x), math.Ldexp(1, y)
		if w.rng.IntN(3) == 0 {
			t.x[i], t.y[i] = w.number(w.A, x), w.number(w.B, y)
		}
	}
	for i := range t.scaleX {
		t.scaleX[i], t.scaleY[i] = w.scale(low), w.scale(low)
	}
	if w.rng.IntN(3) == 0 {
		t.c = w.sign() * math.Ldexp(float64(w.rng.IntN(4)), low)
	}
	return w.codes(t)
}

// borrow returns a question of zeros but for a product near the least number of
// C and, in a block with another scale, one of the other sign that is far
// smaller: if it is kept, the sum is truncated to a smaller number. Where the
// first is below the exponent of a zero, that decides.
func (w *drawer) borrow() Dot {
	t := w.zeros()
	sign, low, block, order := w.sign(), w.C.Emin-w.C.Precision+1, w.K/w.scales(), w.rng.Perm(w.scales())
	for n, e := range []int{low + w.rng.IntN(12), low - w.rng.IntN(40)} {
		i := order[n]
		t.x[i*block+w.rng.IntN(block)] = sign
		for l := range block {
			t.y[i*block+l] = 1
		}
		t.scaleX[i], t.scaleY[i] = math.Ldexp(1, max(e/2, w.Scale.Emin)), math.Ldexp(1, max(e-e/2, w.Scale.Emin))
		sign = -sign
	}
	return w.codes(t)
}

// scale returns a power of two that is a scale, often one that moves products
// to the exponent low.
func (w *drawer) scale(low int) float64 {
	e := low/2 + w.rng.IntN(30) - 15
	if w.rng.IntN(3) == 0 {
		e = 0
	}
	return math.Ldexp(1, min(max(e, w.Scale.Emin), w.Scale.Emax))
}

func (w *drawer) raw() Dot {
	codes := func(f tcore.Format, n int) (z []uint64) {
		for range n {
			z = append(z, w.rawCode(f))
		}
		return z
	}
	return Dot{codes(w.A, w.K), codes(w.B, w.K), codes(w.Scale, w.scales()), codes(w.Scale, w.scales()), w.rawCode(w.C)}
}

// rawCode returns a code of f, drawn uniformly; a tf32 in a word of binary32.
func (w *drawer) rawCode(f tcore.Format) uint64 {
	n := w.rng.Uint64() >> (64 - register(f).Bits())
	if f.Equal(tcore.TF32) {
		n &^= 1<<13 - 1
	}
	return n
}

func (w *drawer) special() Dot {
	q := w.mixed()
	rare := max(w.K/2, 2)
	for i := range q.X {
		if w.rng.IntN(rare) == 0 {
			q.X[i] = w.specialCode(w.A)
		}
		if w.rng.IntN(rare) == 0 {
			q.Y[i] = w.specialCode(w.B)
		}
	}
	for i := range q.ScaleX {
		if w.rng.IntN(8) == 0 {
			q.ScaleX[i] = w.rawCode(w.Scale)
		}
	}
	if w.rng.IntN(3) == 0 {
		q.C = w.specialCode(w.C)
	}
	if w.specials++; w.specials%50 == 0 {
		return w.negativeZeros()
	}
	return q
}

// negativeZeros returns a question whose products are all -0, which signs drawn
// at random hardly ever give. So is c, or the least number below 0, in turn.
func (w *drawer) negativeZeros() Dot {
	t := w.zeros()
	for i := range t.x {
		t.x[i], t.y[i] = math.Copysign(0, -1), 1
	}
	t.c = math.Copysign(0, -1)
	if w.specials%100 == 0 {
		t.c = -w.C.MinSubnormal()
	}
	return w.codes(t)
}

// specialCode returns a code of an infinity, a NaN, a zero, the least or the
// greatest number of f.
func (w *drawer) specialCode(f tcore.Format) uint64 {
	r := register(f)
	sign := w.sign()
	switch w.rng.IntN(6) {
	case 0:
		return r.Encode(f.Round(math.Inf(int(sign)), tcore.ToNearestEven), tcore.ToNearestEven)
	case 1:
		return r.Encode(f.Round(math.NaN(), tcore.ToNearestEven), tcore.ToNearestEven)
	case 2:
		return code(f, math.Copysign(0, sign))
	case 3:
		return code(f, sign*f.MinSubnormal())
	case 4:
		return code(f, sign*f.MinNormal())
	}
	return code(f, sign*f.Max())
}

// exponent returns an exponent of a normal number of f, from low up to less
// than high.
func (w *drawer) exponent(f tcore.Format, low, high int) int {
	low, high = max(low, f.Emin), min(high, f.Emax+1)
	return low + w.rng.IntN(high-low)
}

// cancel makes some pairs of products cancel, exactly or except for the last
// place of a factor: none, one pair, or all within windows of equal width.
func (w *drawer) cancel(t terms) {
	pair := func(i, j int) {
		t.x[j], t.y[j] = -t.x[i], t.y[i]
		if w.rng.IntN(6) == 0 {
			t.y[j] *= 1 + 2*w.B.UnitRoundoff()
		}
	}
	switch w.rng.IntN(3) {
	case 1:
		if i, j := w.rng.IntN(w.K), w.rng.IntN(w.K); i != j {
			pair(i, j)
		}
	case 2:
		width := 2 << w.rng.IntN(6)
		for lo := 0; lo < w.K; lo += width {
			order := w.rng.Perm(min(width, w.K-lo))
			for i := 0; i+1 < len(order); i += 2 {
				pair(lo+order[i], lo+order[i+1])
			}
		}
	}
}

// number returns a number of f of exponent e, of either sign, if there is one:
// a power of two, one with all bits set, or a random one.
func (w *drawer) number(f tcore.Format, e int) float64 {
	s := 1.0
	switch w.rng.IntN(4) {
	case 1:
		s = 2 - math.Ldexp(1, 1-f.Precision)
	case 2, 3:
		s = 1 + math.Ldexp(float64(w.rng.Uint64N(1<<(f.Precision-1))), 1-f.Precision)
	}
	return w.sign() * math.Ldexp(s, min(max(e, f.Emin-f.Precision+1), f.Emax))
}

// center returns an exponent of f: a small one, 0, the greatest, or any.
func (w *drawer) center(f tcore.Format) int {
	switch w.rng.IntN(4) {
	case 0:
		return f.Emin - w.rng.IntN(f.Precision)
	case 1:
		return 0
	case 2:
		return f.Emax
	}
	return f.Emin + w.rng.IntN(f.Emax-f.Emin+1)
}

func (w *drawer) sign() float64 {
	if w.rng.IntN(2) == 0 {
		return -1
	}
	return 1
}
