package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Bounds from the distribution of the data are valid for every output, relative
// to its own Σ|xy| and as absolute bounds. For sums of few products, Σ|xy| is
// farthest from its mean.
func TestElementwise(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	for _, c := range []struct {
		device  tcore.Device
		lengths []int
	}{
		{devices.VoltaF16(), []int{4, 8, 16}},
		{devices.AmpereF16(), []int{4, 8, 16}},
		{devices.HopperF16(), []int{16, 20}},
		{devices.HopperF16F16(), []int{16, 40}},
		{devices.AdaE4M3F16(), []int{16, 32, 64}},
		{devices.PaperCoreF32(), []int{4, 16, 64}},
	} {
		for _, d := range []Distribution{Uniform(1, 2), Uniform(0, 1), Normal(1, 1)} {
			for _, K := range c.lengths {
				k := Problem{M: 1024, N: 8, K: K, Machine: tcore.Machine{Device: c.device}, X: d, Y: d}
				var bounds []Result
				for _, r := range results(t, k, at99) {
					if b, _ := Find(r.Bound); r.Holds && b.Needs == Moments {
						bounds = append(bounds, r)
					}
				}
				if len(bounds) == 0 && d.of().family != normalFamily {
					t.Errorf("%s, %s, K = %d: no bound holds", k.Device.Name, d, K)
				}
				for seed := range uint64(seeds) {
					rng := rand.New(rand.NewPCG(241118747, seed))
					errors, sizes := multiply(t, k, rng)
					for _, r := range bounds {
						over, most := 0, 0.0
						for i, e := range errors {
							limit := r.Underflow + min(r.Absolute, r.Constant*sizes[i])
							most = max(most, math.Abs(e)/limit)
							if !(math.Abs(e) <= limit) {
								over++
							}
						}
						if over > 0 {
							t.Errorf("%s, %s, K = %d, seed %d: %d outputs exceed %s, up to %.3f of it", k.Device.Name, d, K, seed, over, r.Bound, most)
						}
					}
				}
			}
		}
	}
}

// multiply returns the errors and Σ|xy| of all outputs, for matrices drawn from
// the distributions of the problem.
func multiply(t *testing.T, k Problem, rng *rand.Rand) (errors, sizes []float64) {
	t.Helper()
	a, b := draw(rng, k.M, k.K, k.X), draw(rng, k.K, k.N, k.Y)
	normal(k.Device.A, a)
	normal(k.Device.B, b)
	d := blas32.General{Rows: k.M, Cols: k.N, Stride: k.N, Data: make([]float32, k.M*k.N)}
	k.Device.MultiplyAdd(a, b, blas32.General{}, d)
	ab, err := exact.GEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := exact.AbsGEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return ab.Error(d).Data, abs.Float64().Data
}

// No Σ|xy| is less than leastSize, except with the given probability of
// failure, and some come near.
func TestLeastSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 31))
	for _, d := range []Distribution{Uniform(1, 2), Uniform(-1, 1), Normal(0, 1), Normal(3, 1)} {
		for _, K := range []int{8, 64, 300} {
			k := Problem{M: 256, N: 8, K: K, Machine: tcore.Machine{Device: devices.HopperF16()}, X: d, Y: d}
			least, nearest := k.leastSize(at99), math.Inf(1)
			for range 4 {
				_, sizes := multiply(t, k, rng)
				for _, s := range sizes {
					nearest = min(nearest, s/least)
				}
			}
			if !(nearest >= 1) || K > 8 && nearest > 1.8 {
				t.Errorf("%s, K = %d: the least is %v of what is said", d, K, nearest)
			}
		}
	}
}

// A bound does not depend on the problems that were evaluated before, which may
// differ in data, conversion or formats.
func TestOrderOfQuestions(t *testing.T) {
	k := Problem{M: 64, N: 64, K: 256, Machine: tcore.Machine{Device: devices.HopperTF32()}, X: Uniform(-1, 1), Y: Uniform(-1, 1)}
	matrix := func(x ...float64) Distribution {
		d, err := MomentsOf("", blas64.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	change := func(f func(k *Problem)) Problem {
		l := k
		f(&l)
		return l
	}
	coin := func(of float64) Distribution { // the moments that are given are the same for all
		return FromMoments("", DataMoments{MeanSquare: 1, MeanAbs: 1, MaxAbs: 2, Symmetric: true}, func(r *rand.Rand) float64 {
			if r.IntN(2) == 0 {
				return of
			}
			return -of
		})
	}
	kernels := []Problem{
		k,
		change(func(k *Problem) { k.Device.Convert = tcore.ToNearestEven }),
		change(func(k *Problem) { k.Device.Convert = tcore.ToZero }),
		change(func(k *Problem) {
			d := but(k.X, func(m *DataMoments) { m.Symmetric = false })
			k.X, k.Y = d, d
		}),
		change(func(k *Problem) { k.Device.A.Emin = -3 }),
		change(func(k *Problem) { k.Device = devices.HopperE4M3() }),
		change(func(k *Problem) { k.Device = devices.HopperE4M3(); k.Device.A.Emin++ }),
		change(func(k *Problem) { k.X, k.Y = coin(1), coin(1) }),
		change(func(k *Problem) { k.X, k.Y = coin(1+0x1p-10), coin(1+0x1p-10) }),
		change(func(k *Problem) {
			d := FromMoments("", k.X.Moments(), coin(1).of().draw)
			k.X, k.Y = d, d
		}),
		change(func(k *Problem) { k.X, k.Y = matrix(-1, 1), matrix(-1, 1) }),
		change(func(k *Problem) { k.X, k.Y = matrix(-1-0x1p-10, 1+0x1p-10), matrix(-1, 1) }),
		change(func(k *Problem) { // the moments of the last problem but one, for other numbers
			k.X, k.Y = matrix(-1, 1, -1, 1), matrix(-1-0x1p-10, 1+0x1p-10)
			k.X = k.X.Named(k.Y.String())
		}),
	}
	fresh := func() {
		distributionTables.known, momentTables.known, valueTables.known, roundedTables.known = nil, nil, nil, nil
	}
	alone := map[int]string{}
	say := func(k Problem) string { return fmt.Sprint(TruncatedRandomData.Constant(k, at99), k.products()) }
	different := map[string]bool{}
	for i, k := range kernels {
		fresh()
		alone[i] = say(k)
		different[alone[i]] = true
	}
	if len(different) < 8 {
		t.Errorf("only %d answers to %d questions", len(different), len(kernels))
	}
	rng := rand.New(rand.NewPCG(241118747, 32))
	for range 3 {
		fresh()
		for _, i := range rng.Perm(len(kernels)) {
			if got := say(kernels[i]); got != alone[i] {
				t.Errorf("question %d: %s, asked alone %s", i, got, alone[i])
			}
		}
	}
}

// The bound on log E e^(±z(p-μ)) is no less than the true value, and little
// more, for products of numbers after their conversion.
func TestLogMomentOfProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 33))
	x := make([]float64, 200)
	for i := range x {
		x[i] = rng.NormFloat64() + 0.3
	}
	elements, err := MomentsOf("elements", blas64.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})
	if err != nil {
		t.Fatal(err)
	}
	unknown := Uniform(-1, 2)
	unknown = but(unknown, func(*DataMoments) {})
	for i, c := range []struct {
		x, y  Distribution
		slack float64
	}{
		{Uniform(-1, 1), Uniform(-1, 1), 0.06}, {Uniform(0, 1), Uniform(0, 1), 0.1}, {Uniform(1, 2), Uniform(-1, 3), 0.1},
		{Uniform(3, 4), Uniform(-2, -1), 0.15}, {elements, elements, 0.02}, {elements, Uniform(0, 1), 0.1},
		{Normal(0, 1), Uniform(0, 1), 0.1}, {Normal(1, 2), elements, 0.1}, {Normal(1, 1), Normal(0.5, 1), 0.1},
		{unknown, Uniform(0, 1), 1}, {Normal(1, 1), unknown, 4},
	} {
		for j, device := range []tcore.Device{devices.HopperBF16(), devices.HopperF16()} {
			if rarely(2, i, j) {
				continue
			}
			k := Problem{M: 8, N: 8, K: 64, Machine: tcore.Machine{Device: device}, X: c.x, Y: c.y}
			largestX, largestY := k.largestFactors(-30)
			bound := k.logMoment(&truncation.Losses{Products: &truncation.ProductDistribution{Samples: 1}}, largestX, largestY)
			px, py := points(k.Device.A, c.x), points(k.Device.B, c.y)
			mean, square := 0.0, 0.0
			for _, a := range px {
				for _, b := range py {
					mean, square = mean+a*b, square+a*a*b*b
				}
			}
			n := float64(len(px) * len(py))
			mean /= n
			σ := math.Sqrt(square/n - mean*mean)
			for _, zσ := range []float64{0.01, 0.1, 0.5} {
				z, up, down := zσ/σ, 0.0, 0.0
				for _, a := range px {
					for _, b := range py {
						up += math.Expm1(z*(a*b-mean)) / n
						down += math.Expm1(-z*(a*b-mean)) / n
					}
				}
				want := math.Log1p(max(up, down))
				slack := c.slack
				if device.A.Precision < 11 {
					slack += 0.3
				}
				if got := bound(z); !(got >= want*(1-1e-6)) || got > want*(1+slack) {
					t.Errorf("%s × %s in %s, z = %v/σ: %v of %v", c.x, c.y, device.A.Name, zσ, got/want, want)
				}
			}
		}
	}
}

// points returns equally likely numbers that represent a distribution after
// conversion. Their spread is at most that of the distribution.
func points(f tcore.Format, d Distribution) []float64 {
	const n = 1000
	o, x := d.of(), make([]float64, 0, n)
	switch {
	case !o.inFull():
		return points(f, Uniform(-1, 2))
	case o.elements != nil:
		x = append(x, o.elements...)
	case o.family == uniformFamily:
		for i := range n {
			x = append(x, o.lo+(o.hi-o.lo)*(float64(i)+0.5)/n)
		}
	default:
		for i := range n {
			x = append(x, d.Mean()+math.Sqrt(2*d.Variance())*math.Erfinv((2*float64(i)+1)/n-1))
		}
	}
	f.RoundSlice(x, x, tcore.ToNearestEven)
	return x
}

// The computed distribution of numbers converted to a small format agrees with
// that of numbers that are drawn and converted.
func TestMeasure(t *testing.T) {
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.E2M1, tcore.E4M3FNUZ} {
		for _, d := range []Distribution{Uniform(-1, 1), Uniform(0.3, 2.7), Uniform(100, 101), Normal(0, 1), Normal(2, 0.1)} {
			for _, mode := range []tcore.RoundingMode{tcore.ToNearestEven, tcore.ToZero} {
				if d.MaxAbs() > f.Max() && d.of().family != normalFamily {
					continue
				}
				k := Problem{Machine: tcore.Machine{Device: tcore.Device{Convert: mode}}}
				dist := k.distributionOf(f, d)
				const n = 1 << 16
				drawn, sum := k.draws(f, d, n, rand.New(rand.NewPCG(241118747, 34))), 0.0
				probability := map[float64]float64{}
				for i, v := range dist.values {
					probability[v] = dist.probabilities[i]
					sum += dist.probabilities[i]
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("%s, %s: probabilities add up to %v", f.Name, d, sum)
				}
				for i, v := range drawn.values {
					p := probability[v]
					if math.Abs(drawn.probabilities[i]-p) > 6*math.Sqrt(p/n)+1e-9 {
						t.Errorf("%s, %s, %v: %v with probability %v, drawn %v", f.Name, d, mode, v, p, drawn.probabilities[i])
					}
				}
			}
		}
	}
}

// The coarse distribution has the same mean as the distribution itself, and a
// mean square that is no smaller and little larger.
func TestCoarse(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 35))
	x := make([]float64, 5000)
	for i := range x {
		x[i] = math.Exp(2 * rng.NormFloat64())
	}
	d, err := MomentsOf("x", blas64.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []Distribution{d, Uniform(-1, 3)} {
		l := d.of().coarse()
		identity := func(x float64) float64 { return x }
		if m := l.mean(identity); math.Abs(m-d.Mean()) > 1e-9*d.MeanAbs() {
			t.Errorf("%s: mean %v, want %v", d, m, d.Mean())
		}
		square := l.mean(func(x float64) float64 { return x * x })
		if !(square >= d.MeanSquare()) || square > 1.02*d.MeanSquare() {
			t.Errorf("%s: mean square %v, want %v or little more", d, square, d.MeanSquare())
		}
	}
}

// The shares of a probability of failure add up to 1, and a bound with a higher
// confidence is larger.
func TestShares(t *testing.T) {
	sum := 0.0
	for _, share := range sizeShares {
		sum += share
	}
	if sum != 1 {
		t.Errorf("shares of %v", sum)
	}
	k := on(devices.HopperF16())
	k.X, k.Y = Uniform(0, 1), Uniform(0, 1)
	for _, b := range []Bound{TruncatedRandomData, RandomDataSharp, RandomData} {
		v, w := b.Constant(k, at99), b.Constant(k, -30)
		if !(v.Absolute < w.Absolute && v.Constant < w.Constant) {
			t.Errorf("%s: %+v, surer %+v", b.Name, v, w)
		}
		if size := float64(k.K) * 0.25; !(v.Constant*size > v.Absolute) || v.Constant*size > 1.05*v.Absolute {
			t.Errorf("%s: %v over the mean of Σ|xy|, and %v by itself", b.Name, v.Constant*size, v.Absolute)
		}
	}
}
