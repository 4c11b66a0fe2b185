package abi

import (
	"math"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
)

// FuzzMatrix lays matrices of any shape and strides into a buffer, and compares
// what is said of them with a walk through their elements.
func FuzzMatrix(f *testing.F) {
	f.Add(3, 4, 16, 4, 0, false)
	f.Add(4, 3, 4, 16, 8, false)
	f.Add(3, 2, -64, 24, 600, true)
	f.Add(5, 5, 0, 4, 0, false)
	f.Add(2, 3, 8, 4, 4, true)
	f.Add(1, 7, math.MinInt, 4, 0, false)
	f.Fuzz(func(t *testing.T, rows, cols, rowStride, colStride, offset int, wide bool) {
		const length = 1024
		buffer := make([]uint64, length/8)
		base := uintptr(unsafe.Pointer(&buffer[0]))
		format, size := "binary32", 4
		if wide {
			format, size = "binary64", 8
		}
		if offset < 0 || offset >= length {
			t.Skip("it begins outside")
		}
		m := &Matrix{Format: format, Data: unsafe.Pointer(&unsafe.Slice((*byte)(unsafe.Pointer(&buffer[0])), length)[offset]), Rows: rows, Columns: cols,
			RowStride: rowStride, ColumnStride: colStride}
		if m.check("m") != nil {
			return
		}
		lo, hi := m.span()
		if lo < base || hi > base+length || hi < lo {
			return // it leads out of the buffer, as a caller's may not
		}
		seen, apart := map[int]bool{}, true
		first, last := length, 0
		for i := range m.Rows {
			for j := range m.Columns {
				at := int(uintptr(unsafe.Pointer(&m.at(i, j)[0])) - base)
				first, last = min(first, at), max(last, at+size)
				for k := range size {
					apart = apart && !seen[at+k]
					seen[at+k] = true
				}
				m.put(i, j, float64(i*31+j))
			}
		}
		if first != int(lo-base) || last != int(hi-base) {
			t.Errorf("%d to %d, want %d to %d", lo-base, hi-base, first, last)
		}
		if m.checkOutput("m") == nil && !apart {
			t.Error("elements overlap, and it may be written")
		}
		if z, transposed, ok := m.view(); ok {
			for i := range m.Rows {
				for j := range m.Columns {
					r, c := i, j
					if transposed == blas.Trans {
						r, c = j, i
					}
					if got := float64(z.Data[r*z.Stride+c]); got != m.decode(m.code(i, j)) {
						t.Fatalf("element %d, %d is %v in the view", i, j, got)
					}
				}
			}
		}
	})
}
