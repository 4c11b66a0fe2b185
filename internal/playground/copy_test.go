package playground

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/tcvec"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// taken are questions whose answers are copied: a NaN, words of tf32, scales,
// and as many products as fill no block.
var taken = []string{
	cancelling,
	`{"format":"binary16","x":["inf","1"],"y":["0","1"],"c":"0.1"}`,
	`{"format":"tf32","x":["0.1","1e-30","-3"],"y":["0.3","1","7"],"c":"0x3f800001"}`,
	`{"format":"binary64","x":["0.1"],"y":["-0.1"]}`,
	`{"format":"e2m1 × ue4m3 per 16","x":["6","3","1.5"],"y":["0.5","-1","2"],"scale_x":["0.1"],"scale_y":["7"],"c":"1000000"}`,
}

// copied returns the copies of the questions, with their answers.
func copied(t *testing.T, as string) (texts []string, answers []*DotAnswer) {
	for _, question := range taken {
		var q Copy
		if err := json.Unmarshal([]byte(question), &q); err != nil {
			t.Fatal(err)
		}
		q.As = as
		c, err := q.Answer()
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		a, err := q.Dot.Answer()
		if err != nil {
			t.Fatal(err)
		}
		texts, answers = append(texts, c.Text), append(answers, a)
	}
	return texts, answers
}

// The program in Go is formatted, compiles, and prints the bits that the page
// shows.
func TestCopyGo(t *testing.T) {
	texts, answers := copied(t, "go")
	for i, program := range texts {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gofmt", "-l", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s, %v: not formatted:\n%s", out, err, program)
		}
		out, err := exec.Command("go", "run", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, program)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		for _, r := range answers[i].Rows {
			if r.Refused != "" {
				continue
			}
			var device, bits, value string
			var equal bool
			if _, err := fmt.Sscan(lines[0], &device, &bits, &value, &equal); err != nil || device != r.Device || value != r.Result.Value || !equal {
				t.Errorf("%q, want %+v, %v", lines[0], r, err)
			}
			lines = lines[1:]
		}
		if len(lines) > 0 {
			t.Errorf("%d lines too many", len(lines))
		}
	}
}

// The program in Python prints the result, the bits and the error of every row.
func TestCopyPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	texts, answers := copied(t, "python")
	for i, program := range texts {
		cmd := exec.Command(python, "-")
		cmd.Stdin = strings.NewReader(program)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, program)
		}
		lines := strings.Split(string(out), "\n")
		for k, r := range answers[i].Rows {
			if r.Refused != "" {
				continue
			}
			fields := strings.Fields(lines[0])
			lines = lines[1:]
			if len(fields) < 3 || fields[0] != r.Device || fields[2] != r.Result.Bits {
				t.Fatalf("%q, want %+v", fields, r)
			}
			if r.Error == "" {
				continue
			}
			want, _ := parse(r.Error, word(devices.IEEEF64().C))
			if got, err := parse(fields[len(fields)-1], word(devices.IEEEF64().C)); err != nil || got != want {
				t.Errorf("row %d: error %v, %v, want %v", k, got, err, want)
			}
		}
	}
}

var encoded = regexp.MustCompile(`<<END\n([A-Za-z0-9+/=]+)\nEND`)

// The file of the test vector is read, has the device and the bits of the row,
// and meets the check.
func TestCopyVector(t *testing.T) {
	texts, answers := copied(t, "vector")
	for i, text := range texts {
		m := encoded.FindStringSubmatch(text)
		if m == nil {
			t.Fatal(text)
		}
		file, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if tally, err := tcvec.Check(bytes.NewReader(file)); err != nil || tally != (tcvec.Tally{Rows: 1, Graded: 1}) {
			t.Errorf("%+v, %v\n%s", tally, err, text)
		}
		r, err := tcvec.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		d, _ := r.Header.Device()
		row, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, want := range answers[i].Rows {
			found = found || want.Device == d.Name && want.Result.Bits == bits(row.D, d.C) && want.C.Bits == bits(row.C, d.C)
		}
		if !found {
			t.Errorf("%s, %#x: no such row", d.Name, row.D)
		}
	}
}

// Every device has a test vector, and it is found again from its file.
func TestVectorOfEveryDevice(t *testing.T) {
	for _, format := range Formats() {
		for _, d := range having(format) {
			q := Copy{As: "vector", Dot: Dot{Format: format, X: []string{"1"}, Y: []string{"2"}, Device: d.Name}}
			c, err := q.Answer()
			if err != nil {
				t.Fatal(err)
			}
			file, _ := base64.StdEncoding.DecodeString(encoded.FindStringSubmatch(c.Text)[1])
			r, err := tcvec.NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.Header.Device(); err != nil || got.Name != d.Name {
				t.Errorf("%s, %v, want %s", got.Name, err, d.Name)
			}
		}
	}
}

// Data of any size come out of the file as they went in.
func TestStored(t *testing.T) {
	for _, n := range []int{0, 1, 65535, 65536, 200000} {
		data := bytes.Repeat([]byte("tensor"), n/6+1)[:n]
		z, err := gzip.NewReader(bytes.NewReader(stored(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
	}
}
