package viz

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// pixels returns a function from a position in px to the number on an axis. It
// interpolates between the first and the last tick label in the SVG.
func pixels(t *testing.T, svg, tick string) func(pixel string) float64 {
	t.Helper()
	ticks := regexp.MustCompile(tick).FindAllStringSubmatch(svg, -1)
	if len(ticks) < 2 {
		t.Fatalf("%d ticks", len(ticks))
	}
	read := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	first, last := ticks[0], ticks[len(ticks)-1]
	p, q, a, b := read(first[1]), read(last[1]), read(first[2]), read(last[2])
	return func(pixel string) float64 { return a + (read(pixel)-p)*(b-a)/(q-p) }
}

const tickX = `<text x="([\d.]+)" y="[\d.]+" font-size="12" fill="#404040" text-anchor="middle">([\d.]+)</text>`

// Each bar ends at its value, measured by the ticks of the axis.
func TestBarsEndAtTheirNumbers(t *testing.T) {
	values := []float64{41.2, 39.8, 83}
	c := NewChart("rates", "One takes twice the time.", "")
	c.Panel("", Axis{Label: "rate"}, Axis{Label: "variant"}).Bars(Series{Label: "measured", Color: SkyBlue}, []string{"a", "b", "c"}, values)
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	x := pixels(t, string(svg), tickX)
	bars := regexp.MustCompile(`<path d="M([\d.]+) [\d.]+H([\d.]+)V[\d.]+H[\d.]+Z" fill="#56B4E9"/>`).FindAllStringSubmatch(string(svg), -1)
	if len(bars) < len(values) {
		t.Fatalf("%d bars", len(bars))
	}
	for i, bar := range bars[len(bars)-len(values):] { // the first belongs to the legend
		if from, to := x(bar[1]), x(bar[2]); math.Abs(from) > 0.3 || math.Abs(to-values[i]) > 0.3 {
			t.Errorf("bar %d is from %.2f to %.2f, want 0 to %v", i, from, to, values[i])
		}
	}
}

// In the option objects for the browser, points and reference lines are at
// their numbers, and bars have their values.
func TestEChartsHaveTheNumbers(t *testing.T) {
	c := NewChart("numbers", "All kinds of series are drawn.", "")
	p := c.Panel("", Axis{Label: "x", Log: true}, Axis{Label: "y"})
	p.Points(Series{Label: "points"}, []float64{1, 10, 1000}, []float64{2, 3, 5})
	p.Horizontal(Series{Label: "across"}, 3.5)
	p.Vertical(Series{Label: "up"}, 100)
	q := NewChart("bars", "The second is longer.", "")
	q.Panel("", Axis{Label: "x"}, Axis{Label: "y"}).Bars(Series{Label: "bars"}, []string{"a", "b"}, []float64{7, 9})
	for _, z := range []struct {
		chart  *Chart
		series int
		want   []any // expected x and y, or values of bars; nil for the ends of the axis
	}{
		{c, 0, []any{[]any{0., 2.}, []any{1., 3.}, []any{3., 5.}}}, // x as exponents
		{c, 1, []any{[]any{nil, 3.5}, []any{nil, 3.5}}},
		{c, 2, []any{[]any{2., nil}, []any{2., nil}}},
		{q, 0, []any{7., 9.}},
	} {
		options, err := z.chart.ECharts()
		if err != nil {
			t.Fatal(err)
		}
		var o option
		if err := json.Unmarshal(options[0], &o); err != nil {
			t.Fatal(err)
		}
		got := o.Series[z.series].Data
		if len(got) != len(z.want) {
			t.Fatalf("%s: %d numbers of series %d, want %d", z.chart.Name(), len(got), z.series, len(z.want))
		}
		for i, want := range z.want {
			pair, isPair := want.([]any)
			if !isPair {
				if got[i].Value != want {
					t.Errorf("%s: number %d of series %d is %v, want %v", z.chart.Name(), i, z.series, got[i].Value, want)
				}
				continue
			}
			for j, number := range got[i].Value.([]any) {
				if pair[j] != nil && number != pair[j] {
					t.Errorf("%s: number %d of series %d is %v, want %v", z.chart.Name(), i, z.series, got[i].Value, want)
				}
			}
		}
	}
}
