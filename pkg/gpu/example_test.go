//go:build cgo && linux

package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// fake opens the GPU of these examples. It is a fake, which sums exactly and
// reports a millisecond for every product.
func fake() *gpu.GPU {
	g, err := gpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	return g
}

func matrices() (a, b, d blas32.General) {
	a = blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 4, 5, 6}}
	b = blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, 1, 1}}
	d = blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	return a, b, d
}

// Open returns ErrNoGPU on a machine without a GPU, which is a normal state.
func ExampleOpen() {
	g, err := gpu.Open()
	if errors.Is(err, gpu.ErrNoGPU) {
		fmt.Println("no GPU: the results are recorded ones")
		return
	}
	fmt.Println("on the GPU", err)
	fmt.Println(g.Close())
	// Output:
	// on the GPU <nil>
	// <nil>
}

func ExampleGPU_Info() {
	g := fake()
	defer g.Close()
	info, err := g.Info()
	fmt.Printf("%s, %s %s, CUDA %s, %v\n", info.Name, info.Architecture, info.Capability, info.Driver, err)
	for _, l := range info.Libraries {
		fmt.Println(l.Name, l.Version, l.Err)
	}
	// Output:
	// Fake GPU 0, Hopper 9.0, CUDA 12.8, <nil>
	// libcuda 12.8 <nil>
	// libcublas 12.8.3 <nil>
	// libcublasLt 12.8.3 <nil>
	// libnvrtc 12.8 <nil>
}

// A routine on the GPU and a machine of the emulation both implement
// tcore.GEMMer.
func ExampleRoutine() {
	g := fake()
	defer g.Close()
	a, b, d := matrices()
	silicon := g.Routine(devices.HopperF16())
	for _, k := range []tcore.GEMMer{silicon, tcore.Machine{Device: devices.HopperF16()}} {
		k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		fmt.Println(d.Data)
	}
	fmt.Println(silicon.Err())
	// Output:
	// [4 5 10 11]
	// [4 5 10 11]
	// <nil>
}

// The report names the algorithm that the library chose, and the routine can be
// fixed to this algorithm.
func ExampleRoutine_Multiply() {
	g := fake()
	defer g.Close()
	a, b, d := matrices()
	k := gpu.Routine{GPU: g, A: tcore.E4M3, B: tcore.E5M2, C: tcore.Binary32, Output: tcore.Binary16}
	report, err := k.Multiply(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	chosen := report.Algorithms[0]
	fmt.Println(d.Data, "algorithm", chosen.ID, "parts of K", chosen.SplitK, "time", report.Time, err)

	k.Algorithm, k.SplitK = &chosen, 2
	report, err = k.Multiply(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	fmt.Println(d.Data, "parts of K", report.Algorithms[0].SplitK, err)
	// Output:
	// [4 5 10 11] algorithm 66 parts of K 1 time 1ms <nil>
	// [4 5 10 11] parts of K 2 <nil>
}

func ExampleRoutine_Algorithms() {
	g := fake()
	defer g.Close()
	list, err := g.Routine(devices.HopperBF16()).Algorithms(1024, 8, 32768, 2)
	for _, a := range list {
		fmt.Println("algorithm", a.ID, "tile", a.Tile, "parts of K", a.SplitK)
	}
	fmt.Println(err)
	// Output:
	// algorithm 66 tile 20 parts of K 1
	// algorithm 67 tile 20 parts of K 2
	// <nil>
}

// The time of the algorithm that the library chose, and those of other
// algorithms that it offers.
func ExampleRoutine_Time() {
	g := fake()
	defer g.Close()
	a, b, _ := matrices()
	timings, err := g.Routine(devices.HopperF16()).Time(context.Background(), a, b, 3, 2)
	for _, t := range timings {
		fmt.Println("algorithm", t.Algorithm.ID, "time", t.Time, "chosen", t.Chosen)
	}
	fmt.Println(err)
	// Output:
	// algorithm 66 time 1ms chosen true
	// algorithm 67 time 1ms chosen false
	// <nil>
}

// The multiply-accumulate of the paper's Table 3, with two roundings, and the
// time of a pass.
func ExampleGPU_StreamMAC() {
	g := fake()
	defer g.Close()
	a, b, c, d := []float32{2, 3}, []float32{4, 5}, []float32{1, 0.5}, make([]float32, 2)
	took, err := g.StreamMAC(context.Background(), d, a, b, c, 5)
	fmt.Println(d, took, err)
	// Output: [9 15.5] 1ms <nil>
}

// A fused multiply-add rounds once instead of twice: (1 + 2⁻¹²)² − (1 + 2⁻¹¹)
// is 2⁻²⁴.
func ExampleGPU_StreamFMA() {
	g := fake()
	defer g.Close()
	a, c, d := []float32{1 + 0x1p-12}, []float32{-1 - 0x1p-11}, make([]float32, 1)
	g.StreamMAC(context.Background(), d, a, a, c, 1)
	fmt.Println(d)
	g.StreamFMA(context.Background(), d, a, a, c, 1)
	fmt.Println(d)
	// Output:
	// [0]
	// [5.9604645e-08]
}

// Factors in binary16 need half the bytes of binary32: 1.5 × 2 + 0.5.
func ExampleGPU_StreamMPFMA() {
	g := fake()
	defer g.Close()
	d := make([]float32, 1)
	took, err := g.StreamMPFMA(context.Background(), d, []uint16{0x3e00}, []uint16{0x4000}, []float32{0.5}, 5)
	fmt.Println(d, took, err)
	// Output: [3.5] 1ms <nil>
}

// A GPU multiplies in the formats of a device of package tcore.
func ExampleGPU() {
	g, err := gpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	a, b, d := matrices()
	g.Routine(devices.AmpereBF16()).GEMM(blas.NoTrans, blas.NoTrans, 2, a, b, 0, blas32.General{}, d)
	fmt.Println(d.Data)
	// Output: [8 10 20 22]
}

// An unsupported combination of formats is reported before anything is sent to
// the device.
func ExampleRoutine_Check() {
	g := fake()
	defer g.Close()
	k := gpu.Routine{GPU: g, A: tcore.Binary16, B: tcore.BFloat16, C: tcore.Binary32}
	fmt.Println(k.Check())
	// Output:
	// gpu: GEMM: A = binary16, B = bfloat16, C = binary32, Output = binary32 do not go together in cuBLASLt
}
