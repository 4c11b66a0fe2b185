package probe_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Feature tests show how the tensor core of a Hopper GPU adds. Its emulation
// takes the place of the GPU.
func ExampleInfer() {
	hopper, _ := probe.Infer(context.Background(), probe.Emulate(devices.HopperF16()))
	ampere, _ := probe.Infer(context.Background(), probe.Emulate(devices.AmpereF16()))
	fmt.Println(hopper.Compare(os.Stdout, ampere), "properties differ")
	fmt.Printf("%d of %d random dot products explained\n", hopper.Agreed, hopper.Checked)
	// Output:
	// property          measured     built in
	// block             16 products  8 products  differs
	// alignment         25 bits      24 bits     differs
	// result            24 bits      24 bits
	// rounding          ToZero       ToZero
	// tiny negative     not visible  not visible
	// exponent of zero  not visible  not visible
	// subnormal A       kept         kept
	// subnormal B       kept         kept
	// subnormal c       kept         kept
	// overflow          not visible  not visible
	// NaN               0x7fffffff   0x7fffffff
	// 0 × infinity      0x7fffffff   0x7fffffff
	// sum of all -0     +0           +0
	// order in a block  free         free
	// 2 properties differ
	// 1000 of 1000 random dot products explained
}

// Units of integers are asked for other properties: they round nothing, and
// wrap.
func ExampleInfer_integers() {
	d := devices.AMXUINT8INT8()
	measured, _ := probe.Infer(context.Background(), probe.Emulate(d))
	measured.Compare(os.Stdout, measured)
	fmt.Printf("%T%+v %v\n", measured.Core, measured.Core, measured.Explained())
	// Output:
	// property          measured     built in
	// block             64 products  64 products
	// A                 0 to 255     0 to 255
	// B                 -128 to 127  -128 to 127
	// sums of products  exact        exact
	// 2^31 - 1 + 1      -2147483648  -2147483648
	// -2^31 - 1         2147483647   2147483647
	// order in a block  free         free
	// tcore.WrappedSum{Terms:64} true
}

// A record contains the arithmetic that follows from the measurements, a Core
// of package tcore.
func ExampleRecord_Explained() {
	r, _ := probe.Infer(context.Background(), probe.Emulate(devices.CDNA1F16()))
	fmt.Printf("%T%+v %v\n", r.Core, r.Core, r.Explained())
	r, _ = probe.Infer(context.Background(), probe.Emulate(devices.CDNA2F16()))
	fmt.Println(r.Explained())
	// Output:
	// tcore.ExactSum{Terms:4 SignedZeros:false} true
	// false
}

// Operands and results are bit patterns: 1×2 + 3×4 + 5, in binary16 and
// binary32.
func ExampleEmulate() {
	u := probe.Emulate(devices.VoltaF16())
	x, y := make([]uint64, u.K()), make([]uint64, u.K())
	x[0], y[0] = 0x3c00, 0x4000
	x[1], y[1] = 0x4200, 0x4400
	d := make([]uint64, 1)
	err := u.Dots(context.Background(), x, y, []uint64{0x40a00000}, d)
	fmt.Printf("%#x %v\n", d[0], err)
	// Output: 0x41980000 <nil>
}

// A tensor core that kept one bit more than its record says is detected in the
// first batch.
func ExampleVerify() {
	silicon := devices.TuringF16()
	core := silicon.Core.(tcore.Fused)
	core.FractionBits++
	silicon.Core = core

	v, _ := probe.Verify(context.Background(), probe.Emulate(silicon), devices.TuringF16(), 0, 1)
	fmt.Println(v.Dots > v.Agreed, v.First.Regime)

	v, _ = probe.Verify(context.Background(), probe.Emulate(devices.TuringF16()), devices.TuringF16(), 0, 1)
	fmt.Println(v.Dots == v.Agreed, v.First == nil)
	// Output:
	// true cancel
	// true true
}

// Results are recorded together with their provenance.
func ExampleWriteVectors() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "volta.tcv.gz")
	from := probe.Provenance{Emulated: devices.VoltaF16().Name, Seed: 1, Date: "2025-01-01"}
	fmt.Println(probe.WriteVectors(context.Background(), path, probe.Emulate(devices.VoltaF16()), 1000, from))
	// Output: <nil>
}

func ExampleInstructions() {
	for _, d := range probe.Instructions(7, 5) {
		fmt.Println(d.Name, d.Instruction, probe.InstructionK(d))
	}
	// Output:
	// turing-mma-binary16-binary32 mma.m16n8k8 8
	// turing-mma-binary16-binary16 mma.m16n8k8 8
}

// In the regime "cancel", products come in pairs of opposite sign and equal or
// nearly equal magnitude.
func ExampleSampler_Draw() {
	d := devices.HopperE4M3()
	x, y := make([]uint64, 4), make([]uint64, 4)
	probe.NewSampler(d, 1).Draw(3, x, y)
	for k := range x {
		fmt.Println(d.A.Decode(x[k]) * d.B.Decode(y[k]))
	}
	// Output:
	// 3.9375
	// -3.9375
	// -0.4375
	// 0.4375
}

// The number of products that one instruction adds up.
func ExampleInstructionK() {
	fmt.Println(probe.InstructionK(devices.TuringF16()), probe.InstructionK(devices.HopperF16()))
	// Output:
	// 8 16
}

// The first record is measured, the other is built in. They are compared
// property by property.
func ExampleRecord_Compare() {
	a, _ := probe.Infer(context.Background(), probe.Emulate(devices.TuringF16()))
	var differences strings.Builder
	fmt.Println(a.Compare(&differences, a), "properties differ")
	// Output:
	// 0 properties differ
}

// The same seed gives the same operands.
func ExampleNewSampler() {
	d := devices.HopperF16()
	x, y := make([]uint64, 16), make([]uint64, 16)
	c := probe.NewSampler(d, 7).Draw(0, x, y)
	fmt.Println(c == probe.NewSampler(d, 7).Draw(0, x, y))
	// Output: true
}

// The instructions of the catalogue that the first GPU has, and the provenance
// of its results.
func ExampleGPU() {
	g, err := probe.OpenGPU(0)
	if errors.Is(err, probe.ErrNoGPU) {
		fmt.Println("no GPU: probe.Emulate stands in")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	for _, d := range g.Instructions() {
		fmt.Println(d.Instruction)
	}
	fmt.Println(g.Provenance().GPU)
}

// Kernels are PTX text, compiled by the driver.
func ExampleGPU_Load() {
	g, err := probe.OpenGPU(0)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	kernel, err := g.Load(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }", "nothing")
	if err != nil {
		log.Fatal(err)
	}
	defer kernel.Close()
	fmt.Println(kernel.Launch(context.Background(), 1, 32, nil, nil))
}

// A dot product computed by an instruction of the GPU, given in the bits of its
// formats.
func ExampleSilicon() {
	g, err := probe.OpenGPU(0)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	u, err := probe.OnGPU(g, devices.HopperF16())
	if err != nil {
		log.Fatal(err)
	}
	defer u.Close()
	x, y, d := make([]uint64, u.K()), make([]uint64, u.K()), make([]uint64, 1)
	x[0], y[0] = 0x3c00, 0x4000 // 1 × 2
	if err := u.Dots(context.Background(), x, y, []uint64{0}, d); err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.Device().Name, u.Device().C.Decode(d[0]))
}

// Every instruction of the GPU is compared with its emulation.
func ExampleOnGPU() {
	g, err := probe.OpenGPU(0)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	for _, d := range g.Instructions() {
		u, err := probe.OnGPU(g, d)
		if err != nil {
			log.Fatal(err)
		}
		v, err := probe.Verify(context.Background(), u, d, time.Minute, 1)
		fmt.Println(d.Name, v.Agreed, "of", v.Dots, err)
		if err := u.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleOpenGPU() {
	g, err := probe.OpenGPU(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Close())
}

// The emulation agrees with itself, here on 12000 dot products: three batches.
func ExampleVerifyDots() {
	d := devices.VoltaF16()
	v, err := probe.VerifyDots(context.Background(), probe.Emulate(d), d, 10000, 1)
	fmt.Println(v.Agreed, "of", v.Dots, "agree", err)
	// Output: 12000 of 12000 agree <nil>
}
