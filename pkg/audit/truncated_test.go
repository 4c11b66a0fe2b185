package audit

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// What sums lose at most is that of the steps of a trace of each, with
// exponents that are those of the trace or, by as much as the greatest factors
// of a step do not meet, greater.
func TestTruncatedStepByStep(t *testing.T) {
	layers := hardLayers()
	a, b := matrix.New(1, 128), matrix.New(128, 1) // of codes 2^-10, whose products have subnormal sums in binary16
	for k := 32; k < 96; k++ {
		a.Data[k], b.Data[k] = 0x1p-10, 0x1p-10
	}
	a.Data[0], b.Data[127] = 57344, 57344
	layers["subnormal sums"] = [2]blas32.General{a, b}
	for name, factors := range layers {
		l, err := NewLayer(factors[0], factors[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			recipe string
			d      tcore.Device
			every  int
		}{
			{"torchao-e4m3-row", devices.HopperE4M3(), 0}, {"torchao-e4m3-row", devices.AdaE4M3(), 48},
			{"te-e5m2-tensor-power", devices.HopperE5M2F16(), 0}, {"deepgemm-1x128", devices.HopperE4M3(), 128}, {"torchao-e5m2-row", devices.BlackwellE5M2(), 0},
		} {
			r := recipe(t, test.recipe)
			a, errA := r.Quantise(l.a, quant.Left)
			b, cols, errB := l.quantiseB(r)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			z, ok := l.truncated(a, b, cols, test.d, test.every)
			if !ok {
				t.Fatalf("%s: no bound", test.d.Name)
			}
			of, _ := bound.Problem{Machine: tcore.Machine{Device: test.d}}.Accumulator()
			every := test.every
			if every == 0 {
				every = l.a.Cols
			}
			top := func(f tcore.Format, from, to int, at func(k int) float32) int {
				E := -1 << 20
				for k := from; k < to; k++ {
					if v := float64(at(k)); v != 0 {
						E = max(E, f.Emin, math.Ilogb(v))
					}
				}
				return E
			}
			for i, row := range l.rows {
				for j, col := range cols {
					least, want := 0.0, 0.0
					for start := 0; start < l.a.Cols; start += every {
						end := min(start+every, l.a.Cols)
						x, y := make([]float64, end-start), make([]float64, end-start)
						for k := range x {
							x[k], y[k] = float64(a.Number(row, start+k)), float64(b.Number(start+k, col))
						}
						S := float64(a.Scale(row, start)) * float64(b.Scale(start, col))
						for _, step := range test.d.Trace(x, y, 0).Blocks {
							from, to := start+step.Start, min(start+step.Start+of.Terms, end)
							E := top(test.d.A, from, to, func(k int) float32 { return a.Number(row, k) }) + top(test.d.B, from, to, func(k int) float32 { return b.Number(k, col) })
							least += S * of.Error(step.Exponent, step.Result)
							want += S * of.Error(max(step.Exponent, E), step.Result)
						}
					}
					if want-want != 0 {
						continue // the sum overflows
					}
					if got := z.Data[i*z.Stride+j]; !(math.Abs(got-want) <= 1e-12*want && got >= least*(1-1e-12)) {
						t.Errorf("%s, %s on %s every %d: output %d, %d: %v, want %v, at least %v", name, test.recipe, test.d.Name, test.every, i, j, got, want, least)
					}
				}
			}
		}
	}
	l, err := NewLayer(Normal(3, 64, 1), Normal(64, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.IEEEF16(), devices.CDNA3F16()} {
		if _, ok := l.truncated(nil, nil, nil, d, 0); ok {
			t.Errorf("%s does not align all products of a step", d.Name)
		}
	}
}

// Knowing the sums, the bound on what Hopper and Ada add to products of normal
// numbers is less than a tenth of the result: without, it is ten times as much
// or more.
func TestTruncatedIsNear(t *testing.T) {
	l, err := NewLayer(Normal(32, 1280, 1), Normal(1280, 32, 2))
	if err != nil {
		t.Fatal(err)
	}
	r := recipe(t, "torchao-e4m3-row")
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.AdaE4M3()} {
		e, err := l.Errors(r, r, []tcore.Device{d}, 128)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range e.Devices {
			every := of.Promote
			if every == 0 {
				every = 1280
			}
			β, _ := always(bound.Problem{M: 32, N: 32, K: every, Machine: tcore.Machine{Device: d}})
			before := β * l.mean / l.size
			t.Logf("%s every %d: measured %.2g, at most %.2g, without the sums %.2g", d.Name, of.Promote, of.RMS, of.Bound, before)
			if !(of.RMS < of.Bound && of.Bound < 0.1 && of.Bound < before/10) {
				t.Errorf("%s every %d: measured %v, at most %v, without the sums %v", d.Name, of.Promote, of.RMS, of.Bound, before)
			}
		}
	}
}
