package playground

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Line asks for the numbers of a format around a number.
type Line struct {
	Format string `json:"format"`
	At     string `json:"at"`
	Each   int    `json:"each"` // numbers on either side, 1 to 64
}

// A LineAnswer has the numbers in ascending order, and what becomes of At.
type LineAnswer struct {
	At       string   `json:"at"` // the number asked for, in binary64
	Rounded  Number   `json:"rounded"`
	Error    string   `json:"error_in_u"` // (rounded - at)/at in unit roundoffs; "" where at is 0 or the result is not finite
	Numbers  []Number `json:"numbers"`
	Spacing  string   `json:"spacing"` // of the numbers at Rounded, upwards; downwards from the greatest
	Roundoff string   `json:"u"`
	Largest  Number   `json:"largest"`
	Least    Number   `json:"least"` // subnormal, where the format has such numbers
}

// Answer returns the answer. An error says which part of the question is wrong.
func (q Line) Answer() (*LineAnswer, error) {
	all := having(q.Format)
	if len(all) == 0 || all[0].ScaleBlock > 0 {
		return nil, fmt.Errorf("format: no number of %q alone, want one of %v", q.Format, Formats())
	}
	f := all[0].A
	if q.Each < 1 || q.Each > 64 {
		return nil, fmt.Errorf("each: %d numbers on either side, want 1 to 64", q.Each)
	}
	at, err := parse(q.At, tcore.Binary64)
	if err != nil {
		if at, err = parse(q.At, f); err != nil {
			return nil, fmt.Errorf("at: %w", err)
		}
	}
	z := f.Round(at, tcore.ToNearestEven)
	if math.IsNaN(z) || math.IsInf(z, 0) {
		z = math.Copysign(f.Max(), at)
	}
	a := &LineAnswer{At: text(at), Rounded: number(f.Round(at, tcore.ToNearestEven), f), Roundoff: text(f.UnitRoundoff()),
		Largest: number(f.Max(), f), Least: number(f.MinSubnormal(), f)}
	if e := (f.Round(at, tcore.ToNearestEven) - at) / at; !math.IsNaN(e) && !math.IsInf(e, 0) {
		a.Error = text(e / f.UnitRoundoff())
	}
	low := z
	for range q.Each {
		low = down(low, f)
	}
	for x := low; len(a.Numbers) < 2*q.Each+1; x = up(x, f) {
		a.Numbers = append(a.Numbers, number(x, f))
		if x == f.Max() {
			break
		}
	}
	a.Spacing = text(spacing(z, f))
	return a, nil
}

// spacing returns how far the next greater number of f is from x, or the next
// smaller one, if x is the greatest.
func spacing(x float64, f tcore.Format) float64 {
	if x == f.Max() {
		return x - down(x, f)
	}
	return up(x, f) - x
}

// up returns the next greater number of f, or the greatest.
func up(x float64, f tcore.Format) float64 {
	if x >= f.Max() {
		return f.Max()
	}
	return f.Round(math.Nextafter(x, math.Inf(1)), tcore.ToPositive) + 0 // not -0
}

// down returns the next smaller number of f, or the least of all.
func down(x float64, f tcore.Format) float64 {
	if x <= -f.Max() {
		return -f.Max()
	}
	return f.Round(math.Nextafter(x, math.Inf(-1)), tcore.ToNegative)
}
