package question

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Bound asks for every bound on the error of a product, with the words and
// the defaults of the flags of roundoff bound.
type Bound struct {
	Kernel      string  `json:"kernel"`
	M           int     `json:"m"`
	N           int     `json:"n"`
	K           int     `json:"k"`
	Device      string  `json:"device"`
	Block       int     `json:"block"`
	In          string  `json:"in"`
	Acc         string  `json:"acc"`
	Out         string  `json:"out"`
	SplitK      int     `json:"split_k"`
	Promote     int     `json:"promote"`
	Order       string  `json:"order"`
	Stochastic  bool    `json:"stochastic"`
	Represented bool    `json:"represented"`
	Recipe      string  `json:"recipe"`
	Confidence  string  `json:"confidence"`
	Dist        string  `json:"dist"`
	Run         bool    `json:"run"`
	Seed        uint64  `json:"seed"`
	Permute     *uint64 `json:"permute"` // a seed, nil to leave K in order
	Plan        string  `json:"plan"`    // as FindPlan reads it, in place of Device, SplitK, Promote and Out; "" for none

	Operands *Operands `json:"-"` // nil if no matrices are given

	problem bound.Problem
	rounds  bool // elements of the matrices are rounded, and the bounds neglect it
}

// NewBound returns the question of roundoff bound without a flag.
func NewBound() Bound {
	return Bound{Kernel: "gemm", M: 1, N: 1, K: 1024, Device: "hopper", In: "binary16", Acc: "binary32", Out: "binary32",
		SplitK: 1, Order: "sequence", Confidence: "0.99", Seed: 241118747}
}

// Check returns an error about the first argument that cannot be meant.
func (q *Bound) Check() error {
	if err := CheckSizes(MostTerms, Size{"m", q.M}, Size{"n", q.N}, Size{"k", q.K}, Size{"split-k", q.SplitK}, Size{"block", max(1, q.Block)}); err != nil {
		return err
	}
	dot := q.Kernel == "dot" && q.M == 1 && q.N == 1
	switch {
	case !dot && q.Kernel != "gemm":
		return fmt.Errorf("-kernel %q, want gemm, or dot with -m 1 and -n 1", q.Kernel)
	case q.Block < 0:
		return fmt.Errorf("-block %d, want 0 or more", q.Block)
	case q.Plan != "" && (q.Recipe != "" || q.Run || q.Block != 0 || q.SplitK != 1 || q.Promote != 0 || q.Order != "sequence" || q.Stochastic):
		return fmt.Errorf("-plan goes without -recipe, -run, -block, -split-k, -promote, -order and -stochastic")
	case q.Recipe != "" && q.Run:
		return fmt.Errorf("-recipe goes without -run")
	case q.Run && q.Dist == "" && q.Operands == nil:
		return errors.New("-run wants -dist, or matrices")
	case q.Operands != nil && q.Dist != "":
		return fmt.Errorf("-dist %s goes without matrices", q.Dist)
	case q.Operands == nil && q.Permute != nil:
		return fmt.Errorf("-permute %d wants matrices", *q.Permute)
	case q.Run && q.Operands == nil:
		return CheckMatrices(MostDrawn, q.M, q.N, q.K)
	}
	return nil
}

// Results returns every bound, those that hold first, and among them the
// tightest first, and what tests of the matrices found, nil if none are given.
func (q *Bound) Results() ([]bound.Result, *bound.Inspection, error) {
	if err := q.Check(); err != nil {
		return nil, nil, err
	}
	f, err := roundoff.ParseConfidence(q.Confidence)
	if err != nil {
		return nil, nil, err
	}
	if q.Permute != nil {
		q.Operands.Permute(*q.Permute)
	}
	if err := q.describe(); err != nil {
		return nil, nil, err
	}
	results, err := bound.Evaluate(q.problem, f)
	if err != nil {
		return nil, nil, err
	}
	if q.Plan != "" {
		results = append(results, bound.AllOrders(q.problem, bound.Orders{}, f)...)
	}
	SortByBound(results, func(r bound.Result) (bool, float64) { return r.Holds, r.Constant })
	if q.rounds {
		for i := range results {
			results[i].Why += fmt.Sprintf("; of the matrices rounded to %s and %s, which is not counted", q.problem.Device.A.Name, q.problem.Device.B.Name)
		}
	}
	return results, q.problem.Data, nil
}

// describe fills in the problem.
func (q *Bound) describe() (err error) {
	k := &q.problem
	*k = bound.Problem{M: q.M, N: q.N, K: q.K, Represented: q.Represented}
	if q.Plan != "" {
		return q.describePlanned()
	}
	k.SplitK, k.Promote = q.SplitK, q.Promote
	if err := q.find(); err != nil {
		return err
	}
	if SumsIntegers(k.Device) && q.Run {
		return errors.New("-run: " + Exactly(k.Device))
	}
	if k.Device.C.Name != q.Acc && !SumsIntegers(k.Device) {
		return fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", q.Device, q.Acc)
	}
	if k.Output, err = FindFormat(q.Out); err != nil {
		return err
	}
	if core, ok := k.Device.Core.(tcore.TensorCore); ok && q.Block > 0 {
		core.Block = q.Block
		k.Device.Core = core
	} else if q.Block > 0 && q.Block != k.Width() {
		return fmt.Errorf("%s adds %d terms at once, not %d", k.Device.Name, k.Width(), q.Block)
	}
	if err := q.arrange(); err != nil {
		return err
	}
	if err := (tcore.Machine{Device: k.Device, SplitK: q.SplitK, Promote: q.Promote}).Check(); err != nil {
		return err
	}
	switch {
	case q.Operands != nil:
		return q.take()
	case q.Dist != "":
		return q.distribute()
	}
	return nil
}

// describePlanned fills in the problem of a plan.
func (q *Bound) describePlanned() error {
	k := &q.problem
	kind, err := FindKind(q.In)
	if err != nil {
		return err
	}
	of := PlannedProduct{Shape: library.Shape{M: q.M, N: q.N, K: q.K}, Kind: kind}
	if o := q.Operands; o != nil {
		of.Shape = library.Shape{M: o.A.Rows, N: o.B.Cols, K: o.A.Cols}
	}
	p, err := FindPlan(q.Plan, of)
	if err != nil {
		return fmt.Errorf("-plan %q: %w", q.Plan, err)
	}
	k.Device = p.Device()
	switch {
	case q.Operands != nil:
		err = q.take()
	case q.Dist != "":
		err = q.distribute()
	}
	if err == nil {
		*k, err = k.Planned(p.Plan)
	}
	return err
}

// find sets the device, and the recipes if they are named.
func (q *Bound) find() (err error) {
	if q.Recipe == "" {
		q.problem.Device, err = FindDevice(q.Device, q.In, q.Acc)
		return err
	}
	left, right, err := OneOrTwo(q.Recipe, "recipes", FindRecipe)
	if err != nil {
		return err
	}
	q.problem.Represented, q.problem.Recipes = true, &bound.Recipes{A: left, B: right}
	q.problem.Device, _, err = DeviceFor(q.Device, q.Acc, left, right)
	return err
}

// take fills in what the matrices determine, and with Run emulates their
// product.
func (q *Bound) take() (err error) {
	k := &q.problem
	if err = q.Operands.Describe(k); err != nil {
		return err
	}
	if q.Kernel == "dot" && (k.M != 1 || k.N != 1) {
		return fmt.Errorf("the matrices are those of a product of %d × %d, want -kernel gemm", k.M, k.N)
	}
	a, b, exact, err := q.Operands.Rounded(k.Device)
	if q.Run && err != nil {
		return err
	}
	q.rounds = !exact && !k.Represented
	if q.Run {
		k.Run, err = bound.Emulate(*k, a, b)
	}
	return err
}

// arrange sets the order of summation, and stochastic rounding.
func (q *Bound) arrange() error {
	k := &q.problem
	orders := map[string]tcore.Order{"sequence": tcore.InSequence, "pairs": tcore.InPairs, "compensated": tcore.Compensated}
	order, ok := orders[q.Order]
	_, fmas := k.Device.Core.(tcore.Chain)
	switch {
	case !ok:
		return fmt.Errorf("no order %q, want sequence, pairs or compensated", q.Order)
	case order != tcore.InSequence && !fmas:
		return fmt.Errorf("%s adds in its own order, want -order sequence or -device ieee", k.Device.Name)
	case q.Stochastic && bound.Truncating.Fails(*k) == "":
		return fmt.Errorf("%s truncates, want -device ieee or paper with -stochastic", k.Device.Name)
	}
	k.Order = order
	if q.Stochastic {
		k.Stochastic = tcore.Stochastic{Seed: q.Seed, Bits: 32}
	}
	return nil
}

// distribute sets the distributions of A and B. With Run it draws matrices and
// emulates their product.
func (q *Bound) distribute() (err error) {
	k := &q.problem
	if k.X, k.Y, err = ParseDistributions(q.Dist); err != nil {
		return err
	}
	if k.Recipes == nil {
		err = Overflows(k.Device, k.X, k.Y)
	}
	if err != nil || !q.Run {
		return err
	}
	rng := rand.New(rand.NewPCG(q.Seed, 0))
	a, b := DrawMatrix(rng, k.M, k.K, k.X), DrawMatrix(rng, k.K, k.N, k.Y)
	k.RangeX, k.RangeY = bound.RangesOf32(a, b)
	k.Run, err = bound.Emulate(*k, a, b)
	return err
}

// DrawMatrix returns a matrix of independent samples of d.
func DrawMatrix(rng *rand.Rand, rows, cols int, d bound.Distribution) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	d.Src = rng
	for i := range m.Data {
		m.Data[i] = float32(d.Rand())
	}
	return m
}

// SortByBound sorts results of bounds: those that hold first, and among them
// the least first.
func SortByBound[R any](results []R, of func(R) (holds bool, bound float64)) {
	slices.SortStableFunc(results, func(a, b R) int {
		holdsA, boundA := of(a)
		holdsB, boundB := of(b)
		return cmp.Or(cmp.Compare(truth(holdsB), truth(holdsA)), cmp.Compare(last(boundA), last(boundB)))
	})
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// last returns x, or +Inf if it is NaN, so that it is sorted last.
func last(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}
