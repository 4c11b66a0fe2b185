package argument

import (
	"math"
	"testing"
)

// The panic names the argument, its value and the condition. Allowed values do
// not panic.
func TestPackage(t *testing.T) {
	const check = Package("p")
	for _, c := range []struct {
		call func()
		want any
	}{
		{func() { check.Count("n", 1) }, nil},
		{func() { check.Count("n", 0) }, "p: n = 0, want n >= 1"},
		{func() { check.Index("n", 0) }, nil},
		{func() { check.Index("n", -1) }, "p: n = -1, want n >= 0"},
		{func() { check.Unit("u", 0x1p-11) }, nil},
		{func() { check.Unit("u", 0) }, "p: u = 0, want 0 < u < 1"},
		{func() { check.Unit("u", 1) }, "p: u = 1, want 0 < u < 1"},
		{func() { check.Unit("u", math.NaN()) }, "p: u = NaN, want 0 < u < 1"},
		{func() { check.Positive("x", math.MaxFloat64) }, nil},
		{func() { check.Positive("x", 0) }, "p: x = 0, want 0 < x < +Inf"},
		{func() { check.Positive("x", math.Inf(1)) }, "p: x = +Inf, want 0 < x < +Inf"},
		{func() { check.NotNegative("x", math.Inf(1)) }, nil},
		{func() { check.NotNegative("x", 0) }, nil},
		{func() { check.NotNegative("x", -1) }, "p: x = -1, want x >= 0"},
		{func() { check.NotNegative("x", math.NaN()) }, "p: x = NaN, want x >= 0"},
		{func() { check.Number("x", 3, false, "x <= 2") }, "p: x = 3, want x <= 2"},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %v", got, c.want)
				}
			}()
			c.call()
		}()
	}
}
