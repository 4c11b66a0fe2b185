package plan_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A problem is a product with all that its result depends on.
type problem struct {
	m, n, k     int
	x, y        [][]float64 // rows of A and columns of B
	c           [][]float64
	alpha, beta float64
	fused       bool
}

// drawn returns a problem of k products on a unit.
func drawn(rng *rand.Rand, u unit, k int) (p problem, kind string) {
	names := slices.Sorted(maps.Keys(kinds))
	kind = names[rng.IntN(len(names))]
	p = problem{m: 1 + rng.IntN(4), n: 1 + rng.IntN(4), k: k, alpha: 1, fused: rng.IntN(2) == 0}
	if rng.IntN(8) == 0 { // wide, and large where that takes no long time
		p.m, p.n = 1, []int{17, 40, 150}[rng.IntN(3)]
		if k <= 3 && rng.IntN(4) == 0 {
			p.m, p.n = 200, 170
		}
		if rng.IntN(2) == 0 {
			p.m, p.n = p.n, p.m
		}
	}
	where := rng.Perm(k)[:min(k, 2+rng.IntN(6))]
	p.x = kinds[kind].vectors(rng, u.device.A, where, p.m, k, true)
	p.y = kinds[kind].vectors(rng, u.device.B, where, p.n, k, false)
	if rng.IntN(2) == 0 {
		p.alpha, p.beta = f32.to(rng.NormFloat64()), []float64{0, 1, f32.to(rng.NormFloat64())}[rng.IntN(3)]
	}
	p.c = make([][]float64, p.m)
	for i := range p.c {
		p.c[i] = each(p.n, func(int) float64 {
			return []float64{math.Copysign(0, -1), f32.to(rng.NormFloat64()), math.Inf(1), 0x1p-140, -0x1.8p127}[rng.IntN(5)]
		})
	}
	return p, kind
}

// finished returns the exact plan's element of D for a sum.
func (p problem) finished(i, j int, sum float64, o output) float64 {
	z := mul(p.alpha, sum)
	switch {
	case p.beta != 0 && p.fused:
		z = fma(p.alpha, sum, mul(p.beta, p.c[i][j]))
	case p.beta != 0:
		z = add(z, mul(p.beta, p.c[i][j]))
	}
	return o.numbers.to(z)
}

// gemm returns D by the plan, of strided and transposed matrices, in C's place
// or not.
func (p problem) gemm(rng *rand.Rand, of plan.Plan) blas32.General {
	tA, tB := blas.NoTrans, blas.NoTrans
	a := strided(rng, p.m, p.k, func(i, j int) float64 { return p.x[i][j] })
	if rng.IntN(2) == 0 {
		tA, a = blas.Trans, strided(rng, p.k, p.m, func(i, j int) float64 { return p.x[j][i] })
	}
	b := strided(rng, p.k, p.n, func(i, j int) float64 { return p.y[j][i] })
	if rng.IntN(2) == 0 {
		tB, b = blas.Trans, strided(rng, p.n, p.k, func(i, j int) float64 { return p.y[i][j] })
	}
	c := strided(rng, p.m, p.n, func(i, j int) float64 { return p.c[i][j] })
	d := c
	if rng.IntN(2) == 0 {
		d = strided(rng, p.m, p.n, func(int, int) float64 { return math.NaN() })
	}
	if p.beta == 0 && rng.IntN(2) == 0 {
		c = blas32.General{}
	}
	of.GEMM(tA, tB, float32(p.alpha), a, b, float32(p.beta), c, d)
	return d
}

// strided returns a matrix, with NaN beside its rows.
func strided(rng *rand.Rand, rows, cols int, at func(i, j int) float64) blas32.General {
	m := matrix.New(rows, cols+rng.IntN(2)*rng.IntN(20))
	for i := range m.Data {
		m.Data[i] = float32(math.NaN())
	}
	m.Cols = cols
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Stride+j] = float32(at(i, j))
		}
	}
	return m
}

// same reports whether numbers of binary32 have equal bits, or are NaN.
func same(x, y float64) bool {
	return x != x && y != y || math.Float64bits(x) == math.Float64bits(y)
}

// length draws a number of products.
func length(rng *rand.Rand) int {
	return 1 + rng.IntN([]int{1, 8, 40, 140, 300, 700}[rng.IntN(6)])
}

var whole = flag.Bool("whole", false, "try ten times as many orders, and machines as plans")

// volume returns how many multiply-adds a test is to try.
func volume() int {
	switch {
	case *whole:
		return 1_000_000
	case testing.Short():
		return 20_000
	}
	return 100_000
}

// Every mode of libraries has, as an order, the bits of its definition in exact
// arithmetic, in products and in elements alone.
func TestModesHaveTheBitsOfTheirDefinitions(t *testing.T) {
	for name, family := range families {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 7))
			tried, wrong, enough := 0, 0, 1_000_000
			if testing.Short() {
				enough = volume()
			}
			for tried < enough && wrong < 3 {
				units := family.units()
				u, o, k := units[rng.IntN(len(units))], outputs[rng.IntN(len(outputs))], length(rng)
				mode := family.draw(rng, u, k, o)
				p, kind := drawn(rng, u, k)
				wrong += p.compare(t, rng, fmt.Sprintf("%s on %s, K = %d, %s", mode.name, u.device.Name, k, kind), mode, o)
				tried += p.m * p.n * k
			}
			t.Logf("%d multiply-adds, %d products wrong", tried, wrong)
		})
	}
}

// compare fails the test, and returns 1, if there is an element that the mode's
// definition has otherwise.
func (p problem) compare(t *testing.T, rng *rand.Rand, title string, m mode, o output) int {
	t.Helper()
	of := plan.Plan{Order: m.order, Output: o.format, FusedBeta: p.fused}
	if err := of.Check(); err != nil {
		t.Errorf("%s: %v", title, err)
		return 1
	}
	d := p.gemm(rng, of)
	for i := range p.m {
		for j := range p.n {
			sum := m.sum(p.x[i], p.y[j])
			if got, want := float64(d.Data[i*d.Stride+j]), p.finished(i, j, sum, o); !same(got, want) {
				t.Errorf("%s: D[%d][%d] of %d × %d = %x, want %x, of the sum %x × %v + %v × %x, fused %v, in %s",
					title, i, j, p.m, p.n, got, want, sum, p.alpha, p.beta, p.c[i][j], p.fused, o.format.Name)
				return 1
			}
			if got, want := of.Dot(p.x[i], p.y[j]), o.numbers.to(sum); !same(got, want) {
				t.Errorf("%s: Dot = %x, want %x", title, got, want)
				return 1
			}
		}
	}
	return 0
}
