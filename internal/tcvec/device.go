package tcvec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// An UnsupportedError means that the catalogue has no device for a header.
type UnsupportedError struct{ Header Header }

func (e *UnsupportedError) Error() string {
	h := e.Header
	return fmt.Sprintf("tcvec: no device for %q: %s %s %s, %s × %s + %s", h.Name, h.Kind, h.Arch, h.Instr, h.A, h.B, h.C)
}

// formats maps the names of formats in files to the formats of package tcore.
var formats = map[string]tcore.Format{
	"fp64": tcore.Binary64, "fp32": tcore.Binary32, "tf32": tcore.TF32,
	"fp16": tcore.Binary16, "bf16": tcore.BFloat16, "e5m2": tcore.E5M2, "e4m3": tcore.E4M3,
	"e5m2fnuz": tcore.E5M2FNUZ, "e4m3fnuz": tcore.E4M3FNUZ,
	"e3m2": tcore.E3M2, "e2m3": tcore.E2M3, "e2m1": tcore.E2M1,
	"ue8m0": tcore.E8M0, "ue4m3": tcore.UE4M3,
	"int8": tcore.INT8, "uint8": tcore.UINT8, "int32": tcore.INT32,
}

// architectures maps the names of chips, and other names of architectures, to
// the names in the catalogue.
var architectures = map[string]string{
	"V100": "Volta", "T4": "Turing", "A100": "Ampere", "A2": "Ampere", "A30": "Ampere", "A10": "Ampere",
	"L40S": "Ada", "Ada Lovelace": "Ada", "H100": "Hopper", "H200": "Hopper", "B200": "Blackwell",
}

// Device returns the device that the header names, or an [UnsupportedError].
func (h Header) Device() (tcore.Device, error) {
	arch := h.Arch
	if a, ok := architectures[arch]; ok {
		arch = a
	}
	for _, d := range slices.Concat(devices.All(), devices.Integers()) {
		if d.Architecture != arch || d.A != formats[h.A] || !d.Takes(formats[h.B]) || d.C != formats[h.C] || !h.fits(d) {
			continue
		}
		d.B = formats[h.B]
		return d, nil
	}
	return tcore.Device{}, &UnsupportedError{h}
}

// fits reports whether the header names the instruction of d, if architecture
// and formats are already known to agree.
func (h Header) fits(d tcore.Device) bool {
	if h.NScale > 0 || d.ScaleBlock > 0 {
		core, _ := d.Core.(tcore.Fused)
		return h.NScale > 0 && d.ScaleBlock > 0 && d.ScaleBlock == h.Block && d.Scale == formats[h.Scale] &&
			core.Group > 0 == (h.Kind == "GST")
	}
	if d.Architecture == "CDNA2" {
		return strings.HasSuffix(d.Instruction, "_1k") == strings.Contains(h.Name+h.Instr, "_1k") || d.A != tcore.BFloat16
	}
	family, _, _ := strings.Cut(d.Instruction, ".")
	return family == h.family() || h.family() == ""
}

// ofProcessors are the instructions of processors.
var ofProcessors = []string{
	"tdpbf16ps", "vdpbf16ps", "vfmadd231ph", "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud",
	"bfdot-ebf", "bfmmla-ebf", "bfmopa-ebf", "bfdot", "bfmmla", "bfmopa", "fmopa", "fdot", "fmmla", // the longer names first
}

// family returns the family of instructions that the header names, or "" if the
// architecture has only one.
func (h Header) family() string {
	text := strings.ToLower(h.Name + " " + h.Instr + " " + h.Via)
	for _, family := range ofProcessors {
		if strings.Contains(text, family) {
			return family
		}
	}
	switch arch := h.Arch; {
	case strings.Contains(text, "wgmma"):
		return "wgmma"
	case strings.Contains(text, "tcgen05"):
		return "tcgen05"
	case strings.Contains(text, "mma.sync"), strings.Contains(text, "_mma_"):
		return "mma"
	case h.Kind == "silicon" && (arch == "H100" || arch == "H200" || arch == "B200"):
		return "mma"
	}
	return ""
}
