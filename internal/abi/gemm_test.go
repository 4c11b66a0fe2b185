package abi

import (
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A product of matrices that are quantised is that of the package, by the
// kernel that the recipes ask for or that is named, however the matrices lie.
func TestGEMM_of_recipes(t *testing.T) {
	const m, k, n = 5, 256, 3
	x, y := drawn(m*k, 1), drawn(k*n, 2)
	a, b := blas32.General{Rows: m, Cols: k, Stride: k, Data: x}, blas32.General{Rows: k, Cols: n, Stride: n, Data: y}
	on := func(d tcore.Device) tcore.Machine { return tcore.Machine{Device: d, Output: tcore.Binary32} }
	promoted := on(devices.HopperE4M3())
	promoted.Promote = 128
	for _, c := range []struct {
		question, left, right string
		kernel                quant.Kernel
	}{
		{`{"recipe": "deepgemm-1x128,deepgemm-128x128"}`, "deepgemm-1x128", "deepgemm-128x128", quant.DeepGEMMKernel(on(devices.HopperE4M3()))},
		{`{"recipe": "deepgemm-1x128,deepgemm-128x128", "kernel": "deepseek"}`, "deepgemm-1x128", "deepgemm-128x128", quant.DeepSeekKernel(on(devices.HopperE4M3()))},
		{`{"recipe": "torchao-e4m3-row", "promote": 128}`, "torchao-e4m3-row", "torchao-e4m3-row", quant.EpilogueKernel(promoted)},
		{`{"recipe": "nvfp4-te-1x16", "device": "blackwell"}`, "nvfp4-te-1x16", "nvfp4-te-1x16", quant.AlphaKernel(on(devices.BlackwellNVF4()))},
		{`{"recipe": "int8-row"}`, "int8-row", "int8-row", quant.EpilogueKernel(tcore.Machine{Output: tcore.Binary32})},
		{`{"recipe": "int8-row", "out": "bfloat16"}`, "int8-row", "int8-row", quant.EpilogueKernel(tcore.Machine{Output: tcore.BFloat16})},
	} {
		left, errL := quant.Named(c.left)
		right, errR := quant.Named(c.right)
		if errL != nil || errR != nil {
			t.Fatal(errL, errR)
		}
		codesA, errA := left.Quantise(a, quant.Left)
		codesB, errB := right.Quantise(b, quant.Right)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		want, err := c.kernel.Multiply(codesA, codesB)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string][2]*Matrix{
			"as it lies":   {of("binary32", x, m, k), of("binary32", y, k, n)},
			"with strides": {laid(x, m, k, "binary64"), laid(y, k, n, "binary32")},
		} {
			got := make([]float32, m*n)
			said, err := GEMM(c.question, p[0], p[1], nil, of("binary32", got, m, n), never)
			if err != nil || !same(got, want.Data) || !strings.Contains(said, `"kernel":"`+c.kernel.Name+`"`) {
				t.Errorf("%s, %s: %v, %s, not the bits of the package", c.question, name, err, said)
			}
		}
	}
}

// A product by a plan is that of the package, with alpha, beta and C, in bands
// or not.
func TestGEMM_of_plans(t *testing.T) { inBands(t, testGEMMOfPlans) }

func testGEMMOfPlans(t *testing.T) {
	const m, k, n = 7, 300, 4
	x, y, z := drawn(m*k, 1), drawn(k*n, 2), drawn(m*n, 3)
	for _, form := range plan.Forms() {
		if _, scaled := form.Scaled(); scaled {
			continue
		}
		want, d := matrix.New(m, n), form.Device()
		a, b := blas32.General{Rows: m, Cols: k, Stride: k, Data: x}, blas32.General{Rows: k, Cols: n, Stride: n, Data: y}
		rounded := func(f tcore.Format, g blas32.General) blas32.General {
			to := matrix.New(g.Rows, g.Cols)
			for i, v := range g.Data {
				to.Data[i] = float32(f.Round(float64(v), d.Convert))
			}
			return to
		}
		form.GEMM(blas.NoTrans, blas.NoTrans, 2, rounded(d.A, a), rounded(d.B, b), -1, blas32.General{Rows: m, Cols: n, Stride: n, Data: z}, want)
		for _, text := range []string{form.Name, form.String()} {
			got := make([]float32, m*n)
			said, err := GEMM(`{"plan": "`+text+`", "alpha": 2, "beta": -1}`, laid(x, m, k, "binary32"), of("binary32", y, k, n), of("binary32", z, m, n), of("binary32", got, m, n), never)
			if err != nil || !same(got, want.Data) || !strings.Contains(said, d.Name) {
				t.Errorf("%s: %v, %s, not the bits of the package", text, err, said)
			}
		}
	}
}

func TestGEMM_refuses_what_contradicts(t *testing.T) {
	x := make([]float32, 4)
	a, d := of("binary32", x, 2, 2), of("binary32", make([]float32, 4), 2, 2)
	for question, want := range map[string]string{
		`{"plan": "plain", "recipe": "int8-row"}`:         `plan is "plain" and recipe "int8-row", want one of them`,
		`{"plan": "plain", "device": "hopper"}`:           `device is given, and plan, which has its own`,
		`{"plan": "plain", "split_k": 1}`:                 `split_k is given, and plan`,
		`{"plan": "plane"}`:                               `plan is "plane": `,
		`{"kernel": "alpha"}`:                             `kernel is "alpha", which is for a recipe`,
		`{"recipe": "int8-rows"}`:                         `recipe: no recipe "int8-rows"`,
		`{"recipe": "int8-row", "kernel": "beta"}`:        `kernel: no kernel "beta", want one of `,
		`{"recipe": "int8-row", "promote": 128}`:          `promote is 128, and recipe "int8-row" makes integers`,
		`{"recipe": "int8-row", "in": "int8"}`:            `recipe is "int8-row", and in, split_k, alpha, beta or c is given`,
		`{"recipe": "int8-row", "alpha": 2}`:              `recipe is "int8-row", and in, split_k, alpha`,
		`{"recipe": "torchao-e4m3-row", "device": "cpu"}`: `"cpu"`,
	} {
		if _, err := GEMM(question, a, a, nil, d, never); err == nil || !strings.Contains(flagless(err), want) {
			t.Errorf("%s: %v, want %s", question, err, want)
		}
	}
	if _, err := GEMM(`{"recipe": "int8-row"}`, a, a, nil, of("binary16", make([]float32, 4), 2, 2), never); err == nil || !strings.Contains(err.Error(), "d is of binary16") {
		t.Errorf("%v", err)
	}
}

// flagless returns what a caller is told of an error.
func flagless(err error) string {
	_, text := Call(func() (string, error) { return "", err })
	return text
}
