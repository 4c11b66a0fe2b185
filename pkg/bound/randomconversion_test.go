package bound

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func laplace() Distribution {
	return FromRander("Laplace", func(src rand.Source) distuv.Rander { return distuv.Laplace{Scale: 1, Src: src} })
}

// The largest |ÂB̂ - AB| / |A||B| of random matrices is below the constant, and
// not far below.
func TestRandomConversion_contains_the_errors(t *testing.T) {
	products, cells := 3, 0
	if !testing.Short() {
		products = 40
	}
	for _, d := range []struct {
		x, y  Distribution
		least map[int]float64 // of the largest error over the bound, by K
	}{
		{Uniform(-1, 1), Uniform(-1, 1), map[int]float64{256: 0.4, 2048: 0.5}},
		{Uniform(0, 1), Uniform(0, 1), map[int]float64{256: 0.35, 2048: 0.5}},
		{Normal(0, 1), Uniform(-1, 1), map[int]float64{256: 0.35, 2048: 0.45}},
		{Normal(0, 1), Normal(0, 1), map[int]float64{256: 0.3, 2048: 0.4}},
		{laplace(), laplace(), map[int]float64{256: 0.05, 2048: 0.2}},
	} {
		for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.E2M1, tcore.Binary16, tcore.BFloat16} {
			for _, K := range []int{256, 2048} {
				device := devices.IEEEF32()
				device.A, device.B = f, f
				k := Problem{M: 32, N: 8, K: K, Machine: tcore.Machine{Device: device}, X: d.x, Y: d.y, Represented: true}
				c := k.randomConversion(at99)
				rng := rand.New(rand.NewPCG(7, uint64(K)))
				mean := 0.0
				for range products {
					most := largestConversionError(k, rng)
					if most > c {
						t.Errorf("%v, %v, %s, K = %d: %v, bound %v", d.x, d.y, f.Name, K, most, c)
					}
					mean += most / c / float64(products)
				}
				if cells++; mean < d.least[K] {
					t.Errorf("%v, %v, %s, K = %d: %.2f of the bound, want %v", d.x, d.y, f.Name, K, mean, d.least[K])
				}
				if K == 2048 && f != tcore.E2M1 && c > k.conversion()/3 {
					t.Errorf("%v, %s: %v, in the worst case %v", d.x, f.Name, c, k.conversion())
				}
			}
		}
	}
	t.Logf("%d bounds, %d products each", cells, products)
}

// largestConversionError draws A and B and returns the largest |ÂB̂ - AB| /
// |A||B|.
func largestConversionError(k Problem, rng *rand.Rand) float64 {
	draw := func(d Distribution, f tcore.Format, n int) (x, rounded []float64) {
		f.Overflow = tcore.Saturate
		x, rounded = make([]float64, n), make([]float64, n)
		d = d.from(rng)
		for i := range x {
			x[i] = d.Rand()
			rounded[i] = f.Round(x[i], tcore.ToNearestEven)
		}
		return x, rounded
	}
	a, ra := draw(k.X, k.Device.A, k.M*k.K)
	b, rb := draw(k.Y, k.Device.B, k.N*k.K)
	most := 0.0
	for i := range k.M {
		for j := range k.N {
			e, size := 0.0, 0.0
			for l := range k.K {
				x, y := a[i*k.K+l], b[j*k.K+l]
				e += (ra[i*k.K+l]-x)*y + ra[i*k.K+l]*(rb[j*k.K+l]-y)
				size += math.Abs(x * y)
			}
			most = max(most, math.Abs(e)/size)
		}
	}
	return most
}

func TestRandomConversion(t *testing.T) {
	k := Problem{M: 64, N: 16, K: 4096, Machine: tcore.Machine{Device: devices.HopperE4M3()}, X: Uniform(-1, 1), Y: Uniform(-1, 1), Represented: true}
	find := func(name string) Bound { b, _ := Find(name); return b }
	t.Run("is_used_by_bounds_that_know_the_distributions", func(t *testing.T) {
		r := find("truncated-random-data").result(k, at99, 0, false)
		if !r.Holds || r.Parts.Conversion > 0.1*k.conversion() || r.Confidence != at99 {
			t.Errorf("%+v", r)
		}
		if got := r.Parts.Sum(); math.Abs(got/r.Constant-1) > 1e-12 {
			t.Errorf("parts of %v, constant %v", got, r.Constant)
		}
		known := find("truncation").result(k, at99, 0, false)
		if known.Parts.Conversion < k.conversion() || known.Confidence != roundoff.Never {
			t.Errorf("%+v", known)
		}
	})
	t.Run("and_by_all_in_advice", func(t *testing.T) {
		r := find("truncation").result(k, at99, 0, true)
		if !r.Holds || r.Parts.Conversion > k.conversion()/10 || r.Confidence != at99 || !strings.Contains(r.Why, "independent factors of these distributions") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("is_not_used_where_errors_need_not_average_out", func(t *testing.T) {
		for why, change := range map[string]func(*Problem){
			"given":       func(k *Problem) { k.Data = &Inspection{} },
			"exact":       func(k *Problem) { k.Represented = false },
			"unknown law": func(k *Problem) { k.X = FromMoments("d", k.X.Moments(), nil) },
			"truncates":   func(k *Problem) { k.Device.Convert = devices.HopperTF32().Convert },
			"scaled":      func(k *Problem) { k.Device.ScaleBlock = 32 },
			"one product": func(k *Problem) { k.K = 1 },
			"narrow":      func(k *Problem) { k.X = Normal(1e30, 1) },
			"narrow too":  func(k *Problem) { k.X = Uniform(1, 1+0x1p-30) },
			"tiny":        func(k *Problem) { k.Y = Uniform(-0x1p-300, 0x1p-300) },
			"huge":        func(k *Problem) { k.Y = Normal(0, 1e300) },
			"binary64":    func(k *Problem) { k.Device.A = tcore.Binary64 },
		} {
			k := k
			change(&k)
			if _, ok := k.averaged(find("truncation"), at99, true); ok {
				t.Errorf("%s: averages out", why)
			}
		}
	})
	t.Run("is_a_number_for_laws_of_all_sizes", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		size := func() float64 { return math.Ldexp(r.Float64()+0x1p-30, r.IntN(60)-30) }
		draw := func() Distribution {
			mean, width := float64(r.IntN(3)-1)*size(), size()
			if r.IntN(2) == 0 && mean+width > mean {
				return Uniform(mean, mean+width)
			}
			return Normal(mean, width)
		}
		all := devices.All()
		draws := 1000
		if testing.Short() {
			draws = 200
		}
		for range draws {
			k := Problem{M: 1 + r.IntN(64), N: 16, K: 1 + r.IntN(1<<r.IntN(20)), X: draw(), Y: draw(), Represented: true}
			k.Device = all[r.IntN(len(all))]
			if !k.averages() {
				continue
			}
			if c := k.randomConversion(at99); !(c > 0) {
				t.Errorf("%v, %v, K = %d, %s: %v", k.X, k.Y, k.K, k.Device.Name, c)
			}
		}
	})
	t.Run("contains_underflow", func(t *testing.T) {
		k := k
		k.X, k.Y = Uniform(-0x1p-9, 0x1p-9), Uniform(-1, 1) // most round to 0
		c := k.randomConversion(at99)
		if most := largestConversionError(k, rand.New(rand.NewPCG(1, 2))); most > c || most < c/3 {
			t.Errorf("%v, bound %v", most, c)
		}
	})
	t.Run("counts_the_sums_of_the_converted_factors", func(t *testing.T) {
		const chain, converted = 0.25, 0.01
		constant, underflow, p := k.wholeConverted(chain, conversion{converted, 1 + k.conversion(), k.converting(), true})
		sums := k
		sums.Represented = false
		if want := chain*(1+k.conversion()) + converted; math.Abs(constant/want-1) > 1e-12 || p.Accumulation != chain*(1+k.conversion()) || p.Conversion != converted {
			t.Errorf("%v, want %v; %+v", constant, want, p)
		}
		if want := sums.underflow(chain) + chain*k.converting(); underflow != want || !(k.converting() > 0) {
			t.Errorf("underflow %v, want %v", underflow, want)
		}
	})
}
