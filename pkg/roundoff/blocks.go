package roundoff

import (
	"math"
	"sort"
)

// blocks is a sample of blocks of L products each.
type blocks struct {
	law   *Products
	L     int
	value []float64
	exp   []int
}

// newBlocks draws n blocks by a fixed sequence, the Weyl sequence of splitmix64 (Steele, Lea &
// Flood 2014).
func newBlocks(law *Products, n, L int) blocks {
	cdf := make([]float64, len(law.weight))
	below := 0.0
	for i, w := range law.weight {
		below += w
		cdf[i] = below
	}
	b := blocks{law, L, make([]float64, n*L), make([]int, n*L)}
	state := uint64(1)
	for i := range b.value {
		state += 0x9e3779b97f4a7c15
		r := mix(state)
		k := min(sort.SearchFloat64s(cdf, float64(r>>11)*0x1p-53), len(cdf)-1)
		b.value[i], b.exp[i] = law.value[k], law.exp[k]
		if law.symmetric && r&1 == 1 {
			b.value[i] = -b.value[i]
		}
	}
	return b
}

// mix is the output function of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// nodes returns n numbers, in ascending order, that stand for the law of a block sum: the means
// of as many parts of the sample, shifted and scaled to the mean Lμ and the variance Lσ².
func (b blocks) nodes(n int) []float64 {
	sums := make([]float64, len(b.value)/b.L)
	for i, p := range b.value {
		sums[i/b.L] += p
	}
	sort.Float64s(sums)
	x := make([]float64, n)
	part := len(sums) / n
	for i, s := range sums[:n*part] {
		x[i/part] += s / float64(part)
	}
	for i, j := 0, n-1; i < j && b.law.symmetric; i, j = i+1, j-1 {
		x[i] = (x[i] - x[j]) / 2
		x[j] = -x[i]
	}
	L := float64(b.L)
	standardise(x, L*b.law.Mean, math.Sqrt(L*b.law.Variance))
	return x
}

// standardise shifts and scales x to the given mean and standard deviation.
func standardise(x []float64, mean, deviation float64) {
	m, v := 0.0, 0.0
	for _, z := range x {
		m += z / float64(len(x))
	}
	for _, z := range x {
		v += (z - m) * (z - m) / float64(len(x))
	}
	scale := 0.0
	if v > 0 {
		scale = deviation / math.Sqrt(v)
	}
	for i, z := range x {
		x[i] = mean + (z-m)*scale
	}
}

// residue is the law of what is left of a block on top of a multiple of a unit u, as a fraction
// of u: of x mod u and of -x mod u, x being the sum of what the alignment keeps of the products.
// A running sum with the exponent of the block is a multiple of u, so that this is what rounding
// toward zero takes away, or to nearest with its sign.
type residue struct {
	positive, negative spread // of x mod u and of -x mod u
	nearest            spread // of x - u round(x/u)
}

// spread is a mean, a variance and a variance proxy.
type spread struct{ mean, variance, proxy float64 }

// uniformBits is the residue of uniform low bits.
var uniformBits = residue{spread{0.5, 1.0 / 12, 1.0 / 12}, spread{0.5, 1.0 / 12, 1.0 / 12}, spread{0, 1.0 / 12, 1.0 / 12}}

// residue returns the law for blocks aligned at the weight g, and no exponent above E.
func (b blocks) residue(E int, g, u float64) residue {
	var up, down, near []float64
	for i := 0; i < len(b.value); i += b.L {
		x, ok := b.kept(i, E, g)
		if !ok {
			continue
		}
		x /= u
		up = append(up, x-math.Floor(x))
		down = append(down, -x-math.Floor(-x))
		near = append(near, x-math.RoundToEven(x))
	}
	const fewest = 16
	if len(up) < fewest {
		return uniformBits
	}
	r := residue{spreadOf(up), spreadOf(down), spreadOf(near)}
	if b.law.symmetric {
		r.positive = r.positive.with(r.negative)
		r.negative = r.positive
		r.nearest.mean = 0
	}
	return r
}

// kept returns the sum of what the alignment keeps of the block that starts at i, and false if
// an exponent is above E.
func (b blocks) kept(i, E int, g float64) (sum float64, ok bool) {
	for k := i; k < i+b.L; k++ {
		if b.exp[k] > E {
			return 0, false
		}
		sum += g * math.Trunc(b.value[k]/g)
	}
	return sum, true
}

// spreadOf returns the spread of equally likely fractions.
func spreadOf(y []float64) spread {
	const most = 256 // for the proxy
	n := float64(len(y))
	var s spread
	for _, v := range y {
		s.mean += v / n
	}
	for _, v := range y {
		s.variance += (v - s.mean) * (v - s.mean) / n
	}
	y = y[:min(len(y), most)]
	w := make([]float64, len(y))
	for i := range w {
		w[i] = 1 / float64(len(y))
	}
	s.proxy = max(s.variance, proxy(y, w, 1))
	return s
}

// with returns the middle of two spreads of one law.
func (s spread) with(t spread) spread {
	return spread{(s.mean + t.mean) / 2, (s.variance + t.variance) / 2, (s.proxy + t.proxy) / 2}
}
