package bound

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// On the paper's models the largest error of a product of 1024 × 256 × 8 is at
// least 0.7 of the bound at 99 %, in each of five products, and never more than
// all of it.
func TestHalfUlpUniform_is_tight(t *testing.T) {
	rows, seeds := 1024, 5
	if testing.Short() {
		rows, seeds = 256, 1
	}
	const K = 256
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.PaperCoreF16()} {
		for _, dist := range []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1)} {
			least, before := 1.0, 1.0
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(241118747, uint64(seed)))
				k, outputs := run(t, d, K, rows, draw(rng, rows, K, dist), draw(rng, K, 8, dist))
				k.X, k.Y = dist, dist
				uniform, hoeffding := 0.0, 0.0
				for o := range outputs {
					e := math.Abs(Exact.Interval(k, o, at99).Centre)
					uniform = max(uniform, e/HalfUlpUniform.Interval(k, o, at99).Bound())
					hoeffding = max(hoeffding, e/HalfUlpBernstein.Interval(k, o, at99).Bound())
				}
				if uniform > 1 {
					t.Errorf("%s, %s, seed %d: broken, %.3f", d.Name, dist, seed, uniform)
				}
				least, before = min(least, uniform), min(before, hoeffding)
			}
			t.Logf("%s, %s: %.2f, half-ulp-bernstein %.2f", d.Name, dist, least, before)
			if !testing.Short() && least < 0.7 || least < 1.02*before {
				t.Errorf("%s, %s: %.3f of the bound, want 0.7; of half-ulp-bernstein %.3f", d.Name, dist, least, before)
			}
		}
	}
}

// The variance is that of all sums x + y with these lowest bits.
func TestVarianceOfRounding(t *testing.T) {
	const h = 1. / 2 // sums are rounded to whole numbers
	for _, x := range []float64{4, 2, 1, 1. / 2, 1. / 4, 1. / 8, 1. / 16} {
		for _, y := range []float64{math.Inf(1), 1, 1. / 2, 1. / 4, 1. / 8, 1. / 16} {
			squares, n := 0.0, 0.0
			for i := x; i < 8; i += 2 * x { // odd multiples
				for j := min(y, 8); j < 8; j += 2 * y {
					r := i + j - math.RoundToEven(i+j)
					squares, n = squares+r*r, n+1
				}
				if math.IsInf(y, 1) { // of nothing
					r := i - math.RoundToEven(i)
					squares, n = squares+r*r, n+1
				}
			}
			if got, want := varianceOfRounding(h, lowestOfSum(placeOf(x), placeOf(y)).value()), squares/n; math.Abs(got-want) > 1e-15 {
				t.Errorf("lowest bits %v and %v: variance %v, want %v", x, y, got, want)
			}
		}
	}
	for x, want := range map[float64]int{1: 0, 12: 2, -0.75: -2, 0x1.8p-200: -201, 0x1p1023: 1023, 0x1p-1022: -1022, 0x1.8p-1023: -1024, -0x1p-1074: -1074} {
		if got := placeOf(x); got != want {
			t.Errorf("the lowest bit of %v is at %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1)} {
		if got := placeOf(x); got <= 1024 {
			t.Errorf("the lowest bit of %v is at %v, want more than of any other number", x, got)
		}
	}
}

// It counts each sum at its own exponent, with what the lowest bits leave, and
// sums without an error not at all.
func TestHalfUlpUniform_counts_the_sums(t *testing.T) {
	const z = 1 + 0x1p-10 // z² ends in 2^-20
	odd := func(h, g float64) roundoff.Symmetric {
		return roundoff.Symmetric{Most: h, Variance: (h*h - g*g) / 3, N: 1}
	}
	for _, c := range []struct {
		device tcore.Device
		x, y   []float32
		want   []roundoff.Symmetric
	}{
		// Sums about 1, 2, 2, 6, 7 and 15, of which 7 is exact.
		{devices.PaperCoreF16(), []float32{z, z, 0, 4 * z, 1, 8 * z}, []float32{z, z, 9, z, 1, z},
			[]roundoff.Symmetric{odd(0x1p-11, 0x1p-20), odd(0x1p-10, 0x1p-20), odd(0x1p-9, 0x1p-18), odd(0x1p-8, 0x1p-17)}},
		// The first product is exact, and its lowest bit makes the second sum a tie.
		{devices.PaperCoreF32(), []float32{z, 16 * z}, []float32{z, z}, []roundoff.Symmetric{{Most: 0x1p-20, Variance: 0x1p-40, N: 1}}},
		// A subnormal sum is a multiple of 2^-24.
		{devices.PaperCoreF16(), []float32{0x1p-10 * z}, []float32{0x1p-10 * z}, []roundoff.Symmetric{odd(0x1p-25, 0x1p-40)}},
		// Nothing is known of the error of a sum that is too large for a number.
		{devices.PaperCoreF16(), []float32{256, 256, 1}, []float32{256, 256, 1}, nil},
		// The lowest bit of a product of 106 bits is not known.
		{devices.IEEEF64(), []float32{0.1, 0.2}, []float32{0.3, 0.7}, []roundoff.Symmetric{{Most: 0x1p-59, Variance: 0x1p-118 / 3, N: 1}, {Most: 0x1p-56, Variance: 0x1p-112 / 3, N: 1}}},
	} {
		for o := range emulated(t, c.device, c.x, c.y) {
			if got := o.symmetric(on(c.device)); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.device.Name, got, c.want)
			}
		}
	}
}

// Errors of one size and variance are counted together, in the order in which
// the first of each kind occurs, however many kinds there are.
func TestHalfUlpUniform_counts_kinds(t *testing.T) {
	const K = 5000
	rng := rand.New(rand.NewPCG(241118747, 10))
	x, y := make([]float32, K), make([]float32, K)
	for i := range x {
		x[i], y[i] = float32(math.Ldexp(rng.NormFloat64(), -rng.IntN(60))), float32(rng.NormFloat64())
	}
	countsKinds(t, x, y, 100)
	random := func() float32 { return float32(math.Ldexp(1+float64(rng.IntN(1024))/1024, rng.IntN(12)-6)) }
	for i := 0; i+3 <= K; i += 3 { // large sums and small ones in turn, which are rounded at many places
		x[i], y[i] = random(), random()/64
		x[i+1], y[i+1] = 64*random(), random()
		x[i+2], y[i+2] = -x[i+1], y[i+1]
	}
	countsKinds(t, x, y, 50)
}

// To whole numbers that are even, 2^24 + 1 is rounded as the sum of two odd
// halves, which could be any whole number, and as that of 2^24 and 1.
func TestHalfUlpUniform_tells_any_multiple_from_odd_ones(t *testing.T) {
	o := Entry{X: []float64{0.5, 1, 1}, Y: []float64{1, 0x1p24 + 0.5, 1}, Sums: []float64{0x1p24, 0x1p24}}
	want := []roundoff.Symmetric{{Most: 1, Variance: 1./3 + 1./6, N: 1}, {Most: 1, Variance: 1, N: 1}}
	if got := o.symmetric(on(devices.PaperCoreF32())); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// countsKinds sees that the kinds of errors of x · y on the paper's tensor core
// are those of a count without tables, and at least some.
func countsKinds(t *testing.T, x, y []float32, least int) {
	t.Helper()
	d := devices.PaperCoreF32()
	for o := range emulated(t, d, x, y) {
		var want []roundoff.Symmetric
		before := o.X[0] * o.Y[0]
		for i, s := range o.Sums {
			h := halfUlp(s, 24)
			kind := roundoff.Symmetric{Most: h, Variance: varianceOfRounding(h, lowestOfSum(placeOf(before), placeOf(o.X[i+1]*o.Y[i+1])).value())}
			before = s
			if kind.Variance == 0 {
				continue
			}
			known := false
			for j := range want {
				if want[j].Most == kind.Most && want[j].Variance == kind.Variance {
					want[j].N++
					known = true
				}
			}
			if kind.N = 1; !known {
				want = append(want, kind)
			}
		}
		if got := o.symmetric(on(d)); !slices.Equal(got, want) || len(want) < least {
			t.Errorf("%d kinds: %v, want %d: %v", len(got), got, len(want), want)
		}
	}
}

// Errors of 16 sums of one exponent are many enough for one output at 99 %,
// where 3 log(2/ζ) is 15.9, and those of 15 are too few: then it is Hoeffding's
// bound.
func TestHalfUlpUniform_needs_many_errors(t *testing.T) {
	const z = 1 + 0x1p-10
	k, one := on(devices.PaperCoreF16()), roundoff.FailureOf(0.99)
	k.M, k.N = 1, 1
	for n, want := range map[int]bool{15: false, 16: true} {
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = z*0x1p-6, z
		}
		x[0] = z // all sums are in [1, 2)
		for o := range emulated(t, k.Device, x, y) {
			k.K = n
			hoeffding := HalfUlpBernstein.Interval(k, o, one)
			if got := HalfUlpUniform.Interval(k, o, one); (got != hoeffding) != want || got.Radius > hoeffding.Radius {
				t.Errorf("%d errors: %v, Hoeffding's interval is %v", n, got, hoeffding)
			}
		}
	}
}

// emulated returns the run of x · y on a device.
func emulated(t *testing.T, d tcore.Device, x, y []float32) iter.Seq[Entry] {
	t.Helper()
	run, err := Emulate(Problem{M: 1, N: 1, K: len(x), Machine: tcore.Machine{Device: d}},
		blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}, blas32.General{Rows: len(y), Cols: 1, Stride: 1, Data: y})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// It is Hoeffding's where errors vary more than uniform ones: all are ties.
func TestHalfUlpUniform_of_ties(t *testing.T) {
	one := roundoff.FailureOf(0.99)
	ties := func(rng *rand.Rand) float32 { return float32(1 + 2*rng.IntN(512)) }
	rng := rand.New(rand.NewPCG(241118747, 9))
	const K = 64
	a := blas32.General{Rows: 4, Cols: K, Stride: K, Data: make([]float32, 4*K)}
	b := blas32.General{Rows: K, Cols: 1, Stride: 1, Data: make([]float32, K)}
	for i := range a.Data {
		a.Data[i] = ties(rng)
	}
	for i := range b.Data {
		b.Data[i] = 1
	}
	k := Problem{M: 4, N: 1, K: K, Machine: tcore.Machine{Device: devices.PaperCoreF16()}}
	var err error
	if k.X, err = MomentsOf("A", matrix.Float64(a)); err != nil {
		t.Fatal(err)
	}
	if k.Y, err = MomentsOf("B", matrix.Float64(b)); err != nil {
		t.Fatal(err)
	}
	outputs, err := Emulate(k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for o := range outputs {
		got, want := HalfUlpUniform.Interval(k, o, one), HalfUlpBernstein.Interval(k, o, one)
		if z := o.errors(k); z.proxies <= z.squares/3 {
			t.Fatal("these errors do not vary more than uniform ones")
		}
		if got != want {
			t.Errorf("%v, want Hoeffding's interval %v", got, want)
		}
	}
}
