package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// onTensorCores returns the devices for which there is a kernel, and further
// shapes that the catalogue does not contain.
func onTensorCores(t *testing.T) []tcore.Device {
	t.Helper()
	var ds []tcore.Device
	for _, d := range devices.All() {
		if _, err := newTile(d); err == nil {
			ds = append(ds, d)
		}
	}
	for _, s := range []struct {
		d     tcore.Device
		shape string
	}{
		{devices.AmpereF16(), "mma.m16n8k8"}, {devices.AmpereBF16(), "mma.m16n8k8"}, {devices.AmpereTF32(), "mma.m16n8k4"},
		{devices.AdaE4M3(), "mma.m16n8k16"}, {devices.HopperF64(), "mma.m8n8k4"}, {devices.HopperF64(), "mma.m16n8k4"},
		{devices.HopperF64(), "mma.m16n8k8"},
	} {
		s.d.Instruction, s.d.Name = s.shape, s.d.Name+"-"+s.shape
		ds = append(ds, s.d)
	}
	mixed := devices.HopperE4M3()
	mixed.B, mixed.Name = tcore.E5M2, "hopper-wgmma-e4m3-e5m2"
	if len(ds) < 40 {
		t.Fatalf("%d devices have a kernel, want most", len(ds))
	}
	return append(ds, mixed)
}

func TestTile_owns_every_element_once(t *testing.T) {
	for _, d := range onTensorCores(t) {
		t.Run(d.Name, func(t *testing.T) {
			s, err := newTile(d)
			if err != nil {
				t.Fatal(err)
			}
			check := func(name string, bytes, size, rows, cols, elements int, at func(lane, i int) place) {
				owned := make(map[place]bool)
				for lane := range s.lanes {
					for i := range bytes / size / s.lanes {
						p := at(lane, i)
						if owned[p] || p.row < 0 || p.row >= rows || p.col < 0 || p.col >= cols {
							t.Fatalf("%s: lane %d element %d at %v, owned before or outside %d × %d", name, lane, i, p, rows, cols)
						}
						owned[p] = true
					}
				}
				if len(owned) != elements {
					t.Errorf("%s: %d elements owned, want %d", name, len(owned), elements)
				}
			}
			check("A", s.bytesA, s.in, s.m, s.k, s.m*s.k, s.a)
			if s.sharedB {
				offsets := make(map[int]bool)
				for i := range s.n * s.k {
					at := s.sharedOffset(place{i % s.k, i / s.k})
					if at < 0 || at+s.in > s.bytesB || at%s.in != 0 {
						t.Fatalf("B: element %d at byte %d of %d", i, at, s.bytesB)
					}
					offsets[at] = true
				}
				if len(offsets) != s.n*s.k {
					t.Errorf("B: %d places for %d elements", len(offsets), s.n*s.k)
				}
			} else {
				check("B", s.bytesB, s.in, s.k, s.n, s.k*s.n, s.b)
			}
			check("C", s.bytesC, s.out, s.m, s.n, s.bytesC/s.out, s.c)
		})
	}
}

// Elements are where the figures of the PTX ISA manual show them, as T: lane,
// and a, b, c: element.
func TestTile_is_the_manuals(t *testing.T) {
	type want struct {
		lane, i int
		at      place
	}
	for _, c := range []struct {
		d       tcore.Device
		a, b, c want
	}{
		{devices.VoltaF16(), want{17, 2, place{5, 2}}, want{6, 3, place{3, 10}}, want{1, 7, place{3, 5}}},
		{devices.VoltaF16F16(), want{17, 2, place{5, 2}}, want{6, 3, place{3, 10}}, want{17, 7, place{5, 7}}},
		{devices.TuringF16(), want{5, 3, place{9, 3}}, want{5, 1, place{3, 1}}, want{5, 2, place{9, 2}}},
		{devices.AmpereF16(), want{5, 4, place{1, 10}}, want{5, 3, place{11, 1}}, want{5, 3, place{9, 3}}},
		{devices.AmpereTF32(), want{6, 3, place{9, 6}}, want{6, 1, place{6, 1}}, want{6, 0, place{1, 4}}},
		{devices.AdaE4M3(), want{7, 15, place{9, 31}}, want{7, 4, place{28, 1}}, want{7, 1, place{1, 7}}},
		{devices.AmpereF64(), want{31, 0, place{7, 3}}, want{30, 0, place{2, 7}}, want{31, 1, place{7, 7}}},
		{devices.HopperF64(), want{4, 7, place{9, 12}}, want{5, 3, place{13, 1}}, want{4, 2, place{9, 0}}},
		{devices.HopperF16(), want{127, 7, place{63, 15}}, want{}, want{64, 2, place{40, 0}}},
	} {
		s, err := newTile(c.d)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.a(c.a.lane, c.a.i); got != c.a.at {
			t.Errorf("%s: A %+v, got %v", c.d.Name, c.a, got)
		}
		if got := s.b(c.b.lane, c.b.i); !s.sharedB && got != c.b.at {
			t.Errorf("%s: B %+v, got %v", c.d.Name, c.b, got)
		}
		if got := s.c(c.c.lane, c.c.i); got != c.c.at {
			t.Errorf("%s: C %+v, got %v", c.d.Name, c.c, got)
		}
	}
}

// TestPTX_assembles assembles every kernel with ptxas, the assembler of the
// CUDA toolkit, named by $ROUNDOFF_PTXAS or found in $PATH.
func TestPTX_assembles(t *testing.T) {
	ptxas := os.Getenv("ROUNDOFF_PTXAS")
	if ptxas == "" {
		var err error
		if ptxas, err = exec.LookPath("ptxas"); err != nil {
			t.Skip("no ptxas in $PATH and no ROUNDOFF_PTXAS: kernels are not assembled")
		}
	}
	dir := t.TempDir()
	for _, d := range onTensorCores(t) {
		t.Run(d.Name, func(t *testing.T) {
			s, err := newTile(d)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, d.Name+".ptx")
			if err := os.WriteFile(file, []byte(s.ptx()), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(ptxas, "-arch", s.target, "-o", file+".cubin", file).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s\n%s", err, out, s.ptx())
			}
		})
	}
}
