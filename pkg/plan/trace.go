package plan

import (
	"fmt"
	"math"
	"math/big"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Trace records one dot product of a plan: every run with the blocks of its
// instructions, every addition of a part, and what each of them lost.
type Trace struct {
	Plan   Plan
	Sum    *Step      // of all products, before the last rounding
	Result float64    // D, as [Plan.Dot] returns it
	Exact  *big.Float // Σ xᵢyᵢ of the numbers of A and B, times their scales; nil if any number is not finite
	Error  float64    // Result - Exact, rounded once; NaN if not finite
	Losses Losses
}

// Losses tell where the error of a dot product comes from. Each is exact minus
// computed, all of a kind together, so that Exact = Result + their sum; in a
// plan with scales they are times the scales of the parts that they are in. nil
// stands for all if a number is not finite.
type Losses struct {
	Instructions *big.Float // what devices cut off and rounded away
	Additions    *big.Float // what additions of parts rounded away, and Partial and Running
	Output       *big.Float // what the last rounding rounded away
	Tail         *big.Float // products that no part has
}

// A Step is how one node of an order computed its products: Run is set or Parts
// are.
type Step struct {
	K         []int // positions of the products, in the order of the sum
	Run       *tcore.Trace
	Parts     []*Step
	Scales    [][2]float32 // of A and B, for each part; nil if there are none
	Additions []Addition
	Tail      []int   // positions of products that no part has
	Value     float32 // the sum

	exact  *big.Float // of all products, with Tail
	losses Losses
}

// An Addition is one addition of a merge: Result = fl(Before + Value), in
// binary32, and rounded to Running if there is one. A first value that nothing
// is added to, and only rounded, has no Before.
type Addition struct {
	Fold   int // 0 for the parts, 1 for what the first fold leaves, …
	To     int // the number of the sum
	Index  int // of the part or value that is added
	First  bool
	Before float32
	Value  float32 // rounded to Partial, before scales
	Result float32
	Lost   *big.Float // exact minus Result, with what Partial rounded away; nil if not finite
}

// Trace computes [Plan.Dot] and records every step. It panics as Dot does.
func (p Plan) Trace(x, y []float64) Trace {
	if _, scaled := p.Scaled(); scaled {
		panic(fmt.Sprintf("plan: Trace: plan %q has scales, want TraceScaled", p.Name))
	}
	return p.trace("Trace", x, y, nil, nil)
}

// TraceScaled computes [Plan.DotScaled] and records every step. It panics as
// DotScaled does.
func (p Plan) TraceScaled(x, y []float64, scaleX, scaleY []float32) Trace {
	length, scaled := p.Scaled()
	if !scaled {
		panic(fmt.Sprintf("plan: TraceScaled: plan %q has no scales, want Trace", p.Name))
	}
	for _, s := range [][]float32{scaleX, scaleY} {
		if len(s) != ceil(len(x), length) {
			panic(fmt.Sprintf("plan: TraceScaled: %d scales, want %d for %d products", len(s), ceil(len(x), length), len(x)))
		}
	}
	return p.trace("TraceScaled", x, y, scaleX, scaleY)
}

func (p Plan) trace(call string, x, y []float64, scaleX, scaleY []float32) Trace {
	if len(x) != len(y) || len(x) == 0 {
		panic(fmt.Sprintf("plan: %s: %d and %d factors, want as many of both, at least one", call, len(x), len(y)))
	}
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	t := &tracer{x, y, scaleX, scaleY}
	z := Trace{Plan: p, Sum: t.node(p.Order, positions(len(x)))}
	z.Result = p.output().Round(float64(z.Sum.Value), tcore.ToNearestEven)
	z.Exact, z.Losses, z.Error = z.Sum.exact, z.Sum.losses, math.NaN()
	if z.Exact == nil || !finite(z.Result) {
		z.Losses = Losses{}
		return z
	}
	z.Losses.Output = difference(number(float64(z.Sum.Value)), z.Result)
	z.Error, _ = new(big.Float).Neg(difference(z.Exact, z.Result)).Float64()
	return z
}

// A tracer has the factors of a dot product.
type tracer struct {
	x, y           []float64
	scaleX, scaleY []float32
}

func (t *tracer) node(o Order, k []int) *Step {
	if r, ok := o.(Run); ok {
		return t.run(r, k)
	}
	p := o.(Parts)
	s := &Step{K: k, exact: number(0), losses: Losses{number(0), number(0), number(0), number(0)}}
	inPart := map[int]bool{}
	for i, part := range p.Cut.of(k) {
		each := t.node(p.Part(len(part)), part)
		s.Parts = append(s.Parts, each)
		scale := number(1)
		if p.Merge.Scale != Unscaled {
			s.Scales = append(s.Scales, [2]float32{t.scaleX[i], t.scaleY[i]})
			scale = product(float64(t.scaleX[i]), float64(t.scaleY[i]))
		}
		s.take(each, scale)
		for _, at := range part {
			inPart[at] = true
		}
	}
	d := leaf(p.Each).Device
	for _, at := range k {
		if !inPart[at] {
			s.Tail = append(s.Tail, at)
			s.tail(product(d.A.Round(t.x[at], d.Convert), d.B.Round(t.y[at], d.Convert)))
		}
	}
	s.merge(p.Merge)
	return s
}

// take adds what a part times its scales is exactly, and what it lost.
func (s *Step) take(part *Step, scale *big.Float) {
	if part.exact == nil || scale == nil {
		s.exact = nil
		return
	}
	if s.exact == nil {
		return
	}
	add := func(to, v *big.Float) { to.Add(to, new(big.Float).SetPrec(precision).Mul(v, scale)) }
	add(s.exact, part.exact)
	add(s.losses.Instructions, part.losses.Instructions)
	add(s.losses.Additions, part.losses.Additions)
	add(s.losses.Tail, part.losses.Tail)
}

// tail adds a product that no part has.
func (s *Step) tail(v *big.Float) {
	if v == nil || s.exact == nil {
		s.exact = nil
		return
	}
	s.exact.Add(s.exact, v)
	s.losses.Tail.Add(s.losses.Tail, v)
}

// run traces a run, with the positions of the products in K in place of those
// in the steps of the device.
func (t *tracer) run(r Run, k []int) *Step {
	s := &Step{K: k, exact: number(0), losses: Losses{number(0), number(0), number(0), number(0)}}
	if len(k) == 0 {
		s.Run = &tcore.Trace{Device: r.Device.Name, Exact: number(0)}
		return s
	}
	steps := r.steps(k)
	run := r.Device.Trace(pick(t.x, steps), pick(t.y, steps), 0)
	for i := range run.Blocks {
		b := &run.Blocks[i]
		first := steps[b.Start]
		kept := b.Terms[:0]
		for _, m := range b.Terms {
			if m.Index >= len(steps) || m.Index >= 0 && steps[m.Index] == padding {
				continue
			}
			if m.Index >= 0 {
				m.Index = steps[m.Index]
			}
			kept = append(kept, m)
		}
		b.Start, b.Terms = first, kept
	}
	s.Run, s.Value, s.exact = &run, float32(run.Result), run.Exact
	if s.exact == nil || !finite(run.Result) {
		s.exact = nil
		return s
	}
	s.exact = new(big.Float).SetPrec(precision).Set(run.Exact)
	s.losses.Instructions = difference(s.exact, run.Result)
	return s
}

// merge adds the parts as a [Merge] does.
func (s *Step) merge(m Merge) {
	values := make([]float32, len(s.Parts))
	for i, part := range s.Parts {
		values[i] = part.Value
	}
	for fold, n := range m.folds() {
		sums := make([]float32, n)
		for i := range max(1, ceil(len(values), n)) * n {
			a := Addition{Fold: fold, To: i % n, Index: i, First: i < n, Before: sums[i%n]}
			if i < len(values) {
				a.Value = values[i]
			}
			exact := number(float64(a.Value))
			if fold == 0 && m.Partial != (tcore.Format{}) && i < len(values) {
				a.Value = float32(m.Partial.Round(float64(a.Value), tcore.ToNearestEven))
			}
			a.Result = s.add(m, a, exact)
			if m.Running != (tcore.Format{}) {
				a.Result = float32(m.Running.Round(float64(a.Result), tcore.ToNearestEven))
			}
			if exact != nil && finite(float64(a.Before)) && finite(float64(a.Result)) {
				a.Lost = difference(exact.Add(exact, number(float64(a.Before))), float64(a.Result))
				s.losses.Additions.Add(s.losses.Additions, a.Lost)
			} else {
				s.exact = nil
			}
			sums[a.To] = a.Result
			s.Additions = append(s.Additions, a)
		}
		values = sums
	}
	s.Value = values[0]
}

// add returns the binary32 sum of an addition, and multiplies exact by the
// scales of the part.
func (s *Step) add(m Merge, a Addition, exact *big.Float) float32 {
	if m.Scale != Unscaled {
		u, v := s.Scales[a.Index][0], s.Scales[a.Index][1]
		if scale := product(float64(u), float64(v)); exact != nil && scale != nil {
			exact.Mul(exact, scale)
		}
		if m.Scale == Fused {
			return fma.Float32(a.Value, float32(u*v), a.Before)
		}
		return fma.Float32(float32(a.Value*u), v, a.Before)
	}
	switch {
	case !a.First:
		return a.Before + a.Value
	case m.Zero:
		return 0 + a.Value
	}
	return a.Value
}

// precision holds sums of products of two binary64 numbers, times two binary32
// numbers, exactly.
const precision = 2148 + 2048 + 64 + 2*(149+128)

// number returns x, nil if it is not finite.
func number(x float64) *big.Float {
	if !finite(x) {
		return nil
	}
	return new(big.Float).SetPrec(precision).SetFloat64(x)
}

// product returns x × y, nil if one of them is not finite.
func product(x, y float64) *big.Float {
	a, b := number(x), number(y)
	if a == nil || b == nil {
		return nil
	}
	return a.Mul(a, b)
}

// difference returns exact - x.
func difference(exact *big.Float, x float64) *big.Float {
	return new(big.Float).SetPrec(precision).Sub(exact, number(x))
}

func finite(x float64) bool { return x-x == 0 }
