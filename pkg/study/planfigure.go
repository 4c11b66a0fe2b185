package study

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// PlanFigure draws which of k products meet where in a plan, and in what
// precision: from the top how K is cut, at each level the first part of the one
// above; then what an accumulator does with it; then how parts are merged, from
// the innermost; and the result. What repeats is drawn once, with its number.
// It panics if k < 1 or [plan.Plan.Check] returns an error.
func PlanFigure(p plan.Plan, k int) *viz.Schematic {
	d := &planDrawing{levels: p.Levels(k), output: p.Device().C, at: func(r int) int { return r }}
	if p.Output != (tcore.Format{}) {
		d.output = p.Output
	}
	rows := 2 * len(d.levels)
	size := p.Size(k)
	lost := ""
	if size.Lost > 0 {
		lost = fmt.Sprintf(" %d of %d products are in no part and lost.", size.Lost, k)
	}
	d.s = viz.NewSchematic("plan", fmt.Sprintf("A product meets at most %s and %s, then the rounding of the result.%s",
		counted(size.MostInstructions, "instruction"), counted(size.MostAdditions, "addition to nearest"), lost),
		fmt.Sprintf("%v, K = %d. Tinted: what the row below shows. Drawn by study.PlanFigure.", p, k), planWidth, planTop+float64(rows)*planRow+10)
	y := planTop
	for _, l := range d.levels {
		if run, ok := l.Order.(plan.Run); ok {
			d.run(y, run, l)
		} else {
			d.cut(y, l.Order.(plan.Parts), l)
		}
		y += planRow
	}
	for i := len(d.levels) - 2; i >= 0; i-- {
		d.merge(y, i)
		y += planRow
	}
	d.result(y)
	d.legend(y + planRow - 16)
	return d.s
}

// The sizes of a drawing of a plan, in px.
const (
	planWidth = 640.0
	planTop   = 22.0
	planRow   = 84.0 // from one level to the next
	planLeft  = 20.0
	planRight = planWidth - planLeft
	planBar   = 26.0 // height of bars and boxes
)

// A planDrawing draws the levels of a plan.
type planDrawing struct {
	s      *viz.Schematic
	levels []plan.Level
	output tcore.Format
	at     func(int) int // position of a product of the part that is drawn
	used   []tcore.Format
}

// Precisions are told apart by these tints.
var (
	planProducts = viz.RGB(0xFBE3B5)
	planPlain    = viz.RGB(0xFFFFFF)
	planLost     = viz.RGB(0xF0B8A0)
)

// precisionTint returns the tint of numbers of a format: one for each
// precision.
func precisionTint(f tcore.Format) color.Color {
	switch {
	case f.Precision >= 24:
		return viz.RGB(0xD3EAF8)
	case f.Precision >= 14:
		return viz.RGB(0xFAD9C5)
	case f.Precision >= 11:
		return viz.RGB(0xCBEBDD)
	case f.Precision >= 8:
		return viz.RGB(0xF1DAE6)
	}
	return viz.RGB(0xE0E0E0)
}

func (d *planDrawing) tint(f tcore.Format) color.Color {
	if !slices.ContainsFunc(d.used, f.Equal) {
		d.used = append(d.used, f)
	}
	return precisionTint(f)
}

func (d *planDrawing) caption(y float64, text string) {
	d.s.Text(viz.At(planLeft+6, y), viz.Start, 13, viz.Ink, text)
}

// box draws a box with a text on the bar that begins at y.
func (d *planDrawing) box(x0, x1, y float64, c color.Color, text string) {
	b := viz.Rect(x0, y, x1, y+planBar)
	d.s.Node(b, 0, c, "")
	d.s.Text(viz.At((x0+x1)/2, y+planBar/2), viz.Middle, 12, viz.Ink, text)
}

// A planCell is a part on a bar: the products from start on, or dots.
type planCell struct {
	start, n int
	name     string // of a lane
	first    bool   // of the first part
	lost     bool
	index    int
}

// cut draws how a level is cut, and lines from its first part to the next
// level.
func (d *planDrawing) cut(y float64, p plan.Parts, l plan.Level) {
	what := fmt.Sprintf("%d products", l.Products)
	if l.Products == 1 {
		what = "1 product"
	}
	if y == planTop {
		what = fmt.Sprintf("*K* = %d", l.Products)
	}
	parts := partCount(l)
	turns := l.Vector > 0 && l.Vector*p.Cut.Lanes < l.Products
	text := fmt.Sprintf("%s in %s", what, countedGroups(l.Groups, parts))
	if turns {
		text += fmt.Sprintf(", %d at a time in turn", l.Vector)
	}
	d.caption(y, text)
	cells := shownCells(l.Groups, parts)
	if turns {
		cells = laneCells(l, p.Cut.Lanes)
	}
	if l.Lost > 0 {
		cells = append(cells, planCell{start: l.Products - l.Lost, n: l.Lost, lost: true})
	}
	first, last := d.bar(y+14, cells)
	next := y + planRow + 14
	below := y + 14 + planBar
	d.s.Line(viz.Grey, 1, viz.Dotted, viz.At(first, below), viz.At(planLeft, next))
	d.s.Line(viz.Grey, 1, viz.Dotted, viz.At(last, below), viz.At(planRight, next))
	if turns {
		outer, v, lanes := d.at, l.Vector, p.Cut.Lanes
		d.at = func(r int) int { return outer(r/v*v*lanes + r%v) }
	}
}

// partCount returns the number of parts of a level.
func partCount(l plan.Level) int {
	n := 0
	for _, g := range l.Groups {
		n += g.Count
	}
	return n
}

// shownCells returns the cells of groups that stand in a row: all of up to
// four, else the first two, dots, and the last.
func shownCells(groups []plan.Group, total int) []planCell {
	var cells []planCell
	add := func(i int) {
		start, index := 0, i
		for _, g := range groups {
			if index < g.Count {
				cells = append(cells, planCell{start: start + index*g.Products, n: g.Products, first: i == 0, index: i})
				return
			}
			start, index = start+g.Count*g.Products, index-g.Count
		}
	}
	for i := range min(total, 4) {
		switch {
		case total <= 4 || i < 2:
			add(i)
		case i == 2:
			cells = append(cells, planCell{n: -1})
		default:
			add(total - 1)
		}
	}
	return cells
}

// laneCells returns the cells of lanes that take turns, in the first two turns.
func laneCells(l plan.Level, lanes int) []planCell {
	var cells []planCell
	add := func(turn, lane int) {
		start := (turn*lanes + lane) * l.Vector
		if n := min(l.Vector, l.Products-start); n > 0 {
			cells = append(cells, planCell{start: start, n: n, name: fmt.Sprintf("lane %d", lane), first: lane == 0})
		}
	}
	for turn := range 2 {
		add(turn, 0)
		if lanes > 2 {
			cells = append(cells, planCell{n: -1})
		}
		if lanes > 1 {
			add(turn, lanes-1)
		}
	}
	if 2*lanes*l.Vector < l.Products {
		cells = append(cells, planCell{n: -1})
	}
	return cells
}

// bar draws cells over the whole width, and returns where the first part begins
// and where its last product ends.
func (d *planDrawing) bar(y float64, cells []planCell) (first, last float64) {
	const dots = 26.0
	wide, narrow := 0, 0
	for _, c := range cells {
		if c.n < 0 {
			narrow++
		} else {
			wide++
		}
	}
	width := (planRight - planLeft - float64(narrow)*dots) / float64(wide)
	x := planLeft
	first, last = x, x
	for _, c := range cells {
		w := width
		switch {
		case c.n < 0:
			w = dots
			d.s.Text(viz.At(x+w/2, y+planBar/2), viz.Middle, 16, viz.Ink, "⋯")
		case c.lost:
			d.box(x, x+w, y, planLost, fmt.Sprintf("%d lost", c.n))
		default:
			tint := color.Color(planPlain)
			if c.first {
				tint, last = planProducts, x+w
			}
			d.box(x, x+w, y, tint, d.positions(c))
			if c.name != "" {
				d.s.Text(viz.At(x+w/2, y+planBar+9), viz.Middle, 11, viz.SoftInk, c.name)
			}
		}
		x += w
	}
	return first, last
}

// positions names the products of a cell by their places in K.
func (d *planDrawing) positions(c planCell) string {
	first, last := d.at(c.start), d.at(c.start+max(c.n, 1)-1)
	switch {
	case c.n == 0:
		return "empty"
	case c.n == 1:
		return fmt.Sprint(first)
	case c.n == 2:
		return fmt.Sprintf("%d, %d", first, last)
	case last-first == c.n-1:
		return fmt.Sprintf("%d … %d", first, last)
	}
	return fmt.Sprintf("%d, … %d", first, last)
}

// run draws what an accumulator does with its products.
func (d *planDrawing) run(y float64, r plan.Run, l plan.Level) {
	name := "instruction"
	if _, chain := r.Device.Core.(tcore.Chain); chain {
		name = "FMA"
	}
	total := partCount(l)
	what := counted(l.Products, "product")
	if y == planTop {
		what = fmt.Sprintf("*K* = %d", l.Products)
	}
	d.caption(y, fmt.Sprintf("%s by %s on one accumulator", what, counted(total, name)))
	format, how := accumulator(r.Device)
	tint := d.tint(format)

	links := shownCells(l.Groups, total)
	top := y + 14
	gap, dots := 22.0, 26.0
	n := 0.0
	extra := 26.0
	for _, k := range links {
		if k.n < 0 {
			extra += dots + gap
		} else {
			n++
		}
	}
	width := (planRight - planLeft - extra - n*gap) / n
	x := planLeft
	d.s.Text(viz.At(x+10, top+planBar/2), viz.Middle, 13, viz.Ink, "+0")
	x += 26
	for _, k := range links {
		d.s.Arrow(viz.Edge, viz.Solid, viz.At(x, top+planBar/2), viz.At(x+gap, top+planBar/2))
		x += gap
		if k.n < 0 {
			d.s.Text(viz.At(x+dots/2, top+planBar/2), viz.Middle, 16, viz.Ink, "⋯")
			x += dots
			continue
		}
		d.s.Node(viz.Rect(x, top, x+width, top+planBar), 6, tint, "")
		d.s.Text(viz.At(x+width/2, top+planBar/2), viz.Middle, 12, viz.Ink, "+ "+d.positions(k))
		x += width
	}
	d.s.Text(viz.At(planLeft+6, top+planBar+12), viz.Start, 12, viz.SoftInk, how)
}

// accumulator returns the format of the sums of a device, and how it adds.
func accumulator(d tcore.Device) (tcore.Format, string) {
	switch c := d.Core.(type) {
	case tcore.Chain:
		return d.C, fmt.Sprintf("each FMA is rounded to nearest in %s", d.C.Name)
	case tcore.Fused:
		if c.Rounding == tcore.ToZero {
			return c.Result, fmt.Sprintf("aligned to the greatest, cut off %d bits below it, added exactly, truncated to %s", c.FractionBits, c.Result.Name)
		}
	}
	return d.C, fmt.Sprintf("added in %s as %s does", d.C.Name, d.Name)
}

// merge draws how the parts of level i are merged.
func (d *planDrawing) merge(y float64, i int) {
	l := d.levels[i]
	p := l.Order.(plan.Parts)
	parts, m := partCount(l), p.Merge
	binary32 := d.tint(tcore.Binary32)
	into, sum := "in binary32, to nearest", binary32
	if m.Running != (tcore.Format{}) {
		into, sum = fmt.Sprintf("in binary32, each then in %s", m.Running.Name), d.tint(m.Running)
	}
	from := ""
	if m.Zero || m.Scale != plan.Unscaled {
		from = " to +0"
	}
	what := "added"
	switch m.Scale {
	case plan.Fused:
		what = "× *s*_{a}*s*_{b} by FMAs,"
	case plan.FusedSecond:
		what = "× *s*_{a} × *s*_{b} by FMAs,"
	}
	each := d.levels[i+1]
	value := d.tint(tcore.Binary32)
	if run, ok := each.Order.(plan.Run); ok {
		f, _ := accumulator(run.Device)
		value = d.tint(f)
	} else if inner := each.Order.(plan.Parts).Merge.Running; inner != (tcore.Format{}) {
		value = d.tint(inner)
	}
	rounded := ""
	if m.Partial != (tcore.Format{}) {
		value, rounded = d.tint(m.Partial), fmt.Sprintf(" in %s", m.Partial.Name)
	}
	top := y + 14
	if parts == 1 && len(m.Folds) < 2 && from == "" {
		d.caption(y, "one sum, nothing to add")
		d.box(planLeft, planLeft+120, top, value, "sum")
		return
	}
	if len(m.Folds) > 1 {
		d.caption(y, fmt.Sprintf("%s%s, added%s in passes, %s", counted(parts, "sum"), rounded, from, into))
		d.folds(top, parts, m.Folds, value, sum)
		return
	}
	d.caption(y, fmt.Sprintf("%s%s, %s%s from left to right %s", counted(parts, "sum"), rounded, what, from, into))
	d.leftToRight(top, parts, from != "", value, sum)
}

// leftToRight draws sums that are added one after the other.
func (d *planDrawing) leftToRight(y float64, parts int, zero bool, value, sum color.Color) {
	const box, sign, gap = 62.0, 20.0, 14.0
	mid := y + planBar/2
	x := planLeft
	arrow := func() {
		d.s.Arrow(viz.Edge, viz.Solid, viz.At(x, mid), viz.At(x+gap, mid))
		x += gap
	}
	cells := shownCells([]plan.Group{{Count: parts}}, parts)
	if zero {
		d.s.Text(viz.At(x+10, mid), viz.Middle, 13, viz.Ink, "+0")
		x += 24
	} else {
		d.box(x, x+box, y, value, "part 0")
		x, cells = x+box, cells[1:]
	}
	for i, c := range cells {
		arrow()
		if c.n < 0 {
			d.s.Text(viz.At(x+11, mid), viz.Middle, 16, viz.Ink, "⋯")
			x += 22
			continue
		}
		d.s.Operator(viz.At(x+sign/2, mid), sign/2, "+")
		x += sign
		d.box(x+4, x+4+box, y+planBar+4, value, fmt.Sprintf("part %d", c.index))
		below := y + planBar*1.5 + 4
		d.s.Arrow(viz.Edge, viz.Solid, viz.At(x+4, below), viz.At(x-sign/2, below), viz.At(x-sign/2, mid+sign/2))
		if i < len(cells)-1 {
			d.s.Line(viz.Edge, 1.6, viz.Solid, viz.At(x, mid), viz.At(x+box-8, mid))
			x += box - 8
		}
	}
	arrow()
	d.box(x, x+box, y, sum, "sum")
}

// folds draws passes, each of which leaves fewer sums.
func (d *planDrawing) folds(y float64, parts int, folds []int, value, sum color.Color) {
	passes := append([]int{parts}, folds...)
	gap := 32.0
	n := float64(len(passes))
	width := min(74, (planRight-planLeft-gap*(n-1))/n)
	x := planLeft
	for i, n := range passes {
		tint := sum
		if i == 0 {
			tint = value
		} else {
			d.s.Arrow(viz.Edge, viz.Solid, viz.At(x, y+planBar/2), viz.At(x+gap, y+planBar/2))
			x += gap
		}
		d.box(x, x+width, y, tint, fmt.Sprint(n))
		if i > 0 {
			d.s.Text(viz.At(x+width/2, y+planBar+11), viz.Middle, 11, viz.SoftInk, "*t* + "+fmt.Sprint(n))
		}
		x += width
	}
}

// result draws the last rounding.
func (d *planDrawing) result(y float64) {
	d.caption(y, "result, rounded once to nearest")
	top := y + 14
	last := tcore.Binary32
	if run, ok := d.levels[0].Order.(plan.Run); ok {
		last, _ = accumulator(run.Device)
	} else if running := d.levels[0].Order.(plan.Parts).Merge.Running; running != (tcore.Format{}) {
		last = running
	}
	d.box(planLeft, planLeft+110, top, d.tint(last), "sum")
	d.s.Arrow(viz.Edge, viz.Solid, viz.At(planLeft+110, top+planBar/2), viz.At(planLeft+150, top+planBar/2))
	d.box(planLeft+150, planLeft+260, top, d.tint(d.output), "*D* in "+d.output.Name)
}

// legend tells the tints.
func (d *planDrawing) legend(y float64) {
	slices.SortStableFunc(d.used, func(a, b tcore.Format) int { return b.Precision - a.Precision })
	x := planLeft
	entry := func(c color.Color, text string) {
		d.s.Node(viz.Rect(x, y-6, x+18, y+6), 0, c, "")
		d.s.Text(viz.At(x+24, y), viz.Start, 12, viz.SoftInk, text)
		x += 24 + 6.6*float64(len([]rune(text))) + 18
	}
	if len(d.levels) > 1 {
		entry(planProducts, "products, exact")
	}
	for i := 0; i < len(d.used); {
		names := []string{}
		p := d.used[i].Precision
		for ; i < len(d.used) && d.used[i].Precision == p; i++ {
			names = append(names, d.used[i].Name)
		}
		entry(precisionTint(d.used[i-1]), fmt.Sprintf("%s: %d bits", strings.Join(names, ", "), p))
	}
}

// countedGroups returns "2 parts of 2048", or "40 parts, of 128 and at last 8".
func countedGroups(groups []plan.Group, parts int) string {
	text := counted(parts, "part")
	if len(groups) == 1 {
		return fmt.Sprintf("%s of %d", text, groups[0].Products)
	}
	return fmt.Sprintf("%s, of %d to %d", text, groups[0].Products, groups[len(groups)-1].Products)
}

// counted returns "1 part" or "2 parts".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "addition to nearest" {
		return fmt.Sprintf("%d additions to nearest", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
