package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/examine"
	"github.com/roundofflab/roundoff/internal/notebook"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// exported returns the names of the checks of pkg/course.
func exported(t *testing.T) (names []string) {
	files, err := filepath.Glob("../../../pkg/course/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Check") {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Every check of pkg/course can run on a function of another process.
func TestChecks(t *testing.T) {
	for _, name := range exported(t) {
		f, ok := checks[name]
		if !ok {
			t.Errorf("%s cannot be called", name)
			continue
		}
		here, there := net.Pipe()
		defer there.Close()
		examine.Remote(here, reflect.TypeOf(f).In(0)) // panics if it cannot
	}
	if n := len(exported(t)); n != len(checks) {
		t.Errorf("%d checks, but pkg/course has %d", len(checks), n)
	}
}

// Every check cell of every assignment can be run.
func TestCells(t *testing.T) {
	sources, err := filepath.Glob("../../../notebooks/assignments/source/*/*.ipynb")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	n := 0
	for _, name := range sources {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(data)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, c := range nb.CodeCells() {
			if strings.Contains(c.Source, "course.Check") {
				n++
				if _, err := parse(c.Source); err != nil {
					t.Errorf("%s: %v in\n%s", name, err, c.Source)
				}
			}
		}
	}
	if n != len(checks) {
		t.Errorf("%d cells, want %d", n, len(checks))
	}
}

func TestParse(t *testing.T) {
	if c, err := parse("%%\ncourse.CheckUlp(Ulp, 1)\n// BEGIN\ncourse.CheckUlp(Ulp, 20261)\n"); err != nil || len(c) != 2 || c[1].seeds[0].Uint() != 20261 {
		t.Errorf("%v, %v", c, err)
	}
	for _, cell := range []string{
		"", "%%\n", "course.CheckUlp", "x := 1", "course.CheckUlp(Ulp)", "course.CheckUlp(Ulp, 1, 2)", "course.CheckUlp(Ulp, -1)",
		"course.CheckUlp(Ulp, seed)", "course.CheckUlp(math.Abs, 1)", "course.CheckNothing(Ulp)", "other.CheckUlp(Ulp, 1)", "CheckUlp(Ulp, 1)",
		"course.CheckUlp(Ulp, 1); course.CheckUlp(Ulp2, 1)", "course.CheckUlp(Ulp, 1)\n}\nfunc init() {", "course.CheckUlp(Ulp, 99999999999999999999)",
		"os.Exit(0)", "course.CheckUlp(Ulp, 1", "return",
	} {
		if c, err := parse(cell); err == nil {
			t.Errorf("%q: %d checks", cell, len(c))
		}
	}
}

// A check accepts a correct function of the other end, and panics with a
// description of the mistake of a wrong one.
func TestRun(t *testing.T) {
	ulp := func(f tcore.Format, x float64) float64 {
		return math.Ldexp(1, max(math.Ilogb(x), f.Emin)-f.Precision+1)
	}
	for name, test := range map[string]struct {
		f    any
		want string
	}{
		"right":     {ulp, ""},
		"wrong":     {func(f tcore.Format, x float64) float64 { return 2 * ulp(f, x) }, "want"},
		"panicking": {func(f tcore.Format, x float64) float64 { panic("not implemented") }, "not implemented"},
		"another":   {func(f tcore.Format) float64 { return 1 }, "2 values, want 1"},
		"of text":   {func(f tcore.Format, x float64) string { return "1" }, "want"},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			go examine.Serve(there, test.f)
			defer here.Close()
			defer func() {
				got, _ := recover().(string)
				if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
					t.Errorf("panic %q, want %q", got, test.want)
				}
			}()
			found, err := parse("%%\ncourse.CheckUlp(Ulp, 1)\ncourse.CheckUlp(Ulp, 20261)")
			if err != nil {
				t.Fatal(err)
			}
			run(found, here)
		})
	}
	t.Run("gone", func(t *testing.T) {
		here, there := net.Pipe()
		there.Close()
		defer func() {
			if recover() == nil {
				t.Error("a check passed that nobody answered")
			}
		}()
		found, _ := parse("course.CheckUnitRoundoff(UnitRoundoff)")
		run(found, here)
	})
}
