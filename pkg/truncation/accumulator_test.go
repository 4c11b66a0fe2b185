package truncation

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The error of steps computed term by term is at most Zeta.
func TestAccumulator(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, d := range []Accumulator{
		{Terms: 1, FractionBits: 6, Unit: 0x1p-4}, {Terms: 4, FractionBits: 6, Unit: 0x1p-7},
		{Terms: 8, FractionBits: 7, Unit: 0x1p-5}, {Terms: 4, FractionBits: 8, Unit: 0x1p-4, Nearest: true},
	} {
		worst := 0.0
		for range 20000 {
			q := 1 + rng.IntN(20)
			s, exact, abs := 0.0, 0.0, 0.0
			for range q {
				terms := []float64{s}
				for range d.Terms {
					p := float64(16+rng.IntN(48)) * math.Ldexp(1, -4-rng.IntN(9)) // [1, 4) × 2^e
					if rng.IntN(20) == 0 {
						p = -p
					}
					terms = append(terms, p)
					exact += p
					abs += math.Abs(p)
				}
				s = d.step(terms)
			}
			e := math.Abs(s-exact) / abs
			if e > d.Zeta(q) {
				t.Fatalf("%+v, q = %d: error %v, bound %v", d, q, e, d.Zeta(q))
			}
			worst = max(worst, e/d.Zeta(q))
		}
		if worst < 0.2 {
			t.Errorf("%+v: the worst error is %.2g of the bound, too tame a search", d, worst)
		}
	}
}

// step adds terms as an Accumulator does, aligned to the largest exponent among
// them.
func (t Accumulator) step(terms []float64) float64 {
	largest := 0.0
	for _, x := range terms {
		largest = max(largest, math.Abs(x))
	}
	_, e := math.Frexp(largest)
	unit, sum := math.Ldexp(1, e-1-t.FractionBits), 0.0
	for _, x := range terms {
		sum += math.Trunc(x/unit) * unit
	}
	_, e = math.Frexp(sum)
	last := math.Ldexp(2*t.Unit, e-1)
	if t.Nearest {
		return math.RoundToEven(sum/last) * last
	}
	return math.Trunc(sum/last) * last
}

// The error of a truncated step is at most Error, and comes near it.
func TestTruncationError(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for _, d := range []Accumulator{
		{Terms: 2, FractionBits: 7, Unit: 0x1p-8}, {Terms: 4, FractionBits: 9, Unit: 0x1p-6},
		{Terms: 8, FractionBits: 9, Unit: 0x1p-5, Nearest: true},
	} {
		worst := 0.0
		for range 20000 {
			terms, exact, largest := make([]float64, d.Terms+1), 0.0, 0.0
			for i := range terms {
				terms[i] = float64(32+rng.IntN(32)) * math.Ldexp(1-2*rng.Float64(), -rng.IntN(6))
				terms[i] = math.Ldexp(math.Trunc(math.Ldexp(terms[i], 12)), -12)
				largest = max(largest, math.Abs(terms[i]))
			}
			// The term of the largest exponent is a multiple of the unit, as a product of
			// short factors is.
			unit := math.Ldexp(1, math.Ilogb(largest)-d.FractionBits)
			for i := range terms {
				if math.Abs(terms[i]) == largest {
					terms[i] = math.Trunc(terms[i]/unit) * unit
				}
				exact += terms[i]
			}
			s := d.step(terms)
			b := d.Error(math.Ilogb(largest), s)
			if e := math.Abs(s - exact); e > b {
				t.Fatalf("%+v: %v sum to %v, error %v, bound %v", d, terms, s, e, b)
			} else {
				worst = max(worst, e/b)
			}
		}
		if worst < 0.5 {
			t.Errorf("%+v: the worst error is %.2g of the bound, too tame a search", d, worst)
		}
	}
	if e := (Accumulator{Terms: 4, FractionBits: 23, Unit: 0x1p-24}).Error(0, 0); e != 0x1p-21 {
		t.Errorf("of a sum that is 0: %v, want 4 × 2^-23", e)
	}
}
