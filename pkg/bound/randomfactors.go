package bound

import (
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// randomFactors are an n × L and an L × n matrix of random numbers as a device
// multiplies them.
type randomFactors struct {
	k    Problem
	rng  *rand.Rand
	a, b blas32.General
	x, y tcore.Codes // of a and b, if the device takes codes and scales
}

// quantisedBlocks are what a block-scaled device multiplies: parts of rows of A
// and of columns of B, drawn at random and quantised.
type quantisedBlocks struct {
	*Recipes
	drawX, drawY func(dst []float32, rng *rand.Rand)
}

func (k Problem) newRandomFactors(n, products int, rng *rand.Rand) *randomFactors {
	return &randomFactors{k: k, rng: rng, a: matrix.New(n, products), b: matrix.New(products, n)}
}

// draw draws the factors.
func (f *randomFactors) draw() {
	if f.k.blocks == nil {
		fill(f.a.Data, f.k.X, f.k.Device.A, f.k.Device.Convert, f.rng)
		fill(f.b.Data, f.k.Y, f.k.Device.B, f.k.Device.Convert, f.rng)
		return
	}
	columns := matrix.New(f.b.Cols, f.b.Rows)
	for i := range f.a.Rows {
		f.k.blocks.drawX(matrix.Row(f.a, i), f.rng)
		f.k.blocks.drawY(matrix.Row(columns, i), f.rng)
	}
	f.x = f.quantise(f.k.blocks.A, f.a, quant.Left)
	f.b = matrix.Transpose(columns)
	f.y = f.quantise(f.k.blocks.B, f.b, quant.Right)
}

// quantise puts numbers with scales of blocks in place of m, and returns the
// codes and scales.
func (f *randomFactors) quantise(r quant.Recipe, m blas32.General, side quant.Side) tcore.Codes {
	q, err := r.Quantise(m, side)
	if err != nil {
		panic("bound: " + err.Error()) // the recipes are those of the device
	}
	for i := range m.Rows {
		for j := range m.Cols {
			m.Data[i*m.Stride+j] = q.Number(i, j) * q.Scale(i, j)
		}
	}
	codes, err := q.TensorCodes(f.k.Device)
	if err != nil {
		panic("bound: " + err.Error())
	}
	return codes
}

// mirror replaces the second half of the rows of A by the first half with the
// opposite sign.
func (f *randomFactors) mirror() {
	half := len(f.a.Data) / 2
	for i, x := range f.a.Data[:half] {
		f.a.Data[half+i] = -x
	}
	if f.k.blocks == nil {
		return
	}
	sign := uint8(1) << (f.k.Device.A.Bits() - 1)
	for i, code := range f.x.Data[:half] {
		f.x.Data[half+i] = code ^ sign
	}
	copy(f.x.Scales[len(f.x.Scales)/2:], f.x.Scales)
}

// multiplyAdd stores C + AB in z, as the device computes it.
func (f *randomFactors) multiplyAdd(c, z blas32.General) {
	if f.k.blocks == nil {
		f.k.Device.MultiplyAdd(f.a, f.b, c, z)
		return
	}
	f.k.Device.MultiplyAddCodes(f.x, f.y, c, z)
}
