package course_test

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"github.com/roundofflab/roundoff/pkg/viz"
)

func exponent(x, y []float64, c float64) int {
	e := math.MinInt32
	for i := range x {
		if x[i] != 0 && y[i] != 0 {
			e = max(e, math.Ilogb(x[i])+math.Ilogb(y[i]))
		}
	}
	if c != 0 {
		e = max(e, math.Ilogb(c))
	}
	return e
}

func cut(v, unit float64) float64 { return math.Trunc(v/unit) * unit }

func block(x, y []float64, c float64, F int) float64 {
	e := exponent(x, y, c)
	if e == math.MinInt32 {
		return 0
	}
	unit := math.Ldexp(1, e-F)
	s := cut(c, unit)
	for i := range x {
		s += cut(x[i]*y[i], unit)
	}
	return tcore.Binary32.Round(s, tcore.ToZero)
}

func dot(x, y []float64, L, F int) float64 {
	c := 0.0
	for i := 0; i < len(x); i += L {
		c = block(x[i:i+L], y[i:i+L], c, F)
	}
	return c
}

func fractionBits(ask func(x, y []float64, c float64) float64) int {
	for F := 0; ; F++ {
		half := math.Ldexp(1, -(F+1)/2)
		other := math.Ldexp(1, -(F + 1 - (F+1)/2))
		if ask([]float64{-1, half}, []float64{1, other}, 1) == 0 {
			return F
		}
	}
}

func TestTensorCores_right_answers(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		course.CheckExponent(exponent, seed)
		course.CheckCut(cut, seed)
		course.CheckBlock(block, seed)
		course.CheckDot(dot, seed)
	}
	course.CheckFractionBits(fractionBits)
	course.CheckTruncationConstant(func(L, F, q int) float64 {
		return truncation.Accumulator{Terms: L, FractionBits: F, Unit: 0x1p-24}.Zeta(q)
	})
	course.CheckViolation(func() (x, y []float64) {
		for range 4096 {
			x, y = append(x, 1+0x1p-10), append(y, 2-0x1p-10)
		}
		return x, y
	})
	course.CheckDrift(drift)
}

func drift() *viz.Chart {
	c := viz.NewChart("drift", "Drift.", "")
	p := c.Panel("", viz.Axis{Label: "K", Log: true}, viz.Axis{Label: "error", Log: true})
	curve := func(name string, f func(K int) float64) {
		var y []float64
		for _, K := range course.Lengths() {
			y = append(y, f(int(K)))
		}
		p.Line(viz.Series{Label: name}, course.Lengths(), y)
	}
	for name, d := range map[string]tcore.Device{"Volta": devices.VoltaF16(), "Ampere": devices.AmpereF16(), "Hopper": devices.HopperF16()} {
		curve(name, func(K int) float64 {
			x, y := course.Uniform(tcore.Binary16, K, 1), course.Uniform(tcore.Binary16, K, 2)
			return course.BackwardDot(d.Dot(x, y, 0), x, y)
		})
	}
	curve("γ̃", func(K int) float64 {
		return roundoff.GammaTilde(K, 0x1p-24, roundoff.HighamMaryLambda(roundoff.FailureOf(0.99), 0x1p-24, float64(K)))
	})
	curve("ζ", func(K int) float64 { return float64(K) / 4 * (4*0x1p-23 + 0x1p-23) })
	return c
}

func TestTensorCores_wrong_answers(t *testing.T) {
	refuses(t, "the exponent of the largest product, normalised", func() {
		course.CheckExponent(func(x, y []float64, c float64) int {
			e := math.Ilogb(c)
			for i := range x {
				e = max(e, math.Ilogb(x[i]*y[i]))
			}
			return e
		}, 1)
	})
	refuses(t, "c forgotten", func() {
		course.CheckExponent(func(x, y []float64, c float64) int { return exponent(x, y, 0) }, 1)
	})
	refuses(t, "v itself", func() { course.CheckCut(func(v, unit float64) float64 { return v }, 1) })
	refuses(t, "downwards", func() { course.CheckCut(func(v, unit float64) float64 { return math.Floor(v/unit) * unit }, 1) })
	refuses(t, "to nearest", func() { course.CheckCut(func(v, unit float64) float64 { return math.Round(v/unit) * unit }, 1) })
	ideal := func(x, y []float64, c float64, F int) float64 {
		for i := range x {
			c += x[i] * y[i]
		}
		return nearestEven(tcore.Binary32, c)
	}
	refuses(t, "an ideal block", func() { course.CheckBlock(ideal, 1) })
	refuses(t, "a block rounded to nearest", func() {
		course.CheckBlock(func(x, y []float64, c float64, F int) float64 {
			e := exponent(x, y, c)
			if e == math.MinInt32 {
				return 0
			}
			unit, s := math.Ldexp(1, e-F), cut(c, math.Ldexp(1, e-F))
			for i := range x {
				s += cut(x[i]*y[i], unit)
			}
			return nearestEven(tcore.Binary32, s)
		}, 1)
	})
	refuses(t, "F = 23 always", func() {
		course.CheckBlock(func(x, y []float64, c float64, F int) float64 { return block(x, y, c, 23) }, 1)
	})
	refuses(t, "one block of all", func() {
		course.CheckDot(func(x, y []float64, L, F int) float64 { return block(x, y, 0, F) }, 1)
	})
	refuses(t, "25", func() {
		course.CheckFractionBits(func(func(x, y []float64, c float64) float64) int { return 25 })
	})
	refuses(t, "one bit too many", func() {
		course.CheckFractionBits(func(ask func(x, y []float64, c float64) float64) int { return fractionBits(ask) + 1 })
	})
	refuses(t, "without the rounding of the sum", func() {
		course.CheckTruncationConstant(func(L, F, q int) float64 { return float64(q*L) * math.Ldexp(1, -F) })
	})
	refuses(t, "a product that is exact", func() {
		course.CheckViolation(func() (x, y []float64) { return []float64{1, 1}, []float64{1, 1} })
	})
	refuses(t, "numbers of another format", func() {
		course.CheckViolation(func() (x, y []float64) { return []float64{1 + 0x1p-20}, []float64{1} })
	})
	refuses(t, "no chart", func() { course.CheckDrift(func() *viz.Chart { return nil }) })
}
