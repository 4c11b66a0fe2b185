package elsewhere

import (
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// No claim survives another record: each is put to a device or recipe that is
// wrong in one respect, and then differs.
func TestAnotherRecordIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("computes most claims many times")
	}
	bits := func(d tcore.Device, fraction int) tcore.Device {
		core := d.Core.(tcore.Fused)
		core.FractionBits = fraction
		d.Core = core
		return d
	}
	hopper := devices.HopperE4M3()
	for _, test := range []struct {
		name   string
		spoil  func(*Emulation)
		claims []func(Emulation) (Claim, error)
	}{
		{"Hopper is Blackwell", func(e *Emulation) { e.Hopper = devices.BlackwellE4M3() },
			[]func(Emulation) (Claim, error){resultBits, alignedBits, addendBits, addendReader, nearlyTwoPercent, promotion, fastAccumulation, longSums, attention}},
		{"Hopper keeps 14 fraction bits", func(e *Emulation) { e.Hopper = bits(hopper, 14) },
			[]func(Emulation) (Claim, error){alignedBits, nearlyTwoPercent, longSums}},
		{"Hopper keeps 12 fraction bits", func(e *Emulation) { e.Hopper = bits(hopper, 12) },
			[]func(Emulation) (Claim, error){alignedBits, nearlyTwoPercent, longSums}},
		{"Hopper is Ada", func(e *Emulation) { e.Hopper = devices.AdaE4M3() }, []func(Emulation) (Claim, error){alignedBits}},
		{"Ada is Blackwell", func(e *Emulation) { e.Ada = devices.BlackwellE4M3() }, []func(Emulation) (Claim, error){resultBits, addendBits}},
		{"Blackwell is Hopper", func(e *Emulation) { e.Blackwell = hopper }, []func(Emulation) (Claim, error){resultBits, addendBits}},
		{"mma of Hopper is its wgmma", func(e *Emulation) { e.HopperMMA = hopper }, []func(Emulation) (Claim, error){addendBits, addendReader}},
		{"nothing is promoted", func(e *Emulation) { e.Promote = 0 },
			[]func(Emulation) (Claim, error){promotion, fastAccumulation, longSums, attention}},
		{"MXFP8 is rounded up", func(e *Emulation) { e.MXFP8 = quant.MX(tcore.E4M3, quant.RoundUpScale) }, []func(Emulation) (Claim, error){floorScales}},
		{"scales said to be rounded up are not", func(e *Emulation) { e.MXFP8Up = e.MXFP8 }, []func(Emulation) (Claim, error){floorScales}},
		{"both MXFP4 are one", func(e *Emulation) { e.MXFP4 = e.MXFP4Up }, []func(Emulation) (Claim, error){floorScales, twoRecipes}},
	} {
		e := Catalogued()
		test.spoil(&e)
		for _, claim := range test.claims {
			c, err := claim(e)
			switch {
			case err != nil:
				t.Errorf("%s: %v", test.name, err)
			case c.Outcome != Differs:
				t.Errorf("%s: %s still %s: %s", test.name, c.ID, c.Outcome, c.measured())
			}
		}
	}
}

// A machine promotes if it is to, as often as the emulation says.
func TestPromotion(t *testing.T) {
	e := Catalogued()
	e.Promote = 64
	if e.hopper(true).Promote != 64 || e.hopper(false).Promote != 0 {
		t.Errorf("promotion after %d and %d products, want 64 and 0", e.hopper(true).Promote, e.hopper(false).Promote)
	}
}

// What cannot be computed is an error that says what and where.
func TestErrors(t *testing.T) {
	e := Catalogued()
	e.MXFP4.Block.Along = -1
	for _, claim := range []func(Emulation) (Claim, error){floorScales, twoRecipes} {
		if _, err := claim(e); err == nil || !strings.Contains(err.Error(), `recipe "mxe2m1-floor": Block`) {
			t.Errorf("error %v", err)
		}
	}
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "Promote") {
			t.Errorf("panic %q", r)
		}
	}()
	e.Promote = 100 // no whole number of blocks
	longSums(e)
	t.Error("no panic")
}
