package main

import (
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// auditStyles tell recipes apart, as many as are common; more begin anew.
var (
	auditColours = []color.Color{viz.Black, viz.Vermilion, viz.Blue, viz.Green, viz.Purple, viz.Grey}
	auditDashes  = []viz.Style{viz.Solid, viz.Dashed, viz.Dotted}
)

// barsShown is the number of products in a picture of bars.
const barsShown = 8

// page returns the report as a page that loads nothing.
func (r *auditReport) page(q auditQuestion) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s: %s of activations and weights, %d not audited. Activations: %s%s. Errors are those of each product, E = ÂB̂ − AB, of "+
		"at most %d × %d outputs of it; what a network makes of them is not told.</p>\n", html.EscapeString(r.Model), plural(len(r.Products), "product"), len(r.Left),
		html.EscapeString(r.Law), html.EscapeString(q.from()), audit.MostRows, audit.MostColumns)
	figures := []*viz.Chart{r.distribution(q)}
	for i := range q.recipes {
		figures = append(figures, r.bars(q, i))
	}
	for _, f := range figures {
		if f == nil {
			continue
		}
		element, err := viz.HTML(f, f.Name())
		if err != nil {
			return nil, err
		}
		b.WriteString(element + "\n")
	}
	tables := []*viz.Table{r.weights()}
	for i := range q.recipes {
		tables = append(tables, r.table(q, i))
	}
	for _, t := range tables {
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n<p>%s</p>\n<div style=\"overflow-x:auto\">%s</div>\n</details>\n",
			html.EscapeString(t.Finding()), html.EscapeString(t.Details()), t.HTML())
	}
	if r.Left != nil {
		b.WriteString("<h2>Not audited</h2>\n<ul>\n")
		for _, l := range r.Left {
			fmt.Fprintf(&b, "<li>%s %s: %s</li>\n", html.EscapeString(question.Short(l.Operator)), html.EscapeString(question.EndOf(l.Name, 200)), html.EscapeString(l.Why))
		}
		b.WriteString("</ul>\n")
	}
	return viz.Page("What quantisation does to each product", "", b.String()), nil
}

// label returns what a picture has room for of a name: its end.
func label(name string) string { return question.EndOf(name, 24) }

// distribution draws how many products err by how much, for each recipe.
func (r *auditReport) distribution(q auditQuestion) *viz.Chart {
	c := viz.NewChart("distribution", "How many products err by at most how much, for each recipe", fmt.Sprintf("Activations: %s%s.", r.Law, q.from()))
	p := c.Panel("", viz.Axis{Label: "rms(E) / rms(D)", Log: true}, viz.Axis{Label: "share of products", Max: 1})
	drawn := false
	for i, recipe := range q.recipes {
		var some []float64
		for _, x := range measured(r.by(i)) {
			if x > 0 {
				some = append(some, x)
			}
		}
		if some != nil {
			drawn = true
			n := len(auditColours)
			p.EDF(viz.Series{Label: fmt.Sprintf("%d: %s", i+1, label(recipe.Name)), Color: auditColours[i%n], Style: auditDashes[i/n%len(auditDashes)]}, some)
		}
	}
	if !drawn {
		return nil
	}
	if q.tolerance > 0 {
		p.Vertical(viz.Series{Label: "tolerance", Color: viz.Grey, Style: viz.Dotted}, q.tolerance)
	}
	return c
}

// bars draws the parts of the worst errors of a recipe, nil if it has none.
func (r *auditReport) bars(q auditQuestion, recipe int) *viz.Chart {
	var rows []string
	var a, b, all []float64
	for _, p := range r.by(recipe) {
		if p.Why == "" && len(rows) < barsShown {
			index, _, _ := strings.Cut(p.File, "-")
			rows = append(rows, index+" "+label(p.Name))
			a, b, all = append(a, digits(p.Activations)), append(b, digits(p.Weights)), append(all, digits(p.Measured))
		}
	}
	if rows == nil || all[0] == 0 {
		return nil
	}
	c := viz.NewChart(fmt.Sprintf("parts-%d", recipe+1), fmt.Sprintf("What %s does to the products that it hurts most", q.recipes[recipe].Name),
		"The numbers before names are those of the products in the order of the network. What activations and weights make is predicted; but for what outputs have in common, it adds as squares.")
	p := c.Panel("", viz.Axis{Label: "rms(E) / rms(D)"}, viz.Axis{Label: "product"})
	p.Bars(viz.Series{Label: "measured", Color: viz.Black}, rows, all)
	p.Bars(viz.Series{Label: "by activations", Color: viz.SkyBlue}, rows, a)
	p.Bars(viz.Series{Label: "by weights", Color: viz.Orange}, rows, b)
	return c
}

// digits returns x to three digits, which a bar has room for.
func digits(x float64) float64 {
	z, _ := strconv.ParseFloat(fmt.Sprintf("%.2e", x), 64)
	return z
}

// table has all products of a recipe.
func (r *auditReport) table(q auditQuestion, recipe int) *viz.Table {
	t := viz.NewTable(fmt.Sprintf("errors-%d", recipe+1), fmt.Sprintf("All products by %s, the worst first", q.recipes[recipe].Name),
		"Errors are over rms(D), but for two: rms(E) over the mean of |A||B|, and the largest |E| over its |A||B|. In common is what outputs "+
			"of a row or of a column share. What an error is at most holds always for these matrices, where nothing overflows.",
		[]string{"product", "K × N", "data", "by A", "by B", "common", "predicted", "measured", "at most", "over |A||B|", "largest", "device", "adds", "at most", "in all", "at most"})
	for _, p := range r.by(recipe) {
		head := []string{question.EndOf(p.Name, 200), fmt.Sprintf("%d × %d", p.K, p.N), dataWord(p.Data)}
		if p.Why != "" {
			t.Row(append(head, "-", "-", "-", "-", "-", "-", "-", "-", p.Why, "-", "-", "-", "-")...)
			continue
		}
		e := func(x float64) string { return fmt.Sprintf("%.2e", x) }
		head = append(head, e(p.Activations), e(p.Weights), e(p.Common), e(p.Predicted), e(p.Measured), e(p.Bound), e(p.Backward), e(p.Largest))
		if p.Devices == nil {
			t.Row(append(head, "-", "-", "-", "-", "-")...)
		}
		for _, d := range p.Devices {
			t.Row(append(head[:11:11], d.Named(), d.Over(&d.RMS), d.Over(d.Bound), d.Over(&d.Total), d.Over(d.TotalBound))...)
		}
	}
	return t
}

// weights has the statistics of all weights, in the order of the network.
func (r *auditReport) weights() *viz.Table {
	t := viz.NewTable("weights", "The weights of all products, in the order of the network", "Kurtosis is 3 for normal numbers. A dead column has no number above 2⁻²⁰ of the greatest.",
		[]string{"product", "operator", "K × N", "groups", "max/sd", "kurtosis", "dead columns"})
	for _, p := range r.Products {
		t.Row(question.EndOf(p.Name, 200), p.Operator, fmt.Sprintf("%d × %d", p.K, p.N), fmt.Sprint(p.Groups), fmt.Sprintf("%.3g", p.Greatest), fmt.Sprintf("%.3g", p.Kurtosis), fmt.Sprint(p.Dead))
	}
	return t
}
