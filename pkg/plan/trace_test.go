package plan_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// drawnFrom returns n numbers of format f, of sizes from 1 to 2^spread, some of
// them 0.
func drawnFrom(rng *rand.Rand, f tcore.Format, n, spread int) []float64 {
	x := make([]float64, n)
	for i := range x {
		if rng.IntN(8) > 0 {
			x[i] = f.Round(math.Ldexp(rng.NormFloat64(), rng.IntN(spread+1)), tcore.ToNearestEven)
		}
	}
	return x
}

// The result of a trace is that of Dot, and exact minus result is the sum of
// what is said to be lost.
func TestTracesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	lossy := [4]int{}
	for _, text := range append(texts, "hopper-wgmma-binary16-binary32 | parts 7 floor", "ieee-fma-binary16-binary32 | lanes 3 + folds 2,1 zero partial bfloat16 running binary16") {
		p := parse(t, text)
		length, scaled := p.Scaled()
		for range 8 {
			k := 1 + rng.IntN(400)
			d := p.Device()
			x, y := drawnFrom(rng, d.A, k, 3), drawnFrom(rng, d.B, k, 3)
			var z plan.Trace
			var want float64
			exact := new(big.Rat)
			scale := func(int) *big.Rat { return big.NewRat(1, 1) }
			if scaled {
				parts := (k + length - 1) / length
				u, v := make([]float32, parts), make([]float32, parts)
				for i := range u {
					u[i], v[i] = rng.Float32()+0.5, rng.Float32()+0.5
				}
				z, want = p.TraceScaled(x, y, u, v), p.DotScaled(x, y, u, v)
				scale = func(i int) *big.Rat {
					return new(big.Rat).Mul(new(big.Rat).SetFloat64(float64(u[i/length])), new(big.Rat).SetFloat64(float64(v[i/length])))
				}
			} else {
				z, want = p.Trace(x, y), p.Dot(x, y)
			}
			if math.Float64bits(z.Result) != math.Float64bits(want) {
				t.Fatalf("%s of %d: %v, Dot is %v", text, k, z.Result, want)
			}
			for i := range x {
				v := new(big.Rat).Mul(new(big.Rat).SetFloat64(x[i]), new(big.Rat).SetFloat64(y[i]))
				exact.Add(exact, v.Mul(v, scale(i)))
			}
			if got, _ := z.Exact.Rat(nil); got.Cmp(exact) != 0 {
				t.Fatalf("%s of %d: exact %v, want %v", text, k, got, exact)
			}
			sum := new(big.Rat).SetFloat64(z.Result)
			for i, l := range []*big.Float{z.Losses.Instructions, z.Losses.Additions, z.Losses.Output, z.Losses.Tail} {
				v, _ := l.Rat(nil)
				sum.Add(sum, v)
				lossy[i] += l.Sign() * l.Sign()
			}
			if sum.Cmp(exact) != 0 {
				t.Fatalf("%s of %d: result and losses are %v, want %v", text, k, sum, exact)
			}
			if e, _ := sum.Sub(new(big.Rat).SetFloat64(z.Result), exact).Float64(); e != z.Error {
				t.Fatalf("%s of %d: error %v, want %v", text, k, z.Error, e)
			}
			steps(t, z.Sum, p, k, scaled)
		}
	}
	for i, n := range lossy {
		if n < 3 {
			t.Errorf("loss %d is not 0 in %d traces, want three at least", i, n)
		}
	}
}

// steps checks that every step of a trace is what it says, and that there are
// as many as Size says.
func steps(t *testing.T, root *plan.Step, p plan.Plan, k int, scaled bool) {
	t.Helper()
	runs, instructions, additions, lost, tail := 0, 0, 0, new(big.Rat), 0
	var visit func(s *plan.Step)
	visit = func(s *plan.Step) {
		tail += len(s.Tail)
		if s.Run != nil {
			runs++
			instructions += len(s.Run.Blocks)
			for _, b := range s.Run.Blocks {
				for _, m := range b.Terms {
					if m.Index >= k {
						t.Fatalf("%s of %d: product %d", p, k, m.Index)
					}
				}
			}
			return
		}
		for _, a := range s.Additions {
			v, _ := a.Lost.Rat(nil)
			lost.Add(lost, v)
			if !a.First || scaled {
				additions++
			}
		}
		if last := s.Additions[len(s.Additions)-1]; last.Result != s.Value {
			t.Fatalf("%s: the last addition is %v, the sum %v", p, last.Result, s.Value)
		}
		for _, part := range s.Parts {
			visit(part)
		}
	}
	visit(root)
	if s := p.Size(k); s.Runs != runs || s.Instructions != instructions || s.Additions != additions || s.Lost != tail {
		t.Fatalf("%s of %d: %d runs, %d instructions, %d additions, %d lost; the size is %+v", p, k, runs, instructions, additions, tail, s)
	}
}

// What leaves binary32 has no error, and a trace that says so.
func TestTracesOfInfinities(t *testing.T) {
	p := parse(t, "ieee-fma-bfloat16-binary32 | every 2")
	big := 0x1p127
	for _, x := range [][]float64{{big, big, 0}, {math.Inf(1), 1, 1}, {math.NaN(), 1, 1}} {
		z := p.Trace(x, []float64{1, 2, 3})
		if want := p.Dot(x, []float64{1, 2, 3}); math.Float64bits(z.Result) != math.Float64bits(want) {
			t.Errorf("%v: %v, want %v", x, z.Result, want)
		}
		if z.Exact != nil || z.Error == z.Error || z.Losses.Additions != nil || !strings.Contains(z.String(), "result ") {
			t.Errorf("%v: %v, %v", x, z.Exact, z.Error)
		}
	}
}

// A trace has the signs of zeros that Dot has.
func TestTracesKeepSignsOfZeros(t *testing.T) {
	x, y := []float64{-0x1p-140}, []float64{0x1p-140}
	for text, negative := range map[string]bool{"": true, " + zero": false, " + folds 2,1": false, " + running binary16": true} {
		p := parse(t, "ieee-fma-binary32-binary32 | every 1"+text)
		if z, want := p.Trace(x, y).Result, p.Dot(x, y); math.Signbit(z) != negative || math.Signbit(want) != negative {
			t.Errorf("%s: %v, Dot is %v, want a sign of %v", text, z, want, negative)
		}
	}
}

// What three products lose between two slices of K.
func ExamplePlan_Trace() {
	p, err := plan.Parse("hopper-wgmma-binary16-binary32 | every 64")
	if err != nil {
		panic(err)
	}
	x, y := make([]float64, 100), make([]float64, 100)
	x[0], x[20], x[80] = 4096, 0x1p-13, 1.5
	y[0], y[20], y[80] = 4096, 1, 1
	z := p.Trace(x, y)
	fmt.Print(z)
	fmt.Println(len(z.Sum.Parts), z.Sum.Additions[1].Lost)
	// Output:
	// hopper-wgmma-binary16-binary32 | every 64
	// step                      value           exponent  kept      lost
	// part 0: products 0 … 63
	//   x0 y0                   16777216        24        16777216  0
	//   = from 0                16777216        24        16777216  0
	//   x20 y20                 0.000122070312  -13       0         0.000122070312
	//   c                       16777216        24        16777216  0
	//   = from 16               16777216        24        16777216  0
	// part 1: products 64 … 99
	//   x80 y80                 1.5             0         1.5       0
	//   = from 80               1.5             0         1.5       0
	// + part 1                  1.5             0         16777218  -0.5
	// result 16777218, exact 16777217.5, error 0.5
	// of the error instructions made -0.000122, additions 0.5, the last rounding 0
	// 2 -0.5
}

// Scales belong to parts.
func ExamplePlan_TraceScaled() {
	p, err := plan.Parse("hopper-wgmma-e4m3-binary32 | every 128 + fused > bfloat16")
	if err != nil {
		panic(err)
	}
	x := make([]float64, 256)
	for i := range x {
		x[i] = 1
	}
	z := p.TraceScaled(x, x, []float32{0.5, 0.1}, []float32{1, 1})
	fmt.Println(z.Result, z.Sum.Additions[1].Before)
	// Output:
	// 77 64
}
