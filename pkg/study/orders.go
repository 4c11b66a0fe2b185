package study

import (
	"fmt"
	"math"
	"regexp"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// cublasLt returns what cuBLASLt 13.1 computes on a chip for a configuration,
// with D in a format; the zero value means that of cuBLASLt.
func cublasLt(chip, config string, s library.Shape, output tcore.Format) (library.Planned, error) {
	p, _, err := library.FindProfile("cublaslt-13.1", chip)
	if err != nil {
		return library.Planned{}, err
	}
	c, err := library.ParseConfig(config)
	if err != nil {
		return library.Planned{}, err
	}
	return p.PlanWith(s, library.FP16, c, library.Options{Output: output})
}

// draw16 returns matrices of data, rounded to binary16: what all machines
// multiply.
func draw16(g sweep.Generator, m, n, k int, seed uint64) (a, b blas32.General) {
	a, b = g.Draw(m, n, k, seed)
	for _, z := range []blas32.General{a, b} {
		tcore.Binary16.RoundSlice32(z.Data, z.Data)
	}
	return a, b
}

// numbersInARow are the numbers of a plan's text that are cut from a list.
var numbersInARow = regexp.MustCompile(`(\d+,\d+,)[\d,]+,(\d+)`)

// shortOrder returns the text of an order, with lists of numbers cut short.
func shortOrder(p plan.Plan) string {
	return numbersInARow.ReplaceAllString(fmt.Sprint(p.Order), "$1…,$2")
}

// product returns D = AB as a plan computes it.
func product(p plan.Plan, a, b blas32.General) blas32.General {
	d := matrix.New(a.Rows, b.Cols)
	p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	return d
}

// differing returns how many elements of two matrices have other bits, and the
// greatest difference.
func differing(a, b blas32.General) (count int, largest float64) {
	for i, v := range a.Data {
		if math.Float32bits(v) != math.Float32bits(b.Data[i]) {
			count++
			largest = max(largest, math.Abs(float64(v)-float64(b.Data[i])))
		}
	}
	return count, largest
}

// OrdersTable returns the table of one product of binary16 numbers, N(0,1), as
// several libraries on several chips compute it: the first element, and how
// many elements have other bits than the first of them. It returns an error if
// one of them has no plan for it.
func OrdersTable() (*viz.Table, error) {
	const n, k, seed = 32, 4096, 1
	s := library.Shape{M: n, N: n, K: k}
	type order struct {
		who string
		plan.Plan
	}
	var all []order
	for _, o := range []struct{ who, chip, config string }{
		{"cuBLASLt 13.1, H100", "h100", "66,0,1,0,0,0,35"},
		{"cuBLASLt 13.1, B200", "b200", "66,0,1,0,0,0,35"},
		{"the same in 4 slices, H100", "h100", "66,0,4,2,0,0,35"},
		{"the same in 4 slices, B200", "b200", "66,0,4,2,0,0,35"},
		{"a kernel of CUTLASS, H100", "h100", "21,0,1,0,0,0,0"},
	} {
		p, err := cublasLt(o.chip, o.config, s, tcore.Binary32)
		if err != nil {
			return nil, err
		}
		all = append(all, order{o.who, p.Plan})
	}
	entry, err := library.FindPlan("openblas-sgemm")
	if err != nil {
		return nil, err
	}
	openBLAS, err := entry.Plan(s, library.FP32)
	if err != nil {
		return nil, err
	}
	all = append(all,
		order{"one chain, A100", plan.Plan{Order: plan.Run{Device: devices.AmpereF16()}, Output: tcore.Binary32}},
		order{"one chain, MI300X", plan.Plan{Order: plan.Run{Device: devices.CDNA3F16()}, Output: tcore.Binary32}},
		order{"OpenBLAS, a processor", openBLAS})

	a, b := draw16(sweep.Normal, n, n, k, seed)
	p, err := trial.Of(a, b)
	if err != nil {
		return nil, err
	}
	var first blas32.General
	var rows [][]string
	same := 0
	for i, o := range all {
		d := product(o.Plan, p.A, p.B)
		if i == 0 {
			first = d
		}
		count, _ := differing(first, d)
		if count == 0 && i > 0 {
			same++
		}
		rms := sample.RMS(p.Compare(matrix.Float64(d)).Backward())
		rows = append(rows, []string{o.who, shortOrder(o.Plan), fmt.Sprintf("%08x", math.Float32bits(d.Data[0])), fmt.Sprint(count), typeset.Number(rms, 2)})
	}
	t := viz.NewTable("orders",
		fmt.Sprintf("Of %d ways to compute one product, %d other than the first have all its bits.", len(all), same),
		fmt.Sprintf("A product %d × %d × %d of binary16 numbers, N(0,1), seed %d, sums before D is rounded. Other bits: elements of %d that are not those of the first row. Error: root mean square of error/|A||B|.", n, k, n, seed, n*n),
		[]string{"Who", "order", "first element", "other bits", "error"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t, nil
}

// BatchTable returns the table of one row of A times B as cuBLASLt computes it
// for batches of several sizes, whose configurations differ: how many elements
// have other bits than for the row alone. It returns an error if a
// configuration has no plan.
func BatchTable() (*viz.Table, error) {
	const n, k, seed = 4096, 1024, 1
	a, b := draw16(sweep.Normal, 1, n, k, seed)
	formats := []tcore.Format{tcore.Binary16, tcore.Binary32}
	alone := make([]blas32.General, len(formats))
	var rows [][]string
	most := make([]int, len(formats))
	for _, o := range []struct {
		batch  int
		config string
	}{
		{1, "13,0,1,0,0,0,0"}, {8, "11,0,1,0,0,0,0"}, {64, "66,0,4,2,0,0,35"}, {4096, "66,0,1,0,0,0,35"}, {8192, "66,0,1,0,0,0,35"},
	} {
		row := []string{fmt.Sprint(o.batch), o.config}
		for i, f := range formats {
			planned, err := cublasLt("h100", o.config, library.Shape{M: o.batch, N: n, K: k}, f)
			if err != nil {
				return nil, err
			}
			d := product(planned.Plan, a, b)
			if alone[i].Data == nil {
				alone[i] = d
			}
			count, _ := differing(alone[i], d)
			most[i] = max(most[i], count)
			if i == 0 {
				row = append(row, string(planned.Mode))
			}
			row = append(row, fmt.Sprint(count))
		}
		rows = append(rows, row)
	}
	t := viz.NewTable("batches",
		fmt.Sprintf("By its batch, one row of A has up to %d of %d results with other bits in binary16, %d in binary32.", most[0], n, most[1]),
		fmt.Sprintf("cuBLASLt 13.1 on an H100, factors in binary16, N(0,1), K = %d, N = %d, seed %d. A configuration of each family of kernels; bits other than for the row alone.", k, n, seed),
		[]string{"Rows in the batch", "configuration", "order", "other bits, binary16", "other bits, binary32"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t, nil
}

// AnyOrderTable returns the table of bounds on the sums of an H100 for lengths
// K: of one chain, of slices, and of every order there is, beside the greatest
// difference between two orders. It returns an error if a product has no bound.
func AnyOrderTable() (*viz.Table, error) {
	const n, seed, parts = 16, 1, 4
	device := devices.HopperF16()
	chain := plan.Plan{Name: "chain", Order: plan.Run{Device: device}, Output: tcore.Binary32}
	slices := func(count int) plan.Plan {
		return plan.Plan{Name: "slices", Output: tcore.Binary32,
			Order: plan.Parts{Cut: plan.Cut{Count: count, Grain: device.BlockTerms()}, Each: plan.Run{Device: device}}}
	}
	var rows [][]string
	share := 0.0
	for _, k := range []int{256, 4096, 32768} {
		a, b := sweep.Positive.Draw(n, n, k, seed)
		p, err := trial.On(device, a, b)
		if err != nil {
			return nil, err
		}
		problem := bound.Problem{M: n, N: n, K: k, Machine: tcore.Machine{Device: device, Output: tcore.Binary32}}
		row := []string{fmt.Sprint(k)}
		for _, o := range []plan.Plan{chain, slices(parts)} {
			c, err := always(problem, o)
			if err != nil {
				return nil, err
			}
			row = append(row, typeset.Number(c, 2))
		}
		every := 0.0
		for _, o := range []bound.Orders{{Group: device.BlockTerms()}, {}} {
			every = bound.AllOrders(problem, o, certain)[0].Constant
			row = append(row, typeset.Number(every, 2))
		}
		var results []blas32.General
		for _, o := range []plan.Plan{chain, slices(parts), slices(16), slices(2)} {
			results = append(results, product(o, p.A, p.B))
		}
		largest := 0.0
		for i, d := range results {
			for _, other := range results[:i] {
				for j, v := range d.Data {
					largest = max(largest, math.Abs(float64(v)-float64(other.Data[j]))/p.Sizes()[j])
				}
			}
		}
		share = max(share, largest/every)
		rows = append(rows, append(row, typeset.Number(largest, 2)))
	}
	t := viz.NewTable("any-order",
		fmt.Sprintf("Two orders differ by at most %s of the bound for every order.", typeset.Number(share, 2)),
		fmt.Sprintf("Largest error/|A||B| that is possible before D is rounded, on the tensor core of an H100 with binary16 factors. Kernels: every order of full blocks of %d. Difference: the largest between four orders, products %d × K × %d of U(0,1), seed %d.", device.BlockTerms(), n, n, seed),
		[]string{"K", "one chain", fmt.Sprintf("%d slices", parts), "every order of kernels", "every order", "largest difference"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t, nil
}

// certain is the probability of failure that is asked for where it does not
// matter.
var certain = roundoff.FailureOf(0.99)

// always returns the least constant of the bounds that always hold on a plan.
func always(k bound.Problem, p plan.Plan) (float64, error) {
	k, err := k.Planned(p)
	if err != nil {
		return 0, err
	}
	results, err := bound.Evaluate(k, certain)
	if err != nil {
		return 0, err
	}
	r, ok := bound.Tightest(results)
	if !ok {
		return 0, fmt.Errorf("study: no bound holds on plan %v", p)
	}
	return r.Constant, nil
}

// TailTable returns the table of products of which cuBLASLt is suspected to
// lose the tail of K: what each of several tests says of the loss, for D in
// binary32. It returns an error if there is no such product.
func TailTable() (*viz.Table, error) {
	const n, k, seed = 8, 8648, 1
	planned, err := cublasLt("b200", "66,0,9,2,0,0,35", library.Shape{M: 1, N: n, K: k}, tcore.Binary32)
	if err != nil {
		return nil, err
	}
	if planned.Suspected == nil {
		return nil, fmt.Errorf("study: no loss is suspected for K = %d", k)
	}
	a, b := draw16(sweep.Positive, 1, n, k, seed)
	p, err := trial.Of(a, b)
	if err != nil {
		return nil, err
	}
	problem := bound.Problem{M: 1, N: n, K: k, Machine: tcore.Machine{Device: planned.Plan.Device(), Output: tcore.Binary32}}
	known, err := always(problem, planned.Plan)
	if err != nil {
		return nil, err
	}
	kernels := bound.AllOrders(problem, bound.Orders{Group: planned.Plan.Device().BlockTerms()}, certain)[0].Constant
	whole, lost := product(planned.Plan, p.A, p.B), product(planned.Suspected.Plan, p.A, p.B)
	other := product(plan.Plan{Order: plan.Run{Device: planned.Plan.Device()}, Output: tcore.Binary32}, p.A, p.B)
	tests := []struct {
		name  string
		limit func(i int) float64
	}{
		{"the bound for this order", func(i int) float64 { return known * p.Sizes()[i] }},
		{"the bound for every order of kernels", func(i int) float64 { return kernels * p.Sizes()[i] }},
		{"np.allclose, 1e-5 and 1e-8", func(i int) float64 { return 1e-8 + 1e-5*math.Abs(p.Values[i]) }},
		{"1e-2 and 1e-2", func(i int) float64 { return 1e-2 + 1e-2*math.Abs(p.Values[i]) }},
	}
	var rows [][]string
	caught := 0
	for t, test := range tests {
		exceeds := func(d blas32.General) (count int) {
			for i, v := range d.Data {
				if math.Abs(float64(v)-p.Values[i]) > test.limit(i) {
					count++
				}
			}
			return count
		}
		if t == 0 {
			caught = exceeds(lost)
		}
		rows = append(rows, []string{test.name, typeset.Number(test.limit(0)/p.Sizes()[0], 2), fmt.Sprint(exceeds(lost)), fmt.Sprint(exceeds(whole)), fmt.Sprint(exceeds(other))})
	}
	t := viz.NewTable("tail",
		fmt.Sprintf("The loss of %d of %d products is seen in %d of %d results by the bound for the order.", planned.Suspected.Lost, k, caught, n),
		fmt.Sprintf("A product 1 × %d × %d of binary16 numbers, U(0,1), seed %d, D in binary32, K in 9 slices on a B200, beside the exact product. The last column is no order that the first test is for.", k, n, seed),
		[]string{"Test", "limit, relative to |A||B|", "above it: tail lost", "whole, in slices", "whole, in one chain"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t, nil
}
