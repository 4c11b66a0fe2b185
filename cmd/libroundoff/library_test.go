//go:build cgo && linux

package main

import (
	"bytes"
	"debug/elf"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/abi"
	"github.com/roundofflab/roundoff/internal/examine"
)

// library is the folder of the library, built once.
var library string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "libroundoff")
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-buildmode=c-shared", "-o", filepath.Join(dir, "libroundoff.so"), ".")
	build.Stderr = os.Stderr
	status := 1
	if build.Run() == nil {
		library = dir
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// The library exports what the table has, and nothing else of that name.
func TestSymbols(t *testing.T) {
	f, err := elf.Open(filepath.Join(library, "libroundoff.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	got, want := []string{}, []string{"roundoff_free", "roundoff_examine"}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "roundoff_") && s.Section != elf.SHN_UNDEF {
			got = append(got, s.Name)
		}
	}
	for _, f := range abi.Functions {
		want = append(want, "roundoff_"+f.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the library has %v, the table %v", got, want)
	}
}

// compile builds a program with the library, and skips the test where there is
// no compiler.
func compile(t *testing.T, compiler string, arguments ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("there is no %s here", compiler)
	}
	program := filepath.Join(t.TempDir(), "program")
	arguments = append(arguments, "-Wall", "-Wextra", "-Werror", "-I", ".", "-o", program, "-L", library, "-lroundoff", "-lpthread", "-Wl,-rpath,"+library)
	if out, err := exec.Command(compiler, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, arguments, err, out)
	}
	return program
}

// The example is C and C++, and prints what it says.
func TestExample(t *testing.T) {
	const want = `{"device":"volta-mma-binary16-binary32"}: 0
{"device":"hopper-wgmma-binary16-binary32"}: -0.75
[{"bound":"truncation"
no device "pascal" for binary16
`
	for _, arguments := range [][]string{
		{"cc", "-std=c99", "-pedantic"}, {"cc", "-std=c11"}, {"c++", "-std=c++11", "-x", "c++"}, {"c++", "-std=c++20", "-x", "c++"},
	} {
		t.Run(strings.Join(arguments, " "), func(t *testing.T) {
			program := compile(t, arguments[0], append(slices.Clone(arguments[1:]), "example/example.c", "-x", "none")...)
			out, err := exec.Command(program).CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("%v, printed\n%s, want\n%s", err, out, want)
			}
		})
	}
}

// Eight threads may call at the same time, with wrong arguments and right ones.
func TestThreads(t *testing.T) {
	program := compile(t, "cc", "-std=c99", "-O1", "testdata/threads.c")
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A function of C is asked how it adds, by four threads at the same time.
func TestInfer(t *testing.T) {
	for _, arguments := range [][]string{{"cc", "-std=c99"}, {"c++", "-std=c++11", "-x", "c++"}} {
		program := compile(t, arguments[0], append(slices.Clone(arguments[1:]), "-ffp-contract=off", "testdata/infer.c", "-x", "none")...)
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", arguments, err, out)
		}
	}
}

// A process that becomes the examiner ends as a program of Go does.
func TestExamine(t *testing.T) {
	program := compile(t, "cc", "-std=c99", "testdata/examine.c")
	var process *exec.Cmd
	const cell = "course.CheckUnitRoundoff(UnitRoundoff)"
	for _, test := range []struct {
		name, cell string
		f          func(p int) float64 // without one, the other end closes
		end, said  string
	}{
		{"right", cell, func(p int) float64 { return math.Ldexp(1, -p) }, "", ""},
		{"wrong", cell, func(p int) float64 { return math.Ldexp(1, 1-p) }, "exit status 2", "panic: course: UnitRoundoff(1) = 1, want 0.5\n"},
		{"raises", cell, func(p int) float64 { panic("not\npanic: this") }, "exit status 2", "panic: not\n\tpanic: this\n"},
		{"late", cell, func(p int) float64 { select {} }, "exit status 2", "panic: course: UnitRoundoff has not returned after 15s\n"},
		{"interrupted", cell, func(p int) float64 { process.Process.Signal(os.Interrupt); select {} }, "signal: interrupt", ""},
		{"gone", cell, nil, "exit status 2", "panic: ended before it returned\n"},
		{"no check", "course.CheckNothing(UnitRoundoff)", nil, "exit status 2", "examiner: CheckNothing is no check of pkg/course\n"},
		{"no calls of tools", "", nil, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "late" && testing.Short() {
				t.Skip("15 s")
			}
			var said bytes.Buffer
			process = exec.Command(program, test.cell)
			process.Stderr = &said
			in, err := process.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := process.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			if test.f == nil {
				in.Close()
			} else if err := examine.Serve(connection{out, in}, test.f); err != nil {
				t.Error(err)
			}
			end := ""
			if err := process.Wait(); err != nil {
				end = err.Error()
			}
			if end != test.end || !strings.HasPrefix(said.String(), test.said) {
				t.Errorf("it ended with %q, want %q, and said\n%s\nwant\n%s", end, test.end, &said, test.said)
			}
		})
	}
}

type connection struct {
	io.Reader
	io.Writer
}

// Without cgo the package builds, and says what it lacks.
func TestWithoutCgo(t *testing.T) {
	run := exec.Command("go", "run", "-buildvcs=false", ".")
	run.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "CGO_ENABLED=1") {
		t.Errorf("%v, %s", err, out)
	}
}
