package sweep

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A word is a distribution of the grammar. Its arguments are numbers, followed
// by other factors.
type word struct {
	numbers, factors int
	make             func(x []float64, f []factor) (z factor, ok bool)
}

// words are the distributions of the grammar. The factor that make returns has
// no name yet.
var words = map[string]word{
	"U": {2, 0, func(x []float64, _ []factor) (factor, bool) {
		if !(x[0] < x[1]) {
			return factor{}, false
		}
		return drawn(bound.Uniform(x[0], x[1])), true
	}},
	"N": {2, 0, func(x []float64, _ []factor) (factor, bool) {
		if !(x[1] > 0) {
			return factor{}, false
		}
		return drawn(bound.Normal(x[0], x[1])), true
	}},
	"log-normal": {0, 0, func([]float64, []factor) (factor, bool) { return drawn(LogNormal.X), true }},
	"k/8":        {0, 0, func([]float64, []factor) (factor, bool) { return fewValues(FewBits.X), true }},

	// 2^u, u uniform.
	"log-uniform": {2, 0, func(x []float64, _ []factor) (factor, bool) {
		lo, hi := x[0], x[1]
		moment := func(n float64) float64 {
			return (math.Exp2(n*hi) - math.Exp2(n*lo)) / (n * math.Ln2 * (hi - lo))
		}
		m := bound.DataMoments{Mean: moment(1), MeanSquare: moment(2), MeanAbs: moment(1), MaxAbs: math.Exp2(hi)}
		return drawn(known(m, func(r *rand.Rand) float64 { return math.Exp2(lo + (hi-lo)*r.Float64()) })), -140 <= lo && lo < hi && hi <= 120
	}},
	"laplace": {1, 0, func(x []float64, _ []factor) (factor, bool) {
		m := bound.DataMoments{MeanSquare: 2 * x[0] * x[0], MeanAbs: x[0], MaxAbs: math.Inf(1), Symmetric: true}
		return drawn(known(m, func(r *rand.Rand) float64 { return x[0] * (r.ExpFloat64() - r.ExpFloat64()) })), x[0] > 0
	}},
	// Student's t with ν degrees of freedom.
	"t": {1, 0, func(x []float64, _ []factor) (factor, bool) {
		ν := x[0]
		if ν != math.Floor(ν) || ν < 3 || ν > 100 {
			return factor{}, false
		}
		up, _ := math.Lgamma((ν + 1) / 2)
		down, _ := math.Lgamma(ν / 2)
		m := bound.DataMoments{MeanSquare: ν / (ν - 2), MaxAbs: math.Inf(1), Symmetric: true,
			MeanAbs: 2 * math.Sqrt(ν/math.Pi) / (ν - 1) * math.Exp(up-down)}
		return drawn(known(m, func(r *rand.Rand) float64 {
			z, χ := r.NormFloat64(), 0.0
			for range int(ν) {
				g := r.NormFloat64()
				χ += g * g
			}
			return z / math.Sqrt(χ/ν)
		})), true
	}},
	// A single number.
	"point": {1, 0, func(x []float64, _ []factor) (factor, bool) {
		c := x[0]
		m := bound.DataMoments{Mean: c, MeanSquare: c * c, MeanAbs: math.Abs(c), MaxAbs: math.Abs(c)}
		return fewValues(known(m, func(*rand.Rand) float64 { return c })), c != 0
	}},
	// All multiples of a step between two numbers are equally likely.
	"grid": {3, 0, func(x []float64, _ []factor) (factor, bool) {
		first, last, step := math.Round(x[0]/x[2]), math.Round(x[1]/x[2]), x[2]
		if !(step > 0 && first < last && last-first <= 1e6) {
			return factor{}, false
		}
		n := last - first + 1
		m := bound.DataMoments{Symmetric: first == -last}
		for i := first; i <= last; i++ {
			v := i * step
			m.Mean, m.MeanSquare, m.MeanAbs, m.MaxAbs = m.Mean+v/n, m.MeanSquare+v*v/n, m.MeanAbs+math.Abs(v)/n, max(m.MaxAbs, math.Abs(v))
		}
		return fewValues(known(m, func(r *rand.Rand) float64 { return (first + float64(r.IntN(int(n)))) * step })), true
	}},

	// Each element is replaced by 0 with a given probability.
	"sparse": {1, 1, func(x []float64, f []factor) (factor, bool) {
		p, m := x[0], f[0].Moments()
		m.Mean, m.MeanSquare, m.MeanAbs = (1-p)*m.Mean, (1-p)*m.MeanSquare, (1-p)*m.MeanAbs
		return f[0].each(m, func(r *rand.Rand, v float64) float64 {
			if r.Float64() < p {
				return 0
			}
			return v
		}), 0 <= p && p < 1
	}},
	// max(x, 0), for a symmetric distribution.
	"relu": {0, 1, func(_ []float64, f []factor) (factor, bool) {
		m := f[0].Moments()
		ok := m.Symmetric || !f[0].CanDraw()
		m.Mean, m.MeanSquare, m.MeanAbs, m.Symmetric = m.MeanAbs/2, m.MeanSquare/2, m.MeanAbs/2, false
		return f[0].each(m, func(_ *rand.Rand, v float64) float64 { return max(v, 0) }), ok
	}},
	// Each element gets a random sign.
	"signed": {0, 1, func(_ []float64, f []factor) (factor, bool) {
		m := f[0].Moments()
		m.Mean, m.Symmetric = 0, true
		z := f[0].each(m, func(r *rand.Rand, v float64) float64 {
			if r.Uint64()&1 == 0 {
				return -v
			}
			return v
		})
		z.alike = false
		return z, true
	}},
	"times": {1, 1, func(x []float64, f []factor) (factor, bool) {
		c, m := x[0], f[0].Moments()
		m.Mean, m.MeanSquare, m.MeanAbs, m.MaxAbs = c*m.Mean, c*c*m.MeanSquare, math.Abs(c)*m.MeanAbs, math.Abs(c)*m.MaxAbs
		return f[0].each(m, func(_ *rand.Rand, v float64) float64 { return c * v }), c != 0
	}},
	// A mixture: the first distribution with a given probability, else the second.
	"mix": {1, 2, func(x []float64, f []factor) (factor, bool) {
		p, d, e := x[0], f[0].Distribution, f[1].Distribution
		if !(0 < p && p < 1 && f[0].independent() && f[1].independent()) {
			return factor{}, false
		}
		both := func(x, y float64) float64 { return p*x + (1-p)*y }
		m := bound.DataMoments{Mean: both(d.Mean(), e.Mean()), MeanSquare: both(d.MeanSquare(), e.MeanSquare()), MeanAbs: both(d.MeanAbs(), e.MeanAbs()),
			MaxAbs: max(d.MaxAbs(), e.MaxAbs()), Symmetric: d.Symmetric() && e.Symmetric()}
		z := drawn(known(m, func(r *rand.Rand) float64 {
			if r.Float64() < p {
				return from(d, r)
			}
			return from(e, r)
		}))
		z.alike = f[0].alike && f[1].alike
		return z, true
	}},

	// Each vector is sorted in decreasing order.
	"sorted": {0, 1, func(_ []float64, f []factor) (factor, bool) {
		z := f[0]
		d := z.Distribution
		if d.CanDraw() { // only the moments remain valid after sorting
			z.Distribution = known(d.Moments(), func(r *rand.Rand) float64 { return from(d, r) })
		}
		z.dependent, z.alike = "vectors are sorted", true
		z.fill = func(r *rand.Rand, x []float32) {
			f[0].fill(r, x)
			slices.Sort(x)
			slices.Reverse(x)
		}
		return z, true
	}},
	// A stationary autoregressive process x' = φx + √(1-φ²)z, z normal.
	"ar": {1, 0, func(x []float64, _ []factor) (factor, bool) {
		φ := x[0]
		return factor{Distribution: bound.Normal(0, 1), dependent: "each element depends on the one before it", alike: true,
			fill: func(r *rand.Rand, x []float32) {
				v := r.NormFloat64()
				for k := range x {
					x[k] = float32(v)
					v = φ*v + math.Sqrt(1-φ*φ)*r.NormFloat64()
				}
			}}, -1 < φ && φ < 1
	}},
	// A share of the vectors is multiplied by a factor.
	"outliers": {2, 1, func(x []float64, f []factor) (factor, bool) {
		z := scaledVectors(f[0], func(r *rand.Rand) float64 {
			if r.Float64() < x[0] {
				return x[1]
			}
			return 1
		})
		return z, 0 <= x[0] && x[0] <= 1 && x[1] > 0
	}},
	// Each vector is multiplied by its own power of two.
	"rows": {2, 1, func(x []float64, f []factor) (factor, bool) {
		z := scaledVectors(f[0], func(r *rand.Rand) float64 { return math.Exp2(math.Floor(x[0] + (x[1]-x[0]+1)*r.Float64())) })
		return z, -60 <= x[0] && x[0] <= x[1] && x[1] <= 60
	}},
	// The softmax of normal numbers of a given deviation, as in attention.
	"softmax": {1, 0, func(x []float64, _ []factor) (factor, bool) {
		return factor{dependent: "vectors sum to 1", mixed: true, fill: func(r *rand.Rand, v []float32) {
			e, sum := make([]float64, len(v)), 0.0
			for k := range v {
				e[k] = math.Exp(x[0] * r.NormFloat64())
				sum += e[k]
			}
			for k := range v {
				v[k] = float32(e[k] / sum)
			}
		}}, 0 < x[0] && x[0] <= 50
	}},
	// Blocks have scales of 2^u, u uniform.
	"blocks": {2, 1, func(x []float64, f []factor) (factor, bool) {
		z := f[0]
		z.Distribution = bound.Distribution{}
		z.mixed = true
		z.scale = func(r *rand.Rand, f tcore.Format) uint64 {
			v := math.Exp2(x[0] + (x[1]-x[0])*r.Float64())
			return f.Encode(min(max(v, f.MinSubnormal()), f.Max()), tcore.ToNearestEven)
		}
		return z, x[0] <= x[1]
	}},
}
