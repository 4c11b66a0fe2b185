package viz

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// CSV returns what is drawn, with one row for each point: panel, series, kind,
// x, y, text. Parsing a number returns the same float64. A step function is
// written by its drawn steps. If the axis cannot show all samples, a row of
// kind "lost" with their number precedes the steps. CSV panics if the chart or
// one of its panels is empty.
func (c *Chart) CSV() ([]byte, error) {
	c.checked()
	rows := [][]string{{"panel", "series", "kind", "x", "y", "text"}}
	for i, p := range c.panels {
		panel := p.title
		if panel == "" {
			panel = strconv.Itoa(i + 1)
		}
		for _, t := range p.traces {
			rows = append(rows, t.records(panel)...)
		}
		for _, n := range p.notes {
			rows = append(rows, []string{panel, "", string(kindNote), full(n.x), full(n.y), n.text})
		}
	}
	return writeCSV(rows)
}

func (t trace) records(panel string) (rows [][]string) {
	add := func(kind kind, x, y, text string) {
		rows = append(rows, []string{panel, t.Label, string(kind), x, y, text})
	}
	for _, l := range t.lost {
		add("lost", "", "", l)
	}
	switch t.kind {
	case kindVertical:
		add(t.kind, full(t.x[0]), "", "")
	case kindHorizontal:
		add(t.kind, "", full(t.y[0]), "")
	case kindBars:
		for i, r := range t.rows {
			add(t.kind, full(t.x[i]), "", r)
		}
	default:
		for i := range t.x {
			add(t.kind, full(t.x[i]), full(t.y[i]), "")
		}
	}
	return rows
}

// full formats v with the fewest digits from which v can be recovered.
func full(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func writeCSV(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		return nil, fmt.Errorf("viz: csv: %w", err)
	}
	return b.Bytes(), nil
}
