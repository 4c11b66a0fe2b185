package viz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowSpread returns the smallest sum of squared displacements over all
// positions on a grid of 1 px, for few items.
func slowSpread(want, size []float64, lo, hi float64) (best float64) {
	best = math.Inf(1)
	y := make([]float64, len(want))
	var try func(i int, cost float64)
	try = func(i int, cost float64) {
		if cost >= best {
			return
		}
		if i == len(want) {
			best = cost
			return
		}
		for y[i] = lo + size[i]/2; y[i] <= hi-size[i]/2; y[i]++ {
			ok := true
			for j := range i {
				// The items are in the order of want; equal ones are in the order of their
				// index.
				if want[j] <= want[i] && y[i]-y[j] < (size[i]+size[j])/2 ||
					want[j] > want[i] && y[j]-y[i] < (size[i]+size[j])/2 {
					ok = false
				}
			}
			if ok {
				try(i+1, cost+(y[i]-want[i])*(y[i]-want[i]))
			}
		}
	}
	try(0, 0)
	return best
}

func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		n := 1 + rng.IntN(4)
		want, size := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i], size[i] = float64(rng.IntN(40)), float64(2*(1+rng.IntN(6)))
		}
		y, ok := spread(want, size, 0, 50)
		if !ok {
			t.Fatalf("spread(%v, %v): no room", want, size)
		}
		cost := 0.0
		for i := range y {
			cost += (y[i] - want[i]) * (y[i] - want[i])
			if y[i]-size[i]/2 < -1e-9 || y[i]+size[i]/2 > 50+1e-9 {
				t.Errorf("spread(%v, %v) = %v leaves [0, 50]", want, size, y)
			}
			for j := range i {
				if math.Abs(y[i]-y[j]) < (size[i]+size[j])/2-1e-9 {
					t.Errorf("spread(%v, %v) = %v: %d meets %d", want, size, y, i, j)
				}
			}
		}
		if best := slowSpread(want, size, 0, 50); cost > best+1e-9 {
			t.Errorf("spread(%v, %v) = %v costs %v, a grid position %v", want, size, y, cost, best)
		}
	}
	t.Run("says_when_there_is_no_room", func(t *testing.T) {
		if _, ok := spread([]float64{1, 2}, []float64{6, 6}, 0, 10); ok {
			t.Error("12 px fit in 10")
		}
	})
	t.Run("leaves_alone_what_does_not_meet", func(t *testing.T) {
		if y, _ := spread([]float64{20, 5}, []float64{4, 4}, 0, 30); y[0] != 20 || y[1] != 5 {
			t.Errorf("moved to %v", y)
		}
	})
}

func TestClip(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := Box{0, 0, 10, 10}
	at := func(p, q Point, s float64) Point { return Point{p.X + s*(q.X-p.X), p.Y + s*(q.Y-p.Y)} }
	in := func(p Point, d float64) bool { return b.grow(d).holds(Box{p.X, p.Y, p.X, p.Y}) }
	for range 2000 {
		p := Point{30*rng.Float64() - 10, 30*rng.Float64() - 10}
		q := Point{30*rng.Float64() - 10, 30*rng.Float64() - 10}
		if rng.IntN(4) == 0 {
			q.X = p.X
		}
		length := math.Hypot(q.X-p.X, q.Y-p.Y)
		inside := 0.0 // length of the part inside, estimated from 1000 points of the segment
		for k := range 1000 {
			if in(at(p, q, float64(k)/999), 0) {
				inside += length / 1000
			}
		}
		got := 0.0
		for _, piece := range clip([]Point{p, q}, b) {
			got += math.Hypot(piece[1].X-piece[0].X, piece[1].Y-piece[0].Y)
			if !in(piece[0], 1e-9) || !in(piece[1], 1e-9) {
				t.Fatalf("clip(%v, %v) = %v leaves the box", p, q, piece)
			}
		}
		if math.Abs(got-inside) > length/200 {
			t.Fatalf("clip(%v, %v) is %v long, want %v", p, q, got, inside)
		}
	}
}

// A series of all panels that has no place in one of them stands in one legend,
// above the first panel, for all of them; a series of some panels in its own.
func TestOneLegendForAllPanels(t *testing.T) {
	written := func(c *Chart) map[string][]float64 {
		at := map[string][]float64{}
		for _, m := range c.draw().marks {
			if w, ok := m.(words); ok {
				at[w.text] = append(at[w.text], w.at.Y)
			}
		}
		return at
	}
	bars := func(second Series) *Chart {
		c := NewChart("c", "C.", "")
		for _, s := range []Series{vibea, second} {
			p := c.Panel("", Axis{Label: "x"}, Axis{Label: "y"})
			p.Bars(dbea, []string{"a", "b"}, []float64{1, 2})
			p.Bars(s, []string{"a", "b"}, []float64{2, 1})
		}
		return c
	}
	coinciding := NewChart("c", "C.", "")
	for i, name := range []string{"apart", "together"} {
		p := coinciding.Panel(name, relativeError, distributionF)
		p.EDF(dbea, []float64{1e-6})
		p.EDF(vibea, []float64{[]float64{1e-4, 1e-6}[i]})
	}
	for _, c := range []struct {
		name  string
		chart *Chart
		want  map[string]int
	}{
		{"bars", bars(vibea), map[string]int{"DBEA": 1, "VIBEA, 99 %": 1}},
		{"bars of other series", bars(observed), map[string]int{"DBEA": 1, "VIBEA, 99 %": 1, "observed": 1}},
		{"curves that coincide in one panel", coinciding, map[string]int{"DBEA": 2, "VIBEA, 99 %": 1}},
	} {
		at := written(c.chart)
		for label, n := range c.want {
			if len(at[label]) != n {
				t.Errorf("%s: %q is written %d times, want %d", c.name, label, len(at[label]), n)
			}
		}
		if y := at["VIBEA, 99 %"]; len(y) == 0 || y[0] > 60 {
			t.Errorf("%s: VIBEA stands at %v, want above the first panel", c.name, y)
		}
	}
}

// Labels of random panels never overlap, never leave the canvas, and each is
// drawn once.
func TestLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for run := range 60 {
		c := NewChart("c", "C.", "")
		p := c.Panel([]string{"", "A title"}[run%2], Axis{Label: "x", Log: true, Min: 1e-8, Max: 1}, Axis{Label: "F"})
		for i := range 1 + rng.IntN(4) {
			s := Series{Label: fmt.Sprintf("curve %d", i), Color: Black}
			p.EDF(s, logNormal(200+rng.IntN(50), -7+6*rng.Float64(), 0.1+rng.Float64()))
		}
		for i := range rng.IntN(6) {
			s := Series{Label: fmt.Sprintf("a bound of number %d", i), Color: Vermilion, Style: Dashed}
			p.Vertical(s, math.Pow(10, -9+10*rng.Float64()))
		}
		p.Horizontal(Series{Label: "level", Color: Grey}, rng.Float64())
		p.Note(math.Pow(10, -7+6*rng.Float64()), rng.Float64(), "1.5×")

		s := c.draw()
		seen := map[string]int{}
		var all []words
		for _, m := range s.marks {
			w, ok := m.(words)
			if !ok {
				continue
			}
			seen[w.text]++
			if !(Box{0, 0, s.w, s.h}).holds(w.box()) {
				t.Errorf("run %d: %q leaves the canvas", run, w.text)
			}
			for _, o := range all {
				if o.box().hits(w.box()) {
					t.Errorf("run %d: %q at %v is on %q at %v", run, w.text, w.box(), o.text, o.box())
				}
			}
			all = append(all, w)
		}
		v := c.views()[0]
		for _, tr := range p.traces {
			if n := seen[v.nameOf(tr)]; n != 1 {
				t.Errorf("run %d: %q is written %d times", run, v.nameOf(tr), n)
			}
		}
	}
}

func TestPlacer(t *testing.T) {
	word := func(x, y float64) words { return words{text: "label", at: Point{x, y}, size: 12} }
	wall := curve{[]Point{{50, 0}, {50, 100}}, true}
	t.Run("takes_the_cheapest_free_offer", func(t *testing.T) {
		p := placer{frame: Box{0, 0, 100, 100}, curves: []curve{wall}}
		o, ok := p.place(-1, []offer{{words: word(45, 50), cost: 0}, {words: word(60, 50), cost: 2}, {words: word(60, 80), cost: 1}})
		if !ok || o.words.at != (Point{60, 80}) {
			t.Errorf("took %v, %v", o.words.at, ok)
		}
		if o, _ = p.place(-1, []offer{{words: word(60, 82), cost: 0}, {words: word(60, 50), cost: 2}}); o.words.at != (Point{60, 50}) {
			t.Errorf("took %v, which is taken", o.words.at)
		}
	})
	t.Run("refuses_what_leaves_the_frame_or_covers_a_curve", func(t *testing.T) {
		p := placer{frame: Box{0, 0, 100, 100}, curves: []curve{wall}}
		if o, ok := p.place(-1, []offer{{words: word(90, 50)}, {words: word(45, 50)}, {words: word(60, 5)}}); ok {
			t.Errorf("took %v", o.words.at)
		}
	})
	t.Run("covers_a_line_of_reference_only_for_want_of_better", func(t *testing.T) {
		p := placer{frame: Box{0, 0, 100, 100}, curves: []curve{{wall.pts, false}}}
		if o, ok := p.place(-1, []offer{{words: word(45, 50)}}); !ok || !o.opaque {
			t.Errorf("place = %v, opaque %v", ok, o.opaque)
		}
		if o, ok := p.place(-1, []offer{{words: word(45, 80)}, {words: word(60, 80), cost: 20}}); !ok || o.opaque {
			t.Errorf("place = %v, opaque %v", ok, o.opaque)
		}
	})
	t.Run("leads_through_no_curve", func(t *testing.T) {
		p := placer{frame: Box{0, 0, 100, 100}, curves: []curve{wall}}
		if _, ok := p.place(-1, []offer{{words: word(60, 50), leader: []Point{{40, 46}, {58, 46}}}}); ok {
			t.Error("leader crosses a curve")
		}
	})
	t.Run("lets_no_other_curve_come_between_a_label_and_its_own", func(t *testing.T) {
		p := placer{frame: Box{0, 0, 100, 100}, curves: []curve{{[]Point{{40, 0}, {40, 100}}, true}, wall}}
		o := offer{words: word(60, 50), tie: []Point{{40, 46}, {60, 46}}}
		if _, ok := p.place(0, []offer{o}); ok {
			t.Error("the label seems to name the curve between")
		}
		if _, ok := p.place(1, []offer{{words: word(60, 50), tie: []Point{{50, 46}, {60, 46}}}}); !ok {
			t.Error("its own curve came between")
		}
	})
}

// The label of a set of points is next to one of them, never between two.
func TestPointsAreNamedAtOne(t *testing.T) {
	for _, end := range []float64{0.5, 0.9} {
		c := NewChart("c", "C.", "")
		p := c.Panel("", Axis{Label: "x", Min: 0, Max: 1}, Axis{Label: "y", Min: 0, Max: 1})
		p.Line(Series{Label: "a wall", Color: Grey}, []float64{end - 0.06, end - 0.06}, []float64{0, 1})
		p.Line(Series{Label: "another", Color: Grey}, []float64{end + 0.06, end + 0.06}, []float64{0, 1})
		p.Points(Series{Label: "points of one distribution", Color: Black}, []float64{0.1, end}, []float64{0.2, 0.6})
		s, views := c.draw(), c.views()
		c.frames(views, s.h)
		settle(views)
		nearest := math.Inf(1)
		for _, m := range s.marks {
			if w, ok := m.(words); ok && w.text == "points of one distribution" {
				for i := range 2 {
					q := views[0].pos(p.traces[2].x[i], p.traces[2].y[i])
					at := w.box().nearest(q)
					nearest = min(nearest, math.Hypot(at.X-q.X, at.Y-q.Y))
				}
			}
		}
		if nearest > 20 {
			t.Errorf("points to x = %v: the label is %.0f px from the nearest", end, nearest)
		}
	}
}

// The label of a horizontal line is never placed where it would seem to name
// the end of another line.
func TestLevelBesideAnEnd(t *testing.T) {
	c := NewChart("c", "C.", "")
	p := c.Panel("", Axis{Label: "x", Min: 0, Max: 1}, Axis{Label: "y", Min: 0, Max: 1})
	p.Line(Series{Label: "ends", Color: Vermilion}, []float64{0, 0.68, 1}, []float64{0, 0.54, math.Inf(1)})
	p.Horizontal(Series{Label: "a level of some length", Color: Grey}, 0.5)
	s, views := c.draw(), c.views()
	c.frames(views, s.h)
	settle(views)
	end, ok := views[0].ended(p.traces[0])
	if !ok {
		t.Fatal("the line has no end")
	}
	for _, m := range s.marks {
		if w, ok := m.(words); ok && w.text == "a level of some length" {
			if b := w.box(); b.Y0 <= end.Y && end.Y <= b.Y1 && b.X0-endRoom <= end.X && end.X <= b.X1+endRoom {
				t.Errorf("the label at %v is beside the end at %v", b, end)
			}
			return
		}
	}
	t.Error("the level has no label")
}

func TestNote(t *testing.T) {
	dense := func() (*Chart, *Panel) {
		c := NewChart("c", "C.", "")
		p := c.Panel("", Axis{Label: "x", Min: 0, Max: 1}, Axis{Label: "y", Min: 0, Max: 1})
		for i := range 50 {
			y := float64(i) / 49
			p.Line(Series{Label: fmt.Sprint(i)}, []float64{0, 0.8}, []float64{y, y})
		}
		return c, p
	}
	t.Run("covers_curves_where_it_must", func(t *testing.T) {
		c, p := dense()
		p.Note(0.3, 0.5, "13.3×")
		before := len(c.draw().marks)
		for i, m := range c.draw().marks {
			if w, ok := m.(words); ok && w.text == "13.3×" {
				if s, ok := c.draw().marks[i-1].(shape); !ok || s.pen.fill != White {
					t.Errorf("mark %d of %d before the note is no backing", i-1, before)
				}
				return
			}
		}
		t.Error("note is lost")
	})
	t.Run("panics_when_longer_than_its_panel", func(t *testing.T) {
		defer func() {
			if got, ok := recover().(string); !ok || !strings.Contains(got, "has no place") {
				t.Errorf("panic %q", got)
			}
		}()
		c, p := dense()
		p.Note(0.3, 0.5, strings.Repeat("long ", 60))
		c.draw()
	})
}

// Of many points, somePoints returns a few at equal steps, always with the
// last; of few points, all.
func TestSomePoints(t *testing.T) {
	for n := range 20 {
		pts := make([]Point, n)
		for i := range pts {
			pts[i].X = float64(i)
		}
		some := somePoints(pts, 6)
		if n > 0 && (len(some) == 0 || some[len(some)-1] != pts[n-1]) || len(some) > 6 || n <= 6 && len(some) != n {
			t.Errorf("of %d points %v", n, some)
		}
		for i := 2; i < len(some); i++ {
			if some[i].X-some[i-1].X != some[1].X-some[0].X {
				t.Errorf("of %d points %v, not evenly", n, some)
			}
		}
	}
}

// Points of the name of a line are named once, and panels of the same bars have
// one legend.
func TestNamesAreWrittenOnce(t *testing.T) {
	for name, draw := range map[string]func(*Chart){
		"points of a line": func(c *Chart) {
			p := c.Panel("", Axis{Label: "x"}, Axis{Label: "y"})
			p.Line(Series{Label: "volta"}, []float64{1, 2}, []float64{1, 2})
			p.Points(Series{Label: "volta"}, []float64{1, 2}, []float64{1, 2})
		},
		"bars of two panels": func(c *Chart) {
			for range 2 {
				p := c.Panel("", Axis{Label: "x"}, Axis{Label: "y"})
				p.Bars(Series{Label: "volta"}, []string{"row"}, []float64{1})
				p.Bars(Series{Label: "other", Color: Blue}, []string{"row"}, []float64{2})
			}
		},
	} {
		c := NewChart("once", "Found.", "")
		draw(c)
		svg, err := c.SVG()
		if n := strings.Count(string(svg), ">volta<"); err != nil || n != 1 {
			t.Errorf("%s: the name stands %d times, want 1; %v", name, n, err)
		}
	}
}
