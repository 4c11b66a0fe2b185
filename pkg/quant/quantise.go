package quant

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Side says of which factor of a product a matrix is: the blocks of A lie
// along its rows, those of B along its columns.
type Side int

// Sides.
const (
	Left  Side = iota // A, M × K
	Right             // B, K × N
)

// String returns "A" or "B".
func (s Side) String() string { return [...]string{"A", "B"}[s] }

// Quantised is a matrix of codes with the scales of its blocks.
type Quantised struct {
	Recipe     Recipe
	Side       Side
	Rows, Cols int
	Codes      []uint8 // the code of element (i, j) is Codes[i*Cols+j]

	// Scales contains the scales of blocks, or the inverse ones if the recipe
	// stores these, row by row as the blocks lie in the matrix.
	Scales []float32
	Tensor float32 // the scale of the tensor, or its inverse; 1 if there is none
}

// Quantise returns x as a factor of a product: its codes and scales. A
// stochastic rounding takes the random bits of the index of an element, row by
// row. It returns an error if the matrix is empty or the recipe is none.
func (r Recipe) Quantise(x blas32.General, side Side) (*Quantised, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if side != Left && side != Right {
		return nil, fmt.Errorf("quant: Quantise: side = %d, want Left or Right", side)
	}
	if x.Rows < 1 || x.Cols < 1 || x.Stride < x.Cols || !matrix.Holds(len(x.Data), x.Rows, x.Cols, x.Stride) {
		return nil, fmt.Errorf("quant: Quantise: x is %d × %d with stride %d and %d elements, want at least 1 × 1 and all elements",
			x.Rows, x.Cols, x.Stride, len(x.Data))
	}
	q := &Quantised{Recipe: r, Side: side, Rows: x.Rows, Cols: x.Cols, Codes: make([]uint8, x.Rows*x.Cols), Tensor: 1}
	greatest := amax(x, 0, x.Rows, 0, x.Cols)
	if r.Tensor != nil {
		q.Tensor = r.Tensor.scale(greatest, r.tensorMax(), r.element(), 1)
	}
	rows, cols := q.blockSize()
	down, across := q.Blocks()
	q.Scales = make([]float32, down*across)
	parallel.Each(len(q.Scales), func(n int) {
		i0, j0 := n/across*rows, n%across*cols
		b := block{q, x, i0, min(i0+rows, x.Rows), j0, min(j0+cols, x.Cols)}
		q.Scales[n] = b.quantise(&r.Scale)
		if r.Second == nil {
			return
		}
		first := b.error(q.Scales[n], greatest)
		second := b.quantise(r.Second)
		if b.error(second, greatest) < first {
			q.Scales[n] = second
		} else {
			b.quantise(&r.Scale)
		}
	})
	return q, nil
}

// block is the rows i0 to i1-1 and the columns j0 to j1-1 of a matrix, which
// have a scale in common.
type block struct {
	q              *Quantised
	x              blas32.General
	i0, i1, j0, j1 int
}

// quantise stores the codes of the block and returns its scale.
func (b *block) quantise(by *Scaling) float32 {
	r := &b.q.Recipe
	f := r.element()
	s := by.scale(amax(b.x, b.i0, b.i1, b.j0, b.j1), r.qmax(), f, b.q.Tensor)
	numbers := make([]float64, b.j1-b.j0)
	for i := b.i0; i < b.i1; i++ {
		b.divide(numbers, i, by, s)
		at := i*b.x.Cols + b.j0
		r.round(f, numbers, uint64(at))
		for j, z := range numbers {
			b.q.Codes[at+j] = encode(f, z)
		}
	}
	return s
}

// divide stores the elements of row i of the block, divided by its scale s.
func (b *block) divide(numbers []float64, i int, by *Scaling, s float32) {
	factor, ok := by.factor(s, b.q.Tensor)
	for j, v := range matrix.Row(b.x, i)[b.j0:b.j1] {
		if ok {
			numbers[j] = float64(v * factor)
		} else {
			numbers[j] = float64(v / s)
		}
	}
}

// Divided returns the elements of x, the matrix that was quantised, divided by
// their scales: what was rounded to codes. It panics if x has another shape.
func (q *Quantised) Divided(x blas32.General) blas32.General {
	if x.Rows != q.Rows || x.Cols != q.Cols {
		panic(fmt.Sprintf("quant: Divided: x is %d × %d, the codes are %d × %d", x.Rows, x.Cols, q.Rows, q.Cols))
	}
	z := matrix.New(q.Rows, q.Cols)
	rows, cols := q.blockSize()
	_, across := q.Blocks()
	numbers := make([]float64, q.Cols)
	for n, s := range q.Scales {
		i0, j0 := n/across*rows, n%across*cols
		b := block{q, x, i0, min(i0+rows, x.Rows), j0, min(j0+cols, x.Cols)}
		for i := b.i0; i < b.i1; i++ {
			b.divide(numbers, i, &q.Recipe.Scale, s)
			for j := b.j0; j < b.j1; j++ {
				z.Data[i*z.Stride+j] = float32(numbers[j-b.j0])
			}
		}
	}
	return z
}

// error returns the error of the codes of the block with scale s, as Compare of
// the recipe sums it, in binary32 along K. greatest is the amax of the tensor.
func (b *block) error(s, greatest float32) float32 {
	r, sum := &b.q.Recipe, float32(0)
	aim := r.Tensor.aim(r.tensorMax())
	for i := b.i0; i < b.i1; i++ {
		for j, v := range matrix.Row(b.x, i)[b.j0:b.j1] {
			z := b.q.Number(i, b.j0+j) * s
			z = float32(z*greatest) / aim
			e := z - v
			switch r.Compare {
			case Absolute:
				sum += float32(math.Abs(float64(e)))
			case Squares:
				sum += float32(e * e)
			}
		}
	}
	return sum
}

// blockSize returns the rows and columns of a block.
func (q *Quantised) blockSize() (rows, cols int) {
	b := q.Recipe.Block
	if q.Side == Left {
		rows, cols = b.Across, b.Along
	} else {
		rows, cols = b.Along, b.Across
	}
	if rows == 0 {
		rows = q.Rows
	}
	if cols == 0 {
		cols = q.Cols
	}
	return rows, cols
}

// Blocks returns how many blocks lie one below the other and side by side.
func (q *Quantised) Blocks() (down, across int) {
	rows, cols := q.blockSize()
	return (q.Rows + rows - 1) / rows, (q.Cols + cols - 1) / cols
}

// amax returns the greatest magnitude in a block, NaN if there is a NaN.
func amax(x blas32.General, i0, i1, j0, j1 int) float32 {
	var greatest float32
	for i := i0; i < i1; i++ {
		for _, v := range matrix.Row(x, i)[j0:j1] {
			greatest = max(greatest, float32(math.Abs(float64(v))))
		}
	}
	return greatest
}

// Scale returns by what the number of the code (i, j) is multiplied: the scale
// of its block, without that of the tensor. Inverse scales are inverted in
// binary32, as libraries do.
func (q *Quantised) Scale(i, j int) float32 {
	rows, cols := q.blockSize()
	_, across := q.Blocks()
	s := q.Scales[i/rows*across+j/cols]
	if q.Recipe.Scale.Quotient.inverse() {
		return 1 / s
	}
	return s
}

// TensorScale returns by what all numbers are multiplied besides, 1 for recipes
// without a scale of the tensor.
func (q *Quantised) TensorScale() float32 {
	if q.Recipe.Tensor != nil && q.Recipe.Tensor.Quotient.inverse() {
		return 1 / q.Tensor
	}
	return q.Tensor
}

// Dequantise returns the numbers that the codes and scales stand for, in
// binary32: fl(fl(code · scale) · scale of the tensor).
func (q *Quantised) Dequantise() blas32.General {
	z, t := q.numbers(), q.TensorScale()
	parallel.Ranges(q.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, number := range matrix.Row(z, i) {
				z.Data[i*q.Cols+j] = float32(number*q.Scale(i, j)) * t
			}
		}
	})
	return z
}

// numbers returns the numbers of the codes.
func (q *Quantised) numbers() blas32.General {
	z := matrix.New(q.Rows, q.Cols)
	var number [256]float32
	for code := range 1 << q.Recipe.Element.Bits() {
		number[code] = float32(decode(q.Recipe.Element, uint8(code)))
	}
	for i, code := range q.Codes {
		z.Data[i] = number[code]
	}
	return z
}

// Number returns the number of the code of element (i, j).
func (q *Quantised) Number(i, j int) float32 {
	return float32(decode(q.Recipe.Element, q.Codes[i*q.Cols+j]))
}

// TensorCodes returns the codes as a factor for [tcore.Device.MultiplyAddCodes]
// of a device that takes codes and scales in the formats of the recipe, and
// scales of its blocks, which lie along vectors. The scale of the tensor is the
// caller's to apply. It returns an error if a format or the blocks are others.
func (q *Quantised) TensorCodes(d tcore.Device) (tcore.Codes, error) {
	r := &q.Recipe
	element := d.A
	if q.Side == Right {
		element = d.B
	}
	if d.ScaleBlock == 0 {
		return tcore.Codes{}, fmt.Errorf("quant: device %q takes no scales", d.Name)
	}
	if !element.Equal(r.Element) || !d.Scale.Equal(r.Scale.Stored) || r.Block != (Block{d.ScaleBlock, 1}) {
		return tcore.Codes{}, fmt.Errorf("quant: recipe %q has %s with a scale in %s for %v, device %q takes %s with %s for 1×%d",
			r.Name, r.Element.Name, r.Scale.Stored.Name, r.Block, d.Name, element.Name, d.Scale.Name, d.ScaleBlock)
	}
	z := tcore.Codes{Rows: q.Rows, Cols: q.Cols, Data: q.Codes, Scales: make([]uint8, len(q.Scales))}
	for i, s := range q.Scales {
		z.Scales[i] = uint8(d.Scale.Encode(float64(s), tcore.ToNearestEven))
	}
	return z, nil
}
