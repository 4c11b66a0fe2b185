package tcore

import (
	"math"
	"math/rand/v2"
	"strings"
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

// The trace of a machine has the blocks of its parts, each traced by itself,
// and their additions; what these round away is exact.
func TestMachineTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, m := range []Machine{
		{Device: HopperE4M3}, {Device: HopperE4M3, Promote: 64}, {Device: HopperE4M3, Promote: 128, Output: BFloat16}, {Device: HopperF16, SplitK: 3},
		{Device: VoltaF16, Promote: 8}, {Device: IEEEF64, SplitK: 2}, {Device: AmpereBF16, Promote: 16}, {Device: HopperF16F16, Promote: 32},
	} {
		for range 20 {
			n := 1 + rng.IntN(300)
			x, y := make([]float64, n), make([]float64, n)
			for i := range n {
				x[i], y[i] = 2*rng.Float64()-1, math.Ldexp(rng.Float64(), -rng.IntN(20))
				if m.Device.A.Emax > 100 { // sums of parts beyond 53 bits
					y[i] = math.Ldexp(y[i], i/16%2*-60)
				}
			}
			trace := m.Trace(x, y)
			if want := m.Dot(x, y, 0); !same(trace.Result, want) {
				t.Fatalf("%s: result %v, want that of Dot, %v", m.Device.Name, trace.Result, want)
			}
			length := m.Promote
			if length == 0 {
				blocks, w := (n+m.Device.Core.width()-1)/m.Device.Core.width(), max(m.SplitK, 1)
				length = (blocks + w - 1) / w * m.Device.Core.width()
			}
			if want := (n + length - 1) / length; want > 1 && len(trace.Parts) != want || want == 1 && trace.Parts != nil {
				t.Fatalf("%s: %d parts of %d products, want %d", m.Device.Name, len(trace.Parts), n, want)
			}
			blocks, sum := trace.Blocks, float32(0)
			for start := 0; start < n; start += length {
				end := min(start+length, n)
				part := m.Device.Trace(x[start:end], y[start:end], 0)
				for i, want := range part.Blocks {
					got := blocks[i]
					if got.Start != start+want.Start || got.Result != want.Result || len(got.Terms) != len(want.Terms) {
						t.Fatalf("%s: block %+v, want %+v from %d on", m.Device.Name, got, want, start)
					}
					for k, term := range want.Terms {
						if term.Index >= 0 {
							term.Index += start
						}
						if got.Terms[k] != term {
							t.Fatalf("%s: term %+v, want %+v", m.Device.Name, got.Terms[k], term)
						}
					}
				}
				blocks = blocks[len(part.Blocks):]
				if trace.Parts == nil {
					continue
				}
				before := sum
				sum += float32(part.Result)
				lost := exactly(float64(before))
				lost.Sub(lost.Add(lost, exactly(float64(float32(part.Result)))), exactly(float64(sum)))
				p := trace.Parts[start/length]
				if p.Start != start || p.Sum != float64(float32(part.Result)) || p.Result != float64(sum) || exactly(p.Lost).Cmp(lost) != 0 {
					t.Errorf("%s: part %+v, want one from %d with sum %v, result %v, lost %v", m.Device.Name, p, start, part.Result, sum, lost)
				}
			}
			if len(blocks) > 0 {
				t.Errorf("%s: %d blocks too many", m.Device.Name, len(blocks))
			}
			want := exactly(0)
			for _, b := range trace.Blocks {
				for _, term := range b.Terms[:len(b.Terms)-1] {
					want.Add(want, exactly(term.Value))
				}
			}
			if m.Device.A.Precision <= 24 && want.Cmp(trace.Exact) != 0 {
				t.Errorf("%s: exact %v, but the terms sum to %v", m.Device.Name, trace.Exact, want)
			}
			if diff, _ := exactly(trace.Result).Sub(exactly(trace.Result), trace.Exact).Float64(); diff != trace.Error {
				t.Errorf("%s: error %v, want %v", m.Device.Name, trace.Error, diff)
			}
		}
	}
}

// The table has a line for the addition of each part, after its last block.
func TestMachineTrace_String(t *testing.T) {
	x := make([]float64, 160)
	for i := range x {
		x[i] = 1
	}
	var lines []string
	for line := range strings.Lines(Machine{Device: HopperE4M3, Promote: 64}.Trace(x, x).String()) {
		if !strings.HasPrefix(line, "x") && !strings.HasPrefix(line, "c ") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	want := "hopper-wgmma-e4m3-binary32|term value exponent kept lost|= block 0 32 0 32|= block 32 64 5 64|+ part 0 64 6 64 0|" +
		"= block 64 32 0 32|= block 96 64 5 64|+ part 64 64 6 128 0|= block 128 32 0 32|+ part 128 32 5 160 0|result 160, exact 160, error 0"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMachineTrace_refuses(t *testing.T) {
	for want, m := range map[string]Machine{
		"want sums in sequence to nearest": {Device: IEEEF32, Order: InPairs},
		"Promote = 3, want a multiple":     {Device: HopperE4M3, Promote: 3},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "tcore: Trace: ") || !strings.Contains(said, want) {
					t.Errorf("%q, want %q", said, want)
				}
			}()
			m.Trace([]float64{1}, []float64{1})
		}()
	}
}
