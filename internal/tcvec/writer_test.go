package tcvec

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Every device is found from the header written for it, and its rows are read
// as they were written.
func TestWriter_is_read_back(t *testing.T) {
	for _, d := range slices.Concat(devices.All(), devices.Integers()) {
		k := max(8, 2*d.ScaleBlock)
		for _, kind := range []string{"silicon", "T"} {
			t.Run(d.Name+"/"+kind, func(t *testing.T) {
				h := HeaderOf(d, kind, k, 3)
				if got, err := h.Device(); err != nil || got.Name != d.Name {
					t.Fatalf("%s, %v, want %s", got.Name, err, d.Name)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				var rows []Row
				for i := range h.Count {
					r := h.newRow()
					r.Flags, r.Regime = byte(i), 7
					for k := range r.A {
						r.A[k], r.B[k] = rng.Uint64()>>(64-d.A.Bits()), rng.Uint64()>>(64-d.B.Bits())
					}
					for k := range r.ScaleA {
						r.ScaleA[k], r.ScaleB[k] = rng.Uint64()>>(64-d.Scale.Bits()), rng.Uint64()>>(64-d.Scale.Bits())
					}
					r.C, r.D, r.Second = rng.Uint64()>>(64-d.C.Bits()), 1, 2
					rows = append(rows, r)
				}
				var b bytes.Buffer
				w, err := NewWriter(&b, h, Provenance{GPU: "a chip", Seed: 1<<64 - 1})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range rows {
					if err := w.Write(r); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				r, err := NewReader(&b)
				if err != nil || r.Header != h {
					t.Fatalf("%+v, %v, want %+v", r, err, h)
				}
				for _, want := range rows {
					if got, err := r.Next(); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("%v, %v, want %v", got, err, want)
					}
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("%v after the last row", err)
				}
			})
		}
	}
}

func TestWriter_refuses(t *testing.T) {
	h := HeaderOf(devices.HopperF16(), "silicon", 16, 2)
	w, err := NewWriter(io.Discard, h, Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "0 rows written, want 2") {
		t.Errorf("rows missing: %v", err)
	}
	if _, err := NewWriter(io.Discard, h, Provenance{GPU: strings.Repeat("x", maxHeader)}); err == nil {
		t.Error("a header that cannot be read back: no error")
	}
	h.RowBytes++
	if _, err := NewWriter(io.Discard, h, Provenance{}); err == nil {
		t.Error("a wrong row size: no error")
	}
	for name, f := range map[string]func(){
		"scales":    func() { HeaderOf(devices.BlackwellNVF4(), "T", 40, 1) },
		"half_byte": func() { HeaderOf(devices.BlackwellE2M1(), "T", 3, 1) },
		"short_row": func() { w.Write(Row{A: make([]uint64, 16), B: make([]uint64, 15)}) },
		"no_scales": func() { w.Write(Row{A: make([]uint64, 16), B: make([]uint64, 16), ScaleA: make([]uint64, 1)}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "tcvec: ") {
					t.Errorf("panic %q", s)
				}
			}()
			f()
		})
	}
}
