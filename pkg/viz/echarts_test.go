package viz

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// option contains the members of an option object that the tests read.
type option struct {
	Series []struct {
		Name, Type string
		Step       any
		LineStyle  struct {
			Color string
			Type  any
		}
		EndLabel *struct {
			Show   bool
			Offset [2]float64
		}
		Data []struct {
			Value  any
			Symbol string
		}
	}
	Grid         []struct{ Right string }
	Legend       struct{ Data []string }
	XAxis, YAxis struct {
		Type, Name, Shared string
		Logarithmic        bool
		Min, Max           *float64
	}
	DataZoom []any
}

func TestECharts(t *testing.T) {
	for _, c := range sampleCharts() {
		options, err := c.ECharts()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name()+"/is_one_JSON_object_a_panel", func(t *testing.T) {
			if len(options) != len(c.panels) {
				t.Errorf("%d options, want %d", len(options), len(c.panels))
			}
			for _, o := range options {
				if !json.Valid(o) || o[0] != '{' || regexp.MustCompile(`NaN|Inf|function ?\(|__f__|</`).Match(o) {
					t.Errorf("%.100s", o)
				}
			}
		})
		for i, raw := range options {
			var o option
			if err := json.Unmarshal(raw, &o); err != nil {
				t.Fatal(err)
			}
			p := c.panels[i]
			t.Run(c.Name()+"/has_a_series_for_each_trace", func(t *testing.T) {
				want := len(p.traces)
				if len(p.notes) > 0 {
					want++
				}
				if len(o.Series) != want {
					t.Fatalf("%d series, want %d", len(o.Series), want)
				}
				for k, tr := range p.traces {
					s := o.Series[k]
					if !strings.Contains(s.Name, unmarked(tr.Label)) {
						t.Errorf("series %q, want %q", s.Name, tr.Label)
					}
					if atEnd := s.EndLabel != nil && s.EndLabel.Show; atEnd == slices.Contains(o.Legend.Data, s.Name) {
						t.Errorf("%q: at its end %v, in the legend %v", s.Name, atEnd, !atEnd)
					}
					if solid := s.LineStyle.Type == nil; solid != (tr.Style == Solid) {
						t.Errorf("%q: line type %v", s.Name, s.LineStyle.Type)
					}
				}
			})
			t.Run(c.Name()+"/shows_the_same_range_and_points", func(t *testing.T) {
				v := c.views()[i]
				if o.XAxis.Logarithmic != v.xs.log || o.YAxis.Logarithmic != v.ys.log {
					t.Errorf("x axis logarithmic %v, want %v, y axis %v, want %v", o.XAxis.Logarithmic, v.xs.log, o.YAxis.Logarithmic, v.ys.log)
				}
				if o.XAxis.Min == nil || *o.XAxis.Min != v.xs.min || *o.XAxis.Max != v.xs.max {
					t.Errorf("x axis %+v, want %v to %v", o.XAxis, v.xs.min, v.xs.max)
				}
				for k, tr := range p.traces {
					if tr.kind != kindLine {
						continue
					}
					for j, d := range o.Series[k].Data {
						xy := d.Value.([]any)
						if xy[0] != v.xs.place(tr.x[j]) || xy[1] != v.ys.place(tr.y[j]) {
							t.Fatalf("%q point %d is %v, want %v, %v", tr.Label, j, xy, tr.x[j], tr.y[j])
						}
					}
				}
			})
		}
	}
}

// optionsOf returns the options of a chart.
func optionsOf(t *testing.T, c *Chart) []option {
	t.Helper()
	list, err := c.ECharts()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]option, len(list))
	for i, raw := range list {
		if err := json.Unmarshal(raw, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Lines are named at their ends, without overlap, and a line that ceases to
// exist ends in a circle there. What has no end in the frame is in the legend.
func TestECharts_names_lines_at_their_ends(t *testing.T) {
	c := NewChart("ends", "Five lines.", "")
	p := c.Panel("", Axis{Label: "x", Min: 0, Max: 10.5}, Axis{Label: "y", Min: 0, Max: 10})
	x := []float64{0, 5, 10}
	p.Line(Series{Label: "low"}, x, []float64{0, 1, 2})
	p.Line(Series{Label: "hardly higher"}, x, []float64{0, 1, 2.01})
	p.Line(Series{Label: "ceases"}, x, []float64{1, 5, math.Inf(1)})
	p.Line(Series{Label: "leaves"}, x, []float64{1, 5, 11})
	p.Horizontal(Series{Label: "level"}, 4)
	o := optionsOf(t, c)[0]
	if got := fmt.Sprint(o.Legend.Data); got != "[leaves]" {
		t.Errorf("legend %s, want only the line that leaves the frame", got)
	}
	for i, s := range o.Series[:3] {
		if s.EndLabel == nil || !s.EndLabel.Show {
			t.Errorf("series %d has no name at its end", i)
		}
	}
	if low, high := o.Series[0].EndLabel.Offset[1], o.Series[1].EndLabel.Offset[1]; low-high < labelGap-2 {
		t.Errorf("names %v px and %v px below the ends of two lines at the same place", low, high)
	}
	if right, err := strconv.ParseFloat(o.Grid[0].Right, 64); err != nil || right < textWidth("hardly higher", labelSize, false)-frameWidth*0.5/10.5 {
		t.Errorf("a margin of %q px, %v, want room for the names", o.Grid[0].Right, err)
	}
	if d := o.Series[2].Data; len(d) != 2 || d[0].Symbol != "" || d[1].Symbol != "emptyCircle" {
		t.Errorf("points %v, want a circle at the last of two", d)
	}
}

// Vertical lines that look alike have their names above them, others in the
// legend, where there is no room too.
func TestECharts_names_vertical_lines_that_look_alike(t *testing.T) {
	for _, k := range []struct {
		x      float64
		style  Style
		legend string
	}{{5, Dotted, "[]"}, {5, Dashed, "[first second]"}, {2.1, Dotted, "[first second]"}} {
		c := NewChart("verticals", "Two lines.", "")
		p := c.Panel("", Axis{Label: "x", Min: 0, Max: 10}, Axis{Label: "y", Min: 0, Max: 1})
		p.Vertical(Series{Label: "first", Style: Dotted}, 2)
		p.Vertical(Series{Label: "second", Style: k.style}, k.x)
		p.Line(Series{Label: "line"}, []float64{0, 10}, []float64{0, 1})
		if got := fmt.Sprint(optionsOf(t, c)[0].Legend.Data); got != k.legend {
			t.Errorf("lines at 2 and %v in styles %v and %v: legend %s, want %s", k.x, Dotted, k.style, got, k.legend)
		}
	}
}

// Panels with one y title show it once, others each their own.
// A legend that would be a column beside a long title is below it. Points that
// share the name of a curve do not make its sample a dot.
func TestECharts_has_room_for_legends(t *testing.T) {
	for _, c := range []struct {
		title     string
		names     int
		top, left string
	}{
		{"with FMA", 3, "0", "181.6"}, // two rows at most
		{"a title that takes more than half of the width of a chart", 7, "22", "84"},
		{"", 7, "0", "84"},
	} {
		chart := NewChart("c", "C.", "")
		p := chart.Panel(c.title, relativeError, distributionF)
		for i := range c.names {
			s := Series{Label: fmt.Sprintf("bound %d", i), Color: Blue}
			p.EDF(s, []float64{1e-6})
			p.Points(s, []float64{1e-6}, []float64{1})
		}
		options, err := chart.ECharts()
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Legend struct {
				Top, Left  string
				Data       []string
				ItemHeight int
			}
			Grid []struct{ Top string }
		}
		if err := json.Unmarshal(options[0], &o); err != nil {
			t.Fatal(err)
		}
		if o.Legend.Top != c.top || o.Legend.Left != c.left || len(o.Legend.Data) != c.names || o.Legend.ItemHeight != 2 {
			t.Errorf("%q: legend %+v, want top %s and left %s", c.title, o.Legend, c.top, c.left)
		}
		if top, _ := strconv.ParseFloat(o.Grid[0].Top, 64); top > 80 {
			t.Errorf("%q: %g px above the frame", c.title, top)
		}
	}
}

func TestECharts_shows_a_shared_title_once(t *testing.T) {
	for _, labels := range [][2]string{{"y", "y"}, {"y", "z"}} {
		c := NewChart("two", "Two panels.", "")
		for _, l := range labels {
			c.Panel("", Axis{Label: "x"}, Axis{Label: l}).Points(Series{Label: "points"}, []float64{1, 2}, []float64{1, 2})
		}
		o := optionsOf(t, c)
		got := fmt.Sprintf("%s|%s %s|%s", o[0].YAxis.Shared, o[1].YAxis.Shared, o[0].YAxis.Name, o[1].YAxis.Name)
		if want := map[bool]string{true: "y| |", false: "| y|z"}[labels[0] == labels[1]]; got != want {
			t.Errorf("titles %q: shared and own %q, want %q", labels, got, want)
		}
	}
}

// The values of a logarithmic axis are passed as exponents; draw.js converts
// them back.
func TestPlace(t *testing.T) {
	s := Axis{Log: true, Min: 1e-12, Max: 1}.scale(newSpan())
	for _, c := range []struct{ v, want float64 }{{1e-12, -12}, {1e-3, -3}, {0, -12}, {2, math.Log10(2)}} {
		if got := s.place(c.v); got != c.want {
			t.Errorf("place(%v) = %v, want %v", c.v, got, c.want)
		}
	}
}

//go:embed echarts/README.md
var echartsReadme string

func TestLibrary(t *testing.T) {
	sum := sha256.Sum256([]byte(library))
	t.Run("is_the_file_the_README_names", func(t *testing.T) {
		if want := fmt.Sprintf("%x", sum); !strings.Contains(echartsReadme, want) {
			t.Errorf("sha256 is %s", want)
		}
	})
	t.Run("ends_no_script_element", func(t *testing.T) {
		if s := Script(); strings.Count(s, "</script") != 1 || strings.Contains(drawer, "</") {
			t.Error("script element is cut short")
		}
	})
	t.Run("hides_the_module_loader_from_it", func(t *testing.T) {
		before, _, _ := strings.Cut(Script(), "Licensed to the Apache")
		if !strings.Contains(before, "var define, module, exports;") {
			t.Error("define is seen")
		}
	})
	t.Run("runs_once", func(t *testing.T) {
		if !strings.HasPrefix(Script(), "<script>(function () { if (window.roundoffDraw) return;") {
			t.Error("no guard")
		}
	})
}

func TestHTML(t *testing.T) {
	for _, f := range sampleFigures() {
		h, err := HTML(f, "id-1")
		if err != nil {
			t.Fatal(err)
		}
		_, chart := f.(*Chart)
		_, table := f.(*Table)
		t.Run(f.Name()+"/is_a_figure_with_its_caption", func(t *testing.T) {
			if !strings.HasPrefix(h, "<figure") || !strings.HasSuffix(h, "</figcaption>\n</figure>\n") ||
				!strings.Contains(h, "<strong>"+strings.ReplaceAll(f.Finding(), "&", "&amp;")) {
				t.Errorf("%.200s", h)
			}
		})
		t.Run(f.Name()+"/shows_a_picture_without_scripts", func(t *testing.T) {
			if n := strings.Count(h, `src="data:image/png;base64,`); n != 1 && !table || n != 0 && table {
				t.Errorf("%d pictures", n)
			}
			if strings.Contains(h, "<script") != chart || strings.Contains(h, `id="id-1"`) != chart {
				t.Error("script where none belongs, or none")
			}
			if chart && strings.Index(h, "<img") > strings.Index(h, "<script") {
				t.Error("picture comes after the script")
			}
		})
		t.Run(f.Name()+"/has_the_size_of_the_vector_image", func(t *testing.T) {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			var size struct {
				W float64 `xml:"width,attr"`
				H float64 `xml:"height,attr"`
			}
			if err := xml.Unmarshal(svg, &size); err != nil {
				t.Fatal(err)
			}
			if img := fmt.Sprintf(`<img width="%.0f" height="%.0f"`, size.W, size.H); !table && !strings.Contains(h, img) {
				t.Errorf("no %s in %.500s", img, h)
			}
		})
		t.Run(f.Name()+"/loads_nothing", func(t *testing.T) {
			if m := regexp.MustCompile(`(src|href)="?(http|//)|@import|url\(`).FindString(h); m != "" {
				t.Errorf("loads %q", m)
			}
		})
		t.Run(f.Name()+"/is_a_white_card", func(t *testing.T) {
			if !strings.Contains(h, "background:#fff") {
				t.Error("no background")
			}
		})
	}
	t.Run("escapes", func(t *testing.T) {
		c := NewChart("c", `Less < more & "more".`, "</script> it is.")
		c.Panel("", Axis{Label: "</script>"}, Axis{Label: "y"}).EDF(Series{Label: "</script><b>"}, []float64{1})
		h, err := HTML(c, "a")
		if err != nil || strings.Count(h, "</script") != 1 || strings.Contains(h, "<b>") || !strings.Contains(h, "Less &lt; more &amp;") {
			t.Errorf("%v: %s", err, regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(h, ""))
		}
	})
}

func TestTable(t *testing.T) {
	tab := sampleTable()
	t.Run("sets_numbers_right", func(t *testing.T) {
		for j, want := range []bool{false, true, true, false} {
			if got := tab.numbers(j); got != want {
				t.Errorf("column %d: numbers = %v", j, got)
			}
		}
		dashes := NewTable("dashes", "Nothing is known.", "", []string{"dashes", "nothing", "a word"})
		dashes.Row("–", "", "–")
		dashes.Row("–", "", "all")
		for j, want := range []bool{true, false, false} {
			if got := dashes.numbers(j); got != want {
				t.Errorf("column %d of dashes: numbers = %v", j, got)
			}
		}
	})
	t.Run("knows_a_number", func(t *testing.T) {
		for cell, want := range map[string]bool{"11": true, "−1.2×10⁻⁵": true, "2^{−11}": true, "13.3×": true, "≤ 0.01": true, "83 %": true,
			"∞": true, "1e-5": true, "4/5": true, "✗ 3.6×, 79 %": true, "✗": false, "": false, "binary16": false, "H100": false, "16-bit": false, "e": false, "–": false} {
			if numeric(cell) != want {
				t.Errorf("numeric(%q) = %v", cell, !want)
			}
		}
	})
	t.Run("escapes_HTML", func(t *testing.T) {
		h := tab.HTML()
		if !strings.Contains(h, "&lt;&amp;&gt;") || !strings.Contains(h, "<i>a</i>") || strings.Count(h, "<tr>") != 3 {
			t.Error(h)
		}
	})
	t.Run("spreads_headings", func(t *testing.T) {
		h := NewTable("t", "T.", "", []string{"a", "b", "c"})
		for _, cells := range [][]string{{"*group*", "", ""}, {"", "x", ""}, {"x", "", "y"}} {
			h.Row(cells...)
		}
		if got := h.HTML(); strings.Count(got, `colspan="3"`) != 1 || !strings.Contains(got, `<i>group</i></td></tr>`) || strings.Count(got, "<td") != 7 {
			t.Error(got)
		}
	})
	t.Run("escapes_Markdown", func(t *testing.T) {
		m := NewTable("t", "T.", "", []string{"|x|"})
		m.Row("a|b")
		if got, want := m.Markdown(), "| \\|x\\| |\n| --- |\n| a\\|b |\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("breaks_long_cells", func(t *testing.T) {
		if s := tab.draw(); s.w > 700 || s.h < 120 {
			t.Errorf("%v × %v", s.w, s.h)
		}
	})
	t.Run("comes_back_from_CSV", func(t *testing.T) {
		b, err := tab.CSV()
		rows, err2 := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil || err2 != nil || len(rows) != 3 || rows[1][3] != tab.rows[0][3] {
			t.Error(rows, err, err2)
		}
	})
}

func TestChartCSV(t *testing.T) {
	for _, c := range sampleCharts() {
		t.Run(c.Name()+"/gives_back_every_number", func(t *testing.T) {
			b, err := c.CSV()
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			number := func(s string) float64 {
				v, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			k := 1
			for _, p := range c.panels {
				for _, tr := range p.traces {
					k += len(tr.lost)
					for i := range max(len(tr.x), len(tr.y)) {
						if rows[k][1] != tr.Label || rows[k][2] != string(tr.kind) ||
							tr.x != nil && number(rows[k][3]) != tr.x[i] || tr.y != nil && number(rows[k][4]) != tr.y[i] {
							t.Fatalf("row %d is %q", k, rows[k])
						}
						k++
					}
				}
				k += len(p.notes)
			}
			if k != len(rows) {
				t.Errorf("%d rows, want %d", len(rows), k)
			}
		})
	}
}

// A bound that is equal for all samples is drawn as one riser with two points,
// since a line through a single point is invisible.
func TestECharts_draws_a_constant(t *testing.T) {
	c := NewChart("constant", "A constant.", "")
	p := c.Panel("", Axis{Label: "x", Log: true, Min: 1e-3, Max: 1}, Axis{Label: "F", Min: 0, Max: 1})
	p.EDF(Series{Label: "bound"}, []float64{0.1, 0.1, 0.1})
	options, err := c.ECharts()
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Series []struct {
			Data []struct{ Value [2]float64 }
		}
	}
	if err := json.Unmarshal(options[0], &o); err != nil {
		t.Fatal(err)
	}
	d := o.Series[0].Data
	if len(d) != 2 || d[0].Value != [2]float64{-1, 0} || d[1].Value != [2]float64{-1, 1} {
		t.Errorf("points %v, want a riser from 0 to 1 at 10^-1", d)
	}
}
