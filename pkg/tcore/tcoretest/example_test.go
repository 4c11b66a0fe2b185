package tcoretest_test

import (
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
)

// A hypothetical Hopper that rounds its sums to nearest.
func nearest() tcore.Device {
	d := devices.HopperF16()
	core := d.Core.(tcore.Fused)
	core.Rounding = tcore.ToNearestEven
	d.Name, d.Core = "nearest-f16", core
	return d
}

// For the test of a new device.
func ExampleDevice() {
	_ = func(t *testing.T) { tcoretest.Device(t, nearest()) }
}

// For the test of a library, or of a GPU, whose results must equal those of an
// emulated machine bit for bit.
func ExampleGEMMer() {
	var library tcore.GEMMer = tcore.Machine{Device: nearest()}
	_ = func(t *testing.T) { tcoretest.GEMMer(t, library, tcore.Machine{Device: nearest()}) }
}
