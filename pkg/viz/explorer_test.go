package viz

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// lines returns an explorer of a line, with a slider for its slope and a list
// for its start.
func lines() Explorer {
	return Explorer{
		Controls: []Control{
			{Label: "slope", Values: []string{"1", "2", "3"}, Start: 2, Kept: []int{0, 2}},
			{Label: "start", Values: []string{"0", "1"}, List: true},
		},
		Draw: func(at []int) *Chart {
			a, b := float64(at[0]+1), float64(at[1])
			c := NewChart("lines",
				fmt.Sprintf(
					"The line rises by %v.",
					a),
				fmt.Sprintf(
					"From %v < 5.",
					b))
			p := c.Panel("", Axis{Label: "x", Min: 0, Max: 2}, Axis{Label: "y", Min: 0, Max: 8})
			p.Line(Series{Label: "line"}, []float64{0, 1, 2}, []float64{b, a + b, 2*a + b})
			p.Horizontal(Series{Label: "level", Color: Grey}, 5)
			return c
		},
	}
}

// spec is the data that the page receives.
type spec struct {
	Kernel   string
	Code     string
	Controls []struct {
		Label  string
		Values []string
		Start  int
		Kept   []int
		List   bool
	}
	Frames map[string]struct {
		Options []map[string]any
		Caption string
	}
	Pool []any
}

func specOf(t *testing.T, html string) (s spec) {
	t.Helper()
	const call = `window.roundoffExplore("it", `
	_, rest, ok := strings.Cut(html, call)
	rest, _, found := strings.Cut(rest, ");\nelse")
	if !ok || !found {
		t.Fatalf("no call of roundoffExplore: %.300q", html)
	}
	if err := json.Unmarshal([]byte(rest), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// unfold replaces the numbers of parts in the options of a frame by the parts,
// as the page does.
func (s spec) unfold(options []map[string]any) []any {
	part := func(v any) any { return s.Pool[int(v.(float64))] }
	var all []any
	for _, o := range options {
		z := map[string]any{}
		for k, v := range o {
			if list, ok := v.([]any); ok {
				var parts []any
				for _, v := range list {
					parts = append(parts, part(v))
				}
				z[k] = parts
			} else {
				z[k] = part(v)
			}
		}
		all = append(all, z)
	}
	return all
}

func TestExplorer(t *testing.T) {
	e := lines()
	html, err := e.HTML("it", "a-1", "!draw @")
	if err != nil {
		t.Fatal(err)
	}
	s := specOf(t, html)
	t.Run("draws_beforehand_what_is_kept", func(t *testing.T) {
		if len(s.Frames) != 4 || s.Kernel != "a-1" || s.Code != "!draw @" {
			t.Errorf("%d frames, and others by %q of %q", len(s.Frames), s.Code, s.Kernel)
		}
		for key, f := range s.Frames {
			var at [2]int
			if _, err := fmt.Sscanf(key, "%d,%d", &at[0], &at[1]); err != nil {
				t.Fatal(err)
			}
			c := lines().Draw(at[:])
			options, err := c.ECharts()
			if err != nil {
				t.Fatal(err)
			}
			var want []any
			for _, o := range options {
				var v any
				if err := json.Unmarshal(o, &v); err != nil {
					t.Fatal(err)
				}
				want = append(want, v)
			}
			if got := s.unfold(f.Options); !reflect.DeepEqual(got, want) {
				t.Errorf("frame %s:\n%v\nwant\n%v", key, got, want)
			}
			if f.Caption != captionHTML(c) {
				t.Errorf("frame %s: caption %q", key, f.Caption)
			}
		}
	})
	t.Run("says_a_thing_once", func(t *testing.T) {
		seen := map[string]bool{}
		for _, p := range s.Pool {
			text := fmt.Sprint(p)
			if seen[text] && len(text) > 20 {
				t.Errorf("twice: %.100s", text)
			}
			seen[text] = true
		}
	})
	t.Run("is_a_picture_where_no_script_runs", func(t *testing.T) {
		still, err := HTML(e.Figure(2, 0), "it")
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(still, "<figure", `<figure id="it-card"`, 1); !strings.HasPrefix(html, want) {
			t.Error("the element does not begin with the figure of the start")
		}
	})
	t.Run("answers_for_every_value", func(t *testing.T) {
		text, err := e.Frame(true, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "\n") {
			t.Error("it takes more than a line")
		}
		var f struct {
			At      []int
			Options []json.RawMessage
			Caption string
			Files   string
		}
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		c := lines().Draw([]int{1, 1})
		d, err := Draw(c)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(f.At, []int{1, 1}) || f.Caption != captionHTML(c) || f.Files != d.links() || len(f.Options) != 1 {
			t.Errorf("%.300s", text)
		}
	})
	t.Run("answers_sooner_without_files", func(t *testing.T) {
		with, err := e.Frame(true, 1, 1)
		without, err2 := e.Frame(false, 1, 1)
		if err != nil || err2 != nil || len(without) > len(with)/2 || !strings.Contains(without, `"files":""`) {
			t.Errorf("%d bytes with files, %d without, %v, %v", len(with), len(without), err, err2)
		}
	})
	t.Run("knows_its_settings", func(t *testing.T) {
		for _, at := range [][]int{nil, {0}, {3, 0}, {0, -1}, {0, 0, 0}} {
			if e.Has(at) {
				t.Errorf("has %v", at)
			}
		}
		if !e.Has(e.Start()) || len(e.Settings()) != 4 {
			t.Errorf("start %v, settings %v", e.Start(), e.Settings())
		}
	})
}

func TestExplorerPanics(t *testing.T) {
	with := func(c Control) func() {
		return func() { Explorer{Controls: []Control{c}, Draw: lines().Draw}.Figure(0) }
	}
	for _, c := range []struct {
		want string
		call func()
	}{
		{"viz: setting [0], want an index of each of the 2 controls", func() { lines().Figure(0) }},
		{"viz: explorer has no control", func() { Explorer{}.Figure() }},
		{"viz: control 0 has no label", with(Control{Values: []string{"1"}})},
		{`viz: control "x": Start = 0, Kept = [] of 0 values`, with(Control{Label: "x"})},
		{`viz: control "x": Start = 0, Kept = [1] of 2 values`, with(Control{Label: "x", Values: []string{"1", "2"}, Kept: []int{1}})},
		{`viz: control "x": Start = 0, Kept = [0 2] of 2 values`, with(Control{Label: "x", Values: []string{"1", "2"}, Kept: []int{0, 2}})},
	} {
		t.Run(c.want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, c.want) {
					t.Errorf("panic %q", got)
				}
			}()
			c.call()
		})
	}
}

// The links that save the files contain them.
func TestFiles(t *testing.T) {
	c := lines().Figure(0, 0)
	d, err := Draw(c)
	if err != nil {
		t.Fatal(err)
	}
	html := d.links()
	for _, want := range []string{
		`download="lines.svg" href="data:image/svg+xml;base64,PHN2Zy`,
		`download="lines.png" href="data:image/png;base64,iVBORw0KGgo`,
		`download="lines.csv" href="data:text/csv;charset=utf-8,`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %.500s", want, html)
		}
	}
	if n := strings.Count(html, "<a "); n != 3 {
		t.Errorf("%d links", n)
	}
}

func TestPage(t *testing.T) {
	page := string(Page("A < B", "../index.html?a&b", "<figure></figure>"))
	for _, want := range []string{"<title>A &lt; B</title>", "<h1>A &lt; B</h1>", `<a href="../index.html?a&amp;b">`, "<figure></figure>", "prefers-color-scheme: dark"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("not once there: %s", want)
		}
	}
	if strings.Contains(string(Page("A", "", "")), "<nav") {
		t.Error("a page that belongs to none has a way back")
	}
}
