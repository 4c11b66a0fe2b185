package tolerance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// numbers returns a matrix of numbers of a format that draw draws.
func numbers(rows, cols int, f tcore.Format, draw func() float64) blas32.General {
	m := matrix.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(f.Round(draw(), tcore.ToNearestEven))
	}
	return m
}

// permuted returns A and B with the terms of every sum in another order.
func permuted(a, b blas32.General, order []int) (x, y blas32.General) {
	x, y = matrix.New(a.Rows, a.Cols), matrix.New(b.Rows, b.Cols)
	for l, from := range order {
		for i := range a.Rows {
			x.Data[i*x.Stride+l] = a.Data[i*a.Stride+from]
		}
		copy(matrix.Row(y, l), matrix.Row(b, from))
	}
	return x, y
}

// kernel returns the product in parts of K, which are added in binary32 in some
// order and stored in the format of D.
func kernel(m tcore.Machine, a, b blas32.General, order func(parts int) []int) blas64.General {
	length := partLength(m, a.Cols)
	var sums []blas32.General
	for lo := 0; lo < a.Cols; lo += length {
		z := matrix.New(a.Rows, b.Cols)
		hi := min(a.Cols, lo+length)
		m.Device.MultiplyAdd(matrix.Columns(a, lo, hi), matrix.Rows(b, lo, hi), blas32.General{}, z)
		sums = append(sums, z)
	}
	d := matrix.New(a.Rows, b.Cols)
	for _, p := range order(len(sums)) {
		for i, x := range sums[p].Data {
			d.Data[i] += x
		}
	}
	return matrix.Map64(func(x float64) float64 { return m.Device.C.Round(x, tcore.ToNearestEven) }, matrix.Float64(d))
}

// toleranceOf returns the tolerance of outputs of a device.
func toleranceOf(t *testing.T, d tcore.Device, a, b blas32.General, o Orders) *Tolerance {
	t.Helper()
	data, err := Measure(a, b)
	if err != nil {
		t.Fatal(err)
	}
	z, err := data.Of(Implementation{Machine: tcore.Machine{Device: d}, Orders: o}, roundoff.FailureOf(1-1e-6))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// nvidia are the tensor cores of NVIDIA without scales that add in binary32 or
// less.
func nvidia() (all []tcore.Device) {
	for _, d := range devices.All() {
		if slices.Contains([]string{"Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "RTX Blackwell"}, d.Architecture) &&
			d.ScaleBlock == 0 && d.C.Precision <= tcore.Binary32.Precision {
			all = append(all, d)
		}
	}
	return all
}

// Sound kernels are within their tolerance on every tensor core of NVIDIA,
// whatever the number of parts of K, the order of products in them, of all or
// of two blocks, and the order in which their sums are added, also where
// truncation has a drift to either side.
func TestSoundKernelsOfNVIDIAAreWithin(t *testing.T) {
	const m, k, n = 16, 500, 16
	for i, d := range nvidia() {
		if testing.Short() && i%5 != 2 {
			continue
		}
		for law, name := range []string{"N(0,1)", "U(0,1)", "U(-1,0)"} {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(law)))
			draw, b := rng.Float64, rng.Float64
			switch name {
			case "N(0,1)":
				draw, b = rng.NormFloat64, rng.NormFloat64
			case "U(-1,0)":
				draw = func() float64 { return -rng.Float64() }
			}
			data, err := Measure(numbers(m, k, d.A, draw), numbers(k, n, d.B, b))
			if err != nil {
				t.Fatal(err)
			}
			blocks := identity(k)
			for l := range 32 {
				blocks[l], blocks[k-64+l] = k-64+l, l
			}
			swappedA, swappedB := permuted(data.A, data.B, blocks)
			padded := data.padded(12) // to 512
			limits := map[string]*Tolerance{}
			if limits["split"], err = data.Of(Implementation{Machine: tcore.Machine{Device: d}}, roundoff.FailureOf(1-1e-6)); err != nil {
				t.Fatal(err)
			}
			for _, s := range []int{1, 2, 3, 5, 8, 32} {
				machine := tcore.Machine{Device: d, SplitK: s}
				if delete(limits, "machine"); s == 2 {
					if limits["machine"], err = data.Of(Implementation{Machine: machine, Orders: OneMachine}, roundoff.FailureOf(1-1e-6)); err != nil {
						t.Fatal(err)
					}
				}
				x, y := permuted(data.A, data.B, rng.Perm(k))
				for order, got := range map[string]blas64.General{
					"in sequence": kernel(machine, data.A, data.B, identity),
					"shuffled":    kernel(machine, x, y, rng.Perm),
					"swapped":     kernel(machine, swappedA, swappedB, identity),
					"rest first":  kernel(machine, padded.A, padded.B, identity),
				} {
					for orders, z := range limits {
						if r := z.Compare(got); !r.Within() {
							t.Errorf("%s, %s, %d parts %s, orders %s: %v", d.Name, name, s, order, orders, r)
						}
					}
				}
			}
		}
	}
}

func identity(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// On devices that keep 13 bits the errors of sums of one sign are known to be
// of one sign, and less uncertain than they can be great. A kernel that
// forgets the last products is found out as no number of parts explains it,
// although each output is as near as some number allows.
func TestDriftNarrows(t *testing.T) {
	const m, k, n, tail = 48, 1003, 48, 16
	found := 0
	for _, d := range nvidia() {
		core, ok := d.Core.(tcore.Fused)
		if !ok || core.FractionBits > 13 || core.Rounding != tcore.ToZero {
			continue
		}
		found++
		for _, sign := range []float64{1, -1} {
			rng := rand.New(rand.NewPCG(4, 4))
			a, b := numbers(m, k, d.A, func() float64 { return sign * rng.Float64() }), numbers(k, n, d.B, rng.Float64)
			data, err := Measure(a, b)
			if err != nil {
				t.Fatal(err)
			}
			of := func(by Implementation, f roundoff.Failure) *Tolerance {
				by.Machine.Device = d
				z, err := data.Of(by, f)
				if err != nil {
					t.Fatal(err)
				}
				return z
			}
			one := of(Implementation{Orders: OneMachine}, roundoff.FailureOf(1-1e-6))
			centres, radii := one.errors(0)
			for i, limit := range one.Limits.Data {
				if c, r := centres[i], radii[i]; !(c*sign < 0 && r <= 0.75*limit && c*sign-r >= -limit*(1+1e-12) && c*sign+r < 0) {
					t.Fatalf("%s, sign %v: an error of %v ± %v, and a limit of %v", d.Name, sign, c, r, limit)
				}
			}
			sound := kernel(tcore.Machine{Device: d}, a, b, identity)
			if r := one.Compare(sound); !r.Within() {
				t.Errorf("%s, sign %v: %v", d.Name, sign, r)
			}
			mean, least := 0.0, one.alternatives[0][0].loss
			for i, x := range sound.Data {
				mean += math.Abs(x-data.Exact.Data[i]) / (m * n)
			}
			if least > mean || least < mean/4 {
				t.Errorf("%s, sign %v: %v is lost for sure, of %v in the mean", d.Name, sign, least, mean)
			}
			if centres, _ := of(Implementation{Orders: OneMachine}, roundoff.Never).errors(0); centres[0] != 0 {
				t.Errorf("%s: a centre of %v always, which takes assumptions", d.Name, centres[0])
			}
			wrong := kernel(tcore.Machine{Device: d, SplitK: 32}, matrix.Columns(a, 0, k-tail), matrix.Rows(b, 0, k-tail), identity)
			r := of(Implementation{}, roundoff.FailureOf(1-1e-6)).Compare(wrong)
			if mixed := of(Implementation{Orders: MixedSplits}, roundoff.FailureOf(1-1e-6)).Compare(wrong); r.Within() || mixed.Within() == (r.Parts == 0) {
				t.Errorf("%s, sign %v: without %d products\n%v\nwith mixed splits\n%v", d.Name, sign, tail, r, mixed)
			}
		}
	}
	if found < 4 {
		t.Errorf("%d devices that keep 13 bits, want 4", found)
	}
}

// Kernels that cut K in two ways are within the tolerance of mixed splits, and
// a report on those of one split says so.
func TestMixedSplits(t *testing.T) {
	const m, k, n = 24, 1003, 24
	d := devices.HopperE4M3()
	rng := rand.New(rand.NewPCG(6, 6))
	a, b := numbers(m, k, d.A, rng.Float64), numbers(k, n, d.B, rng.Float64)
	of := func(o Orders) *Tolerance { return toleranceOf(t, d, a, b, o) }
	one, many := kernel(tcore.Machine{Device: d, SplitK: 1}, a, b, identity), kernel(tcore.Machine{Device: d, SplitK: 32}, a, b, identity)
	copy(one.Data[:n], many.Data[:n]) // a row of tiles is split
	if r := of(MixedSplits).Compare(one); !r.Within() {
		t.Errorf("mixed: %v", r)
	}
	r := of(UnknownSplit).Compare(one)
	if r.Within() || r.Parts == 0 || r.Beyond != n && r.Beyond != (m-1)*n {
		t.Errorf("one split of %d parts: %v", r.Parts, r)
	}
}

// Outputs that are said to be exact are, in any order and however K is cut, on
// every device; and where one bit more is needed than is kept it is lost.
func TestExactSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	exact, not, lost := 0, 0, 0
	for _, d := range append(nvidia(), devices.IEEEF32()) {
		for bits := 1; bits <= 14; bits++ {
			draw := func() float64 { // of few bits, at the exponents that are about to be too far apart
				return float64(rng.IntN(5)-2) * []float64{1, 1, 1, 1 / float64(int(1)<<bits)}[rng.IntN(4)]
			}
			a, b := numbers(6, 70, d.A, draw), numbers(70, 6, d.B, draw)
			data, err := Measure(a, b)
			if err != nil {
				t.Fatal(err)
			}
			is := data.exact(Implementation{Machine: tcore.Machine{Device: d}})
			if is == nil {
				t.Fatalf("%s: nothing is known of it", d.Name)
			}
			for _, s := range []int{1, 2, 4} {
				x, y := permuted(a, b, rng.Perm(a.Cols))
				got := kernel(tcore.Machine{Device: d, SplitK: s}, x, y, rng.Perm)
				for i, z := range got.Data {
					switch right := z == data.Exact.Data[i]; {
					case is[i] && !right:
						t.Fatalf("%s, %d bits, %d parts: %v is not the exact %v", d.Name, bits, s, z, data.Exact.Data[i])
					case is[i]:
						exact++
					case right:
						not++
					default:
						lost++
					}
				}
			}
		}
	}
	if exact < 1000 || lost < 1000 {
		t.Errorf("%d outputs are known to be exact, %d are and are not known to be, %d are not", exact, not, lost)
	}
	for _, c := range []struct {
		d      tcore.Device
		a0, b0 float32
		a1, b1 float32
		want   bool
	}{
		{devices.HopperF16(), 1, 1, 0x1p-12, 0x1p-11, true}, {devices.HopperF16(), 1, 1, 0x1p-12, 0x1p-12, false},
		{devices.HopperE4M3(), 1, 1, 0x1p-6, 0x1p-7, true}, {devices.HopperE4M3(), 1, 1, 0x1p-7, 0x1p-7, false},
		{devices.HopperF16F16(), 1, 1, 0x1p-5, 0x1p-5, true}, {devices.HopperF16F16(), 1, 1, 0x1p-5, 0x1p-6, false},
		// 2⁻¹⁶ is subnormal, and a product with it is aligned as if it were of 2⁻¹⁴.
		{devices.HopperE5M2(), 0x1p-16, 0x1p-2, 0x1p-16, 0x1p-13, true}, {devices.HopperE5M2(), 0x1p-16, 0x1p-2, 0x1p-16, 0x1p-14, false},
	} {
		a, b := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{c.a0, c.a1}}, blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{c.b0, c.b1}}
		data, err := Measure(a, b)
		if err != nil {
			t.Fatal(err)
		}
		machine := tcore.Machine{Device: c.d}
		z := matrix.New(1, 1)
		machine.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, z)
		if is := data.exact(Implementation{Machine: machine})[0]; is != c.want || (float64(z.Data[0]) == data.Exact.Data[0]) != c.want {
			t.Errorf("%s: %v %v + %v %v is %v, said to be exact: %v, want %v", c.d.Name, c.a0, c.b0, c.a1, c.b1, z.Data[0], is, c.want)
		}
	}
}
