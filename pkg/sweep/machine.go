package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Machine is a product as a library builds it on a device, under a short name.
type Machine struct {
	Name string
	tcore.Kernel
}

// The machines that have short names. Paper rounds to nearest; all others but IEEE align, cut
// off and truncate.
var (
	Paper          = Machine{"paper", tcore.Kernel{Device: tcore.PaperCoreF32}}
	Volta          = Machine{"volta", tcore.Kernel{Device: tcore.VoltaF16}}
	Ampere         = Machine{"ampere", tcore.Kernel{Device: tcore.AmpereF16}}
	Hopper         = Machine{"hopper", tcore.Kernel{Device: tcore.HopperF16}}
	HopperE4M3     = Machine{"hopper-e4m3", tcore.Kernel{Device: tcore.HopperE4M3}}
	IEEE           = Machine{"ieee", tcore.Kernel{Device: tcore.IEEEF16}}
	AmpereBF16     = Machine{"ampere-bf16", tcore.Kernel{Device: tcore.AmpereBF16}}
	AmpereTF32     = Machine{"ampere-tf32", tcore.Kernel{Device: tcore.AmpereTF32}}
	HopperF16      = Machine{"hopper-f16", tcore.Kernel{Device: tcore.HopperF16F16}} // accumulates in binary16
	BlackwellE4M3  = Machine{"blackwell-e4m3", tcore.Kernel{Device: tcore.BlackwellE4M3}}
	BlackwellMXF8  = Machine{"blackwell-mxf8", tcore.Kernel{Device: tcore.BlackwellMXE4M3}}
	BlackwellNVF4  = Machine{"blackwell-nvf4", tcore.Kernel{Device: tcore.BlackwellNVF4}}
	HopperInParts  = Machine{"hopper/16", tcore.Kernel{Device: tcore.HopperF16, SplitK: 16}}
	CDNA1          = Machine{"cdna1", tcore.Kernel{Device: tcore.CDNA1F16}}
	CDNA2          = Machine{"cdna2", tcore.Kernel{Device: tcore.CDNA2F16}}
	CDNA3          = Machine{"cdna3", tcore.Kernel{Device: tcore.CDNA3F16}}
	CDNA3FP8       = Machine{"cdna3-fp8", tcore.Kernel{Device: tcore.CDNA3FP8}}
	HopperRoundsTo = Machine{"hopper>binary16", tcore.Kernel{Device: tcore.HopperF16, Output: tcore.Binary16}}
)

// Machines returns the machines that have short names. Scales of block-scaled ones are 1.
func Machines() []Machine {
	return []Machine{
		Paper, Volta, Ampere, Hopper, HopperE4M3, IEEE,
		AmpereBF16, AmpereTF32, HopperF16, BlackwellE4M3, BlackwellMXF8, BlackwellNVF4,
		CDNA1, CDNA2, CDNA3, CDNA3FP8,
		HopperInParts, HopperRoundsTo,
	}
}

// stored are the formats that D may be stored in.
var stored = []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.E4M3, tcore.E5M2}

// FindMachine returns the machine of that name: one of [Machines], a device by its name in
// [tcore.Devices], or one of these with "/16" after it, which adds K in so many parts, or with
// ">binary16", which stores D in that format, or both.
func FindMachine(name string) (Machine, error) {
	if i := slices.IndexFunc(Machines(), func(m Machine) bool { return m.Name == name }); i >= 0 {
		return Machines()[i], nil
	}
	if base, text, ok := strings.Cut(name, ">"); ok {
		i := slices.IndexFunc(stored, func(f tcore.Format) bool { return f.Name == text })
		m, err := FindMachine(base)
		if i < 0 || err != nil || m.Output != (tcore.Format{}) {
			return Machine{}, fmt.Errorf("sweep: machine %q, want a machine, > and a format", name)
		}
		m.Name, m.Output = name, stored[i]
		return m, nil
	}
	if base, text, ok := strings.Cut(name, "/"); ok {
		parts, err := strconv.Atoi(text)
		m, errBase := FindMachine(base)
		if err != nil || errBase != nil || parts < 1 || m.SplitK > 1 {
			return Machine{}, fmt.Errorf("sweep: machine %q, want a machine, / and the parts of K, 1 or more", name)
		}
		m.Name, m.SplitK = name, parts
		return m, nil
	}
	for _, d := range tcore.Devices() {
		if d.Name == name {
			return Machine{name, tcore.Kernel{Device: d}}, nil
		}
	}
	var names []string
	for _, m := range Machines() {
		names = append(names, m.Name)
	}
	return Machine{}, fmt.Errorf("sweep: no machine %q, want one of %s, or a name of roundoff devices", name, strings.Join(names, ", "))
}
