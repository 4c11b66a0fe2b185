package devices

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
