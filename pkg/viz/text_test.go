package viz

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		label string
		want  []run
		plain string
	}{
		{"γ₁₀₂₄", []run{{text: "γ₁₀₂₄"}}, "γ₁₀₂₄"},
		{"|*d̂*|", []run{{text: "|"}, {text: "d̂", italic: true}, {text: "|"}}, "|d̂|"},
		{"*t*_{low}", []run{{text: "t", italic: true}, {text: "low", script: -1}}, "t_low"},
		{"*z*_{*q*−1}", []run{{text: "z", italic: true}, {text: "q", italic: true, script: -1}, {text: "−1", script: -1}}, "z_q−1"},
		{"10^{−5}", []run{{text: "10"}, {text: "−5", script: 1}}, "10^−5"},
		{"2 * 3 * 4", []run{{text: "2 * 3 * 4"}}, "2 * 3 * 4"},
		{"a*b", []run{{text: "a*b"}}, "a*b"},
		{"u_{", []run{{text: "u_{"}}, "u_{"},
		{"snake_case", []run{{text: "snake_case"}}, "snake_case"},
	} {
		if got := parse(c.label); !reflect.DeepEqual(got, c.want) {
			t.Errorf("parse(%q) = %+v, want %+v", c.label, got, c.want)
		}
		if got := unmarked(c.label); got != c.plain {
			t.Errorf("unmarked(%q) = %q, want %q", c.label, got, c.plain)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "*a*_{b}^{c}", "**", "_{}", "*_{*}*", "\xff*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for _, r := range parse(s) {
			n += len(r.text)
			if r.text == "" {
				t.Errorf("parse(%q) has an empty run", s)
			}
		}
		if marks := len(s) - n; marks < 0 || marks > 0 && !strings.ContainsAny(s, "*{") {
			t.Errorf("parse(%q) lost %d bytes", s, marks)
		}
	})
}

func TestTextWidth(t *testing.T) {
	t.Run("grows_with_size", func(t *testing.T) {
		if a, b := textWidth("error", 12, false), textWidth("error", 24, false); b != 2*a || a <= 0 {
			t.Errorf("%v at 12 px, %v at 24", a, b)
		}
	})
	t.Run("of_a_hat_is_nothing", func(t *testing.T) {
		if a, b := textWidth("d", 12, false), textWidth("d̂", 12, false); a != b {
			t.Errorf("d is %v wide, d̂ %v", a, b)
		}
	})
	t.Run("of_a_script_is_less", func(t *testing.T) {
		if a, b := textWidth("low", 12, false), textWidth("_{low}", 12, false); b >= a {
			t.Errorf("low is %v wide, lowered %v", a, b)
		}
	})
}

func TestWrap(t *testing.T) {
	const text = "the factors *a* and *b* of the MPFMA, whose product is exact"
	for width := 60.0; width < 500; width += 20 {
		lines := wrap(text, 13, false, width)
		if strings.Join(lines, " ") != text {
			t.Errorf("at %v: %q", width, lines)
		}
		for _, l := range lines {
			if w := textWidth(l, 13, false); w > width && strings.Contains(l, " ") {
				t.Errorf("at %v: %q is %v wide", width, l, w)
			}
		}
	}
}

func TestLegible(t *testing.T) {
	for _, c := range []struct{ name, hex string }{
		{"Observed", hex(Black)}, {"Deterministic", hex(Vermilion)}, {"Probabilistic", hex(Blue)},
		{"HighamMary", hex(Green)}, {"VarianceInformed", hex(Green)}, {"Second", hex(Purple)},
		{"SkyBlue", hex(SkyBlue)}, {"Orange", hex(Orange)},
	} {
		want := map[string]string{"Observed": "#000000", "Deterministic": "#D55E00", "Probabilistic": "#0072B2",
			"HighamMary": "#009E73", "VarianceInformed": "#009E73", "Second": "#CC79A7", "SkyBlue": "#56B4E9", "Orange": "#E69F00"}[c.name]
		if c.hex != want {
			t.Errorf("%s = %s, want %s", c.name, c.hex, want)
		}
	}
	for _, c := range []Series{{Color: Purple}, {Color: SkyBlue}, {Color: Orange}, {Color: Green}, {Color: Black}, {Color: Grey}} {
		r, g, b, _ := legible(c.Color).RGBA()
		if k := contrast(float64(r>>8), float64(g>>8), float64(b>>8)); k < 4.5 {
			t.Errorf("text in %s has contrast %v", hex(c.Color), k)
		}
	}
}
