package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// fakeGPU computes whole tiles with the emulation, from the contents of the
// lanes' registers.
type fakeGPU struct {
	d      tcore.Device
	fail   error
	open   int
	blocks []int
}

func (g *fakeGPU) Load(ptx, name string) (Program, error) {
	if g.fail != nil {
		return nil, g.fail
	}
	if !strings.Contains(ptx, ".entry "+name+"(") {
		return nil, fmt.Errorf("no kernel %s", name)
	}
	g.open++
	return g, nil
}

func (g *fakeGPU) Close() error { g.open--; return nil }

func (g *fakeGPU) Launch(_ context.Context, blocks, threads int, in [][]byte, out []byte) error {
	t, err := newTile(g.d)
	if err != nil || threads != t.lanes || len(in) != 3 {
		return fmt.Errorf("%d threads, %d arguments, %v", threads, len(in), err)
	}
	g.blocks = append(g.blocks, blocks)
	for i := range blocks {
		g.multiply(t, in[0][i*t.bytesA:], in[1][i*t.bytesB:], in[2][i*t.bytesC:], out[i*t.bytesC:])
	}
	return g.fail
}

// multiply computes all elements of D that a lane stores, not only the
// diagonal.
func (g *fakeGPU) multiply(t tile, a, b, c, d []byte) {
	x, y := make([][]uint64, t.m), make([][]uint64, t.n)
	for i := range x {
		x[i] = make([]uint64, t.k)
	}
	for j := range y {
		y[j] = make([]uint64, t.k)
	}
	for lane := range t.lanes {
		for i := range t.bytesA / t.in / t.lanes {
			p := t.a(lane, i)
			x[p.row][p.col] = get(a[(lane*(t.bytesA/t.in/t.lanes)+i)*t.in:], t.in) >> t.shiftA
		}
		for i := range t.bytesB / t.in / t.lanes {
			if !t.sharedB {
				p := t.b(lane, i)
				y[p.col][p.row] = get(b[(lane*(t.bytesB/t.in/t.lanes)+i)*t.in:], t.in) >> t.shiftB
			}
		}
	}
	// In shared memory: 16 bytes of K of column 0, then of column 1, up to column
	// 7; then the next 16 bytes of each.
	for at := 0; t.sharedB && at < t.bytesB; at += t.in {
		y[at/16%8][(at/128*16+at%16)/t.in] = get(b[at:], t.in)
	}
	for lane := range t.lanes {
		each := t.bytesC / t.out / t.lanes
		for i := range each {
			p, at := t.c(lane, i), (lane*each+i)*t.out
			put(d[at:], g.d.DotCodes(x[p.row], y[p.col], get(c[at:], t.out)), t.out)
		}
	}
}

// Packed into registers, lanes and tiles and unpacked again, every instruction
// gives the results of the device.
func TestSilicon_packs_what_it_unpacks(t *testing.T) {
	for _, d := range onTensorCores(t) {
		t.Run(d.Name, func(t *testing.T) {
			g := &fakeGPU{d: d}
			u, err := OnGPU(g, d)
			if err != nil {
				t.Fatal(err)
			}
			if u.K() != InstructionK(d) {
				t.Errorf("K = %d, want %d", u.K(), InstructionK(d))
			}
			v, err := compare(t.Context(), u, d, NewSampler(d, 3), 77) // the last tile is not full
			if err != nil || v.Agreed != 77 {
				t.Errorf("%+v, %v", v, err)
			}
			if err := u.Close(); err != nil || g.open != 0 {
				t.Errorf("%v, %d kernels open", err, g.open)
			}
			if u.Close() == nil || u.Dots(t.Context(), nil, nil, nil, nil) == nil {
				t.Error("a closed unit gives no error")
			}
		})
	}
}

func TestSilicon_launches_parts_of_large_batches(t *testing.T) {
	g := &fakeGPU{d: devices.TuringF16F16()}
	u, err := OnGPU(g, g.d)
	if err != nil {
		t.Fatal(err)
	}
	n := 1<<17 + 9
	d := make([]uint64, n)
	if testing.Short() {
		t.Skip("a large batch")
	}
	if err := u.Dots(t.Context(), make([]uint64, n*8), make([]uint64, n*8), make([]uint64, n), d); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(g.blocks) != "[16384 2]" {
		t.Errorf("tiles %v, want [16384 2]", g.blocks)
	}
}

func TestSilicon_stops_before_a_launch(t *testing.T) {
	g := &fakeGPU{d: devices.HopperF16()}
	u, err := OnGPU(g, g.d)
	if err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	err = u.Dots(over, make([]uint64, 16), make([]uint64, 16), make([]uint64, 1), make([]uint64, 1))
	if !errors.Is(err, context.Canceled) || len(g.blocks) > 0 {
		t.Errorf("%v, %d launches", err, len(g.blocks))
	}
}

func TestSilicon_tells_failures(t *testing.T) {
	no := errors.New("no")
	if _, err := OnGPU(&fakeGPU{fail: no}, devices.HopperF16()); !errors.Is(err, no) || !strings.Contains(err.Error(), "wgmma") {
		t.Errorf("loading: %v", err)
	}
	for _, d := range []tcore.Device{devices.BlackwellF16(), devices.CDNA3F16(), devices.IEEEF32(), devices.RTXBlackwellNVF4()} {
		if _, err := OnGPU(&fakeGPU{}, d); err == nil {
			t.Errorf("%s has a kernel", d.Name)
		}
	}
	g := &fakeGPU{d: devices.HopperF16()}
	u, err := OnGPU(g, g.d)
	if err != nil {
		t.Fatal(err)
	}
	g.fail = no
	if err := u.Dots(t.Context(), make([]uint64, 16), make([]uint64, 16), make([]uint64, 1), make([]uint64, 1)); !errors.Is(err, no) {
		t.Errorf("launch: %v", err)
	}
}

func TestInstructions(t *testing.T) {
	for _, c := range []struct{ major, minor, want int }{
		{7, 0, 2}, {7, 5, 2}, {8, 0, 5}, {8, 6, 5}, {8, 9, 9}, {9, 0, 17}, {10, 0, 9}, {12, 0, 13}, {6, 1, 0}, {11, 0, 0},
	} {
		if got := Instructions(c.major, c.minor); len(got) != c.want {
			t.Errorf("%d.%d: %d instructions, want %d", c.major, c.minor, len(got), c.want)
		}
	}
}
