package devices_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The same five numbers on three generations and in IEEE arithmetic.
func Example() {
	x, y := []float64{-0x1p12, -0.5, -0.25, -0.125}, []float64{0x1p11, 1, 1, 1}
	for _, d := range []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.IEEEF16()} {
		fmt.Printf("%-30s  %v\n", d.Name, d.Dot(x, y, 0x1p23))
	}
	// Output:
	// volta-mma-binary16-binary32     0
	// ampere-mma-binary16-binary32    -0.5
	// hopper-wgmma-binary16-binary32  -0.75
	// ieee-fma-binary16-binary32      -0.875
}

// Which instructions of a Hopper take 8-bit factors?
func ExampleAll() {
	for _, d := range devices.All() {
		if d.Architecture == "Hopper" && d.A.Equal(tcore.E4M3) {
			fmt.Println(d.Name)
		}
	}
	// Output:
	// hopper-wgmma-e4m3-binary32
	// hopper-wgmma-e4m3-binary16
	// hopper-mma-e4m3-binary32
	// hopper-mma-e4m3-binary16
}

func ExampleByName() {
	d, ok := devices.ByName("cdna3-mfma-binary16-binary32")
	fmt.Println(d.Architecture, d.BlockTerms(), ok)
	_, ok = devices.ByName("pascal")
	fmt.Println(ok)
	// Output:
	// CDNA3 8 true
	// false
}

// Units of integers are a list of their own.
func ExampleIntegers() {
	for _, d := range devices.Integers() {
		fmt.Println(d.Name, d.Dot([]float64{-3, 300}, []float64{5, 2}, 1))
	}
	// Output:
	// sapphirerapids-tdpbssd-int8-int32 240
	// sapphirerapids-tdpbsud-int8-int32 240
	// sapphirerapids-tdpbusd-uint8-int32 511
	// sapphirerapids-tdpbuud-uint8-int32 511
}

// Factors can be signed in one matrix and not in the other.
func ExampleAMXINT8UINT8() {
	fmt.Println(devices.AMXINT8().A.Max(), devices.AMXINT8UINT8().B.Max(), devices.AMXUINT8INT8().A.Max(), devices.AMXUINT8().B.Max())
	// Output: 127 255 255 255
}
