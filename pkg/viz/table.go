package viz

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// Table is a figure of rows and columns. A column of numbers is right-aligned,
// any other left-aligned.
type Table struct {
	title
	header []string
	rows   [][]string
}

// NewTable returns a table without rows. It panics unless name consists of
// letters, digits, - and _, the first a letter or digit, the finding is not
// empty, and there is at least one column and each has a name.
func NewTable(name, finding, details string, header []string) *Table {
	check(len(header) > 0, "header of table %s is empty", name)
	for i, h := range header {
		check(h != "", "header of table %s: column %d has no name", name, i)
	}
	return &Table{title: newTitle(name, finding, details), header: append([]string{}, header...)}
}

// Row appends a row. If all cells but the first are empty, it is a heading of
// the rows that follow. It panics unless there is one cell for each column.
func (t *Table) Row(cells ...string) {
	check(len(cells) == len(t.header), "row of table %s has %d cells, want %d", t.name, len(cells), len(t.header))
	t.rows = append(t.rows, append([]string{}, cells...))
}

// isHeading reports whether a row has a text in its first cell alone: it is
// then the heading of the rows below it, and in HTML as wide as the table.
func isHeading(cells []string) bool {
	return len(cells) > 1 && strings.TrimSpace(cells[0]) != "" && strings.TrimSpace(strings.Join(cells[1:], "")) == ""
}

// numeric reports whether a cell contains a number, such as −1.2×10⁻⁵, 2^{−11},
// 83 %, ≤ 0.01 or ∞.
func numeric(cell string) bool {
	digits := 0
	for i, r := range cell {
		switch {
		case unicode.IsDigit(r), r == '∞', strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", r):
			digits++
		case strings.ContainsRune(" \u00a0\u202f+-−±≈≤≥<>~.,×·/%^{}()⁻✗", r):
		case (r == 'e' || r == 'E') && digits > 0 && i+1 < len(cell):
		case r == 'x' && i+1 == len(cell): // the sign of a factor, as in 2x
		default:
			return false
		}
	}
	return digits > 0
}

// numbers reports whether column j contains numbers. A dash counts as a number;
// empty cells are ignored.
func (t *Table) numbers(j int) bool {
	some := false
	for _, r := range t.rows {
		switch c := strings.TrimSpace(r[j]); {
		case c == "":
		case c != "–" && c != "—" && c != "-" && !numeric(c):
			return false
		default:
			some = true
		}
	}
	return some
}

// HTML returns the table as an HTML element. The alignment is given both as an
// attribute, which notebook pages override, and as a style, which static
// viewers drop.
func (t *Table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse;border-top:2px solid #404040;border-bottom:2px solid #404040;background:#fff;color:#1a1a1a">` + "\n<thead><tr>")
	t.htmlRow(&b, "th", t.header)
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		t.htmlRow(&b, "td", r)
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

func (t *Table) htmlRow(b *strings.Builder, tag string, cells []string) {
	rule := ""
	if tag == "th" {
		rule = ";border-bottom:1px solid #404040"
	}
	if tag == "td" && isHeading(cells) {
		fmt.Fprintf(b, `<td colspan="%d" align="left" style="text-align:left;padding:4px 12px">%s</td>`, len(cells), markedHTML(cells[0]))
		return
	}
	for j, c := range cells {
		side := "left"
		if t.numbers(j) {
			side = "right"
		}
		fmt.Fprintf(b, `<%s align="%s" style="text-align:%s;padding:4px 12px%s">%s</%s>`,
			tag, side, side, rule, markedHTML(c), tag)
	}
}

// markedHTML returns a label with its marks converted to HTML elements.
func markedHTML(s string) string {
	var b strings.Builder
	for _, r := range parse(s) {
		text := html.EscapeString(r.text)
		if r.italic {
			text = "<i>" + text + "</i>"
		}
		switch r.script {
		case 1:
			text = "<sup>" + text + "</sup>"
		case -1:
			text = "<sub>" + text + "</sub>"
		}
		b.WriteString(text)
	}
	return b.String()
}

// Markdown returns the table in GitHub's syntax.
func (t *Table) Markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(markedHTML(c), "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(t.header)
	for j := range t.header {
		if t.numbers(j) {
			b.WriteString("| ---: ")
		} else {
			b.WriteString("| --- ")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// CSV returns the header and the rows.
func (t *Table) CSV() ([]byte, error) {
	return writeCSV(append([][]string{t.header}, t.rows...))
}

// SVG returns the table in the style of printed tables: three horizontal rules
// and no vertical ones.
func (t *Table) SVG() ([]byte, error) { return t.draw().svg(), nil }

// PNG returns the table with two pixels per unit.
func (t *Table) PNG() ([]byte, error) { return t.draw().png() }

const (
	cellWidth = 300.0 // wider texts are broken into lines
	cellPad   = 14.0
	lineDown  = 18.0 // distance of the lines of a cell
	rowPad    = 9.0
)

func (t *Table) draw() *sheet {
	lines, widths, total := t.measure()
	s := newSheet(total+2*topPad, 0, t.summary())
	rule := func(y, width float64) {
		s.line(stroke(SoftInk, width), Point{topPad, y}, Point{topPad + total, y})
	}
	y := topPad
	rule(y, 2)
	for i, row := range lines {
		tall := 1
		for _, cell := range row {
			tall = max(tall, len(cell))
		}
		x := topPad
		for j, cell := range row {
			w := words{size: labelSize, color: Ink, bold: i == 0, at: Point{X: x + cellPad}}
			if t.numbers(j) {
				w.align, w.at.X = End, x+widths[j]-cellPad
			}
			for k, l := range cell {
				w.text, w.at.Y = l, y+rowPad+0.75*lineDown+float64(k)*lineDown
				s.write(w)
			}
			x += widths[j]
		}
		y += 2*rowPad + float64(tall)*lineDown
		if i == 0 {
			rule(y, 1)
		}
	}
	rule(y, 2)
	s.h = y + topPad
	return s
}

// measure breaks the cells into lines and returns the widths of the columns and
// their sum.
func (t *Table) measure() (lines [][][]string, widths []float64, total float64) {
	widths = make([]float64, len(t.header))
	for i, row := range append([][]string{t.header}, t.rows...) {
		var cells [][]string
		for j, c := range row {
			broken := wrap(c, labelSize, i == 0, cellWidth)
			for _, l := range broken {
				widths[j] = max(widths[j], textWidth(l, labelSize, i == 0)+2*cellPad)
			}
			cells = append(cells, broken)
		}
		lines = append(lines, cells)
	}
	for _, w := range widths {
		total += w
	}
	return lines, widths, total
}
