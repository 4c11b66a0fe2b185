package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// An author writes an order of the digits that it reads, most of them one that
// has no errors.
type author struct{ digits []byte }

// digit returns the next digit, below n, or 0 at the end.
func (a *author) digit(n int) int {
	if len(a.digits) == 0 {
		return 0
	}
	d := int(a.digits[0]) % n
	a.digits = a.digits[1:]
	return d
}

// odd returns a number that is seldom allowed.
func (a *author) odd(usual int) int {
	if a.digit(32) == 31 {
		return a.digit(256) - 128
	}
	return usual
}

func (a *author) format() tcore.Format {
	return []tcore.Format{{}, {}, tcore.Binary16, tcore.BFloat16, tcore.Binary32}[a.digit(5)]
}

func (a *author) order(u unit, depth int) plan.Order {
	if depth == 0 || a.digit(4) == 3 {
		group := a.odd(a.digit(u.terms + 1))
		return plan.Run{Device: u.device, Group: group, Tile: a.odd(max(1, group) * a.digit(6))}
	}
	p := plan.Parts{Cut: a.cut(), Merge: a.merge()}
	p.Each = a.order(u, depth-1)
	return p
}

func (a *author) cut() plan.Cut {
	var c plan.Cut
	switch a.digit(4) {
	case 0:
		c.Length = a.odd(1 + a.digit(90))
	case 1:
		c.Count, c.Grain, c.Floor = a.odd(1+a.digit(20)), a.odd(a.digit(20)), a.digit(3) == 2
	case 2:
		c.Lanes, c.Vector = a.odd(1+a.digit(40)), a.digit(12)-5
		if c.Vector <= 0 {
			c.Nominal = a.odd(a.digit(100))
		}
	case 3:
		at := 0
		for range 1 + a.digit(5) {
			at += a.odd(1 + a.digit(40))
			c.At = append(c.At, at)
		}
	}
	if a.digit(64) == 63 {
		c.Length, c.Grain = a.digit(3), a.digit(2)
	}
	return c
}

func (a *author) merge() plan.Merge {
	m := plan.Merge{Zero: a.digit(2) == 1, Partial: a.format(), Running: a.format()}
	switch a.digit(4) {
	case 1:
		m.Folds = plan.Butterfly(1 << a.digit(6))
	case 2:
		for n := a.digit(60); n > 1; n -= 1 + a.digit(n) {
			m.Folds = append(m.Folds, n)
		}
		m.Folds = append(m.Folds, a.odd(1))
	case 3:
		m = plan.Merge{Scale: plan.Scale(a.odd(1 + a.digit(2)))}
	}
	return m
}

var orderSeeds = []struct {
	digits string
	seed   uint64
}{
	{"", 1}, {"00000000", 2}, {"\x01\x02 abcdefghijklmnopqrstuvwxyz", 3}, {"\x08\x00\x01\x05\x02\x00\x01\x00\x00\x00\x00\x01", 4},
	{"\x03\x50\x00\x00\x1f\x00\x00\x00\x00\x00\x03\x00\x00\x03\x10\x01", 5},
	{"B00000000007", 5}, // scales, on FMAs, of one row
}

// What Check accepts has the bits of the interpreter, and Check does not panic.
func FuzzOrder(f *testing.F) {
	for _, s := range orderSeeds {
		f.Add([]byte(s.digits), s.seed)
	}
	f.Fuzz(func(t *testing.T, digits []byte, seed uint64) { tryOrder(t, digits, seed) })
}

// tryOrder compares what digits say, on data from a seed. It reports whether
// the order has no errors.
func tryOrder(t *testing.T, digits []byte, seed uint64) bool {
	a := &author{digits}
	units := allUnits()
	u, k, o := units[a.digit(len(units))], 1+a.digit(256), outputs[a.digit(len(outputs))]
	of := plan.Plan{Order: a.order(u, 3), Output: o.format}
	if of.Check() != nil {
		return false
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	p, kind := drawn(rng, u, k)
	in := interpreter{unit: u, formats: map[string]numbers{}}
	for _, o := range outputs {
		in.formats[o.format.Name] = o.numbers
	}
	title := fmt.Sprintf("%s on %s, K = %d, %s", shown(of.Order), u.device.Name, k, kind)
	if length, scaled := of.Scaled(); scaled {
		p.compareScaled(t, rng, title, of, in, length, o)
		return true
	}
	p.compare(t, rng, title, mode{order: of.Order, sum: func(x, y []float64) float64 { return in.sum(of.Order, x, y) }}, o)
	return true
}

// shown returns what an order is, without its device.
func shown(o plan.Order) string {
	switch o := o.(type) {
	case plan.Run:
		return fmt.Sprintf("Run{%d, %d}", o.Group, o.Tile)
	case plan.Parts:
		m := o.Merge
		return fmt.Sprintf("Parts{%+v, %s, %v %v %q %q %v}", o.Cut, shown(o.Each), m.Folds, m.Zero, m.Partial.Name, m.Running.Name, m.Scale)
	}
	return "none"
}

// compareScaled is compare for a plan with scales, of so many products each.
func (p problem) compareScaled(t *testing.T, rng *rand.Rand, title string, of plan.Plan, in interpreter, length int, o output) {
	t.Helper()
	of.FusedBeta = p.fused
	parts := (p.k + length - 1) / length
	scale := func() float64 { return f32.to(math.Ldexp(1+rng.Float64(), rng.IntN(40)-20)) }
	scalesX, scalesY := make([][]float64, p.m), make([][]float64, p.n)
	for _, scales := range [][][]float64{scalesX, scalesY} {
		for i := range scales {
			scales[i] = each(parts, func(int) float64 { return scale() })
		}
	}
	s := plan.Scales{
		A: strided(rng, p.m, parts, func(i, j int) float64 { return scalesX[i][j] }),
		B: strided(rng, parts, p.n, func(i, j int) float64 { return scalesY[j][i] }),
	}
	a := strided(rng, p.m, p.k, func(i, j int) float64 { return p.x[i][j] })
	b := strided(rng, p.k, p.n, func(i, j int) float64 { return p.y[j][i] })
	c := strided(rng, p.m, p.n, func(i, j int) float64 { return p.c[i][j] })
	of.GEMMScaled(float32(p.alpha), a, b, s, float32(p.beta), c, c)
	for i := range p.m {
		for j := range p.n {
			in.scaleX, in.scaleY = scalesX[i], scalesY[j]
			sum := in.sum(of.Order, p.x[i], p.y[j])
			if got, want := float64(c.Data[i*c.Stride+j]), p.finished(i, j, sum, o); !same(got, want) {
				t.Fatalf("%s: D[%d][%d] = %x, want %x", title, i, j, got, want)
			}
			if got, want := of.DotScaled(p.x[i], p.y[j], narrow(scalesX[i]), narrow(scalesY[j])), o.numbers.to(sum); !same(got, want) {
				t.Fatalf("%s: DotScaled = %x, want %x", title, got, want)
			}
		}
	}
}

func narrow(x []float64) []float32 {
	z := make([]float32, len(x))
	for i, v := range x {
		z[i] = float32(v)
	}
	return z
}

// Random orders, of all cuts and merges within each other, have the bits of the
// interpreter.
func TestRandomOrders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	accepted, refused := 0, 0
	for accepted < volume()/100 && !t.Failed() {
		digits := make([]byte, 60)
		for i := range digits {
			digits[i] = byte(rng.Uint32())
		}
		if tryOrder(t, digits, rng.Uint64()) {
			accepted++
		} else {
			refused++
		}
	}
	t.Logf("%d orders, and %d with errors", accepted, refused)
	if refused == 0 || accepted < refused/4 {
		t.Errorf("%d orders without and %d with errors, want many of both", accepted, refused)
	}
}

// DeepGEMM and DeepSeek-V3 multiply sums of 128 products by two scales, in
// different ways.
func TestScaledParts(t *testing.T) {
	for name, want := range map[plan.Scale]func(acc, part, sa, sb float64) float64{
		plan.Fused:       func(acc, part, sa, sb float64) float64 { return fma(part, mul(sa, sb), acc) },
		plan.FusedSecond: func(acc, part, sa, sb float64) float64 { return fma(mul(part, sa), sb, acc) },
	} {
		for _, u := range []unit{tensorCores()[2], scalarUnits()[0]} {
			of := plan.Plan{Order: split(128, plan.Run{Device: u.device}, plan.Merge{Scale: name}), Output: tcore.BFloat16}
			rng := rand.New(rand.NewPCG(8, 8))
			for range 20 {
				k := 1 + rng.IntN(900)
				n := (k + 127) / 128
				x := kinds["normal"].vectors(rng, u.device.A, nil, 1, k, true)[0]
				y := kinds["normal"].vectors(rng, u.device.A, nil, 1, k, false)[0]
				sx := each(n, func(int) float64 { return f32.to(rng.Float64()) })
				sy := each(n, func(int) float64 { return f32.to(rng.Float64()) })
				sum := 0.0
				for i := range n {
					sum = want(sum, u.chain(upTo(x, 128*i, 128*i+128), upTo(y, 128*i, 128*i+128)), sx[i], sy[i])
				}
				if got := of.DotScaled(x, y, narrow(sx), narrow(sy)); got != bf16.to(sum) {
					t.Errorf("%v, K = %d: %x, want %x", name, k, got, bf16.to(sum))
				}
				row := blas32.General{Rows: 1, Cols: k, Stride: k, Data: narrow(x)}
				column := blas32.General{Rows: k, Cols: 1, Stride: 1, Data: narrow(y)}
				d := matrix.New(1, 1)
				of.GEMMScaled(1, row, column, plan.Scales{A: blas32.General{Rows: 1, Cols: n, Stride: n, Data: narrow(sx)},
					B: blas32.General{Rows: n, Cols: 1, Stride: 1, Data: narrow(sy)}}, 0, blas32.General{}, d)
				if got := float64(d.Data[0]); got != bf16.to(sum) {
					t.Errorf("%v, K = %d, of matrices: %x, want %x", name, k, got, bf16.to(sum))
				}
			}
		}
	}
}

// The plan of a machine computes what the machine does.
func TestMachinesArePlans(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	units := allUnits()
	for range volume() / 10 {
		u, k := units[rng.IntN(len(units))], length(rng)
		m := tcore.Machine{Device: u.device, Output: append(outputs, output{})[rng.IntN(4)].format}
		switch rng.IntN(3) {
		case 0:
			m.SplitK = rng.IntN(40)
		case 1:
			m.Promote = u.terms * (1 + rng.IntN(9))
		}
		of, err := plan.Of(m, k)
		if err != nil {
			t.Fatal(err)
		}
		p, kind := drawn(rng, u, k)
		a := strided(rng, p.m, p.k, func(i, j int) float64 { return p.x[i][j] })
		b := strided(rng, p.k, p.n, func(i, j int) float64 { return p.y[j][i] })
		c := strided(rng, p.m, p.n, func(i, j int) float64 { return p.c[i][j] })
		got, want := matrix.New(p.m, p.n), matrix.New(p.m, p.n)
		of.GEMM(blas.NoTrans, blas.NoTrans, float32(p.alpha), a, b, float32(p.beta), c, got)
		m.GEMM(blas.NoTrans, blas.NoTrans, float32(p.alpha), a, b, float32(p.beta), c, want)
		for i := range got.Data {
			if !same(float64(got.Data[i]), float64(want.Data[i])) {
				t.Fatalf("%s, SplitK = %d, Promote = %d, K = %d, %s: %x, want %x", u.device.Name, m.SplitK, m.Promote, k, kind, got.Data[i], want.Data[i])
			}
		}
	}
}
