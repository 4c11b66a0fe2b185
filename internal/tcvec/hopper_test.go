package tcvec

import (
	"path/filepath"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// neighbours returns records that differ from d where published models do, and
// where 3000 dot products show it.
func neighbours(d tcore.Device) map[string]tcore.Device {
	others := map[string]tcore.Device{}
	add := func(name string, core tcore.Core) {
		other := d
		other.Core = core
		others[name] = other
	}
	switch core := d.Core.(type) {
	case tcore.Fused:
		core.NegativeTiny = true
		if d.A.Emin < tcore.Binary16.Emin || d.A.Equal(tcore.Binary16) && d.C.Equal(tcore.Binary16) {
			add("-0 for tiny sums", core)
		}
	case tcore.Chain:
		add("one NaN", tcore.Chain{})
		add("another order of NaN", tcore.Chain{NaN: tcore.FirstOfXYC})
	}
	return others
}

// TestRecordedHopper checks the rows that an H100 computed, of
//
//	roundoff gpu record --rows 3000 --seed 1 internal/tcvec/testdata
//
// The emulation returns the same codes, signs of zeros and NaN included, and so
// do matrix products. Records with another sign of tiny sums or rule of NaN do
// not. The exponent of zeros decides no row; roundoff gpu probe asks for it.
func TestRecordedHopper(t *testing.T) {
	files, err := filepath.Glob("testdata/hopper-*.tcv.gz")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, file := range files {
		r, d := openRows(t, file)
		if r.Header.Kind != "silicon" {
			t.Fatalf("%+v", r.Header)
		}
		named[d.Name] = true
		others, nan := neighbours(d), 0
		rows := eachRow(t, r, func(i int, row Row) {
			if z := d.C.Decode(row.D); z != z {
				nan++
			}
			if got := row.Compute(d); got != row.D {
				t.Errorf("%s, row %d: %#x, want %#x", d.Name, i, got, row.D)
			}
			for name, other := range others {
				if row.Compute(other) != row.D {
					delete(others, name)
				}
			}
		})
		if rows != 3000 || nan < 100 {
			t.Errorf("%s: %d rows, %d of them NaN, want 3000 and 100", d.Name, rows, nan)
		}
		for name := range others {
			t.Errorf("%s: no row tells it from one with %s", d.Name, name)
		}
		r, _ = openRows(t, file)
		if n, err := r.CheckProducts(70); err != nil || n.Mismatches > 0 || n.Graded < 1000 && r.Header.A != "fp64" {
			t.Errorf("%s, in products: %+v, %v", file, n, err)
		}
	}
	for _, d := range devices.All() {
		if d.Architecture == "Hopper" && !named[d.Name] {
			t.Errorf("no rows of %s", d.Name)
		}
	}
}
