package library

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// contracted is DeepSeek-V3's kernel as compilers are assumed to make it: the
// last multiplication and the addition are one FMA. That of package quant is as
// written.
func contracted(m tcore.Machine) quant.Kernel {
	k := quant.DeepSeekKernel(m)
	k.Fused = true
	return k
}

// The plans of DeepGEMM and of DeepSeek-V3 give the bits of package quant's
// kernels, which were written before them, from quantised matrices.
func TestScaledPlansAreTheKernels(t *testing.T) {
	const m, n, k, block = 24, 256, 1000, 128
	rng := rand.New(rand.NewPCG(18, 1))
	draw := func(rows, cols int) blas32.General {
		z := matrix.New(rows, cols)
		for i := range z.Data {
			z.Data[i] = float32(rng.NormFloat64() * math.Exp(3*rng.NormFloat64()))
		}
		return z
	}
	quantise := func(name string, z blas32.General, side quant.Side) *quant.Quantised {
		r, err := quant.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := r.Quantise(z, side)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	a, b := quantise("deepgemm-1x128", draw(m, k), quant.Left), quantise("deepgemm-128x128", draw(k, n), quant.Right)
	x, y := matrix.New(m, k), matrix.New(k, n)
	parts := (k + block - 1) / block
	scales := plan.Scales{A: matrix.New(m, parts), B: matrix.New(parts, n)}
	for l := range k {
		for i := range m {
			x.Data[i*k+l] = a.Number(i, l)
			scales.A.Data[i*parts+l/block] = a.Scale(i, l)
		}
		for j := range n {
			y.Data[l*n+j] = b.Number(l, j)
			scales.B.Data[l/block*n+j] = b.Scale(l, j)
		}
	}
	differ := map[string]blas32.General{}
	for name, kernel := range map[string]func(tcore.Machine) quant.Kernel{"deepgemm-sm90-1d2d": quant.DeepGEMMKernel, "deepseek-v3": contracted} {
		e, err := FindPlan(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(Shape{M: m, N: n, K: k}, FP8)
		if err != nil {
			t.Fatal(err)
		}
		p.Output = tcore.Binary32 // the bits before they are stored
		want, err := kernel(tcore.Machine{Device: devices.HopperE4M3(), Output: tcore.Binary32}).Multiply(a, b)
		if err != nil {
			t.Fatal(err)
		}
		got := matrix.New(m, n)
		p.GEMMScaled(1, x, y, scales, 0, blas32.General{}, got)
		wrong := 0
		for i, v := range got.Data {
			if math.Float32bits(v) != math.Float32bits(want.Data[i]) {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of %d elements have other bits", name, wrong, len(got.Data))
		}
		differ[name] = got
	}
	same := true
	for i, v := range differ["deepseek-v3"].Data {
		same = same && v == differ["deepgemm-sm90-1d2d"].Data[i]
	}
	if same {
		t.Error("the two kernels do not differ in a bit: the data do not test them")
	}
}
