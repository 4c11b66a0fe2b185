package quant

import (
	"cmp"
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Kernel says how a library multiplies quantised matrices. Sums c₁, c₂, … of
// Every products of numbers of codes come from the Machine, each from zero,
// and the scales s of A and t of B that the device does not take are applied in
// binary32, every operation rounded to nearest even:
//
//	D = fl_Output(S),  S = … fl(fl(0 + c₁ s₁ t₁) + c₂ s₂ t₂) …
//
// Scales and Fused say in which order a term is computed. If Every = 0, one sum
// of all K products is scaled, and nothing is added. A block-scaled device
// takes the scales of blocks; s and t are then those of the tensors.
//
// Integers need no device: sums of int8 are exact in int32, which is rounded to
// binary32 before it is scaled. The Machine then has an Output alone.
type Kernel struct {
	Name    string        // by which commands ask for it
	Source  string        // the library or the text, and its version
	Machine tcore.Machine // what sums the products; its Output is the format of D
	Every   int           // products whose sum is scaled, 0 for all of K
	Scales  ScaleOrder    // how a sum is multiplied by s and t
	Fused   bool          // the last multiplication of a term and its addition are one FMA
}

// A ScaleOrder says how a sum c is multiplied by the scales s of A and t of B.
type ScaleOrder int

// Orders of scales.
const (
	ProductOfScales ScaleOrder = iota // c · fl(s · t)
	OneByOne                          // fl(c · s) · t
)

// DeepGEMMKernel returns the kernel of DeepGEMM on Hopper, on the machine m:
// the sum of every 128 products and fl(s · t) enter an FMA.
func DeepGEMMKernel(m tcore.Machine) Kernel {
	return Kernel{Name: "deepgemm", Source: deepGEMM, Machine: m, Every: 128, Scales: ProductOfScales, Fused: true}
}

// DeepSeekKernel returns the Triton kernel of DeepSeek-V3 on the machine m: the
// sum of every 128 products is multiplied by s, by t, and added.
func DeepSeekKernel(m tcore.Machine) Kernel {
	return Kernel{Name: "deepseek", Source: deepSeek, Machine: m, Every: 128, Scales: OneByOne}
}

// EpilogueKernel returns a kernel that scales finished sums, as for one scale
// per tensor or per row of A and column of B: fl(fl(S · s) · t), as by
// torchao for int8. Whether cuBLAS has this order is not known to us.
func EpilogueKernel(m tcore.Machine) Kernel {
	return Kernel{Name: "epilogue", Source: "usual", Machine: m, Scales: OneByOne}
}

// AlphaKernel returns a kernel that multiplies finished sums by one number,
// fl(s · t), as the alpha of a matrix product does: of block-scaled devices,
// which leave only the scales of tensors to it.
func AlphaKernel(m tcore.Machine) Kernel {
	return Kernel{Name: "alpha", Source: "usual", Machine: m, Scales: ProductOfScales}
}

// Kernels returns the catalogue of kernels, on the machine m.
func Kernels(m tcore.Machine) []Kernel {
	return []Kernel{DeepGEMMKernel(m), DeepSeekKernel(m), EpilogueKernel(m), AlphaKernel(m)}
}

// KernelOn returns the kernel that multiplies on a device what two recipes
// make, and whether the device takes it. Scales that the device does not take
// are applied to finished sums, which leave the device every promote products
// if promote is not 0, or, where blocks of K have scales, to the sum of each,
// as in DeepGEMM.
func KernelOn(d tcore.Device, onA, onB Recipe, promote int) (k Kernel, takes bool) {
	m := tcore.Machine{Name: d.Name, Device: d}
	short, long := min(onA.Block.Along, onB.Block.Along), max(onA.Block.Along, onB.Block.Along)
	switch {
	case d.ScaleBlock > 0:
		k = AlphaKernel(m)
	case !onA.Scale.Stored.Equal(tcore.Binary32) || !onB.Scale.Stored.Equal(tcore.Binary32):
		return k, false
	case long == 0:
		m.Promote = promote
		k = EpilogueKernel(m)
	default:
		k = DeepGEMMKernel(m)
		if k.Every = short; short == 0 {
			k.Every = long
		}
	}
	n := max(long, 1) * max(d.ScaleBlock, 1) // whole blocks
	a, err := onA.Quantise(matrix.New(1, n), Left)
	if err != nil {
		return k, false
	}
	b, err := onB.Quantise(matrix.New(n, 1), Right)
	if err == nil {
		_, err = k.Multiply(a, b)
	}
	return k, err == nil
}

// Multiply returns D = AB as the kernel computes it, of a, quantised as A, and
// b, quantised as B. If K is no multiple of Every, the last sum has fewer
// products: libraries pad with zeros, which changes nothing.
//
// It returns an error if a or b is not of its side or not whole, if their sizes
// or formats do not fit the device, if there is more than one scale for Every
// products, if [tcore.Machine.Check] does, or if int32 does not hold a sum.
func (k Kernel) Multiply(a, b *Quantised) (blas32.General, error) {
	if err := k.check(a, b); err != nil {
		return blas32.General{}, err
	}
	sums := k.Machine
	sums.Output, sums.Device.B = tcore.Format{}, b.Recipe.Element
	d, term := matrix.New(a.Rows, b.Cols), matrix.New(a.Rows, b.Cols)

	if sums.Device.ScaleBlock > 0 {
		x, err := a.TensorCodes(sums.Device)
		if err != nil {
			return blas32.General{}, err
		}
		y, err := b.TensorCodes(sums.Device)
		if err != nil {
			return blas32.General{}, err
		}
		sums.GEMMCodes(1, x, y, 0, blas32.General{}, term)
		k.add(d, term, []float32{a.TensorScale()}, []float32{b.TensorScale()})
	} else {
		x, y, every := a.numbers(), b.numbers(), k.Every
		if every == 0 {
			every = a.Cols
		}
		for l := 0; l < a.Cols; l += every {
			end := min(l+every, a.Cols)
			if sums.Device.Core == nil {
				if err := addIntegers(a, b, l, end, term); err != nil {
					return blas32.General{}, err
				}
			} else {
				sums.GEMM(blas.NoTrans, blas.NoTrans, 1, matrix.Columns(x, l, end), matrix.Rows(y, l, end), 0, blas32.General{}, term)
			}
			k.add(d, term, a.scalesAt(l), b.scalesAt(l))
		}
	}
	if k.Machine.Output != (tcore.Format{}) {
		k.Machine.Output.RoundSlice32(d.Data, d.Data)
	}
	return d, nil
}

// add adds to d the sums, multiplied by the scales s of their rows and t of
// their columns; a single scale is that of all.
func (k *Kernel) add(d, sums blas32.General, s, t []float32) {
	parallel.Ranges(d.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			z := matrix.Row(d, i)
			for j, c := range matrix.Row(sums, i) {
				z[j] = k.step(z[j], c, s[min(i, len(s)-1)], t[min(j, len(t)-1)])
			}
		}
	})
}

// step returns the sum z after a term: c, multiplied by s and t.
func (k *Kernel) step(z, c, s, t float32) float32 {
	x, y := c, s*t
	if k.Scales == OneByOne {
		x, y = c*s, t
	}
	switch {
	case k.Every == 0:
		return x * y
	case k.Fused:
		return float32(tcore.Binary32.FMA(float64(x), float64(y), float64(z), tcore.ToNearestEven))
	}
	return z + float32(x*y)
}

// check returns an error that says why a and b cannot be multiplied.
func (k *Kernel) check(a, b *Quantised) error {
	m, exact := &k.Machine, k.Machine.Device.Core == nil
	switch {
	case exact && !integers(a, b):
		return fmt.Errorf("quant: kernel %q: device %q has no Core, want one for factors of %s and %s, which are not both integers",
			k.Name, m.Device.Name, a.Recipe.Element.Name, b.Recipe.Element.Name)
	case exact && (m.Promote > 0 || m.SplitK > 1 || m.Order != tcore.InSequence || m.Stochastic.Bits > 0):
		return fmt.Errorf("quant: kernel %q: sums of integers are exact, want none of Promote, SplitK, Order and Stochastic", k.Name)
	case !exact:
		if err := m.Check(); err != nil {
			return fmt.Errorf("quant: kernel %q: %w", k.Name, err)
		}
	}
	if a.Side != Left || b.Side != Right {
		return fmt.Errorf("quant: kernel %q: the factors are quantised as %v and %v, want A and B", k.Name, a.Side, b.Side)
	}
	if err := cmp.Or(a.whole(), b.whole()); err != nil {
		return err
	}
	if a.Cols != b.Rows {
		return fmt.Errorf("quant: kernel %q: A is %d × %d, B is %d × %d", k.Name, a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for _, q := range []*Quantised{a, b} {
		switch along := q.Recipe.Block.Along; {
		case m.Device.ScaleBlock > 0: // TensorCodes checks the blocks
		case q.Recipe.Tensor != nil:
			return fmt.Errorf("quant: kernel %q: recipe %q has a scale of the tensor beside those of blocks, which device %q does not take",
				k.Name, q.Recipe.Name, m.Device.Name)
		case along > 0 && along < a.Cols && (k.Every == 0 || along%k.Every != 0):
			return fmt.Errorf("quant: kernel %q scales sums of %s products, recipe %q has a scale for every %d along K = %d",
				k.Name, sizeName(k.Every), q.Recipe.Name, along, a.Cols)
		}
	}
	switch {
	case k.Every < 0:
		return fmt.Errorf("quant: kernel %q: Every = %d, want 0 or more", k.Name, k.Every)
	case k.Every > 0 && m.Device.ScaleBlock > 0:
		return fmt.Errorf("quant: kernel %q: Every = %d on device %q, which takes scales, want 0", k.Name, k.Every, m.Device.Name)
	case k.Every > 0 && m.Stochastic.Bits > 0:
		return fmt.Errorf("quant: kernel %q: Every = %d and stochastic sums, want one of them", k.Name, k.Every)
	case k.Scales != ProductOfScales && k.Scales != OneByOne:
		return fmt.Errorf("quant: kernel %q: Scales = %d, want one of the constants", k.Name, k.Scales)
	case !exact && (!m.Device.A.Equal(a.Recipe.Element) || !m.Device.Takes(b.Recipe.Element)):
		return fmt.Errorf("quant: kernel %q: the factors are %s and %s, device %q takes %s and %s",
			k.Name, a.Recipe.Element.Name, b.Recipe.Element.Name, m.Device.Name, m.Device.A.Name, m.Device.B.Name)
	}
	return nil
}

// whole returns an error unless q has all codes and scales of its matrix.
func (q *Quantised) whole() error {
	if q.Rows < 1 || q.Cols < 1 || len(q.Codes) != q.Rows*q.Cols {
		return fmt.Errorf("quant: %v is %d × %d with %d codes, want at least 1 × 1 and as many codes", q.Side, q.Rows, q.Cols, len(q.Codes))
	}
	if down, across := q.Blocks(); len(q.Scales) != down*across {
		return fmt.Errorf("quant: %v has %d scales, want %d × %d for its %d × %d elements and %v blocks",
			q.Side, len(q.Scales), down, across, q.Rows, q.Cols, q.Recipe.Block)
	}
	bits := q.Recipe.Element.Bits()
	for i, code := range q.Codes {
		if bits < 8 && code>>bits != 0 {
			return fmt.Errorf("quant: code %d of %v is %#x, want %d bits", i, q.Side, code, bits)
		}
	}
	return nil
}

// scalesAt returns the scales of element l along K of all rows of A, or of all
// columns of B.
func (q *Quantised) scalesAt(l int) []float32 {
	if q.Side == Right {
		z := make([]float32, q.Cols)
		for j := range z {
			z[j] = q.Scale(l, j)
		}
		return z
	}
	z := make([]float32, q.Rows)
	for i := range z {
		z[i] = q.Scale(i, l)
	}
	return z
}
