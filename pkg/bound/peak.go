package bound

import (
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A Peak is the peak throughput of a GPU on one format, as its vendor publishes
// it, for dense matrices and not with sparsity. No matrix product reaches it.
type Peak struct {
	GPU     string
	Tflops  float64 // 10^12 additions and multiplications per second
	Source  string  // vendor, title, year
	devices []tcore.Device
}

// PeakOf returns the peak of a device, and false where none is known: for
// instructions that are not the fastest of their chip, such as mma on Hopper,
// for formats for which the vendor gives no rate, and for models that are not a
// chip.
func PeakOf(d tcore.Device) (Peak, bool) {
	for _, p := range peaks {
		if slices.ContainsFunc(p.devices, func(of tcore.Device) bool { return of.Name == d.Name }) {
			return p, true
		}
	}
	return Peak{}, false
}

// time returns the time of 10^12 operations at the peak, in seconds: +Inf for
// the zero Peak.
func (p Peak) time() float64 { return 1 / p.Tflops }

const (
	v100   = "NVIDIA, Programming Tensor Cores in CUDA 9, 2017"
	t4     = "NVIDIA, announcement of Tesla T4, 2018"
	a100   = "NVIDIA A100 Tensor Core GPU data sheet, 2021"
	l40s   = "NVIDIA L40S data sheet, 2023"
	h100   = "NVIDIA H100 Tensor Core GPU Architecture, 2022"
	b200   = "NVIDIA HGX B200 data sheet, as of 2026, half of its sparse rates"
	mi100  = "AMD, announcement of Instinct MI100, 2020"
	mi250x = "AMD, announcement of Instinct MI250X, 2021"
	mi300x = "AMD Instinct MI300X data sheet, 2023"
)

var peaks = []Peak{
	{"V100", 125, v100, []tcore.Device{devices.VoltaF16(), devices.VoltaF16F16()}},
	{"T4", 65, t4, []tcore.Device{devices.TuringF16(), devices.TuringF16F16()}},

	{"A100", 312, a100, []tcore.Device{devices.AmpereF16(), devices.AmpereF16F16(), devices.AmpereBF16()}},
	{"A100", 156, a100, []tcore.Device{devices.AmpereTF32()}},
	{"A100", 19.5, a100, []tcore.Device{devices.AmpereF64()}},

	{"L40S", 362.05, l40s, []tcore.Device{devices.AdaF16(), devices.AdaF16F16(), devices.AdaBF16()}},
	{"L40S", 183, l40s, []tcore.Device{devices.AdaTF32()}},
	{"L40S", 733, l40s, []tcore.Device{devices.AdaE4M3(), devices.AdaE4M3F16(), devices.AdaE5M2(), devices.AdaE5M2F16()}},

	{"H100 SXM5", 989.4, h100, []tcore.Device{devices.HopperF16(), devices.HopperF16F16(), devices.HopperBF16()}},
	{"H100 SXM5", 494.7, h100, []tcore.Device{devices.HopperTF32()}},
	{"H100 SXM5", 1978.9, h100, []tcore.Device{devices.HopperE4M3(), devices.HopperE4M3F16(), devices.HopperE5M2(), devices.HopperE5M2F16()}},
	{"H100 SXM5", 66.9, h100, []tcore.Device{devices.HopperF64()}},

	{"B200", 2250, b200, []tcore.Device{devices.BlackwellF16(), devices.BlackwellF16F16(), devices.BlackwellBF16()}},
	{"B200", 1100, b200, []tcore.Device{devices.BlackwellTF32()}},
	{"B200", 4500, b200, []tcore.Device{devices.BlackwellE4M3(), devices.BlackwellE4M3F16(), devices.BlackwellE5M2(), devices.BlackwellE5M2F16(),
		devices.BlackwellE3M2(), devices.BlackwellE2M3()}},
	{"B200", 9000, b200, []tcore.Device{devices.BlackwellMXF4(), devices.BlackwellMXF4x2(), devices.BlackwellNVF4()}},
	{"B200", 37, b200, []tcore.Device{devices.BlackwellF64()}},

	{"MI100", 184.6, mi100, []tcore.Device{devices.CDNA1F16()}},
	{"MI100", 92.3, mi100, []tcore.Device{devices.CDNA1BF16()}},
	{"MI100", 46.1, mi100, []tcore.Device{devices.CDNA1F32()}},

	{"MI250X", 383, mi250x, []tcore.Device{devices.CDNA2F16(), devices.CDNA2BF16()}},
	{"MI250X", 95.7, mi250x, []tcore.Device{devices.CDNA2F32(), devices.CDNA2F64()}},

	{"MI300X", 1307.4, mi300x, []tcore.Device{devices.CDNA3F16(), devices.CDNA3BF16()}},
	{"MI300X", 2614.9, mi300x, []tcore.Device{devices.CDNA3FP8(), devices.CDNA3BF8()}},
	{"MI300X", 163.4, mi300x, []tcore.Device{devices.CDNA3F32()}},
}
