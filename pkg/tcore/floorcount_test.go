package tcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/vector"
	"gonum.org/v1/gonum/blas/blas32"
)

// floorCountDevices returns the devices of the catalogue whose sums a
// floorCountKernel computes, and for each of them one with factors of two
// formats and one with other numbers of terms and of fraction bits.
func floorCountDevices() []Device {
	var list []Device
	for i, d := range Devices() {
		f, ok := d.Core.(Fused)
		if !ok || f.FractionBits != 13 {
			continue
		}
		mixed, other := d, d
		mixed.B = E4M3
		if d.A.Equal(E4M3) {
			mixed.B = E5M2
		}
		mixed.Name += " × " + mixed.B.Name
		sizes := [][2]int{{4, 17}, {8, 13}, {32, 9}}
		f.Terms, f.FractionBits = sizes[i%3][0], sizes[i%3][1]
		other.Core = f
		other.Name += fmt.Sprintf(", L = %d, F = %d", f.Terms, f.FractionBits)
		list = append(list, d, mixed, other)
	}
	return list
}

// onEveryWidth runs a test with vector routines of every width, and without
// any.
func onEveryWidth(t *testing.T, test func(t *testing.T)) {
	for _, f := range features.Levels() {
		if !f.VNNI && !f.FP16 {
			with(f, func() { t.Run(f.String(), test) })
		}
	}
}

// finiteMatrix is fusedMatrix with the greatest number of f, or its opposite,
// for infinities and NaN, some of which it leaves in the proportion rare.
func finiteMatrix(rng *rand.Rand, rows, cols int, f Format, rare float64) blas32.General {
	m := fusedMatrix(rng, rows, cols, f, rare)
	for i, x := range m.Data {
		if !finite(float64(x)) && rng.Float64() >= 5*rare {
			m.Data[i] = float32(f.Max() * float64(1-2*rng.IntN(2)))
		}
	}
	return m
}

// Products in all shapes around the sizes of tiles, blocks and chunks agree
// with Dot, for data of all kinds, with and without C.
func TestFloorCount(t *testing.T) {
	shapes := []shape{{2, 1, 1}, {2, 2, 65}, {3, 31, 17}, {4, 32, 64}, {5, 33, 63}, {9, 64, 33}, {6, 65, 130}, {13, 200, 96}}
	onEveryWidth(t, func(t *testing.T) {
		for _, d := range floorCountDevices() {
			rng := rand.New(rand.NewPCG(51, 0))
			for trial, s := range shapes {
				if testing.Short() && trial%4 != 1 {
					continue
				}
				for _, rare := range []float64{0, 0.002} {
					a, b := finiteMatrix(rng, s.m, s.k, d.A, rare), finiteMatrix(rng, s.k, s.n, d.B, rare)
					c, z := blas32.General{}, zeros(s.m, s.n)
					if trial%2 == 1 {
						c = finiteMatrix(rng, s.m, s.n, d.C, rare)
					}
					done := counted(func() { d.MultiplyAdd(a, b, c, z) })[floorCountPath]
					if full := int64(s.m * s.n * d.padded(s.k)); features.Bits > 0 && rare == 0 && c.Data == nil && d.C.Equal(Binary32) && done != full {
						t.Errorf("%s, %v: %d of %d multiply-adds on the path", d.Name, s, done, full)
					}
					compareElements(t, d, a, b, c, z, oneIn(rng, z, 4))
				}
			}
		}
	})
}

// Every product of two numbers, beside a product that is a power of two of
// either sign: it is cut at every place, and nowhere.
func TestFloorCountCutsEveryProduct(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, d := range floorCountDevices() {
			if f := d.Core.(Fused); f.FractionBits != 13 || f.Terms < 16 {
				continue
			}
			numbers := func(f Format) (x []float32) {
				for code := range 1 << f.Bits() {
					if v := f.Decode(uint64(code)); finite(v) {
						x = append(x, float32(v))
					}
				}
				return x
			}
			x, y := numbers(d.A), numbers(d.B)
			a, b, z := zeros(len(x), 2), zeros(2, len(y)), zeros(len(x), len(y))
			rng := rand.New(rand.NewPCG(52, 0))
			for e := d.A.Emin + d.B.Emin - 4; e <= d.A.Emax+d.B.Emax; e++ {
				if testing.Short() && e%11 != 0 {
					continue
				}
				eb := min(max(e/2, d.B.minQuantum()), d.B.Emax)
				ea := min(max(e-eb, d.A.minQuantum()), d.A.Emax)
				for i, v := range x {
					a.Data[2*i], a.Data[2*i+1] = v, float32(exp2(ea))
				}
				for j, v := range y {
					b.Data[j], b.Data[len(y)+j] = v, float32(exp2(eb)*float64(1-2*(j/2%2)))
				}
				done := counted(func() { d.MultiplyAdd(a, b, blas32.General{}, z) })[floorCountPath]
				if features.Bits > 0 && done == 0 && d.C.Equal(Binary32) {
					t.Fatalf("%s: not on the path", d.Name)
				}
				compareElements(t, d, a, b, blas32.General{}, z, oneIn(rng, z, 16))
			}
		}
	})
}

// C of all magnitudes, of which the kernel takes the middle ones, beside
// products of all magnitudes and beside none.
func TestFloorCountStarts(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, d := range floorCountDevices() {
			rng := rand.New(rand.NewPCG(53, 0))
			a, b, c, z := zeros(16, 70), zeros(70, 130), zeros(16, 130), zeros(16, 130)
			for i := range 16 {
				e := d.A.minQuantum() + rng.IntN(d.A.Emax-d.A.minQuantum())
				for k := range 70 {
					if i%4 > 0 {
						a.Data[i*70+k] = float32(exp2(e) * float64(rng.IntN(3)-1))
					}
				}
			}
			for i := range b.Data {
				b.Data[i] = float32(exp2(d.B.minQuantum()+rng.IntN(d.B.Emax+1-d.B.minQuantum())) * float64(rng.IntN(3)-1))
			}
			for i, limit := range []int{-150, -100, -60, -42, -24, 0, 37, 95, 118} {
				if testing.Short() && i%2 > 0 {
					continue
				}
				for i := range c.Data {
					c.Data[i] = float32(d.C.Round((1+rng.Float64())*exp2(limit+rng.IntN(6))*float64(rng.IntN(3)-1), ToNearestEven))
				}
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, c, z, oneIn(rng, z, 4))
			}
		}
	})
}

// An infinity or a NaN takes its tile to the general path, and no other.
func TestFloorCountSpecials(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		if features.Bits == 0 {
			return
		}
		columns := features.Bits / 8
		for _, d := range floorCountDevices() {
			rng := rand.New(rand.NewPCG(54, 0))
			m, n, k := 16, 4*columns, d.padded(80)
			a, b, given, z := zeros(m, k), zeros(k, n), zeros(m, n), zeros(m, n)
			for i := range a.Data {
				a.Data[i] = float32(d.A.Round(rng.NormFloat64(), ToNearestEven))
			}
			for i := range b.Data {
				b.Data[i] = float32(d.B.Round(rng.NormFloat64(), ToNearestEven))
			}
			for i := range given.Data {
				given.Data[i] = float32(1 + rng.Float64()) // more digits than C may have
			}
			kernel, _ := floorCountKernelFor()
			for name, spoil := range map[string]struct {
				x     *float32
				spare int // tiles that stay
			}{
				"a": {&a.Data[9*k+77], (m/kernel.rows - 1) * 4},
				"b": {&b.Data[70*n+columns+1], m / kernel.rows * 3},
				"":  {new(float32), m / kernel.rows * 4},
			} {
				old := *spoil.x
				*spoil.x = float32(math.NaN())
				for _, c := range []blas32.General{given, {}} {
					done := counted(func() { d.MultiplyAdd(a, b, c, z) })[floorCountPath]
					if want := int64(spoil.spare * kernel.rows * columns * k); done != want {
						t.Errorf("%s, NaN in %q: %d multiply-adds on the path, want %d", d.Name, name, done, want)
					}
					compareElements(t, d, a, b, c, z, where(z, func(i, j int) bool { return i == 9 || j == columns+1 || rng.IntN(8) == 0 }))
				}
				*spoil.x = old
			}
		}
	})
}

// A sum that overflows in binary16, and stays infinite, spoils no other.
func TestFloorCountOverflows(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, d := range floorCountDevices() {
			k := 4 * d.Core.width()
			a, b, z := zeros(4, k), zeros(k, 64), zeros(4, 64)
			for i := range a.Data {
				a.Data[i] = float32(d.A.Max())
			}
			for i := range b.Data {
				b.Data[i] = 1
				if j := i % 64; j%5 == 0 {
					b.Data[i] = float32(d.B.Max())
					if i/64 >= 2*d.Core.width() { // and as much in the other direction
						b.Data[i] = -b.Data[i]
					}
				} else if j%5 == 1 {
					b.Data[i] = -b.Data[i] / 2
				}
			}
			d.MultiplyAdd(a, b, blas32.General{}, z)
			compareElements(t, d, a, b, blas32.General{}, z, everyNth(z, 1))
		}
	})
}

// z may be C, also where tiles are computed twice.
func TestFloorCountInPlace(t *testing.T) {
	d := floorCountDevices()[0]
	rng := rand.New(rand.NewPCG(55, 0))
	a, b, c := finiteMatrix(rng, 11, 70, d.A, 0.002), finiteMatrix(rng, 70, 140, d.B, 0), finiteMatrix(rng, 11, 140, d.C, 0.01)
	z := blas32.General{Rows: 11, Cols: 140, Stride: 140, Data: append([]float32(nil), c.Data...)}
	d.MultiplyAdd(a, b, z, z)
	compareElements(t, d, a, b, c, z, everyNth(z, 1))
}

// The kernel is refused for devices for which it would be wrong.
func TestFloorCountRefuses(t *testing.T) {
	if features.Bits == 0 {
		t.Skip("no vector routines")
	}
	good := floorCountDevices()[0]
	f := good.Core.(Fused)
	if _, ok := f.floorCountKernel(&good); !ok {
		t.Fatalf("%s is refused", good.Name)
	}
	for name, change := range map[string]func(d *Device, f *Fused){
		"terms beyond a chunk":   func(_ *Device, f *Fused) { f.Terms = 128 },
		"terms that divide none": func(_ *Device, f *Fused) { f.Terms = 24 },
		"an odd number of terms": func(_ *Device, f *Fused) { f.Terms = 1 },
		"too many bits":          func(_ *Device, f *Fused) { f.FractionBits = 16 },
		"wide exponents":         func(d *Device, _ *Fused) { d.A = BFloat16 },
		"many places":            func(d *Device, _ *Fused) { d.A, d.B = Binary16, E5M2 },
		"groups":                 func(d *Device, f *Fused) { f.Group, d.ScaleBlock, d.Scale = 16, 16, E8M0 },
		"other rounding":         func(_ *Device, f *Fused) { f.Rounding = ToPositive },
	} {
		d, g := good, f
		change(&d, &g)
		d.Core = g
		if _, ok := g.floorCountKernel(&d); ok {
			t.Errorf("%s: not refused", name)
		}
	}
}

// FuzzFloorCount compares products of any codes with Dot, at every level.
func FuzzFloorCount(f *testing.F) {
	rng := rand.New(rand.NewPCG(56, 0))
	for range 20 {
		data := make([]byte, 40+rng.IntN(400))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(uint8(rng.Uint32()), uint8(rng.Uint32()), rng.Uint64(), data)
	}
	list, best := floorCountDevices(), features
	f.Fuzz(func(t *testing.T, device, size uint8, seed uint64, data []byte) {
		d := list[int(device)%len(list)]
		rng := rand.New(rand.NewPCG(seed, 57))
		s := shape{2 + int(size)%5, 1 + int(size)*7%100, 1 + int(size)*11%140}
		// The bytes are codes, each repeated in places that differ from one matrix to
		// the next; c has magnitudes of all kinds.
		code := func(f Format, i int) float32 {
			if len(data) == 0 {
				return 0
			}
			return float32(f.Decode(uint64(data[i%len(data)]) & (1<<f.Bits() - 1)))
		}
		a, b, c, z := zeros(s.m, s.k), zeros(s.k, s.n), zeros(s.m, s.n), zeros(s.m, s.n)
		offset, step := rng.IntN(1<<20), 1+rng.IntN(64)
		for i := range a.Data {
			a.Data[i] = code(d.A, i)
		}
		for i := range b.Data {
			b.Data[i] = code(d.B, i*step+offset)
		}
		exponent := rng.IntN(60) - 40
		for i := range c.Data {
			c.Data[i] = float32(d.C.Round(float64(code(E5M2, i*3+offset))*exp2(exponent), ToNearestEven))
		}
		if size%3 == 0 {
			c = blas32.General{}
		}
		for _, level := range []vector.Features{{}, {Bits: 256}, {Bits: 512}} {
			if level.Bits > best.Bits {
				continue
			}
			with(level, func() {
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, c, z, oneIn(rng, z, 16))
			})
		}
	})
}
