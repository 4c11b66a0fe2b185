package devices

import (
	"strconv"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// e8m13 is binary32 with only 13 stored bits of the significand.
var e8m13 = tcore.Format{Name: "e8m13", Precision: 14, Emin: -126, Emax: 127}

// nvidia returns the record of a truncating fused dot-product-add with the
// given number of terms, fraction bits and exponent of a zero. The result is
// rounded to nearest even in binary16, and toward zero in binary32 or, with 13
// fraction bits, in e8m13.
func nvidia(architecture, instruction string, in, out tcore.Format, terms, fractionBits, zeroExponent int) tcore.Device {
	core := tcore.Fused{Terms: terms, FractionBits: fractionBits, Result: out, Rounding: tcore.ToZero, ZeroExponent: zeroExponent}
	switch {
	case out.Equal(tcore.Binary16):
		core.Rounding = tcore.ToNearestEven
	case fractionBits == 13:
		core.Result = e8m13
	}
	return tcore.Device{
		Name:         deviceName(architecture, instruction, in.Name, out.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            in,
		B:            in,
		C:            out,
		Convert:      conversion(in),
		NaN:          allOnes(out),
		Core:         core,
	}
}

// dmma returns the record of an instruction of binary64.
func dmma(architecture, instruction string) tcore.Device {
	d := chain(architecture, instruction, tcore.Binary64)
	d.Core = tcore.Chain{NaN: tcore.FirstOfYCX}
	return d
}

// split returns the emulation of an 8-bit instruction by two instructions of
// device by.
func split(by tcore.Device, in tcore.Format) tcore.Device {
	by.Name = deviceName(by.Architecture, by.Instruction, in.Name, by.C.Name)
	by.Instruction = "mma.m16n8k32 (2 × k16)"
	by.A, by.B = in, in
	by.Core = tcore.Split{By: by.Core.(tcore.Fused)}
	return by
}

// mx returns the block-scaled form of d: a scale of e8m0 on 32 factors.
func mx(d tcore.Device) tcore.Device {
	d.Name = deviceName(d.Architecture, d.Instruction, "mx"+d.A.Name, d.C.Name)
	d.Instruction += ".block32"
	d.Scale, d.ScaleBlock = tcore.E8M0, 32
	return d
}

// fp4 returns the record of the e2m1 instruction of fourfold speed.
func fp4(architecture, instruction string, scale tcore.Format, scaleBlock int) tcore.Device {
	d := nvidia(architecture, instruction, tcore.E2M1, tcore.Binary32, 64, 35, -139)
	d.Name = deviceName(architecture, instruction, "f4"+scale.Name+"x"+strconv.Itoa(scaleBlock), "binary32")
	d.Instruction += ".block" + strconv.Itoa(scaleBlock)
	d.Scale, d.ScaleBlock = scale, scaleBlock
	core := d.Core.(tcore.Fused)
	core.Group = 16
	d.Core = core
	return d
}
