package tcore

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// randomCodes returns rows × cols codes of a device's factor of format f, of a
// kind of randomVector, with scales along the columns if vertical, along the
// rows if not.
func randomCodes(rng *rand.Rand, d Device, f Format, rows, cols, kind int, vertical bool) Codes {
	m := Codes{Rows: rows, Cols: cols, Data: make([]uint8, rows*cols)}
	for i := range m.Data {
		m.Data[i] = uint8(randomCode(rng, f, kind))
	}
	if d.ScaleBlock > 0 {
		n := rows * ((cols + d.ScaleBlock - 1) / d.ScaleBlock)
		if vertical {
			n = cols * ((rows + d.ScaleBlock - 1) / d.ScaleBlock)
		}
		for range n {
			m.Scales = append(m.Scales, uint8(randomScale(rng, d.Scale, kind)))
		}
	}
	return m
}

// codesOf returns vector i of m and its scales: a column if vertical, a row if
// not.
func (m Codes) codesOf(i, block int, vertical bool) (x, scales []uint64) {
	n, k := m.Rows, m.Cols
	if vertical {
		n, k = k, n
	}
	part := func(data []uint8, k int) []uint64 {
		z := make([]uint64, k)
		for l := range z {
			z[l] = uint64(data[i*k+l])
			if vertical {
				z[l] = uint64(data[l*n+i])
			}
		}
		return z
	}
	x = part(m.Data, k)
	if len(m.Scales) > 0 {
		scales = part(m.Scales, (k+block-1)/block)
	}
	return x, scales
}

// ones returns scales, or as many codes of 1 as other has if there are none.
func (d Device) ones(scales, other []uint64) []uint64 {
	for len(scales) < len(other) {
		scales = append(scales, d.Scale.Encode(1, ToNearestEven))
	}
	return scales
}

// A product of codes has the elements that DotScaled returns, at every level of
// features, for codes and scales of all kinds, with and without C.
func TestMultiplyAddCodes(t *testing.T) {
	trials := 10
	if testing.Short() {
		trials = 3
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range Devices() {
			if d.A.Bits() > 8 {
				continue
			}
			rng := rand.New(rand.NewPCG(43, 0))
			for trial := range trials {
				s := shape{1 + rng.IntN(9), 1 + rng.IntN(200), 1 + rng.IntN(70)}
				a := randomCodes(rng, d, d.A, s.m, s.k, trial%5, false)
				b := randomCodes(rng, d, d.B, s.k, s.n, trial%5, true)
				c, z := blas32.General{}, zeros(s.m, s.n)
				if trial%2 == 1 {
					c = fusedMatrix(rng, s.m, s.n, d.C, 0.01)
				}
				switch trial % 5 {
				case 2:
					a.Scales = nil
				case 3:
					b.Scales = nil
				}
				d.MultiplyAddCodes(a, b, c, z)
				for i := range s.m {
					x, scaleX := a.codesOf(i, d.ScaleBlock, false)
					for range 8 {
						j := rng.IntN(s.n)
						y, scaleY := b.codesOf(j, d.ScaleBlock, true)
						start := 0.0
						if c.Data != nil {
							start = float64(c.Data[i*s.n+j])
						}
						got := float64(z.Data[i*s.n+j])
						scaleX, scaleY := d.ones(scaleX, scaleY), d.ones(scaleY, scaleX)
						want := d.C.Decode(d.DotScaled(x, y, scaleX, scaleY, d.C.Encode(start, ToNearestEven)))
						if !same(got, float64(float32(want))) {
							t.Fatalf("%s, trial %d, %v: (%d, %d) = %x, want %x", d.Name, trial, s, i, j, got, want)
						}
					}
				}
			}
		}
	})
}

// Operands that do not fit are refused by name and value.
func TestMultiplyAddCodesRefuses(t *testing.T) {
	nv := BlackwellNVF4
	good := func() (a, b Codes, z blas32.General) {
		return Codes{2, 20, make([]uint8, 40), make([]uint8, 4)}, Codes{20, 3, make([]uint8, 60), make([]uint8, 6)}, zeros(2, 3)
	}
	for want, spoil := range map[string]func(a, b *Codes, z *blas32.General){
		"a is 2 × 19, b is 20 × 3":             func(a, _ *Codes, _ *blas32.General) { a.Cols = 19 },
		"a is 0 × 20, want at least 1 × 1":     func(a, _ *Codes, _ *blas32.General) { a.Rows = 0 },
		"b.Data has 59 elements, want 60":      func(_, b *Codes, _ *blas32.General) { b.Data = b.Data[1:] },
		"a.Scales has 3 elements, want 4":      func(a, _ *Codes, _ *blas32.General) { a.Scales = a.Scales[1:] },
		"b.Data[7] = 0x10, want a code of 4":   func(_, b *Codes, _ *blas32.General) { b.Data[7] = 16 },
		"z is 2 × 2, want 2 × 3":               func(_, _ *Codes, z *blas32.General) { *z = zeros(2, 2) },
		"b.Scales has 5 elements, want 6":      func(_, b *Codes, _ *blas32.General) { b.Scales = b.Scales[1:] },
		"a.Data[39] = 0xff, want a code of 4 ": func(a, _ *Codes, _ *blas32.General) { a.Data[39] = 255 },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			a, b, z := good()
			spoil(&a, &b, &z)
			nv.MultiplyAddCodes(a, b, blas32.General{}, z)
		}()
	}
}

// GEMMCodes has the elements of GEMM, with DotScaled for Dot, for every device
// of at most 8 bits, K split or not.
func TestGEMMCodes(t *testing.T) {
	const m, n, k = 3, 5, 200
	for _, d := range Devices() {
		if d.A.Bits() > 8 {
			continue
		}
		rng := rand.New(rand.NewPCG(47, 0))
		for _, machine := range []Machine{{Device: d}, {Device: d, SplitK: 3, Output: BFloat16}, {Device: d, SplitK: 100}} {
			a, b := randomCodes(rng, d, d.A, m, k, 2, false), randomCodes(rng, d, d.B, k, n, 2, true)
			c, z := anyData(m, n, rng, false), zeros(m, n)
			for _, beta := range []float32{0, -0.75} {
				machine.GEMMCodes(1.5, a, b, beta, c, z)
				length := machine.partLength(d.padded(k))
				for i := range m {
					x, scaleX := a.codesOf(i, d.ScaleBlock, false)
					for j := range n {
						y, scaleY := b.codesOf(j, d.ScaleBlock, true)
						sum := float32(0)
						for lo := 0; lo < k; lo += length {
							hi := min(lo+length, k)
							part := func(scales []uint64) []uint64 {
								if d.ScaleBlock == 0 {
									return nil
								}
								return scales[lo/d.ScaleBlock : (hi+d.ScaleBlock-1)/d.ScaleBlock]
							}
							s := d.C.Decode(d.DotScaled(x[lo:hi], y[lo:hi], part(scaleX), part(scaleY), 0))
							sum += float32(s)
						}
						want := float32(1.5 * sum)
						if beta != 0 {
							want += float32(beta * c.Data[i*c.Stride+j])
						}
						f := machine.Output
						if f == (Format{}) {
							f = d.C
						}
						if got := z.Data[i*n+j]; !same(float64(got), f.Round(float64(want), ToNearestEven)) {
							t.Fatalf("%s in %d parts, beta = %v: (%d, %d) = %x, want %x", d.Name, machine.SplitK, beta, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// Where software chooses the order, GEMMCodes is GEMM of the numbers.
func TestGEMMCodesInOrder(t *testing.T) {
	const m, n, k = 3, 5, 70
	d := IEEEF32
	d.A, d.B = E4M3, E4M3
	rng := rand.New(rand.NewPCG(53, 0))
	a, b := randomCodes(rng, d, d.A, m, k, 2, false), randomCodes(rng, d, d.B, k, n, 2, true)
	for _, machine := range []Machine{{Device: d, Order: InPairs}, {Device: d, SplitK: 2, Stochastic: Stochastic{Seed: 3, Bits: 9}}} {
		z, want := zeros(m, n), zeros(m, n)
		machine.GEMMCodes(2, a, b, 0, blas32.General{}, z)
		machine.GEMM(blas.NoTrans, blas.NoTrans, 2, a.decode(d.A), b.decode(d.B), 0, blas32.General{}, want)
		for i, v := range z.Data {
			if v != want.Data[i] {
				t.Errorf("element %d is %x, want %x", i, v, want.Data[i])
			}
		}
	}
}

// GEMMCodes refuses what does not fit, by name and value.
func TestGEMMCodesRefuses(t *testing.T) {
	a, b := Codes{2, 20, make([]uint8, 40), make([]uint8, 4)}, Codes{20, 3, make([]uint8, 60), make([]uint8, 6)}
	for want, call := range map[string]func(){
		"GEMMCodes: d is 2 × 2, want 2 × 3": func() { Machine{Device: BlackwellNVF4}.GEMMCodes(1, a, b, 0, blas32.General{}, zeros(2, 2)) },
		"GEMMCodes: c is 1 × 3, want 2 × 3": func() { Machine{Device: BlackwellNVF4}.GEMMCodes(1, a, b, 1, zeros(1, 3), zeros(2, 3)) },
		"GEMMCodes: SplitK = -1":            func() { Machine{Device: BlackwellNVF4, SplitK: -1}.GEMMCodes(1, a, b, 0, zeros(2, 3), zeros(2, 3)) },
		"a.Scales has 4 elements, want 0":   func() { Machine{Device: HopperE4M3}.GEMMCodes(1, a, b, 0, zeros(2, 3), zeros(2, 3)) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			call()
		}()
	}
}
