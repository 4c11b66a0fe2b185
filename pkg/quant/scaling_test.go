package quant

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// For every significand of amax, the three ways to a round-up scale that
// libraries go give the exact one, and the way by a logarithm is too small for
// few.
func TestRoundUpScalesOfAllSignificands(t *testing.T) {
	if testing.Short() {
		t.Skip("2^23 numbers, three formats")
	}
	for _, test := range []struct {
		f     tcore.Format
		wrong int // of the logarithm
	}{{tcore.E4M3, 2}, {tcore.E5M2, 4}, {tcore.E2M1, -1}} {
		f, qmax := test.f, float32(test.f.Max())
		wrong := 0
		for bits := range uint32(1 << 23) {
			amax := math.Float32frombits(127<<23 | bits)
			exact := math.Ilogb(float64(amax) / test.f.Max()) // the quotient in binary64 is not rounded to a power of two
			if math.Ldexp(1, exact)*test.f.Max() < float64(amax) {
				exact++
			}
			want := math.Ldexp(1, exact)
			for _, q := range []Quotient{AmaxOverMax, AmaxTimesInverse} {
				if got := Up.of(q.of(amax, qmax, f, 1), f, false); got != want {
					t.Fatalf("%s, amax %x, quotient %d: scale %v, want %v", f.Name, amax, q, got, want)
				}
			}
			if got := 1 / Down.of(MaxOverAmax.of(amax, qmax, f, 1), f, false); got != want {
				t.Fatalf("%s, amax %x: inverse of the inverse scale %v, want %v", f.Name, amax, got, want)
			}
			if UpByLog.of(AmaxOverMax.of(amax, qmax, f, 1), f, false) != want {
				wrong++
			}
		}
		if test.wrong >= 0 && wrong != test.wrong {
			t.Errorf("%s: the logarithm is wrong for %d significands, want %d", f.Name, wrong, test.wrong)
		}
	}
}

// A floor scale by a logarithm in binary32 is wrong just below powers of two,
// the more the greater the exponent.
func TestFloorScalesByLogarithm(t *testing.T) {
	f := tcore.E4M3
	for e, want := range map[int]int{10: 5, 20: 11, 60: 22, 100: 44} {
		wrong, amax := 0, float32(math.Ldexp(1, e))
		for range 1000 {
			amax = math.Nextafter32(amax, 0)
			if v := AmaxOverPower.of(amax, 448, f, 1); DownByLog.of(v, f, true) != Down.of(v, f, true) {
				wrong++
			}
		}
		if wrong != want {
			t.Errorf("2^%d: %d numbers below it are wrong, want %d", e, wrong, want)
		}
	}
}

// EvenScale is the floor of the exponent of amax as it would be rounded to the
// significand of an element, ties up.
func TestEvenScale(t *testing.T) {
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.E2M1} {
		wide := tcore.Format{Name: "wide", Precision: f.Precision, Emin: -126, Emax: 127}
		for bits := uint32(127 << 23); bits < 129<<23; bits += 1013 {
			amax := math.Float32frombits(bits)
			r := MX(f, EvenScale)
			got := r.Scale.scale(amax, r.qmax(), f, 1)
			want := math.Ldexp(1, math.Ilogb(wide.Round(float64(amax), tcore.ToNearestAway))-f.Emax)
			if float64(got) != want {
				t.Fatalf("%s, amax %x: %v, want %v", f.Name, amax, got, want)
			}
		}
	}
}

// The scale of a block of NVFP4 is that of the order of operations: another
// order gives another for some of the bfloat16 numbers.
func TestScalesOfBlocksInTheirOrder(t *testing.T) {
	te, ao := NVFP4(Vector16), TorchaoNVFP4(true)
	differ := 0
	for tensor := float32(1); tensor < 2; tensor += 0x1p-7 {
		inverse, scale := te.Tensor.scale(tensor, te.tensorMax(), te.element(), 1), ao.Tensor.scale(tensor, ao.tensorMax(), ao.element(), 1)
		for bits := math.Float32bits(tensor) - 8<<23; bits <= math.Float32bits(tensor); bits += 1 << 16 {
			amax := math.Float32frombits(bits)
			sixth := float32(1) / 6
			product := inverse * sixth
			want := e4m3(amax * product)
			if got := te.Scale.scale(amax, 6, te.element(), inverse); float64(got) != want {
				t.Fatalf("%s, tensor %x, block %x: %v, want %v", te.Name, tensor, amax, got, want)
			}
			other := amax * inverse
			if e4m3(other*sixth) != want {
				differ++
			}
			quotient := amax / 6
			if got, want := ao.Scale.scale(amax, 6, ao.element(), scale), e4m3(max(quotient/scale, 0x1p-6)); float64(got) != want {
				t.Fatalf("%s, tensor %x, block %x: %v, want %v", ao.Name, tensor, amax, got, want)
			}
		}
	}
	if differ == 0 {
		t.Error("another order of operations gives the same scales: the test shows nothing")
	}
}
