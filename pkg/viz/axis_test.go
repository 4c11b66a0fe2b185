package viz

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name         string
		axis         Axis
		lo, hi       float64
		length, room float64
		want         string // expected labels, _ for a tick without one
	}{
		{"decades", Axis{Log: true}, 2e-4, 30, 500, 38, "10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1 10 10²"},
		{"second_decades_where_room_is_short", Axis{Log: true}, 1e-4, 1e2, 150, 38, "10⁻⁴ _ 10⁻² _ 1 _ 10²"},
		{"tenth_decades_without_marks_between", Axis{Log: true}, 1e-40, 1, 160, 38, "10⁻⁴⁰ 10⁻³⁰ 10⁻²⁰ 10⁻¹⁰ 1"},
		{"parts_of_a_decade", Axis{Log: true, Min: 1e-3, Max: 8e-3}, 0, 0, 500, 38, "10⁻³ 2×10⁻³ 5×10⁻³"},
		{"unit_interval", Axis{}, 0, 1, 300, 40, "0 0.2 0.4 0.6 0.8 1.0"},
		{"negative", Axis{}, -0.9, 1, 160, 40, "−1.0 −0.5 0 0.5 1.0"},
		{"tens", Axis{}, 0, 83, 450, 72, "0 20 40 60 80 100"},
		{"large", Axis{}, 0, 3e6, 300, 80, "0 10⁶ 2×10⁶ 3×10⁶"},
		{"small", Axis{}, 0, 2e-5, 300, 100, "0 10⁻⁵ 2×10⁻⁵"},
		{"one_number", Axis{}, 5, 5, 300, 60, "2 4 6 8"},
		{"zero", Axis{}, 0, 0, 300, 150, "−1 0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.axis.scale(span{c.lo, c.hi})
			s.from, s.to = 0, c.length
			var labels []string
			for _, tick := range s.ticks(c.room) {
				if x := s.px(tick.at); x < -1e-6 || x > c.length+1e-6 {
					t.Errorf("%v lies at %v", tick.at, x)
				}
				if tick.label == "" {
					tick.label = "_"
				}
				labels = append(labels, tick.label)
			}
			if got := strings.Join(labels, " "); got != c.want {
				t.Errorf("ticks %q, want %q", got, c.want)
			}
		})
	}
}

func TestScale(t *testing.T) {
	for _, a := range []Axis{{}, {Log: true}, {Min: 0.5, Max: 70}, {Log: true, Min: 0.5, Max: 70}} {
		s := a.scale(span{0.7, 60})
		s.from, s.to = 100, 20
		last := math.Inf(1)
		for v := 0.7; v <= 60; v *= 1.1 {
			if x := s.px(v); x >= last || x < 20 || x > 100 || !s.shows(v) {
				t.Errorf("%+v: %v lies at %v after %v, shown %v", a, v, x, last, s.shows(v))
			} else {
				last = x
			}
		}
	}
	t.Run("powers_of_ten_are_integers", func(t *testing.T) {
		for e := -300; e <= 300; e++ {
			if got := exponent(math.Pow(10, float64(e))); got != float64(e) {
				t.Errorf("exponent(1e%d) = %v", e, got)
			}
		}
	})
	t.Run("nothing_to_show_is_one_decade", func(t *testing.T) {
		if s := (Axis{Log: true}).scale(newSpan()); s.min != 0 || s.max != 1 {
			t.Errorf("from %v to %v", s.min, s.max)
		}
	})
}

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {41.23, "41.2"}, {40, "40"}, {1e-6, "1.00·10⁻⁶"}, {0.008, "8.00·10⁻³"}, {0.0123456, "0.0123"}, {0.99, "0.990"}, {1234.5, "1234"}, {2.5e7, "2.50·10⁷"}, {1, "1"}} {
		if got := significant(c.v); got != c.want {
			t.Errorf("significant(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}
