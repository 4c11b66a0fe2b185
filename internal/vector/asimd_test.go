package vector

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The words that stand for instructions of arm64 are, as llvm-mc reads them,
// the instructions that the comments after them say.
func TestWordsAreTheInstructionsThatCommentsSay(t *testing.T) {
	disassembler, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("*_arm64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	word := regexp.MustCompile(`(?m)^\tWORD \$(0x[0-9a-f]{8}) // (.+)$`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		written := word.FindAllStringSubmatch(string(source), -1)
		if n := strings.Count(string(source), "WORD"); len(written) != n {
			t.Errorf("%s: %d of %d words have a comment", file, len(written), n)
		}
		var code strings.Builder
		for _, m := range written {
			x := hex(t, m[1])
			fmt.Fprintf(&code, "%#x %#x %#x %#x\n", x&255, x>>8&255, x>>16&255, x>>24)
		}
		cmd := exec.Command(disassembler, "--disassemble", "--triple=aarch64")
		cmd.Stdin = strings.NewReader(code.String())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("%v: %s", err, out)
		}
		read := regexp.MustCompile(`(?m)^\t([^.\s]\S*)\s+(.+)$`).FindAllStringSubmatch(string(out), -1)
		if len(read) != len(written) {
			t.Fatalf("%s: %d instructions are written and %d are read", file, len(written), len(read))
		}
		for i, r := range read {
			if got, want := r[1]+" "+r[2], written[i][2]; got != want {
				t.Errorf("%s: %s is read as %q, want %q", file, written[i][1], got, want)
			}
		}
	}
}
