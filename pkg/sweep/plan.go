package sweep

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Plan is what to try: products of A, M × K, and B, K × N, on every machine,
// from every distribution, of every K and seed, and every bound of the
// catalogue at every confidence.
type Plan struct {
	Machines    []tcore.Machine
	Data        []Generator
	M, N        int
	Ks          []int
	Seeds       []uint64
	Confidences []float64

	// Told are the ways in which the bounds are told of the data; none is
	// FromDistribution alone.
	Told []Told

	// Ranges asks for a second judgement of what is said when the sizes of the
	// elements of the matrices at hand are told as well ([bound.RangesOf32]), where
	// that is something else.
	Ranges bool

	// Represented measures errors from the product of A and B as they are drawn,
	// before they are rounded to the formats of the machine.
	Represented bool

	// Predict asks for what [bound.Predict] tells of the errors beforehand: about a
	// second for each machine and distribution.
	Predict bool

	// PerOutput asks for the confidence of each output, as if it were the only one,
	// and not for that of all outputs of a product together. Outputs of a product
	// share rows and columns: they are not quite independent trials.
	PerOutput bool
}

// Run carries the plan out on all cores and returns a row of errors for every
// machine, distribution and K, and after it a row for every bound that says
// something there, in the order of the catalogue. It calls progress, if that is
// not nil, with how much is done of how much.
//
// A product that cannot be emulated sum by sum ([bound.Emulate]) has no rows of
// bounds that read sums. Outputs that are not finite are not judged, nor is a
// product of elements that are not in the formats of the machine: the row of
// errors counts them as Skipped, and says why. An error says that ctx has
// ended; the rows are then of what was measured before, perhaps of fewer seeds.
// It panics if a part of the plan is empty, a size is below 1, a seed comes
// twice, or a confidence is not in (0, 1).
func (p Plan) Run(ctx context.Context, progress func(done, total int)) ([]Row, error) {
	p.check()
	if progress == nil {
		progress = func(int, int) {}
	}
	total, done := 0, 0
	for _, k := range p.Ks {
		total += k * len(p.Machines) * len(p.Data) * len(p.Seeds)
	}
	first := p.twins()
	var mu sync.Mutex
	cells := map[[3]int][]Row{}
	for l, data := range p.Data {
		for h, k := range p.Ks {
			for _, seed := range p.Seeds {
				rows, errs := make([][]Row, len(p.Machines)), make([]error, len(p.Machines))
				measured := make(chan struct{})
				go func() {
					defer close(measured)
					d := p.draw(data, k, seed)
					parallel.Each(len(p.Machines), func(i int) {
						if errs[i] = ctx.Err(); errs[i] != nil {
							return
						}
						if first[i] == i {
							rows[i], errs[i] = p.measure(p.Machines[i], d)
						}
						mu.Lock()
						defer mu.Unlock()
						if done += k; ctx.Err() == nil {
							progress(done, total)
						}
					})
				}()
				select {
				case <-measured:
				case <-ctx.Done():
				}
				if ctx.Err() != nil {
					return p.ordered(cells), ctx.Err()
				}
				for i, machine := range p.Machines {
					if errs[i] == nil {
						rows[i], errs[i] = named(rows[first[i]], machine.Name), errs[first[i]]
					}
					err, at := errs[i], [3]int{i, l, h}
					if err == nil {
						cells[at], err = Join(cells[at], rows[i])
					}
					if err != nil {
						return nil, fmt.Errorf("%s, %s, seed %d: %w", machine.Name, data.Name, seed, err)
					}
				}
			}
		}
	}
	if p.Predict {
		p.predict(cells)
	}
	return p.ordered(cells), nil
}

// ordered returns the rows of cells by machine, distribution and K.
func (p Plan) ordered(cells map[[3]int][]Row) (rows []Row) {
	for i := range p.Machines {
		for l := range p.Data {
			for h := range p.Ks {
				rows = append(rows, cells[[3]int{i, l, h}]...)
			}
		}
	}
	return rows
}

// check panics unless the plan can be carried out.
func (p Plan) check() {
	if len(p.Machines) == 0 || len(p.Data) == 0 || len(p.Ks) == 0 || len(p.Seeds) == 0 || len(p.Confidences) == 0 {
		panic(fmt.Sprintf("sweep: %d machines, %d kinds of data, %d Ks, %d seeds, %d confidences, want 1 or more of each",
			len(p.Machines), len(p.Data), len(p.Ks), len(p.Seeds), len(p.Confidences)))
	}
	seeds := slices.Sorted(slices.Values(p.Seeds))
	for i := range seeds[1:] {
		if seeds[i] == seeds[i+1] {
			panic(fmt.Sprintf("sweep: seed %d twice", seeds[i]))
		}
	}
	if p.M < 1 || p.N < 1 || slices.Min(p.Ks) < 1 {
		panic(fmt.Sprintf("sweep: M = %d, N = %d, K = %v, want 1 or more", p.M, p.N, p.Ks))
	}
}

// problem returns what the bounds are told of a product.
func (p Plan) problem(machine tcore.Machine, data Generator, k int) bound.Problem {
	return bound.Problem{M: p.M, N: p.N, K: k, Machine: machine, X: data.X, Y: data.Y, Represented: p.Represented}
}

// twins returns for every machine the first that computes the same under any
// name.
func (p Plan) twins() []int {
	first, seen := make([]int, len(p.Machines)), map[tcore.Machine]int{}
	for i, m := range p.Machines {
		d := &m.Device
		m.Name, d.Name, d.Architecture, d.Instruction, d.NaN = "", "", "", "", 0
		if _, ok := seen[m]; !ok {
			seen[m] = i
		}
		first[i] = seen[m]
	}
	return first
}

// named returns rows as those of a machine of that name.
func named(rows []Row, machine string) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Machine = machine
	}
	return rows
}
