package plan

import (
	"runtime"
	"sync"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/vector"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// features are the vector instructions that sums use. Results do not depend on
// them.
var features = vector.Detect()

// chains returns the sums of an order on a device of FMAs in binary32 for a
// single row of A or a single column of B. They are computed in strips, whose
// sums lie side by side: a run adds multiples of rows to them. It returns false
// for other products and devices, and if parts have scales.
func (f *factors) chains(p part) (sum []float32, ok bool) {
	d := leaf(p.order).Device
	_, scaled := Plan{Order: p.order}.Scaled()
	if scaled || f.a.Rows > 1 && f.b.Cols > 1 || !addsByFMA(d) {
		return nil, false
	}
	newStrip := f.stripOfColumns
	width := 1 << 10
	if f.b.Cols == 1 {
		newStrip = f.stripOfRows
		const memory = 1 << 20 // elements of A, all of which are kept
		width = min(max(1<<6, memory/f.a.Cols), width)
	}
	n := f.a.Rows * f.b.Cols
	width = min(width, ceil(n, runtime.GOMAXPROCS(0)))
	sum = make([]float32, n)
	parallel.Each(ceil(n, width), func(i int) {
		lo, hi := i*width, min((i+1)*width, n)
		s := newStrip(d, lo, hi)
		defer s.release()
		of := &computation{elements: inVectors(hi - lo)}
		of.run = func(_ Run, k []int) []float32 {
			sum := of.zeros()
			s.add(sum, k)
			return sum
		}
		copy(sum[lo:hi], of.evaluate(p))
	})
	return sum, true
}

// addsByFMA reports whether the device adds by FMAs in binary32 numbers that
// are in binary32.
func addsByFMA(d tcore.Device) bool {
	chain, ok := d.Core.(tcore.Chain)
	c := tcore.Binary32
	within := func(f tcore.Format) bool {
		return f.Sign == tcore.Signed && f.Subnormals == tcore.Kept && f.Precision <= c.Precision && f.Emax <= c.Emax &&
			f.Emin-f.Precision >= c.Emin-c.Precision
	}
	return ok && chain.NaN == tcore.OneNaN && d.C.Equal(c) && d.Convert == tcore.ToNearestEven && within(d.A) && within(d.B)
}

// multipliesExactly reports whether all products of numbers of A and B are in
// binary32, too. Then fl(xy) + c rounds once.
func multipliesExactly(d tcore.Device) bool {
	c := tcore.Binary32
	return d.A.Precision+d.B.Precision <= c.Precision && d.A.Emax+d.B.Emax+1 <= c.Emax &&
		d.A.Emin+d.B.Emin-d.A.Precision-d.B.Precision+2 >= c.Emin-c.Precision+1
}

// A strip is what some elements of D are made of.
type strip struct {
	add     func(sum []float32, k []int) // continues the sums by the products in k
	release func()
}

// inVectors returns n, rounded up to whole vectors, which strips consist of.
func inVectors(n int) int { return ceil(n, 8) * 8 }

// stripOfColumns returns the strip of columns of B and the only row of A. The
// rows of B are rounded a few at a time, when they are added.
func (f *factors) stripOfColumns(d tcore.Device, lo, hi int) strip {
	const few = 8
	columns, exact := matrix.Columns(f.b, lo, hi), multipliesExactly(d)
	x := make([]float32, f.a.Cols)
	d.A.RoundSlice32(x, matrix.Row(f.a, 0))
	factors, rows, all := make([]float32, few), matrix.New(few, inVectors(hi-lo)), positions(few)
	add := func(sum []float32, k []int) {
		for ; len(k) > 0; k = k[min(few, len(k)):] {
			some := all[:min(few, len(k))]
			for r := range some {
				factors[r] = x[k[r]]
				d.B.RoundSlice32(matrix.Row(rows, r)[:hi-lo], matrix.Row(columns, k[r]))
			}
			addRows(exact, sum, factors, rows, some)
		}
	}
	return strip{add, func() {}}
}

// stripOfRows returns the strip of rows of A, which are rounded and transposed,
// and the only column of B.
func (f *factors) stripOfRows(d tcore.Device, lo, hi int) strip {
	exact := multipliesExactly(d)
	y := make([]float32, f.b.Rows)
	for k := range y {
		y[k] = f.b.Data[k*f.b.Stride]
	}
	d.B.RoundSlice32(y, y)
	n := inVectors(hi - lo)
	memory, data := newElements(f.a.Cols * n)
	columns := blas32.General{Rows: f.a.Cols, Cols: n, Stride: n, Data: data}
	transposeRounded(columns, d.A, matrix.Rows(f.a, lo, hi))
	return strip{
		func(sum []float32, k []int) { addRows(exact, sum, y, columns, k) },
		func() { elements.Put(memory) },
	}
}

// transposeRounded stores in z the transpose of m, rounded to a format. Columns
// of z that m has no rows for are zero.
func transposeRounded(z blas32.General, f tcore.Format, m blas32.General) {
	const length = 1 << 7 // columns of m, whose elements fit into a cache
	for lo := 0; lo < m.Cols; lo += length {
		hi := min(lo+length, m.Cols)
		part := matrix.Rows(z, lo, hi)
		part.Data = part.Data[:part.Rows*part.Stride]
		transposeStrip(part, matrix.Columns(m, lo, hi))
		f.RoundSlice32(part.Data, part.Data)
	}
}

// transposeStrip stores in z the transpose of m. Columns of z that m has no
// rows for are zero.
func transposeStrip(z, m blas32.General) {
	const few = 8
	none := make([]float32, m.Cols)
	for i := 0; i < z.Cols; i += few {
		k := 0
		if i+few <= m.Rows {
			k = vectorTranspose(z.Data[i:], z.Stride, m.Data[i*m.Stride:], m.Stride, m.Cols)
		}
		var x [few][]float32
		for r := range x {
			x[r] = none
			if i+r < m.Rows {
				x[r] = matrix.Row(m, i+r)[:len(none)]
			}
		}
		for ; k < m.Cols; k++ {
			*(*[few]float32)(z.Data[k*z.Stride+i:]) = [few]float32{x[0][k], x[1][k], x[2][k], x[3][k], x[4][k], x[5][k], x[6][k], x[7][k]}
		}
	}
}

// elements recycles memory: new memory would cost page faults.
var elements sync.Pool

// newElements returns n elements of arbitrary values, and the memory that they
// are in.
func newElements(n int) (memory *[]float32, data []float32) {
	memory, _ = elements.Get().(*[]float32)
	if memory == nil || cap(*memory) < n {
		memory = new([]float32)
		*memory = make([]float32, n)
	}
	return memory, (*memory)[:n]
}

// addRows adds to sums the rows of m in k times their factors, one after the
// other, each by FMAs. exact says that the products are in binary32. There are
// as many sums as m has columns, whole vectors of them.
func addRows(exact bool, sum, factors []float32, m blas32.General, k []int) {
	if vectorAddRows(sum, factors, m, k) {
		return
	}
	for _, i := range k {
		v, row := factors[i], matrix.Row(m, i)[:len(sum)]
		if exact {
			for j, w := range row {
				sum[j] += float32(v * w)
			}
			continue
		}
		for j, w := range row {
			sum[j] = fma.Float32(v, w, sum[j])
		}
	}
}
