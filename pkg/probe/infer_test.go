package probe

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// unscaled returns the devices of the catalogue that have no scales.
func unscaled() []tcore.Device {
	var ds []tcore.Device
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 {
			ds = append(ds, d)
		}
	}
	return ds
}

// Infer finds the record of every device. Only the exponent of a zero is copied
// from the record where it cannot be measured.
func TestInfer_finds_the_catalogue(t *testing.T) {
	for _, d := range unscaled() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			r, err := Infer(t.Context(), Emulate(d))
			if err != nil {
				t.Fatal(err)
			}
			switch want := d.Core.(type) {
			case tcore.Fused:
				checkFused(t, r, want)
			case tcore.TensorCore: // from left to right, in IEEE arithmetic: a chain
				if r.Core != (tcore.Chain{}) || !r.Explained() {
					t.Errorf("%+v, want a chain", r)
				}
			case tcore.Chain:
				if r.Core != want || !r.Explained() {
					t.Errorf("%+v, want %#v", r, want)
				}
			case tcore.ExactSum:
				if r.Core != want || !r.Explained() {
					t.Errorf("%+v, want %#v", r, want)
				}
			default:
				if r.Explained() {
					t.Errorf("%+v explains %T, which it cannot", r, want)
				}
			}
		})
	}
}

func checkFused(t *testing.T, r Record, want tcore.Fused) {
	t.Helper()
	got, ok := r.Core.(tcore.Fused)
	if !ok {
		t.Fatalf("%+v, want %+v", r, want)
	}
	for _, p := range r.Properties {
		if p.Name == "exponent of zero" && !p.Visible {
			if want.ZeroExponent > got.ZeroExponent && p.Value != "unknown" {
				t.Errorf("exponent of zero %s, want %d", p.Value, want.ZeroExponent)
			}
			got.ZeroExponent = want.ZeroExponent
		}
		if p.Name == "tiny negative" && (!p.Visible || p.Value == "not 0") {
			got.NegativeTiny = want.NegativeTiny
		}
		if p.Name == "alignment" && !p.Visible && want.FractionBits >= got.FractionBits {
			got.FractionBits = want.FractionBits
		}
	}
	got.Result.Name = want.Result.Name
	if got != want || !r.Explained() {
		t.Errorf("%+v, want %+v\n%+v", got, want, r)
	}
}

// Changing one parameter of the emulated silicon changes the record in exactly
// this property.
func TestInfer_finds_what_was_altered(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     tcore.Device
		alter func(*tcore.Fused)
	}{
		{"bits", devices.HopperF16(), func(f *tcore.Fused) { f.FractionBits = 26 }},
		{"fewer_bits", devices.HopperE4M3(), func(f *tcore.Fused) { f.FractionBits = 12; f.Result.Precision = 13 }},
		{"terms", devices.HopperF16(), func(f *tcore.Fused) { f.Terms = 8 }},
		{"two_terms", devices.AmpereBF16(), func(f *tcore.Fused) { f.Terms = 2 }},
		{"rounding", devices.HopperF16(), func(f *tcore.Fused) { f.Rounding = tcore.ToNearestEven }},
		{"odd_rounding", devices.HopperE4M3(), func(f *tcore.Fused) { f.Rounding = tcore.ToOdd }},
		{"rounding_up", devices.AmpereF16F16(), func(f *tcore.Fused) { f.Rounding = tcore.ToPositive }},
		{"result", devices.HopperF16(), func(f *tcore.Fused) { f.Result.Precision = 14 }},
		{"zero", devices.HopperMMAF16F16(), func(f *tcore.Fused) { f.ZeroExponent = -20 }},
		{"sign", devices.HopperTF32(), func(f *tcore.Fused) { f.NegativeTiny = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.d.Core.(tcore.Fused)
			c.alter(&want)
			altered := c.d
			altered.Core = want
			r, err := Infer(t.Context(), Emulate(altered))
			if err != nil {
				t.Fatal(err)
			}
			checkFused(t, r, want)
			builtin, err := Infer(t.Context(), Emulate(c.d))
			if err != nil {
				t.Fatal(err)
			}
			if r.Compare(io.Discard, builtin) == 0 {
				t.Errorf("no difference from the built-in record: %v", r.Properties)
			}
		})
	}
}

func FuzzInfer(f *testing.F) {
	f.Add(uint8(0), uint8(25), uint8(16), uint8(2))
	f.Add(uint8(1), uint8(30), uint8(3), uint8(5))
	f.Fuzz(func(t *testing.T, device, bits, terms, mode uint8) {
		ds := []tcore.Device{devices.HopperF16(), devices.HopperF16F16(), devices.HopperBF16(), devices.HopperE4M3()}
		d := ds[int(device)%len(ds)]
		want := d.Core.(tcore.Fused)
		if want.Terms = 2 << (terms % 4); want.Terms > InstructionK(d) {
			t.Skip()
		}
		want.FractionBits = want.Result.Precision - 1 + int(bits)%12
		want.Rounding = tcore.RoundingMode(mode % 6)
		if want.Terms == 2 && want.FractionBits == want.Result.Precision-1 {
			t.Skip() // sums too short to distinguish all modes
		}
		d.Core = want
		r, err := Infer(t.Context(), Emulate(d))
		if err != nil {
			t.Fatal(err)
		}
		checkFused(t, r, want)
	})
}

func TestInfer_returns_what_the_unit_fails_with(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Infer(ctx, Emulate(devices.HopperF16())); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// scripted is a unit whose results are those of a function and not a sum.
type scripted struct {
	Unit
	dot func(i int) uint64
}

func (u scripted) Dots(_ context.Context, _, _, _, d []uint64) error {
	for i := range d {
		d[i] = u.dot(i)
	}
	return nil
}

func TestInfer_explains_no_nonsense(t *testing.T) {
	for name, dot := range map[string]func(int) uint64{
		"zeros":   func(int) uint64 { return 0 },
		"ones":    func(int) uint64 { return 0x3f800000 },
		"nan":     func(int) uint64 { return 0x7fffffff },
		"counter": func(i int) uint64 { return uint64(i) },
		"noise":   func(i int) uint64 { return uint64(uint32(i+1) * 2654435761) },
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Infer(t.Context(), scripted{Emulate(devices.HopperF16()), dot})
			if err != nil || r.Explained() {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
