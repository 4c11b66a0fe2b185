package course_test

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

func ulp(f tcore.Format, x float64) float64 {
	return math.Ldexp(1, max(math.Ilogb(x), f.Emin)-f.Precision+1)
}

func round(f tcore.Format, x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	q := ulp(f, x)
	r := math.RoundToEven(x/q) * q
	if math.Abs(r) > f.Max() {
		return math.Copysign(math.Inf(1), x)
	}
	return r
}

func TestFormats_right_answers(t *testing.T) {
	course.CheckUnitRoundoff(func(p int) float64 { return math.Ldexp(1, -p) })
	course.CheckFirstGap(func(f tcore.Format) float64 { return math.Ldexp(1, f.Precision) + 1 })
	for seed := uint64(1); seed <= 3; seed++ {
		course.CheckUlp(ulp, seed)
		for _, r := range []func(f tcore.Format, x float64) float64{round, nearestEven} {
			course.CheckRoundNormal(r, seed)
			course.CheckRoundTies(r, seed)
			course.CheckRoundSubnormal(r, seed)
			course.CheckRoundOverflow(r)
		}
	}
	course.CheckWorst(func(f tcore.Format) float64 { return 1 + f.UnitRoundoff() })
	course.CheckDoubleRounding(func(narrow, wide tcore.Format) float64 {
		return 1 + narrow.UnitRoundoff() + wide.UnitRoundoff()/2
	})
	course.CheckSpacing(spacing)
}

// nearestEven is the library's rounding, which the oracles do not use.
func nearestEven(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToNearestEven) }

func spacing() *viz.Chart {
	c := viz.NewChart("spacing", "Spacings.", "")
	p := c.Panel("", viz.Axis{Label: "x", Log: true}, viz.Axis{Label: "ulp(x)/x", Log: true})
	for _, f := range course.IEEEFormats {
		var x, y []float64
		for _, v := range course.Binades() {
			if v >= f.MinSubnormal() && v <= f.Max() {
				x, y = append(x, v), append(y, ulp(f, v)/v)
			}
		}
		p.Line(viz.Series{Label: f.Name}, x, y)
	}
	return c
}

func TestFormats_wrong_answers(t *testing.T) {
	refuses(t, "2^(1-p)", func() { course.CheckUnitRoundoff(func(p int) float64 { return math.Ldexp(1, 1-p) }) })
	refuses(t, "2^p", func() { course.CheckFirstGap(func(f tcore.Format) float64 { return math.Ldexp(1, f.Precision) }) })
	refuses(t, "2049", func() { course.CheckFirstGap(func(tcore.Format) float64 { return 2049 }) })
	refuses(t, "a spacing without subnormals", func() {
		course.CheckUlp(func(f tcore.Format, x float64) float64 { return math.Ldexp(1, math.Ilogb(x)-f.Precision+1) }, 1)
	})
	refuses(t, "u|x|", func() {
		course.CheckUlp(func(f tcore.Format, x float64) float64 { return 2 * f.UnitRoundoff() * math.Abs(x) }, 1)
	})
	all := func(r func(f tcore.Format, x float64) float64) [4]func() {
		return [4]func(){
			func() { course.CheckRoundNormal(r, 1) }, func() { course.CheckRoundTies(r, 1) },
			func() { course.CheckRoundSubnormal(r, 1) }, func() { course.CheckRoundOverflow(r) },
		}
	}
	for _, wrong := range []struct {
		answer string
		round  func(f tcore.Format, x float64) float64
		fails  []int // indices of the checks that must fail
	}{
		{"x itself", func(_ tcore.Format, x float64) float64 { return x }, []int{0, 1, 2, 3}},
		{"toward zero", func(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToZero) }, []int{0, 1, 2, 3}},
		{"ties away from zero", func(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToNearestAway) }, []int{1, 2}},
		{"no subnormals", func(f tcore.Format, x float64) float64 {
			if math.Abs(x) < f.MinNormal() {
				return 0
			}
			return round(f, x)
		}, []int{2}},
		{"no infinities", func(f tcore.Format, x float64) float64 {
			return math.Max(-f.Max(), math.Min(f.Max(), round(f, x)))
		}, []int{3}},
		{"infinity above Max", func(f tcore.Format, x float64) float64 {
			if math.Abs(x) > f.Max() {
				return math.Copysign(math.Inf(1), x)
			}
			return round(f, x)
		}, []int{3}},
	} {
		checks := all(wrong.round)
		for _, i := range wrong.fails {
			refuses(t, wrong.answer, checks[i])
		}
	}
	refuses(t, "2 - u", func() { course.CheckWorst(func(f tcore.Format) float64 { return 2 - f.UnitRoundoff() }) })
	refuses(t, "below the normal range", func() { course.CheckWorst(func(f tcore.Format) float64 { return f.MinSubnormal() / 2 }) })
	refuses(t, "1.1", func() { course.CheckDoubleRounding(func(narrow, wide tcore.Format) float64 { return 1.1 }) })
	refuses(t, "the tie itself", func() {
		course.CheckDoubleRounding(func(narrow, wide tcore.Format) float64 { return 1 + narrow.UnitRoundoff() })
	})
	refuses(t, "no chart", func() { course.CheckSpacing(func() *viz.Chart { return nil }) })
}
