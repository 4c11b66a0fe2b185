package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/audit"
)

// A ranked product is what one recipe does to it.
type ranked struct {
	*question.AuditedProduct
	question.AuditedErrors
}

// by returns the products of a recipe, the worst first.
func (r *auditReport) by(recipe int) (list []ranked) {
	for i := range r.Products {
		list = append(list, ranked{&r.Products[i], r.Products[i].Errors[recipe]})
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(strings.Compare(b.Why, a.Why), cmp.Compare(b.Measured, a.Measured))
	})
	return list
}

// measured returns rms(E)/rms(D) of those that have it, the worst first.
func measured(list []ranked) (z []float64) {
	for _, p := range list {
		if p.Why == "" {
			z = append(z, p.Measured)
		}
	}
	return z
}

// write prints the report as tables: the products, each recipe in a line, and
// the worst products of each.
func (r *auditReport) write(stdout io.Writer, q auditQuestion) error {
	fmt.Fprintf(stdout, "%s: %s of activations and weights, %d not audited\n", r.Model, plural(len(r.Products), "product"), len(r.Left))
	fmt.Fprintf(stdout, "Activations: %s%s; errors of at most %d × %d outputs of a product\n\n", r.Law, q.from(), audit.MostRows, audit.MostColumns)
	r.writeSummary(stdout, q)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	r.writeWeights(w, q)
	for i, recipe := range q.recipes {
		list := r.by(i)
		shown := q.shown(len(list))
		fmt.Fprintf(w, "\n%s, the worst %d of %d, errors over rms(D)\n", recipe.Name, shown, len(list))
		fmt.Fprintln(w, "product\tK × N\tdata\tby A\tby B\tcommon\tpredicted\tmeasured\tat most\tover |A||B|\tlargest\tdevice\tadds\tat most\tin all\tat most")
		for _, p := range list[:shown] {
			head := fmt.Sprintf("%s\t%d × %d\t%s", question.Short(p.Name), p.K, p.N, dataWord(p.Data))
			if p.Why != "" {
				fmt.Fprintf(w, "%s\t%s\n", head, p.Why)
				continue
			}
			fmt.Fprintf(w, "%s\t%.2e\t%.2e\t%.2e\t%.2e\t%.2e\t%.1e\t%.1e\t%.1e", head, p.Activations, p.Weights, p.Common, p.Predicted, p.Measured, p.Bound, p.Backward, p.Largest)
			if p.Devices == nil {
				fmt.Fprintln(w, "\t-\t-\t-\t-\t-")
			}
			for j, d := range p.Devices {
				if j > 0 {
					fmt.Fprint(w, strings.Repeat("\t", 10))
				}
				fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\t%s\n", d.Named(), d.Over(&d.RMS), d.Over(d.Bound), d.Over(&d.Total), d.Over(d.TotalBound))
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.writeLeft(stdout)
}

// from says which activations are not drawn.
func (q *auditQuestion) from() string {
	if q.activations == "" {
		return ""
	}
	return "; of products with a file, those in " + q.activations
}

// shown returns how many of n products are printed.
func (q *auditQuestion) shown(n int) int {
	if q.most > 0 {
		return min(n, q.most)
	}
	return n
}

// writeWeights prints the products whose weights have the greatest kurtosis.
func (r *auditReport) writeWeights(w io.Writer, q auditQuestion) {
	list := slices.Clone(r.Products)
	slices.SortStableFunc(list, func(a, b question.AuditedProduct) int { return cmp.Compare(b.Kurtosis, a.Kurtosis) })
	shown := q.shown(len(list))
	fmt.Fprintf(w, "\nweights, the %d of %d of the greatest kurtosis (3 for normal numbers)\n", shown, len(list))
	fmt.Fprintln(w, "product\toperator\tK × N\tgroups\tmax/sd\tkurtosis\tdead columns")
	for _, p := range list[:shown] {
		fmt.Fprintf(w, "%s\t%s\t%d × %d\t%d\t%.3g\t%.3g\t%d\n", question.Short(p.Name), p.Operator, p.K, p.N, p.Groups, p.Greatest, p.Kurtosis, p.Dead)
	}
}

// dataWord returns which activations were taken, in a word.
func dataWord(data string) string {
	if strings.HasSuffix(data, ".npy") {
		return "file"
	}
	return data
}

// plural returns a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// writeSummary prints a line for each recipe.
func (r *auditReport) writeSummary(stdout io.Writer, q auditQuestion) {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "recipe\tworst\tmedian\tworst product")
	if q.tolerance > 0 {
		fmt.Fprintf(w, "\twithin %g", q.tolerance)
	}
	fmt.Fprintln(w)
	for i, recipe := range q.recipes {
		list := r.by(i)
		all := measured(list)
		if all == nil {
			fmt.Fprintf(w, "%s\t-\t-\t%s\n", recipe.Name, list[0].Why)
			continue
		}
		worst := list[len(list)-len(all)]
		fmt.Fprintf(w, "%s\t%.2e\t%.2e\t%s", recipe.Name, all[0], sample.Median(all), question.Short(worst.Name))
		if q.tolerance > 0 {
			within := 0
			for _, x := range all {
				if x <= q.tolerance {
					within++
				}
			}
			fmt.Fprintf(w, "\t%d of %d", within, len(list))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

// writeLeft prints what was not audited, alike ones in one line.
func (r *auditReport) writeLeft(stdout io.Writer) error {
	if r.Left == nil {
		return nil
	}
	_, err := fmt.Fprintln(stdout, "\nNot audited:")
	count, first := map[string]int{}, []question.AuditLeft{}
	for _, l := range r.Left {
		why := l.Operator + ": " + l.Why
		if count[why]++; count[why] == 1 {
			first = append(first, l)
		}
	}
	for _, l := range first {
		more := ""
		if n := count[l.Operator+": "+l.Why] - 1; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		_, err = fmt.Fprintf(stdout, "  %s %s%s: %s\n", question.Short(l.Operator), question.Short(l.Name), more, l.Why)
	}
	return err
}
