package infer

import (
	"context"
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Shape is what must be known of a black box to ask it: the formats of its
// operands, and how many there are. It says nothing of the arithmetic.
type Shape struct {
	A, B, C    tcore.Format // of the factors x and y, and of c and the result
	Scale      tcore.Format // of the scales, if there are any
	ScaleBlock int          // factors that one scale covers; 0 if there are no scales
	K          int          // number of products
}

// ShapeOf returns the shape of a box that adds k products in the formats of d.
func ShapeOf(d tcore.Device, k int) Shape {
	s := Shape{A: d.A, B: d.B, C: d.C, ScaleBlock: d.ScaleBlock, K: k}
	if d.ScaleBlock > 0 {
		s.Scale = d.Scale
	}
	return s
}

// check returns an error unless some device has the shape.
func (s Shape) check() error {
	switch {
	case s.K < 1 || s.K > mostProducts:
		return fmt.Errorf("infer: K = %d, want 1 to %d", s.K, mostProducts)
	case s.ScaleBlock < 0 || s.ScaleBlock > 0 && s.K%s.ScaleBlock != 0:
		return fmt.Errorf("infer: ScaleBlock = %d, want a divisor of K = %d, or 0", s.ScaleBlock, s.K)
	case s.C.Specials != tcore.IEEE || s.C.Sign != tcore.Signed:
		return fmt.Errorf("infer: results in %s, want a signed format with infinities and NaN", s.C.Name)
	case s.A.Sign != tcore.Signed || s.B.Sign != tcore.Signed:
		return fmt.Errorf("infer: factors in %s and %s, want signed formats", s.A.Name, s.B.Name)
	}
	return nil
}

// mostProducts is the greatest K of a box. The grammar has records of every
// number of terms up to K.
const mostProducts = 256

// scales returns the number of scales of each factor.
func (s Shape) scales() int {
	if s.ScaleBlock == 0 {
		return 0
	}
	return s.K / s.ScaleBlock
}

// A Dot is a question: the codes of the operands of one dot product, those of
// [tcore.Device.DotScaled].
type Dot struct {
	X, Y           []uint64 // K factors each
	ScaleX, ScaleY []uint64 // K / ScaleBlock scales each, or none
	C              uint64
}

// A Box computes d = c + Σ xᵢyᵢ in an unknown way.
type Box interface {
	// Shape returns the formats and the number of operands.
	Shape() Shape
	// Dots returns the codes of the results, one for each question.
	Dots(ctx context.Context, questions []Dot) ([]uint64, error)
}

// Emulated returns a box that computes sums of k products as d does. It panics
// if d cannot compute them.
func Emulated(d tcore.Device, k int) Box {
	if !supported(d) || k < 1 {
		panic(fmt.Sprintf("infer: Emulated: %d products on device %q, want one that sums in its formats, and at least 1", k, d.Name))
	}
	return emulated{d, k}
}

type emulated struct {
	device tcore.Device
	k      int
}

func (e emulated) Shape() Shape { return ShapeOf(e.device, e.k) }

func (e emulated) Dots(ctx context.Context, questions []Dot) ([]uint64, error) {
	d := make([]uint64, len(questions))
	parallel.Each(len(d), func(i int) {
		if ctx.Err() == nil {
			d[i] = answer(e.device, questions[i])
		}
	})
	return d, ctx.Err()
}

// answer returns the result of the device.
func answer(d tcore.Device, q Dot) uint64 { return d.DotScaled(q.X, q.Y, q.ScaleX, q.ScaleY, q.C) }

// A Unit computes dot products with one instruction, without scales: that of a
// processor or of a GPU. Its codes are those of [tcore.Device.DotCodes].
type Unit interface {
	Device() tcore.Device
	K() int
	Dots(ctx context.Context, x, y, c, d []uint64) error
}

// Of returns the unit as a box. Of the record of its device it uses only the
// formats of the operands.
func Of(u Unit) Box { return unit{u} }

type unit struct{ Unit }

func (u unit) Shape() Shape { return ShapeOf(u.Device(), u.K()) }

func (u unit) Dots(ctx context.Context, questions []Dot) ([]uint64, error) {
	n, k := len(questions), u.K()
	x, y := make([]uint64, 0, n*k), make([]uint64, 0, n*k)
	c, d := make([]uint64, n), make([]uint64, n)
	for i, q := range questions {
		x, y, c[i] = append(x, q.X...), append(y, q.Y...), q.C
	}
	return d, u.Unit.Dots(ctx, x, y, c, d)
}

// register returns the format in which a number of f is passed: tf32 as
// binary32.
func register(f tcore.Format) tcore.Format {
	if f.Equal(tcore.TF32) {
		return tcore.Binary32
	}
	return f
}

// code returns the code of x rounded to a number of f, of magnitude at most
// Max.
func code(f tcore.Format, x float64) uint64 {
	limit := f.Max()
	x = f.Round(min(max(x, -limit), limit), tcore.ToNearestEven)
	return register(f).Encode(x, tcore.ToNearestEven)
}

// significant returns the number of bits from the first to the last one of the
// significand of x, 0 for a zero.
func significant(x float64) int {
	if x == 0 || math.IsInf(x, 0) || x != x {
		return 0
	}
	frac, _ := math.Frexp(math.Abs(x))
	n := 0
	for ; frac != 0; n++ {
		frac *= 2
		frac -= math.Floor(frac)
	}
	return n
}
