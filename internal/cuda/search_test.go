package cuda

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The folders are searched in the documented order.
func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	wheel := filepath.Join(dir, "venv/lib/python3.12/site-packages/nvidia/cublas/lib")
	for _, folder := range []string{wheel, filepath.Join(dir, "home/lib64")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	saved := usual
	defer func() { usual = saved }()
	if err := os.Mkdir(filepath.Join(dir, "usual-12.4"), 0o755); err != nil {
		t.Fatal(err)
	}
	usual = []string{filepath.Join(dir, "usual-*"), filepath.Join(dir, "absent")}
	env := map[string]string{
		"ROUNDOFF_CUDA_PATH": "/first:/second",
		"CUDA_HOME":          filepath.Join(dir, "home"),
		"VIRTUAL_ENV":        filepath.Join(dir, "venv"),
	}
	var want []string
	for _, folder := range []string{"/first", "/second", "",
		filepath.Join(dir, "home/lib64"), filepath.Join(dir, "home/lib"), // the second does not exist
		filepath.Join(dir, "usual-12.4"), filepath.Join(dir, "absent"),
		wheel, filepath.Join(dir, "venv/lib")} {
		for _, file := range []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"} {
			want = append(want, filepath.Join(folder, file))
		}
	}
	got := libcublas.candidates(func(name string) string { return env[name] })
	if !slices.Equal(got, want) {
		t.Errorf("searched\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := libcuda.candidates(func(string) string { return "" }); got[0] != "libcuda.so.1" {
		t.Errorf("without an environment, the first is %s, want the loader's libcuda.so.1", got[0])
	}
}

func TestVersion(t *testing.T) {
	for v, want := range map[int]string{11000: "11.0", 12040: "12.4", 13020: "13.2", 11805: "11.8.5", 120803: "12.8.3", 130000: "13.0.0",
		-5: "-5, which is no version", 0: "0, which is no version", 1 << 30: "1073741824, which is no version"} {
		if got := version(v); got != want {
			t.Errorf("version(%d) = %s, want %s", v, got, want)
		}
	}
}
