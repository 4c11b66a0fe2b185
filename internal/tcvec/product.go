package tcvec

import (
	"errors"
	"io"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// CheckProducts computes the rows that follow as elements of matrix products,
// size rows at a time, and compares them as Check does: the vectors A of the
// rows are the rows of one factor, the vectors B the columns of the other, and
// the results stand on the diagonal. Where the factors have at most 8 bits it
// multiplies codes, and without scales also the numbers that they represent.
// Rows with a number that binary32 does not have are left out. It panics if
// size < 1.
func (r *Reader) CheckProducts(size int) (Tally, error) {
	if size < 1 {
		panic("tcvec: CheckProducts: size < 1")
	}
	var t Tally
	d, err := r.Header.Device()
	if err != nil {
		return t, err
	}
	var batch []Row
	for {
		row, err := r.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return t, err
		}
		if err == nil {
			t.Rows++
			if r.Header.graded(row) && representable(d, row) {
				batch = append(batch, row.clone())
			}
		}
		if len(batch) == size || err != nil && len(batch) > 0 {
			t.Graded += len(batch)
			t.Mismatches += mismatches(d, batch)
			batch = batch[:0]
		}
		if err != nil {
			return t, nil
		}
	}
}

// clone returns a copy of the row that stays valid.
func (r Row) clone() Row {
	r.A, r.B, r.ScaleA, r.ScaleB = slices.Clone(r.A), slices.Clone(r.B), slices.Clone(r.ScaleA), slices.Clone(r.ScaleB)
	return r
}

// mismatches returns how many elements of the diagonal differ, in any of the
// ways to compute them.
func mismatches(d tcore.Device, batch []Row) int {
	n, k := len(batch), len(batch[0].A)
	c, z := matrix.New(n, n), matrix.New(n, n)
	for i, row := range batch {
		c.Data[i*n+i] = float32(number(d.C, row.C))
	}
	wrong := make([]bool, n)
	compare := func() {
		for i, row := range batch {
			code := d.C.Encode(float64(z.Data[i*n+i]), tcore.ToNearestEven)
			wrong[i] = wrong[i] || !sameCode(d.C, code, row.D)
		}
	}
	if d.A.Bits() <= 8 {
		a := tcore.Codes{Rows: n, Cols: k, Data: make([]uint8, n*k)}
		b := tcore.Codes{Rows: k, Cols: n, Data: make([]uint8, k*n)}
		scales := len(batch[0].ScaleA)
		a.Scales, b.Scales = make([]uint8, n*scales), make([]uint8, scales*n)
		for i, row := range batch {
			lay(a.Data[i*k:], 1, row.A)
			lay(b.Data[i:], n, row.B)
			lay(a.Scales[i*scales:], 1, row.ScaleA)
			lay(b.Scales[min(i, len(b.Scales)):], n, row.ScaleB)
		}
		d.MultiplyAddCodes(a, b, c, z)
		compare()
	}
	if d.ScaleBlock == 0 {
		a, b := matrix.New(n, k), matrix.New(k, n)
		for i, row := range batch {
			for l := range k {
				a.Data[i*k+l], b.Data[l*n+i] = float32(number(d.A, row.A[l])), float32(number(d.B, row.B[l]))
			}
		}
		d.MultiplyAdd(a, b, c, z)
		compare()
	}
	count := 0
	for _, w := range wrong {
		if w {
			count++
		}
	}
	return count
}

// lay stores the codes in dst, step elements apart.
func lay(dst []uint8, step int, codes []uint64) {
	for i, code := range codes {
		dst[i*step] = uint8(code)
	}
}

// representable reports whether all numbers of the row but a NaN are numbers of
// binary32.
func representable(d tcore.Device, row Row) bool {
	ok := func(f tcore.Format, codes ...uint64) bool {
		for _, code := range codes {
			if x := number(f, code); x == x && float64(float32(x)) != x {
				return false
			}
		}
		return true
	}
	return ok(d.A, row.A...) && ok(d.B, row.B...) && ok(d.C, row.C, row.D)
}

// number returns the number that a code of a row represents. Those of tf32 are
// the upper bits of words.
func number(f tcore.Format, code uint64) float64 {
	if f.Equal(tcore.TF32) {
		code >>= 32 - f.Bits()
	}
	return f.Decode(code)
}
