package viz

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func TestSVG(t *testing.T) {
	for _, f := range sampleFigures() {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f.Name()+"/is_XML_with_every_text", func(t *testing.T) {
			texts := svgTexts(t, svg)
			for _, m := range sheetOf(f).marks {
				if w, ok := m.(words); ok && !texts[flat(w.text)] {
					t.Errorf("no text %q", w.text)
				}
			}
		})
		t.Run(f.Name()+"/stays_inside_its_viewBox", func(t *testing.T) { checkInside(t, svg) })
		t.Run(f.Name()+"/has_two_decimals", func(t *testing.T) {
			if m := regexp.MustCompile(`[" ,MLHVC-]\d+\.\d{3,}`).Find(svg); m != nil {
				t.Errorf("found %q", m)
			}
		})
		t.Run(f.Name()+"/has_no_text_under_11_px", func(t *testing.T) {
			for _, m := range regexp.MustCompile(`<text[^>]* font-size="([0-9.]+)"`).FindAllSubmatch(svg, -1) {
				if size, _ := strconv.ParseFloat(string(m[1]), 64); size < 11 {
					t.Errorf("font-size %v", size)
				}
			}
		})
	}
}

// flat returns a label without its marks, as it is read from the XML.
func flat(s string) string {
	var b strings.Builder
	for _, r := range parse(s) {
		b.WriteString(r.text)
	}
	return b.String()
}

// svgTexts parses the SVG and returns the contents of its text elements.
func svgTexts(t *testing.T, svg []byte) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	var inside strings.Builder
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if tok.Name.Local == "text" {
				inside.Reset()
			}
		case xml.CharData:
			inside.Write(tok)
		case xml.EndElement:
			if tok.Name.Local == "text" {
				texts[inside.String()] = true
			}
		}
	}
}

// checkInside fails unless all coordinates in the file are inside the picture.
func checkInside(t *testing.T, svg []byte) {
	t.Helper()
	size := regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`).FindSubmatch(svg)
	w, _ := strconv.ParseFloat(string(size[1]), 64)
	h, _ := strconv.ParseFloat(string(size[2]), 64)
	inside := func(where string, x, y float64) {
		if !(0 <= x && x <= w && 0 <= y && y <= h) {
			t.Errorf("(%v, %v) is outside %v × %v: %.80s", x, y, w, h, where)
		}
	}
	paths := 0
	for _, m := range regexp.MustCompile(`<path d="([^"]*)"`).FindAllSubmatch(svg, -1) {
		paths++
		x, y := 0.0, 0.0
		for _, c := range regexp.MustCompile(`([MLHVCZ])([^MLHVCZ]*)`).FindAllSubmatch(m[1], -1) {
			var v []float64
			for _, s := range strings.Fields(string(c[2])) {
				f, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatalf("%v in %s", err, m[1])
				}
				v = append(v, f)
			}
			switch c[1][0] {
			case 'H':
				x = v[0]
			case 'V':
				y = v[0]
			case 'M', 'L', 'C':
				for i := 0; i < len(v); i += 2 {
					x, y = v[i], v[i+1]
					inside(string(m[1]), x, y)
				}
			}
			inside(string(m[1]), x, y)
		}
	}
	if paths == 0 {
		t.Error("no path")
	}
}

func TestSheet(t *testing.T) {
	for _, f := range sampleFigures() {
		s := sheetOf(f)
		var all []words
		for _, m := range s.marks {
			if w, ok := m.(words); ok {
				all = append(all, w)
			}
		}
		t.Run(f.Name()+"/keeps_texts_on_the_canvas", func(t *testing.T) {
			for _, w := range all {
				if !(Box{0, 0, s.w, s.h}).holds(w.box()) {
					t.Errorf("%q at %v leaves %v × %v", w.text, w.box(), s.w, s.h)
				}
			}
		})
		t.Run(f.Name()+"/has_no_text_on_another", func(t *testing.T) {
			for i, a := range all {
				for _, b := range all[:i] {
					if a.box().grow(-1).hits(b.box().grow(-1)) {
						t.Errorf("%q at %v is on %q at %v", a.text, a.box(), b.text, b.box())
					}
				}
			}
		})
		t.Run(f.Name()+"/has_a_glyph_for_every_character", func(t *testing.T) {
			for _, w := range all {
				for _, r := range parse(w.text) {
					font := face(r.italic, w.bold, 12)
					for _, c := range r.text {
						if i, err := font.Face.GlyphIndex(nil, c); (i == 0 || err != nil) && !unicode.IsSpace(c) {
							t.Errorf("no glyph for %q of %q", c, w.text)
						}
					}
				}
			}
		})
	}
}

func TestFigure(t *testing.T) {
	first, second := sampleFigures(), sampleFigures()
	for i, f := range first {
		t.Run(f.Name()+"/is_the_same_bytes_each_time", func(t *testing.T) {
			for what, draw := range map[string]func(Figure) ([]byte, error){
				"SVG": Figure.SVG, "PNG": Figure.PNG, "CSV": Figure.CSV,
			} {
				a, err1 := draw(f)
				b, err2 := draw(second[i])
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(a, b) {
					t.Errorf("%s differs", what)
				}
				if what == "PNG" {
					checkPicture(t, f, a)
				}
			}
		})
		t.Run(f.Name()+"/has_a_CSV_of_equal_rows", func(t *testing.T) {
			b, err := f.CSV()
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		})
	}
}

// checkPicture fails unless the picture has a white background and twice as
// many pixels as f has units.
func checkPicture(t *testing.T, f Figure, b []byte) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s := sheetOf(f)
	w, h := float64(m.Bounds().Dx()), float64(m.Bounds().Dy())
	if math.Abs(w-2*s.w) > 2 || math.Abs(h-2*s.h) > 2 {
		t.Errorf("%v × %v pixels, want twice %v × %v", w, h, s.w, s.h)
	}
	if r, g, b, _ := m.At(0, 0).RGBA(); r != 0xFFFF || g != 0xFFFF || b != 0xFFFF {
		t.Error("corner is not white")
	}
}

// The caption of a figure consists of its finding and its details; its
// alternative text is the finding.
func TestCaption(t *testing.T) {
	for _, c := range []struct{ finding, details, caption, summary, html string }{
		{"One sentence.", "", "One sentence.", "One sentence", "<strong>One sentence.</strong>"},
		{"Errors of n u.", "τ is 13.3×. Seed 1.", "Errors of n u. τ is 13.3×. Seed 1.", "Errors of n u",
			"<strong>Errors of n u.</strong> τ is 13.3×. Seed 1."},
		{"Which is less?", "a < b.", "Which is less? a < b.", "Which is less?", "<strong>Which is less?</strong> a &lt; b."},
	} {
		f := NewTable("t", c.finding, c.details, []string{"n"})
		if got := Caption(f); got != c.caption || f.Finding() != c.finding || f.Details() != c.details || f.summary() != c.summary || captionHTML(f) != c.html {
			t.Errorf("%q, %q: %q, %q, %q", c.finding, c.details, got, f.summary(), captionHTML(f))
		}
	}
}

func TestCallersMistakes(t *testing.T) {
	line := Axis{Label: "x"}
	log := Axis{Label: "x", Log: true}
	panel := func(x, y Axis) *Panel { return NewChart("c", "C.", "").Panel("", x, y) }
	one := []float64{1}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"empty_name", func() { NewChart("", "C.", "") }, `name = ""`},
		{"name_with_slash", func() { NewChart("a/b", "C.", "") }, `name = "a/b"`},
		{"no_finding", func() { NewTable("a", " ", "", []string{"x"}) }, "finding of a is empty"},
		{"no_header", func() { NewTable("a", "C.", "", nil) }, "header of table a is empty"},
		{"nameless_column", func() { NewTable("a", "C.", "", []string{"x", ""}) }, "column 1"},
		{"short_row", func() { sampleTable().Row("1") }, "has 1 cells, want 4"},
		{"axis_without_label", func() { panel(Axis{}, line) }, "x axis: label is empty"},
		{"axis_turned_round", func() { panel(line, Axis{Label: "y", Min: 2, Max: 1}) }, "y axis: Min = 2 and Max = 1"},
		{"axis_of_NaN", func() { panel(Axis{Label: "x", Max: nan}, line) }, "Max = NaN"},
		{"log_axis_through_zero", func() { panel(Axis{Label: "x", Log: true, Max: 1}, line) }, "Min = 0 on a logarithmic axis"},
		{"log_and_linear_x", func() { c := NewChart("c", "C.", ""); c.Panel("", line, line); c.Panel("", log, line) }, "Log = true"},
		{"empty_samples", func() { panel(line, line).EDF(observed, nil) }, `samples of "observed" are empty`},
		{"NaN_sample", func() { panel(line, line).EDF(observed, []float64{1, nan}) }, "hold NaN"},
		{"negative_sample_on_log", func() { panel(log, line).EDF(observed, []float64{1, -2}) }, "hold -2 on a logarithmic axis"},
		{"infinite_low_sample", func() { panel(line, line).Exceedance(observed, []float64{-inf}) }, "hold -Inf"},
		{"unlabelled_series", func() { panel(line, line).EDF(Series{}, one) }, "label is empty"},
		{"wide_label", func() { panel(line, line).EDF(Series{Label: strings.Repeat("wide ", 40)}, one) }, "px wide"},
		{"unknown_style", func() { panel(line, line).EDF(Series{Label: "a", Style: 7}, one) }, `style of "a" = 7`},
		{"lengths", func() { panel(line, line).Line(observed, one, nil) }, "has 1 x and 0 y"},
		{"no_points", func() { panel(line, line).Points(observed, nil, nil) }, "has no points"},
		{"NaN_point", func() { panel(line, line).Line(observed, one, []float64{nan}) }, "holds NaN"},
		{"only_infinite", func() { panel(line, line).Line(observed, one, []float64{inf}) }, "starts with +Inf"},
		{"descending_x", func() { panel(line, line).Line(observed, []float64{2, 1}, []float64{0, 0}) }, "does not ascend"},
		{"infinite_dot", func() { panel(line, line).Points(observed, one, []float64{inf}) }, "holds +Inf"},
		{"zero_on_log", func() { panel(line, log).Line(observed, one, []float64{0}) }, "holds 0 on a logarithmic axis"},
		{"vertical_NaN", func() { panel(line, line).Vertical(dbea, nan) }, "holds NaN"},
		{"horizontal_inf", func() { panel(line, line).Horizontal(dbea, inf) }, "holds +Inf"},
		{"bars_lengths", func() { panel(line, line).Bars(observed, []string{"a"}, nil) }, "1 rows and 0 values"},
		{"bars_negative", func() { panel(line, line).Bars(observed, []string{"a"}, []float64{-1}) }, "holds -1"},
		{"bars_and_curves", func() { p := panel(line, line); p.EDF(observed, one); p.Bars(observed, nil, nil) }, "has no rows"},
		{"curves_on_bars", func() { p := panel(line, line); p.Bars(observed, []string{"a"}, one); p.EDF(dbea, one) }, "bars and curves"},
		{"other_rows", func() {
			p := panel(line, line)
			p.Bars(observed, []string{"a"}, one)
			p.Bars(observed, []string{"b"}, one)
		}, "differ"},
		{"empty_note", func() { panel(line, line).Note(0, 0, "") }, "text of note is empty"},
		{"note_nowhere", func() { panel(line, line).Note(inf, 0, "a") }, `note "a" at (+Inf, 0)`},
		{"no_panel", func() { _, _ = NewChart("c", "C.", "").SVG() }, "chart c has no panel"},
		{"empty_panel", func() { c := NewChart("c", "C.", ""); c.Panel("", line, line); _, _ = c.ECharts() }, "nothing to draw"},
		{"line_without_points", func() { NewSchematic("s", "S.", "", 9, 9).Line(Ink, 1, Solid, Point{1, 1}) }, "line of the points [{1 1}]"},
		{"arrow_without_length", func() { NewSchematic("s", "S.", "", 9, 9).Arrow(Ink, Solid, Point{1, 1}, Point{1, 1}) }, "arrow of the points"},
		{"arrow_without_points", func() { NewSchematic("s", "S.", "", 9, 9).Arrow(Ink, Solid) }, "arrow of the points []"},
		{"bad_id", func() { _, _ = HTML(sampleTable(), `a"b`) }, "id ="},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "viz: ") || !strings.Contains(got, c.want) {
					t.Errorf("panic %q, want %q", got, c.want)
				}
			}()
			c.do()
		})
	}
}
