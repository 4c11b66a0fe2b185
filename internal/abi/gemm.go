package abi

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A machine is the machine of a question, as flags name it.
type machine struct {
	Device  string `json:"device"`
	In      string `json:"in"`  // empty: the formats of a device that is named in full, else binary16
	Out     string `json:"out"` // of D; empty: what a device that is named in full adds in, else binary32
	SplitK  int    `json:"split_k"`
	Promote int    `json:"promote"`
}

func newMachine() machine { return machine{Device: "hopper", SplitK: 1} }

// find returns the machine.
func (q machine) find() (m tcore.Machine, err error) {
	in, out := tcore.Binary16.Name, tcore.Binary32.Name
	for _, d := range question.Catalogue() {
		if d.Name == q.Device {
			in, out = d.A.Name+","+d.B.Name, d.C.Name
		}
	}
	q.In, q.Out = cmp.Or(q.In, in), cmp.Or(q.Out, out)
	d, err := question.FindDevice(q.Device, q.In, q.Out)
	if err != nil {
		return m, err
	}
	m = tcore.Machine{Name: d.Name, Device: d, SplitK: q.SplitK, Promote: q.Promote}
	if q.SplitK < 1 {
		return m, fmt.Errorf("split_k is %d, want 1 or more", q.SplitK)
	}
	switch {
	case q.Out != tcore.INT32.Name:
		m.Output, err = question.FindFormat(q.Out)
	case !question.SumsIntegers(d):
		err = fmt.Errorf("out is int32, and %s adds in %s: want a device of integers, as in int8 on sapphirerapids", d.Name, d.C.Name)
	case q.SplitK > 1 || q.Promote > 0:
		err = fmt.Errorf("out is int32, and split_k %d and promote %d add in binary32: want neither", q.SplitK, q.Promote)
	default:
		m.Output = tcore.INT32
	}
	if err == nil {
		err = m.Check()
	}
	return m, err
}

// A product asks for a matrix that a device computes, or a library: in the
// order of a plan, or of matrices that it quantises first.
type product struct {
	machine
	Alpha  float64 `json:"alpha"`
	Beta   float64 `json:"beta"`
	Plan   string  `json:"plan"`   // in place of what tells a machine
	Recipe string  `json:"recipe"` // one, or two, of A and of B
	Kernel string  `json:"kernel"` // which applies the scales of the recipe
}

// GEMM stores in d the matrix alpha AB + beta C as a device or a library
// computes it. c may be nil if beta is 0. The answer has the name of the
// device, and of a plan or of a kernel.
func GEMM(text string, a, b, c, d *Matrix, cancelled func() bool) (string, error) {
	q := product{machine: newMachine(), Alpha: 1}
	if err := read(text, &q); err != nil {
		return "", err
	}
	switch given := givenIn(text); {
	case q.Plan != "" && q.Recipe != "":
		return "", fmt.Errorf("plan is %.40q and recipe %.40q, want one of them", q.Plan, q.Recipe)
	case q.Kernel != "" && q.Recipe == "":
		return "", fmt.Errorf("kernel is %.40q, which is for a recipe", q.Kernel)
	case q.Plan != "":
		for _, key := range []string{"device", "in", "out", "split_k", "promote"} {
			if given(key) {
				return "", fmt.Errorf("%s is given, and plan, which has its own: want one of them", key)
			}
		}
		return planned(q, a, b, c, d, cancelled)
	case q.Recipe != "":
		if q.In != "" || q.SplitK != 1 || q.Alpha != 1 || q.Beta != 0 || c != nil {
			return "", fmt.Errorf("recipe is %.40q, and in, split_k, alpha, beta or c is given: want none of them", q.Recipe)
		}
		return scaled(q, a, b, d, cancelled)
	}
	m, err := q.find()
	if err != nil {
		return "", err
	}
	if err := q.check(a, b, c, d); err != nil {
		return "", err
	}
	if m.Output.Equal(tcore.INT32) {
		if q.Alpha != 1 || q.Beta != 0 && q.Beta != 1 || d.Format != tcore.INT32.Name {
			return "", fmt.Errorf("out is int32, alpha %v, beta %v and d of %s: want 1, 0 or 1, and int32", q.Alpha, q.Beta, d.Format)
		}
		err = integers(m.Device, a, b, c, d, cancelled)
	} else {
		err = fractions(m, m.Device, m.Output, q, a, b, c, d, cancelled)
	}
	if err != nil {
		return "", err
	}
	return write(map[string]string{"device": m.Device.Name})
}

// check returns an error unless alpha and beta are numbers of binary32 and the
// matrices fit.
func (q product) check(a, b, c, d *Matrix) error {
	for _, v := range []struct {
		name string
		x    float64
	}{{"alpha", q.Alpha}, {"beta", q.Beta}} {
		if f := float64(float32(v.x)); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s is %v, want a number of binary32", v.name, v.x)
		}
	}
	if err := fit(a, b); err != nil {
		return err
	}
	if (q.Beta != 0) != (c != nil) {
		return fmt.Errorf("beta is %v: want c with a beta other than 0, and none without", q.Beta)
	}
	if c != nil {
		if err := shaped("c", c, a.Rows, b.Columns); err != nil {
			return err
		}
	}
	if err := d.checkOutput("d", a, b, c); err != nil {
		return err
	}
	return shaped("d", d, a.Rows, b.Columns)
}

// planned computes the product in the order of a plan.
func planned(q product, a, b, c, d *Matrix, cancelled func() bool) (string, error) {
	if err := q.check(a, b, c, d); err != nil {
		return "", err
	}
	p, err := question.FindPlan(q.Plan, question.PlannedProduct{Shape: library.Shape{M: a.Rows, N: b.Columns, K: a.Columns}})
	if err != nil {
		return "", fmt.Errorf("plan is %.80q: %w", q.Plan, err)
	}
	if err := p.Check(); err != nil {
		return "", err
	}
	if err := question.CheckPlan(p.Plan, a.Columns, a.Rows*b.Columns, question.MostSteps); err != nil {
		return "", err
	}
	z := p.Device()
	if err := fractions(p.Plan, z, cmp.Or(p.Output, z.C), q, a, b, c, d, cancelled); err != nil {
		return "", err
	}
	return write(map[string]string{"device": z.Name, "plan": p.String()})
}

// scaled computes the product of matrices that are quantised first.
func scaled(q product, a, b, d *Matrix, cancelled func() bool) (string, error) {
	left, right, k, err := question.QuantisedProduct{Recipe: q.Recipe, Kernel: q.Kernel, Device: q.Device, Out: cmp.Or(q.Out, tcore.Binary32.Name), Promote: q.Promote}.Find()
	if err != nil {
		return "", err
	}
	if k.Machine.Device.Core == nil && q.Promote != 0 {
		return "", fmt.Errorf("promote is %d, and recipe %.40q makes integers, whose sums are exact: want 0", q.Promote, q.Recipe)
	}
	if err := q.check(a, b, nil, d); err != nil {
		return "", err
	}
	if err := storable(d, k.Machine.Output); err != nil {
		return "", err
	}
	x, err := a.whole("a")
	if err != nil {
		return "", err
	}
	y, err := b.whole("b")
	if err != nil {
		return "", err
	}
	codesA, err := left.Quantise(x, quant.Left)
	if err != nil {
		return "", err
	}
	codesB, err := right.Quantise(y, quant.Right)
	if err != nil {
		return "", err
	}
	if cancelled() {
		return "", errCancelled
	}
	z, err := k.Multiply(codesA, codesB)
	if err != nil {
		return "", err
	}
	d.store(0, z)
	return write(map[string]string{"device": cmp.Or(k.Machine.Device.Name, "int32"), "kernel": k.Name})
}

// storable returns an error unless d can hold numbers of a format.
func storable(d *Matrix, out tcore.Format) error {
	if f := d.Format; f != tcore.Binary32.Name && f != tcore.Binary64.Name && f != out.Name {
		return fmt.Errorf("d is of %s, want one of binary32, binary64 or %s", f, out.Name)
	}
	return nil
}

// fit returns an error unless a and b are matrices whose product is defined.
func fit(a, b *Matrix) error {
	if err := a.check("a"); err != nil {
		return err
	}
	if err := b.check("b"); err != nil {
		return err
	}
	if a.Columns != b.Rows {
		return fmt.Errorf("a is %d × %d and b is %d × %d: they do not fit", a.Rows, a.Columns, b.Rows, b.Columns)
	}
	return nil
}

// shaped returns an error unless m is a matrix of that shape.
func shaped(name string, m *Matrix, rows, cols int) error {
	if err := m.check(name); err != nil {
		return err
	}
	if m.Rows != rows || m.Columns != cols {
		return fmt.Errorf("%s is %d × %d, want %d × %d", name, m.Rows, m.Columns, rows, cols)
	}
	return nil
}

// fractions computes alpha AB + beta C, of factors that a device takes and with
// results of the format out.
func fractions(m tcore.GEMMer, device tcore.Device, out tcore.Format, q product, a, b, c, d *Matrix, cancelled func() bool) error {
	if err := storable(d, out); err != nil {
		return err
	}
	x, tA, err := a.factor("a", device.A, device.Convert)
	if err != nil {
		return err
	}
	y, tB, err := b.factor("b", device.B, device.Convert)
	if err != nil {
		return err
	}
	direct, t, ok := d.view()
	ok = ok && t == blas.NoTrans
	var added blas32.General
	if c != nil {
		numbers, err := c.numbers("c")
		if err != nil {
			return err
		}
		if added, _, err = question.RoundMatrix("c", numbers, tcore.Binary32, tcore.ToNearestEven); err != nil {
			return err
		}
	}
	return bands(a.Rows, a.Columns*b.Columns, cancelled, func(lo, hi int) error {
		z := matrix.New(hi-lo, b.Columns)
		if ok {
			z = matrix.Rows(direct, lo, hi)
		}
		s := added
		if c != nil {
			s = matrix.Rows(added, lo, hi)
		}
		part := func() blas32.General {
			if tA == blas.NoTrans {
				return matrix.Rows(x, lo, hi)
			}
			return matrix.Columns(x, lo, hi)
		}()
		m.GEMM(tA, tB, float32(q.Alpha), part, y, float32(q.Beta), s, z)
		if !ok {
			d.store(lo, z)
		}
		return nil
	})
}

// integers computes the codes of C + AB modulo 2^32.
func integers(d tcore.Device, a, b, c, z *Matrix, cancelled func() bool) error {
	x, err := a.numbers("a")
	if err != nil {
		return err
	}
	y, err := b.numbers("b")
	if err != nil {
		return err
	}
	k, n := a.Columns, b.Columns
	columns := make([]uint64, n*k)
	for i := range k {
		for j := range n {
			columns[j*k+i] = d.B.Encode(y.Data[i*n+j], tcore.ToNearestEven)
		}
	}
	return bands(a.Rows, k*n, cancelled, func(lo, hi int) error {
		rows, sums := make([]uint64, (hi-lo)*k), make([]uint64, (hi-lo)*n)
		for i := range rows {
			rows[i] = d.A.Encode(x.Data[lo*k+i], tcore.ToNearestEven)
		}
		for i := range sums {
			if c != nil {
				sums[i] = tcore.INT32.Encode(c.decode(c.code(lo+i/n, i%n)), tcore.ToNearestEven)
			}
		}
		d.GridCodes(k, rows, columns, sums, sums)
		for i, s := range sums {
			z.set(lo+i/n, i%n, s)
		}
		return nil
	})
}

// Bands of rows take about so long, so that a call ends soon after it is
// cancelled. The first has so many products: nobody waits for the smallest.
const bandTime = 100 * time.Millisecond

var bandProducts = 1 << 24 // tests make it small

// bands calls compute for bands of so many rows, of so many products each,
// until all are computed or the call is cancelled.
func bands(rows, products int, cancelled func() bool, compute func(lo, hi int) error) error {
	band := max(1, bandProducts/products)
	for lo := 0; lo < rows; {
		if cancelled() {
			return errCancelled
		}
		hi, start := min(rows, lo+band), time.Now()
		if err := compute(lo, hi); err != nil {
			return err
		}
		switch t := time.Since(start); {
		case t < bandTime/2:
			band *= 4
		case t > 2*bandTime:
			band = max(1, band/2)
		}
		lo = hi
	}
	return nil
}
