package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A boundQuestion contains the arguments of roundoff bound.
type boundQuestion struct {
	kernel, device, in, acc, out, order string
	recipe                              string
	block                               int
	confidence, dist                    string
	emulate, stochastic                 bool
	seed                                uint64
	permute                             uint64
	json                                bool
	operands                            *operands // nil if no files are given
	rounds                              bool      // elements of the files are rounded, and the bounds neglect it
	bound.Problem
}

// boundCommand prints every bound of the catalogue for a product.
func boundCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := boundQuestion{}
	flags := newFlags("bound", "[-flag ...] [A.npy B.npy]\n\n"+
		"Prints every bound on the error of a matrix product AB: β and η in |error| <= β |A||B| + η, a limit\n"+
		"in place of β |A||B| if it has one, its λ, the confidence, whether it holds on that device, and why\n"+
		"or why not. Of matrices in files sizes and moments are taken, and a bound that assumes independent\n"+
		"elements holds where tests on the matrices find nothing against it.\n\n", stderr)
	flags.StringVar(&q.kernel, "kernel", "gemm", "bound a `product`, gemm or dot")
	flags.IntVar(&q.M, "m", 1, "the `rows` of A")
	flags.IntVar(&q.N, "n", 1, "the `columns` of B")
	flags.IntVar(&q.K, "k", 1024, "the `terms` of each sum")
	flags.StringVar(&q.device, "device", "hopper", "on this `device`, an architecture or a name of roundoff devices")
	flags.IntVar(&q.block, "block", 0, "add this number of `terms` at once; 0 is what the device does")
	flags.StringVar(&q.in, "in", "binary16", "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&q.acc, "acc", "binary32", "accumulate in this `format`")
	flags.StringVar(&q.out, "out", "binary32", "store D in this `format`")
	flags.IntVar(&q.SplitK, "split-k", 1, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", 0, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.StringVar(&q.order, "order", "sequence", "add in this `order`: sequence, or on FMAs pairs or compensated")
	flags.BoolVar(&q.stochastic, "stochastic", false, "round stochastically")
	flags.BoolVar(&q.Represented, "represented", false, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.recipe, "recipe", "", "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&q.confidence, "confidence", "0.99", "want this `probability` for all outputs together, as in 0.99 or 1-1e-400")
	flags.StringVar(&q.dist, "dist", "", "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.BoolVar(&q.emulate, "run", false, "draw A and B from -dist, or take those of the files, emulate, and evaluate the bounds that read sums as well")
	flags.Uint64Var(&q.seed, "seed", 241118747, "draw with this `seed`")
	flags.Uint64Var(&q.permute, "permute", 0, "permute K of the matrices of the files at random with this `seed` first")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	dot := q.kernel == "dot" && q.M == 1 && q.N == 1
	files := len(words) == 2 && q.dist == "" && !given(flags, "m", "n", "k")
	if len(words) > 0 && !files || !files && (q.emulate && q.dist == "" || given(flags, "permute")) || !dot && q.kernel != "gemm" {
		return misuse(flags, "want -kernel gemm, or dot with -m 1 and -n 1, and -dist for -run,\n"+
			"or two files, for -permute as well, and then none of -m, -n, -k and -dist")
	}
	if err := checkSizes(flags, mostTerms, size{"m", q.M}, size{"n", q.N}, size{"k", q.K}, size{"split-k", q.SplitK}, size{"block", max(1, q.block)}); err != nil {
		return err
	}
	if q.block < 0 {
		return misuse(flags, "-block %d, want 0 or more", q.block)
	}
	if q.recipe != "" && (q.emulate || given(flags, "in", "represented")) {
		return misuse(flags, "-recipe goes without -run, -in and -represented")
	}
	if q.emulate && !files {
		if err := checkMatrices(mostDrawn, q.M, q.N, q.K); err != nil {
			return err
		}
	}
	f, err := roundoff.ParseConfidence(q.confidence)
	if err != nil {
		return err
	}
	if files {
		if q.operands, err = readOperands(words[0], words[1]); err != nil {
			return err
		}
		if given(flags, "permute") {
			q.operands.permute(q.permute)
		}
	}
	if err := q.describe(); err != nil {
		return err
	}
	results, err := bound.Evaluate(q.Problem, f)
	if err != nil {
		return err
	}
	return q.write(stdout, results)
}

// describe fills in the problem from the values of the flags.
func (q *boundQuestion) describe() (err error) {
	if err := q.find(); err != nil {
		return err
	}
	if sumsIntegers(q.Device) && q.emulate {
		return errors.New("-run: " + exactly(q.Device))
	}
	if q.Device.C.Name != q.acc && !sumsIntegers(q.Device) {
		return fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", q.device, q.acc)
	}
	if q.Output, err = findFormat(q.out); err != nil {
		return err
	}
	if core, ok := q.Device.Core.(tcore.TensorCore); ok && q.block > 0 {
		core.Block = q.block
		q.Device.Core = core
	} else if q.block > 0 && q.block != q.Width() {
		return fmt.Errorf("%s adds %d terms at once, not %d", q.Device.Name, q.Width(), q.block)
	}
	if err := q.arrange(); err != nil {
		return err
	}
	if err := (tcore.Machine{Device: q.Device, SplitK: q.SplitK, Promote: q.Promote}).Check(); err != nil {
		return err
	}
	switch {
	case q.operands != nil:
		return q.take()
	case q.dist != "":
		return q.distribute()
	}
	return nil
}

// find sets the device, and the recipes if they are named.
func (q *boundQuestion) find() (err error) {
	if q.recipe == "" {
		q.Device, err = findDevice(q.device, q.in, q.acc)
		return err
	}
	left, right, err := oneOrTwo(q.recipe, "recipes", findRecipe)
	if err != nil {
		return err
	}
	q.Represented, q.Recipes = true, &bound.Recipes{A: left, B: right}
	q.Device, _, err = deviceFor(q.device, q.acc, left, right)
	return err
}

// take fills in what the matrices in the files determine, and with -run
// emulates their product.
func (q *boundQuestion) take() (err error) {
	if err = q.operands.describe(&q.Problem); err != nil {
		return err
	}
	if q.kernel == "dot" && (q.M != 1 || q.N != 1) {
		return fmt.Errorf("the files hold matrices of a product of %d × %d, want -kernel gemm", q.M, q.N)
	}
	a, b, exact := q.operands.rounded(q.Device)
	q.rounds = !exact && !q.Represented
	if q.emulate {
		q.Run, err = bound.Emulate(q.Problem, a, b)
	}
	return err
}

// arrange sets the order of summation, and stochastic rounding.
func (q *boundQuestion) arrange() error {
	orders := map[string]tcore.Order{"sequence": tcore.InSequence, "pairs": tcore.InPairs, "compensated": tcore.Compensated}
	order, ok := orders[q.order]
	_, fmas := q.Device.Core.(tcore.Chain)
	switch {
	case !ok:
		return fmt.Errorf("no order %q, want sequence, pairs or compensated", q.order)
	case order != tcore.InSequence && !fmas:
		return fmt.Errorf("%s adds in its own order, want -order sequence or -device ieee", q.Device.Name)
	case q.stochastic && bound.Truncating.Fails(q.Problem) == "":
		return fmt.Errorf("%s truncates, want -device ieee or paper with -stochastic", q.Device.Name)
	}
	q.Order = order
	if q.stochastic {
		q.Stochastic = tcore.Stochastic{Seed: q.seed, Bits: 32}
	}
	return nil
}

// distribute sets the distributions of A and B. With -run it draws matrices and
// emulates their product.
func (q *boundQuestion) distribute() (err error) {
	if q.X, q.Y, err = parseDistributions(q.dist); err != nil {
		return err
	}
	if q.Recipes == nil {
		err = overflows(q.Device, q.X, q.Y)
	}
	if err != nil || !q.emulate {
		return err
	}
	rng := rand.New(rand.NewPCG(q.seed, 0))
	a, b := drawMatrix(rng, q.M, q.K, q.X), drawMatrix(rng, q.K, q.N, q.Y)
	q.RangeX, q.RangeY = bound.RangesOf32(a, b)
	q.Run, err = bound.Emulate(q.Problem, a, b)
	return err
}

// parseDistributions returns the distributions of A and of B from a list of one
// for both, or of two.
func parseDistributions(s string) (x, y bound.Distribution, err error) {
	return oneOrTwo(s, "distributions", bound.ParseDistribution)
}

// overflows returns an error if the mean absolute value of an element exceeds
// the largest number of the format of its factor or of binary32.
func overflows(d tcore.Device, x, y bound.Distribution) error {
	for _, of := range []struct {
		bound.Distribution
		tcore.Format
	}{{x, d.A}, {y, d.B}} {
		if !(of.MeanAbs() <= min(of.Format.Max(), math.MaxFloat32)) {
			return fmt.Errorf("-dist %s: the mean size is %.3g, and the largest number of %s %.3g", of.Distribution, of.MeanAbs(), of.Format.Name, of.Format.Max())
		}
	}
	return nil
}

// drawMatrix returns a matrix of independent samples of d.
func drawMatrix(rng *rand.Rand, rows, cols int, d bound.Distribution) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	d.Src = rng
	for i := range m.Data {
		m.Data[i] = float32(d.Rand())
	}
	return m
}

// write writes the results as a table or as JSON: bounds that hold first, and
// among them the tightest first.
func (q *boundQuestion) write(w io.Writer, results []bound.Result) error {
	sortByBound(results, func(r bound.Result) (bool, float64) { return r.Holds, r.Constant })
	if q.rounds {
		for i := range results {
			results[i].Why += fmt.Sprintf("; of the matrices rounded to %s and %s, which is not counted", q.Device.A.Name, q.Device.B.Name)
		}
	}
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
	return q.operands.write(w, q.Data)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sortByBound sorts results of bounds: those that hold first, and among them
// the least first.
func sortByBound[R any](results []R, of func(R) (holds bool, bound float64)) {
	slices.SortStableFunc(results, func(a, b R) int {
		holdsA, boundA := of(a)
		holdsB, boundB := of(b)
		return cmp.Or(cmp.Compare(truth(holdsB), truth(holdsA)), cmp.Compare(last(boundA), last(boundB)))
	})
}

// last returns x, or +Inf if it is NaN, so that it is sorted last.
func last(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}
