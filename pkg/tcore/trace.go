package tcore

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
)

// Trace records one dot product: every block with its terms, the parts of each
// term that were kept and cut off, and the exact result for comparison. Parts
// are those of K that a [Machine] adds in binary32, none if there is one.
type Trace struct {
	Device string
	Blocks []TraceBlock
	Parts  []TracePart
	Result float64    // d, a number of C or of the Output of a machine
	Exact  *big.Float // c + Σ xᵢyᵢ of the numbers of A, B and C; nil if not finite
	Error  float64    // Result - Exact, rounded once; NaN if not finite
}

// TraceBlock is one block. Terms contains the products, or their groups, and c
// as its last element. On a [Fused] core, Exponent is E*, the exponent to which
// all terms are aligned, and Unit is the weight 2^(E*-F) of the last bit kept.
// On a [TwoStage] core, Exponent is that of the second stage and Unit is 0.
// Both are 0 where nothing is aligned.
type TraceBlock struct {
	Start    int // index of the first product
	Exponent int
	Unit     float64
	Terms    []TraceTerm
	Sum      float64 // sum of the kept parts, in binary64
	Result   float64 // the running sum: c of the next block
}

// TraceTerm is one term: Value = Kept + Lost.
type TraceTerm struct {
	Index    int     // of the product, or of the first product of a group; -1 for c
	X, Y     float64 // factors of the product; 0 for a group and for c
	Value    float64
	Exponent int // E, not normalised
	Kept     float64
	Lost     float64 // cut off by the alignment
}

// TracePart is the addition of the sum of one part of K in binary32.
type TracePart struct {
	Start  int     // index of the first product
	Sum    float64 // of the part, rounded to binary32
	Result float64 // the sum of this part and those before it
	Lost   float64 // what the addition rounded away: exact - Result
}

// Trace computes Dot and records every block. Exponents and losses are those of
// a [Fused] core or, for products only, of a [TwoStage] core; other cores keep
// every term.
// It panics if the lengths differ.
func (d Device) Trace(x, y []float64, c float64) Trace {
	d.check("Trace", len(x), len(y))
	return d.trace(d.convert(d.A, x), d.convert(d.B, y), nil, nil, d.C.Round(c, ToNearestEven))
}

// TraceScaled computes DotScaled and records every block, as [Device.Trace]
// does. The value of a term is the product of its factors and their scales, and
// so it is in Exact. It panics as DotScaled does.
func (d Device) TraceScaled(x, y, scaleX, scaleY []uint64, c uint64) Trace {
	d.checkScaled("TraceScaled", x, y, scaleX, scaleY)
	return d.trace(d.decodeAll(d.A, x), d.decodeAll(d.B, y), d.decodeAll(d.Scale, scaleX), d.decodeAll(d.Scale, scaleY), d.decode(d.C, c))
}

func (d *Device) trace(x, y, scaleX, scaleY []float64, c float64) Trace {
	t := Trace{Device: d.Name}
	t.Result = d.chain(x, y, scaleX, scaleY, c, &t)
	t.compare(exactDot(scaled(x, scaleX, d.ScaleBlock), scaled(y, scaleY, d.ScaleBlock), c))
	return t
}

// compare records the exact result and the error.
func (t *Trace) compare(exact *big.Float) {
	t.Exact, t.Error = exact, math.NaN()
	if exact != nil && finite(t.Result) {
		diff := new(big.Float).SetPrec(exact.Prec()).SetFloat64(t.Result)
		t.Error, _ = diff.Sub(diff, exact).Float64()
	}
}

// Trace computes Dot, of index 0, and records every block and, if K is split or
// sums are promoted, every addition of a part. It panics as Dot does, and if
// software chooses the order of sums or rounds them stochastically, in which
// case there are no blocks.
func (m Machine) Trace(x, y []float64) Trace {
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("tcore: Trace: %v", err))
	}
	if m.ordered() {
		panic(fmt.Sprintf("tcore: Trace: Order = %v and Stochastic.Bits = %d, want sums in sequence to nearest", m.Order, m.Stochastic.Bits))
	}
	m.Device.check("Trace", len(x), len(y))
	a, b := m.Device.convert(m.Device.A, x), m.Device.convert(m.Device.B, y)
	t := Trace{Device: m.Device.Name}
	t.Result = m.dot(a, b, 0, &t)
	t.compare(exactDot(a, b, 0))
	return t
}

// addPart records the blocks of the part of K from index start on and, if there
// are several parts, its addition to the sum before it.
func (t *Trace) addPart(start int, blocks []TraceBlock, several bool, before, part, sum float64) {
	for _, b := range blocks {
		b.Start += start
		for i := range b.Terms[:len(b.Terms)-1] {
			b.Terms[i].Index += start
		}
		t.Blocks = append(t.Blocks, b)
	}
	if several {
		s, e := fma.TwoSum(before, part)
		t.Parts = append(t.Parts, TracePart{start, part, sum, (s - sum) + e})
	}
}

// TraceGEMM returns the trace of element (i, j) of the matrix that
// [Device.MultiplyAdd] stores for a, b and c. It panics if MultiplyAdd does, or
// if there is no such element.
func (d Device) TraceGEMM(a, b, c blas32.General, i, j int) Trace {
	checkProduct("TraceGEMM", a, b)
	if i < 0 || i >= a.Rows || j < 0 || j >= b.Cols {
		panic(fmt.Sprintf("tcore: TraceGEMM: (%d, %d), want an element of a %d × %d matrix", i, j, a.Rows, b.Cols))
	}
	x, y, z := make([]float64, a.Cols), make([]float64, b.Rows), 0.0
	for k := range x {
		x[k], y[k] = float64(a.Data[i*a.Stride+k]), float64(b.Data[k*b.Stride+j])
	}
	if c.Data != nil {
		checkResult("TraceGEMM", "c", a, b, c)
		z = float64(c.Data[i*c.Stride+j])
	}
	return d.Trace(x, y, z)
}

// ExactGEMM returns the exact product of a rounded to A and b rounded to B.
// [Device.MultiplyAdd] multiplies the same matrices, so that the difference is
// the error of its result. Like [exact.GEMM], it returns an error if an element
// is not finite in A or B. It panics if a shape does not fit or a matrix is
// empty.
func (d Device) ExactGEMM(a, b blas32.General) (exact.Matrix, error) {
	checkProduct("ExactGEMM", a, b)
	x, y, release := d.factors(a, b)
	defer release()
	return exact.GEMM(x, y)
}

// ExactGEMMs returns AB and |A||B| of the numbers that [Device.ExactGEMM]
// multiplies, in less time than two products need. The error and the panics are
// those of ExactGEMM.
func (d Device) ExactGEMMs(a, b blas32.General) (ab, abs exact.Matrix, err error) {
	checkProduct("ExactGEMMs", a, b)
	return exact.GEMMsOf(a, b,
		func(dst, src []float32) { d.convertRow(dst, src, d.A) },
		func(dst, src []float32) { d.convertRow(dst, src, d.B) })
}

// factors returns a rounded to A and b rounded to B, in memory that release
// recycles.
func (d *Device) factors(a, b blas32.General) (x, y blas32.General, release func()) {
	x = d.rounded(d.A, a, factorScratch.get(a.Rows*a.Cols))
	y = d.rounded(d.B, b, factorScratch.get(b.Rows*b.Cols))
	return x, y, func() {
		factorScratch.put(x.Data)
		factorScratch.put(y.Data)
	}
}

// factorScratch recycles rounded factors.
var factorScratch scratch[float32]

// rounded returns m converted to f, stored in data. A number of f that is not a
// binary32 number is rounded to binary32, as in MultiplyAdd.
func (d *Device) rounded(f Format, m blas32.General, data []float32) blas32.General {
	z := blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: data}
	parallel.Ranges(m.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d.convertRow(matrix.Row(z, i), matrix.Row(m, i), f)
		}
	})
	return z
}

// scaled returns x times its scales, exactly: a scale of a block-scaled
// instruction has few bits and so have its factors. Without scales it returns
// x.
func scaled(x, scales []float64, block int) []float64 {
	if len(scales) == 0 {
		return x
	}
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = v * scales[i/block]
	}
	return z
}

// exactDot returns c + Σ xᵢyᵢ without rounding, or nil if a number is not
// finite.
func exactDot(x, y []float64, c float64) *big.Float {
	// Products lie between 2^-2148 and 2^2048; 64 bits are for the sum.
	const prec = 2148 + 2048 + 64
	if !finite(c) {
		return nil
	}
	z := new(big.Float).SetPrec(prec).SetFloat64(c)
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) {
			return nil
		}
		p := new(big.Float).SetPrec(prec).SetFloat64(x[i])
		z.Add(z, p.Mul(p, new(big.Float).SetFloat64(y[i])))
	}
	return z
}

// newTraceBlock returns the trace of block b, in which every term is kept.
func newTraceBlock(start int, b block) TraceBlock {
	t := TraceBlock{Start: start}
	per := len(b.x) / max(1, len(b.scaleX)) // factors of one scale
	x, y := scaled(b.x, b.scaleX, per), scaled(b.y, b.scaleY, per)
	for i := range b.x {
		p := x[i] * y[i]
		t.Terms = append(t.Terms, TraceTerm{Index: start + i, X: b.x[i], Y: b.y[i], Value: p, Exponent: exponentOf(p), Kept: p})
	}
	t.Terms = append(t.Terms, TraceTerm{Index: -1, Value: b.c, Exponent: exponentOf(b.c), Kept: b.c})
	return t
}

// finish records the result of the block and sums the kept parts.
func (t *TraceBlock) finish(result float64) {
	t.Result = result
	for _, m := range t.Terms {
		t.Sum += m.Kept
	}
}

func exponentOf(x float64) int {
	if x == 0 || !finite(x) {
		return 0
	}
	return math.Ilogb(x)
}

// record records that all terms are aligned to exponent top, with frac bits
// kept.
func (t *TraceBlock) record(terms []summand, top, frac int) {
	if group := (len(t.Terms) - 1) / (len(terms) - 1); group > 1 {
		for i := range len(terms) - 1 {
			t.Terms[i] = TraceTerm{Index: t.Start + i*group}
		}
		t.Terms[len(terms)-1] = t.Terms[len(t.Terms)-1]
		t.Terms = t.Terms[:len(terms)]
	}
	t.Exponent, t.Unit = top, math.Ldexp(1, top-frac)
	for i, s := range terms {
		t.Terms[i].cut(s, top, frac)
	}
}

// cut records the alignment of one term.
func (t *TraceTerm) cut(s summand, top, frac int) {
	t.Value = math.Ldexp(float64(s.sig), s.exp-s.frac)
	t.Exponent = s.exp
	t.Kept = math.Ldexp(float64(s.truncate(frac-top)), top-frac)
	t.Lost = t.Value - t.Kept
}

// String returns the trace as a table, with a line for every nonzero term, for
// every block, and for the addition of every part, which keeps the sum so far.
func (t Trace) String() string {
	var s strings.Builder
	fmt.Fprintln(&s, t.Device)
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "term\tvalue\texponent\tkept\tlost")
	parts := t.Parts
	for i, b := range t.Blocks {
		for _, m := range b.Terms {
			if m.Value == 0 {
				continue
			}
			name := fmt.Sprintf("x%d y%d", m.Index, m.Index)
			if m.Index < 0 {
				name = "c"
			}
			fmt.Fprintf(w, "%s\t%.9g\t%d\t%.9g\t%.9g\n", name, m.Value, m.Exponent, m.Kept, m.Lost)
		}
		fmt.Fprintf(w, "= block %d\t%.9g\t%d\t%.9g\n", b.Start, b.Result, b.Exponent, b.Sum)
		if ends := i+1 == len(t.Blocks) || len(parts) > 1 && t.Blocks[i+1].Start >= parts[1].Start; len(parts) > 0 && ends {
			p := parts[0]
			fmt.Fprintf(w, "+ part %d\t%.9g\t%d\t%.9g\t%.9g\n", p.Start, p.Sum, exponentOf(p.Sum), p.Result, p.Lost)
			parts = parts[1:]
		}
	}
	w.Flush()
	fmt.Fprintf(&s, "result %.9g", t.Result)
	if t.Exact != nil {
		fmt.Fprintf(&s, ", exact %.9g, error %.3g", t.Exact, t.Error)
	}
	return s.String() + "\n"
}
