package quantisation

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The mean of g is no less than that of exp(-tu) for u >= 0, and is near it for
// many frequencies: for normal numbers, whose mean is known, and for coins,
// which come back to each of their values.
func TestOvershoot(t *testing.T) {
	for _, U := range []struct {
		name  string
		φ     func(s float64) complex128
		want  func(t float64) float64
		slack float64 // for frequencies of hundreds of deviations
	}{
		{
			"normal",
			func(s float64) complex128 { return complex(math.Exp(-s*s/2), 0) },
			func(t float64) float64 { return erfcx(t/math.Sqrt2) / 2 },
			1.06,
		},
		{
			"two coins", // 0.7 - 2, 0.7 and 0.7 + 2
			func(s float64) complex128 { return cmplx.Exp(complex(0, 0.7*s)) * complex(square(math.Cos(s)), 0) },
			func(t float64) float64 { return math.Exp(-0.7*t)/2 + math.Exp(-2.7*t)/4 },
			1.02,
		},
	} {
		for _, θ := range []float64{0.1, 0.5, 2, 5} {
			for _, T := range []float64{0.5, 3, 20, 300} {
				n := samples(T, 1)
				φ := make([]complex128, n)
				for j := range φ {
					φ[j] = U.φ(float64(j) * T / float64(n))
				}
				got, want := overshoot(θ, T/float64(n), φ), U.want(θ)
				if got < want || T == 300 && θ > 1 && got > U.slack*want {
					t.Errorf("%s, t = %v, T = %v: %v, want %v, and with T = 300 and t > 1 at most %v of it", U.name, θ, T, got, want, U.slack)
				}
			}
		}
	}
	// What φ may err by adds to the mean.
	φ := make([]complex128, 100)
	wrong := make([]complex128, 100)
	for j := range φ {
		φ[j] = complex(math.Exp(-square(float64(j)/10)/2), 0)
		if wrong[j] = φ[j]; cmplx.Abs(φ[j]) < negligible {
			wrong[j] = 0
		}
	}
	var right float64
	for j := range φ {
		g := majorant(2*math.Pi*0.3/10, float64(j)/100)
		right += real(g*φ[j]) / 100 * float64(min(j, 1)+1)
	}
	if got := overshoot(0.3, 0.1, wrong); got < right || got > right*(1+1e-5) {
		t.Errorf("%v without what is negligible, %v with it", got, right)
	}
}

// The characteristic function of waves is that of all outcomes.
func TestCharacteristic(t *testing.T) {
	const step, n = 0.3, 40
	r := rand.New(rand.NewPCG(3, 1))
	for _, name := range kinds {
		a, b := data[name](1, 5, 1, r)
		s := stochastic(t, tcore.E2M1, IdealBits, a, b)
		for _, θ := range []float64{0, 0.7} {
			for _, sign := range []float64{-1, 1} {
				terms, start := s.terms(nil, 0, 0), 0.0
				waves := make([]wave, len(terms))
				for i := range terms {
					waves[i] = terms[i].wave(θ, sign, step)
					start += sign * terms[i].value[0]
				}
				for j, got := range characteristic(waves, n) {
					var want complex128
					mass := 0.0
					s.outcomes(0, 0, func(e, p float64) {
						p *= math.Exp(θ * sign * e)
						mass += p
						want += complex(p, 0) * cmplx.Exp(complex(0, float64(j)*step*(sign*e-start)))
					})
					if want /= complex(mass, 0); cmplx.Abs(got-want) > 1e-12 && (got != 0 || cmplx.Abs(want) > negligible) {
						t.Errorf("%s, θ = %v, sign %v, s = %d × %v: %v, want %v", name, θ, sign, j, step, got, want)
					}
				}
			}
		}
	}
}

// convolved returns the exact distribution of output (0, 0), whose terms differ
// by multiples of unit, by one convolution after the other: p[i] is the
// probability of least + i unit.
func (s StochasticProduct) convolved(unit float64) (p []float64, least float64) {
	p = []float64{1}
	for _, q := range s.terms(nil, 0, 0) {
		low := min(q.value[0], q.value[1], q.value[2], q.value[3])
		high := max(q.value[0], q.value[1], q.value[2], q.value[3])
		least += low
		next := make([]float64, len(p)+int(math.Round((high-low)/unit)))
		for l, v := range q.value {
			shift := int(math.Round((v - low) / unit))
			for i, x := range p {
				next[i+shift] += x * q.weight[l]
			}
		}
		p = next
	}
	return p, least
}

// Of sums whose distribution is known, on a lattice, no side has more than half
// of the probability of failure beyond its tail, and of many terms nearly as
// much: what is between two points of the lattice cannot be told.
func TestSmoothedAgainstTheDistribution(t *testing.T) {
	for _, c := range []struct {
		name string
		f    tcore.Format
		unit float64
	}{{"constants", tcore.E4M3, 0x1p-10}, {"constants", tcore.E2M1, 0.25}, {"AR(1)", tcore.E2M1, 0.25}, {"sorted", tcore.E2M1, 0.25}, {"N(0,1)", tcore.E2M1, 0.25}} {
		for _, K := range []int{1, 8, 16, 256} {
			a, b := data[c.name](1, K, 1, rand.New(rand.NewPCG(12, uint64(K))))
			s := stochastic(t, c.f, IdealBits, a, b)
			p, low := s.convolved(c.unit)
			name := fmt.Sprintf("%s, %s, K = %d", c.name, c.f.Name, K)
			for _, f := range []roundoff.Failure{-0.1, -2.3, -4.6, -14, -30} {
				l, terms := math.Ln2-float64(f), s.terms(nil, 0, 0)
				for _, sign := range []float64{-1, 1} {
					chernoff, θ := chernoff(terms, l, sign)
					x := smoothed(terms, l, sign, chernoff, θ)
					beyond, nearly := 0.0, 0.0 // x, and one step less
					for i, p := range p {
						e := sign * (low + float64(i)*c.unit)
						if e >= x+1e-9*c.unit {
							beyond += p
						}
						if e >= x-(1+1e-9)*c.unit {
							nearly += p
						}
					}
					if most := math.Exp(-l); beyond > most || K == 256 && f < -2 && nearly < most/1.15 {
						t.Errorf("%s, f = %v, sign %v: beyond %v is %.3g, beyond a step less %.3g, want at most %.3g and as much", name, f, sign, x, beyond, nearly, most)
					}
					if y, _ := refined(terms, l, sign, chernoff, θ); x > chernoff || K == 256 && f < -2 && !(x < y) {
						t.Errorf("%s, f = %v, sign %v: %v, by Berry and Esseen %v, Chernoff's is %v", name, f, sign, x, y, chernoff)
					}
					if z := tightest(terms, l, sign); z > chernoff || f < -2 && z > x*1.01 {
						t.Errorf("%s, f = %v, sign %v: the tightest is %v, %v smoothed", name, f, sign, z, x)
					}
				}
			}
		}
	}
}

// The largest of all outputs is the largest of their tightest tails, of which
// the others need none.
func TestGreatestOfOutputs(t *testing.T) {
	for _, name := range []string{"sorted", "N(0,1)", "outliers"} {
		a, b := data[name](24, 64, 16, rand.New(rand.NewPCG(14, 0)))
		s, f := stochastic(t, tcore.E4M3, IdealBits, a, b), roundoff.FailureOf(0.99)
		want, got, tilted := s.Tightest(f), s.greatest(f), s.Tilted(f)
		near(t, name, most(got), most(want), 1e-12)
		if most(want) > 0.99*most(tilted) {
			t.Errorf("%s: %v, tilted %v: want less", name, most(want), most(tilted))
		}
		left := 0
		for at, x := range got.Data {
			if x == tilted.Data[at] {
				left++
			}
			if x != want.Data[at] && x != tilted.Data[at] {
				t.Errorf("%s: output %d has %v, want %v or %v", name, at, x, want.Data[at], tilted.Data[at])
			}
		}
		if left == 0 && name != "sorted" { // where all outputs are nearly alike
			t.Errorf("%s: the tightest tail of every output, want the larger ones", name)
		}
	}
}
