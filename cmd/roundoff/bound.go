package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
)

// A boundQuestion contains the arguments of roundoff bound.
type boundQuestion struct {
	question.Bound
	permute  uint64
	json     bool
	operands *operands // nil if no files are given
}

// boundCommand prints every bound of the catalogue for a product.
func boundCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := boundQuestion{Bound: question.NewBound()}
	flags := newFlags("bound", "[-flag ...] [A.npy B.npy]\n\n"+
		"Prints every bound on the error of a matrix product AB: β and η in |error| <= β |A||B| + η, a limit\n"+
		"in place of β |A||B| if it has one, its λ, the confidence, whether it holds on that device, and why\n"+
		"or why not. Of matrices in files sizes and moments are taken, and a bound that assumes independent\n"+
		"elements holds where tests on the matrices find nothing against it.\n\n", stderr)
	flags.StringVar(&q.Kernel, "kernel", q.Kernel, "bound a `product`, gemm or dot")
	flags.IntVar(&q.M, "m", q.M, "the `rows` of A")
	flags.IntVar(&q.N, "n", q.N, "the `columns` of B")
	flags.IntVar(&q.K, "k", q.K, "the `terms` of each sum")
	flags.StringVar(&q.Device, "device", q.Device, "on this `device`, an architecture or a name of roundoff devices")
	flags.IntVar(&q.Block, "block", q.Block, "add this number of `terms` at once; 0 is what the device does")
	flags.StringVar(&q.In, "in", q.In, "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&q.Acc, "acc", q.Acc, "accumulate in this `format`")
	flags.StringVar(&q.Out, "out", q.Out, "store D in this `format`")
	flags.IntVar(&q.SplitK, "split-k", q.SplitK, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", q.Promote, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.StringVar(&q.Order, "order", q.Order, "add in this `order`: sequence, or on FMAs pairs or compensated")
	flags.BoolVar(&q.Stochastic, "stochastic", false, "round stochastically")
	flags.BoolVar(&q.Represented, "represented", false, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.Recipe, "recipe", q.Recipe, "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&q.Confidence, "confidence", q.Confidence, "want this `probability` for all outputs together, as in 0.99 or 1-1e-400")
	flags.StringVar(&q.Dist, "dist", q.Dist, "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.BoolVar(&q.Run, "run", false, "draw A and B from -dist, or take those of the files, emulate, and evaluate the bounds that read sums as well")
	flags.Uint64Var(&q.Seed, "seed", q.Seed, "draw with this `seed`")
	flags.Uint64Var(&q.permute, "permute", 0, "permute K of the matrices of the files at random with this `seed` first")
	flags.StringVar(&q.Plan, "plan", "", "bound what this `plan` of a library computes: a name or text of roundoff plan, or 'cublaslt-13.1 h100 66,0,1,0,0,0,35';\nalso what holds for every order of additions on its device")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	dot := q.Kernel == "dot" && q.M == 1 && q.N == 1
	files := len(words) == 2 && q.Dist == "" && !given(flags, "m", "n", "k")
	if len(words) > 0 && !files || !files && (q.Run && q.Dist == "" || given(flags, "permute")) || !dot && q.Kernel != "gemm" {
		return misuse(flags, "want -kernel gemm, or dot with -m 1 and -n 1, and -dist for -run,\n"+
			"or two files, for -permute as well, and then none of -m, -n, -k and -dist")
	}
	if err := checkSizes(flags, question.MostTerms, question.Size{Name: "m", Value: q.M}, question.Size{Name: "n", Value: q.N}, question.Size{Name: "k", Value: q.K}, question.Size{Name: "split-k", Value: q.SplitK}, question.Size{Name: "block", Value: max(1, q.Block)}); err != nil {
		return err
	}
	if q.Block < 0 {
		return misuse(flags, "-block %d, want 0 or more", q.Block)
	}
	if q.Plan != "" && given(flags, "device", "acc", "out", "recipe", "run", "block", "split-k", "promote", "order", "stochastic") {
		return misuse(flags, "-plan goes without -device, -acc, -out, -recipe, -run, -block, -split-k, -promote, -order and -stochastic")
	}
	if q.Recipe != "" && (q.Run || given(flags, "in", "represented")) {
		return misuse(flags, "-recipe goes without -run, -in and -represented")
	}
	if files {
		if q.operands, err = readOperands(words[0], words[1]); err != nil {
			return err
		}
		q.Operands = q.operands.Operands
		if given(flags, "permute") {
			q.Permute = &q.permute
		}
	}
	results, tests, err := q.Results()
	if err != nil {
		return err
	}
	return q.write(stdout, results, tests)
}

// write writes the results as a table or as JSON, and with the table what tests
// of the matrices found.
func (q *boundQuestion) write(w io.Writer, results []bound.Result, tests *bound.Inspection) error {
	if q.json {
		return writeJSON(w, results)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bound\tconstant\tabsolute\tunderflow\tlambda\tconfidence\tholds\twhy\tsource")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%v\t%s\t%s\t%s\n", r.Bound, number("%.3e", r.Constant),
			limit("%.3e", r.Absolute), nonzero("%.1e", r.Underflow), number("%.3f", r.Lambda),
			r.Confidence, yes(r.Holds), r.Why, r.Source)
	}
	if err := t.Flush(); err != nil || q.operands == nil {
		return err
	}
	return q.operands.write(w, tests)
}
