package tcore

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, d := range Devices() {
		t.Run(d.Name, func(t *testing.T) {
			for range 20 {
				n := 1 + rng.IntN(2*d.Core.width())
				x, y := make([]float64, n), make([]float64, n)
				for i := range n {
					x[i], y[i] = 2*rng.Float64()-1, math.Ldexp(rng.Float64(), -rng.IntN(20))
				}
				c := rng.Float64()
				trace := d.Trace(x, y, c)
				if want := d.Dot(x, y, c); !same(trace.Result, want) {
					t.Fatalf("result %v, want that of Dot, %v", trace.Result, want)
				}
				checkTrace(t, d, trace, n)
			}
		})
	}
}

// checkTrace checks the properties of every trace of n products.
func checkTrace(t *testing.T, d Device, trace Trace, n int) {
	total, running, w := exactly(0), math.NaN(), d.Core.width()
	if want := (n + w - 1) / w; len(trace.Blocks) != want {
		t.Fatalf("%d blocks, want %d", len(trace.Blocks), want)
	}
	for k, b := range trace.Blocks {
		if b.Start != k*w {
			t.Errorf("block %d starts at %d", k, b.Start)
		}
		c := b.Terms[len(b.Terms)-1]
		if k > 0 && c.Value != running {
			t.Errorf("block %d has c = %v, want %v", k, c.Value, running)
		}
		running = b.Result
		for i, m := range b.Terms {
			if m.Value != m.Kept+m.Lost {
				t.Errorf("term %d: %v ≠ %v + %v", m.Index, m.Value, m.Kept, m.Lost)
			}
			if b.Unit > 0 && (math.Abs(m.Lost) >= b.Unit || math.Abs(m.Kept) > math.Abs(m.Value) || m.Exponent > b.Exponent) {
				t.Errorf("term %d of a block with E* = %d and unit %v: %+v", m.Index, b.Exponent, b.Unit, m)
			}
			if k == 0 || i < len(b.Terms)-1 {
				total.Add(total, exactly(m.Value))
			}
		}
		if f, ok := d.Core.(Fused); ok && f.round(int64(b.Sum/b.Unit), b.Exponent-f.FractionBits) != b.Result {
			t.Errorf("block %d: %v is not %v rounded", k, b.Result, b.Sum)
		}
	}
	if running != trace.Result {
		t.Errorf("the last running value is %v, want %v", running, trace.Result)
	}
	if d.A.Precision <= 24 && total.Cmp(trace.Exact) != 0 {
		t.Errorf("exact %v, but the terms sum to %v", trace.Exact, total)
	}
	if diff, _ := exactly(trace.Result).Sub(exactly(trace.Result), trace.Exact).Float64(); diff != trace.Error {
		t.Errorf("error %v, want %v", trace.Error, diff)
	}
}

func TestTrace_of_specials_has_no_exact_result(t *testing.T) {
	trace := HopperF16.Trace([]float64{math.Inf(1)}, []float64{1}, 0)
	if trace.Exact != nil || !math.IsInf(trace.Result, 1) || !math.IsNaN(trace.Error) {
		t.Errorf("%+v", trace)
	}
}

// With scales the result is that of DotScaled, the terms are products with
// their scales, and what they lose and the rounding are all of the error.
func TestTraceScaled(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 8))
	for _, d := range Devices() {
		if d.ScaleBlock == 0 {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			for range 20 {
				n := 1 + rng.IntN(2*d.Core.width())
				x, y, scaleX, scaleY := make([]uint64, n), make([]uint64, n), make([]uint64, (n-1)/d.ScaleBlock+1), make([]uint64, (n-1)/d.ScaleBlock+1)
				for i := range n {
					x[i], y[i] = d.A.Encode(rng.NormFloat64(), ToNearestEven), d.B.Encode(rng.NormFloat64(), ToNearestEven)
				}
				for i := range scaleX {
					scaleX[i], scaleY[i] = d.Scale.Encode(rng.ExpFloat64(), ToNearestEven), d.Scale.Encode(rng.ExpFloat64(), ToNearestEven)
				}
				c := d.C.Encode(rng.NormFloat64(), ToNearestEven)
				trace := d.TraceScaled(x, y, scaleX, scaleY, c)
				if want := d.C.Decode(d.DotScaled(x, y, scaleX, scaleY, c)); trace.Result != want {
					t.Fatalf("result %v, want that of DotScaled, %v", trace.Result, want)
				}
				checkTrace(t, d, trace, n)
				want := exactly(d.C.Decode(c))
				for i := range n {
					p := exactly(d.A.Decode(x[i]) * d.B.Decode(y[i]))
					p.Mul(p, exactly(d.Scale.Decode(scaleX[i/d.ScaleBlock])))
					want.Add(want, p.Mul(p, exactly(d.Scale.Decode(scaleY[i/d.ScaleBlock]))))
				}
				if trace.Exact.Cmp(want) != 0 {
					t.Errorf("exact %v, want %v", trace.Exact, want)
				}
			}
		})
	}
}
