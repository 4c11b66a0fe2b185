package course_test

import (
	"math"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// refuses reports an error unless the check panics.
func refuses(t *testing.T, answer string, check func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s is taken for right", answer)
		}
	}()
	check()
}

func recursive(add course.Add, x []float64) float64 {
	s := x[0]
	for _, v := range x[1:] {
		s = add(s, v)
	}
	return s
}

func pairwise(add course.Add, x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	return add(pairwise(add, x[:len(x)/2]), pairwise(add, x[len(x)/2:]))
}

func twoSum(add course.Add, a, b float64) (s, e float64) {
	s = add(a, b)
	t := add(s, -a)
	return s, add(add(a, -add(s, -t)), add(b, -t))
}

func compensated(add course.Add, x []float64) float64 {
	s, c := x[0], 0.0
	for _, v := range x[1:] {
		var e float64
		s, e = twoSum(add, s, v)
		c = add(c, e)
	}
	return add(s, c)
}

func TestSums_right_answers(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		course.CheckTwoSum(twoSum, seed)
		course.CheckRecursive(recursive, seed)
		course.CheckPairwise(pairwise, seed)
		course.CheckBlocked(func(add course.Add, b int, x []float64) float64 {
			var sums []float64
			for len(x) > b {
				sums, x = append(sums, recursive(add, x[:b])), x[b:]
			}
			return recursive(add, append(sums, recursive(add, x)))
		}, seed)
		course.CheckCompensated(compensated, seed)
		course.CheckBackwardError(backwardError, seed)
	}
	course.CheckRecursiveConstant(func(n int, u float64) float64 { return roundoff.Gamma(n-1, u) })
	course.CheckPairwiseConstant(func(n int, u float64) float64 { return roundoff.Gamma(roundoff.PairwiseHeight(n), u) })
	course.CheckBlockedConstant(func(n, b int, u float64) float64 {
		return roundoff.Gamma(min(b, n)-1+(n+b-1)/b-1, u)
	})
	course.CheckProbabilisticConstant(probabilistic)
	course.CheckGrowth(growth)
}

func TestSums_wrong_answers(t *testing.T) {
	exact := func(add course.Add, x []float64) float64 {
		s := 0.0
		for _, v := range x {
			s += v
		}
		return s
	}
	backwards := func(add course.Add, x []float64) float64 {
		x = slices.Clone(x)
		slices.Reverse(x)
		return recursive(add, x)
	}
	for name, sum := range map[string]func(course.Add, []float64) float64{
		"zero":                func(course.Add, []float64) float64 { return 0 },
		"the sum in binary64": exact, "the sum from the right": backwards,
		"the sum in binary64, rounded": func(add course.Add, x []float64) float64 { return add(exact(add, x), 0) },
		"NaN":                          func(course.Add, []float64) float64 { return math.NaN() },
	} {
		refuses(t, name, func() { course.CheckRecursive(sum, 1) })
		refuses(t, name, func() { course.CheckPairwise(sum, 1) })
		refuses(t, name, func() { course.CheckCompensated(sum, 1) })
		refuses(t, name, func() {
			course.CheckBlocked(func(add course.Add, _ int, x []float64) float64 { return sum(add, x) }, 1)
		})
	}
	refuses(t, "recursive for pairwise", func() { course.CheckPairwise(recursive, 1) })
	refuses(t, "recursive for compensated", func() { course.CheckCompensated(recursive, 1) })
	refuses(t, "pairwise for recursive", func() { course.CheckRecursive(pairwise, 1) })
	refuses(t, "the larger half first", func() {
		var sum func(add course.Add, x []float64) float64
		sum = func(add course.Add, x []float64) float64 {
			if len(x) == 1 {
				return x[0]
			}
			h := (len(x) + 1) / 2
			return add(sum(add, x[:h]), sum(add, x[h:]))
		}
		course.CheckPairwise(sum, 1)
	})
	refuses(t, "blocks without their rest", func() {
		course.CheckBlocked(func(add course.Add, b int, x []float64) float64 {
			s := 0.0
			for ; len(x) >= b; x = x[b:] {
				s = add(s, recursive(add, x[:b]))
			}
			return s
		}, 1)
	})
	refuses(t, "no error", func() {
		course.CheckTwoSum(func(add course.Add, a, b float64) (s, e float64) { return add(a, b), 0 }, 1)
	})
	refuses(t, "an error in binary64", func() {
		course.CheckTwoSum(func(add course.Add, a, b float64) (s, e float64) { s = add(a, b); return s, a + b - s }, 1)
	})
	refuses(t, "Dekker's sum in any order", func() {
		course.CheckTwoSum(func(add course.Add, a, b float64) (s, e float64) {
			s = add(a, b)
			add(0, 0)
			add(0, 0)
			add(0, 0)
			return s, add(b, -add(s, -a))
		}, 1)
	})
	refuses(t, "nobody's error", func() { course.CheckBackwardError(func(float64, []float64) float64 { return 0 }, 1) })
	refuses(t, "the forward error", func() {
		course.CheckBackwardError(func(sum float64, x []float64) float64 {
			s := exact(nil, x)
			return math.Abs(sum-s) / math.Abs(s)
		}, 1)
	})
}

func TestConstants_wrong_answers(t *testing.T) {
	refuses(t, "γ_n", func() { course.CheckRecursiveConstant(roundoff.Gamma) })
	refuses(t, "(n-1)u", func() { course.CheckRecursiveConstant(func(n int, u float64) float64 { return float64(n-1) * u }) })
	refuses(t, "without restriction", func() {
		course.CheckRecursiveConstant(func(n int, u float64) float64 { return roundoff.Unrestricted(n-1, u) })
	})
	refuses(t, "⌊log₂ n⌋", func() {
		course.CheckPairwiseConstant(func(n int, u float64) float64 { return roundoff.Gamma(int(math.Log2(float64(n))), u) })
	})
	refuses(t, "b + n/b", func() {
		course.CheckBlockedConstant(func(n, b int, u float64) float64 { return roundoff.Gamma(b+n/b, u) })
	})
	refuses(t, "one event", func() {
		course.CheckProbabilisticConstant(func(n int, u, p float64) float64 {
			return roundoff.GammaTilde(n-1, u, roundoff.HighamMaryLambda(roundoff.FailureOf(p), u, 1))
		})
	})
	refuses(t, "another chart", func() {
		course.CheckGrowth(func() *viz.Chart {
			c := viz.NewChart("growth", "Nothing grows.", "")
			c.Panel("", viz.Axis{Label: "n", Log: true}, viz.Axis{Label: "error", Log: true}).
				Line(viz.Series{Label: "recursive"}, []float64{16, 64}, []float64{1, 1})
			return c
		})
	})
	refuses(t, "no chart", func() { course.CheckGrowth(func() *viz.Chart { return nil }) })
}

func backwardError(sum float64, x []float64) float64 {
	s, size := 0.0, 0.0
	for _, v := range x {
		s += v
		size += math.Abs(v)
	}
	return math.Abs(sum-s) / size
}

func probabilistic(n int, u, p float64) float64 {
	return roundoff.GammaTilde(n-1, u, roundoff.HighamMaryLambda(roundoff.FailureOf(p), u, float64(n-1)))
}

func growth() *viz.Chart {
	c := viz.NewChart("growth", "Pairwise sums stay good.", "")
	p := c.Panel("", viz.Axis{Label: "n", Log: true}, viz.Axis{Label: "error", Log: true})
	add, u := course.Adder(tcore.Binary16), tcore.Binary16.UnitRoundoff()
	var n, γ, tilde []float64
	errs := make([][]float64, 3)
	for k := 16; k <= 16384; k *= 4 {
		n, γ, tilde = append(n, float64(k)), append(γ, roundoff.Gamma(k-1, u)), append(tilde, probabilistic(k, u, 0.99))
		for i, sum := range []func(course.Add, []float64) float64{recursive, pairwise, blocked32} {
			worst := 0.0
			for seed := range uint64(10) {
				x := course.Uniform(tcore.Binary16, k, seed+1)
				worst = max(worst, backwardError(sum(add, x), x))
			}
			errs[i] = append(errs[i], worst)
		}
	}
	for i, name := range []string{"recursive", "pairwise", "blocked"} {
		p.Line(viz.Series{Label: name}, n, errs[i])
	}
	p.Line(viz.Series{Label: "γ", Color: viz.Vermilion, Style: viz.Dashed}, n, γ)
	p.Line(viz.Series{Label: "γ̃", Color: viz.Blue, Style: viz.Dashed}, n, tilde)
	return c
}

func blocked32(add course.Add, x []float64) float64 {
	s := recursive(add, x[:min(32, len(x))])
	for i := 32; i < len(x); i += 32 {
		s = add(s, recursive(add, x[i:min(i+32, len(x))]))
	}
	return s
}

func TestUniform_of_fewer_than_none(t *testing.T) {
	defer func() {
		if r := recover(); r != "course: Uniform: n = -1, want 0 or more" {
			t.Errorf("panic %v", r)
		}
	}()
	course.Uniform(tcore.Binary16, -1, 1)
}
