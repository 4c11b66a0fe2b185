package tolerance

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

const (
	// fewApart is of how many outputs one may stand apart from all others.
	fewApart = 128
	// mostEmulated is for how many products outputs are emulated, in seconds.
	mostEmulated = 1 << 34
	// sampledOutputs is how many outputs tell which numbers of parts of K are
	// emulated for all.
	sampledOutputs = 256
	// reorderedOutputs is how many outputs tell whether the order shows.
	reorderedOutputs = 4096
)

// apart reports which outputs, all within their limits, stand apart: all others
// have the bits that the device computes for one number of parts of K, added
// from the first to the last, and they do not. Fewer than one in fewApart can
// stand apart, since kernels that add some outputs otherwise do so by tiles,
// and in another order more of them would differ, if the order shows. Where D
// is rounded to fewer bits than sums have, which hides in what order the sums
// of parts are added, an output stands apart if it has the bits of no order.
// Nothing is beyond in the report if there is no such number of parts, or if
// the device cannot be emulated.
func (t *Tolerance) apart(got blas64.General) Report {
	by, d := t.Implementation, t.Implementation.device()
	outputs := len(t.Limits.Data)
	few := (outputs - 1) / fewApart
	if few == 0 || by.Plan != nil || by.Orders != UnknownSplit && by.Orders != OneMachine ||
		d.ScaleBlock > 0 && t.scaled == nil || d.C.Precision > tcore.Binary32.Precision ||
		float64(outputs)*float64(t.A.Cols) > mostEmulated {
		return Report{}
	}
	sample := t.first(sampledOutputs)
	var best Emulation
	fewest := few + 1
	for _, m := range by.machines(t.A.Cols) {
		length := partLength(m, t.A.Cols)
		if differing(got, sample.emulate(d, length).Bits, blas64.General{}) >= fewest {
			continue
		}
		z := t.emulate(d, length)
		if n := differing(got, z.Bits, blas64.General{}); n < fewest {
			best, fewest = z, n
		}
		if fewest == 0 {
			return Report{}
		}
	}
	if fewest > few {
		return Report{}
	}
	want, limits := best.Bits, matrix.New64(t.Limits.Rows, t.Limits.Cols)
	if best.Parts > 2 && by.output().Precision < tcore.Binary32.Precision {
		want, limits = best.Sums, best.Limits
	}
	if !t.orderShows(d, want, limits, fewest) {
		return Report{}
	}
	r := t.compare(got, want, limits)
	r.Alike = best.Parts
	return r
}

// orderShows reports whether so many outputs are further from those of want
// than limits in every other order of additions, for every number of parts that
// the implementation may have, that it is no chance if few are.
func (t *Tolerance) orderShows(d tcore.Device, want, limits blas64.General, few int) bool {
	sample := t.first(reorderedOutputs)
	share := float64(sample.A.Rows) / float64(t.A.Rows)
	for _, m := range t.Implementation.machines(t.A.Cols) {
		for _, other := range sample.otherOrders(d, partLength(m, t.A.Cols)) {
			if differing(want, other, limits) < atLeast(float64(few)*share) {
				return false
			}
		}
	}
	return true
}

// atLeast returns how many outputs must differ in another order, so that it is
// no chance if few do: where an order changes half as many, no more than few do
// with a probability of 10⁻⁴ at the most.
func atLeast(few float64) int { return int(math.Ceil(4*few)) + 20 }

// otherOrders returns what the device computes in other orders, with parts of K
// of one length: from the last product to the first, and with the rest of K, of
// which parts or blocks are not full, before all others. The former is left out
// where a part is one block, whose products are added at once.
func (t *Tolerance) otherOrders(d tcore.Device, length int) (all []blas64.General) {
	unit := d.BlockTerms()
	if length > unit {
		all = append(all, t.backwards(d, length))
	}
	if length < t.A.Cols {
		unit = length
	}
	if rest := t.A.Cols % unit; rest > 0 && t.scaled == nil {
		padded := *t
		padded.Data = t.padded(unit - rest)
		if length == t.A.Cols {
			length = padded.A.Cols
		}
		all = append(all, padded.emulate(d, length).Bits)
	}
	return all
}

// backwards returns what the device computes with blocks of products, and
// parts, from the last to the first, at most mostBlocks of them in each part.
func (t *Tolerance) backwards(d tcore.Device, length int) blas64.General {
	const mostBlocks = 64
	block := d.BlockTerms()
	block *= (length + mostBlocks*block - 1) / (mostBlocks * block)
	bits := matrix.New64(t.A.Rows, t.B.Cols)
	for lo := (t.A.Cols - 1) / length * length; lo >= 0; lo -= length {
		hi := min(t.A.Cols, lo+length)
		var sum blas32.General
		for l := lo + (hi-1-lo)/block*block; l >= lo; l -= block {
			next := matrix.New(t.A.Rows, t.B.Cols)
			t.part(d, l, min(hi, l+block), sum, next)
			sum = next
		}
		for i, x := range sum.Data {
			bits.Data[i] = float64(float32(bits.Data[i]) + x)
		}
	}
	out := t.Implementation.output()
	return matrix.Map64(func(x float64) float64 { return out.Round(x, tcore.ToNearestEven) }, bits)
}

// differing returns how many of the first outputs of got are not those of want,
// nor within limits of them, of which there may be none.
func differing(got, want, limits blas64.General) (n int) {
	for i, x := range want.Data {
		y := got.Data[i/want.Cols*got.Stride+i%want.Cols]
		if x == y || math.IsNaN(x) && math.IsNaN(y) || limits.Data != nil && math.Abs(x-y) <= limits.Data[i] {
			continue
		}
		n++
	}
	return n
}

// first returns the tolerance with the data of the first rows of A, of at least
// so many outputs if there are.
func (t *Tolerance) first(outputs int) *Tolerance {
	z := *t
	z.Data = t.top((outputs + t.B.Cols - 1) / t.B.Cols)
	return &z
}

// top returns the data of the first rows of A.
func (d *Data) top(rows int) *Data {
	z := *d
	z.A.Rows = min(rows, d.A.Rows)
	if d.scaled != nil {
		of := *d.scaled
		blocks := len(of.a.Scales) / of.a.Rows
		of.a.Rows, of.a.Data, of.a.Scales = z.A.Rows, of.a.Data[:z.A.Rows*of.a.Cols], of.a.Scales[:z.A.Rows*blocks]
		z.scaled = &of
	}
	return &z
}

// padded returns the data with products of zeros before all others.
func (d *Data) padded(zeros int) *Data {
	z := *d
	z.A, z.B = matrix.New(d.A.Rows, zeros+d.A.Cols), matrix.New(zeros+d.B.Rows, d.B.Cols)
	for i := range d.A.Rows {
		copy(matrix.Row(z.A, i)[zeros:], matrix.Row(d.A, i))
	}
	for l := range d.B.Rows {
		copy(matrix.Row(z.B, zeros+l), matrix.Row(d.B, l))
	}
	return &z
}
