package viz

import (
	"math"
	"strings"
)

const (
	chartWidth = 640.0
	topPad     = 12.0
	titleRow   = 22.0 // height of a panel's title
	panelGap   = 14.0
	footHeight = 50.0 // ticks and title of the x axis
	maxMargin  = 230.0
)

// height returns the height in px of a chart of n panels.
func height(n int) float64 {
	switch n {
	case 1:
		return 400
	case 2:
		return 560
	}
	return 240 * float64(n)
}

// draw computes the layout of the chart and paints it.
func (c *Chart) draw() *sheet {
	c.checked()
	s := newSheet(chartWidth, height(len(c.panels)), c.summary())
	views := c.views()
	for {
		c.frames(views, s.h)
		if !settle(views) {
			break
		}
	}
	c.paintYTitles(s, views)
	for i, v := range views {
		v.paint(s, i == len(views)-1)
	}
	return s
}

// views returns a view of each panel with its scales, without positions in px.
func (c *Chart) views() []*view {
	a, s := c.axisX()
	xs := a.scale(s)
	var views []*view
	for _, p := range c.panels {
		views = append(views, &view{Panel: p, among: len(c.panels), xs: xs, ys: p.y.scale(p.spanY())})
	}
	for _, v := range views {
		for i := range v.traces {
			if v.bars() && len(v.traces) > 1 && !v.inLegend(i) {
				enter(views, v, i)
			}
		}
		v.topRow = v.hasVerticals() && v.title == ""
	}
	return views
}

func (v *view) hasVerticals() bool {
	for _, t := range v.traces {
		if t.kind == kindVertical {
			return true
		}
	}
	return false
}

// settle places the labels of the panels and reports whether the layout must be
// repeated because a panel needs a different number of rows above its frame.
func settle(views []*view) (again bool) {
	for _, v := range views {
		v.lay()
		for _, i := range v.label() {
			enter(views, v, i)
			again = true
		}
		if v.hasVerticals() && !v.onTop && !v.noTop {
			v.topRow, v.noTop = !v.topRow, v.topRow
			again = true
		}
	}
	return again
}

// enter puts trace i of v in the legend of v. If all panels have the series, it
// is the legend of the first panel that names it, for all of them.
func enter(views []*view, v *view, i int) {
	if len(views) == 1 || !inAll(views, v.traces[i]) {
		v.legend = append(v.legend, i)
		return
	}
	for k, w := range views {
		for j, t := range w.traces {
			if t.like(v.traces[i]) && !w.inLegend(j) {
				if k == 0 {
					w.legend = append(w.legend, j)
				} else {
					w.above = append(w.above, j)
				}
			}
		}
	}
}

// inAll reports whether every panel has exactly one series like t.
func inAll(views []*view, t trace) bool {
	for _, v := range views {
		n := 0
		for _, other := range v.traces {
			if other.like(t) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

// like reports whether two traces have the same entry in a legend.
func (t trace) like(other trace) bool {
	return t.kind == other.kind && t.Series == other.Series
}

// frames computes the frames of the panels, which all have the same size. Their
// ticks are to the left of them, their titles and legends above.
func (c *Chart) frames(views []*view, height float64) {
	left, right := 0.0, 18.0
	for _, v := range views {
		left = max(left, v.tickWidth())
		right = max(right, v.marginWidth())
	}
	left += 8 + 10 + 2*titleSize
	if c.sharedYTitle() == "" && !c.wrapsYTitle(height) || views[0].bars() {
		left -= 4
	}
	x0, x1 := left, chartWidth-right

	rows := 0.0
	for i, v := range views {
		rows += v.headHeight(x1-x0) + topPad
		if i > 0 {
			rows += panelGap - topPad
		}
	}
	each := (height - rows - footHeight) / float64(len(views))
	y := 0.0
	for i, v := range views {
		y += topPad + v.headHeight(x1-x0)
		if i > 0 {
			y += panelGap - topPad
		}
		v.frame = Box{x0, y, x1, y + each}
		y += each
	}
}

// headHeight returns the height of the title and the legend above a frame.
func (v *view) headHeight(width float64) float64 {
	h := 0.0
	if v.title != "" {
		h += titleRow
	}
	if v.topRow || v.hasVerticals() && !v.noTop && len(v.legend) > 0 {
		h += rowHeight
	}
	_, rows := v.legendPlaces(width)
	return h + float64(rows)*rowHeight
}

const legendSample = 28.0

// legendPlaces returns the position of each entry in the rows of the legend,
// and the number of rows.
func (v *view) legendPlaces(width float64) (places []Point, rows int) {
	x := 0.0
	for k, i := range v.legend {
		w := legendSample + 6 + textWidth(v.nameOf(v.traces[i]), labelSize, false)
		if k == 0 {
			rows = 1
		} else if x+w > width {
			rows, x = rows+1, 0
		}
		places = append(places, Point{x, float64(rows-1) * rowHeight})
		x += w + 18
	}
	return places, rows
}

// tickWidth returns the width of the widest tick label to the left of the
// frame.
func (v *view) tickWidth() float64 {
	w := 0.0
	if v.bars() {
		for _, r := range v.traces[0].rows {
			w = max(w, textWidth(r, labelSize, false))
		}
		return w
	}
	ys := v.ys
	ys.from, ys.to = 200, 0 // a guess: the widest labels occur at any height
	for _, t := range ys.ticks(24) {
		w = max(w, textWidth(t.label, tickSize, false))
	}
	return w
}

// marginWidth returns the width that the labels of lines need to the right of
// the frame.
func (v *view) marginWidth() float64 {
	w := 0.0
	for i, t := range v.traces {
		for j := 0; t.kind == kindBars && j < len(t.x); j++ {
			w = max(w, textWidth(significant(t.x[j]), tickSize, false)+8)
		}
		if !v.reachesRight(t) || v.inLegend(i) {
			continue
		}
		l := textWidth(t.Label, labelSize, false) + sideGap + 18
		if l > maxMargin {
			v.legend = append(v.legend, i)
			continue
		}
		w = max(w, l)
	}
	return w
}

// sharedYTitle returns the title of the y axis if all panels have the same one,
// otherwise "".
func (c *Chart) sharedYTitle() string {
	for _, p := range c.panels {
		if p.y.Label != c.panels[0].y.Label {
			return ""
		}
	}
	return c.panels[0].y.Label
}

// wrapsYTitle reports whether some panel is too low for its y title in one
// line.
func (c *Chart) wrapsYTitle(height float64) bool {
	room := height/float64(len(c.panels)) - footHeight
	for _, p := range c.panels {
		if textWidth(p.y.Label, titleSize, false) > room {
			return true
		}
	}
	return false
}

// paintYTitles writes the title of the y axis once if all panels have the same
// one, otherwise beside each panel.
func (c *Chart) paintYTitles(s *sheet, views []*view) {
	if shared := c.sharedYTitle(); shared != "" {
		y0, y1 := views[0].frame.Y0, views[len(views)-1].frame.Y1
		s.upward(shared, (y0+y1)/2, y1-y0+footHeight)
		return
	}
	for _, v := range views {
		s.upward(v.y.Label, (v.frame.Y0+v.frame.Y1)/2, v.frame.height()+2*topPad)
	}
}

// upward writes a title along the left edge, in two lines if one line is too
// long.
func (s *sheet) upward(text string, y, room float64) {
	lines := wrap(text, titleSize, false, room)
	if len(lines) > 2 {
		lines = wrap(text, titleSize, false, 0.6*textWidth(text, titleSize, false))
	}
	for i, l := range lines {
		half := textWidth(l, titleSize, false)/2 + 2
		w := words{text: l, size: titleSize, color: Ink, align: Middle, up: true}
		w.at = Point{6 + titleSize*0.8 + float64(i)*(titleSize+3), min(max(y, half), s.h-half)}
		s.write(w)
	}
}

// wrap breaks a text at spaces into lines no wider than width, of lengths as
// equal as possible.
func wrap(text string, size float64, bold bool, width float64) []string {
	whole := textWidth(text, size, bold)
	if whole <= width {
		return []string{text}
	}
	even := max(whole/math.Ceil(whole/width)*1.08, 0)
	for limit := min(even, width); ; limit = width {
		lines := fillLines(text, size, bold, limit)
		if limit == width || len(lines) <= int(math.Ceil(whole/width)) {
			return lines
		}
	}
}

func fillLines(text string, size float64, bold bool, width float64) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && textWidth(line+" "+w, size, bold) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return append(lines, line)
}
