package plan

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Plan is how a library computes a matrix product, bit for bit:
//
//	D = fl_Output(fl(fl(alpha × S) + fl(beta × C)))
//
// where S is the sum of the K products of an element in the Order. Everything
// but the sums of a Run and the last rounding is binary32, rounded to nearest
// even. If beta = 0, C is not read, and D = fl_Output(fl(alpha × S)): the scale
// of FP8 factors is alpha.
type Plan struct {
	Name string // for reports only
	Doc  string // which library uses it, and where that is known from

	Order  Order
	Output tcore.Format // of D; the zero value means that of the device

	// FusedBeta computes fl_Output(fma(alpha, S, fl(beta × C))) instead, as
	// CUTLASS's epilogue does.
	FusedBeta bool
}

// Check returns an error that names the first field of the plan that is not
// allowed.
func (p Plan) Check() error {
	if err := checkOrder(p.Order, "Order", false); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if f := p.Output; f != (tcore.Format{}) && f.Precision > tcore.Binary32.Precision {
		return fmt.Errorf("plan: Output = %s, want binary32 or less", f.Name)
	}
	if err := checkFormat(p.Output); err != nil {
		return fmt.Errorf("plan: Output: %w", err)
	}
	return nil
}

// Device returns the device of the runs.
func (p Plan) Device() tcore.Device { return leaf(p.Order).Device }

// Scaled reports whether the plan needs scales: whether parts are merged times
// theirs. Length is the number of products that one covers.
func (p Plan) Scaled() (length int, scaled bool) {
	for o := p.Order; ; {
		parts, ok := o.(Parts)
		if !ok {
			return 0, false
		}
		if parts.Merge.Scale != Unscaled {
			return parts.Cut.Length, true
		}
		o = parts.Each
	}
}

// unscaled panics if Check returns an error or the plan is one for another
// call, with scales.
func (p Plan) unscaled(call, other string) {
	p.mustCheck()
	if _, scaled := p.Scaled(); scaled {
		panic(fmt.Sprintf("plan: %s: plan %q has scales, want %s", call, p.Name, other))
	}
}

// scaled returns the products of a scale. It panics if Check returns an error
// or the plan is one for another call, without scales.
func (p Plan) scaled(call, other string) (length int) {
	p.mustCheck()
	length, scaled := p.Scaled()
	if !scaled {
		panic(fmt.Sprintf("plan: %s: plan %q has no scales, want %s", call, p.Name, other))
	}
	return length
}

func (p Plan) mustCheck() {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
}

// output returns the format of D.
func (p Plan) output() tcore.Format {
	if p.Output == (tcore.Format{}) {
		return p.Device().C
	}
	return p.Output
}

// Scales are the scales of parts: A has a row for each row of A, B a column for
// each column of B, and both have an element for each part of K.
type Scales struct{ A, B blas32.General }

// GEMM stores D in d. op(A) is a if tA is blas.NoTrans, its transpose if tA is
// blas.Trans, and the same for op(B). d may be c and must not overlap the
// others. It panics if a shape does not fit, a matrix is empty, tA or tB is
// another value, [Plan.Check] returns an error, or the plan is scaled.
func (p Plan) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	p.unscaled("GEMM", "GEMMScaled")
	p.gemm("GEMM", alpha, transpose("a", tA, a), transpose("b", tB, b), Scales{}, beta, c, d)
}

// GEMMScaled is [Plan.GEMM] for a plan whose parts have scales, by which the
// elements of A and B are divided before. It panics as GEMM does, or if the
// shapes of the scales do not fit.
func (p Plan) GEMMScaled(alpha float32, a, b blas32.General, s Scales, beta float32, c, d blas32.General) {
	const call = "GEMMScaled"
	length := p.scaled(call, "GEMM")
	matrix.CheckProduct("plan", call, a, b)
	parts := ceil(a.Cols, length)
	checkShape(call, "scales of A", a.Rows, parts, s.A)
	checkShape(call, "scales of B", parts, b.Cols, s.B)
	p.gemm(call, alpha, a, b, s, beta, c, d)
}

func (p Plan) gemm(call string, alpha float32, a, b blas32.General, s Scales, beta float32, c, d blas32.General) {
	matrix.CheckProduct("plan", call, a, b)
	checkShape(call, "d", a.Rows, b.Cols, d)
	if beta != 0 {
		checkShape(call, "c", a.Rows, b.Cols, c)
	}
	f := &factors{a, b}
	of := &computation{
		elements: a.Rows * b.Cols,
		scale: func(element, part int) (float32, float32) {
			return s.A.Data[element/b.Cols*s.A.Stride+part], s.B.Data[part*s.B.Stride+element%b.Cols]
		},
	}
	of.run = func(r Run, k []int) []float32 {
		sum := of.vector()
		f.run(r, k, sum)
		return sum
	}
	whole := cut(p.Order, positions(a.Cols))
	sum, ok := f.chains(whole)
	if !ok {
		sum = of.evaluate(whole)
	}
	p.store(sum, alpha, beta, c, d)
}

// store stores D in d, row by row, given the sums.
func (p Plan) store(sum []float32, alpha, beta float32, c, d blas32.General) {
	output := p.output()
	parallel.Ranges(d.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, sums := matrix.Row(d, i), sum[i*d.Cols:(i+1)*d.Cols]
			if alpha != 1 || beta != 0 {
				for j, v := range sums {
					addend := float32(0)
					if beta != 0 {
						addend = c.Data[i*c.Stride+j]
					}
					sums[j] = p.finish(alpha, v, beta, addend)
				}
			}
			output.RoundSlice32(row, sums)
		}
	})
}

// finish returns an element of D before it is rounded to the Output.
func (p Plan) finish(alpha, sum, beta, c float32) float32 {
	switch {
	case beta == 0:
		return float32(alpha * sum)
	case p.FusedBeta:
		return fma.Float32(alpha, sum, float32(beta*c))
	}
	return float32(alpha*sum) + float32(beta*c)
}

// Dot returns an element of D with alpha = 1 and beta = 0, computed by
// [tcore.Device.Dot]. It panics if the lengths differ, there are no products,
// [Plan.Check] returns an error, or the plan is scaled.
func (p Plan) Dot(x, y []float64) float64 {
	p.unscaled("Dot", "DotScaled")
	return p.dot("Dot", x, y, nil, nil)
}

// DotScaled is Dot for a plan whose parts have scales, one of x and one of y
// each. It panics as Dot does, or if there is another number of scales.
func (p Plan) DotScaled(x, y []float64, scaleX, scaleY []float32) float64 {
	length := p.scaled("DotScaled", "Dot")
	for _, s := range [][]float32{scaleX, scaleY} {
		if len(s) != ceil(len(x), length) {
			panic(fmt.Sprintf("plan: DotScaled: %d scales, want %d for %d products", len(s), ceil(len(x), length), len(x)))
		}
	}
	return p.dot("DotScaled", x, y, scaleX, scaleY)
}

func (p Plan) dot(call string, x, y []float64, scaleX, scaleY []float32) float64 {
	if len(x) != len(y) || len(x) == 0 {
		panic(fmt.Sprintf("plan: %s: %d and %d factors, want as many of both, at least one", call, len(x), len(y)))
	}
	of := &computation{
		elements: 1,
		scale:    func(_, part int) (float32, float32) { return scaleX[part], scaleY[part] },
	}
	of.run = func(r Run, k []int) []float32 {
		steps, sum := r.steps(k), of.vector()
		sum[0] = float32(r.Device.Dot(pick(x, steps), pick(y, steps), 0))
		return sum
	}
	sum := of.evaluate(cut(p.Order, positions(len(x))))
	return p.output().Round(float64(sum[0]), tcore.ToNearestEven)
}

// pick returns the elements of x at these positions, where that of a negative
// one is 0.
func pick(x []float64, steps []int) []float64 {
	z := make([]float64, len(steps))
	for i, k := range steps {
		if k != padding {
			z[i] = x[k]
		}
	}
	return z
}

func positions(k int) []int {
	p := make([]int, k)
	for i := range p {
		p[i] = i
	}
	return p
}

func checkShape(call, name string, rows, cols int, m blas32.General) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("plan: %s: %s is %d × %d, want %d × %d", call, name, m.Rows, m.Cols, rows, cols))
	}
	matrix.Check("plan", call, name, m)
}

// transpose returns op(m).
func transpose(name string, t blas.Transpose, m blas32.General) blas32.General {
	matrix.Check("plan", "GEMM", name, m)
	switch t {
	case blas.NoTrans:
		return m
	case blas.Trans:
		return matrix.Transpose(m)
	}
	panic(fmt.Sprintf("plan: GEMM: transpose of %s = %c, want NoTrans or Trans", name, t))
}
