package tcvec

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// openRows returns the reader of a file, which is closed when the test ends,
// and the device of its rows.
func openRows(t *testing.T, file string) (*Reader, tcore.Device) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Header.Device()
	if err != nil {
		t.Fatal(err)
	}
	return r, d
}

// eachRow calls f for each of the rows, and returns how many there are.
func eachRow(t *testing.T, r *Reader, f func(i int, row Row)) (n int) {
	t.Helper()
	for ; ; n++ {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		f(n, row)
	}
}
