package vector

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The bytes of instructions that the assembler has no names for are, as objdump
// reads them, the instructions that the comments before them say.
func TestBytesAreTheInstructionsThatCommentsSay(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip(err)
	}
	source, err := os.ReadFile("half_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`// (\S+) Z(\d+), Z(\d+), Z(\d+)\n\tLONG +\$(\S+)\n\tWORD +\$(\S+)`).FindAllStringSubmatch(string(source), -1)
	var code []byte
	for _, m := range written {
		code = binary.LittleEndian.AppendUint32(code, hex(t, m[5]))
		code = binary.LittleEndian.AppendUint16(code, uint16(hex(t, m[6])))
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", file).CombinedOutput()
	if err != nil {
		t.Skipf("%v: %s", err, out)
	}
	if strings.Contains(string(out), "(bad)") {
		t.Skip("objdump does not know AVX512-FP16")
	}
	read := regexp.MustCompile(`\t(v\S+) +%zmm(\d+),%zmm(\d+),%zmm(\d+)`).FindAllStringSubmatch(string(out), -1)
	if len(read) != len(written) || len(read) != 28 || strings.Count(string(source), "LONG") != 28 {
		t.Fatalf("%d instructions are written and %d are read, want 28", len(written), len(read))
	}
	for i, r := range read {
		if w := written[i]; strings.ToLower(strings.Join(w[1:5], " ")) != strings.Join(r[1:5], " ") {
			t.Errorf("%v is read as %v", w[1:5], r[1:5])
		}
	}
}

// hex returns a number that begins with 0x.
func hex(t *testing.T, s string) uint32 {
	x, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(x)
}
