package tolerance

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// An Emulation is what the device computes for one number of parts of K, but
// for the order in which their sums are added.
type Emulation struct {
	Parts  int
	Sums   blas64.General // of the results of parts, as the device computes them bit for bit
	Limits blas64.General // |D̂ - Sums| <= Limits: what adding m parts in binary32 and storing may change
	Bits   blas64.General // D̂ where parts are added from the first to the last
}

// Emulate returns the emulations of all numbers of parts that the
// implementation may have. A sound one has, for one of them, all outputs within
// its limits, always and for any data: m numbers of binary32, added to nearest
// in any order, err by at most (m-1)2^-24 of the sum of their sizes (Jeannerod
// & Rump 2013), and where K is not split the limits are 0, so that the bits
// must be those of the device. These limits are far below those of any bound,
// and mean less: a kernel that cuts K otherwise, such as into blocks that
// alternate, exceeds them.
//
// The error says that the orders are AnyOrder, or that there is a plan, or that
// the device has scales that are not known or adds in binary64.
func (t *Tolerance) Emulate() ([]Emulation, error) {
	by := t.Implementation
	d := by.device()
	switch {
	case by.Orders == AnyOrder || by.Plan != nil:
		return nil, fmt.Errorf("tolerance: Orders = %v or a plan, want a machine or an unknown split to emulate", by.Orders)
	case d.ScaleBlock > 0 && t.scaled == nil || d.C.Precision > tcore.Binary32.Precision:
		return nil, fmt.Errorf("tolerance: device %q has scales that are not known or adds in %s, want MeasureScaled, and one that adds in binary32 or less", d.Name, d.C.Name)
	}
	var all []Emulation
	for _, m := range by.machines(t.A.Cols) {
		all = append(all, t.emulate(d, partLength(m, t.A.Cols)))
	}
	return all, nil
}

// emulate returns the emulation of parts of one length.
func (t *Tolerance) emulate(d tcore.Device, length int) Emulation {
	m, n := t.A.Rows, t.B.Cols
	z := Emulation{Sums: matrix.New64(m, n), Limits: matrix.New64(m, n), Bits: matrix.New64(m, n)}
	part := matrix.New(t.A.Rows, t.B.Cols)
	for lo := 0; lo < t.A.Cols; lo += length {
		hi := min(t.A.Cols, lo+length)
		t.part(d, lo, hi, blas32.General{}, part)
		for i, x := range part.Data {
			z.Sums.Data[i] += float64(x)
			z.Limits.Data[i] += math.Abs(float64(x))
			if lo == 0 {
				z.Bits.Data[i] = float64(x)
			} else {
				z.Bits.Data[i] = float64(float32(z.Bits.Data[i]) + x)
			}
		}
		z.Parts++
	}
	out, carried := t.Implementation.output(), d.C
	if z.Parts > 1 {
		carried = tcore.Binary32
	}
	merging := 0.0
	if z.Parts > 1 {
		merging = float64(z.Parts-1)*tcore.Binary32.UnitRoundoff() + float64(z.Parts)*0x1p-52 // and of the sums here
	}
	for i, sizes := range z.Limits.Data {
		e := merging * sizes
		if out.Precision < carried.Precision {
			e += storing(math.Abs(z.Sums.Data[i])+e, out)
		}
		z.Limits.Data[i] = e
		z.Bits.Data[i] = out.Round(z.Bits.Data[i], tcore.ToNearestEven)
	}
	return z
}

// CompareEmulated reports which outputs are beyond their tolerance, as
// [Tolerance.Compare] does, and if none are which differ from the emulation
// that fits best, which is returned: by more than its limits, or with
// inSequence from its bits, for implementations that add parts from the first
// to the last. One emulation has to fit all outputs, so that bits are compared
// although it is not known into how many parts K is split. It panics if there
// is none.
func (t *Tolerance) CompareEmulated(got blas64.General, all []Emulation, inSequence bool) (Report, Emulation) {
	if len(all) == 0 {
		panic("tolerance: all is empty, want at least one emulation")
	}
	t.mustFit("got", got)
	zero := matrix.New64(t.Limits.Rows, t.Limits.Cols)
	of := func(z Emulation) (want, limits blas64.General) {
		if inSequence {
			return z.Bits, zero
		}
		return z.Sums, z.Limits
	}
	best, fewest := 0, math.MaxInt
	for i, z := range all {
		want, limits := of(z)
		n := 0
		for j, limit := range limits.Data {
			if !(math.Abs(got.Data[j/got.Cols*got.Stride+j%got.Cols]-want.Data[j]) <= limit) {
				n++
			}
		}
		if n < fewest {
			best, fewest = i, n
		}
	}
	if r := t.bounded(got); !r.Within() || fewest == 0 {
		return r, all[best]
	}
	want, limits := of(all[best])
	return t.compare(got, want, limits), all[best]
}
