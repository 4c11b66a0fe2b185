package tcore

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Machine computes matrix products as a library does that uses a [Device]. K is
// split into SplitK parts, or into parts of Promote products. The products of
// the parts are added, and alpha and beta applied, in binary32, every operation
// rounded to nearest even:
//
//	D = fl_Output(fl(fl(alpha × S) + fl(beta × C))),  S = fl(… fl(S₀ + S₁) + …)
//
// where S_i is the sum over part i on the device, from zero and from left to
// right. All parts but the last have the same number of blocks, ⌈blocks/SplitK⌉
// or those of Promote products. If beta = 0, C is not read. SplitK = 0 and
// Promote = 0 mean one part, and the zero Output means the C of the device.
//
// With Promote, sums leave the accumulators of the tensor core for binary32
// every so many products, as in libraries for FP8 on Hopper, which keeps 13
// fraction bits: 128 in DeepSeek-V3 and CUTLASS (DeepSeek-AI 2024, 3.3.2).
//
// A machine whose device computes FMAs (its Core is a [Chain]) may also add the
// products of a part in another order, as software does on such a device, or
// round them stochastically.
type Machine struct {
	Name       string // for reports only
	Device     Device
	SplitK     int
	Promote    int
	Output     Format
	Order      Order      // order of summation within a part
	Stochastic Stochastic // rounding within a part; the zero value rounds to nearest even
}

// Check returns an error if SplitK is negative, if Promote is no number of
// whole blocks or set beside a SplitK, if Order is none of the constants, if
// Stochastic.Bits is not in 0 to 32, or if Order or Stochastic is set and the
// Core is not a [Chain].
func (m Machine) Check() error {
	_, fmas := m.Device.Core.(Chain)
	switch {
	case m.SplitK < 0:
		return fmt.Errorf("SplitK = %d, want SplitK >= 0", m.SplitK)
	case m.Promote < 0 || m.Promote > 0 && m.Promote%m.block() != 0:
		return fmt.Errorf("Promote = %d, want a multiple of %d, the products that device %q adds at once", m.Promote, m.block(), m.Device.Name)
	case m.Promote > 0 && m.SplitK > 1:
		return fmt.Errorf("Promote = %d and SplitK = %d, want one of them", m.Promote, m.SplitK)
	case m.Order < InSequence || m.Order > Compensated || m.Order != InSequence && !fmas:
		return fmt.Errorf("Order = %v on device %q, want another order on FMAs only", m.Order, m.Device.Name)
	case m.Stochastic.Bits < 0 || m.Stochastic.Bits > 32:
		return fmt.Errorf("Stochastic.Bits = %d, want 0 to 32", m.Stochastic.Bits)
	case m.Stochastic.Bits > 0 && !fmas:
		return fmt.Errorf("Stochastic on device %q, which is emulated on FMAs only", m.Device.Name)
	}
	return nil
}

// Dot returns Σ xᵢyᵢ as the machine computes an element of D with alpha = 1 and
// beta = 0. A sum in a format wider than binary32 is rounded to binary32 only
// if K is split, whereas [Machine.GEMM] always does so. Where roundings are
// stochastic, sums with different indices use different random bits. It panics
// if the lengths differ or [Machine.Check] returns an error.
func (m Machine) Dot(x, y []float64, index uint64) float64 {
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("tcore: Dot: %v", err))
	}
	m.Device.check("Dot", len(x), len(y))
	return m.dot(m.Device.convert(m.Device.A, x), m.Device.convert(m.Device.B, y), index, nil)
}

// dot is Dot of numbers of A and B. It adds blocks and parts to t, unless t is
// nil.
func (m *Machine) dot(a, b []float64, index uint64, t *Trace) float64 {
	sum, length := 0.0, m.partLength(m.Device.padded(len(a)))
	for start := 0; start < len(a); start += length {
		end := min(start+length, len(a))
		part, blocks := 0.0, (*Trace)(nil)
		if t != nil {
			blocks = new(Trace)
		}
		if m.ordered() {
			part = m.sum(a[start:end], b[start:end], index*uint64(len(a))+uint64(start))
		} else {
			part = m.Device.chain(a[start:end], b[start:end], nil, nil, 0, blocks)
		}
		if length < len(a) {
			part = Binary32.Round(part, ToNearestEven)
		}
		before := sum
		if sum = part; start > 0 {
			sum = Binary32.Add(before, part, ToNearestEven)
		}
		if t != nil {
			t.addPart(start, blocks.Blocks, length < len(a), before, part, sum)
		}
	}
	if m.Output == (Format{}) {
		return sum
	}
	return m.Output.Round(sum, ToNearestEven)
}

// ordered reports whether software chooses the order of summation or rounds
// stochastically.
func (m *Machine) ordered() bool { return m.Order != InSequence || m.Stochastic.Bits > 0 }

// sum returns Σ xᵢyᵢ of a part in the order of the machine. The index is that
// of its first product among all products of the matrix product. It determines
// the indices of the roundings, since a product has fewer than 16 of them.
func (m *Machine) sum(x, y []float64, index uint64) float64 {
	s := scalarChain{m.Device.C, m.Stochastic, 16 * index}
	return s.dot(m.Order, x, y)
}

// GEMM stores D in d. op(A) is a if tA is blas.NoTrans, its transpose if tA is
// blas.Trans, and the same for op(B). d may be c and must not overlap the
// others.
// It panics if a shape does not fit, a matrix is empty, tA or tB is another
// value, or [Machine.Check] returns an error, as for a negative SplitK.
func (m Machine) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	a, b = transpose("a", tA, a), transpose("b", tB, b)
	checkProduct("GEMM", a, b)
	checkResult("GEMM", "d", a, b, d)
	if beta != 0 {
		checkResult("GEMM", "c", a, b, c)
	}
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("tcore: GEMM: %v", err))
	}
	m.Device.check("GEMM", a.Cols, b.Rows)
	m.sumParts(a.Rows, b.Cols, a.Cols, func(start, end int, z blas32.General) {
		m.part(matrix.Columns(a, start, end), matrix.Rows(b, start, end), start, a.Cols, z)
	}, alpha, beta, c, d)
}

// GEMMCodes is [Machine.GEMM] for factors given as codes, with scales if the
// device is block-scaled, as [Device.MultiplyAddCodes] takes them. Neither is
// transposed. d may be c.
// It panics if a shape does not fit, a matrix is empty, a factor does not fit
// the device, or [Machine.Check] returns an error, as for any Order but
// InSequence on a device without FMAs.
func (m Machine) GEMMCodes(alpha float32, a, b Codes, beta float32, c, d blas32.General) {
	const call = "GEMMCodes"
	m.Device.checkCodes(call, a, b)
	checkShape(call, "d", a.Rows, b.Cols, d)
	if beta != 0 {
		checkShape(call, "c", a.Rows, b.Cols, c)
	}
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("tcore: %s: %v", call, err))
	}
	m.Device.check(call, a.Cols, b.Rows)
	m.sumParts(a.Rows, b.Cols, a.Cols, func(start, end int, z blas32.General) {
		x, y := a.Left(start, end, m.Device.ScaleBlock), b.Right(start, end, m.Device.ScaleBlock)
		if m.ordered() { // FMAs, which have no scales
			m.part(x.decode(m.Device.A), y.decode(m.Device.B), start, a.Cols, z)
			return
		}
		m.Device.MultiplyAddCodes(x, y, blas32.General{}, z)
	}, alpha, beta, c, d)
}

// sumParts stores in d the rows × columns matrix fl_Output(fl(fl(alpha × S) +
// fl(beta × c))), S being the sum of the parts of k terms. part stores the sum
// over the terms [start, end) in z.
func (m Machine) sumParts(rows, columns, k int, part func(start, end int, z blas32.General), alpha, beta float32, c, d blas32.General) {
	if m.Output == (Format{}) {
		m.Output = m.Device.C
	}
	length := m.partLength(m.Device.padded(k))
	sum := d
	if beta != 0 { // d may be c, which is read at the end
		sum = matrix.New(rows, columns)
	}
	part(0, min(length, k), sum)
	if length < k {
		next := matrix.New(rows, columns)
		for start := length; start < k; start += length {
			part(start, min(start+length, k), next)
			parallel.Ranges(rows, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					z := matrix.Row(sum, i)
					for j, v := range matrix.Row(next, i) {
						z[j] += v
					}
				}
			})
		}
	}
	m.finish(alpha, sum, beta, c, d)
}

// part stores in z the product of a and b, the columns of op(A) and the rows of
// op(B) from index start on. k is the number of columns of op(A).
func (m *Machine) part(a, b blas32.General, start, k int, z blas32.General) {
	if !m.ordered() {
		m.Device.MultiplyAdd(a, b, blas32.General{}, z)
		return
	}
	rows, columns := matrix.Vectors(a), matrix.Vectors(matrix.Transpose(b))
	for i := range rows {
		rows[i] = m.Device.convert(m.Device.A, rows[i])
	}
	for j := range columns {
		columns[j] = m.Device.convert(m.Device.B, columns[j])
	}
	parallel.Each(z.Rows*z.Cols, func(e int) {
		i, j := e/z.Cols, e%z.Cols
		z.Data[i*z.Stride+j] = float32(m.sum(rows[i], columns[j], uint64(e*k+start)))
	})
}

// finish stores fl_Output(fl(fl(alpha × sum) + fl(beta × c))) in d. sum is d if
// beta is 0.
func (m *Machine) finish(alpha float32, sum blas32.General, beta float32, c, d blas32.General) {
	parallel.Ranges(sum.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			z, sums := matrix.Row(d, i), matrix.Row(sum, i)
			switch {
			case beta != 0:
				addends := c.Data[i*c.Stride:]
				for j, v := range sums { // conversions, so that no compiler fuses a product with the addition
					z[j] = float32(alpha*v) + float32(beta*addends[j])
				}
			case alpha != 1:
				for j, v := range sums {
					z[j] = alpha * v
				}
			}
			m.Output.RoundSlice32(z, z)
		}
	})
}

// block returns the number of products in which K can be cut.
func (m *Machine) block() int {
	if m.Device.Core == nil {
		return 1
	}
	return max(m.Device.Core.width(), m.Device.ScaleBlock)
}

// partLength returns the number of terms in a part, which is a whole number of
// blocks, for n terms in whole blocks.
func (m *Machine) partLength(n int) int {
	if m.Promote > 0 {
		return m.Promote
	}
	w := m.Device.Core.width()
	parts := max(m.SplitK, 1)
	return (n/w + parts - 1) / parts * w
}

// transpose returns op(m).
func transpose(name string, t blas.Transpose, m blas32.General) blas32.General {
	checkMatrix("GEMM", name, m)
	switch t {
	case blas.NoTrans:
		return m
	case blas.Trans:
	default:
		panic(fmt.Sprintf("tcore: GEMM: t%s = %c, want NoTrans or Trans", strings.ToUpper(name), t))
	}
	return matrix.Transpose(m)
}
