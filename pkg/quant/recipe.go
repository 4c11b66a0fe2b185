package quant

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Recipe says how a matrix becomes codes and scales. Operations on scales
// and on elements round to binary32, to nearest even, before the last one
// rounds an element to its format.
type Recipe struct {
	Name       string           // by which commands ask for it
	Source     string           // the library or the text, and its version
	Element    tcore.Format     // of the codes; numbers beyond it become ±Max, qmax
	Rounding   Rounding         // of elements
	Stochastic tcore.Stochastic // in place of Rounding, if its Bits are not 0
	Tensor     *Scaling         // the scale of the whole matrix, nil if there is none
	Block      Block            // which elements have a scale in common
	Scale      Scaling          // of a block
	Second     *Scaling         // another scale, which a block takes if its error is smaller; nil if there is none
	Compare    Comparison       // by which error
}

// A Comparison is the error by which a block chooses between two scales: a sum
// over its elements, from the numbers fl(fl(fl(code · scale) · amax) / aim) of
// which the scale of the tensor is fl(aim / amax).
type Comparison int

// Errors of blocks.
const (
	Absolute Comparison = iota // Σ |x̂ - x|
	Squares                    // Σ (x̂ - x)²
)

// A Rounding says how an element is rounded to its format.
type Rounding int

// Roundings of elements.
const (
	ToNearestEven Rounding = iota // ties to even
	ToNearestAway                 // ties away from zero
	ToNearestZero                 // ties toward zero
)

// A Block is the size of the blocks whose elements share a scale: so many
// along K, the dimension of the sum, and so many across it; 0 stands for all.
type Block struct{ Along, Across int }

// Blocks that several recipes have in common.
var (
	PerTensor = Block{0, 0}
	PerVector = Block{0, 1} // each row of A, each column of B
	Tile128   = Block{128, 128}
	Vector128 = Block{128, 1}
	Vector32  = Block{32, 1}
	Vector16  = Block{16, 1}
	Tile16    = Block{16, 16}
)

// String returns across×along as in A, 1×128, with "all" for 0.
func (b Block) String() string {
	return sizeName(b.Across) + "×" + sizeName(b.Along)
}

// sizeName returns n, "all" for 0.
func sizeName(n int) string {
	if n == 0 {
		return "all"
	}
	return fmt.Sprint(n)
}

// String returns mae or mse, of which TransformerEngine has modes.
func (c Comparison) String() string { return [...]string{"mae", "mse"}[c] }

// check returns an error that names what is no recipe.
func (r *Recipe) check() error {
	takes, inverse := r.Scale.Quotient.takesTensor()
	switch {
	case r.Element.Precision == 0:
		return fmt.Errorf("quant: recipe %q: Element is no format, want one, such as tcore.E4M3", r.Name)
	case r.Block.Along < 0 || r.Block.Across < 0:
		return fmt.Errorf("quant: recipe %q: Block = %v, want sizes of at least 0", r.Name, r.Block)
	case r.Element.Bits() > 8:
		return fmt.Errorf("quant: recipe %q: Element = %s has codes of %d bits, want at most 8", r.Name, r.Element.Name, r.Element.Bits())
	case r.Stochastic.Bits < 0 || r.Stochastic.Bits > 32:
		return fmt.Errorf("quant: recipe %q: Stochastic.Bits = %d, want 0 to 32", r.Name, r.Stochastic.Bits)
	case r.Rounding < ToNearestEven || r.Rounding > ToNearestZero:
		return fmt.Errorf("quant: recipe %q: Rounding = %d, want one of the constants", r.Name, r.Rounding)
	case (r.Tensor == nil) == takes:
		return fmt.Errorf("quant: recipe %q: a scale of the tensor and a quotient with it, want both or none", r.Name)
	case r.Tensor != nil && r.Tensor.Quotient.inverse() != inverse:
		return fmt.Errorf("quant: recipe %q: the scale of the tensor is not the one that Scale.Quotient takes", r.Name)
	case (r.Tensor != nil) != (r.Scale.Apply == TimesInverseOfBoth || r.Scale.Apply == TimesQuotient):
		return fmt.Errorf("quant: recipe %q: a scale of the tensor and a way to divide by it, want both or none", r.Name)
	case r.Scale.Quotient.inverse() != (r.Scale.Apply == Times):
		return fmt.Errorf("quant: recipe %q: Times is for inverse scales, and they for Times", r.Name)
	case r.Second != nil && (!inverse || r.Block.Across != 1):
		return fmt.Errorf("quant: recipe %q: a second scale, want an inverse scale of the tensor and blocks 1×n", r.Name)
	case r.Second != nil && (r.Second.Quotient != r.Scale.Quotient || r.Second.Apply != r.Scale.Apply):
		return fmt.Errorf("quant: recipe %q: Second has another Quotient or Apply than Scale", r.Name)
	case r.Compare != Absolute && r.Compare != Squares:
		return fmt.Errorf("quant: recipe %q: Compare = %d, want one of the constants", r.Name, r.Compare)
	case r.Scale.Stored.Precision == 0 || r.Tensor != nil && r.Tensor.Stored.Precision == 0 || r.Second != nil && r.Second.Stored.Precision == 0:
		return fmt.Errorf("quant: recipe %q: Stored of a scale is no format, want one, such as tcore.Binary32", r.Name)
	}
	return nil
}

// element returns the format of the elements, in which numbers beyond the
// greatest become that one.
func (r *Recipe) element() tcore.Format {
	f := r.Element
	f.Overflow = tcore.Saturate
	return f
}

// qmax is the greatest number that scales aim at: that of the elements, and for
// the scale of the tensor its product with the greatest scale of a block.
func (r *Recipe) qmax() float32 { return float32(r.Element.Max()) }

func (r *Recipe) tensorMax() float32 { return float32(r.Element.Max() * r.Scale.Stored.Max()) }

// round rounds elements to f, of which the first has the given index.
func (r *Recipe) round(f tcore.Format, x []float64, index uint64) {
	switch {
	case r.Stochastic.Bits > 0:
		r.Stochastic.RoundSlice(f, x, x, index)
	case r.Rounding == ToNearestAway:
		f.RoundSlice(x, x, tcore.ToNearestAway)
	case r.Rounding == ToNearestZero:
		for i, v := range x {
			low, high := f.Round(v, tcore.ToZero), f.Round(v, tcore.ToNearestAway)
			x[i] = low
			if math.Abs(high-v) < math.Abs(v-low) || v != v {
				x[i] = high
			}
		}
	default:
		f.RoundSlice(x, x, tcore.ToNearestEven)
	}
}
