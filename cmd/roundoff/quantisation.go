package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A quantisationQuestion contains the arguments of roundoff quantisation.
type quantisationQuestion struct {
	recipe, in, dist, calibration, confidence string
	random                                    int
	seed                                      uint64
	json                                      bool
	files                                     []string // of A and B, of B alone, or none
	inspection                                *bound.Inspection
	quantisation.Problem
}

// quantisationCommand prints every bound on the error that quantisation adds to
// a product.
func quantisationCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := quantisationQuestion{}
	flags := newFlags("quantisation", "[-flag ...] [[A.npy] B.npy]\n\n"+
		"Prints every bound on E = ÂB̂ - AB, where Â and B̂ are A and B quantised: what it has to know, the\n"+
		"largest |E| that it allows, that over the mean of |A||B| and over the largest |E| there is, the\n"+
		"confidence for all outputs, whether it holds, and what it assumes or why not. Known may be both\n"+
		"matrices, as files; their laws, by -dist; or B as a file, as weights are, and of A, which has -m rows,\n"+
		"the law by -dist, or other rows by -calibration. Matrices are rounded to binary32 first. How a\n"+
		"machine sums is no part of E, see roundoff bound.\n\n", stderr)
	flags.StringVar(&q.recipe, "recipe", "", "quantise by this recipe, a `name` of roundoff quantise, or two, of A and of B")
	flags.StringVar(&q.in, "in", "e4m3", "without a recipe, round to this `format`, or two, of A and of B")
	flags.StringVar(&q.dist, "dist", "", "the `distribution` of the elements, U(lo,hi), N(mean,deviation) or Laplace(mean,scale), or two, of A and of B")
	flags.StringVar(&q.calibration, "calibration", "", "a `file` of other rows of A, which are exchangeable with its own")
	flags.IntVar(&q.M, "m", 1, "the `rows` of A")
	flags.IntVar(&q.N, "n", 1, "the `columns` of B")
	flags.IntVar(&q.K, "k", 1024, "the `terms` of each sum")
	flags.IntVar(&q.random, "stochastic", 0, "round stochastically with this `number` of random bits (8 in hardware)")
	flags.Uint64Var(&q.seed, "seed", 1, "the `seed` of random bits, those of B have the next")
	flags.StringVar(&q.confidence, "confidence", "0.99", "want this `probability` for all outputs together, as in 0.99 or 1-1e-400")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	var err error
	if q.files, err = parseFlags(flags, args); err != nil {
		return err
	}
	if err := q.check(flags); err != nil {
		return err
	}
	f, err := roundoff.ParseConfidence(q.confidence)
	if err != nil {
		return err
	}
	if err := cmp.Or(q.round(), q.distribute(), q.read()); err != nil {
		return err
	}
	results, err := quantisation.Evaluate(q.Problem, f)
	if err != nil {
		return err
	}
	return q.write(stdout, results)
}

// mostQuantised is the largest number of elements of matrices whose errors are
// computed. They then take about a gigabyte.
const mostQuantised = 20_000_000

// check reports arguments that are no question, and returns errUsage then.
func (q *quantisationQuestion) check(flags *flag.FlagSet) error {
	switch {
	case len(q.files) > 2:
		return misuse(flags, "%d files given, want those of A and B, of B alone, or none", len(q.files))
	case len(q.files) == 2 && given(flags, "m", "n", "k"):
		return misuse(flags, "-m, -n and -k are those of the files")
	case len(q.files) == 1 && given(flags, "n", "k"):
		return misuse(flags, "-n and -k are those of %s", q.files[0])
	case len(q.files) == 1 && q.dist == "" && q.calibration == "":
		return misuse(flags, "of A nothing is known, want its file before %s, -dist or -calibration", q.files[0])
	case len(q.files) == 0 && q.dist == "":
		return misuse(flags, "want -dist, or files")
	case len(q.files) == 0 && q.calibration != "":
		return misuse(flags, "-calibration goes with a file of B")
	case given(flags, "recipe") && given(flags, "in"):
		return misuse(flags, "-recipe goes without -in")
	case q.random < 0 || q.random > 32:
		return misuse(flags, "-stochastic %d, want 0 to 32", q.random)
	}
	return checkSizes(flags, question.MostTerms, question.Size{Name: "m", Value: q.M}, question.Size{Name: "n", Value: q.N}, question.Size{Name: "k", Value: q.K})
}

// round sets how the factors are rounded.
func (q *quantisationQuestion) round() (err error) {
	a, b := &q.RoundA, &q.RoundB
	a.Stochastic, b.Stochastic = tcore.Stochastic{Seed: q.seed, Bits: q.random}, tcore.Stochastic{Seed: q.seed + 1, Bits: q.random}
	if q.recipe == "" {
		a.Format, b.Format, err = question.OneOrTwo(q.in, "formats", question.FindFormat)
		return err
	}
	a.Recipe, b.Recipe, err = question.OneOrTwo(q.recipe, "recipes", question.FindRecipe)
	a.Recipe.Stochastic, b.Recipe.Stochastic = a.Stochastic, b.Stochastic
	return err
}

// distribute sets the laws of the factors; with a file of B alone, that of A.
func (q *quantisationQuestion) distribute() (err error) {
	switch {
	case q.dist == "":
	case len(q.files) == 1:
		q.LawA, err = quantisation.ParseLaw(q.dist)
	default:
		q.LawA, q.LawB, err = question.OneOrTwo(q.dist, "distributions", quantisation.ParseLaw)
	}
	return err
}

// read reads the matrices, and looks for what speaks against independent
// elements if there are two.
func (q *quantisationQuestion) read() (err error) {
	if len(q.files) == 0 {
		return nil
	}
	fileB := q.files[len(q.files)-1]
	if q.B, err = readFactor(fileB); err != nil {
		return err
	}
	q.K, q.N = q.B.Rows, q.B.Cols
	b := fileShape{fileB, q.K, q.N}
	if q.calibration != "" {
		if q.Rows, err = readFactor(q.calibration); err != nil {
			return err
		}
		if err := fit(fileShape{q.calibration, q.Rows.Rows, q.Rows.Cols}, b); err != nil {
			return err
		}
	}
	if len(q.files) == 1 {
		return question.CheckMatrices(mostQuantised, max(1, q.Rows.Rows), q.N, q.K)
	}
	if q.A, err = readFactor(q.files[0]); err != nil {
		return err
	}
	if err := fit(fileShape{q.files[0], q.A.Rows, q.A.Cols}, b); err != nil {
		return err
	}
	if err := question.CheckMatrices(mostQuantised, q.A.Rows+q.Rows.Rows, q.N, q.K); err != nil {
		return err
	}
	q.M = q.A.Rows
	if q.inspection, err = bound.Inspect(matrix.Float64(q.A), matrix.Float64(q.B)); err == nil {
		q.Suspect = suspicion(q.inspection)
	}
	return err
}

// readFactor reads a matrix, rounded to binary32. The error names an element
// that is not finite.
func readFactor(path string) (blas32.General, error) {
	m, err := readMatrix(path, tcore.Binary32, tcore.ToNearestEven)
	if err != nil {
		return m, err
	}
	if i, j, found := matrix.NotFinite(m); found {
		return m, fmt.Errorf("%s: element (%d, %d) is %v in binary32, want a finite number", path, i, j, matrix.Row(m, i)[j])
	}
	return m, nil
}

// suspicion returns the test that refuses independent elements most clearly, in
// words, "" if none does.
func suspicion(in *bound.Inspection) string {
	words, worst := "", 0.0
	for _, f := range in.Findings {
		if excess := f.Statistic / f.Limit; f.Fails() && (words == "" || excess > worst) {
			words, worst = f.Words, excess
		}
	}
	return words
}

// write writes the results as a table or as JSON: bounds that hold first, and
// among them the least first, but the error itself.
func (q *quantisationQuestion) write(w io.Writer, results []quantisation.Result) error {
	question.SortByBound(results, func(r quantisation.Result) (bool, float64) { return r.Holds, r.Absolute })
	if q.json {
		return writeJSON(w, asJSON(results))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bound\tknows\tabsolute\trelative\tover error\tconfidence\tholds\twhy\tsource")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%v\t%s\t%s\t%s\t%v\t%s\t%s\t%s\n", r.Bound, r.Needs, number("%.3e", r.Absolute), number("%.3e", r.Relative),
			number("%.3g", r.Ratio), r.Confidence, yes(r.Holds), r.Why, r.Source)
	}
	if err := t.Flush(); err != nil || q.inspection == nil {
		return err
	}
	var text strings.Builder
	o := operands{&question.Operands{NameA: q.files[0], NameB: q.files[1]}}
	text.WriteString(o.tests(q.inspection))
	if q.Suspect != "" {
		text.WriteString("Bounds that assume independent elements are refused; models and predictions may be far off.\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// quantisationResult is a result as JSON contains it.
type quantisationResult struct {
	Bound      string   `json:"bound"`
	Knows      string   `json:"knows"`
	Absolute   *float64 `json:"absolute"`
	Relative   *float64 `json:"relative"`
	OverError  *float64 `json:"over_error"`
	Confidence string   `json:"confidence"`
	Holds      bool     `json:"holds"`
	Why        string   `json:"why"`
	Source     string   `json:"source"`
}

// asJSON returns the results with null for numbers that are unknown, and
// confidences in words.
func asJSON(results []quantisation.Result) (list []quantisationResult) {
	for _, r := range results {
		list = append(list, quantisationResult{r.Bound, r.Needs.String(), question.Known(r.Absolute), question.Known(r.Relative), question.Known(r.Ratio), r.Confidence.String(), r.Holds, r.Why, r.Source})
	}
	return list
}
