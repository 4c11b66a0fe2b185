package audit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// hardLayers returns layers whose errors have little in common with those of
// normal numbers.
func hardLayers() map[string][2]blas32.General {
	rng := rand.New(rand.NewPCG(7, 0))
	made := func(rows, cols int, f func(i, j int) float64) blas32.General {
		z := matrix.New(rows, cols)
		for i := range rows {
			for j := range cols {
				z.Data[i*cols+j] = float32(f(i, j))
			}
		}
		return z
	}
	uniform := func(int, int) float64 { return rng.Float64() }
	size := func(e int) func(int, int) float64 {
		return func(int, int) float64 { return math.Ldexp(rng.NormFloat64(), e) }
	}
	wide := func(e int) func(int, int) float64 {
		return func(int, int) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(40)-30+e) }
	}
	return map[string][2]blas32.General{
		"normal":         {Normal(5, 300, 1), skewed(300, 7, 2)},
		"positive":       {made(3, 500, uniform), made(500, 3, uniform)},
		"constant":       {made(2, 257, func(int, int) float64 { return 0.3 }), made(257, 2, func(int, int) float64 { return 0.7 })},
		"decimal":        {made(4, 128, func(i, j int) float64 { return float64((i+3*j)%9) / 10 }), made(128, 3, func(i, j int) float64 { return float64((i+j)%7) / 10 })},
		"one product":    {made(3, 1, uniform), made(1, 4, uniform)},
		"one row":        {made(1, 70, size(0)), made(70, 33, size(3))},
		"dead column":    {Normal(3, 160, 3), made(160, 4, func(i, j int) float64 { return math.Ldexp(rng.NormFloat64(), -130*(j%2)) })},
		"dead row":       {made(4, 160, func(i, j int) float64 { return math.Ldexp(rng.NormFloat64(), -140*(i%2)) }), Normal(160, 3, 3)},
		"outliers":       {made(4, 200, wide(0)), made(200, 5, wide(0))},
		"tiny outliers":  {made(4, 200, wide(-62)), made(200, 5, wide(-63))},
		"tiny":           {made(3, 100, size(-70)), made(100, 3, size(-62))},
		"subnormal":      {made(3, 96, size(-132)), made(96, 3, size(-10))},
		"large":          {made(3, 96, size(60)), made(96, 3, size(50))},
		"mostly nothing": {made(3, 300, func(i, j int) float64 { return float64(j%50) * rng.Float64() * float64((j+i)%2) }), made(300, 3, size(0))},
	}
}

// No error of any output exceeds its bound, of no recipe, on no device, however
// sums leave it.
func TestBoundsHold(t *testing.T) {
	recipes := []string{"torchao-e4m3-row", "deepgemm-1x128", "deepgemm-128x128", "deepgemm-1x32-ue8m0", "te-e4m3-tensor", "te-e4m3-1x128-power", "torchao-e5m2-row",
		"te-mxe4m3", "mxe4m3-floor", "mxe5m2-rceil", "mxe2m3-even", "mxe3m2-floor", "mxe2m1-rceil", "nvfp4-te-1x16", "nvfp4-te-16x16", "nvfp4-torchao", "int8-row"}
	products := 0
	for name, factors := range hardLayers() {
		l, err := NewLayer(factors[0], factors[1])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range recipes {
			for _, promote := range []int{0, 64, 7} {
				e, err := l.Errors(recipe(t, r), recipe(t, r), devices.All(), promote)
				if err != nil {
					t.Logf("%s, %s: %v", name, r, err)
					continue
				}
				products += len(e.Devices)
				if e.Measured > e.Bound {
					t.Errorf("%s, %s: %v exceeds %v", name, r, e.Measured, e.Bound)
				}
				for _, d := range e.Devices {
					if !(d.RMS <= d.Bound && d.Total <= d.TotalBound && (d.Overflow > 0 || d.TotalBound <= (e.Bound+d.Bound)*(1+1e-9))) || math.IsInf(d.Bound, 1) {
						t.Errorf("%s, %s: %+v", name, r, d)
					}
				}
			}
			outputsWithin(t, l, name, recipe(t, r))
		}
	}
	if products < 2000 {
		t.Errorf("%d products on devices", products)
	}
}

// outputsWithin compares the error of each output with its bound.
func outputsWithin(t *testing.T, l *Layer, name string, r quant.Recipe) {
	qa, err := r.Quantise(l.a, quant.Left)
	if err != nil {
		return
	}
	qb, cols, _ := l.quantiseB(r)
	same := func(m blas32.General) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(m.Data[i*m.Stride+j]) }
	}
	x, y := l.left(number(qa)), l.right(number(qb), cols)
	most, sizes := l.elementwise(l.left(same(l.a)), l.right(same(l.b), l.cols), x, y)
	exact := matrix.Product64(x, y)
	for i, v := range matrix.Product64(matrix.Map64(math.Abs, x), matrix.Map64(math.Abs, y)).Data {
		if e := math.Abs(exact.Data[i] - l.d.Data[i]); e > most.Data[i] || v > sizes.Data[i] {
			t.Errorf("%s, %s: error %v of output %d exceeds %v, or its size %v %v", name, r.Name, e, i, most.Data[i], v, sizes.Data[i])
		}
	}
	for _, d := range devices.All() {
		for _, every := range steps(qa, qb, d, 48) {
			z, limit := l.run(qa, qb, cols, d, every), l.accumulation(qa, qb, cols, d, every, sizes)
			for i, v := range z.Data {
				if e := math.Abs(v - exact.Data[i]); v-v == 0 && e > limit.Data[i] {
					t.Errorf("%s, %s, %s every %d: error %v of output %d exceeds %v", name, r.Name, d.Name, every, e, i, limit.Data[i])
				}
			}
		}
	}
}

// Of what rounds to nearest only bounds are taken that need no luck.
func TestBoundsAlways(t *testing.T) {
	k := bound.Problem{M: 1, N: 1, K: 300, Machine: tcore.Machine{Device: devices.IEEEF16()}}
	if β, η := always(k); β != 299*0x1p-24 || η != 0 {
		t.Errorf("β = %v, η = %v", β, η)
	}
}

// Bounds are not far from errors where these are made as great as they can be:
// each line has a kind of error that the others do not have.
func TestBoundsAreReached(t *testing.T) {
	row := func(first float64, n int, rest float64) blas32.General {
		z := matrix.New(1, n)
		for i := range z.Data {
			z.Data[i] = float32(rest)
		}
		z.Data[0] = float32(first)
		return z
	}
	sparse := func(n, step int, first, rest float64) blas32.General {
		z := matrix.New(1, n)
		for i := 0; i < n; i += step {
			z.Data[i] = float32(rest)
		}
		z.Data[0] = float32(first)
		return z
	}
	column := func(m blas32.General) blas32.General {
		return blas32.General{Rows: m.Cols, Cols: 1, Stride: 1, Data: m.Data}
	}
	// Products of small numbers alone, beside the greatest of A and those of B: at
	// is the place of the first, of the second, and of the third.
	small := func(n int, at [3]int, greatest, rest float64) (a, b blas32.General) {
		a, b = row(0, n, 0), row(0, n, 0)
		a.Data[at[0]], b.Data[at[2]] = float32(greatest), float32(greatest)
		a.Data[at[1]], b.Data[at[1]] = float32(rest), float32(rest)
		return a, column(b)
	}
	tinyA, tinyB := small(3, [3]int{0, 1, 2}, 448*0x1.1cp-63, 0x1.7p-67)
	tensorA, tensorB := small(48, [3]int{0, 16, 32}, 2688*0x1.1cp-63, 0x1.ap-68)
	ofSubnormals := row(0, 32, 1.125) // its first product has a number of the greatest code
	ofSubnormals.Data[1] = 448
	for _, test := range []struct {
		what, recipe string
		d            tcore.Device
		a, b         blas32.General
		least        float64 // of error over bound
	}{
		{"alignment cuts off all but the first product", "deepgemm-row-ue8m0", devices.HopperE4M3(), row(256, 32, 2.75), column(row(256, 32, 2.75)), 0.85},
		{"subnormal codes are aligned to more than they are", "deepgemm-row-ue8m0", devices.HopperE4M3(), row(256, 32, 0x1p-9), column(ofSubnormals), 0.2},
		{"every sum outside of the device loses half a unit", "deepgemm-1x32-ue8m0", devices.BlackwellE4M3(), sparse(32*400, 32, 1, 0x1p-24), column(row(1, 32*400, 1)), 0.9},
		{"the scales' product is subnormal", "te-e4m3-tensor", devices.BlackwellE4M3(), row(0x1.8p-70, 32, 0x1p-70), column(row(0x1.8p-62, 32, 0x1p-62)), 0.05},
		{"a scaled sum is subnormal", "te-e4m3-tensor", devices.BlackwellE4M3(), tinyA, tinyB, 0.5},
		{"a sum is subnormal after the scales of tensors", "nvfp4-te-1x16", devices.BlackwellNVF4(), tensorA, tensorB, 0.5},
	} {
		l, err := NewLayer(test.a, test.b)
		if err != nil {
			t.Fatal(err)
		}
		e, err := l.Errors(recipe(t, test.recipe), recipe(t, test.recipe), []tcore.Device{test.d}, 0)
		if err != nil || len(e.Devices) != 1 {
			t.Fatalf("%s: %+v, %v", test.what, e, err)
		}
		d := e.Devices[0]
		if τ := d.RMS / d.Bound; !(test.least <= τ && τ <= 1) {
			t.Errorf("%s: %v of the bound %v, want %v to 1", test.what, τ, d.Bound, test.least)
		}
	}
	l, err := NewLayer(row(0.3, 1, 0), row(0.3, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := l.Errors(recipe(t, "te-e4m3-tensor-power"), recipe(t, "te-e4m3-tensor-power"), nil, 0); err != nil || !(e.Measured/e.Bound > 1-1e-9) {
		t.Errorf("of one product the bound is the error: %+v, %v", e, err)
	}
}
