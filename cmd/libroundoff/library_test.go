//go:build cgo && linux

package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/abi"
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
	got, want := []string{}, []string{"roundoff_free"}
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

// Without cgo the package builds, and says what it lacks.
func TestWithoutCgo(t *testing.T) {
	run := exec.Command("go", "run", "-buildvcs=false", ".")
	run.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "CGO_ENABLED=1") {
		t.Errorf("%v, %s", err, out)
	}
}
