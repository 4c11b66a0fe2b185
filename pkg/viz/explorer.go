package viz

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
)

// An Explorer is a chart with controls: it has one chart for every setting of
// the controls.
type Explorer struct {
	Title    string // heading of the page of the chart; "" for its name
	Controls []Control

	// Draw returns the chart of a setting, in which Controls[i] has the value
	// Values[at[i]]. It must return the same chart for the same setting, and may be
	// called concurrently.
	Draw func(at []int) *Chart
}

// A Control is one quantity that the reader sets.
type Control struct {
	Label  string
	Values []string // labels of the values, in the order of the slider
	Start  int      // index of the initial value
	Kept   []int    // ascending indices of the values that HTML draws in advance; nil for all
	List   bool     // a drop-down list instead of a slider
}

// kept returns the indices of the values that are drawn in advance.
func (c Control) kept() []int {
	if c.Kept != nil {
		return c.Kept
	}
	all := make([]int, len(c.Values))
	for i := range all {
		all[i] = i
	}
	return all
}

// Start returns the initial setting, one index for each control.
func (e Explorer) Start() []int {
	at := make([]int, len(e.Controls))
	for i, c := range e.Controls {
		at[i] = c.Start
	}
	return at
}

// Figure returns the chart of a setting. It panics unless at has an index of an
// existing value for each control, or if a control is invalid: it has no label,
// its Kept are not ascending indices of values, or Start is not among them.
func (e Explorer) Figure(at ...int) *Chart {
	e.check()
	check(e.Has(at), "setting %v, want an index of each of the %d controls", at, len(e.Controls))
	return e.Draw(at)
}

// Has reports whether at is a setting: an index of an existing value for each
// control.
func (e Explorer) Has(at []int) bool {
	if len(at) != len(e.Controls) {
		return false
	}
	for i, c := range e.Controls {
		if at[i] < 0 || at[i] >= len(c.Values) {
			return false
		}
	}
	return true
}

func (e Explorer) check() {
	check(len(e.Controls) > 0, "explorer has no control")
	for i, c := range e.Controls {
		check(c.Label != "", "control %d has no label", i)
		kept := c.kept()
		check(slices.IsSorted(kept) && slices.Contains(kept, c.Start) && kept[0] >= 0 && kept[len(kept)-1] < len(c.Values),
			"control %q: Start = %d, Kept = %v of %d values, want Start among them, ascending", c.Label, c.Start, c.Kept, len(c.Values))
	}
}

// Settings returns every setting that HTML draws in advance.
func (e Explorer) Settings() [][]int {
	all := [][]int{nil}
	for _, c := range e.Controls {
		var longer [][]int
		for _, at := range all {
			for _, v := range c.kept() {
				longer = append(longer, append(slices.Clone(at), v))
			}
		}
		all = longer
	}
	return all
}

// frame is the data from which a page shows the chart of one setting.
type frame struct {
	At      []int             `json:"at"`
	Options []json.RawMessage `json:"options"`
	Caption string            `json:"caption"` // HTML
	Files   string            `json:"files"`   // HTML: the links of Drawing; "" for frames drawn in advance
}

func newFrame(c *Chart, at []int) (frame, error) {
	options, err := c.ECharts()
	return frame{At: at, Options: options, Caption: captionHTML(c)}, err
}

// Frame returns the chart of a setting as one line of JSON, in the form that
// the page of HTML expects from a kernel; with files also the links that save
// it, which take longer to make than the chart. It panics as [Explorer.Figure]
// does.
func (e Explorer) Frame(files bool, at ...int) (string, error) {
	c := e.Figure(at...)
	f, err := newFrame(c, at)
	if err != nil {
		return "", err
	}
	if files {
		d, err := Draw(c)
		if err != nil {
			return "", err
		}
		f.Files = d.links()
	}
	b, err := json.Marshal(f)
	return string(b), err
}

// HTML returns the figure element that shows the chart of Start as [HTML] does,
// with the controls above it. If the page contains [Script] and runs it, the
// chart follows the controls. They offer the values that are drawn in advance;
// where the page is one of a Jupyter server that runs the kernel with the id
// kernel, all values: the page has it execute code, with @ replaced by a
// setting such as 0,12,1, or 0,12,1:files, for which code prints the
// [Explorer.Frame] as its last line. Without a kernel both are empty. If the
// page runs no scripts, it shows the picture of Start. The id must be unique on
// the page. HTML panics as [Explorer.Figure] and [HTML] do.
func (e Explorer) HTML(id, kernel, code string) (string, error) {
	first := e.Figure(e.Start()...)
	body, err := HTML(first, id)
	if err != nil {
		return "", err
	}
	pool := newPool()
	frames := map[string]any{}
	for _, at := range e.Settings() {
		c := first
		if !slices.Equal(at, e.Start()) {
			c = e.Figure(at...)
		}
		f, err := newFrame(c, at)
		if err != nil {
			return "", err
		}
		options, err := pool.options(f.Options)
		if err != nil {
			return "", err
		}
		frames[strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ","), "[]")] = map[string]any{"options": options, "caption": f.Caption}
	}
	var controls []map[string]any
	for _, c := range e.Controls {
		controls = append(controls, map[string]any{"label": c.Label, "values": c.Values, "start": c.Start, "kept": c.kept(), "list": c.List})
	}
	spec, err := json.Marshal(map[string]any{"kernel": kernel, "code": code, "controls": controls, "frames": frames, "pool": pool.parts})
	if err != nil {
		return "", fmt.Errorf("viz: explorer %s: %w", first.Name(), err)
	}
	return strings.Replace(body, "<figure", fmt.Sprintf(`<figure id="%s-card"`, id), 1) + whenReady("Explore", id, spec), nil
}

// pool stores each part that several frames have in common once.
type pool struct {
	parts []json.RawMessage
	index map[string]int
}

func newPool() *pool { return &pool{index: map[string]int{}} }

// put returns the number of a part, after storing it if it is new.
func (p *pool) put(part json.RawMessage) int {
	i, known := p.index[string(part)]
	if !known {
		i = len(p.parts)
		p.parts, p.index[string(part)] = append(p.parts, part), i
	}
	return i
}

// options returns the option objects with each member, and each of the series,
// replaced by the number of its part.
func (p *pool) options(list []json.RawMessage) ([]map[string]any, error) {
	var out []map[string]any
	for _, raw := range list {
		var members map[string]json.RawMessage
		var series []json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(members["series"], &series); err != nil {
			return nil, err
		}
		delete(members, "series")
		o := map[string]any{}
		for name, m := range members {
			o[name] = p.put(m)
		}
		numbers := make([]int, len(series))
		for i, s := range series {
			numbers[i] = p.put(s)
		}
		o["series"] = numbers
		out = append(out, o)
	}
	return out, nil
}

// Page returns a complete HTML page of that title that contains the element,
// which [HTML] or [Explorer.HTML] returned. A link at its top leads to home, an
// address; without one there is none. The page loads nothing from a network.
func Page(title, home, element string) []byte {
	if home != "" {
		home = fmt.Sprintf("<nav><a href=\"%s\">← All figures</a></nav>\n", html.EscapeString(home))
	}
	title = html.EscapeString(title)
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
<style>
body { margin: 0 auto; padding: 16px 12px; max-width: 784px; font-family: system-ui, sans-serif; background: #fcfcfa; color: #1f2328; }
h1 { font-size: 1.5rem; font-weight: 600; margin: .5em 0; }
a { color: #0072b2; }
figure { border-radius: 6px; }
@media (prefers-color-scheme: dark) {
  body { background: #15181b; color: #e4e6e8; }
  nav a { color: #6cb8e6; }
  figure { filter: invert(.9) hue-rotate(180deg); }
}
</style>
<body>
%s<main>
<h1>%s</h1>
%s%s</main>
</body>
</html>
`, title, home, title, Script(), element)
}
