package tcvec

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// recorded returns the files of results of a processor, of
//
//	roundoff silicon record --rows 200 --seed 241118747 internal/tcvec/testdata
func recorded(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/sapphirerapids-*.tcv.gz")
	if err != nil || len(files) != len(devices.Integers()) {
		t.Fatalf("%v, %v, want a file for each instruction of integers", files, err)
	}
	return files
}

// The emulation returns what a processor returned for integers, also where sums
// wrap.
func TestRecordedIntegers(t *testing.T) {
	named := map[string]bool{}
	for _, file := range recorded(t) {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		r, err := NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Header.Device()
		if err != nil || r.Header.Kind != "silicon" {
			t.Fatalf("%+v, %v", r.Header, err)
		}
		named[d.Name] = true
		rows, wrapped := 0, 0
		for ; ; rows++ {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := d.C.Decode(row.C)
			for k := range row.A {
				sum += d.A.Decode(row.A[k]) * d.B.Decode(row.B[k])
			}
			if sum != d.C.Decode(row.D) {
				wrapped++
			}
			if got := row.Compute(d); got != row.D || uint64(uint32(int64(sum))) != row.D {
				t.Errorf("%s, row %d: %#x and %v, want %#x", d.Name, rows, got, sum, row.D)
			}
		}
		if rows != r.Header.Count || wrapped < 5 {
			t.Errorf("%s: %d rows, %d of them wrap, want %d and 5", d.Name, rows, wrapped, r.Header.Count)
		}
	}
	for _, d := range devices.Integers() {
		if !named[d.Name] {
			t.Errorf("no rows of %s", d.Name)
		}
	}
}

// The results are those of matrix products, too, and one with a wrong bit is
// not.
func TestCheckIntegers(t *testing.T) {
	for _, file := range recorded(t) {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		n, err := Check(in)
		if err != nil || n != (Tally{200, 200, 0}) {
			t.Errorf("%s: %+v, %v", file, n, err)
		}
		again := func() *Reader {
			in.Seek(0, io.SeekStart)
			r, err := NewReader(in)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if n, err := again().CheckProducts(70); err != nil || n.Mismatches > 0 || n.Graded < 40 {
			t.Errorf("%s, in products: %+v, %v", file, n, err)
		}
		r := again()
		d, _ := r.Header.Device()
		row, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if row.D ^= 1 << 31; row.Compute(d) == row.D {
			t.Errorf("%s: a result with another sign is that of the device", file)
		}
	}
}
