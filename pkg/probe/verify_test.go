package probe

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/tcvec"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func TestVerify(t *testing.T) {
	altered := func(f func(*tcore.Fused)) tcore.Device {
		d := devices.HopperF16()
		core := d.Core.(tcore.Fused)
		f(&core)
		d.Core = core
		return d
	}
	for _, c := range []struct {
		name    string
		silicon tcore.Device
		agrees  bool
	}{
		{"finds_nothing_in_the_same", devices.HopperF16(), true},
		{"finds_a_bit_more", altered(func(f *tcore.Fused) { f.FractionBits = 26 }), false},
		{"finds_shorter_blocks", altered(func(f *tcore.Fused) { f.Terms = 8 }), false},
		{"finds_another_rounding", altered(func(f *tcore.Fused) { f.Rounding = tcore.ToNearestEven }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Verify(t.Context(), Emulate(c.silicon), devices.HopperF16(), 0, 7)
			if err != nil || v.Dots != 4000 || (v.First == nil) != c.agrees || (v.Agreed == v.Dots) != c.agrees {
				t.Fatalf("%+v, %v", v, err)
			}
			if c.agrees {
				return
			}
			e := v.First
			if got := c.silicon.DotCodes(e.X, e.Y, e.C); got != e.Got || e.Want != devices.HopperF16().DotCodes(e.X, e.Y, e.C) || got == e.Want {
				t.Errorf("%+v are not the results", e)
			}
			if s := e.String(); !strings.Contains(s, "regime "+e.Regime) || !strings.Contains(s, "= block 0") {
				t.Errorf("no trace in %s", s)
			}
		})
	}
}

func TestVerify_takes_the_time_it_is_given(t *testing.T) {
	const limit = 100 * time.Millisecond
	start := time.Now()
	v, err := Verify(t.Context(), Emulate(devices.VoltaF16()), devices.VoltaF16(), limit, 1)
	if took := time.Since(start); err != nil || took < limit || v.Dots < 4000 || v.Agreed != v.Dots {
		t.Errorf("%+v, %v after %v", v, err, took)
	}
}

func TestVerify_stops_with_its_context(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Verify(ctx, Emulate(devices.HopperF16()), devices.HopperF16(), time.Hour, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// The index of the first disagreement counts the dot products of all earlier
// batches.
func TestVerdict_counts_on(t *testing.T) {
	v := Verdict{Dots: 10, Agreed: 10}
	v.add(Verdict{Dots: 10, Agreed: 9, First: &Disagreement{Index: 3}})
	v.add(Verdict{Dots: 10, Agreed: 8, First: &Disagreement{Index: 0}})
	if v.Dots != 30 || v.Agreed != 27 || v.First.Index != 13 {
		t.Errorf("%+v", v)
	}
}

func TestWriteVectors_are_checked_by_the_reader(t *testing.T) {
	for _, d := range unscaled() {
		t.Run(d.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.tcv.gz")
			if err := WriteVectors(t.Context(), path, Emulate(d), 50, Provenance{Emulated: d.Name, Seed: 5}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n, err := tcvec.Check(bytes.NewReader(data))
			if err != nil || n != (tcvec.Tally{Rows: 50, Graded: 50}) {
				t.Errorf("%+v, %v", n, err)
			}
			again := path + "2"
			if err := WriteVectors(t.Context(), again, Emulate(d), 50, Provenance{Emulated: d.Name, Seed: 5}); err != nil {
				t.Fatal(err)
			}
			if same, _ := os.ReadFile(again); !bytes.Equal(same, data) {
				t.Error("the same seed gives another file")
			}
		})
	}
}

// If another device computed the vectors, as when silicon differs from its
// record, they contain that device's results and not those of the header's
// device.
func TestWriteVectors_keep_what_the_unit_computed(t *testing.T) {
	d := devices.HopperF16()
	core := d.Core.(tcore.Fused)
	core.FractionBits = 24
	d.Core = core
	path := filepath.Join(t.TempDir(), "x.tcv.gz")
	if err := WriteVectors(t.Context(), path, Emulate(d), 1000, Provenance{GPU: "altered"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := tcvec.Check(f); err != nil || n.Mismatches == 0 || n.Graded != 1000 {
		t.Errorf("%+v, %v, want mismatches", n, err)
	}
}

// A silent unit computes nothing: its results are what the memory contained
// before.
type silent struct {
	Unit
	left uint64
}

func (s silent) Dots(_ context.Context, _, _, _, d []uint64) error {
	for i := range d {
		d[i] = s.left
	}
	return nil
}

// No vectors are written for a unit that did not compute, whatever the memory
// of its results contained: zeros, NaNs, or a number.
func TestWriteVectors_refuses_what_was_not_computed(t *testing.T) {
	for _, d := range unscaled() {
		for _, left := range []float64{0, math.NaN(), 1} {
			dir := t.TempDir()
			u := silent{Emulate(d), d.C.Encode(left, tcore.ToNearestEven)}
			err := WriteVectors(t.Context(), filepath.Join(dir, "x.tcv.gz"), u, 200, Provenance{GPU: "silent"})
			if err == nil || !strings.Contains(err.Error(), d.Name+" did not compute") {
				t.Errorf("%s, %v: error %v", d.Name, left, err)
			}
			if files, _ := os.ReadDir(dir); len(files) > 0 {
				t.Errorf("%v left behind", files)
			}
		}
	}
}

func TestWriteVectors_leaves_nothing_when_it_fails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.tcv.gz")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WriteVectors(ctx, path, Emulate(devices.HopperF16()), 50, Provenance{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%v left behind", files)
	}
	if err := WriteVectors(t.Context(), filepath.Join(dir, "no", "x"), Emulate(devices.HopperF16()), 1, Provenance{}); err == nil {
		t.Error("a folder that is not there: no error")
	}
}

// Every regime draws codes that its format has, with the property that its name
// states.
func TestDraw(t *testing.T) {
	for _, d := range unscaled() {
		s := NewSampler(d, 11)
		x, y := make([]uint64, 32), make([]uint64, 32)
		distinct := make(map[int]map[uint64]bool)
		for i := range 400 {
			regime := i % len(Regimes)
			c := s.Draw(regime, x, y)
			d.C.Decode(c)
			if distinct[regime] == nil {
				distinct[regime] = make(map[uint64]bool)
			}
			zeros := 0
			for k := range x {
				u, v := number(d.A, x[k]), number(d.B, y[k])
				distinct[regime][x[k]] = true
				if code(d.A, u) != x[k] && u == u || code(d.B, v) != y[k] && v == v {
					t.Fatalf("%s, %s: %#x is %v, %#x is %v", d.Name, Regimes[regime], x[k], u, y[k], v)
				}
				if u == 0 {
					zeros++
				}
				if regime == 4 && (u >= d.A.MinNormal() || u <= -d.A.MinNormal()) {
					t.Fatalf("%s: %v is not subnormal", d.Name, u)
				}
			}
			if regime == 9 && zeros < 8 {
				t.Errorf("%s: %d zeros of 32", d.Name, zeros)
			}
		}
		for regime, codes := range distinct {
			if least := min(4, 1<<(d.A.Precision-1)); len(codes) < least {
				t.Errorf("%s, %s: %d codes, want %d", d.Name, Regimes[regime], len(codes), least)
			}
		}
	}
}

func TestPanics(t *testing.T) {
	u := Emulate(devices.HopperF16())
	one := make([]uint64, 1)
	for want, f := range map[string]func(){
		"Emulate: blackwell":      func() { Emulate(devices.BlackwellNVF4()) },
		"Dots: x, y, c, d have 1": func() { u.Dots(t.Context(), one, one, one, one) },
		"Draw: regime = 10":       func() { NewSampler(devices.HopperF16(), 1).Draw(10, one, one) },
		"Draw: x has 1":           func() { NewSampler(devices.HopperF16(), 1).Draw(0, one, nil) },
		"count = -1":              func() { WriteVectors(t.Context(), "x", u, -1, Provenance{}) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.Contains(s, want) || !strings.HasPrefix(s, "probe: ") {
					t.Errorf("panic %q, want %q", s, want)
				}
			}()
			f()
		}()
	}
}
