package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// writeNumbers writes a matrix of float64 and returns its path.
func writeNumbers(t *testing.T, dir, name, shape string, numbers ...float64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, npyFile(dictionary("<f8", "False", shape), numbers), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGEMM(t *testing.T) {
	dir := t.TempDir()
	// The sum 2²³ - 2²³ - ½ - ¼ - ⅛ differs between machines.
	a := writeNumbers(t, dir, "a.npy", "(1, 5)", 4096, -4096, -0.5, -0.25, -0.125)
	b := writeNumbers(t, dir, "b.npy", "(5, 1)", 2048, 2048, 1, 1, 1)
	c := writeNumbers(t, dir, "c.npy", "(1, 1)", 100)
	wide := writeNumbers(t, dir, "wide.npy", "(1, 2)", 1, 2)
	d := filepath.Join(dir, "d.npy")
	for _, tt := range []struct {
		name, args string
		want       float64
	}{
		{"is_Hopper", "", -0.75},
		{"is_Ampere", "--device ampere", -0.5},
		{"is_IEEE", "--device ieee --in bfloat16", -0.875},
		{"is_the_paper", "--device paper", -0.875},
		{"takes_a_device_by_name", "--device cdna2-mfma-bfloat16-binary32 --in bfloat16", -0.875},
		{"mixes_8-bit_formats", "--device blackwell --in e5m2,e5m2", -0.75},
		{"converts_the_result", "--device hopper --in e5m2 --out e4m3 --alpha 3.3", 0},
		{"scales_and_adds", "--alpha 4 --beta 0.5 -c " + c, 47},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append(strings.Fields("gemm "+tt.args), a, b, "-o", d)
			if status := run(t.Context(), args, &stdout, &stderr); status != 0 || stdout.Len()+stderr.Len() > 0 {
				t.Fatalf("status %d, stdout %q, stderr %q", status, stdout.String(), stderr.String())
			}
			data, err := os.ReadFile(d)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := parseMatrix(data, tcore.E4M3); err != nil || len(m.Data) != 1 || m.Data[0] != tt.want {
				t.Errorf("%+v, %v, want %v", m, err, tt.want)
			}
		})
	}
	t.Run("transposes", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"gemm", "-ta", "-tb", b, a, "-o", d}, &stdout, &stderr); status != 0 {
			t.Fatal(stderr.String())
		}
	})
	t.Run("compares", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		run(t.Context(), []string{"gemm", a, b, "-compare", "ieee,ampere"}, &stdout, &stderr)
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		if len(lines) != 4 || !strings.Contains(lines[2], "1 of 1") || !strings.Contains(lines[2], "0.125") || !strings.HasPrefix(lines[3], "ampere-mma") {
			t.Errorf("%s%s", stdout.String(), stderr.String())
		}
	})
	t.Run("refuses_shapes_that_do_not_fit", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		out := filepath.Join(dir, "none.npy")
		if status := run(t.Context(), []string{"gemm", wide, b, "-o", out}, &stdout, &stderr); status != 1 || !strings.Contains(stderr.String(), "do not fit") {
			t.Errorf("status %d, %q", status, stderr.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("a result was written")
		}
	})
	t.Run("refuses_a_product_that_fits_no_memory", func(t *testing.T) {
		const n = 1 << 15
		column := writeNumbers(t, dir, "column.npy", fmt.Sprintf("(%d, 1)", n), make([]float64, n)...)
		rows := writeNumbers(t, dir, "row.npy", fmt.Sprintf("(1, %d)", n), make([]float64, n)...)
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"gemm", column, rows, "-o", d}, &stdout, &stderr)
		if status != 1 || !strings.Contains(stderr.String(), "the product is 32768 × 32768, want at most") {
			t.Errorf("status %d, %q", status, stderr.String())
		}
	})
	t.Run("writes_nothing_when_stopped", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		out := filepath.Join(dir, "stopped.npy")
		if status := run(ctx, []string{"gemm", a, b, "-o", out}, &bytes.Buffer{}, &bytes.Buffer{}); status != 1 {
			t.Errorf("status %d, want 1", status)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("a result was written")
		}
	})
}

// findDevice finds every device by the name that roundoff devices prints.
func TestFindDevice(t *testing.T) {
	for _, d := range devices.All() {
		k, err := question.FindDevice(d.Name, d.A.Name, d.C.Name)
		if err != nil || k.Name != d.Name {
			t.Errorf("%s: %q, %v", d.Name, k.Name, err)
		}
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, name: "hopper"}
	p.set(1, 2)
	p.done()
	if want := "\rhopper [####################....................]  50%\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if q := newProgress(&b, "hopper"); q.w != nil {
		t.Error("a bar where there is no terminal")
	}
}
