package tcoretest

import (
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Every device of the catalogue passes the suite.
func TestDevices(t *testing.T) {
	for _, d := range devices.All() {
		t.Run(d.Name, func(t *testing.T) { Device(t, d) })
	}
}

func TestGEMMer(t *testing.T) {
	m := tcore.Machine{Device: devices.AmpereF16(), SplitK: 3, Output: tcore.Binary16}
	GEMMer(t, m, m)
}
