package paper_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The four-line example of the README.
func Example() {
	u := tcore.Binary16.UnitRoundoff()
	λ := roundoff.Lambda(roundoff.FailureOf(0.99), u, 1024)
	g := roundoff.Gamma(1024, u)
	t := roundoff.GammaTilde(1024, u, λ)
	fmt.Printf("%.4g %.3f %.2g %.2g\n", u, λ, g, t)
	// Output: 0.0004883 1.935 1 0.031
}

// The example of the README on real tensor cores.
func Example_devices() {
	x, y := []float64{-0x1p12, -0.5, -0.25, -0.125}, []float64{0x1p11, 1, 1, 1}
	fmt.Println(devices.VoltaF16().Dot(x, y, 0x1p23))
	fmt.Println(devices.HopperF16().Dot(x, y, 0x1p23))
	fmt.Println(devices.IEEEF64().Dot(x, y, 0x1p23))
	// Output:
	// 0
	// -0.75
	// -0.875
}
