package bound

import (
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// Emulate returns the outputs of the problem for matrices a and b, row by row,
// as the machine computes them, rounding by rounding. They are meant for the
// field Run of the problem. It emulates machines of FMAs, the paper's with one
// format for all sums, those of [tcore.Fused] and those of AMD and Intel, with
// K in one part and summation in sequence.
//
// The error names an element that is not finite, or says which machine it
// cannot emulate. It panics if the shape of a or b is not that of the problem,
// or if the problem is invalid.
func Emulate(k Problem, a, b blas32.General) (iter.Seq[Entry], error) {
	k.check()
	checkShape("a", a, k.M, k.K)
	checkShape("b", b, k.K, k.N)
	if err := checkFinite("a", a.Rows, a.Cols, a.Stride, a.Data); err != nil {
		return nil, err
	}
	if err := checkFinite("b", b.Rows, b.Cols, b.Stride, b.Data); err != nil {
		return nil, err
	}
	if k.Recipes != nil {
		return nil, fmt.Errorf("bound: recipe %v: no emulation of single sums of quantised factors", k.Recipes)
	}
	run, ok := k.runner()
	if !ok || k.parts() > 1 || k.planned != nil && (k.merging() > 0 || k.shape().short) || k.Order != tcore.InSequence || k.stochastic() {
		return nil, fmt.Errorf("bound: %s in %d parts, %v: no emulation of single sums", k.Device.Name, k.parts(), k.Order)
	}
	if noTrace(k) == "" {
		return k.traced(a, b)
	}
	var losses func() *truncation.Losses
	if first, ok := k.firstStage(); ok {
		losses = sync.OnceValue(func() *truncation.Losses { return first.lossesOf(a, b) })
	}
	return func(yield func(Entry) bool) {
		k.elements(a, b, func(x, y []float64) bool {
			o := run(x, y)
			o.X, o.Y, o.Losses, o.known = x, y, losses, new(runErrors)
			size := 0.0
			for l := range x {
				size += math.Abs(x[l] * y[l])
			}
			o.Abs = size
			return yield(o)
		})
	}, nil
}

// elements calls f with the factors of every output, row by row, until f
// returns false.
func (k Problem) elements(a, b blas32.General, f func(x, y []float64) bool) {
	columns := make([][]float64, k.N)
	for j := range columns {
		columns[j] = k.convert(k.Device.B, b.Data[j:], b.Stride)
	}
	for i := range k.M {
		x := k.convert(k.Device.A, a.Data[i*a.Stride:], 1)
		for _, y := range columns {
			if !f(x, y) {
				return
			}
		}
	}
}

// traced returns the outputs, with their traces, of a device that aligns all
// terms of a block.
func (k Problem) traced(a, b blas32.General) (iter.Seq[Entry], error) {
	run, err := k.Device.BlockSums(a, b)
	if err != nil {
		return nil, fmt.Errorf("bound: %w", err)
	}
	losses := sync.OnceValue(func() *truncation.Losses { return k.lossesOf(a, b) })
	return func(yield func(Entry) bool) {
		blocks, stop := iter.Pull(run)
		defer stop()
		o := Entry{Sums: make([]float64, k.Blocks()), Exponents: make([]int, k.Blocks()), Losses: losses}
		k.elements(a, b, func(x, y []float64) bool {
			o.X, o.Y, o.Abs = x, y, 0
			o.Blocks, _ = blocks()
			for i, z := range o.Blocks {
				o.Sums[i], o.Exponents[i] = z.Result, z.Exponent
				o.Abs += z.Size
			}
			return yield(o)
		})
	}, nil
}

// runner returns a function that computes one output from factors that are
// numbers of the device's formats.
func (k Problem) runner() (func(x, y []float64) Entry, bool) {
	switch c := k.Device.Core.(type) {
	case tcore.Chain:
		return k.chain(k.Device.C), true
	case tcore.TensorCore:
		return k.chain(c.Accumulate), len(k.roundings()) == 1
	case tcore.Fused:
		return k.fused, true
	case tcore.ExactSum, tcore.Pairwise, tcore.EvenOdd, tcore.OddFirst, tcore.FusedPairs:
		return k.blockRounded, true
	case tcore.TwoStage:
		return k.staged, true
	}
	return nil, false
}

// chain returns the runner of a chain of FMAs in a format. The first sum, 0 +
// xy, is left out if the product is exact, because it is not rounded.
func (k Problem) chain(f tcore.Format) func(x, y []float64) Entry {
	sums, first := make([]float64, k.K), 0
	if k.exactProducts() {
		first = 1
	}
	if f == tcore.Binary32 && first == 1 { // as the processor computes it
		return func(x, y []float64) Entry {
			s := float32(0)
			for l := range x {
				s = float32(x[l]*y[l]) + s
				sums[l] = float64(s)
			}
			return Entry{Sums: sums[first:]}
		}
	}
	return func(x, y []float64) Entry {
		s := 0.0
		for l := range x {
			s = f.FMA(x[l], y[l], s, tcore.ToNearestEven)
			sums[l] = s
		}
		return Entry{Sums: sums[first:]}
	}
}

// fused is the runner of a device that aligns all terms of a block. It reads
// the trace of the output.
func (k Problem) fused(x, y []float64) Entry {
	var o Entry
	for _, b := range k.Device.Trace(x, y, 0).Blocks {
		o.Sums = append(o.Sums, b.Result)
		o.Exponents = append(o.Exponents, b.Exponent)
	}
	return o
}

// blockRounded is the runner of a device that rounds the sum of each block, or
// every sum within a block, to nearest.
func (k Problem) blockRounded(x, y []float64) Entry {
	s := k.Device.RoundedSums(x, y)
	return Entry{Sums: s.Sums, Flushed: s.Flushed}
}

// staged is the runner of a device of two stages, which first aligns the
// products and then their sum.
func (k Problem) staged(x, y []float64) Entry {
	o := Entry{Stages: k.Device.StageSums(x, y)}
	parts := k.Device.Core.(tcore.TwoStage).Parts
	for _, s := range o.Stages {
		o.Sums = append(o.Sums, s.Result)
		for _, p := range s.Parts[:parts] {
			o.Exponents = append(o.Exponents, p.Exponent)
		}
	}
	return o
}

// convert returns K numbers of x, stride apart, rounded to f.
func (k Problem) convert(f tcore.Format, x []float32, stride int) []float64 {
	z := make([]float64, k.K)
	for l := range z {
		z[l] = float64(x[l*stride])
	}
	f.RoundSlice(z, z, k.Device.Convert)
	return z
}

func checkShape(name string, m blas32.General, rows, cols int) {
	if m.Rows != rows || m.Cols != cols || m.Stride < cols || len(m.Data) < cols || rows-1 > (len(m.Data)-cols)/m.Stride {
		panic(fmt.Sprintf("bound: %s is %d × %d with %d elements, want %d × %d", name, m.Rows, m.Cols, len(m.Data), rows, cols))
	}
}

// checkFinite returns an error that names the first element of a matrix that is
// not finite.
func checkFinite[T float32 | float64](name string, rows, cols, stride int, data []T) error {
	for i := range rows {
		for j, x := range data[i*stride : i*stride+cols] {
			if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
				return fmt.Errorf("bound: %s[%d, %d] = %v, want a finite number", name, i, j, x)
			}
		}
	}
	return nil
}
