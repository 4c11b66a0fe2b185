package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
)

// A runReport is what is told of a network that is computed whole, and its
// JSON.
type runReport struct {
	Model   string       `json:"model"`
	Inputs  string       `json:"inputs"`
	Outputs []runOutput  `json:"outputs"` // with exact products
	Runs    []auditedRun `json:"runs"`
	names   []string     // of the outputs
	exact   *audit.Run
}

type runOutput struct {
	Name  string    `json:"name"`
	Shape []int     `json:"shape"`
	Data  []float32 `json:"data"`
}

type auditedRun struct {
	Recipe   string          `json:"recipe"`
	Device   string          `json:"device"` // empty: sums in binary64
	Promote  int             `json:"promote"`
	Why      string          `json:"why,omitempty"` // there are no errors
	Products []passedProduct `json:"products"`
	Changed  []changedOutput `json:"outputs"`
}

type passedProduct struct {
	Name        string  `json:"name"`
	K           int     `json:"k"`
	N           int     `json:"n"`
	Activations float64 `json:"activations"`
	Weights     float64 `json:"weights"`
	Predicted   float64 `json:"predicted"`
	Alone       float64 `json:"alone"`
	Inherited   float64 `json:"inherited"`
	Both        float64 `json:"both"`
}

type changedOutput struct {
	Name    string `json:"name"`
	Rows    int    `json:"decisions"`
	Changed int    `json:"changed"`
}

// run computes the network from the arrays of a file, exactly and by each
// recipe, with exact sums and on each device that takes what it makes.
func (q *auditQuestion) run(ctx context.Context, m *network.Model, path string) (*runReport, error) {
	inputs, err := readTensors(path)
	if err != nil {
		return nil, err
	}
	exact, err := audit.NewRun(m, inputs)
	if err != nil {
		return nil, err
	}
	r := &runReport{Model: m.Path, Inputs: path, names: m.Outputs(), exact: exact}
	for _, name := range r.names {
		x := exact.Outputs[name]
		if err := finite(x); err != nil {
			return nil, fmt.Errorf("%s: output %q: %w", m.Path, name, err)
		}
		r.Outputs = append(r.Outputs, runOutput{name, append([]int{}, x.Shape...), x.Data})
	}
	for _, recipe := range q.recipes {
		r.add(auditedRun{Recipe: recipe.Name}, audit.Arithmetic{OnA: recipe.A, OnB: recipe.B})
		for _, d := range q.devices {
			for _, every := range slices.Compact([]int{0, q.promote}) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				k, takes := quant.KernelOn(d, recipe.A, recipe.B, every)
				if err := k.Machine.Check(); k.Machine.Promote > 0 && err != nil {
					return nil, fmt.Errorf("-promote %d: %w", every, err)
				}
				if !takes || every > 0 && k.Machine.Promote == 0 {
					continue // promoted by its blocks, or not at all
				}
				r.add(auditedRun{Recipe: recipe.Name, Device: d.Name, Promote: max(k.Every, k.Machine.Promote)},
					audit.Arithmetic{OnA: recipe.A, OnB: recipe.B, Kernel: &k})
			}
		}
	}
	return r, nil
}

// finite returns an error that names the first number that is not finite.
func finite(x network.Tensor) error {
	for i, v := range x.Data {
		if v-v != 0 {
			return fmt.Errorf("element %d is %v, want finite numbers", i, v)
		}
	}
	return nil
}

// add computes the network by an arithmetic.
func (r *runReport) add(z auditedRun, x audit.Arithmetic) {
	o, err := r.exact.With(x)
	if err != nil {
		z.Why = err.Error()
		r.Runs = append(r.Runs, z)
		return
	}
	for _, p := range o.Products {
		z.Products = append(z.Products, passedProduct{p.Node, p.K, p.N, p.Activations, p.Weights, p.Predicted, p.Alone, p.Inherited, p.Both})
	}
	for _, name := range r.names {
		if e := r.exact.Outputs[name]; len(e.Shape) > 0 && len(o.Outputs[name].Data) == len(e.Data) {
			z.Changed = append(z.Changed, changedOutput{name, len(audit.Decisions(e)), audit.Changed(e, o.Outputs[name])})
		}
	}
	r.Runs = append(r.Runs, z)
}

// write prints a table for each run, in the order of computation.
func (r *runReport) write(stdout io.Writer) error {
	fmt.Fprintf(stdout, "%s, computed from %s. Errors of products over rms(D), of the network by the recipe beside the exact one:\n"+
		"predicted and measured with exact factors (alone), of the factors, passed on (inherited), and both.\n", r.Model, r.Inputs)
	for _, run := range r.Runs {
		where := "sums exact"
		if run.Device != "" {
			where = question.AuditedDevice{Device: run.Device, Promote: run.Promote}.Named()
		}
		fmt.Fprintf(stdout, "\n%s, %s", run.Recipe, where)
		if run.Why != "" {
			fmt.Fprintf(stdout, ": %s\n", run.Why)
			continue
		}
		for _, c := range run.Changed {
			fmt.Fprintf(stdout, "; of %s of %s %d change", plural(c.Rows, "decision"), question.Short(c.Name), c.Changed)
		}
		fmt.Fprintln(stdout)
		w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "product\tK × N\tby A\tby B\tpredicted\talone\tinherited\tboth")
		for _, p := range run.Products {
			fmt.Fprintf(w, "%s\t%d × %d\t%.2e\t%.2e\t%.2e\t%.2e\t%.2e\t%.2e\n", question.Short(p.Name), p.K, p.N, p.Activations, p.Weights, p.Predicted, p.Alone, p.Inherited, p.Both)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
