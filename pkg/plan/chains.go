package plan

import (
	"runtime"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// chains returns the sums of an order on a device of FMAs for a single row of A
// or a single column of B. All accumulators of all runs are continued at once
// while the larger matrix is read a single time, from left to right: runs add
// their products in ascending order. It returns false for other products, and
// if parts have scales.
func (f *factors) chains(o Order) (sum []float32, ok bool) {
	d := leaf(o).Device
	_, scaled := Plan{Order: o}.Scaled()
	if scaled || f.a.Rows > 1 && f.b.Cols > 1 || !multipliesExactly(d) {
		return nil, false
	}
	l := newLeaves(o, f.a.Cols)
	n := f.a.Rows * f.b.Cols
	sum = make([]float32, n)
	const few, memory = 1 << 6, 1 << 20 // elements
	width := min(max(few, memory/max(1, l.count)), max(few, ceil(n, runtime.GOMAXPROCS(0))))
	parallel.Each(ceil(n, width), func(part int) {
		lo, hi := part*width, min((part+1)*width, n)
		memory, sums := newSums(l.count * (hi - lo)) // of arbitrary values
		defer sumsPool.Put(memory)
		if f.a.Rows == 1 {
			l.addRows(d, matrix.Row(f.a, 0), matrix.Columns(f.b, lo, hi), sums)
		} else {
			l.addColumns(d, matrix.Rows(f.a, lo, hi), f.b, sums)
		}
		copy(sum[lo:hi], l.merge(o, sums, hi-lo))
	})
	return sum, true
}

// sumsPool recycles the memory of sums: new memory would cost page faults.
var sumsPool sync.Pool

// newSums returns n elements, and the memory that they are in.
func newSums(n int) (memory *[]float32, sums []float32) {
	memory, _ = sumsPool.Get().(*[]float32)
	if memory == nil || cap(*memory) < n {
		memory = new([]float32)
		*memory = make([]float32, n)
	}
	return memory, (*memory)[:n]
}

// multipliesExactly reports whether the device adds by FMAs in binary32 and
// all products of numbers of A and B are in binary32. Then fl(xy) + c rounds
// once.
func multipliesExactly(d tcore.Device) bool {
	chain, ok := d.Core.(tcore.Chain)
	within := func(f tcore.Format) bool { return f.Sign == tcore.Signed && f.Subnormals == tcore.Kept }
	f := tcore.Binary32
	return ok && !chain.PassesNaN && d.C.Equal(f) && d.Convert == tcore.ToNearestEven && within(d.A) && within(d.B) &&
		d.A.Precision+d.B.Precision <= f.Precision && d.A.Emax+d.B.Emax+1 <= f.Emax &&
		d.A.Emin+d.B.Emin-d.A.Precision-d.B.Precision+2 >= f.Emin-f.Precision+1
}

// leaves are the runs of an order that are not empty, by numbers.
type leaves struct {
	k     int
	of    []int32 // the run of each product, -1 if it is lost
	count int
}

func newLeaves(o Order, k int) *leaves {
	l := &leaves{k: k, of: make([]int32, k)}
	for i := range l.of {
		l.of[i] = -1
	}
	of := &computation{elements: 0}
	of.run = func(_ Run, k []int) []float32 {
		for _, i := range k {
			l.of[i] = int32(l.count)
		}
		l.count++
		return nil
	}
	of.evaluate(o, positions(k))
	return l
}

// merge returns the sums of n elements in an order, given those of its runs,
// one after the other.
func (l *leaves) merge(o Order, sums []float32, n int) []float32 {
	of := &computation{elements: n}
	of.run = func(Run, []int) []float32 {
		sum := sums[:n:n]
		sums = sums[n:]
		return sum
	}
	return of.evaluate(o, positions(l.k))
}

// addRows stores the sums of the runs: of the products of a row of A and rows
// of B.
func (l *leaves) addRows(d tcore.Device, a []float32, b blas32.General, sums []float32) {
	x, y := make([]float32, len(a)), make([]float32, b.Cols)
	d.A.RoundSlice32(x, a)
	begun := make([]bool, l.count)
	for k, run := range l.of {
		if run < 0 {
			continue
		}
		d.B.RoundSlice32(y, matrix.Row(b, k))
		sum, v := sums[int(run)*b.Cols:][:len(y)], x[k]
		if !begun[run] {
			begun[run] = true
			for j, w := range y {
				sum[j] = 0 + float32(v*w)
			}
			continue
		}
		for j, w := range y {
			sum[j] += float32(v * w)
		}
	}
}

// addColumns stores the sums of the runs: of the products of rows of A and a
// column of B.
func (l *leaves) addColumns(d tcore.Device, a, b blas32.General, sums []float32) {
	const few = 8 // rows at once: their sums do not wait for each other
	column := make([]float32, b.Rows)
	for k := range column {
		column[k] = b.Data[k*b.Stride]
	}
	d.B.RoundSlice32(column, column)
	clear(sums)
	var x [few][]float32
	for r := range x {
		x[r] = make([]float32, a.Cols)
	}
	i := 0
	for ; i+few <= a.Rows; i += few {
		for r := range x {
			d.A.RoundSlice32(x[r], matrix.Row(a, i+r))
		}
		l.addEight(&x, column, sums[i:], a.Rows)
	}
	for ; i < a.Rows; i++ {
		d.A.RoundSlice32(x[0], matrix.Row(a, i))
		for k, run := range l.of {
			if run >= 0 {
				sums[int(run)*a.Rows+i] += float32(x[0][k] * column[k])
			}
		}
	}
}

// addEight adds the products of eight rows, whose sums lie side by side.
func (l *leaves) addEight(x *[8][]float32, y, sums []float32, stride int) {
	n := len(l.of)
	y = y[:n]
	x0, x1, x2, x3 := x[0][:n], x[1][:n], x[2][:n], x[3][:n]
	x4, x5, x6, x7 := x[4][:n], x[5][:n], x[6][:n], x[7][:n]
	for k, run := range l.of {
		if run < 0 {
			continue
		}
		v, z := y[k], (*[8]float32)(sums[int(run)*stride:])
		z[0] += float32(x0[k] * v)
		z[1] += float32(x1[k] * v)
		z[2] += float32(x2[k] * v)
		z[3] += float32(x3[k] * v)
		z[4] += float32(x4[k] * v)
		z[5] += float32(x5[k] * v)
		z[6] += float32(x6[k] * v)
		z[7] += float32(x7[k] * v)
	}
}
