package probe

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// gridded computes grids by single dot products, and changes their results.
type gridded struct {
	Unit
	change func(code uint64) uint64
}

func (u gridded) Grid(ctx context.Context, x, y, c, d []uint64) error {
	k := u.K()
	u.Device().GridCodes(k, x, y, c, d)
	for i, code := range d {
		d[i] = u.change(code)
	}
	return ctx.Err()
}

func unchanged(code uint64) uint64 { return code }

// Grids are compared as single dot products are, and of every regime.
func TestVerifyGrids(t *testing.T) {
	shorter := devices.AMXBF16()
	shorter.Core = tcore.EvenOdd{Terms: 16}
	for _, c := range []struct {
		name    string
		silicon tcore.Device
		change  func(code uint64) uint64
		regimes []string // of disagreements, any if empty
	}{
		{"of_the_same", devices.AMXBF16(), unchanged, nil},
		{"of_another_device", shorter, unchanged, []string{""}},
		{"of_another_NaN", devices.AMXBF16(), func(code uint64) uint64 {
			if code == 0x7fc00000 {
				return 0xffc00000
			}
			return code
		}, []string{"rawbits", "specials"}},
		{"of_results_flushed_too_soon", devices.AVX512BF16(), func(code uint64) uint64 {
			if code == 0x00800000 {
				return 0
			}
			return code
		}, []string{"threshold"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := devices.AMXBF16()
			if c.silicon.Core == devices.AVX512BF16().Core {
				d = devices.AVX512BF16()
			}
			count := len(gridRegimes) * gridSide * gridSide
			v, err := VerifyDots(t.Context(), gridded{Emulate(c.silicon), c.change}, d, count, 9)
			if err != nil || v.Dots != count || (v.Agreed == v.Dots) != (c.regimes == nil) || (v.First == nil) != (c.regimes == nil) {
				t.Fatalf("%+v, %v", v, err)
			}
			for i, r := range v.Regimes {
				if r.Dots != gridSide*gridSide || r.Name != gridRegimes[i] {
					t.Errorf("%+v, want %d of %s", r, gridSide*gridSide, gridRegimes[i])
				}
			}
			if nan := v.Regimes[5].NaN; nan < 20 {
				t.Errorf("%d NaN of raw bits, want more", nan)
			}
			if e := v.First; e != nil {
				if c.regimes[0] != "" && !slices.Contains(c.regimes, e.Regime) {
					t.Errorf("found in %s, want %v", e.Regime, c.regimes)
				}
				if got := c.change(c.silicon.DotCodes(e.X, e.Y, e.C)); got != e.Got || e.Want != d.DotCodes(e.X, e.Y, e.C) || got == e.Want {
					t.Errorf("%+v are not the results", e)
				}
				again, err := VerifyDots(t.Context(), gridded{Emulate(c.silicon), c.change}, d, count, 9)
				if err != nil || again.First == nil || again.First.Index != e.Index || again.Agreed != v.Agreed {
					t.Errorf("%+v, %v the second time, want %+v", again, err, v)
				}
				if s := e.String(); !strings.Contains(s, "regime "+e.Regime) {
					t.Errorf("no regime in %s", s)
				}
			}
		})
	}
}

// The limits of grids: one grid at least, a whole number of them, and an end.
func TestVerifyGrids_ends(t *testing.T) {
	u := gridded{Emulate(devices.AVX512BF16()), unchanged}
	if v, err := Verify(t.Context(), u, u.Device(), 0, 1); err != nil || v.Dots != gridSide*gridSide {
		t.Errorf("%+v, %v, want one grid", v, err)
	}
	if v, err := VerifyDots(t.Context(), u, u.Device(), gridSide*gridSide+1, 1); err != nil || v.Dots != 2*gridSide*gridSide {
		t.Errorf("%+v, %v, want two grids", v, err)
	}
	if v, err := VerifyDots(t.Context(), Emulate(devices.AVX512BF16()), u.Device(), 4001, 1); err != nil || v.Dots != 8000 || v.Regimes != nil {
		t.Errorf("%+v, %v, want two batches of single dot products", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := VerifyDots(ctx, u, u.Device(), 1e9, 1); !errors.Is(err, context.Canceled) || v.Dots > 0 {
		t.Errorf("%+v, %v, want that it was cancelled", v, err)
	}
	panics.Want(t, "probe: VerifyDots: count = 0, want at least 1", func() { VerifyDots(t.Context(), u, u.Device(), 0, 1) })
}

// The two regimes of grids alone meet what they are for: results of the least
// normal number and flushed ones, and sums that c cancels to a few units in its
// last place.
func TestGridRegimes(t *testing.T) {
	for _, d := range []tcore.Device{devices.AMXBF16(), devices.AVX512BF16()} {
		k := InstructionK(d)
		results := func(name string) (g grid, z []float64) {
			g = newGridSampler(d, 3, 1).grid(slices.Index(gridRegimes, name), k)
			codes := make([]uint64, len(g.c))
			d.GridCodes(k, g.x, g.y, g.c, codes)
			for _, code := range codes {
				z = append(z, d.C.Decode(code))
			}
			return g, z
		}
		least, flushed := 0, 0
		g, z := results("threshold")
		for i, v := range z {
			if math.Abs(v) == 0x1p-126 {
				least++
			}
			exact := d.C.Decode(g.c[i])
			for l := range k {
				exact += d.A.Decode(g.x[i/gridSide*k+l]) * d.B.Decode(g.y[i%gridSide*k+l])
			}
			if v == 0 && exact != 0 {
				flushed++
			}
		}
		if n := len(z); least < n/200 || flushed < n/50 {
			t.Errorf("%s: %d least numbers and %d flushed of %d, want more", d.Name, least, flushed, n)
		}
		g, z = results("opposite")
		zeros, small := 0, 0
		for i, v := range z {
			if v == 0 {
				zeros++
			} else if math.Abs(v) <= 4*0x1p-23*math.Abs(d.C.Decode(g.c[i])) {
				small++
			}
		}
		if n := len(z); zeros < n/10 || small < n/4 {
			t.Errorf("%s: %d zeros and %d small sums of %d, want more", d.Name, zeros, small, n)
		}
	}
}
