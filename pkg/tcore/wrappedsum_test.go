package tcore_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
)

// The numbers of codes are those of the integer types of Go.
func TestIntegerFormats(t *testing.T) {
	for code := range uint64(1 << 8) {
		if got, want := tcore.INT8.Decode(code), float64(int8(code)); got != want {
			t.Errorf("%#x is %v as int8, want %v", code, got, want)
		}
		if got, want := tcore.UINT8.Decode(code), float64(code); got != want {
			t.Errorf("%#x is %v as uint8, want %v", code, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 0))
	for i := range 100_000 {
		code := r.Uint32()
		if i < 8 { // both zeros of a sign and magnitude, and both ends
			code = []uint32{0, 1 << 31, 1<<31 - 1, 1<<31 + 1, 1<<32 - 1, 1, 1 << 30, 3 << 30}[i]
		}
		x := tcore.INT32.Decode(uint64(code))
		if x != float64(int32(code)) || tcore.INT32.Encode(x, tcore.ToNearestEven) != uint64(code) {
			t.Errorf("%#x is %v as int32, want %v", code, x, int32(code))
		}
	}
	for _, tt := range []struct {
		f       tcore.Format
		x, want float64
	}{
		{tcore.INT8, -1e9, -128}, {tcore.INT8, 1e9, 127}, {tcore.INT8, -127.5, -128}, {tcore.INT8, 2.5, 2},
		{tcore.UINT8, -3, 0}, {tcore.UINT8, 256, 255}, {tcore.INT32, -1e10, -1 << 31}, {tcore.INT32, 1e10, 1<<31 - 1},
	} {
		if got := tt.f.Round(tt.x, tcore.ToNearestEven); got != tt.want {
			t.Errorf("%v is %v in %s, want %v", tt.x, got, tt.f.Name, tt.want)
		}
	}
}

// integer returns the number of a code as a big integer, by the rule of two's
// complement: the first bit of w counts negative.
func integer(code uint64, w int, signed bool) *big.Int {
	z := new(big.Int).SetUint64(code)
	if signed && code>>(w-1) == 1 {
		z.Sub(z, new(big.Int).Lsh(big.NewInt(1), uint(w)))
	}
	return z
}

// Sums are those of big integers, modulo 2^32, for any number of blocks.
func TestWrappedSum(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 32)
	for _, d := range devices.Integers() {
		r, wrapped := rand.New(rand.NewPCG(2, 0)), 0
		signedA, signedB := d.A.Equal(tcore.INT8), d.B.Equal(tcore.INT8)
		for i := range 2000 {
			x, y := make([]uint64, 1+r.IntN(200)), make([]uint64, 0, 200)
			c := uint64(r.Uint32())
			if i%2 == 0 {
				c = 1<<31 - 1 + uint64(r.IntN(2))
			}
			sum := integer(c, 32, true)
			for k := range x {
				x[k], y = uint64(r.IntN(256)), append(y, uint64(r.IntN(256)))
				sum.Add(sum, new(big.Int).Mul(integer(x[k], 8, signedA), integer(y[k], 8, signedB)))
			}
			want := new(big.Int).Mod(sum, modulus).Uint64()
			if got := d.DotCodes(x, y, c); got != want {
				t.Fatalf("%s: %#x · %#x + %#x = %#x, want %#x", d.Name, x, y, c, got, want)
			}
			if !sum.IsInt64() || sum.Int64() != int64(int32(sum.Int64())) {
				wrapped++
			}
		}
		if wrapped < 100 {
			t.Errorf("%s: %d sums are beyond int32, want more", d.Name, wrapped)
		}
	}
}

// Grids have the codes of single dot products, of one block or more, also where
// they wrap.
func TestGridsOfIntegers(t *testing.T) {
	for _, d := range devices.Integers() {
		r, wrapped := rand.New(rand.NewPCG(4, 0)), 0
		codes := func(n int, extremes ...uint64) []uint64 {
			z := make([]uint64, n)
			for i := range z {
				if z[i] = uint64(r.IntN(256)); i%3 == 0 {
					z[i] = extremes[r.IntN(len(extremes))]
				}
			}
			return z
		}
		for range 40 {
			m, n, k := 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(200)
			x, y := codes(m*k, 0, 127, 128, 255), codes(n*k, 0, 127, 128, 255)
			c, z := codes(m*n, 1<<31, 1<<31-1, 1<<32-1, 1<<31-1e5, 1<<31+1e5), make([]uint64, m*n)
			d.GridCodes(k, x, y, c, z)
			for e, got := range z {
				u, v := x[e/n*k:][:k], y[e%n*k:][:k]
				if want := d.DotCodes(u, v, c[e]); got != want {
					t.Fatalf("%s: %#x · %#x + %#x = %#x, want %#x", d.Name, u, v, c[e], got, want)
				}
				exact := d.C.Decode(c[e])
				for l := range u {
					exact += d.A.Decode(u[l]) * d.B.Decode(v[l])
				}
				if exact != d.C.Decode(got) {
					wrapped++
				}
			}
		}
		if wrapped < 20 {
			t.Errorf("%s: %d sums are beyond int32, want more", d.Name, wrapped)
		}
		panics.WantPart(t, "0x100", func() { d.GridCodes(1, []uint64{256}, []uint64{0}, []uint64{0}, make([]uint64, 1)) })
		panics.WantPart(t, "0x100000000", func() { d.GridCodes(1, []uint64{1}, []uint64{0}, []uint64{1 << 32}, make([]uint64, 1)) })
	}
}

// Those whose factors in A can be negative, as the suite draws them, pass it.
func TestUnitsOfIntegers(t *testing.T) {
	for _, d := range []tcore.Device{devices.AMXINT8(), devices.AMXINT8UINT8()} {
		t.Run(d.Name, func(t *testing.T) { tcoretest.Device(t, d) })
	}
}

// Integers need the core, and the core needs integers.
func TestPanicsOfIntegers(t *testing.T) {
	d := devices.AMXINT8()
	if d.Takes(tcore.E4M3) || d.Takes(tcore.UINT8) || !d.Takes(tcore.INT8) {
		t.Error("tdpbssd takes int8 alone")
	}
	d.C = tcore.Binary32
	panics.WantPart(t, "WrappedSum of int8 × int8 in binary32, want int8 or uint8, and int32", func() { d.Dot(nil, nil, 0) })
	d.Core = tcore.Chain{}
	panics.WantPart(t, "has factors in two's complement, want a WrappedSum core", func() { d.Dot(nil, nil, 0) })
	panics.WantPart(t, "want a subset of binary64", func() { tcore.Format{Precision: 3, Emax: 3, Sign: tcore.TwosComplement}.Max() })
}

// A sum beyond 2^31 - 1 goes on at -2^31.
func ExampleWrappedSum() {
	d := devices.AMXUINT8INT8()
	x, y := []float64{255, 1}, []float64{-128, 127}
	fmt.Println(d.Dot(x, y, 0), d.Dot(y[1:], x[1:], 1<<31-127), d.Dot(y[1:], x[1:], 1<<31-128))
	// Output: -32513 -2.147483648e+09 2.147483647e+09
}
