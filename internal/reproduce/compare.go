package reproduce

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/notebook"
	"github.com/roundofflab/roundoff/internal/typeset"
)

// compare returns a line for each output of the notebook that is stored
// differently from what the last run showed, and one for each cell that it does
// not compare, because it shows another processor. Both notebooks have the same
// cells.
func compare(name string, stored, fresh *notebook.Notebook) (list, elsewhere []string) {
	here, there := unitsOf(fresh), unitsOf(stored)
	if here != "" && there == "" {
		return []string{name + ": the units of the processor that it ran on are not stored"}, nil
	}
	for i, c := range fresh.Cells {
		said := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("%s, cell %d: ", name, i+1)+fmt.Sprintf(format, args...))
		}
		old := stored.Cells[i].Outputs
		if here != there && (slices.ContainsFunc(c.Outputs, showsProcessor) || slices.ContainsFunc(old, showsProcessor)) {
			elsewhere = append(elsewhere, fmt.Sprintf("%s, cell %d: not compared: it was stored on a processor with %s, this one has %s", name, i+1, there, here))
			continue
		}
		if len(old) != len(c.Outputs) {
			said("%d outputs are stored, the last run has %d", len(old), len(c.Outputs))
			continue
		}
		timed := slices.ContainsFunc(c.Outputs, showsRates)
		for j, o := range c.Outputs {
			if d := difference(old[j], o, timed); d != "" {
				said("output %d: %s", j+1, d)
			}
		}
	}
	return list, elsewhere
}

// showsProcessor reports whether an output tells of this processor.
func showsProcessor(o *notebook.Output) bool {
	for _, mime := range []string{"text/html", "text/markdown", "text/plain"} {
		if text, _ := o.Data[mime].(string); strings.Contains(strings.ToLower(text), "this processor") {
			return true
		}
	}
	return false
}

// setUnits stores the units of this processor in a notebook that tells of it.
func setUnits(nb *notebook.Notebook, units []string) {
	delete(nb.Metadata, metadataKey)
	if slices.ContainsFunc(nb.Cells, func(c *notebook.Cell) bool { return slices.ContainsFunc(c.Outputs, showsProcessor) }) {
		text := "none"
		if len(units) > 0 {
			text = typeset.List(units)
		}
		nb.Metadata[metadataKey] = map[string]any{"units": text}
	}
}

// unitsOf returns the units of the processor of which a notebook tells, as
// text, and "" if it tells of none.
func unitsOf(nb *notebook.Notebook) string {
	m, _ := nb.Metadata[metadataKey].(map[string]any)
	units, _ := m["units"].(string)
	return units
}

// metadataKey is the name of what is kept here of notebooks and outputs.
const metadataKey = "roundoff"

// difference returns how a stored output differs from that of the last run, or
// "". The numbers in Markdown do not count in a cell that shows rates.
func difference(stored, fresh *notebook.Output, timed bool) string {
	if stored.Type != fresh.Type || len(stored.Data) != len(fresh.Data) {
		return "is of another kind"
	}
	if d := differentLine(stored.Text, fresh.Text); d != "" {
		return d
	}
	for _, mime := range []string{"text/html", "text/markdown", "text/plain"} {
		a, _ := stored.Data[mime].(string)
		b, _ := fresh.Data[mime].(string)
		a, b = withoutTimes(a), withoutTimes(b)
		if timed && mime == "text/markdown" {
			a, b = digits.ReplaceAllString(a, "#"), digits.ReplaceAllString(b, "#")
		}
		if d := differentLine(a, b); d != "" {
			return d
		}
	}
	if _, ok := fresh.Data["image/png"]; ok && !samePicture(stored, fresh) {
		return fmt.Sprintf("the picture of %v differs", drawingOf(fresh)["figure"])
	}
	return ""
}

// differentLine returns the first line in which two texts differ, or "".
func differentLine(stored, fresh string) string {
	a, b := strings.Split(stored, "\n"), strings.Split(fresh, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("%q is stored, the last run shows %q", x, y)
		}
	}
	return ""
}

// samePicture reports whether the stored picture shows the drawing of the last
// run.
func samePicture(stored, fresh *notebook.Output) bool {
	return reflect.DeepEqual(drawingOf(stored), drawingOf(fresh)) && alike(pngOf(stored), pngOf(fresh))
}

func drawingOf(o *notebook.Output) map[string]any {
	m, _ := o.Metadata[metadataKey].(map[string]any)
	return m
}

func pngOf(o *notebook.Output) []byte {
	text, _ := o.Data["image/png"].(string)
	data, _ := base64.StdEncoding.DecodeString(text) // a wrong one is no picture
	return data
}

// keepPictures gives the outputs of fresh the files of stored where these show
// the same drawing: what is the same must not change.
func keepPictures(stored, fresh *notebook.Notebook) {
	known := map[any]*notebook.Output{}
	each := func(nb *notebook.Notebook, f func(name any, o *notebook.Output)) {
		for _, c := range nb.Cells {
			for _, o := range c.Outputs {
				if name, ok := drawingOf(o)["figure"]; ok {
					f(name, o)
				}
			}
		}
	}
	each(stored, func(name any, o *notebook.Output) { known[name] = o })
	each(fresh, func(name any, o *notebook.Output) {
		if old, ok := known[name]; ok && samePicture(old, o) {
			o.Data["image/png"] = old.Data["image/png"]
		}
	})
}

// Times differ from run to run. They are those of Table 3: columns of rates in
// its tables, with what is said about these, and of claims about speed what was
// measured and the verdict, which the counts in the caption follow.
var (
	tableRow  = regexp.MustCompile(`(?s)<tr>.*?</tr>`)
	tableCell = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	speed     = regexp.MustCompile(`(?s)>Table 3.*(flops/s|performance)`)
	measured  = regexp.MustCompile(`>\d[\d.,]*( [kMGT]?flop/s)?</td>\s*<td[^>]*>[^<]*</td>`)
	caption   = regexp.MustCompile(`(?s)<p>.*</p>`)
	digits    = regexp.MustCompile(`\d[\d.,]*\d|\d`)
)

// showsRates reports whether an output is a table with a column of rates.
func showsRates(o *notebook.Output) bool {
	page, _ := o.Data["text/html"].(string)
	return len(ratesOf(page)) > 0
}

// ratesOf returns the columns of a table that have rates.
func ratesOf(page string) map[int]bool {
	rates := map[int]bool{}
	head, _, found := strings.Cut(page, "</thead>")
	for j, cell := range tableCell.FindAllStringSubmatch(head, -1) {
		if found && (strings.Contains(cell[1], "flop/s") || strings.Contains(cell[1], "GB/s")) {
			rates[j] = true
		}
	}
	return rates
}

// withoutTimes returns a published table with # in place of times and what
// follows from them, and any other text as it is.
func withoutTimes(page string) string {
	rates := ratesOf(page)
	timed := len(rates) > 0
	page = tableRow.ReplaceAllStringFunc(page, func(row string) string {
		if speed.MatchString(row) {
			timed = true
			row = measured.ReplaceAllString(row, ">#</td>")
		}
		j := -1
		return tableCell.ReplaceAllStringFunc(row, func(cell string) string {
			if j++; rates[j] && strings.HasPrefix(cell, "<td") {
				return digits.ReplaceAllString(cell, "#")
			}
			return cell
		})
	})
	if timed {
		page = caption.ReplaceAllStringFunc(page, func(s string) string { return digits.ReplaceAllString(s, "#") })
	}
	return page
}
