package study

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// familySeries are the series of the families of [atlas.Families].
var familySeries = map[string]viz.Series{
	"sums in binary16":         {Color: viz.Vermilion},
	"truncated, 13 bits":       {Color: viz.Purple},
	"truncated, 23 to 25 bits": {Color: viz.Blue},
	"truncated, 35 bits":       {Color: viz.Blue, Style: viz.Dotted},
	"binary32, to odd":         {Color: viz.Green, Style: viz.Dotted},
	"binary32, to nearest":     {Color: viz.Green},
	"binary64":                 {Color: viz.Black},
}

// atlasConditions returns the details that the figures of an atlas share.
func atlasConditions(a *atlas.Atlas) string {
	return fmt.Sprintf("%d products of %d × K × %d each, seeds %s.", len(a.Seeds), a.M, a.N, sweep.FormatSeeds(a.Seeds))
}

// cellsByFamily returns the judged cells of a distribution and K by the family
// of their machine, a machine once.
func cellsByFamily(a *atlas.Atlas, data string, k int) map[string][]atlas.Cell {
	by := map[string][]atlas.Cell{}
	for _, c := range a.Select(atlas.Query{Data: data, K: k}) {
		if d, ok := a.Device(c.Machine); ok && c.Outputs > 0 {
			by[d.Family] = append(by[d.Family], c)
		}
	}
	return by
}

// familyRMS returns the largest root mean square of e/|A||B| of the machines of
// a family, for each K at which it is not 0.
func familyRMS(a *atlas.Atlas, data, family string) (ks, rms []float64) {
	for _, k := range a.Ks() {
		most := 0.0
		for _, c := range cellsByFamily(a, data, k)[family] {
			most = max(most, c.RMS())
		}
		if most > 0 {
			ks, rms = append(ks, float64(k)), append(rms, most)
		}
	}
	return ks, rms
}

// AtlasErrors returns the chart of the error against K, with a panel for each
// distribution and a line for each family of devices: the largest root mean
// square of e/|A||B| of its machines. It panics if the atlas has no such
// distribution.
func AtlasErrors(a *atlas.Atlas, data ...string) *viz.Chart {
	const truncated, nearest = "truncated, 23 to 25 bits", "binary32, to nearest"
	last := data[len(data)-1]
	over := func(family string) string {
		_, rms := familyRMS(a, last, family)
		return times(rms[len(rms)-1] / rms[0])
	}
	ks := a.Ks()
	c := viz.NewChart("atlas-errors",
		fmt.Sprintf("With entries from %s, the error relative to |A||B| at K = %d is %s times that at K = %d where sums keep 23 to 25 bits and are truncated, and %s times where binary32 is rounded to nearest.",
			dataNamed(last), ks[len(ks)-1], over(truncated), ks[0], over(nearest)),
		"The machine of each family with the largest errors. "+atlasConditions(a))
	for _, l := range data {
		p := c.Panel("Entries ~ "+dataNamed(l), viz.Axis{Label: "Inner dimension K", Log: true, Min: 10, Max: float64(ks[len(ks)-1])},
			viz.Axis{Label: "RMS of e / (|A||B|)", Log: true})
		for _, f := range atlas.Families() {
			x, y := familyRMS(a, l, f)
			if len(x) > 0 {
				s := familySeries[f]
				s.Label = f
				p.Line(s, x, y)
			}
		}
	}
	return c
}

// atlasHeadings are two lines for the distributions of the atlas.
var atlasHeadings = map[string]string{
	"relu(N(0,1))×N(0,1)": "relu(N)\n× N", "sparse(0.9,N(0,1))": "N, 90 %\nzeros", "signed(log-uniform(-8,8))": "± 2^U\n(−8,8)",
	"outliers(0.1,100,N(0,1))": "N with\noutliers", "softmax(1)×N(0,1)": "softmax\n× N",
	"blocks(-4,4,N(0,1))": "N with\nscales", "blocks(-9,8.8,U(-1,1))": "U with\nscales",
}

// A class is a set of machines whose sums and factors are alike: a row of
// AtlasTightness.
type class struct{ family, factors string }

// classes returns the classes of an atlas by family, those with scales apart.
func classes(a *atlas.Atlas) (list []class) {
	for _, f := range atlas.Families() {
		for _, d := range a.Machines() {
			if c := classOf(d); d.Family == f && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// classOf returns the class of a device.
func classOf(d atlas.Device) class {
	factors := d.Factors
	if d.Scale != "" {
		factors += ", scaled"
	}
	return class{d.Family, factors}
}

// tightest returns, for each class and distribution at one K, the least τ over
// its machines of the tightest bound that holds and needs no more than knows. A
// machine with a product without errors does not count.
func tightest(a *atlas.Atlas, k int, knows bound.Knowledge) map[class]map[string]float64 {
	τ := map[class]map[string]float64{}
	for _, c := range a.Select(atlas.Query{K: k}) {
		d, _ := a.Device(c.Machine)
		if c.Tightness == 0 {
			continue
		}
		if τ[classOf(d)] == nil {
			τ[classOf(d)] = map[string]float64{}
		}
		best, _ := c.Tightest(knows) // τ = 0 if there is none
		if least, ok := τ[classOf(d)][c.Data]; !ok || best.Tightness < least {
			τ[classOf(d)][c.Data] = best.Tightness
		}
	}
	return τ
}

// AtlasTightness returns the map of τ = |error|/bound of the tightest bound
// that holds at one K and needs no more than knows: a row for each family of
// devices and format of factors, a column for each distribution, the darker the
// tighter.
func AtlasTightness(a *atlas.Atlas, k int, knows bound.Knowledge) *viz.Schematic {
	const left, top, w, h = 254.0, 48.0, 58.0, 20.0
	τ, rows, data := tightest(a, k, knows), classes(a), a.Data()
	least, most, cells := math.Inf(1), 0.0, 0
	for _, of := range τ {
		for _, x := range of {
			least, most, cells = min(least, x), max(most, x), cells+1
		}
	}
	name, what := "atlas-tightness", "needs the distribution of the data at most"
	if knows > bound.Moments {
		name, what = "atlas-tightness-run", "may read the run"
	}
	s := viz.NewSchematic(name,
		fmt.Sprintf("At K = %d the tightest bound that holds and %s has τ from %s to %s.", k, what, twoDigits(least), twoDigits(most)),
		"τ = |error|/bound, the largest of a product, least over seeds and over the machines of a row; –: a product without errors, or not for these devices. "+atlasConditions(a),
		left+w*float64(len(data))+4, top+h*float64(len(rows))+4)
	headings := make([]string, len(rows))
	for i, c := range rows {
		headings[i] = c.family + "; " + c.factors
	}
	atlasMap(s, left, top, w, h, headings, headings, data, func(i, j int) (float64, string, bool) {
		x, ok := τ[rows[i]][data[j]]
		return x, twoDigits(x), ok
	})
	return s
}

// atlasMap draws a map: for each row and each distribution a cell, the darker
// the larger its value, with its text, or a dash where there is none. A cell is
// named by its row and distribution.
func atlasMap(s *viz.Schematic, left, top, w, h float64, headings, rows, data []string, cell func(i, j int) (x float64, text string, ok bool)) {
	for j, l := range data {
		heading, ok := atlasHeadings[l]
		if !ok {
			heading = typeset.Minus(l)
		}
		s.Text(viz.At(left+w*(float64(j)+0.5), top/2), viz.Middle, 12, viz.Ink, heading)
	}
	for i, r := range rows {
		y := top + h*float64(i)
		s.Text(viz.At(left-8, y+h/2), viz.End, 12, viz.Ink, headings[i])
		for j, l := range data {
			x, text, ok := cell(i, j)
			ink := viz.Ink
			if ok {
				s.Region(viz.Rect(left+w*float64(j)+1, y+1, left+w*float64(j+1)-1, y+h-1), 2, shade(x), r+"; "+l)
			} else {
				text, ink = "–", viz.SoftInk
			}
			s.Text(viz.At(left+w*(float64(j)+0.5), y+h/2), viz.Middle, 11, ink, text)
		}
	}
}

// shade returns the tint of a cell, from white at x ≤ 0.001 to a blue at 1 on
// which dark text can be read.
func shade(x float64) color.Color {
	t := 1 + math.Log10(max(x, 1e-3))/3
	mix := func(from, to float64) uint32 { return uint32(math.Round(from + t*(to-from))) }
	return viz.RGB(mix(0xf7, 0x4c)<<16 | mix(0xf9, 0x95)<<8 | mix(0xfb, 0xc9))
}

// AtlasCertain returns the table of how often no probabilistic bound holds,
// among the machines of each family and K with errors, for each distribution:
// before the product, and if bounds may read the run.
func AtlasCertain(a *atlas.Atlas) *viz.Table {
	families := atlas.Families()
	header := []string{"Entries"}
	for _, f := range families {
		header = append(header, f)
	}
	none, all := 0, 0
	var rows [][]string
	for _, knows := range []bound.Knowledge{bound.Moments, bound.Trace} {
		heading := "*before the product*"
		if knows == bound.Trace {
			heading = "*from the run too*"
		}
		rows = append(rows, append([]string{heading}, make([]string, len(families))...))
		for _, l := range a.Data() {
			row := []string{dataNamed(l)}
			for _, f := range families {
				n, of := uncertain(a, l, f, knows)
				if knows == bound.Trace {
					none, all = none+n, all+of
				}
				text := "–"
				if of > 0 {
					text = fmt.Sprintf("%d of %d", n, of)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
	t := viz.NewTable("atlas-certain",
		fmt.Sprintf("In %d of %d cells with errors no probabilistic bound holds, even if it may read the run.", none, all),
		"A cell is a machine and a K; of those of a family, in how many only deterministic bounds hold. –: no errors, or not for these devices. "+atlasConditions(a), header)
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// uncertain returns in how many cells of a family and a distribution no
// probabilistic bound that needs no more than knows is claimed, and how many
// cells have errors.
func uncertain(a *atlas.Atlas, data, family string, knows bound.Knowledge) (n, of int) {
	for _, k := range a.Ks() {
		for _, c := range cellsByFamily(a, data, k)[family] {
			if c.Largest > 0 {
				of++
				if random, _, _ := c.Claimed(knows); random == 0 {
					n++
				}
			}
		}
	}
	return n, of
}

// ExploreAtlas returns the interactive figure of errors and of the tightest
// bounds that hold against K. Its controls are the device, one of each class,
// and the distribution.
func ExploreAtlas(a *atlas.Atlas) viz.Explorer {
	machine, data := viz.Control{Label: "device", List: true}, viz.Control{Label: "entries", List: true, Start: min(2, len(a.Data())-1)}
	var machines []atlas.Device
	seen := map[class]bool{}
	for _, d := range a.Machines() {
		if c := classOf(d); !seen[c] && d.Scale == "" && slices.ContainsFunc(a.Select(atlas.Query{Device: d.Name}), func(c atlas.Cell) bool { return c.Largest > 0 }) {
			seen[c] = true
			machines, machine.Values = append(machines, d), append(machine.Values, machineNamed(d.Name))
		}
	}
	var sets []string
	for _, l := range a.Data() {
		if !strings.HasPrefix(l, "blocks") {
			sets, data.Values = append(sets, l), append(data.Values, dataNamed(l))
		}
	}
	return viz.Explorer{
		Title:    "Errors and bounds in the atlas",
		Controls: []viz.Control{machine, data},
		Draw:     func(at []int) *viz.Chart { return atlasFigure(a, machines[at[0]], sets[at[1]]) },
	}
}

// atlasFigure returns the chart of one setting of ExploreAtlas. Its axis is
// that of all distributions on the machine.
func atlasFigure(a *atlas.Atlas, d atlas.Device, data string) *viz.Chart {
	lo, hi := math.Inf(1), 0.0
	for _, c := range a.Select(atlas.Query{Device: d.Name}) {
		if c.Largest > 0 {
			best, _ := c.Tightest(bound.Nothing)
			lo, hi = min(lo, c.RMS()), max(hi, c.Largest, best.Constant)
		}
	}
	series := []struct {
		viz.Series
		of   func(c atlas.Cell) float64
		x, y []float64
	}{
		{Series: viz.Series{Label: "bound, data unknown", Color: paper.DBEA.Color, Style: viz.Dashed}, of: constant(bound.Nothing)},
		{Series: viz.Series{Label: "bound, data known", Color: paper.VIBEA.Color, Style: viz.Dashed}, of: constant(bound.Moments)},
		{Series: viz.Series{Label: "bound, from the run", Color: viz.Green, Style: viz.Dotted}, of: constant(bound.Trace)},
		{Series: viz.Series{Label: "largest error", Color: viz.Black}, of: func(c atlas.Cell) float64 { return c.Largest }},
		{Series: viz.Series{Label: "root mean square", Color: viz.Purple}, of: atlas.Cell.RMS},
	}
	ks := a.Ks()
	finding := fmt.Sprintf("%s with entries ~ %s nothing was judged.", capital(on(d.Name)), dataNamed(data))
	for _, c := range a.Select(atlas.Query{Device: d.Name, Data: data}) {
		if c.Outputs == 0 {
			continue
		}
		finding = fmt.Sprintf("%s with entries ~ %s nothing is rounded at K = %d.", capital(on(d.Name)), dataNamed(data), c.K)
		if best, ok := c.Tightest(bound.Moments); ok && c.Largest > 0 {
			finding = fmt.Sprintf("%s with entries ~ %s the largest error at K = %d is %s |A||B|; of the bounds that hold before the product the tightest, %s, has τ = %s.",
				capital(on(d.Name)), dataNamed(data), c.K, typeset.Number(c.Largest, 2), boundNamed(best.Name), twoDigits(best.Tightness))
		}
		for i, s := range series {
			if v := s.of(c); v > 0 && !math.IsInf(v, 1) {
				series[i].x, series[i].y = append(s.x, float64(c.K)), append(s.y, v)
			}
		}
	}
	y := viz.Axis{Label: "|e| / (|A||B|)", Log: true}
	y.Min, y.Max = decades(lo, hi)
	c := viz.NewChart("explore-atlas", finding, atlasConditions(a)+" A bound from a run is the largest over outputs.")
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true, Min: 10, Max: float64(ks[len(ks)-1])}, y)
	for _, s := range series {
		if len(s.x) > 0 {
			p.Line(s.Series, s.x, s.y)
		}
	}
	return c
}

// constant returns the function that gives the largest bound/|A||B| of the
// tightest bound that needs no more than knows, 0 if there is none.
func constant(knows bound.Knowledge) func(atlas.Cell) float64 {
	return func(c atlas.Cell) float64 {
		best, _ := c.Tightest(knows)
		return best.Constant
	}
}
