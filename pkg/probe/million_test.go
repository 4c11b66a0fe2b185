package probe

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

var whole = flag.Bool("whole", false, "compute a million rows of every instruction that an H100 computed: minutes")

// millions has, for each instruction, the checksum of what gunzip makes of the
// file that this command wrote on an H100:
//
//	roundoff gpu record --rows 1000000 --seed 2 DIR
const millions = "testdata/h100-million.sha256"

// TestMillionRecordedRows writes the rows that an H100 recorded, as the
// emulation computes them: the files are the same, NaN included. Without -whole
// it only looks for all instructions.
func TestMillionRecordedRows(t *testing.T) {
	file, err := os.Open(millions)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sums := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		sums[strings.TrimSuffix(name, ".tcv")] = sum
	}
	hopper := Instructions(9, 0)
	if len(sums) != len(hopper) {
		t.Errorf("%d checksums, want one for each of %d instructions", len(sums), len(hopper))
	}
	if *whole {
		for _, d := range hopper {
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				from := Provenance{GPU: "NVIDIA H100 80GB HBM3, compute capability 9.0", Driver: "for CUDA 13.0",
					Library: "libcuda, PTX compiled by the driver", Date: "2026-11-26", Seed: 2}
				r, w := io.Pipe()
				go func() { w.CloseWithError(writeRows(t.Context(), w, Emulate(d), 1000000, from)) }()
				rows, err := gzip.NewReader(r)
				if err != nil {
					t.Fatal(err)
				}
				h := sha256.New()
				if _, err := io.Copy(h, rows); err != nil {
					t.Fatal(err)
				}
				if got := hex.EncodeToString(h.Sum(nil)); got != sums[d.Name] {
					t.Errorf("%s, want %s", got, sums[d.Name])
				}
			})
		}
	}
}
