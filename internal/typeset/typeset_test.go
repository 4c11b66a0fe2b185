package typeset

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{
		{0, 3, "0"}, {1.5, 3, "1.5"}, {-1.5, 3, "−1.5"}, {0.012345, 3, "0.0123"}, {0.0099, 3, "9.90·10⁻³"}, {-0.0099, 3, "−9.90·10⁻³"},
		{999, 3, "999"}, {1000, 3, "1.00·10³"}, {123456, 4, "1.235·10⁵"}, {1e-300, 2, "1.0·10⁻³⁰⁰"},
		{math.Inf(1), 3, "∞"}, {math.Inf(-1), 3, "−∞"}, {math.NaN(), 3, "NaN"},
	} {
		if got := Number(c.x, c.n); got != c.want {
			t.Errorf("Number(%v, %d) = %s, want %s", c.x, c.n, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for got, want := range map[string]string{
		Percent(0.99): "99 %", Percent(0.999): "99.9 %", Percent(1 - 1e-6): "99.9999 %",
		Superscript(-1234567890): "⁻¹²³⁴⁵⁶⁷⁸⁹⁰",
		Minus("-1"):              "−1", Minus("U(-1,-.5)"): "U(−1,−.5)", Minus("hopper-16 × N(-2,3)"): "hopper-16 × N(−2,3)",
		Minus("log-normal"): "log-normal", Minus("1-2"): "1-2", Minus("a - b"): "a - b",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a and b"}, {[]string{"a", "b", "c"}, "a, b and c"},
	} {
		if got := List(c.words); got != c.want {
			t.Errorf("List(%q) = %q, want %q", c.words, got, c.want)
		}
	}
}
