package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeVectors writes a file of one row on the chip, 4 × (1 × 1) + 0 = d.
func writeVectors(t *testing.T, path, chip string, d float32) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(`{"format": "tcvec1", "name": "x_mma_y", "arch": "` + chip + `", "kind": "T", "K": 4, "a": "fp16", "b": "fp16", ` +
		`"c": "fp32", "count": 1, "rowbytes": 30}` + "\n\x00\x00"))
	z.Write(bytes.Repeat([]byte{0x00, 0x3c}, 8))
	binary.Write(z, binary.LittleEndian, []float32{0, d, d})
	z.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsCheck(t *testing.T) {
	for _, c := range []struct {
		name, chip string
		d          float32
		status     int
		line, last string
	}{
		{"passes", "Volta", 4, 0, "x.tcv.gz 1 0", "rows=1 graded=1 mismatches=0 unsupported=0"},
		{"fails_on_a_mismatch", "Volta", 5, 1, "x.tcv.gz 1 1", "rows=1 graded=1 mismatches=1 unsupported=0"},
		{"fails_on_an_unknown_device", "Fermi", 4, 1, "x.tcv.gz unsupported: ", "rows=0 graded=0 mismatches=0 unsupported=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeVectors(t, filepath.Join(dir, "below", "x.tcv.gz"), c.chip, c.d)
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), []string{"vectors", "check", dir}, &stdout, &stderr); status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, stderr.String())
			}
			lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], c.line) || lines[1] != c.last {
				t.Errorf("%q, want a line with %q and last %q", lines, c.line, c.last)
			}
		})
	}
	t.Run("fails_on_a_file_it_cannot_read", func(t *testing.T) {
		dir := t.TempDir()
		writeVectors(t, filepath.Join(dir, "a.tcv.gz"), "Volta", 4)
		if err := os.WriteFile(filepath.Join(dir, "b.tcv.gz"), []byte("nonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"vectors", "check", dir}, &stdout, &stderr); status != 1 {
			t.Errorf("status %d, want 1", status)
		}
		if !strings.Contains(stdout.String(), "b.tcv.gz unreadable: tcvec: not a gzip file") ||
			!strings.HasSuffix(stdout.String(), "rows=1 graded=1 mismatches=0 unsupported=0\n") {
			t.Errorf("%q", stdout.String())
		}
	})
}
