package course_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

var one = big.NewRat(1, 1)

func plus(a, b *big.Rat) *big.Rat  { return new(big.Rat).Add(a, b) }
func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func relative(computed float64, exact *big.Rat) *big.Rat {
	r := new(big.Rat).Quo(course.Rat(computed), exact)
	return r.Sub(r, one)
}

func exact(a, b, c float64) *big.Rat {
	return plus(times(course.Rat(a), course.Rat(b)), course.Rat(c))
}

func fmaDelta(f tcore.Format, a, b, c float64) *big.Rat {
	return relative(f.FMA(a, b, c, tcore.ToNearestEven), exact(a, b, c))
}

func macDeltas(f tcore.Format, a, b, c float64) (d1, d2 *big.Rat) {
	p := f.Mul(a, b, tcore.ToNearestEven)
	return relative(p, times(course.Rat(a), course.Rat(b))), relative(f.Add(p, c, tcore.ToNearestEven), plus(course.Rat(p), course.Rat(c)))
}

func backwardFMA(f tcore.Format, a, b, c float64) (Δa, Δc *big.Rat) {
	δ := fmaDelta(f, a, b, c)
	return times(course.Rat(a), δ), times(course.Rat(c), δ)
}

func backwardMAC(f tcore.Format, a, b, c float64) (Δa, Δc *big.Rat) {
	d1, d2 := macDeltas(f, a, b, c)
	both := plus(plus(d1, d2), times(d1, d2))
	return times(course.Rat(a), both), times(course.Rat(c), d2)
}

func backwardRepresented(f tcore.Format, a, b, c float64) (Δp, Δc *big.Rat) {
	fa, fb, fc := nearestEven(f, a), nearestEven(f, b), nearestEven(f, c)
	δ := plus(one, fmaDelta(f, fa, fb, fc))
	p, s := times(times(course.Rat(fa), course.Rat(fb)), δ), times(course.Rat(fc), δ)
	return p.Sub(p, times(course.Rat(a), course.Rat(b))), s.Sub(s, course.Rat(c))
}

func mixed(out tcore.Format, a, b, c float64) float64 {
	a, b, c = nearestEven(tcore.Binary16, a), nearestEven(tcore.Binary16, b), nearestEven(tcore.Binary32, c)
	return nearestEven(out, tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven))
}

func TestFMA_right_answers(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		course.CheckRelativeError(relative, seed)
		course.CheckFMADelta(fmaDelta, seed)
		course.CheckMACDeltas(macDeltas, seed)
		course.CheckBackwardFMA(backwardFMA, seed)
		course.CheckBackwardMAC(backwardMAC, seed)
		course.CheckBackwardRepresented(backwardRepresented, seed)
		course.CheckMixedFMA(mixed, seed)
		course.CheckForwardBound(func(m roundoff.MACBound, a, b, c float64) float64 {
			return (m.Product*math.Abs(a*b) + m.Addend*math.Abs(c)) / math.Abs(math.FMA(a, b, c))
		}, seed)
	}
	course.CheckCancellation(func(f tcore.Format) (a, b, c float64) {
		u := f.UnitRoundoff()
		return 1 + 2*u, 1 + 2*u, -(1 + 4*u)
	})
	course.CheckErrors(errors)
}

func errors() *viz.Chart {
	chart := viz.NewChart("errors", "Errors.", "")
	p := chart.Panel("", viz.Axis{Label: "relative error", Log: true}, viz.Axis{Label: "F", Max: 1})
	a, b, c := course.Operands(1000, 1)
	for name, machine := range map[string]func(a, b, c float64) float64{
		"MAC":   func(a, b, c float64) float64 { return tcore.Binary32.MAC(a, b, c, tcore.ToNearestEven) },
		"FMA":   func(a, b, c float64) float64 { return tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven) },
		"MPFMA": func(a, b, c float64) float64 { return mixed(tcore.Binary32, a, b, c) },
	} {
		var e []float64
		for i := range a {
			δ, _ := relative(machine(a[i], b[i], c[i]), exact(a[i], b[i], c[i])).Float64()
			e = append(e, math.Abs(δ))
		}
		p.EDF(viz.Series{Label: name}, e)
	}
	p.Vertical(viz.Series{Label: "FMA bound"}, 0x1p-24)
	r := roundoff.Roundoffs{Low: 0x1p-11, High: 0x1p-24, Product: 0x1p-24, Accumulate: 0x1p-24, Output: 0x1p-24}
	p.Vertical(viz.Series{Label: "MPFMA bound"}, roundoff.MPFMARepresentedInputs(r, roundoff.DBEA).Product)
	return chart
}

func TestFMA_wrong_answers(t *testing.T) {
	zero := new(big.Rat)
	nothing := func(tcore.Format, float64, float64, float64) (x, y *big.Rat) { return zero, zero }
	missing := func(tcore.Format, float64, float64, float64) (x, y *big.Rat) { return nil, nil }
	for name, wrong := range map[string]course.Backward{"nothing": nothing, "no value": missing} {
		refuses(t, name, func() { course.CheckMACDeltas(wrong, 1) })
		refuses(t, name, func() { course.CheckBackwardFMA(wrong, 1) })
		refuses(t, name, func() { course.CheckBackwardMAC(wrong, 1) })
		refuses(t, name, func() { course.CheckBackwardRepresented(wrong, 1) })
	}
	refuses(t, "the backward error of another machine", func() { course.CheckBackwardMAC(backwardFMA, 1) })
	refuses(t, "the backward error of another machine", func() { course.CheckBackwardFMA(backwardMAC, 1) })
	allOnC := func(f tcore.Format, a, b, c float64) (Δa, Δc *big.Rat) {
		return zero, times(fmaDelta(f, a, b, c), exact(a, b, c))
	}
	refuses(t, "all of it on c", func() { course.CheckBackwardFMA(allOnC, 1) })
	refuses(t, "all of it on c", func() {
		course.CheckBackwardRepresented(func(f tcore.Format, a, b, c float64) (Δp, Δc *big.Rat) {
			x, y := backwardRepresented(f, a, b, c)
			return zero, plus(x, y)
		}, 1)
	})
	refuses(t, "no δ", func() {
		course.CheckFMADelta(func(tcore.Format, float64, float64, float64) *big.Rat { return zero }, 1)
	})
	refuses(t, "the error over the computed", func() {
		course.CheckRelativeError(func(computed float64, exact *big.Rat) *big.Rat {
			r := new(big.Rat).Quo(exact, course.Rat(computed))
			return r.Sub(one, r)
		}, 1)
	})
	for name, wrong := range map[string]func(out tcore.Format, a, b, c float64) float64{
		"one rounding":  func(out tcore.Format, a, b, c float64) float64 { return out.FMA(a, b, c, tcore.ToNearestEven) },
		"no conversion": func(out tcore.Format, a, b, c float64) float64 { return nearestEven(out, a*b+c) },
		"no second rounding": func(out tcore.Format, a, b, c float64) float64 {
			return out.FMA(nearestEven(tcore.Binary16, a), nearestEven(tcore.Binary16, b), nearestEven(tcore.Binary32, c), tcore.ToNearestEven)
		},
	} {
		refuses(t, name, func() { course.CheckMixedFMA(wrong, 1) })
	}
	refuses(t, "no denominator", func() {
		course.CheckForwardBound(func(m roundoff.MACBound, a, b, c float64) float64 { return m.Product + m.Addend }, 1)
	})
	refuses(t, "an exact zero", func() {
		course.CheckCancellation(func(tcore.Format) (a, b, c float64) { return 1, 1, -1 })
	})
	refuses(t, "numbers of another format", func() {
		course.CheckCancellation(func(tcore.Format) (a, b, c float64) { return 1 + 0x1p-30, 1, -1 })
	})
	refuses(t, "no chart", func() { course.CheckErrors(func() *viz.Chart { return nil }) })
}
