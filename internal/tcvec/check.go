package tcvec

import (
	"errors"
	"io"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Tally counts rows: all, those that were graded, and the graded ones whose
// result differs.
type Tally struct {
	Rows, Graded, Mismatches int
}

// Check computes the test vectors of one file on the device that the header
// names and compares the results. Rows whose sources disagree are not graded,
// except in files of kind silicon, all of whose rows are graded. Any NaN equals
// any NaN. The error is an [UnsupportedError] if there is no such device, or an
// error of the file.
func Check(in io.Reader) (Tally, error) {
	r, err := NewReader(in)
	if err != nil {
		return Tally{}, err
	}
	return r.Check(nil)
}

// Check computes the rows that follow as the function Check does. It hands the
// result of every row, graded or not, to each, unless that is nil.
func (r *Reader) Check(each func(code uint64)) (Tally, error) {
	var t Tally
	d, err := r.Header.Device()
	if err != nil {
		return t, err
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		t.Rows++
		code := row.Compute(d)
		if each != nil {
			each(code)
		}
		if !r.Header.graded(row) {
			continue
		}
		t.Graded++
		if !sameCode(d.C, code, row.D) {
			t.Mismatches++
		}
	}
}

// graded reports whether the result of a row of the file counts.
func (h Header) graded(row Row) bool { return row.Flags&contested == 0 || h.Kind == "silicon" }

// Compute returns the code that d computes for the operands of the row.
func (r Row) Compute(d tcore.Device) uint64 {
	return d.DotScaled(r.A, r.B, r.ScaleA, r.ScaleB, r.C)
}

// sameCode reports whether two codes of f are equal or both are NaN.
func sameCode(f tcore.Format, x, y uint64) bool {
	if x == y {
		return true
	}
	u, v := f.Decode(x), f.Decode(y)
	return u != u && v != v
}
