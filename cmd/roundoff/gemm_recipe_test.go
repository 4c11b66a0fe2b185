package main

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// A product of quantised matrices is that of package quant, by the kernel that
// the recipes ask for or that is named, and the table tells its errors apart.
func TestGEMMOfQuantised(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(12, 15))
	draw := func(path string, rows, cols int) blas32.General {
		m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = rng.Float32()
		}
		if err := saveMatrix(path, m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	x, y := draw("A.npy", 4, 4096), draw("B.npy", 4096, 4)
	draw("C.npy", 4, 64)
	on := func(d tcore.Device, promote int) tcore.Machine { return tcore.Machine{Device: d, Promote: promote} }
	every32 := quant.DeepGEMMKernel(on(devices.HopperE4M3(), 0))
	every32.Every = 32
	for _, test := range []struct {
		args, said string
		k          quant.Kernel
	}{
		{"-recipe deepgemm-1x128,deepgemm-128x128", "kernel deepgemm on hopper-wgmma-e4m3-binary32, scaled every 128 products", quant.DeepGEMMKernel(on(devices.HopperE4M3(), 0))},
		{"-recipe deepgemm-1x128,deepgemm-128x128 -kernel deepseek", "kernel deepseek", quant.DeepSeekKernel(on(devices.HopperE4M3(), 0))},
		{"-recipe torchao-e4m3-row,torchao-e5m2-row", "kernel epilogue on hopper-wgmma-e4m3-binary32, scaled at the end", quant.EpilogueKernel(on(devices.HopperE4M3(), 0))},
		{"-recipe torchao-e4m3-row -promote 128", "kernel epilogue", quant.EpilogueKernel(on(devices.HopperE4M3(), 128))},
		{"-recipe mxe4m3-floor", "kernel deepgemm on hopper-wgmma-e4m3-binary32, scaled every 32 products", every32},
		{"-recipe mxe4m3-floor,mxe5m2-floor -device blackwell", "kernel alpha on blackwell-tcgen05-mxe4m3-binary32, scaled by the device", quant.AlphaKernel(on(devices.BlackwellMXE4M3(), 0))},
		{"-recipe int8-row", "kernel epilogue on int32, scaled at the end", quant.EpilogueKernel(tcore.Machine{})},
		{"-recipe int8-1x128,int8-row -out bfloat16", "kernel deepseek on int32, scaled every 128 products", quant.DeepSeekKernel(tcore.Machine{Output: tcore.BFloat16})},
		{"-recipe int8-tensor -kernel alpha", "kernel alpha on int32", quant.AlphaKernel(tcore.Machine{})},
		{"-recipe nvfp4-te-1x16 -device blackwell", "scaled by the device and at the end", quant.AlphaKernel(on(devices.BlackwellNVF4(), 0))},
	} {
		status, said, errs := ask(t, "gemm "+test.args+" A.npy B.npy -o D.npy")
		if status != 0 || !strings.Contains(said, test.said) {
			t.Errorf("%s: status %d, %s%s", test.args, status, said, errs)
			continue
		}
		nameA, nameB, two := strings.Cut(strings.Fields(test.args)[1], ",")
		if !two {
			nameB = nameA
		}
		left, _ := quant.Named(nameA)
		right, _ := quant.Named(nameB)
		a, _ := left.Quantise(x, quant.Left)
		b, _ := right.Quantise(y, quant.Right)
		want, err := test.k.Multiply(a, b)
		if err != nil {
			t.Fatal(err)
		}
		d, err := readNumbers("D.npy")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Data {
			if d.Data[i] != float64(v) {
				t.Errorf("%s: element %d is %v, want %v", test.args, i, d.Data[i], v)
			}
		}
	}

	// U(0,1) on Hopper, K = 4096: sums lose 7 %, of which promotion leaves little.
	for args, want := range map[string]string{"": "0.07", " -promote 128": "0.000"} {
		_, said, _ := ask(t, "gemm -recipe torchao-e4m3-row A.npy B.npy"+args)
		lines := strings.Split(said, "\n")
		if len(lines) != 6 || !strings.HasPrefix(lines[3], "sums, scales, D  "+want) || !strings.HasPrefix(lines[2], "quantisation     0.00") {
			t.Errorf("%s: said %q", args, said)
		}
	}

	// The sums of int8 lose nothing but what rounding them and the scales does.
	if _, said, _ := ask(t, "gemm -recipe int8-row A.npy B.npy"); !strings.Contains(said, "sums, scales, D  ") || !strings.Contains(strings.Split(said, "\n")[3], "e-08 ") {
		t.Errorf("said %q", said)
	}

	status, _, errs := ask(t, "gemm -recipe torchao-e4m3-row A.npy C.npy -o none.npy")
	if status != 1 || !strings.Contains(errs, "A.npy is 4 × 4096 and C.npy is 4 × 64: they do not fit") {
		t.Errorf("status %d, %s", status, errs)
	}
	if status, _, errs = ask(t, "gemm -recipe torchao-e4m3-row -tb A.npy A.npy"); status != 0 {
		t.Errorf("a transposed factor: %s", errs)
	}
	if files, _ := filepath.Glob("none*"); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}
