package cuda

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// library is a library of CUDA with its file names, the newest version first.
type library struct {
	name  string
	files []string
}

var (
	libcuda     = library{"libcuda", []string{"libcuda.so.1"}}
	libcublas   = library{"libcublas", []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}}
	libcublasLt = library{"libcublasLt", []string{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}}
	libnvrtc    = library{"libnvrtc", []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}}
)

// usual lists the folders in which CUDA is commonly installed.
var usual = []string{
	"/usr/local/cuda/lib64",
	"/usr/local/cuda-13*/lib64",
	"/usr/local/cuda-12*/lib64",
	"/usr/local/cuda-11*/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib/wsl/lib",
	"/usr/local/nvidia/lib64",
	"/opt/cuda/lib64",
}

// candidates returns the paths at which to search for the library, in order. A
// name without a slash is for the dynamic loader to find. A pattern is replaced
// by the folders that match it; if none does, it stays as it is, for error
// messages.
func (l library) candidates(getenv func(string) string) []string {
	var paths []string
	add := func(patterns ...string) {
		for _, pattern := range patterns {
			folders, _ := filepath.Glob(pattern)
			if len(folders) == 0 {
				folders = []string{pattern} // for the error message, if the folder does not exist
			}
			for _, folder := range folders {
				for _, file := range l.files {
					paths = append(paths, filepath.Join(folder, file))
				}
			}
		}
	}
	for _, folder := range filepath.SplitList(getenv("ROUNDOFF_CUDA_PATH")) {
		for _, file := range l.files {
			paths = append(paths, filepath.Join(folder, file))
		}
	}
	paths = append(paths, l.files...)
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := getenv(variable); home != "" {
			add(home+"/lib64", home+"/lib")
		}
	}
	add(usual...)
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if env := getenv(variable); env != "" {
			add(env+"/lib/python*/site-packages/nvidia/*/lib", env+"/lib")
		}
	}
	return paths
}

// present returns the candidates that exist, with those that the loader has to
// find, and the folders of the others, each once.
func (l library) present(getenv func(string) string) (paths, absent []string) {
	missing := map[string]bool{}
	for _, path := range l.candidates(getenv) {
		if !strings.Contains(path, "/") {
			paths = append(paths, path)
			continue
		}
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		} else if folder := filepath.Dir(path); !missing[folder] {
			missing[folder] = true
			absent = append(absent, folder)
		}
	}
	return paths, absent
}

// broken returns why the loader must not be given a file: the file is not a
// regular one, such as a pipe, on which the loader would wait; or it is
// truncated, as after an incomplete download, which would end the process. For
// other files, and for names that the loader has to find, it returns "".
func broken(path string) string {
	if !strings.Contains(path, "/") {
		return ""
	}
	status, err := os.Stat(path)
	if err != nil {
		return "" // the loader says why
	}
	if status.IsDir() {
		return "Is a directory"
	}
	if !status.Mode().IsRegular() {
		return "is no regular file"
	}
	file, err := os.Open(path)
	if err != nil {
		return "" // the loader says why
	}
	defer file.Close()
	magic := make([]byte, len(elf.ELFMAG))
	if file.ReadAt(magic, 0); string(magic) != elf.ELFMAG {
		return "" // the loader reports that it is no library
	}
	const early = "ends too early, it is not whole"
	library, err := elf.NewFile(file)
	if err != nil {
		return early
	}
	for _, p := range library.Progs {
		if p.Filesz > 0 && (p.Off > uint64(status.Size()) || p.Filesz > uint64(status.Size())-p.Off) {
			return early
		}
	}
	return ""
}

// tooNew returns a reason if the library is of a later major version of CUDA
// than the driver supports, otherwise "". The version of the driver is 0 if it
// is not known.
func tooNew(path string, driver int) string {
	_, suffix, _ := strings.Cut(filepath.Base(path), ".so.")
	major := 0
	if fmt.Sscan(strings.Split(suffix, ".")[0], &major); driver > 0 && major > driver/1000 {
		return fmt.Sprintf("is for CUDA %d, the driver for %s", major, version(driver))
	}
	return ""
}
