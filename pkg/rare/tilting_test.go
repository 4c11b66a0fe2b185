package rare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/stat/combin"
)

// coins is a sum whose n last products are half a unit in the last place of the
// first: each rounding is the throw of a coin.
func coins(n int, sign float64) Tilting {
	t := Tilting{Machine: tcore.Machine{Device: devices.IEEEF32(), Stochastic: tcore.Stochastic{Bits: 32}}, X: []float64{sign}, Y: []float64{1}}
	for range n {
		t.X, t.Y = append(t.X, sign*0x1p-12), append(t.Y, 0x1p-12)
	}
	return t
}

// The error of n coins is a difference of two numbers of heads and tails, in
// halves of a unit: exactly binomial.
func TestTiltingFindsTheTailsOfCoins(t *testing.T) {
	const n = 200
	for _, sign := range []float64{1, -1} {
		for _, steps := range []float64{20, 60, 100, 110} { // from 0.1 to 1e-15
			truth := 0.0
			for heads := range n + 1 {
				if math.Abs(float64(2*heads-n)) > steps {
					truth += math.Exp(combin.LogGeneralizedBinomial(n, float64(heads)) - n*math.Ln2)
				}
			}
			e, err := coins(n, sign).Exceeds(t.Context(), steps*0x1p-24, Effort{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(steps, truth, e, e.Effective)
			near(t, "coins", e, truth)
			if e.Doubt() != "" || e.StdErr > e.Rate/10 {
				t.Errorf("%v: %v, doubt %q", steps, e, e.Doubt())
			}
		}
	}
}

// stochasticTail returns the exact tails of |error| of a sum that is rounded
// stochastically to six bits, from the law of its sums.
func stochasticTail(x, y []float64, limit float64, pairs bool) (p float64) {
	add := func(law map[float64]float64, product float64) map[float64]float64 {
		next := map[float64]float64{}
		for s, p := range law {
			z := s + product
			if z == 0 {
				next[0] += p
				continue
			}
			quantum := math.Ldexp(1, max(int(math.Floor(math.Log2(math.Abs(z)))), -6)-5)
			n := math.Floor(math.Abs(z) / quantum)
			φ := math.Abs(z)/quantum - n
			next[math.Copysign(n*quantum, z)] += p * (1 - φ)
			next[math.Copysign((n+1)*quantum, z)] += p * φ
		}
		return next
	}
	var sum func(x, y []float64) map[float64]float64
	sum = func(x, y []float64) map[float64]float64 {
		if !pairs || len(x) == 1 {
			law := map[float64]float64{0: 1}
			for i := range x {
				law = add(law, x[i]*y[i])
			}
			return law
		}
		half := 1 << (int(math.Ceil(math.Log2(float64(len(x))))) - 1)
		both := map[float64]float64{}
		right := sum(x[half:], y[half:])
		for s, p := range sum(x[:half], y[:half]) {
			for z, q := range right {
				for v, r := range add(map[float64]float64{s: 1}, z) {
					both[v] += p * q * r
				}
			}
		}
		return both
	}
	exact := 0.0
	for i := range x {
		exact += x[i] * y[i]
	}
	for s, q := range sum(x, y) {
		if math.Abs(s-exact) > limit {
			p += q
		}
	}
	return p
}

// In few bits, the law of a stochastic sum is propagated from product to
// product, over all binades that it meets.
func TestTiltingFindsTheErrorsOfFewBits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	x, y := make([]float64, 40), make([]float64, 40)
	for i := range x {
		x[i], y[i] = tcore.E4M3.Round(r.NormFloat64()+1, tcore.ToNearestEven), tcore.E4M3.Round(1+r.Float64(), tcore.ToNearestEven)
	}
	d := few()
	d.A, d.B = tcore.E4M3, tcore.E4M3
	for _, order := range []tcore.Order{tcore.InSequence, tcore.InPairs} {
		least := 1.0
		for _, limit := range []float64{1, 2, 2.5, 3, 3.5, 4, 6, 8, 11} {
			truth := stochasticTail(x, y, limit, order == tcore.InPairs)
			if truth < 1e-13 {
				continue
			}
			e, err := Tilting{Machine: tcore.Machine{Device: d, Order: order, Stochastic: tcore.Stochastic{Bits: 32}}, X: x, Y: y}.Exceeds(t.Context(), limit, Effort{Seed: 2, Samples: 1000})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(order, limit, truth, e, e.Effective, e.Doubt())
			near(t, order.String(), e, truth)
			least = min(least, truth)
		}
		if least > 1e-6 {
			t.Errorf("%v: the least rate is %v", order, least)
		}
	}
}

// The random bits of tcore, found by asking, and the fraction computed here say
// together how tcore rounds.
func TestFractionIsThatOfTheMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []int{1, 3, 8, 32} {
		for i := range 2000 {
			s := tcore.Stochastic{Seed: 9, Bits: bits}
			f := []tcore.Format{tcore.Binary32, tcore.BFloat16, few().C}[i%3]
			in := []tcore.Format{tcore.Binary32, tcore.Binary16, tcore.E2M1}[i/3%3]
			draw := func() float64 { return in.Round(math.Ldexp(r.NormFloat64(), r.IntN(12)-6), tcore.ToNearestEven) }
			a, b := draw(), draw()
			c := f.Round(math.Ldexp(r.NormFloat64(), r.IntN(40)-20), tcore.ToNearestEven)
			// 1 + n 2^-bits quanta are rounded up from n = 2^bits - random on.
			one := func(n int) bool {
				return s.FMA(f, 1, 1, float64(n)*math.Ldexp(1, -bits-f.Precision+1), uint64(i)) > 1
			}
			lo, hi := 0, 1<<bits
			for hi-lo > 1 {
				if mid := (lo + hi) / 2; one(mid) {
					hi = mid
				} else {
					lo = mid
				}
			}
			random := math.Ldexp(float64(1<<bits-hi), -bits)
			want := s.FMA(f, a, b, c, uint64(i))
			got := f.FMA(a, b, c, tcore.ToZero)
			if away := f.FMA(a, b, c, tcore.ToPositive); away != got {
				h := away - got
				if _, p := fraction(a, b, c, got, h, bits); p+random >= 1 {
					got = away
				}
			} else if away := f.FMA(a, b, c, tcore.ToNegative); away != got {
				h := away - got
				if _, p := fraction(a, b, c, got, h, bits); p+random >= 1 {
					got = away
				}
			}
			if got != want {
				t.Fatalf("%s by %d bits: fma(%v, %v, %v) = %v, want %v", f.Name, bits, a, b, c, got, want)
			}
		}
	}
}

// Tilted by nothing, a sum has the errors of the machine; its error is that of
// its result.
func TestTheErrorIsThatOfTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for _, order := range []tcore.Order{tcore.InSequence, tcore.InPairs} {
		for range 100 {
			x, y := make([]float64, 37), make([]float64, 37)
			for i := range x {
				x[i], y[i] = float64(float32(r.NormFloat64())), float64(float32(r.NormFloat64()))
			}
			z := tilted{format: tcore.Binary32, bits: 32, r: r, tilts: [tilts]float64{1e6, -1e6}}
			d := z.dot(order, x, y)
			if want := errorOf(d, x, y); math.Abs(z.err-want) > 1e-9*math.Abs(want)+1e-18 {
				t.Fatalf("%v: error %v, want %v", order, z.err, want)
			}
		}
	}
}

func TestTiltingSaysWhatItCannot(t *testing.T) {
	good := coins(3, 1)
	for want, change := range map[string]func(*Tilting){
		"rounds to nearest, want":       func(t *Tilting) { t.Machine.Stochastic.Bits = 0 },
		"after its stochastic sums":     func(t *Tilting) { t.Machine.SplitK = 2 },
		"compensated":                   func(t *Tilting) { t.Machine.Order = tcore.Compensated },
		"numbers of X and":              func(t *Tilting) { t.X = t.X[1:] },
		"want a format of at most 40":   func(t *Tilting) { t.Machine.Device = devices.IEEEF64() },
		"Stochastic.Bits = 33, want":    func(t *Tilting) { t.Machine.Stochastic.Bits = 33 },
		"0 numbers of X and 0 of Y":     func(t *Tilting) { t.X, t.Y = nil, nil },
		"stochastic sums, want one par": func(t *Tilting) { t.Machine.Output = tcore.Binary16 },
	} {
		bad := good
		bad.X = slices.Clone(good.X)
		change(&bad)
		if _, err := bad.Exceeds(t.Context(), 1, Effort{}); err == nil || !contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if e, err := good.Exceeds(t.Context(), 1, Effort{}); err != nil || e.Level != 2.7*0x1p-24 || math.Abs(e.Rate-0.25) > 4*e.StdErr {
		t.Errorf("%+v, %v: three coins are off by 3 halves with probability 1/4, and by no more", e, err)
	}
	whole := Tilting{good.Machine, []float64{1, 2}, []float64{1, 1}}
	if e, err := whole.Exceeds(t.Context(), 1, Effort{}); err != nil || e.Rate != 0 || e.High != 1 || e.Doubt() == "" {
		t.Errorf("%+v, %v: a sum without rounding", e, err)
	}
}
