package paper_test

import (
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The paper's product at a size for which there is no record: the emulation
// replaces the GPU, and the caption says so.
func ExampleGEMMResult_OnGPU() {
	os.Unsetenv("ROUNDOFF_DEVICE")
	small := paper.DefaultGEMM
	small.M, small.K = 32, 1<<10
	r, err := small.Run()
	if err != nil {
		log.Fatal(err)
	}
	silicon, err := r.OnGPU()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(silicon.Origin)
	for _, p := range silicon.Products {
		fmt.Println(p.Call, len(p.Errors), "outputs")
	}
	// Output:
	// No GPU has been asked this: it is the emulation on this processor
	// Hopper, emulated 256 outputs
}

// A GPU truncates, and so its errors are larger than those of the paper's
// model.
func ExampleSiliconGEMM_Excess() {
	os.Unsetenv("ROUNDOFF_DEVICE")
	small := paper.DefaultGEMM
	small.M, small.K = 32, 1<<10
	r, err := small.Run()
	if err != nil {
		log.Fatal(err)
	}
	silicon, err := r.OnGPU()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", silicon.Excess())
	// Output: 2.4
}

// A library that does not say in how many parts it adds K is asked by its bits.
func ExampleNearestOrder() {
	small := paper.DefaultGEMM
	small.M, small.K = 16, 1<<10
	a, b := small.Operands()
	d := blas32.General{Rows: 16, Cols: 8, Stride: 8, Data: make([]float32, 128)}
	tcore.Machine{Device: devices.HopperF16(), SplitK: 4}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	found := paper.NearestOrder([]tcore.Device{devices.AmpereF16(), devices.HopperF16()}, 0, a, b, d)
	fmt.Printf("%v: %d of 128\n", found, found.Equal)
	// Output: hopper-wgmma-binary16-binary32, K in 4 parts: 128 of 128
}

// The product of a GPU is stored in a record. The name of the record identifies
// the experiment, and the operands follow from its seed.
func ExampleWriteRecord() {
	small := paper.DefaultGEMM
	small.M, small.K = 2, 32
	a, b := small.Operands()
	d := blas32.General{Rows: 2, Cols: 8, Stride: 8, Data: make([]float32, 16)}
	tcore.Machine{Device: devices.HopperF16()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)

	record := small.NewRecord(paper.Provenance{GPU: "none, an example", Date: "2026-01-02"})
	record.Add("tcore.Machine", "", 1, time.Millisecond, d)
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	fmt.Println(record.File(), paper.WriteRecord(dir, record))
	// Output: gemm-symmetric-2x32x8-241118747.json <nil>
}

// Table 3 on this processor and on a GPU. The columns of the GPU are empty if
// there is no record.
func ExampleProfileResult_OnGPU() {
	os.Unsetenv("ROUNDOFF_DEVICE")
	usual := paper.DefaultGPUProfile
	defer func() { paper.DefaultGPUProfile = usual }()
	paper.DefaultGPUProfile.Elements = 1 << 12 // a length without a record
	silicon, err := paper.Profile{Elements: 1 << 12, Repeats: 1, Seed: 1}.Run().OnGPU()
	if err != nil {
		log.Fatal(err)
	}
	if silicon.Emulated() {
		origin, _, _ := strings.Cut(silicon.Table().Details(), ":")
		fmt.Println(origin)
	}
	// Output: No GPU has been asked this
}

// The call of the listing computes another product than the paper's and
// accesses memory beyond the arrays. The correct call for matrices stored by
// rows exchanges the operands.
func ExampleGemmExCalls() {
	const m, t, n = 2, 4, 3
	calls := paper.GemmExCalls(m, t, n)
	for _, call := range []paper.GemmEx{calls[0], calls[4]} {
		a, b, c := call.Extent()
		fmt.Println(call.Name, "uses", a, b, c, "elements")
	}
	// Output:
	// as printed uses 6 15 8 elements
	// right for rows, a and b swapped uses 12 8 6 elements
}

func ExampleGemmEx_Run() {
	// 2 × 2 matrices stored by rows.
	a, b, c := []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1}, make([]float32, 4)
	calls := paper.GemmExCalls(2, 2, 2)
	calls[4].Run(a, b, c)
	fmt.Println(c)
	calls[0].Run(a, b, c) // the dimensions are correct because all are equal; alpha is not correct
	fmt.Println(c[0] > 0, c[0] < 1e-40)
	// Output:
	// [1 2 3 4]
	// true true
}
