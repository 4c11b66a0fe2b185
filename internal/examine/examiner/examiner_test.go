package examiner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/examine"
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

// A question is a cell that nbgrader knows, as a student meets it.
type question struct {
	name, kind string
	points     any
	checks     []check // of a check cell
}

// questions returns those of an assignment, in their order.
func questions(t *testing.T, file string) (all []question) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Kind     string `json:"cell_type"`
			Source   []string
			Metadata struct {
				Nbgrader struct {
					ID                      string `json:"grade_id"`
					Points                  any
					Grade, Solution, Locked bool
				}
			}
		}
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(file, err)
	}
	for _, c := range nb.Cells {
		g := c.Metadata.Nbgrader
		if g.ID == "" {
			continue
		}
		q := question{name: g.ID, kind: fmt.Sprint(c.Kind, g.Grade, g.Solution, g.Locked), points: g.Points}
		if g.Grade && !g.Solution {
			source := strings.Join(c.Source, "")
			if q.checks, err = parse(source); err != nil {
				t.Errorf("%s: %v in\n%s", file, err, source)
			}
			// What is not hidden is the first check, with the seed that students see.
			if hidden := strings.Contains(source, "BEGIN HIDDEN TESTS\n") && strings.Contains(source, "END HIDDEN TESTS"); hidden != (len(q.checks) == 2) {
				t.Errorf("%s: %d checks in\n%s", file, len(q.checks), source)
			}
		}
		all = append(all, q)
	}
	return all
}

// Every check cell of every assignment can be run, and every check is in one.
// Python asks the same questions: names, points, checks, seeds, in their order.
func TestAssignments(t *testing.T) {
	sources, err := filepath.Glob("../../../notebooks/assignments/source/*/*.ipynb")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	cells, python := 0, 0
	for _, file := range sources {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		if strings.HasSuffix(name, "-python") {
			python++
			continue
		}
		inGo := questions(t, file)
		other := name + "-python"
		inPython := questions(t, filepath.Join(filepath.Dir(filepath.Dir(file)), other, other+".ipynb"))
		if inGo[0].name != "where" {
			t.Errorf("%s begins with %q, want the cell that sets GoNB up", name, inGo[0].name)
		}
		inGo = inGo[1:]
		for i, q := range inGo {
			if len(q.checks) > 0 {
				cells++
			}
			if i >= len(inPython) {
				t.Errorf("%s lacks %q", other, q.name)
				continue
			}
			p := inPython[i]
			same := func(a, b check) bool {
				return a.call.Pointer() == b.call.Pointer() && slices.EqualFunc(a.seeds, b.seeds, reflect.Value.Equal)
			}
			if p.name != q.name || p.kind != q.kind || p.points != q.points || !slices.EqualFunc(p.checks, q.checks, same) {
				t.Errorf("%s has %v, and Go %v", other, p, q)
			}
		}
		if len(inPython) != len(inGo) {
			t.Errorf("%s has %d cells with names, and Go %d", other, len(inPython), len(inGo))
		}
	}
	if cells != len(checks) {
		t.Errorf("%d cells, want %d", cells, len(checks))
	}
	if 2*python != len(sources) {
		t.Errorf("%d of %d assignments are in Python, want half of them", python, len(sources))
	}
}

func TestParse(t *testing.T) {
	if c, err := parse("%%\ncourse.CheckUlp(Ulp, 1)\n// BEGIN\ncourse.CheckUlp(Ulp, 20261)\n"); err != nil || len(c) != 2 || c[1].seeds[0].Uint() != 20261 {
		t.Errorf("%v, %v", c, err)
	}
	python := "course.check(\"mac_deltas\", mac_deltas, 1)\n### BEGIN HIDDEN TESTS\ncourse.check(\"mac_deltas\", mac_deltas, 20261)\n  # the end"
	if c, err := parse(python); err != nil || len(c) != 2 || c[0].call.Pointer() != reflect.ValueOf(checks["CheckMACDeltas"]).Pointer() || c[1].seeds[0].Uint() != 20261 {
		t.Errorf("%v, %v", c, err)
	}
	for _, cell := range []string{
		"course.check()", `course.check("ulp")`, `course.check(ulp, ulp, 1)`, `course.check("nothing", ulp, 1)`, `course.check("ulp", ulp)`,
		`course.check("ulp", ulp, seed)`, `other.check("ulp", ulp, 1)`, `course.check("ulp", lambda: 1, 1)`, `import os`,
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

// served returns a function that calls a tool as Python does.
func served(t *testing.T) func(name string, args string) string {
	here, there := net.Pipe()
	ended := make(chan error)
	go func() { ended <- serveTools(there) }()
	t.Cleanup(func() {
		here.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(here)
	lines.Buffer(nil, examine.LongestLine)
	return func(name, args string) string {
		number := 1 + slices.IndexFunc(tools, func(x tool) bool { return x.name == name })
		fmt.Fprintf(here, `{"call":%d,"args":[%s]}`+"\n", number, args)
		lines.Scan()
		return lines.Text()
	}
}

// What Python asks for is what the packages say.
func TestTools(t *testing.T) {
	call := served(t)
	for _, test := range []struct{ name, args, want string }{
		{"gamma", `2,"0.25"`, `{"results":["1"]}`},
		{"gamma", `2`, `{"panic":"1 values, want 2"}`},
		{"gamma", `2,"x"`, `{"panic":"strconv.ParseFloat: parsing \"x\": invalid syntax"}`},
		{"max", `["binary16",11,-14,15,0,0,0,0]`, `{"results":["65504"]}`},
		{"min_normal", `["binary16",11,-14,15,0,0,0,0]`, `{"results":["6.103515625e-05"]}`},
		{"min_subnormal", `["binary16",11,-14,15,0,0,0,0]`, `{"results":["5.960464477539063e-08"]}`},
		{"unit_roundoff", `["binary16",11,-14,15,0,0,0,0]`, `{"results":["0.00048828125"]}`},
		{"round", `["binary16",11,-14,15,0,0,0,0],"2049.5"`, `{"results":["2050"]}`},
		{"truncate", `["binary16",11,-14,15,0,0,0,0],"2049.5"`, `{"results":["2048"]}`},
		{"add", `["binary16",11,-14,15,0,0,0,0],"2048","3"`, `{"results":["2052"]}`},
		{"mul", `["binary16",11,-14,15,0,0,0,0],"2049","1"`, `{"results":["2048"]}`},
		{"fma", `["binary16",11,-14,15,0,0,0,0],"1.0009765625","1.0009765625","-1.001953125"`, `{"results":["9.5367431640625e-07"]}`},
		{"mac", `["binary16",11,-14,15,0,0,0,0],"1.0009765625","1.0009765625","-1.001953125"`, `{"results":["0"]}`},
		{"fma_bound", `"0.125"`, `{"results":[["0.125","0.125","-Inf"]]}`},
		{"lengths", ``, `{"results":[["64","256","1024","4096","16384"]]}`},
		{"backward_dot", `"11",["1","2"],["4","3"]`, `{"results":["0.1"]}`},
		{"backward_dot", `"11",["1","2"],["4"]`, `{"panic":"course: backward_dot of 2 and 1 numbers, want as many, at least one"}`},
		{"distribution", `["2","0","1","2"]`, `{"results":[["1","2"],["0.5","1"]]}`},
	} {
		if got := call(test.name, test.args); got != test.want {
			t.Errorf("%s(%s): %s, want %s", test.name, test.args, got, test.want)
		}
	}
	names := call("", "")
	for _, want := range []string{`"higham_mary_lambda"`, `"func(tcore.Format{string, int, int, int, int, int, int, int}, float64) float64"`,
		`"func() roundoff.MACBound{float64, float64, float64}"`, `"func(int, uint64) ([]float64, []float64, []float64)"`} {
		if !strings.Contains(names, want) {
			t.Errorf("%s is not in %s", want, names)
		}
	}
}
