//go:build cgo && linux

package gpu_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// These examples run on a fake GPU, which adds up exactly.

func matrices() (a, b, d blas32.General) {
	a = blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 4, 5, 6}}
	b = blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, 1, 1}}
	d = blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	return a, b, d
}

// A machine without a GPU is a normal state.
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
	g, err := gpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	info, err := g.Info()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %s %s, CUDA %s\n", info.Name, info.Architecture, info.Capability, info.Driver)
	for _, l := range info.Libraries {
		fmt.Println(l.Name, l.Version, l.Err)
	}
	// Output:
	// Fake GPU 0, Hopper 9.0, CUDA 12.8
	// libcuda 12.8 <nil>
	// libcublas 12.8.3 <nil>
	// libcublasLt 12.8.3 <nil>
	// libnvrtc 12.8 <nil>
}

// A kernel on the GPU and one of the emulation are both a tcore.GEMMer.
func ExampleKernel() {
	g, err := gpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	a, b, d := matrices()
	silicon := g.Kernel(tcore.HopperF16)
	for _, k := range []tcore.GEMMer{silicon, tcore.Kernel{Device: tcore.HopperF16}} {
		k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		fmt.Println(d.Data)
	}
	fmt.Println(silicon.Err())
	// Output:
	// [4 5 10 11]
	// [4 5 10 11]
	// <nil>
}

// The report tells which algorithm was chosen, and the kernel can be held to it.
func ExampleKernel_Multiply() {
	g, err := gpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	a, b, d := matrices()
	k := gpu.Kernel{GPU: g, A: tcore.E4M3, B: tcore.E5M2, C: tcore.Binary32, Output: tcore.Binary16}
	report, err := k.Multiply(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen := report.Algorithms[0]
	fmt.Println(d.Data, "algorithm", chosen.ID, "parts of K", chosen.SplitK, "time", report.Time)
	k.Algorithm, k.SplitK = &chosen, 2
	report, err = k.Multiply(context.Background(), blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	fmt.Println(d.Data, "parts of K", report.Algorithms[0].SplitK, err)
	// Output:
	// [4 5 10 11] algorithm 66 parts of K 1 time 1ms
	// [4 5 10 11] parts of K 2 <nil>
}

func ExampleKernel_Algorithms() {
	g, err := gpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	list, err := g.Kernel(tcore.HopperBF16).Algorithms(1024, 8, 32768, 2)
	for _, a := range list {
		fmt.Println("algorithm", a.ID, "tile", a.Tile, "parts of K", a.SplitK)
	}
	fmt.Println(err)
	// Output:
	// algorithm 66 tile 20 parts of K 1
	// algorithm 67 tile 20 parts of K 2
	// <nil>
}
