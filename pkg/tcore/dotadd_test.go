package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Products within the range of the vector code are computed by it alone, and
// sums of elements out of range by pure Go alone.
func TestDotAddPaths(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range []Device{VoltaF16, AmpereBF16, HopperTF32, HopperF16, HopperF16F16, HopperMMAE4M3, BlackwellMXE4M3} {
			if dotAddWidth() == 0 {
				continue
			}
			rng := rand.New(rand.NewPCG(45, 0))
			a, b, z := chipMatrix(rng, 6, 160, d.A, 0), chipMatrix(rng, 160, 130, d.B, 0), zeros(6, 130)
			a.Data[160*2] = float32(math.NaN()) // all sums of row 2
			for i := range 6 {
				b.Data[130*159+7*i] = float32(math.NaN())
			}
			p, ok := newAlignedProduct(&d, a, b, false)
			if !ok {
				t.Fatalf("%s has no aligned sums", d.Name)
			}
			n := counted(func() { p.addTo(blas32.General{}, z) })
			p.release()
			if got := n[dotAddPath]; got != 6*160*130 {
				t.Errorf("%s: %d multiply-adds by aligned sums, want %d", d.Name, got, 6*160*130)
			}
			// The first chunk of row 2; the second of six columns, and of row 2, whose sums
			// are NaN then, which a Split does not mind.
			out := int64(130*128 + 6*6*32)
			if _, split := d.Core.(Split); !split {
				out += 124 * 32
			}
			if got := n[rarePath]; got != out {
				t.Errorf("%s: %d multiply-adds of sums out of range, want %d", d.Name, got, out)
			}
		}
	})
}

// A sum that elements out of range make tiny is kept over terms that are zero.
func TestDotAddKeepsTinySums(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range []Device{AmpereBF16, HopperTF32} {
			const k = 3 * dotAddDepth
			a, b, z := zeros(3, k), zeros(k, 70), zeros(3, 70)
			for i := range 3 {
				a.Data[i*k+i] = 0x1p-60
			}
			for j := range 70 {
				b.Data[j] = 0x1p-65
				b.Data[70+j] = float32(math.Ldexp(1, -j))
				b.Data[2*70+j] = 0x1p-40
				b.Data[(k-1)*70+j] = 1
			}
			a.Data[2*k+k-1] = 0x1p-45
			d.MultiplyAdd(a, b, blas32.General{}, z)
			compareElements(t, d, a, b, blas32.General{}, z, everyNth(z, 1))
		}
	})
}

// A rectangle of sums in a matrix is continued, and nothing around it changes,
// wherever its rows begin and end.
func TestDotAddRectangle(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		d := HopperF16
		rng := rand.New(rand.NewPCG(46, 0))
		const m, k, n = 9, 200, 150
		a, b, c := fusedMatrix(rng, m, k, d.A, 0.001), fusedMatrix(rng, k, n, d.B, 0.001), fusedMatrix(rng, m, n, d.C, 0.001)
		p, ok := newDotAddProduct(&d, a, b)
		if !ok {
			return
		}
		defer p.release()
		want := zeros(m, n)
		d.MultiplyAdd(a, b, c, want)
		for range 20 {
			i0, panel := rng.IntN(m), rng.IntN(p.panels())
			i1, j0 := i0+1+rng.IntN(m-i0), panel*p.columns
			z := zeros(m+1, p.stride()+3)
			for i := range m {
				copy(z.Data[i*z.Stride:], c.Data[i*n:(i+1)*n])
			}
			p.rectangle(z.Data, z.Stride, i0, i1, j0, j0+p.columns)
			for i := range m {
				for j := range n {
					w := c.Data[i*n+j]
					if i >= i0 && i < i1 && j >= j0 && j < j0+p.columns {
						w = want.Data[i*n+j]
					}
					if got := z.Data[i*z.Stride+j]; !same(float64(got), float64(w)) {
						t.Fatalf("rows %d to %d, columns from %d: (%d, %d) = %x, want %x", i0, i1, j0, i, j, got, w)
					}
				}
			}
		}
	})
}

// Columns are packed in blocks, of which the last may be of one panel and end
// within it, by ranges that begin with any of them.
func TestDotAddWideColumns(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(49, 0))
		for _, d := range []Device{AmpereBF16, HopperTF32, HopperF16F16, BlackwellMXE4M3} {
			for _, n := range []int{dotAddBlock - 1, dotAddBlock + 9, 2*dotAddBlock + 70} {
				const m, k = 3, 3*dotAddStrip + 5
				a, b, c, z := fusedMatrix(rng, m, k, d.A, 0.001), fusedMatrix(rng, k, n, d.B, 0.001), fusedMatrix(rng, m, n, d.C, 0.001), zeros(m, n)
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, c, z, everyNth(z, 5))
				if d.ScaleBlock > 0 {
					x, y := randomCodes(rng, d, d.A, m, k, 0, false), randomCodes(rng, d, d.B, k, n, 0, true)
					d.MultiplyAddCodes(x, y, c, z)
					compareCodes(t, d, x, y, c, z, everyNth(z, 5))
				}
			}
		}
	})
}

// Sums in binary16 that overflow are infinite to the end, also where terms of
// the other sign follow.
func TestDotAddOverflowsHalf(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(48, 0))
		for _, d := range Devices() {
			if !d.C.Equal(Binary16) || !hasKernel(d) {
				continue
			}
			const m, k, n = 2, 96, 70
			a, b, c, z := zeros(m, k), zeros(k, n), zeros(m, n), zeros(m, n)
			factor := max(4, 64/float64(d.BlockTerms())) // so that a block adds more than half a unit in the last place
			for i := range a.Data {
				a.Data[i] = float32(factor)
				if i%k >= k/2 {
					a.Data[i] = -float32(factor)
				}
			}
			for i := range b.Data {
				b.Data[i] = float32(d.B.Round(1+rng.Float64(), ToZero))
			}
			for i := range c.Data {
				c.Data[i] = float32(Binary16.Round(65504-125*factor*rng.Float64(), ToZero))
			}
			d.MultiplyAdd(a, b, c, z)
			compareElements(t, d, a, b, c, z, everyNth(z, 1))
			infinite := 0
			for _, x := range z.Data {
				if math.IsInf(float64(x), 0) {
					infinite++
				}
			}
			if infinite == 0 || infinite == m*n {
				t.Errorf("%s: %d of %d sums overflow", d.Name, infinite, m*n)
			}
		}
	})
}

// Results in binary16 are rounded once: sums that need more bits than binary32
// has and lie next to the middle of two numbers, also sums of more than 32
// bits.
func TestDotAddRoundsToHalfOnce(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range Devices() {
			if !d.C.Equal(Binary16) || !hasKernel(d) {
				continue
			}
			const m, k, n = 5, 64, 67
			rng := rand.New(rand.NewPCG(47, 0))
			a, b, c, z := zeros(m, k), zeros(k, n), zeros(m, n), zeros(m, n)
			for i := range m {
				row := a.Data[i*k:]
				if i == 4 { // 2^-24 + 2^-25 + 2^-45, which is cut off, because 2^-24 has exponent -14
					copy(row[4:], []float32{0x1p-12, 0x1p-24})
					copy(c.Data[i*n:], fill(0x1p-24, n))
				} else if i%2 == 0 { // 2x + 2^-10 + 2^-23, 2 <= 2x < 4
					x := float32(d.A.Round(1+rng.Float64(), ToZero))
					copy(row, []float32{x, x, 0x1p-5, 0x1p-11})
				} else { // 26 (15/8)² + 2^-18, the former between two numbers
					copy(row, fill(1.875, 28))
					row[4], row[5] = 0, 0
					copy(row[28:], []float32{0, 0x1p-9})
				}
			}
			for j := range n {
				tiny := float32(j%3 - 1)
				for l := range k {
					b.Data[l*n+j] = 1.875
				}
				b.Data[4*n+j], b.Data[5*n+j] = 0x1p-13, 0x1p-21*tiny
				b.Data[29*n+j] = 0x1p-9 * tiny
				if j%2 == 0 {
					b.Data[j], b.Data[n+j], b.Data[2*n+j], b.Data[3*n+j] = 1, 1, 0x1p-5, 0x1p-12*tiny
				}
			}
			d.MultiplyAdd(a, b, c, z)
			compareElements(t, d, a, b, c, z, everyNth(z, 1))
		}
	})
}

// Subnormal codes have the exponent of the least normal number, times the scale
// of their block.
func TestDotAddOfSubnormalCodes(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range Devices() {
			if d.A.Bits() > 8 || d.Scale.Precision != 1 || d.ScaleBlock == 0 || !hasKernel(d) {
				continue
			}
			rng := rand.New(rand.NewPCG(48, 0))
			const m, k, n = 3, 200, 67
			for kind := range 4 {
				codes := func(f Format, rows, cols int, subnormal, vertical bool) Codes {
					z := randomCodes(rng, d, f, rows, cols, 2, vertical)
					for i := range z.Data {
						if subnormal {
							z.Data[i] = uint8(rng.IntN(1<<(f.Precision-1)) | rng.IntN(2)<<(f.Bits()-1))
						}
					}
					for i := range z.Scales {
						z.Scales[i] = uint8(127 + rng.IntN(21) - 10)
					}
					return z
				}
				a, b := codes(d.A, m, k, kind&1 == 1, false), codes(d.B, k, n, kind&2 == 2, true)
				c, z := zeros(m, n), zeros(m, n)
				for i := range c.Data {
					c.Data[i] = float32(rng.NormFloat64() * 0x1p-12)
				}
				d.MultiplyAddCodes(a, b, c, z)
				compareCodes(t, d, a, b, c, z, everyNth(z, 1))
			}
		}
	})
}
