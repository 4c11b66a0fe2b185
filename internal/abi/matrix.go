package abi

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// mostElements is the largest number of elements of a matrix.
const mostElements = 1 << 31

// A Matrix is a matrix in the memory of the caller. Its elements are codes of a
// format, little-endian, of as many bytes as hold one. Strides are in bytes and
// may be negative, or 0 where elements are repeated.
type Matrix struct {
	Format                  string
	Data                    unsafe.Pointer
	Rows, Columns           int
	RowStride, ColumnStride int
	storage
}

// A storage is how elements of a format are stored.
type storage struct {
	tcore.Format
	size int
	word bool // a code is a word of binary32, as those of tf32 are
}

// stored are the formats that elements of matrices can have.
var stored = func() map[string]storage {
	all := map[string]storage{}
	for _, f := range []tcore.Format{tcore.Binary64, tcore.Binary32, tcore.BFloat16, tcore.Binary16, tcore.E5M2, tcore.E4M3, tcore.E5M2FNUZ, tcore.E4M3FNUZ,
		tcore.E3M2, tcore.E2M3, tcore.E2M1, tcore.E8M0, tcore.UE4M3, tcore.INT8, tcore.UINT8, tcore.INT32} {
		size := 1
		for 8*size < f.Bits() {
			size *= 2
		}
		all[f.Name] = storage{f, size, false}
	}
	all[tcore.TF32.Name] = storage{tcore.TF32, 4, true}
	return all
}()

func (s storage) decode(code uint64) float64 {
	if s.word {
		return float64(math.Float32frombits(uint32(code) &^ 0x1fff))
	}
	return s.Decode(code)
}

func (s storage) encode(x float64, mode tcore.RoundingMode) uint64 {
	if s.word {
		return uint64(math.Float32bits(float32(s.Round(x, mode))))
	}
	return s.Encode(x, mode)
}

// check returns an error unless the matrix is one, and completes it. Errors
// call it by the name.
func (m *Matrix) check(name string) error {
	if m == nil {
		return fmt.Errorf("%s is NULL, want a matrix", name)
	}
	s, ok := stored[m.Format]
	switch {
	case !ok:
		return fmt.Errorf("%s.format is %q, want a name of a format", name, m.Format)
	case m.Data == nil:
		return fmt.Errorf("%s.data is NULL", name)
	case m.Rows < 1 || m.Columns < 1:
		return fmt.Errorf("%s is %d × %d, want a matrix that is not empty", name, m.Rows, m.Columns)
	case m.Rows > mostElements/m.Columns:
		return fmt.Errorf("%s is %d × %d, want at most %d elements", name, m.Rows, m.Columns, mostElements)
	}
	const most = 1 << 47
	for _, stride := range []struct{ stride, n int }{{m.RowStride, m.Rows}, {m.ColumnStride, m.Columns}} {
		if stride.stride > most/stride.n || stride.stride < -most/stride.n {
			return fmt.Errorf("%s has a stride of %d bytes, which leads out of memory", name, stride.stride)
		}
	}
	m.storage = s
	if m.Columns == 1 {
		m.ColumnStride = s.size // one element has no next one
	}
	if m.Rows == 1 {
		m.RowStride = s.size * m.Columns
	}
	return nil
}

// checkOutput is check for a matrix that is written, which must not overlap the
// others and whose elements must lie apart.
func (m *Matrix) checkOutput(name string, others ...*Matrix) error {
	if err := m.check(name); err != nil {
		return err
	}
	inner, outer, n := abs(m.ColumnStride), abs(m.RowStride), m.Columns
	if inner > outer && m.Rows > 1 {
		inner, outer, n = outer, inner, m.Rows
	}
	if inner < m.size || m.Rows > 1 && m.Columns > 1 && outer < inner*(n-1)+m.size {
		return fmt.Errorf("%s has strides of %d and %d bytes, by which elements overlap", name, m.RowStride, m.ColumnStride)
	}
	lo, hi := m.span()
	for _, o := range others {
		if o == nil {
			continue
		}
		if from, to := o.span(); from < hi && lo < to {
			return fmt.Errorf("%s overlaps a matrix that is read", name)
		}
	}
	return nil
}

func abs(x int) int { return max(x, -x) }

// span returns the addresses between which the matrix lies.
func (m *Matrix) span() (lo, hi uintptr) {
	lo = uintptr(m.Data)
	hi = lo
	for _, d := range []int{m.RowStride * (m.Rows - 1), m.ColumnStride * (m.Columns - 1)} {
		if d < 0 {
			lo -= uintptr(-d)
		} else {
			hi += uintptr(d)
		}
	}
	return lo, hi + uintptr(m.size)
}

// at returns the bytes of an element.
func (m *Matrix) at(i, j int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.Data, i*m.RowStride+j*m.ColumnStride)), m.size)
}

// code returns the code of an element.
func (m *Matrix) code(i, j int) uint64 {
	switch b := m.at(i, j); m.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}

// set stores the code of an element.
func (m *Matrix) set(i, j int, code uint64) {
	switch b := m.at(i, j); m.size {
	case 1:
		b[0] = byte(code)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(code))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(code))
	default:
		binary.LittleEndian.PutUint64(b, code)
	}
}

// checkCodes returns an error that names the first element with more bits than
// its format has.
func (m *Matrix) checkCodes(name string) error {
	if m.word || 8*m.size == m.Bits() {
		return nil
	}
	for i := range m.Rows {
		for j := range m.Columns {
			if c := m.code(i, j); c>>m.Bits() != 0 {
				return fmt.Errorf("%s[%d, %d] is %#x, want a code of %s, less than %#x", name, i, j, c, m.Format, uint64(1)<<m.Bits())
			}
		}
	}
	return nil
}

// numbers returns the elements in binary64, which holds those of all formats.
func (m *Matrix) numbers(name string) (blas64.General, error) {
	if err := m.checkCodes(name); err != nil {
		return blas64.General{}, err
	}
	z := blas64.General{Rows: m.Rows, Cols: m.Columns, Stride: m.Columns, Data: make([]float64, m.Rows*m.Columns)}
	parallel.Ranges(m.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m.row(i, z.Data[i*z.Stride:][:z.Cols])
		}
	})
	return z, nil
}

// row stores the numbers of row i in z.
func (m *Matrix) row(i int, z []float64) {
	switch m.Format {
	case tcore.Binary32.Name:
		for j := range z {
			z[j] = float64(math.Float32frombits(uint32(m.code(i, j))))
		}
	case tcore.Binary64.Name:
		for j := range z {
			z[j] = math.Float64frombits(m.code(i, j))
		}
	default:
		for j := range z {
			z[j] = m.decode(m.code(i, j))
		}
	}
}

// view returns the matrix as it lies there, or its transpose, if its elements
// are those of binary32 and one of its strides is theirs.
func (m *Matrix) view() (z blas32.General, t blas.Transpose, ok bool) {
	const size = 4
	if m.Format != tcore.Binary32.Name || uintptr(m.Data)%size != 0 {
		return z, t, false
	}
	lies := func(rows, cols, stride, step int) bool {
		return step == size && stride%size == 0 && stride >= size*cols
	}
	switch {
	case lies(m.Rows, m.Columns, m.RowStride, m.ColumnStride):
		z, t = blas32.General{Rows: m.Rows, Cols: m.Columns, Stride: m.RowStride / size}, blas.NoTrans
	case lies(m.Columns, m.Rows, m.ColumnStride, m.RowStride):
		z, t = blas32.General{Rows: m.Columns, Cols: m.Rows, Stride: m.ColumnStride / size}, blas.Trans
	default:
		return z, t, false
	}
	z.Data = unsafe.Slice((*float32)(m.Data), (z.Rows-1)*z.Stride+z.Cols)
	return z, t, true
}

// factor returns the matrix for a product on a device: as it lies there if it
// can be taken so, and otherwise a copy, rounded once to the format. The error
// names an element of which binary32 does not hold what the format does.
func (m *Matrix) factor(name string, f tcore.Format, mode tcore.RoundingMode) (blas32.General, blas.Transpose, error) {
	if z, t, ok := m.view(); ok {
		return z, t, nil
	}
	if err := m.checkCodes(name); err != nil {
		return blas32.General{}, blas.NoTrans, err
	}
	z := blas32.General{Rows: m.Rows, Cols: m.Columns, Stride: m.Columns, Data: make([]float32, m.Rows*m.Columns)}
	errs := make([]error, m.Rows)
	parallel.Ranges(m.Rows, func(lo, hi int) {
		row := make([]float64, m.Columns)
		for i := lo; i < hi; i++ {
			m.row(i, row)
			if m.Precision > tcore.Binary32.Precision {
				f.RoundSlice(row, row, mode)
			}
			for j, x := range row {
				z.Data[i*z.Stride+j] = float32(x)
				if errs[i] == nil {
					errs[i] = question.Held(name, i, j, x)
				}
			}
		}
	})
	return z, blas.NoTrans, cmp.Or(errs...)
}

// store stores the numbers of z, rows i and after, to nearest even.
func (m *Matrix) store(i int, z blas32.General) {
	parallel.Ranges(z.Rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			for j, x := range z.Data[r*z.Stride:][:z.Cols] {
				switch m.Format {
				case tcore.Binary32.Name:
					m.set(i+r, j, uint64(math.Float32bits(x)))
				case tcore.Binary64.Name:
					m.set(i+r, j, math.Float64bits(float64(x)))
				default:
					m.set(i+r, j, m.encode(float64(x), tcore.ToNearestEven))
				}
			}
		}
	})
}
