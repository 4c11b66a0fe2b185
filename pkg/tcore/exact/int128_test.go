package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Differences of 128 bits equal those of big.Int, rounded by big.Float, at all
// sizes and near ties.
func TestInt128(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 0))
	number := func() (int128, *big.Int) {
		n := rng.IntN(127)
		z := int128{int64(rng.Uint64() >> 2), rng.Uint64()}
		b := new(big.Int).Lsh(big.NewInt(z.hi), 64)
		b.Add(b, new(big.Int).SetUint64(z.lo)).Rsh(b, uint(126-n))
		if rng.IntN(2) == 0 && n > 54 { // a tie, or close to one
			b.Rsh(b, uint(n-54)).Lsh(b, uint(n-54)).Add(b, big.NewInt(rng.Int64N(3)-1))
		}
		if rng.IntN(2) == 0 {
			b.Neg(b)
		}
		mod := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64))
		return int128{new(big.Int).Rsh(b, 64).Int64(), mod.Uint64()}, b
	}
	for range 200_000 {
		z, zb := number()
		exp := rng.IntN(400) - 300
		want, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(zb), exp).Float64()
		if got := z.float64(exp); got != want {
			t.Fatalf("%v × 2^%d = %x, want %x", zb, exp, got, want)
		}
		y, yb := number()
		diff := new(big.Int).Sub(zb, yb)
		want, _ = new(big.Float).SetInt(diff).Float64()
		if got := z.minus(y).float64(0); got != want {
			t.Fatalf("%v - %v = %x, want %x", zb, yb, got, want)
		}
	}
}

func TestInt128Of(t *testing.T) {
	for _, c := range []struct {
		x    float64
		exp  int
		want int128
		ok   bool
	}{
		{0, -298, int128{}, true},
		{1, 0, int128{0, 1}, true},
		{-1, 0, int128{-1, math.MaxUint64}, true},
		{3, -64, int128{3, 0}, true},
		{1.5, -64, int128{1, 1 << 63}, true},
		{-1.5, -63, int128{-1, 1 << 62}, true},
		{0x1p125, 0, int128{1 << 61, 0}, true},
		{0x1p126, 0, int128{}, false},
		{0.5, 0, int128{}, false},
		{math.MaxFloat32, -149, int128{}, false},
	} {
		if got, ok := int128Of(c.x, c.exp); ok != c.ok || ok && got != c.want {
			t.Errorf("%v in units of 2^%d is %+v, %v, want %+v, %v", c.x, c.exp, got, ok, c.want, c.ok)
		}
	}
}
