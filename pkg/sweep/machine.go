package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The machines with short names. Paper, IEEE, CDNA1 and CDNA2 round to nearest;
// all others align the products of a block, truncate them and add them.
var (
	Paper           = tcore.Machine{Name: "paper", Device: devices.PaperCoreF32()}
	Volta           = tcore.Machine{Name: "volta", Device: devices.VoltaF16()}
	Ampere          = tcore.Machine{Name: "ampere", Device: devices.AmpereF16()}
	Hopper          = tcore.Machine{Name: "hopper", Device: devices.HopperF16()}
	HopperE4M3      = tcore.Machine{Name: "hopper-e4m3", Device: devices.HopperE4M3()}
	IEEE            = tcore.Machine{Name: "ieee", Device: devices.IEEEF16()}
	AmpereBF16      = tcore.Machine{Name: "ampere-bf16", Device: devices.AmpereBF16()}
	AmpereTF32      = tcore.Machine{Name: "ampere-tf32", Device: devices.AmpereTF32()}
	HopperF16F16    = tcore.Machine{Name: "hopper-f16", Device: devices.HopperF16F16()} // accumulates in binary16
	BlackwellE4M3   = tcore.Machine{Name: "blackwell-e4m3", Device: devices.BlackwellE4M3()}
	BlackwellMXF8   = tcore.Machine{Name: "blackwell-mxf8", Device: devices.BlackwellMXE4M3()}
	BlackwellNVF4   = tcore.Machine{Name: "blackwell-nvf4", Device: devices.BlackwellNVF4()}
	HopperSplitK16  = tcore.Machine{Name: "hopper/16", Device: devices.HopperF16(), SplitK: 16}
	CDNA1           = tcore.Machine{Name: "cdna1", Device: devices.CDNA1F16()}
	CDNA2           = tcore.Machine{Name: "cdna2", Device: devices.CDNA2F16()}
	CDNA3           = tcore.Machine{Name: "cdna3", Device: devices.CDNA3F16()}
	CDNA3FP8        = tcore.Machine{Name: "cdna3-fp8", Device: devices.CDNA3FP8()}
	HopperOutputF16 = tcore.Machine{Name: "hopper>binary16", Device: devices.HopperF16(), Output: tcore.Binary16}
)

// Machines returns the machines with short names. The scales of block-scaled
// ones are 1 unless the distribution has scales.
func Machines() []tcore.Machine {
	return []tcore.Machine{
		Paper, Volta, Ampere, Hopper, HopperE4M3, IEEE,
		AmpereBF16, AmpereTF32, HopperF16F16, BlackwellE4M3, BlackwellMXF8, BlackwellNVF4,
		CDNA1, CDNA2, CDNA3, CDNA3FP8,
		HopperSplitK16, HopperOutputF16,
	}
}

// stored are the formats to which a machine may round D.
var stored = []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.E4M3, tcore.E5M2}

// FindMachine returns the machine of that name: one of [Machines], or a device
// by its name in [devices.All]. The suffix "/16" splits K into 16 parts whose
// sums are added, or "@128" into parts of 128 products, and the suffix
// ">binary16" rounds D to that format; with both, that comes last. int32 is
// [Integers]. An error says that there is no such machine.
func FindMachine(name string) (tcore.Machine, error) {
	if i := slices.IndexFunc(Machines(), func(m tcore.Machine) bool { return m.Name == name }); i >= 0 {
		return Machines()[i], nil
	}
	if base, text, ok := strings.Cut(name, ">"); ok {
		i := slices.IndexFunc(stored, func(f tcore.Format) bool { return f.Name == text })
		m, err := FindMachine(base)
		if i < 0 || err != nil || m.Output != (tcore.Format{}) {
			return tcore.Machine{}, fmt.Errorf("sweep: machine %q, want a machine, > and a format", name)
		}
		m.Name, m.Output = name, stored[i]
		return m, nil
	}
	if base, text, ok := strings.Cut(name, "/"); ok {
		parts, err := strconv.Atoi(text)
		m, errBase := FindMachine(base)
		if err != nil || errBase != nil || parts < 1 || m.SplitK > 1 {
			return tcore.Machine{}, fmt.Errorf("sweep: machine %q, want a machine, / and the parts of K, 1 or more", name)
		}
		m.Name, m.SplitK = name, parts
		return m, nil
	}
	if base, text, ok := strings.Cut(name, "@"); ok {
		promote, err := strconv.Atoi(text)
		m, errBase := FindMachine(base)
		if err != nil || errBase != nil || promote < 1 || m.Promote > 0 || m.Device.Core == nil {
			return tcore.Machine{}, fmt.Errorf("sweep: machine %q, want a machine, @ and the products after which it promotes, 1 or more", name)
		}
		m.Name, m.Promote = name, promote
		if err := m.Check(); err != nil {
			return tcore.Machine{}, fmt.Errorf("sweep: machine %q: %w", name, err)
		}
		return m, nil
	}
	for _, d := range devices.All() {
		if d.Name == name {
			return tcore.Machine{Name: name, Device: d}, nil
		}
	}
	if name == Integers.Name {
		return Integers, nil
	}
	for _, d := range devices.Integers() {
		if d.Name == name {
			return tcore.Machine{}, fmt.Errorf("sweep: machine %q rounds nothing: the error of a sum is 0 unless it wraps at 2^31, which none of at most %d products does; there is no bound to count",
				name, bound.LongestIntegerSum(d))
		}
	}
	var names []string
	for _, m := range Machines() {
		names = append(names, m.Name)
	}
	return tcore.Machine{}, fmt.Errorf("sweep: no machine %q, want one of %s, or a name of roundoff devices", name, strings.Join(names, ", "))
}
