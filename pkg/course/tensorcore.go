package course

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Fused returns a device like HopperF16 that adds L products at a time and
// keeps F fraction bits.
func Fused(L, F int) tcore.Device {
	d := devices.HopperF16()
	core := d.Core.(tcore.Fused)
	core.Terms, core.FractionBits = L, F
	d.Name, d.Core = fmt.Sprintf("L=%d F=%d", L, F), core
	return d
}

// blocks are the devices of assignment 4, and two that do not exist, with their
// L and F.
var blocks = []struct {
	tcore.Device
	L, F int
}{
	{devices.VoltaF16(), 4, 23}, {devices.TuringF16(), 8, 24}, {devices.AmpereF16(), 8, 24}, {devices.HopperF16(), 16, 25},
	{Fused(4, 20), 4, 20}, {Fused(16, 22), 16, 22},
}

// spread returns n numbers of binary16, normal or zero, of both signs, from
// eleven binades.
func spread(n int, seed uint64) []float64 {
	rng, x := random(seed), make([]float64, n)
	for i := range x {
		if rng.IntN(16) > 0 {
			x[i] = fl(tcore.Binary16, math.Ldexp(math.Copysign(1+rng.Float64(), rng.Float64()-0.5), rng.IntN(11)-6))
		}
	}
	return x
}

// CheckExponent checks a function that returns the exponent to which a block is
// aligned: the greatest among those of the products, not normalised, and of c,
// without those of zeros.
func CheckExponent(exponent func(x, y []float64, c float64) int, seed uint64) {
	defer watch("Exponent")()
	rng := random(seed)
	for range 200 {
		n := 1 + rng.IntN(16)
		x, y := spread(n, rng.Uint64()), spread(n, rng.Uint64())
		x[0], y[0] = 1.5, 1.5 // so that not all products are zero
		c := fl(tcore.Binary32, math.Ldexp(1+rng.Float64(), rng.IntN(24)-16))
		if rng.IntN(4) == 0 {
			c = 0
		}
		if got, want := exponent(slices.Clone(x), slices.Clone(y), c), devices.HopperF16().Trace(x, y, c).Blocks[0].Exponent; got != want {
			failf("Exponent(%v, %v, %v) = %d, want %d", x, y, c, got, want)
		}
	}
}

// CheckCut checks a function that truncates v toward zero to a multiple of
// unit, a power of two.
func CheckCut(cut func(v, unit float64) float64, seed uint64) {
	defer watch("Cut")()
	rng := random(seed)
	for range 500 {
		v, unit := math.Ldexp(2*rng.Float64()-1, rng.IntN(30)-15), math.Ldexp(1, rng.IntN(30)-25)
		q, _ := new(big.Float).Quo(wide(v), wide(unit)).Int(nil)
		want, _ := new(big.Float).Mul(new(big.Float).SetInt(q), wide(unit)).Float64()
		same(fmt.Sprintf("Cut(%v, %v)", v, unit), cut(v, unit), want)
	}
}

// CheckBlock checks the sum of one block against the emulated devices, bit for
// bit.
func CheckBlock(block func(x, y []float64, c float64, F int) float64, seed uint64) {
	defer watch("Block")()
	rng := random(seed)
	for _, d := range blocks {
		for range 100 {
			x, y := spread(d.L, rng.Uint64()), spread(d.L, rng.Uint64())
			c := fl(tcore.Binary32, math.Ldexp(2*rng.Float64()-1, rng.IntN(20)-10))
			if rng.IntN(8) == 0 {
				x, c = make([]float64, d.L), 0
			}
			call := fmt.Sprintf("Block(%v, %v, %v, %d)", x, y, c, d.F)
			same(call, block(slices.Clone(x), slices.Clone(y), c, d.F), d.Dot(x, y, c))
		}
	}
}

// CheckDot checks an inner product, a chain of blocks of L products that starts
// from zero, against the emulated devices, bit for bit.
func CheckDot(dot func(x, y []float64, L, F int) float64, seed uint64) {
	defer watch("Dot")()
	rng := random(seed)
	for _, d := range blocks {
		for _, K := range []int{d.L, 2 * d.L, 20 * d.L, 1024} {
			x, y := spread(K, rng.Uint64()), spread(K, rng.Uint64())
			call := fmt.Sprintf("Dot(%s, %s, %d, %d)", some(x), some(y), d.L, d.F)
			same(call, dot(slices.Clone(x), slices.Clone(y), d.L, d.F), d.Dot(x, y, 0))
		}
	}
}

// CheckFractionBits checks a function that finds the number F of fraction bits
// that a device keeps, by calling its inner product.
func CheckFractionBits(find func(dot func(x, y []float64, c float64) float64) int) {
	defer watch("FractionBits")()
	asked := slices.Clone(blocks)
	for F := 12; F <= 25; F++ {
		asked = append(asked, struct {
			tcore.Device
			L, F int
		}{Fused(8, F), 8, F})
	}
	for _, d := range asked {
		if got := find(d.Dot); got != d.F {
			failf("FractionBits(%s) = %d, want %d", d.Name, got, d.F)
		}
	}
}

// survives returns q(L 2^-F + 2u) with u = 2^-24, computed with fractions.
func survives(L, F, q int) float64 {
	w := add(mul(big.NewRat(int64(L), 1), rat(math.Ldexp(1, -F))), rat(0x1p-23))
	ζ, _ := mul(big.NewRat(int64(q), 1), w).Float64()
	return ζ
}

// CheckTruncationConstant checks the constant q(L 2^-F + 2u) of q blocks, u =
// 2^-24.
func CheckTruncationConstant(constant func(L, F, q int) float64) {
	defer watch("TruncationConstant")()
	for _, L := range []int{1, 4, 8, 16, 32} {
		for _, F := range []int{13, 20, 23, 24, 25} {
			for _, q := range []int{1, 2, 64, 2048} {
				near(fmt.Sprintf("TruncationConstant(%d, %d, %d)", L, F, q), constant(L, F, q), survives(L, F, q))
			}
		}
	}
}

// BackwardDot returns |d - Σxᵢyᵢ|/Σ|xᵢyᵢ| for a computed inner product d, with
// sums of 300 bits. It panics if y is shorter than x, or if the quotient is not
// defined.
func BackwardDot(d float64, x, y []float64) float64 {
	err, size := wide(d), wide(0)
	for i := range x {
		p := new(big.Float).SetPrec(300).Mul(wide(x[i]), wide(y[i]))
		err.Sub(err, p)
		size.Add(size, p.Abs(p))
	}
	e, _ := err.Quo(err.Abs(err), size).Float64()
	return e
}

// CheckViolation checks that x and y are vectors of 1 to 65536 numbers of
// binary16, none of them subnormal, such that the backward error of their inner
// product on Volta exceeds the bound of Higham & Mary at 99 % and does not
// exceed that of truncation.
func CheckViolation(find func() (x, y []float64)) {
	defer watch("Violation")()
	x, y := find()
	if len(x) != len(y) || len(x) == 0 || len(x) > 65536 {
		failf("Violation() has %d and %d numbers, want as many, 1 to 65536", len(x), len(y))
	}
	for _, v := range append(slices.Clone(x), y...) {
		if !finite(v) || fl(tcore.Binary16, v) != v || v != 0 && math.Abs(v) < tcore.Binary16.MinNormal() {
			failf("Violation() holds %v, which is no normal number of binary16", v)
		}
	}
	e := BackwardDot(devices.VoltaF16().Dot(x, y, 0), x, y)
	n := len(x)
	if zeta := survives(4, 23, (n+3)/4); e > zeta {
		failf("Violation(): the error %.3g exceeds even the bound of truncation, %.3g", e, zeta)
	}
	if γ := probable(n+1, 0x1p-24, 0.99); !(e > γ) {
		failf("Violation(): the error %.3g does not exceed %.3g", e, γ)
	}
}

// Lengths returns the lengths of the inner products of assignment 4.
func Lengths() []float64 { return []float64{64, 256, 1024, 4096, 16384} }

// CheckDrift checks the chart of assignment 4. It contains, at each of Lengths,
// the BackwardDot of inner products of Uniform(tcore.Binary16, K, 1) and
// Uniform(tcore.Binary16, K, 2) on the devices "Volta", "Ampere" and "Hopper",
// the probabilistic constant "γ̃" at 99 %, and the constant "ζ" of truncation
// on Volta.
func CheckDrift[C Chart](figure func() C) {
	defer watchFigure("Drift")()
	c := figure()
	curves := map[string][]float64{}
	for _, K := range Lengths() {
		n := int(K)
		x, y := Uniform(tcore.Binary16, n, 1), Uniform(tcore.Binary16, n, 2)
		for name, d := range map[string]tcore.Device{"Volta": devices.VoltaF16(), "Ampere": devices.AmpereF16(), "Hopper": devices.HopperF16()} {
			curves[name] = append(curves[name], BackwardDot(d.Dot(x, y, 0), x, y))
		}
		curves["γ̃"] = append(curves["γ̃"], probable(n+1, roundoff.UnitRoundoff(24), 0.99))
		curves["ζ"] = append(curves["ζ"], survives(4, 23, n/4))
	}
	for _, name := range []string{"Volta", "Ampere", "Hopper", "γ̃", "ζ"} {
		drawn("Drift", c, name, Lengths(), curves[name])
	}
}
