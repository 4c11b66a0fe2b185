package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// drifting are distributions for which the errors have a mean: positive ones,
// for which long sums lose the small terms, and ones of few values.
var drifting = []Distribution{
	Uniform(0, 1), Uniform(1, 2), logNormal, logUniform(-8, 8), exponential, point(0.1), point(1.0 / 3),
	FromMoments("1 or 1+2^-9", DataMoments{Mean: 1 + 0x1p-10, MeanSquare: (1 + (1+0x1p-9)*(1+0x1p-9)) / 2, MeanAbs: 1 + 0x1p-10, MaxAbs: 1 + 0x1p-9},
		func(r *rand.Rand) float64 { return 1 + 0x1p-9*float64(r.IntN(2)) }),
	FromMoments("0 or 0.4", DataMoments{Mean: 0.2, MeanSquare: 0.08, MeanAbs: 0.2, MaxAbs: 0.4},
		func(r *rand.Rand) float64 { return 0.4 * float64(r.IntN(2)) }),
	FromMoments("0 or U(0,1), 9:1", DataMoments{Mean: 0.05, MeanSquare: 0.1 / 3, MeanAbs: 0.05, MaxAbs: 1},
		func(r *rand.Rand) float64 { return r.Float64() * float64(r.IntN(10)/9) }),
}

var logNormal = FromMoments("log-normal", DataMoments{Mean: math.Exp(0.5), MeanSquare: math.Exp(2), MeanAbs: math.Exp(0.5), MaxAbs: math.Inf(1)}, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) })

// exponential has mean zero and is not symmetric.
var exponential = FromMoments("exponential-1", DataMoments{MeanSquare: 1, MeanAbs: 2 / math.E, MaxAbs: math.Inf(1)}, func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 })

func point(x float64) Distribution {
	return FromMoments(fmt.Sprint(x), DataMoments{Mean: x, MeanSquare: x * x, MeanAbs: x, MaxAbs: x}, func(*rand.Rand) float64 { return x })
}

func logUniform(lo, hi float64) Distribution {
	mean := (math.Exp2(hi) - math.Exp2(lo)) / ((hi - lo) * math.Ln2)
	return FromMoments("log-uniform", DataMoments{Mean: mean, MeanSquare: (math.Exp2(2*hi) - math.Exp2(2*lo)) / ((hi - lo) * 2 * math.Ln2), MeanAbs: mean, MaxAbs: math.Exp2(hi)}, func(r *rand.Rand) float64 { return math.Exp2(lo + (hi-lo)*r.Float64()) })
}

// If sums are rounded to nearest and small terms are lost, the bounds that
// assume errors of mean zero include the actual mean, or are refused. No error
// exceeds a bound that is marked as valid.
func TestRandomErrorsHold(t *testing.T) {
	devices := []tcore.Device{devices.PaperCoreF32(), devices.PaperCoreF16()}
	lengths, rows := []int{3, 100, 2047}, 6
	if !testing.Short() {
		lengths, rows = []int{1, 2, 3, 7, 33, 129, 1000, 2047, 5000}, 12
	}
	refused := 0
	for _, d := range devices {
		for j, dist := range drifting {
			for l, K := range lengths {
				if rarely(3, j, l) {
					continue
				}
				rng := rand.New(rand.NewPCG(71, uint64(K)))
				k := Problem{M: rows, N: 8, K: K, Machine: tcore.Machine{Device: d}, X: dist, Y: dist}
				run, err := Emulate(k, draw(rng, rows, K, dist), draw(rng, K, 8, dist))
				if err != nil {
					t.Fatal(err)
				}
				k.Run = run
				told := results(t, k, at99)
				for _, r := range told {
					if b, _ := Find(r.Bound); !r.Holds && b.Model.Zero && b.fails(k) == "" {
						refused++
					}
				}
				for o := range run {
					e := Exact.Interval(k, o, at99).Centre
					if math.IsNaN(e - e) {
						continue
					}
					for i, b := range Catalogue() {
						if !told[i].Holds || b.Name == Exact.Name {
							continue
						}
						at, slack := Interval{0, told[i].Limit(o.Abs)}, 1e-12*o.Abs*0x1p-20
						if b.Interval != nil {
							at = b.Interval(k, o, at99)
						}
						if !(math.Abs(e-at.Centre) <= at.Radius*(1+1e-12)+slack) {
							t.Errorf("%s, %s, K = %d: error %.4g, %s says %.4g ± %.4g", d.Name, dist, K, e, b.Name, at.Centre, at.Radius)
						}
					}
				}
			}
		}
	}
	if refused == 0 {
		t.Error("none is refused: the guard is not tried")
	}
}

// The mean of the error of rounding to nearest, estimated from a sample, agrees
// with the mean over all pairs of binary16 numbers of the distribution. For
// U(1,2), it is nonzero only for sums as long as K = 32768: their units in the
// last place are so large that products of few bits do not fill them evenly.
func TestPredictedMeanIsThatOfAllPairs(t *testing.T) {
	const K = 32768
	k := on(devices.PaperCoreF32())
	k.M, k.N, k.K, k.X, k.Y = 1, 1, K, Uniform(1, 2), Uniform(1, 2)
	mean := func(U float64) float64 {
		sum := 0.0
		weight := func(i int) float64 { // the probability of 1 + i/1024, halved at both ends
			if i == 0 || i == 1024 {
				return 1. / 2048
			}
			return 1. / 1024
		}
		for i := range 1025 {
			for j := range 1025 {
				p := (1 + float64(i)/1024) * (1 + float64(j)/1024)
				if r := math.RoundToEven(p/U)*U - p; math.Abs(r) != U/2 {
					sum += weight(i) * weight(j) * r
				}
			}
		}
		return sum
	}
	const μ = 2.25
	want := 0.0
	for e := 10; e <= 16; e++ { // the binades that the sum passes through
		from, to := math.Ldexp(1, e), min(math.Ldexp(1, e+1), K*μ)
		want += (to - from) / μ * mean(math.Ldexp(1, e-23)) / (K * μ)
	}
	got, err := Predict(k)
	if err != nil || math.Abs(got.Mean-want) > 0.2*want {
		t.Errorf("predicted %.3g, %v; of all pairs %.3g", got.Mean, err, want)
	}
	if d, _ := k.drift(); math.Abs(d.mean/(K*μ)-want) > d.most/(K*μ)-math.Abs(d.mean/(K*μ)) {
		t.Errorf("a bound takes it as %.3g, at most %.3g", d.mean/(K*μ), d.most/(K*μ))
	}
}

// The increments are those of elements that are drawn, converted and multiplied
// one by one, x and y in turn, sum by sum or batch by batch.
func TestIncrementsAreOfElementsOneByOne(t *testing.T) {
	skewed := FromMoments("skewed", DataMoments{}, func(r *rand.Rand) float64 { return 3e4 * r.ExpFloat64() })
	for _, d := range []tcore.Device{devices.IEEEF16(), devices.IEEEF64(), devices.CDNA1F16(), devices.CDNA1BF16()} {
		k := Problem{K: 512, Machine: tcore.Machine{Device: d}, X: skewed, Y: Normal(1, 1)}
		rng := rand.New(rand.NewPCG(dataSeed, 3))
		number := func(d Distribution, f tcore.Format) float64 {
			v := d.from(rng).Rand()
			if f.Precision > 24 {
				v = float64(float32(v))
			}
			z := f.Round(v, k.Device.Convert)
			if math.IsInf(z, 0) {
				return math.Copysign(f.Max(), v)
			}
			return z
		}
		const nx, ny = 16, 1024
		terms := k.stepTerms()
		var want truncation.Increments
		for range 16 {
			var x, y []float64
			switch terms {
			case 1:
				for range nx {
					x = append(x, number(k.X, d.A))
				}
				for range ny {
					y = append(y, number(k.Y, d.B))
				}
			default:
				y = []float64{1}
				for range nx * ny / terms {
					a, b := make([]float64, terms), make([]float64, terms)
					for i := range a {
						a[i] = number(k.X, d.A)
					}
					sum := 0.0
					for i := range b {
						b[i] = number(k.Y, d.B)
						sum += float64(a[i] * b[i])
					}
					x = append(x, sum)
				}
			}
			want.Add(x, y, nil)
		}
		got := k.increments(terms, nx)
		for _, U := range []float64{0x1p-20, 0x1p-4, 1, 0x1p10} {
			if g, w := got.Nearest(U), want.Nearest(U); g != w {
				t.Errorf("%s, in sums of %d, U = %v: %+v, want %+v", d.Name, terms, U, g, w)
			}
		}
	}
}

// The products of pairs are those of an element of A and one of B, drawn in
// turn and each converted to the format of its own matrix.
func TestPairsAreOfElementsOneByOne(t *testing.T) {
	d := devices.HopperF16()
	d.B = tcore.BFloat16
	x, y := Normal(0, 1), Uniform(0, 1)
	k := Problem{K: 64, Machine: tcore.Machine{Device: d}, X: x, Y: y}
	const n = 1000
	u, v := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range u {
		u[i] = d.A.Round(x.from(rng).Rand(), d.Convert)
		v[i] = d.B.Round(y.from(rng).Rand(), d.Convert)
	}
	got, want := k.pairDistribution(n, rand.New(rand.NewPCG(1, 2))), truncation.PairProducts(u, v, d.A.Emin, d.B.Emin)
	if !reflect.DeepEqual(got, want) {
		t.Error("of distributions: not the products one by one")
	}
	one := func(f tcore.Format) elements {
		return elements{blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{0.1}}, f}
	}
	got = k.stars(one(d.A), one(d.B))
	a, b := make([]float64, 1<<14), make([]float64, 1<<14)
	for i := range a {
		a[i], b[i] = d.A.Round(float64(float32(0.1)), d.Convert), d.B.Round(float64(float32(0.1)), d.Convert)
	}
	want = truncation.PairProducts(a, b, d.A.Emin, d.B.Emin)
	want.Samples, want.Partners = 1, 1
	if !reflect.DeepEqual(got, want) {
		t.Error("of matrices: not the products one by one")
	}
}

// The mean of the errors is added to a bound, whichever of Constant and
// Absolute sets the lower limit.
func TestBiased(t *testing.T) {
	k := on(devices.PaperCoreF32())
	k.M, k.N, k.K, k.X, k.Y = 1, 1, 32768, Uniform(0, 1), Uniform(0, 1)
	d, known := k.drift()
	if !known || !(d.most > 0) {
		t.Fatalf("%+v, %v", d, known)
	}
	size := float64(k.K) / 4 // |A||B|
	for _, v := range []Value{
		{Constant: 4 * d.most / size, Absolute: math.Inf(1)},
		{Constant: math.Inf(1), Absolute: 4 * d.most},
		{Constant: 4 * d.most / size, Absolute: 5 * d.most},
		{Constant: 5 * d.most / size, Absolute: 4 * d.most},
	} {
		with, why := k.biased(v, 0)
		if got := min(with.Constant*size, with.Absolute); why != "" || math.Abs(got-5*d.most) > 1e-12*got {
			t.Errorf("%+v: %v, want %v (%s)", v, got, 5*d.most, why)
		}
		v.Constant, v.Absolute = v.Constant/4, v.Absolute/4
		if _, why := k.biased(v, 0); why == "" {
			t.Errorf("%+v: more than half of it is a mean", v)
		}
	}
}

// The errors of two chains in each block add up to their drift, to within what
// the mean of a sample varies by; of long sums of equal numbers that is less
// than the drift.
func TestDriftOfTwoChains(t *testing.T) {
	seen := 0
	for i, dist := range drifting {
		for j, K := range []int{48, 200, 16384} {
			if rarely(8, i, 2*j) && (dist.name != "0.1" || K < 16384) {
				continue
			}
			const n = 32
			k := Problem{M: n, N: n, K: K, X: dist, Y: dist, Machine: tcore.Machine{Device: devices.AMXBF16()}}
			rng := rand.New(rand.NewPCG(241118747, uint64(K)))
			a, b, c := matrix.New(n, K), matrix.New(K, n), matrix.New(n, n)
			for _, m := range []blas32.General{a, b} {
				for i := range m.Data {
					m.Data[i] = float32(dist.from(rng).Rand())
				}
			}
			k.Device.MultiplyAdd(a, b, blas32.General{}, c)
			exact, err := k.Device.ExactGEMM(a, b)
			if err != nil {
				t.Fatal(err)
			}
			mean, square := 0.0, 0.0
			for _, e := range exact.Error(c).Data {
				mean += e / (n * n)
				square += e * e / (n * n)
			}
			d, known := k.drift()
			slack := 5 * math.Sqrt(square) / n // outputs of a row and of a column share factors
			if !known || math.Abs(mean-d.mean) > d.most-math.Abs(d.mean)+slack {
				t.Errorf("%s, K = %d: mean error %.3g ± %.2g, expected %.3g, at most %.3g", dist.name, K, mean, slack, d.mean, d.most)
			}
			if math.Abs(mean) > 2*slack {
				seen++
			}
		}
	}
	if seen == 0 {
		t.Error("no drift is seen")
	}
}
