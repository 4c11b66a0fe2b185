package tcore

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/internal/matrix"
)

// The seeds of all fuzz tests: ends of the range of formats, ties, both signs.
var seeds = []float64{
	0, 1, -1, 1.0 / 3, 2049, 1 + 0x1p-11, 1 + 0x1p-24, 65519.99, 65520, 0x1p-25, 0x1p-24, -0x1p-14,
	448, 464, 480, 0x1p-10, 1e-45, 3e38, math.MaxFloat64, 5e-324, math.Inf(1), math.NaN(),
}

func pickFormat(i uint8) Format     { return formats[int(i)%len(formats)] }
func pickMode(i uint8) RoundingMode { return modes[int(i)%len(modes)] }

// userFormat returns a format of the catalogue if shape is 0. Otherwise the
// digits of shape are the parameters of the format, of usual or arbitrary size.
func userFormat(format uint8, shape uint64) (f Format, ok bool) {
	if shape == 0 {
		return pickFormat(format), true
	}
	next := func(n uint64) int {
		k := shape % n
		shape /= n
		return int(k)
	}
	f = Format{
		Name:       "user's",
		Precision:  1 + next(53),
		Specials:   Specials(next(4)),
		Overflow:   Overflow(next(3)),
		Subnormals: Subnormals(next(3)),
		Sign:       Sign(next(3)),
		Emin:       1 - next(20),
	}
	f.Emax = f.Emin + next(40)
	if next(4) == 0 {
		f.Emin = next(2100) - 1074
		f.Emax = f.Emin + next(2100)
	}
	return f, f.valid()
}

func FuzzRound(f *testing.F) {
	for i, x := range seeds {
		f.Add(x, seeds[(i+1)%len(seeds)], uint8(i), uint8(i/2), uint64(0))
		for shape := range uint64(40) {
			f.Add(x, seeds[(i+1)%len(seeds)], uint8(i), uint8(shape), (40*uint64(i)+shape+1)*0x9e3779b97f4a7c15)
		}
	}
	f.Fuzz(func(t *testing.T, x, y float64, format, m uint8, shape uint64) {
		mode := pickMode(m)
		f, ok := userFormat(format, shape)
		if !ok {
			return
		}
		z := f.Round(x, mode)
		if code := f.Encode(x, mode); !same(f.Decode(code), z) {
			t.Errorf("%+v: Encode(%x, %v) = %#x, which is %x, want %x", f, x, mode, code, f.Decode(code), z)
		}
		if !same(f.Round(z, mode), z) {
			t.Errorf("%s: Round(%x, %v) = %x is rounded to %x", f.Name, x, mode, z, f.Round(z, mode))
		}
		if y >= x && f.Round(y, mode) < z && f.Sign == Signed {
			t.Errorf("%s: Round(%x, %v) = %x, but Round(%x) = %x", f.Name, x, mode, z, y, f.Round(y, mode))
		}
		mirror := map[RoundingMode]RoundingMode{ToPositive: ToNegative, ToNegative: ToPositive}
		opposite, ok := mirror[mode]
		if !ok {
			opposite = mode
		}
		if f.Sign == Signed && !math.IsNaN(x) && !same(f.Round(-x, opposite), oracleNegative(f, z)) {
			t.Errorf("%s: Round(%x, %v) = %x, but Round(-x, %v) = %x", f.Name, x, mode, z, opposite, f.Round(-x, opposite))
		}
		u, ulps := f.UnitRoundoff(), 2.0
		if mode == ToNearestEven || mode == ToNearestAway {
			ulps = 1
		}
		if abs := math.Abs(x); abs >= f.MinNormal() && abs <= f.Max() && math.Abs(x-z) > ulps*u*abs && f.Sign == Signed {
			t.Errorf("%s: Round(%x, %v) = %x, off by more than %v u|x|", f.Name, x, mode, z, ulps)
		}
		if finite(x) && x != 0 && !same(z, oracleRound(f, exactly(x), mode)) {
			t.Errorf("%+v: Round(%x, %v) = %x, want %x", f, x, mode, z, oracleRound(f, exactly(x), mode))
		}
	})
}

// oracleNegative returns the value of f that replaces -z, for a number or NaN z
// of f.
func oracleNegative(f Format, z float64) float64 {
	if z == 0 {
		return oracleZero(f, !math.Signbit(z))
	}
	return -z
}

func FuzzRoundSlice32(f *testing.F) {
	for i, x := range seeds {
		f.Add(float32(x), uint8(i))
	}
	all := variants()
	f.Fuzz(func(t *testing.T, x float32, format uint8) {
		f := all[int(format)%len(all)]
		dst := []float32{0}
		f.RoundSlice32(dst, []float32{x})
		if want := float32(f.Round(float64(x), ToNearestEven)); !same(float64(dst[0]), float64(want)) {
			t.Errorf("%s: RoundSlice32(%x) = %x, want %x", f.Name, x, dst[0], want)
		}
		if got, want := uint64(encode16(x)), Binary16.Encode(float64(x), ToNearestEven); got != want {
			t.Errorf("encode16(%x) = %#x, want %#x", x, got, want)
		}
	})
}

func FuzzFMA(f *testing.F) {
	for i, x := range seeds {
		f.Add(x, seeds[(i+3)%len(seeds)], -x, uint8(i), uint8(i/3))
	}
	f.Fuzz(func(t *testing.T, a, b, c float64, format, m uint8) {
		f, mode := pickFormat(format), pickMode(m)
		a, b, c = f.Round(a, ToZero), f.Round(b, ToZero), f.Round(c, ToZero)
		if !finite(a) || !finite(b) || !finite(c) {
			return
		}
		if got, want := f.FMA(a, b, c, mode), oracleFMA(f, a, b, c, mode); !same(got, want) {
			t.Errorf("%s: FMA(%x, %x, %x, %v) = %x, want %x", f.Name, a, b, c, mode, got, want)
		}
		// Nearly cancelling.
		c = -f.Mul(a, b, ToZero)
		if got, want := f.FMA(a, b, c, mode), oracleFMA(f, a, b, c, mode); !same(got, want) {
			t.Errorf("%s: FMA(%x, %x, %x, %v) = %x, want %x", f.Name, a, b, c, mode, got, want)
		}
	})
}

// The streaming operations on eight equal elements agree with pure Go.
func FuzzStream(f *testing.F) {
	for i, x := range seeds {
		f.Add(float32(x), float32(seeds[(i+5)%len(seeds)]), float32(-x))
	}
	f.Fuzz(func(t *testing.T, a, b, c float32) {
		x, y, z, d := fill(a, 8), fill(b, 8), fill(c, 8), make([]float32, 8)
		check := func(name string, want float32) {
			if !same(float64(d[0]), float64(want)) || !same(float64(d[7]), float64(want)) {
				t.Errorf("%s(%x, %x, %x) = %x, want %x", name, a, b, c, d, want)
			}
		}
		StreamMAC(d, x, y, z)
		check("StreamMAC", float32(a*b)+c)
		StreamFMA(d, x, y, z)
		check("StreamFMA", fma.Float32(a, b, c))
		check("StreamFMA", float32(Binary32.FMA(float64(a), float64(b), float64(c), ToNearestEven)))

		x16, y16 := make([]uint16, 8), make([]uint16, 8)
		EncodeSlice16(x16, x)
		EncodeSlice16(y16, y)
		StreamMPFMA(d, x16, y16, z)
		check("StreamMPFMA", float32(PaperF32.FMA(float64(a), float64(b), float64(c))))
	})
}

// GEMM on a tensor core agrees with slowDot for inner products of three terms.
func FuzzGEMM(f *testing.F) {
	f.Add(float32(1), float32(0x1p-24), float32(-1), float32(0x1p127), float32(0x1p-149), float32(0x1p127))
	f.Add(float32(300), float32(1e-8), float32(-300), float32(300), float32(1e-8), float32(299))
	f.Fuzz(func(t *testing.T, a0, a1, a2, b0, b1, b2 float32) {
		a, b, d := filled(1, 3, a0, a1, a2), filled(3, 1, b0, b1, b2), zeros(1, 1)
		for _, level := range features.Levels() {
			with(level, func() {
				for _, core := range cores() {
					core.Block = 3
					core.multiply(a, b, d)
					if want := core.slowDot(a.Data, b.Data); !same(float64(d.Data[0]), float64(want)) {
						t.Errorf("%s, %v: GEMM gives %x, Dot %x", core.Name, level, d.Data[0], want)
					}
				}
			})
		}
	})
}

// The vector code for rounding, which rounds a block of lanes, agrees with the
// one rounding routine, and that with the oracle.
func FuzzRoundSlice(f *testing.F) {
	all := vectorFormats()
	for i, x := range append(seeds, rare...) {
		f.Add(x, seeds[i%len(seeds)], uint8(i), uint64(i), uint8(i), uint64(0))
		f.Add(x, -x, uint8(3*i), uint64(i)<<60, uint8(32), uint64(i+1)*0x9e3779b97f4a7c15)
	}
	f.Fuzz(func(t *testing.T, x, y float64, format uint8, index uint64, r uint8, shape uint64) {
		f, ok := userFormat(format, shape)
		if shape == 0 {
			f = all[int(format)%len(all)]
		}
		if !ok {
			return
		}
		src, dst := make([]float64, shortestVector+17), make([]float64, shortestVector+17)
		for i := range src {
			src[i] = x
			if i%3 == 1 {
				src[i] = y
			}
		}
		f.RoundSlice(dst, src, ToNearestEven)
		for i, x := range src {
			checkBits(t, f, "RoundSlice", x, dst[i], f.Round(x, ToNearestEven))
		}
		s := Stochastic{Seed: index * 3, Bits: 1 + int(r)%32}
		s.RoundSlice(f, dst, src, index)
		for i, x := range src {
			checkBits(t, f, "Stochastic.RoundSlice", x, dst[i], s.Round(f, x, index+uint64(i)))
		}
		if finite(x) && x != 0 {
			word := s.words(index / 16)[index%16]
			ρ := math.Ldexp(float64(word>>(32-s.Bits)), -s.Bits)
			if want := oracleRandom(f, exactly(x), stochastic, ρ); !same(dst[0], want) {
				t.Errorf("%+v: %x with %v is rounded to %x, want %x", f, x, ρ, dst[0], want)
			}
		}
	})
}

// GEMM of devices, at every vector width and also transposed, agrees with Dot.
// The bytes are codes of A and B in turn, whose products fill a row with at
// least as many columns as there are lanes.
func FuzzDeviceGEMM(f *testing.F) {
	specials := []byte{0x00, 0x7c, 0x00, 0xfc, 0xff, 0x7f, 0xff, 0x7b, 0x01, 0x00, 0x00, 0x80, 0xff, 0xff, 0x80, 0x7f, 0x80, 0xff}
	for i := range Devices() {
		f.Add(uint8(i), uint32(0), specials)
		f.Add(uint8(i), uint32(0x3f800000), []byte{0xff, 0x3f, 0xff, 0x3f, 0xff, 0xbf, 0x01, 0x04})
		f.Add(uint8(i), uint32(1), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
	}
	f.Fuzz(func(t *testing.T, device uint8, c uint32, codes []byte) {
		devices := Devices()
		d := devices[int(device)%len(devices)]
		if len(codes) == 0 || d.A.Bits() > 19 {
			return
		}
		number := func(f Format, i int) float32 {
			code := uint64(codes[2*i%len(codes)]) | uint64(codes[(2*i+1)%len(codes)])<<8
			if f.Bits() > 16 {
				code <<= f.Bits() - 16
			}
			return float32(f.Decode(code & (1<<f.Bits() - 1)))
		}
		const m, k, n = 3, 150, 40
		a, b, start, z := zeros(m, k), zeros(k, n), zeros(m, n), zeros(m, n)
		for i := range a.Data {
			a.Data[i] = number(d.A, i+i/k)
		}
		for i := range b.Data {
			b.Data[i] = number(d.B, i+i/n)
		}
		for j := range start.Data {
			start.Data[j] = float32(d.C.Round(float64(math.Float32frombits(c+uint32(j)<<20)), ToNearestEven))
		}
		for _, level := range features.Levels() {
			with(level, func() { d.MultiplyAdd(a, b, start, z) })
			if d.A.Equal(d.B) { // thin
				turned := zeros(n, m)
				with(level, func() { d.MultiplyAdd(matrix.Transpose(b), matrix.Transpose(a), matrix.Transpose(start), turned) })
				for i, v := range matrix.Transpose(turned).Data {
					if want := z.Data[i]; !same(float64(v), float64(want)) {
						t.Errorf("%s, %v: element %d of %x and %x from %x is %x, want %x",
							d.Name, level, i, a.Data, b.Data, start.Data[i], v, want)
					}
				}
			}
			with(level, func() { compareElements(t, d, a, b, start, z, everyNth(z, 17)) })
		}
	})
}
