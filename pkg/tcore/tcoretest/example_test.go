package tcoretest_test

import (
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
)

// A Hopper that would round its sums to nearest.
func nearest() tcore.Device {
	d := devices.HopperF16()
	core := d.Core.(tcore.Fused)
	core.Rounding = tcore.ToNearestEven
	d.Name, d.Core = "nearest-f16", core
	return d
}

// In the test of a device of one's own.
func ExampleDevice() {
	_ = func(t *testing.T) { tcoretest.Device(t, nearest()) }
}

// In the test of a library, or of a GPU, that is to have the bits of an
// emulated machine.
func ExampleGEMMer() {
	var library tcore.GEMMer = tcore.Machine{Device: nearest()}
	_ = func(t *testing.T) { tcoretest.GEMMer(t, library, tcore.Machine{Device: nearest()}) }
}
