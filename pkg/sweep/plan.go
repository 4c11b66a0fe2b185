package sweep

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Plan is what to try: products of A, M × K, and B, K × N, on every machine, from every law,
// of every K and seed, and every bound of the catalogue at every confidence.
type Plan struct {
	Machines    []Machine
	Laws        []Law
	M, N        int
	Ks          []int
	Seeds       []uint64
	Confidences []float64

	// Predict asks for what [bound.Predict] tells of the errors beforehand: about a second for each
	// machine and law.
	Predict bool

	// Alone asks for the confidence of each output, as if it were the only one, and not for that
	// of all outputs of a product together. Outputs of a product share rows and columns: they
	// are not quite independent trials.
	Alone bool
}

// Run carries the plan out on all cores and returns a row of errors for every machine, law and
// K, and after it a row for every bound that says something there, in the order of the catalogue.
// It calls progress, if that is not nil, with how much is done of how much.
//
// A product that cannot be emulated sum by sum ([bound.Emulate]) has no rows of bounds that read
// sums. An error says that ctx has ended, or which element of a product is not finite.
// It panics if a part of the plan is empty, a size is below 1, a seed comes twice, or a
// confidence is not in (0, 1).
func (p Plan) Run(ctx context.Context, progress func(done, total int)) ([]Row, error) {
	p.check()
	if progress == nil {
		progress = func(int, int) {}
	}
	total, done := 0, 0
	for _, k := range p.Ks {
		total += k * len(p.Machines) * len(p.Laws) * len(p.Seeds)
	}
	cells := map[[3]int][]Row{}
	for l, law := range p.Laws {
		for h, k := range p.Ks {
			for _, seed := range p.Seeds {
				a, b := law.Matrices(p.M, p.N, k, seed)
				for i, machine := range p.Machines {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					rows, err := p.measure(machine, law, seed, a, b)
					if err != nil {
						return nil, fmt.Errorf("%s, %s, seed %d: %w", machine.Name, law.Name, seed, err)
					}
					at := [3]int{i, l, h}
					if cells[at], err = Join(cells[at], rows); err != nil {
						return nil, err
					}
					done += k
					progress(done, total)
				}
			}
		}
	}
	if p.Predict {
		p.predict(cells)
	}
	var rows []Row
	for i := range p.Machines {
		for l := range p.Laws {
			for h := range p.Ks {
				rows = append(rows, cells[[3]int{i, l, h}]...)
			}
		}
	}
	return rows, nil
}

// check panics unless the plan can be carried out.
func (p Plan) check() {
	if len(p.Machines) == 0 || len(p.Laws) == 0 || len(p.Ks) == 0 || len(p.Seeds) == 0 || len(p.Confidences) == 0 {
		panic(fmt.Sprintf("sweep: %d machines, %d laws, %d Ks, %d seeds, %d confidences, want 1 or more of each",
			len(p.Machines), len(p.Laws), len(p.Ks), len(p.Seeds), len(p.Confidences)))
	}
	for i, s := range p.Seeds {
		if slices.Contains(p.Seeds[:i], s) {
			panic(fmt.Sprintf("sweep: seed %d twice", s))
		}
	}
	if p.M < 1 || p.N < 1 || slices.Min(p.Ks) < 1 {
		panic(fmt.Sprintf("sweep: M = %d, N = %d, K = %v, want 1 or more", p.M, p.N, p.Ks))
	}
}

// A product is one of the products of a plan, and how it came out.
type product struct {
	bound.Kernel
	law    Law
	a, b   blas32.General
	errors []float64 // D̂ - D, row by row
	sizes  []float64 // |A||B|

	losses func() *roundoff.Losses // of all products of elements, as outputs have it
}

// kernel returns what the bounds are told of a product.
func (p Plan) kernel(machine Machine, law Law, k int) bound.Kernel {
	return bound.Kernel{M: p.M, N: p.N, K: k, Kernel: machine.Kernel, X: law.X, Y: law.Y}
}

// measure returns the rows of one product, that of errors first.
func (p Plan) measure(machine Machine, law Law, seed uint64, a, b blas32.General) ([]Row, error) {
	k := p.kernel(machine, law, a.Cols)
	z := product{Kernel: k, law: law, a: a, b: b}
	row := Row{Machine: machine.Name, Law: law.Name, M: k.M, N: k.N, K: k.K, Seeds: []uint64{seed}}
	moments, err := z.run()
	if err != nil {
		return nil, err
	}

	e := row
	e.Bound, e.Certain, e.Verdict, e.Moments, e.Predicted = Error, true, Holds, moments, none
	t := tally{}
	for i, x := range z.errors {
		t.add(x, z.sizes[i], bound.Interval{Radius: z.sizes[i]})
	}
	e.Summary = t.summary()
	rows := []Row{e}

	asked, err := z.ask(p)
	if err != nil {
		return nil, err
	}
	for _, q := range z.tallies(asked) {
		if q.outputs > 0 {
			r := row
			r.Confidence, r.Alone = q.confidence, p.Alone
			r.Bound, r.Certain, r.Verdict, r.Summary = q.Name, !q.Model.Random, q.verdict(law), q.summary()
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// run multiplies on the machine and exactly.
func (z *product) run() (m Moments, err error) {
	start := time.Now()
	d := newMatrix(z.M, z.N)
	z.GEMM(blas.NoTrans, blas.NoTrans, 1, z.a, z.b, 0, blas32.General{}, d)
	m.Product = time.Since(start).Seconds()

	start = time.Now()
	exact, err := z.ExactGEMM(z.a, z.b)
	if err != nil {
		return m, err
	}
	z.errors = exact.Error(d).Data
	m.Exact = time.Since(start).Seconds()

	absolute, err := z.ExactGEMM(sizes(z.a), sizes(z.b))
	if err != nil {
		return m, err
	}
	values := exact.Float64().Data
	z.sizes = absolute.Float64().Data
	for i, e := range z.errors {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return m, fmt.Errorf("sweep: D[%d, %d] = %v, want a finite number", i/z.N, i%z.N, e)
		}
		m = m.Merge(momentsOf(e, values[i], z.sizes[i]))
	}
	return m, nil
}

// sizes returns |A|.
func sizes(m blas32.General) blas32.General {
	z := newMatrix(m.Rows, m.Cols)
	for i, x := range m.Data {
		z.Data[i] = float32(math.Abs(float64(x)))
	}
	return z
}

// A question is one bound at one confidence, put to a product.
type question struct {
	bound.Bound
	bound.Result
	confidence float64
	kernel     bound.Kernel
	failure    roundoff.Failure
	tally
}

// ask returns the questions of a plan to a product, nothing counted yet.
func (z *product) ask(p Plan) ([]question, error) {
	k := z.Kernel
	if run, err := z.emulate(0, z.M); err == nil {
		k.Run = z.first(run)
	}
	if p.Alone {
		k.M, k.N = 1, 1
	}
	var asked []question
	for _, c := range p.Confidences {
		f := roundoff.FailureOf(c)
		results, err := bound.Evaluate(k, f)
		if err != nil {
			return nil, err
		}
		for i, b := range bound.Catalogue() {
			asked = append(asked, question{Bound: b, Result: results[i], confidence: c, kernel: k, failure: f})
		}
	}
	return asked, nil
}

// first returns the first output of a run that has products other than 0, which tells the bounds
// that there is a run, and keeps what it knows of all products of the matrices.
func (z *product) first(run iter.Seq[bound.Output]) iter.Seq[bound.Output] {
	return func(yield func(bound.Output) bool) {
		for o := range run {
			z.losses = o.Losses
			if o.Abs > 0 {
				yield(o)
				return
			}
		}
	}
}

// emulate returns the outputs of the rows from lo to hi-1.
func (z *product) emulate(lo, hi int) (iter.Seq[bound.Output], error) {
	k := z.Kernel
	k.M = hi - lo
	if k.Output != (tcore.Format{}) && k.Output != k.C {
		return nil, fmt.Errorf("sweep: %s is rounded to %s after the last sum", k.Name, k.Output.Name)
	}
	return bound.Emulate(k, blas32.General{Rows: k.M, Cols: k.K, Stride: z.a.Stride, Data: z.a.Data[lo*z.a.Stride:]}, z.b)
}

// bands is into how many bands of rows a product is divided among the cores: more than there
// are, and no matter for the result.
const bands = 16

// tallies counts how the bounds did on every output.
func (z *product) tallies(asked []question) []question {
	parts := make([][]question, min(bands, z.M))
	parallel.Each(len(parts), func(i int) {
		lo, hi := i*z.M/len(parts), (i+1)*z.M/len(parts)
		parts[i] = slices.Clone(asked)
		z.count(parts[i], lo, hi)
	})
	for _, part := range parts {
		for i := range asked {
			asked[i].merge(part[i].tally)
		}
	}
	return asked
}

// count counts how the bounds did on the rows from lo to hi-1.
func (z *product) count(asked []question, lo, hi int) {
	for i := lo * z.N; i < hi*z.N; i++ {
		for j := range asked {
			if q := &asked[j]; q.Bound.Constant != nil {
				q.add(z.errors[i], z.sizes[i], bound.Interval{Radius: q.Result.Constant * z.sizes[i]})
			}
		}
	}
	run, err := z.emulate(lo, hi)
	if err != nil {
		return // no bound that reads sums can be asked
	}
	i := lo * z.N
	for o := range run {
		o.Losses = z.losses // and not of these rows alone
		for j := range asked {
			if q := &asked[j]; q.Output != nil {
				q.add(z.errors[i], z.sizes[i], q.Output(q.kernel, o, q.failure))
			}
		}
		i++
	}
}

// verdict says whether the bound is to hold on data of a law.
func (q *question) verdict(law Law) Verdict {
	ofProducts := q.Model.Random && (q.Needs == bound.Moments || q.Needs == bound.Trace)
	switch {
	case !q.Holds:
		return NotMachine
	case law.Misled && q.Needs == bound.Moments, law.Adverse != "" && q.Model.Random, law.Mixed && ofProducts:
		return NotData
	}
	return Holds
}

// A tally is a Summary in the making, of one product.
type tally struct {
	outputs, violations int
	largest, constant   float64
	ratios              Sketch
}

// slack is how far errors and bounds may be off, relatively, for being computed in binary64.
const slack = 1e-12

// add counts an output with its error, its |A||B|, and where the error should lie. An interval
// that is NaN or has no limit says nothing.
func (t *tally) add(e, size float64, i bound.Interval) {
	most := i.Bound()
	if math.IsNaN(most) || math.IsInf(most, 0) {
		return
	}
	t.outputs++
	if math.Abs(e-i.Centre) > i.Radius+slack*max(math.Abs(e), i.Radius) {
		t.violations++
	}
	ratio := 0.0 // no error is 0 also where none is allowed
	if e != 0 {
		ratio = math.Abs(e) / most
	}
	t.ratios.Add(ratio)
	t.largest = max(t.largest, ratio)
	if most > 0 {
		t.constant = max(t.constant, most/size)
	}
}

// merge counts what another has.
func (t *tally) merge(o tally) {
	t.outputs += o.outputs
	t.violations += o.violations
	t.largest = max(t.largest, o.largest)
	t.constant = max(t.constant, o.constant)
	t.ratios.Merge(o.ratios)
}

// summary returns the summary of one product.
func (t *tally) summary() Summary {
	return Summary{
		Runs: 1, Failed: min(1, t.violations), Outputs: t.outputs, Violations: t.violations,
		Tightness: t.largest, Largest: t.largest, Constant: t.constant, Ratios: t.ratios,
	}
}
