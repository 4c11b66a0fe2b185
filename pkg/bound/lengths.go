package bound

import (
	"math"
	"slices"
)

// LongestK is the largest K that [Advise] tries.
const LongestK = 1 << 24

// goodLengths returns an interval of K, 1 <= least <= largest <= LongestK, at
// both ends of which the excess is at most 1, and just outside of which it is
// larger; 0, 0 if it finds none. If K = at has an excess of at most 1, the
// interval contains it; otherwise it is the longest one that was found, by the
// ratio of its ends.
//
// The excess of an error that is summed grows with K. That of an error that
// averages out falls, as that of converted factors does. Both do so in waves,
// since sums of certain lengths end just above a power of two. The excess is
// looked at in steps of a factor of 4 up to where it is above 2 and grows as
// sums do, and where it is near 1 in steps of √2. It is assumed to be at most 1
// between two neighbouring steps where it is at both, to cross 1 once between
// two where it is at one of them, and to go on to grow.
func goodLengths(excess func(K int) float64, at int) (least, largest int) {
	excess = remembered(excess)
	steps := lengthsToTry(excess, at)
	first, last, ok := longestRun(steps, at, func(K int) bool { return excess(K) <= 1 })
	if !ok {
		return 0, 0
	}
	least, largest = steps[first], steps[last]
	if first > 0 {
		least = crossing(excess, least, steps[first-1])
	}
	if last+1 < len(steps) {
		largest = crossing(excess, largest, steps[last+1])
	}
	return least, largest
}

// remembered returns f, which it calls once for every K.
func remembered(f func(K int) float64) func(K int) float64 {
	known := map[int]float64{}
	return func(K int) float64 {
		z, ok := known[K]
		if !ok {
			z = f(K)
			known[K] = z
		}
		return z
	}
}

// lengthsToTry returns the steps of goodLengths in order, each K once: one with
// an excess of at most 1 is among them if there is one that [lowest] finds.
func lengthsToTry(excess func(K int) float64, at int) []int {
	steps := []int{min(at, LongestK)}
	for K := 1; K <= LongestK; K *= 4 {
		steps = append(steps, K)
		if K > at && excess(K) > max(2, 1.5*excess(max(K/4, 1))) {
			break
		}
	}
	steps = sorted(steps)
	near := func(K int) bool { return 0.6 < excess(K) && excess(K) < 1.7 }
	for i, high := range steps[1:] {
		if low := steps[i]; near(low) || near(high) {
			for x := float64(low) * math.Sqrt2; x < float64(high)-0.5; x *= math.Sqrt2 {
				steps = append(steps, int(math.Round(x)))
			}
		}
	}
	steps = sorted(steps)
	if slices.ContainsFunc(steps, func(K int) bool { return excess(K) <= 1 }) {
		return steps
	}
	return sorted(append(steps, lowest(excess, steps)))
}

// sorted returns the numbers in order, each once.
func sorted(x []int) []int {
	slices.Sort(x)
	return slices.Compact(x)
}

// longestRun returns the first and the last of neighbouring steps that are
// good, and false if none is: those around at if there are any, otherwise those
// of the largest ratio of ends.
func longestRun(steps []int, at int, good func(K int) bool) (first, last int, ok bool) {
	ratio := 0.0
	for i := 0; i < len(steps); i++ {
		if !good(steps[i]) {
			continue
		}
		begin := i
		for i+1 < len(steps) && good(steps[i+1]) {
			i++
		}
		if steps[begin] <= at && at <= steps[i] {
			return begin, i, true
		}
		if r := float64(steps[i]) / float64(steps[begin]); r > ratio {
			ratio, first, last, ok = r, begin, i, true
		}
	}
	return first, last, ok
}

// lowest returns a K between the neighbours of the step of least excess, one
// with an excess of at most 1 if a search by thirds, in log K, finds it to 2 %.
// It does not search where the least excess of a step is above 2: errors that
// average out fall as 1/√K, by a factor of 2 from one step to the next.
func lowest(excess func(K int) float64, steps []int) int {
	i := 0
	for j := range steps {
		if excess(steps[j]) < excess(steps[i]) {
			i = j
		}
	}
	if excess(steps[i]) > 2 {
		return steps[i]
	}
	low, high := steps[max(i-1, 0)], steps[min(i+1, len(steps)-1)]
	for high-low > 2 && float64(high) > 1.02*float64(low) {
		third := math.Cbrt(float64(high) / float64(low))
		a := min(max(int(float64(low)*third), low+1), high-1)
		b := min(max(int(float64(high)/third), a), high-1)
		switch {
		case excess(a) <= 1:
			return a
		case a == b:
			low, high = a-1, a+1
		case excess(a) <= excess(b):
			high = b
		default:
			low = a
		}
	}
	return low + (high-low)/2
}

// crossing returns the last K from good on, in the direction of bad, with an
// excess of at most 1. It looks where a power of K through the ends of the
// current interval is 1, and a little beyond toward the middle, less so the
// shorter the interval: where the excess is nearly a power, both ends close in.
// It halves the interval where that has not done so.
//
// Source: Oliveira and Takahashi 2020, on the steps toward the middle.
func crossing(excess func(K int) float64, good, bad int) int {
	halve := false
	for good-bad > 1 || bad-good > 1 {
		x, y := math.Log(float64(good)), math.Log(float64(bad))
		width := math.Abs(x - y)
		middle := good + (bad-good)/2
		power := (y - x) / (math.Log(excess(bad)) - math.Log(excess(good)))
		guess := x - power*math.Log(excess(good))
		if low, high := min(x, y), max(x, y); !halve && low <= guess && guess <= high {
			center := (x + y) / 2
			beyond := min(max(width*width/4, 32/math.Exp(guess)), math.Abs(center-guess))
			guess = math.Exp(guess + math.Copysign(beyond, center-guess))
			middle = min(max(int(math.Round(guess)), min(good, bad)+1), max(good, bad)-1)
		}
		if excess(middle) <= 1 {
			good = middle
		} else {
			bad = middle
		}
		halve = !halve && math.Abs(math.Log(float64(good))-math.Log(float64(bad))) > width/2
	}
	return good
}
