package viz

import (
	"math"
	"slices"
)

// steps is a step function: from x[i] to the next step its value is f[i].
type steps struct{ x, f []float64 }

// at returns the value at t. Before the first step it returns before.
func (s steps) at(t, before float64) float64 {
	i, found := slices.BinarySearch(s.x, t)
	if found {
		i++
	}
	if i == 0 {
		return before
	}
	return s.f[i-1]
}

// distribution returns F(t) = #{sampleᵢ ≤ t} / n at each distinct sample. It
// panics if there are no samples or one is NaN.
func distribution(argument string, samples []float64) steps {
	check(len(samples) > 0, "samples of %q are empty", argument)
	sorted := slices.Clone(samples)
	slices.Sort(sorted) // NaNs are sorted first
	check(!math.IsNaN(sorted[0]), "samples of %q hold NaN", argument)
	var s steps
	n := float64(len(sorted))
	for i, x := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == x {
			continue
		}
		s.x, s.f = append(s.x, x), append(s.f, float64(i+1)/n)
	}
	return s
}

const (
	exactEnds = 64        // number of steps kept at either end
	edfGap    = 1. / 1200 // largest error of a thinned F
	tailGap   = 1. / 64   // largest error of a thinned log(1-F)
)

// thin returns the steps that are visible: all of those near the ends, and of
// the others those at which the value is apart from that of the last step kept.
func (s steps) thin(apart func(f, g float64) bool) steps {
	n := len(s.x)
	if n <= 2*exactEnds {
		return s
	}
	t := steps{slices.Clone(s.x[:exactEnds]), slices.Clone(s.f[:exactEnds])}
	for i := exactEnds; i < n-exactEnds; i++ {
		if apart(t.f[len(t.f)-1], s.f[i]) {
			t.x, t.f = append(t.x, s.x[i]), append(t.f, s.f[i])
		}
	}
	t.x, t.f = append(t.x, s.x[n-exactEnds:]...), append(t.f, s.f[n-exactEnds:]...)
	return t
}

func edfApart(f, g float64) bool { return g-f > edfGap }

func tailApart(f, g float64) bool { return math.Log1p(-f)-math.Log1p(-g) > tailGap }

// without returns s restricted to finite x, on a logarithmic axis to positive
// x, and the value of F before the first remaining step.
func (s steps) without(log bool) (t steps, before float64) {
	lo, hi := 0, len(s.x)
	for lo < hi && (math.IsInf(s.x[lo], -1) || log && s.x[lo] <= 0) {
		before = s.f[lo]
		lo++
	}
	for hi > lo && math.IsInf(s.x[hi-1], 1) {
		hi--
	}
	return steps{s.x[lo:hi], s.f[lo:hi]}, before
}
