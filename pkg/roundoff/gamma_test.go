package roundoff

import (
	"math"
	"math/big"
	"testing"
)

var (
	someN      = []int{1, 2, 3, 5, 8, 100, 1000, 32768, 1 << 24}
	someU      = []float64{0x1p-53, 0x1p-24, 0x1p-11, 0x1p-8, 0.0625, 0.25, 0.5, 0.9}
	someLambda = []float64{0, 0.1, 1, 2, 5, 11.4, 100}
)

// leq reports whether x <= y up to rounding errors in x and y.
func leq(x, y float64) bool { return x <= y || near(x, y, 4e-16) }

// constants are the bounds on |θ_n| as functions of n, u and λ.
var constants = []struct {
	name  string
	theta func(n int, u, λ float64) float64
}{
	{"Gamma", func(n int, u, _ float64) float64 { return Gamma(n, u) }},
	{"Unrestricted", func(n int, u, _ float64) float64 { return Unrestricted(n, u) }},
	{"Compound", func(n int, u, _ float64) float64 { return Compound(n, u) }},
	{"GammaTilde", GammaTilde},
	{"GammaTildeLinear", GammaTildeLinear},
	{"GammaTildeMoment", GammaTildeMoment},
}

func TestConstants(t *testing.T) {
	for _, c := range constants {
		t.Run(c.name+"/is_monotone", func(t *testing.T) {
			for i, n := range someN {
				for j, u := range someU {
					for k, λ := range someLambda {
						x := c.theta(n, u, λ)
						if !(x >= 0) {
							t.Errorf("at n = %d, u = %v, lambda = %v: %v, want >= 0", n, u, λ, x)
						}
						if i > 0 && c.theta(someN[i-1], u, λ) > x {
							t.Errorf("falls from n = %d to %d at u = %v, lambda = %v", someN[i-1], n, u, λ)
						}
						if j > 0 && c.theta(n, someU[j-1], λ) > x {
							t.Errorf("falls from u = %v to %v at n = %d, lambda = %v", someU[j-1], u, n, λ)
						}
						if k > 0 && c.theta(n, u, someLambda[k-1]) > x {
							t.Errorf("falls from lambda = %v to %v at n = %d, u = %v", someLambda[k-1], λ, n, u)
						}
					}
				}
			}
		})
	}
	t.Run("are_ordered", func(t *testing.T) {
		for _, n := range someN {
			for _, u := range someU {
				if x, y, z := Compound(n, u), Unrestricted(n, u), Gamma(n, u); !leq(x, y) || !leq(y, z) {
					t.Errorf("n = %d, u = %v: compound %v, unrestricted %v, gamma %v", n, u, x, y, z)
				}
				for _, λ := range someLambda {
					l, m, r := GammaTildeLinear(n, u, λ), GammaTildeMoment(n, u, λ), GammaTilde(n, u, λ)
					if !leq(l, m) || !leq(m, r) {
						t.Errorf("n = %d, u = %v, lambda = %v: linear %v, moment %v, rigorous %v", n, u, λ, l, m, r)
					}
				}
			}
		}
	})
	t.Run("agree_to_first_order", func(t *testing.T) {
		for _, c := range constants[:3] {
			if x := c.theta(10, 0x1p-53, 0); !near(x, 10*0x1p-53, 1e-14) {
				t.Errorf("%s(10, 2^-53) = %v", c.name, x)
			}
		}
		for _, c := range constants[3:] {
			if x := c.theta(9, 0x1p-53, 2); !near(x, 6*0x1p-53, 1e-14) {
				t.Errorf("%s(9, 2^-53, 2) = %v", c.name, x)
			}
		}
	})
}

func TestUnitRoundoff(t *testing.T) {
	for p := 1; p <= 1074; p++ {
		if x := UnitRoundoff(p); x != math.Pow(2, -float64(p)) {
			t.Errorf("UnitRoundoff(%d) = %v", p, x)
		}
	}
	t.Run("is_the_largest_relative_error_of_float32", func(t *testing.T) {
		x := 1 + 0x1p-24 // halfway
		if e := math.Abs(float64(float32(x))-x) / 1; e != UnitRoundoff(24) {
			t.Errorf("|fl(x) - x| = %v, want %v", e, UnitRoundoff(24))
		}
	})
}

func TestGamma(t *testing.T) {
	for _, tt := range []struct {
		n    int
		u    float64
		want float64
	}{
		{1, 0.5, 1},
		{32767, 0x1p-24, 1.956887e-3},
		{1 << 24, 0x1p-24, math.Inf(1)},
		{1 << 25, 0x1p-24, math.Inf(1)},
		{2047, 0x1p-11, 2047},
	} {
		if x := Gamma(tt.n, tt.u); !near(x, tt.want, 3e-7) {
			t.Errorf("Gamma(%d, %v) = %v, want %v", tt.n, tt.u, x, tt.want)
		}
	}
}

func TestUnrestricted(t *testing.T) {
	for _, tt := range []struct {
		n    int
		u    float64
		want float64
	}{
		{32767, 0x1p-24, 1.954974e-3},
		{1 << 24, 0x1p-24, math.E - 1},
		{1 << 25, 0x1p-24, math.E*math.E - 1},
		{3, 0.5, 7},
	} {
		if x := Unrestricted(tt.n, tt.u); !near(x, tt.want, 3e-7) {
			t.Errorf("Unrestricted(%d, %v) = %v, want %v", tt.n, tt.u, x, tt.want)
		}
	}
	t.Run("is_a_power", func(t *testing.T) {
		for n := 1; n < 60; n++ {
			for _, u := range someU[3:] {
				power := 1.0
				for range n {
					power /= 1 - u
				}
				if x := Unrestricted(n, u); !near(x, power-1, 1e-13) {
					t.Errorf("Unrestricted(%d, %v) = %v, want %v", n, u, x, power-1)
				}
			}
		}
	})
	t.Run("overflows_at_512_for_u_one_half", func(t *testing.T) {
		if a, b := Unrestricted(1023, 0.5), Unrestricted(1025, 0.5); math.IsInf(a, 1) || !math.IsInf(b, 1) {
			t.Errorf("Unrestricted(1023, 1/2) = %v, Unrestricted(1025, 1/2) = %v", a, b)
		}
	})
}

// bigPower returns x^n by multiplication.
func bigPower(x *big.Float, n int) *big.Float {
	power := bf(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			power = bigMul(power, x)
		}
		x = bigMul(x, x)
	}
	return power
}

func TestCompound(t *testing.T) {
	t.Run("is_a_power", func(t *testing.T) {
		for _, n := range someN {
			for _, u := range someU {
				up, down := bigPower(bigAdd(bf(1), bf(u)), n), bigPower(bigSub(bf(1), bf(u)), n)
				for _, c := range []struct {
					name string
					got  float64
					want *big.Float
				}{
					{"Compound", Compound(n, u), bigSub(up, bf(1))},
					{"Unrestricted", Unrestricted(n, u), bigSub(bigQuo(bf(1), down), bf(1))},
				} {
					if want, _ := c.want.Float64(); math.IsInf(want, 1) {
						if c.got != want {
							t.Errorf("%s(%d, %v) = %v, want +Inf", c.name, n, u, c.got)
						}
					} else if e := relativeError(c.got, c.want); e > 4e-16*(4+math.Log1p(want)) {
						t.Errorf("%s(%d, %v) = %v: relative error %v", c.name, n, u, c.got, e)
					}
				}
			}
		}
	})
	t.Run("composes", func(t *testing.T) {
		for _, u := range someU {
			x := 0.0
			for n := range 100 {
				if y := Compound(n, u); !near(y, x, 1e-13) {
					t.Errorf("Compound(%d, %v) = %v, want %v", n, u, y, x)
				}
				x = Compose(x, u)
			}
		}
	})
	t.Run("is_reached_and_not_exceeded_without_reciprocals", func(t *testing.T) {
		for _, u := range someU[3:] {
			for n := 1; n < 10; n++ {
				largest := 0.0
				for signs := range 1 << n {
					product := 1.0
					for i := range n {
						product *= 1 + u*float64(1-2*(signs>>i&1))
					}
					largest = max(largest, math.Abs(product-1))
				}
				if x := Compound(n, u); !near(x, largest, 1e-13) {
					t.Errorf("Compound(%d, %v) = %v, the largest is %v", n, u, x, largest)
				}
			}
		}
	})
}

// For a product of no factors every bound on |θ| is 0 and never fails.
func TestEmptyProduct(t *testing.T) {
	for _, u := range someU {
		for _, λ := range append(someLambda, math.Inf(1)) {
			for _, c := range constants {
				if x := c.theta(0, u, λ); x != 0 {
					t.Errorf("%s(0, %v, %v) = %v, want 0", c.name, u, λ, x)
				}
			}
			for _, an := range []Analysis{
				DBEA, Unconditional, HighamMary{λ}, MeanIndependent{λ}, VIBEA{Lambda: λ}, VIBEA{λ, Linear}, VIBEA{λ, Moment},
			} {
				if x, f := an.Theta(0, u), an.Failure(0, u); x != 0 || f != Never {
					t.Errorf("%T, u = %v, lambda = %v: theta %v, failure %v, want 0, never", an, u, λ, x, f)
				}
			}
		}
		for _, f := range []Failure{-1e-9, -1, -1e6} {
			if λ := Lambda(f, u, 0); λ != 0 {
				t.Errorf("Lambda(%v, %v, 0) = %v, want 0", float64(f), u, λ)
			}
		}
	}
}

func TestCompose(t *testing.T) {
	inf := math.Inf(1)
	t.Run("commutes", func(t *testing.T) {
		for _, a := range []float64{0, 0x1p-53, 0.1, 3, 1e200, inf} {
			for _, b := range []float64{0, 0x1p-53, 0.1, 3, 1e200, inf} {
				x, y := Compose(a, b), Compose(b, a)
				if x != y || math.IsNaN(x) || !leq((1+a)*(1+b)-1, x*(1+1e-15)+2e-16) {
					t.Errorf("Compose(%v, %v) = %v, Compose(%v, %v) = %v", a, b, x, b, a, y)
				}
			}
		}
	})
	t.Run("keeps_infinity", func(t *testing.T) {
		if x := Compose(0, inf); x != inf {
			t.Errorf("Compose(0, +Inf) = %v", x)
		}
		if x := Compose(inf, 0); x != inf {
			t.Errorf("Compose(+Inf, 0) = %v", x)
		}
	})
	t.Run("obeys_lemma_3.3_of_Higham", func(t *testing.T) {
		for _, u := range someU {
			for _, j := range someN {
				for _, k := range someN {
					if x, y := Compose(Gamma(j, u), Gamma(k, u)), Gamma(j+k, u); !leq(x, y) {
						t.Errorf("u = %v: gamma_%d with gamma_%d gives %v, gamma_%d = %v", u, j, k, x, j+k, y)
					}
				}
			}
		}
	})
	t.Run("joins_unrestricted_products_exactly", func(t *testing.T) {
		for _, u := range someU {
			if x, y := Compose(Unrestricted(3, u), Unrestricted(5, u)), Unrestricted(8, u); !near(x, y, 1e-14) {
				t.Errorf("u = %v: %v, want %v", u, x, y)
			}
		}
	})
}

func TestGammaTilde(t *testing.T) {
	t.Run("differs_from_linear_in_half_precision", func(t *testing.T) {
		if x, y := GammaTilde(32768, 0x1p-11, 4), GammaTildeLinear(32768, 0x1p-11, 4); !near(x, 0.4353, 1e-4) || !near(y, 0.35355, 1e-4) {
			t.Errorf("rigorous %v, linear %v, want 0.4353 and 0.3536", x, y)
		}
	})
	t.Run("hardly_differs_from_linear_in_single_precision", func(t *testing.T) {
		n, λ := 32767, 11.385
		r := GammaTilde(n, 0x1p-24, λ)/GammaTildeLinear(n, 0x1p-24, λ) - 1
		if !near(r, 6e-5, 0.1) {
			t.Errorf("rigorous/linear - 1 = %v, want 6e-5", r)
		}
	})
}
