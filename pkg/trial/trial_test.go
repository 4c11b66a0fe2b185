package trial_test

import (
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// positive generates matrices of U(0,1).
type positive struct{}

func (positive) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	r := rand.New(rand.NewPCG(seed, 0))
	draw := func(float32) float32 { return r.Float32() }
	return matrix.Map(matrix.New(m, k), draw), matrix.Map(matrix.New(k, n), draw)
}

// The measured errors are those of the whole machine, including its split of K
// and the rounding of its output.
func TestRun_measures_the_whole_machine(t *testing.T) {
	for name, m := range map[string]tcore.Machine{
		"K in parts":           {Device: devices.VoltaF16(), SplitK: 2},
		"promoted":             {Device: devices.VoltaF16(), Promote: 96},
		"D in binary16":        {Device: devices.VoltaF16(), Output: tcore.Binary16},
		"both":                 {Device: devices.VoltaF16(), SplitK: 2, Output: tcore.Binary16},
		"the device by itself": {Device: devices.VoltaF16()},
		"in binary64":          {Device: devices.IEEEF64()},
	} {
		for _, represented := range []bool{false, true} {
			p := bound.Problem{M: 16, N: 5, K: 256, Machine: m, Represented: represented}
			got, err := trial.Run(p, positive{}, 3)
			if err != nil {
				t.Fatal(err)
			}
			a, b := positive{}.Matrices(p.M, p.N, p.K, 3)
			i := 0
			for e, size := range errorsByHand(m, a, b, represented) {
				if math.Abs(got.Errors[i]-e) > 1e-13*size || math.Abs(got.Sizes()[i]-size) > 1e-13*size {
					t.Fatalf("%s, represented %v: output %d errs by %v of %v, want %v of %v", name, represented, i, got.Errors[i], got.Sizes()[i], e, size)
				}
				if d := got.D.Data[i]; got.Values[i]+got.Errors[i] != d && math.Abs(got.Values[i]+got.Errors[i]-d) > 1e-13*size {
					t.Errorf("%s: %v + %v is not %v", name, got.Values[i], got.Errors[i], d)
				}
				i++
			}
		}
	}
}

// errorsByHand returns D̂ - D and |A||B| of every output, one dot product after
// the other, with D computed by big.Float.
func errorsByHand(m tcore.Machine, a, b blas32.General, represented bool) iter.Seq2[float64, float64] {
	return func(yield func(e, size float64) bool) {
		part := a.Cols / max(m.SplitK, 1)
		if m.Promote > 0 {
			part = m.Promote
		}
		for i := range a.Rows {
			for j := range b.Cols {
				x, y := make([]float64, a.Cols), make([]float64, a.Cols)
				exact, size := new(big.Float).SetPrec(500), new(big.Float).SetPrec(500)
				for l := range x {
					x[l], y[l] = float64(a.Data[i*a.Stride+l]), float64(b.Data[l*b.Stride+j])
					u, v := x[l], y[l]
					if !represented {
						u, v = m.Device.A.Round(u, m.Device.Convert), m.Device.B.Round(v, m.Device.Convert)
					}
					p := new(big.Float).SetPrec(500).SetFloat64(u)
					p.Mul(p, big.NewFloat(v))
					exact.Add(exact, p)
					size.Add(size, p.Abs(p))
				}
				computed := 0.0
				for start := 0; start < len(x); start += part {
					end := min(start+part, len(x))
					computed += m.Device.Dot(x[start:end], y[start:end], 0) // in binary64, where the sum of two binary32 numbers is rounded once more
					if part < len(x) {
						computed = float64(float32(computed))
					}
				}
				if m.Output == tcore.Binary16 {
					computed = tcore.Binary16.Round(computed, tcore.ToNearestEven)
				}
				e, _ := exact.Sub(new(big.Float).SetPrec(500).SetFloat64(computed), exact).Float64()
				z, _ := size.Float64()
				if !yield(e, z) {
					return
				}
			}
		}
	}
}

// An element that is not finite after conversion is reported by an error that
// names it.
func TestOf_what_is_not_finite(t *testing.T) {
	a, b := positive{}.Matrices(2, 2, 4, 1)
	a.Data[5] = 1e5 // beyond the range of binary16
	for name, err := range map[string]error{
		"a[1, 1] = +Inf, want a finite number": errorOf(trial.On(devices.HopperF16(), a, b)),
		"":                                     errorOf(trial.Of(a, b)),
	} {
		if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	p := bound.Problem{M: 2, N: 2, K: 4, Machine: tcore.Machine{Device: devices.HopperF16()}}
	if _, err := trial.Run(p, trial.Matrices{A: a, B: b}, 0); err == nil {
		t.Error("no error of an element beyond the format")
	}
}

func errorOf(_ *trial.Product, err error) error { return err }

// Compare returns the errors of a result that was computed elsewhere.
func TestProduct_Compare(t *testing.T) {
	a, b := matrix.New(1, 3), matrix.New(3, 1)
	copy(a.Data, []float32{1, 2, -3})
	copy(b.Data, []float32{4, 4, 3.75})
	p, err := trial.Of(a, b)
	if err != nil {
		t.Fatal(err)
	}
	d := matrix.New64(1, 1)
	d.Data[0] = 1
	z := p.Compare(d)
	if z.Errors[0] != 0.25 || z.Relative()[0] != 1./3 || z.Backward()[0] != 0.25/23.25 || z.Conditions()[0] != 31 {
		t.Errorf("error %v, relative %v, backward %v, condition %v", z.Errors, z.Relative(), z.Backward(), z.Conditions())
	}
}

// Relative and backward errors are not negative, whatever the sign of the
// result.
func TestRelativeErrorsOfNegativeResults(t *testing.T) {
	p, err := trial.Of(blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{-2}}, blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Compare(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{-1.5}})
	if c.Relative()[0] != 0.25 || c.Backward()[0] != 0.25 || p.Conditions()[0] != 1 {
		t.Errorf("relative %v, backward %v, condition %v", c.Relative(), c.Backward(), p.Conditions())
	}
}

// A problem with the plan of its machine has the errors of the machine.
func TestRunPlan(t *testing.T) {
	for _, m := range []tcore.Machine{{Device: devices.HopperE4M3(), Promote: 128}, {Device: devices.HopperF16(), SplitK: 3, Output: tcore.Binary16}} {
		k := bound.Problem{M: 5, N: 4, K: 300, Machine: m}
		p, err := plan.Of(m, k.K)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := k.Planned(p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := trial.Run(k, positive{}, 1)
		got, errGot := trial.Run(planned, positive{}, 1)
		if err != nil || errGot != nil {
			t.Fatal(err, errGot)
		}
		if !slices.Equal(got.Errors, want.Errors) || slices.Max(want.Backward()) == 0 || got.Plan.Order == nil {
			t.Errorf("%s: errors %v, want %v", m.Device.Name, got.Errors, want.Errors)
		}
	}
}
