package nb

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// question is the environment variable by which a page asks a program for a
// figure: a request such as "2:0,12,1", which [parseRequest] describes.
const question = "ROUNDOFF_SETTING"

// request is what a page asks for.
type request struct {
	explorer int   // of the calls of Explore, counted from 1
	at       []int // setting
	files    bool  // with links to the files
}

// parseRequest parses the number of a call of Explore, a setting and, if the
// files are wanted, that word: "2:0,12,1:files".
func parseRequest(text string) (r request, err error) {
	text, r.files = strings.CutSuffix(text, ":files")
	n, setting, _ := strings.Cut(text, ":")
	if r.explorer, err = strconv.Atoi(n); err != nil {
		return r, err
	}
	for s := range strings.SplitSeq(setting, ",") {
		v, err := strconv.Atoi(s)
		if err != nil {
			return r, err
		}
		r.at = append(r.at, v)
	}
	return r, nil
}

// answering returns the id of the kernel and the code by which a page can ask
// this call of Explore for figures when the cell has ended; both are empty if
// nothing will answer.
func answering() (kernel, code string) {
	kernel, program := os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV), keepProgram()
	if kernel == "" || program == "" {
		return "", ""
	}
	code = fmt.Sprintf("!%s=%d:@", question, explorers)
	for _, word := range append([]string{program}, os.Args[1:]...) {
		if strings.Contains(word, "\n") {
			return "", "" // the line would be another
		}
		code += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return kernel, code
}

// programs is how many programs of cells are kept, about 16 MB each.
const programs = 20

// keepProgram returns a path of this program in the kernel's folder, where it
// stays when the next cell takes its place, until the kernel ends or as many
// have come after it; "" if it cannot be kept.
func keepProgram() string {
	dir, self := os.Getenv(protocol.GONB_TMP_DIR_ENV), executable()
	if dir == "" || self == "" {
		return ""
	}
	dir = filepath.Join(dir, "roundoff-programs")
	path := filepath.Join(dir, gonbui.UniqueId())
	if os.MkdirAll(dir, 0o700) != nil || os.Link(self, path) != nil {
		return ""
	}
	removeOldest(dir, programs)
	return path
}

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// removeOldest removes the oldest files of a folder that has more than n.
func removeOldest(dir string, n int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= n {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			files = append(files, i)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for len(files) > n {
		os.Remove(filepath.Join(dir, files[0].Name()))
		files = files[1:]
	}
}
