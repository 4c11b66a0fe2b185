package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Plan lists the products of a sweep: of A, M × K, and B, K × N, on every
// machine and by every order, from every distribution, for every K and seed.
// Bounds are tested on them at every confidence.
type Plan struct {
	Machines    []tcore.Machine
	Orders      []plan.Plan // of libraries, which take the place of machines after those; their names are different
	Data        []Generator
	M, N        int
	Ks          []int
	Seeds       []uint64
	Confidences []float64

	// Recipes lists those that quantise A and B, with different names
	// ([NameRecipes]), in place of rounding each element by itself to the format of
	// the machine. Every machine then multiplies what each recipe makes that it
	// takes, by the kernel of [quant.KernelOn]. Errors are against AB as it is
	// drawn; what quantisation and what sums contribute is told apart. Bounds may
	// be told FromDistribution or FromMatrices, and Ranges changes none. An empty
	// list means that there are no recipes.
	Recipes []bound.Recipes

	// Bounds lists the bounds that are tested; an empty list means the catalogue.
	// Those that read the sums of a run take nearly all of the time.
	Bounds []bound.Bound

	// Told lists the descriptions of the data that the bounds are given in turn;
	// an empty list means FromDistribution alone.
	Told []Told

	// Ranges also tests the bounds given the sizes of the elements of the matrices
	// at hand ([bound.RangesOf32]), where that changes a bound.
	Ranges bool

	// Represented measures the errors against the product of A and B as they are
	// drawn, before they are rounded to the formats of the machine.
	Represented bool

	// Predict also predicts the errors by [bound.Predict], which takes about a
	// second for each machine and distribution.
	Predict bool

	// PerOutput asks for the confidence for each output by itself, instead of for
	// all outputs of a product together. Outputs of a product share rows and
	// columns: they are not quite independent trials.
	PerOutput bool
}

// Run computes the products of the plan on all cores. For every machine,
// distribution and K it returns a row of errors, and after it one row for every
// bound that applies there, in the order of the catalogue. It calls progress,
// unless that is nil, with the work done and the total, in units of K.
//
// If a product cannot be emulated sum by sum ([bound.Emulate]), it has no rows
// of bounds that read the sums. Outputs that are not finite are not judged, nor
// is a product with elements beyond the formats of the machine: the row of
// errors counts these outputs as Skipped and says why. An error says that ctx
// has ended, and the rows then cover only what was measured before, perhaps
// fewer seeds; or it says that a product could not be judged, and there are no
// rows.
//
// It panics if a list of the plan other than Told is empty, a size is below 1,
// a seed occurs twice, or a confidence is not in (0, 1).
func (p Plan) Run(ctx context.Context, progress func(done, total int)) ([]Row, error) {
	p.check()
	t := p.Grid().table()
	err := Shard{1, 1}.run(ctx, []Plan{p}, 0, func(_, u int, rows []Row) error { return t.add(u, rows) }, progress)
	if err == nil && p.Predict {
		var units []unit
		if units, err = p.units(); err == nil {
			p.predict(units, t.cells)
		}
	}
	if err != nil && err != ctx.Err() {
		return nil, err
	}
	return t.rows(), err
}

// measureDraw returns the rows of draw u ([Grid]) of every machine and order.
// It calls measured after each. If ctx ends it returns the error of ctx at
// once.
func (p Plan) measureDraw(ctx context.Context, units []unit, u int, measured func()) ([]Row, error) {
	l, h, s := p.Grid().at(u)
	data, k, seed := p.Data[l], p.Ks[h], p.Seeds[s]
	first := twins(units)
	rows, errs := make([][]Row, len(units)), make([]error, len(units))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d := p.draw(data, k, seed)
		parallel.Each(len(units), func(i int) {
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			if first[i] == i {
				rows[i], errs[i] = p.measure(units[i], d)
			}
			measured()
		})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var all []Row
	for i, unit := range units {
		if err := errs[first[i]]; err != nil {
			return nil, fmt.Errorf("%s, %s, seed %d: %w", unit.Name, data.Name, seed, err)
		}
		all = append(all, named(rows[first[i]], unit.Name)...)
	}
	return all, nil
}

// check panics if a list of the plan other than Told is empty, a size is below
// 1, or a seed occurs twice.
func (p Plan) check() {
	if len(p.Machines)+len(p.Orders) == 0 || len(p.Data) == 0 || len(p.Ks) == 0 || len(p.Seeds) == 0 || len(p.Confidences) == 0 {
		panic(fmt.Sprintf("sweep: %d machines and orders, %d kinds of data, %d Ks, %d seeds, %d confidences, want 1 or more of each",
			len(p.Machines)+len(p.Orders), len(p.Data), len(p.Ks), len(p.Seeds), len(p.Confidences)))
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

// A unit is a machine or an order of a plan, as the problem of no sizes that
// the bounds are given, or a machine with recipes and the kernel for them.
type unit struct {
	bound.Problem
	recipe string        // the name of the recipes, "" without
	kernel *quant.Kernel // nil without
}

// Units returns how many results each draw has: one for each machine and order,
// or for each machine and recipe that it takes. An error says what the plan
// cannot have: an order without bounds, a machine with recipes that takes none
// of them.
func (p Plan) Units() (int, error) {
	all, err := p.units()
	return len(all), err
}

// units returns the machines and the orders, or the machines with recipes. The
// error says that there are no bounds for an order, that its parts have scales,
// or what the plan cannot have with recipes or without.
func (p Plan) units() ([]unit, error) {
	if len(p.Recipes) > 0 {
		return p.quantisedUnits()
	}
	var all []unit
	for _, m := range p.Machines {
		if m.Device.Core == nil {
			return nil, fmt.Errorf("sweep: machine %q without recipes, want some: it multiplies what they make alone", m.Name)
		}
		all = append(all, unit{Problem: bound.Problem{Machine: m}})
	}
	for _, o := range p.Orders {
		k, err := bound.Problem{}.Planned(o)
		if err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		if _, scaled := o.Scaled(); scaled {
			return nil, fmt.Errorf("sweep: parts of plan %q have scales, want one without", o.Name)
		}
		all = append(all, unit{Problem: k})
	}
	return all, nil
}

// problem returns the problem that the bounds are given for a product.
func (p Plan) problem(u unit, data Generator, k int) bound.Problem {
	z := u.Problem
	z.M, z.N, z.K, z.X, z.Y, z.Represented = p.M, p.N, k, data.X, data.Y, p.Represented || u.recipe != ""
	return z
}

// twins returns, for every unit, the index of the first that computes the same
// results, whatever the names of the machines.
func twins(units []unit) []int {
	type result struct {
		tcore.Machine
		recipe string
	}
	first, seen := make([]int, len(units)), map[result]int{}
	for i, u := range units {
		first[i] = i
		if _, planned := u.Plan(); planned {
			continue
		}
		m := u.Machine
		m.Name, m.Device = "", anonymous(m.Device)
		at, ok := seen[result{m, u.recipe}]
		if !ok {
			seen[result{m, u.recipe}], at = i, i
		}
		first[i] = at
	}
	return first
}

// anonymous returns the device without names and without what it makes of NaNs.
func anonymous(d tcore.Device) tcore.Device {
	d.Name, d.Architecture, d.Instruction, d.NaN = "", "", "", 0
	return d
}

// named returns a copy of rows with the given name of the machine.
func named(rows []Row, machine string) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Machine = machine
	}
	return rows
}
