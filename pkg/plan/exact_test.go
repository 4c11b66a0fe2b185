package plan_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Exact arithmetic. All finite numbers of these tests and all their products
// are integers × 2^-grid, which a big.Int holds.
const grid = 320

// integer returns the finite number x in units of 2^-grid.
func integer(x float64) *big.Int {
	frac, exp := math.Frexp(x)
	n := big.NewInt(int64(math.Ldexp(frac, 53)))
	if shift := exp - 53 + grid; shift >= 0 {
		return n.Lsh(n, uint(shift))
	} else if rest := new(big.Int).Lsh(big.NewInt(1), uint(-shift)); n.Sign() != 0 {
		if _, below := n.QuoRem(n, rest, new(big.Int)); below.Sign() != 0 {
			panic("not on the grid")
		}
	}
	return n
}

// product returns the exact xy of finite numbers.
func product(x, y float64) *big.Int {
	fx, ex := math.Frexp(x)
	fy, ey := math.Frexp(y)
	n := new(big.Int).Mul(big.NewInt(int64(math.Ldexp(fx, 24))), big.NewInt(int64(math.Ldexp(fy, 24))))
	shift := ex + ey - 48 + grid
	if shift >= 0 {
		return n.Lsh(n, uint(shift))
	}
	if low := new(big.Int); n.Sign() != 0 {
		if _, low = n.QuoRem(n, new(big.Int).Lsh(big.NewInt(1), uint(-shift)), low); low.Sign() != 0 {
			panic("not on the grid")
		}
	}
	return n
}

// numbers is a format: p bits, exponents from emin to emax.
type numbers struct{ p, emin, emax int }

var (
	f32   = numbers{24, -126, 127}
	f16   = numbers{11, -14, 15}
	bf16  = numbers{8, -126, 127}
	e4m3  = numbers{4, -6, 8}
	e8m13 = numbers{14, -126, 127}
)

// round returns v × 2^-grid ≠ 0 in a format, rounded to nearest even or toward
// zero. Both overflow to an infinity.
func (f numbers) round(v *big.Int, toZero bool) float64 {
	magnitude := new(big.Int).Abs(v)
	exponent := magnitude.BitLen() - 1 - grid
	quantum := max(exponent, f.emin) - f.p + 1 // the last bit that is kept
	q := magnitude
	if drop := quantum + grid; drop > 0 {
		rest := new(big.Int)
		q, rest = new(big.Int).QuoRem(magnitude, new(big.Int).Lsh(big.NewInt(1), uint(drop)), rest)
		half := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(drop-1)))
		if !toZero && (half > 0 || half == 0 && q.Bit(0) == 1) {
			q.Add(q, big.NewInt(1))
		}
	} else {
		quantum = -grid
	}
	z := math.Inf(1)
	if q.BitLen()+quantum <= f.emax+1 {
		x, _ := new(big.Float).SetInt(q).Float64()
		z = math.Ldexp(x, quantum)
	}
	return math.Copysign(z, float64(v.Sign()))
}

// to returns x in a format, rounded to nearest even.
func (f numbers) to(x float64) float64 {
	if x == 0 || !finite(x) {
		return x
	}
	return f.round(integer(x), false)
}

func finite(x float64) bool { return x-x == 0 }

// add returns fl(x + y) in binary32.
func add(x, y float64) float64 {
	switch {
	case !finite(x) || !finite(y):
		return x + y
	case x == 0 && y == 0:
		if math.Signbit(x) && math.Signbit(y) {
			return math.Copysign(0, -1)
		}
		return 0
	case x == 0:
		return y
	case y == 0:
		return x
	}
	return rounded(new(big.Int).Add(integer(x), integer(y)))
}

// mul returns fl(xy) in binary32.
func mul(x, y float64) float64 {
	switch {
	case !finite(x) || !finite(y):
		return x * y
	case x == 0 || y == 0:
		return x * y
	}
	return f32.round(product(x, y), false)
}

// fma returns fl(xy + c) in binary32.
func fma(x, y, c float64) float64 {
	switch {
	case !finite(x) || !finite(y) || !finite(c):
		return x*y + c
	case (x == 0 || y == 0) && c == 0:
		if math.Signbit(x) != math.Signbit(y) && math.Signbit(c) {
			return math.Copysign(0, -1)
		}
		return 0
	}
	p := product(x, y)
	return rounded(p.Add(p, integer(c)))
}

// rounded returns a sum, which is +0 if its terms cancel.
func rounded(v *big.Int) float64 {
	if v.Sign() == 0 {
		return 0
	}
	return f32.round(v, false)
}

// unit is a device: a tensor core with so many products in an instruction, or
// FMAs, which have one.
type unit struct {
	device         tcore.Device
	factor, result numbers
	terms, bits    int // bits = 0 for FMAs
}

// add returns the result of one instruction, TC(c; x, y), in which missing
// products are 0 × 0.
func (u unit) add(c float64, x, y []float64) float64 {
	if u.bits == 0 {
		return fma(x[0], y[0], c)
	}

	// IEEE's answer if there is an infinity or NaN.
	special, found := 0.0, false
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) {
			special, found = special+x[i]*y[i], true
		}
	}
	if !finite(c) || found {
		return special + c
	}

	// The greatest exponent.
	const zero = -133
	exponents := make([]int, 0, u.terms+1)
	if c == 0 || len(x) < u.terms {
		exponents = append(exponents, zero)
	}
	if c != 0 {
		exponents = append(exponents, exponentOf(c, f32))
	}
	for i := range x {
		e := zero
		if x[i] != 0 && y[i] != 0 {
			e = exponentOf(x[i], u.factor) + exponentOf(y[i], u.factor)
		}
		exponents = append(exponents, e)
	}
	top := slices.Max(exponents)

	// Cut, add.
	quantum := new(big.Int).Lsh(big.NewInt(1), uint(top-u.bits+grid))
	cut := func(v *big.Int) *big.Int {
		v.Quo(v, quantum) // toward zero
		return v.Mul(v, quantum)
	}
	total := cut(integer(c))
	for i := range x {
		total.Add(total, cut(product(x[i], y[i])))
	}
	if total.Sign() == 0 {
		return 0
	}
	return u.result.round(total, true)
}

// exponentOf returns e of x = ±s × 2^e ≠ 0 with 1 <= s < 2, or e = emin.
func exponentOf(x float64, f numbers) int {
	_, e := math.Frexp(x)
	return max(e-1, f.emin)
}

// tensorCores are those that libraries of GPUs use.
func tensorCores() []unit {
	return []unit{
		{devices.HopperF16(), f16, f32, 16, 25},
		{devices.HopperBF16(), bf16, f32, 16, 25},
		{devices.HopperE4M3(), e4m3, e8m13, 32, 13},
		{devices.BlackwellF16(), f16, f32, 16, 25},
		{devices.BlackwellBF16(), bf16, f32, 16, 25},
		{devices.BlackwellE4M3(), e4m3, f32, 32, 25},
	}
}

// scalarUnits are FMAs of the formats of factors.
func scalarUnits() []unit {
	return fmas(tcore.Binary16, tcore.BFloat16, tcore.Binary32)
}

// allScalarUnits are also those of factors whose products are not exact in
// binary32, for one reason each: their precision, and too small or great ones.
func allScalarUnits() []unit {
	return append(scalarUnits(), fmas(
		tcore.Format{Name: "precise", Precision: 20, Emin: -10, Emax: 10},
		tcore.Format{Name: "small", Precision: 8, Emin: -126, Emax: 10},
		tcore.Format{Name: "great", Precision: 8, Emin: -10, Emax: 127})...)
}

func fmas(factors ...tcore.Format) []unit {
	units := []unit{}
	for _, f := range factors {
		d := tcore.Device{Name: "fma-" + f.Name, A: f, B: f, C: tcore.Binary32, Core: tcore.Chain{}}
		units = append(units, unit{device: d, result: f32, terms: 1})
	}
	return units
}

// allUnits are tensor cores and FMAs.
func allUnits() []unit { return append(tensorCores(), allScalarUnits()...) }
