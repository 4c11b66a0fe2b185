package bound

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Of positive numbers a Hopper loses 41 % in the mean, 0.05 % if sums leave it
// every 128 products. The drift that the bound tells apart is no less, and less
// than the bound.
func TestDriftIsTheMeanOfErrors(t *testing.T) {
	for promote, want := range map[int]float64{0: 0.41, 128: 5e-4} {
		k := Problem{M: 16, N: 16, K: 32768, Machine: tcore.Machine{Device: devices.HopperE4M3(), Promote: promote}, X: Uniform(0, 1), Y: Uniform(0, 1)}
		lost := -measured(k).Backward
		p, err := Predict(k)
		if err != nil || math.Abs(lost/want-1) > 0.03 || math.Abs(-p.Backward/lost-1) > 0.1 {
			t.Errorf("every %d: %v lost, want %v, predicted %v, %v", promote, lost, want, -p.Backward, err)
		}
		b := TruncatedRandomData.result(k, at99, 0, false)
		if drift := b.Parts.Drift; !b.Holds || !(lost < drift && drift < b.Constant && drift < 3.5*lost) {
			t.Errorf("every %d: %v lost, drift %v of %v", promote, lost, drift, b.Constant)
		}
	}
}

// The parts add up to the constant of every bound, and none is negative. Only
// the bounds that tell a drift apart have one: not for symmetric data, and not
// on machines that round to nearest.
func TestPartsAddUp(t *testing.T) {
	told, all := 0, unlike(devices.All())
	if testing.Short() {
		all = []tcore.Device{devices.HopperE4M3(), devices.HopperF16(), devices.BlackwellE4M3F16(), devices.CDNA2F16(), devices.CDNA3F16(), devices.IEEEF16(), devices.BlackwellNVF4()}
	}
	for _, d := range all {
		for _, dist := range []Distribution{{}, Uniform(0, 1), Normal(0, 1)} {
			k := Problem{M: 16, N: 16, K: 1000, Machine: tcore.Machine{Device: d, Promote: 256}, X: dist, Y: dist, Represented: d.ScaleBlock == 0 && d.C.Precision <= 24}
			results, err := Evaluate(k, at99)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				p := r.Parts
				if x := r.Constant; x > 0 && !math.IsInf(x, 1) && !(math.Abs(p.Sum()/x-1) < 1e-12 && min(p.Conversion, p.Drift, p.Accumulation, p.Merging, p.Storing) >= 0) {
					t.Errorf("%s, %v, %s: parts %+v of %v", d.Name, dist, r.Bound, p, x)
				}
				if p.Drift == 0 {
					continue
				}
				told++
				if r.Bound != TruncatedRandomData.Name || dist.Mean() == 0 || !k.aligns() {
					t.Errorf("%s, %v, %s: a drift of %v", d.Name, dist, r.Bound, p.Drift)
				}
			}
		}
	}
	if told < 3 {
		t.Errorf("%d drifts are told", told)
	}
}

// unlike returns the devices without those that compute as one before them.
func unlike(all []tcore.Device) (some []tcore.Device) {
	seen := map[tcore.Device]bool{}
	for _, d := range all {
		z := d
		z.Name, z.Architecture, z.Instruction, z.NaN = "", "", "", 0
		if !seen[z] {
			some = append(some, d)
		}
		seen[z] = true
	}
	return some
}

// aligns reports whether the device cuts bits off products.
func (k Problem) aligns() bool {
	_, fused := k.Device.Core.(tcore.Fused)
	return fused
}

// The part that drifts is that of the chains in the whole, and none of no
// bound.
func TestPartsDrifting(t *testing.T) {
	p := Parts{Accumulation: 2, Merging: 1}
	if got := p.drifting(Value{Constant: 4, Drift: 1}); got != (Parts{Drift: 0.5, Accumulation: 1.5, Merging: 1}) || got.Sum() != p.Sum() {
		t.Errorf("%+v", got)
	}
	for _, v := range []Value{{Constant: 4}, {Constant: math.Inf(1), Drift: 1}, plain(3)} {
		if got := p.drifting(v); got != p {
			t.Errorf("%+v of %+v", got, v)
		}
	}
	if v := (Value{Constant: 3, Absolute: 6}).drifting(2); v.Drift != 1 {
		t.Errorf("%+v", v)
	}
	if name, share := (Parts{Drift: 3, Accumulation: 1}).Largest(); name != "drift" || share != 0.75 {
		t.Errorf("%s, %v", name, share)
	}
}
