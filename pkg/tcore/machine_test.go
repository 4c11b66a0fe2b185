package tcore

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// slowGEMM computes Machine.GEMM element by element.
func slowGEMM(m Machine, tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c blas32.General, i, j int) float32 {
	at := func(x blas32.General, t blas.Transpose, i, j int) float64 {
		if t == blas.Trans {
			i, j = j, i
		}
		return float64(x.Data[i*x.Stride+j])
	}
	n := a.Cols
	if tA == blas.Trans {
		n = a.Rows
	}
	x, y := make([]float64, n), make([]float64, n)
	for l := range n {
		x[l], y[l] = at(a, tA, i, l), at(b, tB, l, j)
	}

	w := m.Device.Core.width()
	blocks := (n + w - 1) / w
	each := (blocks + m.SplitK - 1) / m.SplitK * w
	var sum float32
	for start := 0; start < n; start += each {
		end := min(start+each, n)
		part := float32(m.Device.Dot(x[start:end], y[start:end], 0))
		if start == 0 {
			sum = part
		} else {
			sum = float32(Binary32.Add(float64(sum), float64(part), ToNearestEven))
		}
	}
	z := Binary32.Mul(float64(alpha), float64(sum), ToNearestEven)
	if beta != 0 {
		z = Binary32.Add(z, Binary32.Mul(float64(beta), at(c, blas.NoTrans, i, j), ToNearestEven), ToNearestEven)
	}
	return float32(m.Output.Round(z, ToNearestEven))
}

func TestMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const m, n, l = 4, 5, 100
	for _, k := range []Machine{
		{Device: HopperF16, SplitK: 1, Output: Binary32},
		{Device: HopperF16, SplitK: 3, Output: Binary16},
		{Device: HopperF16F16, SplitK: 7, Output: Binary16},
		{Device: AmpereBF16, SplitK: 100, Output: BFloat16},
		{Device: AdaE5M2, SplitK: 2, Output: E4M3},
		{Device: HopperMMAE4M3, SplitK: 2, Output: Binary32},
		{Device: CDNA2F16, SplitK: 2, Output: Binary32},
		{Device: IEEEF32, SplitK: 5, Output: Binary32},
	} {
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, beta := range []float32{0, 0.7} {
					a, b := chipMatrix(rng, m, l, k.Device.A, 0), chipMatrix(rng, l, n, k.Device.B, 0)
					if tA == blas.Trans {
						a = chipMatrix(rng, l, m, k.Device.A, 0)
					}
					if tB == blas.Trans {
						b = chipMatrix(rng, n, l, k.Device.B, 0)
					}
					c, d := chipMatrix(rng, m, n, Binary32, 0), zeros(m, n)
					k.GEMM(tA, tB, 1.3, a, b, beta, c, d)
					for i := range m {
						for j := range n {
							want := slowGEMM(k, tA, tB, 1.3, a, b, beta, c, i, j)
							if got := d.Data[i*n+j]; !same(float64(got), float64(want)) {
								t.Fatalf("%s, SplitK %d, %c%c, beta %v: (%d, %d) = %x, want %x", k.Device.Name, k.SplitK, tA, tB, beta, i, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// A product is stored in d, whose rows may have others between them, and which
// may be c; c is not read if beta is 0, and may be of another shape.
func TestMachine_stores_in_place(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const m, n, l, stride = 5, 7, 70, 9
	for _, device := range Devices() {
		if device.ScaleBlock > 0 {
			continue
		}
		outputs := []Format{device.C, Binary16}
		a, b, c := chipMatrix(rng, m, l, device.A, 0), chipMatrix(rng, l, n, device.B, 0), chipMatrix(rng, m, stride, Binary32, 0)
		for _, scales := range [][2]float32{{1, 0}, {-1.3, 0}, {1, 1}, {0.7, -0.3}} {
			for i, split := range []int{1, 2} {
				k := Machine{Device: device, SplitK: split, Output: outputs[i]}
				alpha, beta := scales[0], scales[1]
				d := blas32.General{Rows: m, Cols: n, Stride: stride, Data: slices.Clone(c.Data)}
				addend := d
				if beta == 0 {
					addend = blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{3}}
				}
				k.GEMM(blas.NoTrans, blas.NoTrans, alpha, a, b, beta, addend, d)
				for e, got := range d.Data {
					i, j := e/stride, e%stride
					want := c.Data[e]
					if j < n {
						want = slowGEMM(k, blas.NoTrans, blas.NoTrans, alpha, a, b, beta, c, i, j)
					}
					if !same(float64(got), float64(want)) {
						t.Fatalf("%s, SplitK %d, alpha %v, beta %v: (%d, %d) = %x, want %x", device.Name, split, alpha, beta, i, j, got, want)
					}
				}
			}
		}
	}
}

// So is one in an order of its own, or of random roundings, of which every
// product has others in every part of K. The elements are those of Dot.
func TestMachine_stores_in_place_in_order(t *testing.T) {
	const m, n, l, stride = 3, 4, 21, 6
	rng := rand.New(rand.NewPCG(9, 11))
	a, b, c := chipMatrix(rng, m, l, Binary32, 0), chipMatrix(rng, l, n, Binary32, 0), chipMatrix(rng, m, stride, Binary32, 0)
	x, y := matrix.Vectors(a), matrix.Vectors(matrix.Transpose(b))
	for _, k := range []Machine{{Device: IEEEF32, Order: InPairs}, {Device: IEEEF32, SplitK: 3, Stochastic: Stochastic{Seed: 3, Bits: 9}}} {
		d := blas32.General{Rows: m, Cols: n, Stride: stride, Data: slices.Clone(c.Data)}
		k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		for e, got := range d.Data {
			i, j := e/stride, e%stride
			want := float64(c.Data[e])
			if j < n {
				want = k.Dot(x[i], y[j], uint64(i*n+j))
			}
			if float64(got) != want {
				t.Errorf("SplitK %d: (%d, %d) = %x, want %x", k.SplitK, i, j, got, want)
			}
		}
	}
}

func TestMachine_zero_values_are_the_device(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b, d, z := chipMatrix(rng, 3, 40, Binary16, 0), chipMatrix(rng, 40, 3, Binary16, 0), zeros(3, 3), zeros(3, 3)
	Machine{Device: TuringF16}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	TuringF16.MultiplyAdd(a, b, blas32.General{}, z)
	for i := range d.Data {
		if d.Data[i] != z.Data[i] {
			t.Errorf("element %d = %v, want %v", i, d.Data[i], z.Data[i])
		}
	}
}

// The fields of Contested have the effects that their comments describe, and no
// others.
func TestContested(t *testing.T) {
	clamp := HopperF16
	core := clamp.Core.(Fused)
	core.ClampAlways, core.ZeroExponent = true, 30
	clamp.Core = core
	two := make([]float64, 16)
	for i := range two {
		two[i] = 1 + 0x1p-10
	}
	// All terms are below 2^30, and truncated at 2^5.
	if got := clamp.Dot(two, two, 1); got != 0 {
		t.Errorf("ClampAlways: %v, want 0", got)
	}
	core.ClampAlways = false
	clamp.Core = core
	if got, want := clamp.Dot(two, two, 1), HopperF16.Dot(two, two, 1); got != want {
		t.Errorf("without zeros: %v, want %v", got, want)
	}
	if got := clamp.Dot(two, two, 0); got != 0 {
		t.Errorf("with a zero among the terms: %v, want 0", got)
	}
	// GEMM uses the fields in the same way.
	a, z := filled(1, 16), zeros(1, 1)
	a.Data = make([]float32, 16)
	for i := range a.Data {
		a.Data[i] = 1 + 0x1p-10
	}
	b := blas32.General{Rows: 16, Cols: 1, Stride: 1, Data: a.Data}
	clamp.MultiplyAdd(a, b, filled(1, 1, 1), z)
	if want := HopperF16.Dot(two, two, 1); float64(z.Data[0]) != want {
		t.Errorf("GEMM: %v, want %v", z.Data[0], want)
	}
}

// Every device has a different name, and a core that supports its formats.
func TestDevices_have_names_of_their_own(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Devices() {
		if seen[d.Name] {
			t.Errorf("two devices %s", d.Name)
		}
		seen[d.Name] = true
		d.check("test", 0, 0)
	}
}

// Sums of positive numbers on Hopper, which keeps 13 fraction bits for e4m3,
// lose two fifths over 32768 products, and 0.05 % if they are promoted every
// 128.
func TestMachine_promotes(t *testing.T) {
	const m, n, k = 4, 8, 32768
	rng := rand.New(rand.NewPCG(15, 1))
	x, y := zeros(m, k), zeros(k, n)
	for _, data := range [][]float32{x.Data, y.Data} {
		for i := range data {
			data[i] = float32(E4M3.Round(rng.Float64(), ToNearestEven))
		}
	}
	exact := Float64GEMM(x, y)
	loss := func(machine Machine) float64 {
		z := zeros(m, n)
		machine.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, 0, blas32.General{}, z)
		sum := 0.0
		for i, v := range z.Data {
			sum += 1 - float64(v)/exact.Data[i]
		}
		return sum / (m * n)
	}
	if got := loss(Machine{Device: HopperE4M3}); got < 0.38 || got > 0.44 {
		t.Errorf("the sums lose %v, want 0.41", got)
	}
	if got := loss(Machine{Device: HopperE4M3, Promote: 128}); got < 4e-4 || got > 7e-4 {
		t.Errorf("promoted sums lose %v, want 5.3e-4", got)
	}
}

// Sums that are promoted are those of a K that is split into parts of the same
// length, of which the last may be shorter; Dot and GEMM agree.
func TestMachine_promotes_as_it_splits(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	for _, k := range []int{1, 128, 130, 500, 512} {
		x, y := make([]float64, k), make([]float64, k)
		a, b, z := zeros(1, k), zeros(k, 1), zeros(1, 1)
		for i := range k {
			x[i], y[i] = HopperF16.A.Round(rng.NormFloat64(), ToNearestEven), HopperF16.A.Round(rng.NormFloat64(), ToNearestEven)
			a.Data[i], b.Data[i] = float32(x[i]), float32(y[i])
		}
		promoted := Machine{Device: HopperF16, Promote: 128}
		want := 0.0
		for start := 0; start < k; start += 128 {
			end := min(start+128, k)
			want = Binary32.Add(want, HopperF16.Dot(x[start:end], y[start:end], 0), ToNearestEven)
		}
		if got := promoted.Dot(x, y, 0); got != want {
			t.Errorf("K = %d: Dot = %v, want %v", k, got, want)
		}
		if promoted.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, z); float64(z.Data[0]) != want {
			t.Errorf("K = %d: GEMM = %v, want %v", k, z.Data[0], want)
		}
	}
}

// What is no number of whole blocks is refused, and two ways to cut K at once.
func TestMachine_refuses_to_promote(t *testing.T) {
	for want, m := range map[string]Machine{
		`Promote = -128, want a multiple of 32, the products that device "hopper-wgmma-e4m3-binary32" adds at once`: {Device: HopperE4M3, Promote: -128},
		`Promote = 100, want a multiple of 32, the products that device "hopper-wgmma-e4m3-binary32" adds at once`:  {Device: HopperE4M3, Promote: 100},
		`Promote = 128 and SplitK = 2, want one of them`:                                                            {Device: HopperE4M3, Promote: 128, SplitK: 2},
	} {
		if err := m.Check(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for _, d := range Devices() {
		core, ok := d.Core.(Fused)
		if !ok || d.ScaleBlock != 32 {
			continue
		}
		core.Terms = 16
		d.Core = core
		if (Machine{Device: d, Promote: 16}).Check() == nil || (Machine{Device: d, Promote: 32}).Check() != nil {
			t.Errorf("%s: scales of 32 products are cut, or whole ones are not", d.Name)
		}
	}
}
