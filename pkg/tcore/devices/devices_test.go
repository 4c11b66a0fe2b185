package devices

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Every record is in the catalogue or one of integers, under a unique name.
func TestAll_has_every_record(t *testing.T) {
	records := 0
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files["devices"].Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Name.IsExported() && f.Type.Params.NumFields() == 0 && f.Name.Name != "All" && f.Name.Name != "Integers" {
				records++
			}
		}
	}
	names := map[string]bool{}
	for _, d := range All() {
		names[d.Name] = true
		if got, ok := ByName(d.Name); !ok || got != d {
			t.Errorf("%s is not found by its name", d.Name)
		}
	}
	for _, d := range Integers() {
		names[d.Name] = true
		if _, ok := ByName(d.Name); ok {
			t.Errorf("%s is in the catalogue", d.Name)
		}
	}
	if list := len(All()) + len(Integers()); len(names) != records || list != records {
		t.Errorf("%d records, %d in the lists, %d names", records, list, len(names))
	}
}

// Changes of a returned record or list do not affect other callers.
func TestRecordsCannotBeChanged(t *testing.T) {
	d, all := HopperF16(), All()
	d.A, all[0] = tcore.E4M3, tcore.Device{}
	if again := HopperF16(); again == d || !slices.Contains(All(), again) || All()[0] == all[0] {
		t.Error("the catalogue has changed")
	}
}

// In sums of binary16, a zero among the terms cuts off what is below 2^(4-2F),
// F being the bits that factors of binary16 keep: what is above decides the
// rounding of a tie, half of the least number. On an H100, roundoff gpu probe
// found 4 - F = -21.
func TestZerosCutSumsOfBinary16(t *testing.T) {
	least := map[string]int{"Volta": -19 - 23, "Turing": -20 - 24, "Ampere": -20 - 24, "Ada": -20 - 24, "Hopper": -21 - 25, "Blackwell": -21 - 25, "RTX Blackwell": -21 - 25}
	seen := 0
	for _, d := range All() {
		e, ok := least[d.Architecture]
		if !ok || !d.A.Equal(tcore.Binary16) || !d.C.Equal(tcore.Binary16) {
			continue
		}
		seen++
		for q := e - 2; q < e+3; q++ {
			half := math.Exp2(-12)
			x, y := []float64{half, math.Exp2(float64(q / 2))}, []float64{half / 2, math.Exp2(float64(q - q/2))}
			want := 0.0
			if q >= e {
				want = 0x1p-24
			}
			if got := d.Dot(x, y, 0); got != want {
				t.Errorf("%s: 2^-25 + 2^%d = %v, want %v", d.Name, q, got, want)
			}
		}
	}
	if seen != 9 {
		t.Errorf("%d devices, want 9", seen)
	}
}
