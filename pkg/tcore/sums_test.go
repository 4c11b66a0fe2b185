package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// sumsDevices returns devices of all cores whose sums are those of tiles:
// those of the catalogue, and some with other formats.
func sumsDevices() []Device {
	var list []Device
	for _, d := range Devices() {
		switch d.Core.(type) {
		case Chain, Pairwise, ExactSum:
			list = append(list, d)
		}
	}
	mixed := func(name string, a, b, c Format, core Core) Device {
		return Device{Name: name, A: a, B: b, C: c, Core: core}
	}
	saturating := E4M3
	saturating.Overflow = Saturate
	return append(list,
		mixed("chain of mixed factors", BFloat16, saturating, Binary32, Chain{}),
		mixed("chain of any factors", Binary64, TF32, Binary32, Chain{}),
		mixed("chain in binary64 of narrow factors", BFloat16, E5M2, Binary64, Chain{}),
		mixed("pairs of mixed factors", BFloat16, Binary16, Binary32, Pairwise{Terms: 4}),
		mixed("pairs of tf32", TF32, TF32, Binary32, Pairwise{Terms: 2}),
		mixed("exact sums of mixed factors", BFloat16, Binary16, Binary32, ExactSum{Terms: 4}),
		mixed("exact sums of tf32", TF32, TF32, Binary32, ExactSum{Terms: 2}),
		mixed("exact sums of fp8", E4M3FNUZ, E5M2, Binary32, ExactSum{Terms: 4}))
}

// sumsMatrix returns a matrix of numbers that test the limits of sums of tiles:
// data of one distribution, with exceptional elements in the proportion rare.
func sumsMatrix(rng *rand.Rand, rows, cols int, f Format, kind int, rare float64) blas32.General {
	if kind == 0 {
		return fusedMatrix(rng, rows, cols, f, rare)
	}
	m := zeros(rows, cols)
	emin, emax := max(f.Emin, -149), min(f.Emax, 127)
	for i := range m.Data {
		x := 0.0
		switch kind {
		case 1: // near 1
			x = rng.NormFloat64()
		case 2: // a few bits: ties
			x = float64(rng.IntN(5)-2) * exp2(rng.IntN(26)-13)
		case 3: // any exponent
			x = (1 + rng.Float64()) * exp2(emin+rng.IntN(emax-emin+1))
		case 4: // products near the least normal number of binary32
			x = (1 + rng.Float64()) * exp2(max(emin-1, -64)+rng.IntN(4))
		case 5: // products near the greatest number of binary32
			x = (1 + rng.Float64()) * exp2(min(emax, 64)-rng.IntN(4))
		case 6: // zeros of both signs, and numbers that vanish
			x = f.MinSubnormal() * float64(rng.IntN(3)/2)
		}
		x = signed(math.Abs(x), rng.IntN(2) == 0)
		if rng.Float64() < rare {
			x = [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), f.Max(), -f.Max(), f.MinSubnormal(), math.Copysign(0, -1)}[rng.IntN(7)]
		}
		m.Data[i] = float32(x)
	}
	return m
}

const sumsKinds = 7

// compareProduct compares some elements of C + AB with Dot.
func compareProduct(t *testing.T, rng *rand.Rand, d Device, a, b, c blas32.General, each int) {
	t.Helper()
	z := zeros(a.Rows, b.Cols)
	d.MultiplyAdd(a, b, c, z)
	x, y := make([]float64, a.Cols), make([]float64, a.Cols)
	for i := range a.Rows {
		copy(x, matrix.Vectors(matrix.Rows(a, i, i+1))[0])
		for range min(each, b.Cols) {
			j, start := rng.IntN(b.Cols), 0.0
			for k := range y {
				y[k] = float64(b.Data[k*b.Stride+j])
			}
			if c.Data != nil {
				start = float64(c.Data[i*c.Stride+j])
			}
			got, want := float64(z.Data[i*z.Stride+j]), float64(float32(d.Dot(x, y, start)))
			if !same(got, want) {
				t.Fatalf("%s, %d × %d × %d, C %t: (%d, %d) = %x, want %x", d.Name, a.Rows, a.Cols, b.Cols, c.Data != nil, i, j, got, want)
			}
		}
	}
}

// The sums of tiles agree with Dot, for data of all kinds, in shapes around the
// sizes of tiles and blocks, with C and without.
func TestSums(t *testing.T) {
	trials := 6
	if testing.Short() {
		trials = 2
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range sumsDevices() {
			rng := rand.New(rand.NewPCG(43, 0))
			for trial := range trials * sumsKinds {
				s := shape{1 + rng.IntN(30), 1 + rng.IntN(40), 1 + rng.IntN(40)}
				switch trial % 5 {
				case 0:
					s.k = 1 + rng.IntN(300)
				case 1:
					s.n = 1 + rng.IntN(9)
				case 2:
					s.m = 1
				}
				kind, rare := trial%sumsKinds, [...]float64{0, 0, 0.001, 0.02}[rng.IntN(4)]
				c := blas32.General{}
				if rng.IntN(2) == 0 {
					c = sumsMatrix(rng, s.m, s.n, Binary32, rng.IntN(sumsKinds), rare)
				}
				other := kind
				if rng.IntN(4) == 0 {
					other = rng.IntN(sumsKinds)
				}
				compareProduct(t, rng, d, sumsMatrix(rng, s.m, s.k, d.A, kind, rare), sumsMatrix(rng, s.k, s.n, d.B, other, rare), c, 6)
			}
		}
	})
}

// C may be the result.
func TestSumsInPlace(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range sumsDevices() {
			rng := rand.New(rand.NewPCG(44, 0))
			a, b := sumsMatrix(rng, 17, 21, d.A, 1, 0), sumsMatrix(rng, 21, 35, d.B, 1, 0)
			c, z := sumsMatrix(rng, 17, 35, Binary32, 1, 0), zeros(17, 35)
			d.MultiplyAdd(a, b, c, z)
			d.MultiplyAdd(a, b, c, c)
			for i, v := range z.Data {
				if !same(float64(v), float64(c.Data[i])) {
					t.Fatalf("%s: element %d is %x in place, %x elsewhere", d.Name, i, c.Data[i], v)
				}
			}
		}
	})
}
