package plan_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A mode is how a library sums K products: as an order, and once more from its
// definition, in indices and exact arithmetic.
type mode struct {
	name  string
	order plan.Order
	sum   func(x, y []float64) float64
}

// families draw modes for K products on a unit, with results of a format.
var families = map[string]struct {
	units func() []unit
	draw  func(rng *rand.Rand, u unit, k int, out output) mode
}{
	"plain": {tensorCores, func(_ *rand.Rand, u unit, _ int, _ output) mode {
		return mode{"plain", plan.Run{Device: u.device}, u.chain}
	}},
	"split": {tensorCores, func(rng *rand.Rand, u unit, k int, _ output) mode {
		chunk := 1 + rng.IntN(k+8)
		return mode{fmt.Sprintf("chunk %d", chunk), split(chunk, plan.Run{Device: u.device}, plan.Merge{}),
			func(x, y []float64) float64 {
				s := u.chain(upTo(x, 0, chunk), upTo(y, 0, chunk))
				for i := chunk; i < k; i += chunk {
					s = add(s, u.chain(upTo(x, i, i+chunk), upTo(y, i, i+chunk)))
				}
				return s
			}}
	}},
	"split_blocks": {tensorCores, func(rng *rand.Rand, u unit, k int, _ output) mode {
		chunk, block := 1+rng.IntN(k+8), 8*(1+rng.IntN(16))
		return mode{fmt.Sprintf("chunk %d, block %d", chunk, block),
			split(chunk, split(block, plan.Run{Device: u.device}, plan.Merge{}), plan.Merge{}),
			func(x, y []float64) float64 {
				var s float64
				for lo := 0; lo < k; lo += chunk {
					hi := min(lo+chunk, k)
					var p float64
					for b := lo; b < hi; b += block {
						t := u.chain(x[b:min(b+block, hi)], y[b:min(b+block, hi)])
						if b == lo {
							p = t
						} else {
							p = add(p, t)
						}
					}
					if lo == 0 {
						s = p
					} else {
						s = add(s, p)
					}
				}
				return s
			}}
	}},
	"k_per_dot": {tensorCores, func(rng *rand.Rand, u unit, k int, _ output) mode {
		group := []int{u.terms / 2, u.terms}[rng.IntN(2)]
		tile := group * []int{1, 2, 4, 8}[rng.IntN(4)]
		return mode{fmt.Sprintf("%d per dot, block %d", group, tile), plan.Run{Device: u.device, Group: group, Tile: tile},
			func(x, y []float64) float64 { return u.grouped(x, y, group, tile) }}
	}},
	"splitk_groups": {tensorCores, drawGroups},
	"gemmsn": {allScalarUnits, func(rng *rand.Rand, u unit, k int, _ output) mode {
		s, b := 1+rng.IntN(8), 1+rng.IntN(k+4)
		z := plan.Merge{Zero: true}
		return mode{fmt.Sprintf("S %d, B %d", s, b),
			plan.Parts{Cut: plan.Cut{Count: s}, Each: split(b, plan.Run{Device: u.device}, z), Merge: z},
			func(x, y []float64) float64 {
				length, sum := (k+s-1)/s, 0.0
				for t := range s {
					p := 0.0
					for q := t * length; q < min((t+1)*length, k); q += b {
						hi := min(q+b, (t+1)*length, k)
						p = add(p, u.chain(x[q:hi], y[q:hi]))
					}
					sum = add(sum, p)
				}
				return sum
			}}
	}},
	"gemv13": {allScalarUnits, drawGemv13},
	"gemv_cslice": {allScalarUnits, func(_ *rand.Rand, u unit, k int, _ output) mode {
		lane := split(16, plan.Run{Device: u.device}, plan.Merge{})
		return mode{"32 lanes", plan.Parts{Cut: plan.Cut{Lanes: 32}, Each: lane},
			func(x, y []float64) float64 {
				n := (k + 31) / 32
				sum := 0.0
				for l := range 32 {
					lane := 0.0
					for c := l * n; c < min((l+1)*n, k); c += 16 {
						hi := min(c+16, (l+1)*n, k)
						if t := u.chain(x[c:hi], y[c:hi]); c == l*n {
							lane = t
						} else {
							lane = add(lane, t)
						}
					}
					if l == 0 {
						sum = lane
					} else {
						sum = add(sum, lane)
					}
				}
				return sum
			}}
	}},
	"gemv14": {allScalarUnits, drawGemv14},
	"floor": {allUnits, func(rng *rand.Rand, u unit, k int, _ output) mode {
		s, grain := 1+rng.IntN(12), []int{1, 8, 64}[rng.IntN(3)]
		return mode{fmt.Sprintf("%d slices by %d, tail lost", s, grain),
			plan.Parts{Cut: plan.Cut{Count: s, Grain: grain, Floor: true}, Each: plan.Run{Device: u.device}},
			func(x, y []float64) float64 {
				chunk := k / s
				for chunk%grain != 0 {
					chunk++
				}
				sum := u.chain(upTo(x, 0, chunk), upTo(y, 0, chunk))
				for i := 1; i < s; i++ {
					sum = add(sum, u.chain(upTo(x, i*chunk, (i+1)*chunk), upTo(y, i*chunk, (i+1)*chunk)))
				}
				return sum
			}}
	}},
}

// split cuts sums into parts of a length.
func split(length int, each plan.Order, m plan.Merge) plan.Order {
	return plan.Parts{Cut: plan.Cut{Length: length}, Each: each, Merge: m}
}

// upTo returns x[lo:hi], or what there is of it.
func upTo(x []float64, lo, hi int) []float64 { return x[min(lo, len(x)):min(hi, len(x))] }

// chain adds all products to +0, full instructions one after the other.
func (u unit) chain(x, y []float64) float64 { return u.consecutive(x, y, u.terms) }

// consecutive is chain of instructions of so many products.
func (u unit) consecutive(x, y []float64, group int) float64 {
	c := 0.0
	for i := 0; i < len(x); i += group {
		c = u.add(c, upTo(x, i, i+group), upTo(y, i, i+group))
	}
	return c
}

// grouped is a chain of instructions of at most group products. They end at
// group, 2 group, … of the residue of tiles, at its end, and from there on at
// every group again.
func (u unit) grouped(x, y []float64, group, tile int) float64 {
	r := len(x) % tile
	ends := []int{}
	for end := group; end < r; end += group {
		ends = append(ends, end)
	}
	for end := r; end < len(x)+group; end += group {
		ends = append(ends, min(end, len(x)))
	}
	c, start := 0.0, 0
	for _, end := range ends {
		if end > start {
			c = u.add(c, x[start:end], y[start:end])
		}
		start = end
	}
	return c
}

// output is the format of D.
type output struct {
	format  tcore.Format
	numbers numbers
}

var outputs = []output{{tcore.Binary16, f16}, {tcore.BFloat16, bf16}, {tcore.Binary32, f32}}

// drawGroups draws split K with groups, merged in one of three ways.
func drawGroups(rng *rand.Rand, u unit, k int, out output) mode {
	chunk, scheme := 1+rng.IntN(k+8), []int{0, 2, 3}[rng.IntN(3)]
	group := []int{u.terms / 2, u.terms}[rng.IntN(2)]
	tile := group * []int{1, 2, 4}[rng.IntN(3)]
	var m plan.Merge
	switch scheme {
	case 2:
		m.Partial = out.format
	case 3:
		m.Running = out.format
	}
	return mode{fmt.Sprintf("chunk %d, %d per dot, block %d, merge %d", chunk, group, tile, scheme),
		split(chunk, plan.Run{Device: u.device, Group: group, Tile: tile}, m),
		func(x, y []float64) float64 {
			parts := []float64{}
			for i := 0; i < k; i += chunk {
				parts = append(parts, u.grouped(upTo(x, i, i+chunk), upTo(y, i, i+chunk), group, tile))
			}
			o := out.numbers.to
			s := parts[0]
			if scheme != 0 {
				s = o(s)
			}
			for _, p := range parts[1:] {
				switch scheme {
				case 0:
					s = add(s, p)
				case 2:
					s = add(s, o(p))
				case 3:
					s = o(add(s, p))
				}
			}
			return s
		}}
}

// recipes of gemv13: V, lanes, tiles of a chain, and whether lanes are merged
// by a butterfly.
var recipes = []struct {
	v, w, cc int
	down     bool
}{
	{1, 2, 0, true}, {-64, 2, 0, true}, {1, 4, 0, true}, {-64, 4, 0, true}, {1, 8, 0, true}, {-64, 8, 0, true},
	{1, 16, 0, true}, {-64, 16, 0, true}, {1, 32, 0, true}, {-64, 32, 0, true}, {4, 32, 0, true}, {1, 16, 16, false},
	{1, 16, 32, false}, {1, 1, 0, false}, {1, 1, 512, false}, {1, 1, 256, false}, {4, 8, 3, false},
}

func drawGemv13(rng *rand.Rand, u unit, k int, _ output) mode {
	r := recipes[rng.IntN(len(recipes))]
	s := 1
	if rng.IntN(2) == 0 {
		s += rng.IntN(9)
	}
	nominal := (k + s - 1) / s

	var order plan.Order = plan.Run{Device: u.device}
	if r.cc > 0 {
		order = split(r.cc*r.v, order, plan.Merge{})
	}
	cut, merge := plan.Cut{Lanes: r.w, Vector: r.v}, plan.Merge{}
	if r.v < 0 {
		cut.Nominal = nominal
	}
	if r.down {
		merge.Folds = plan.Butterfly(r.w)
	}
	order = plan.Parts{Cut: cut, Each: order, Merge: merge}
	if s > 1 {
		order = plan.Parts{Cut: plan.Cut{Count: s}, Each: order}
	}

	v := r.v
	if v < 0 {
		v = min(64, (nominal+r.w-1)/r.w)
	}
	slice := func(x, y []float64) float64 {
		lanes := make([]float64, r.w)
		for l := range lanes {
			chains := []float64{0}
			for t := 0; t*v*r.w < len(x); t++ {
				if r.cc > 0 && t > 0 && t%r.cc == 0 && t*v*r.w+l*v < len(x) {
					chains = append(chains, 0)
				}
				for i := t*v*r.w + l*v; i < min(t*v*r.w+l*v+v, len(x)); i++ {
					last := len(chains) - 1
					chains[last] = u.add(chains[last], x[i:i+1], y[i:i+1])
				}
			}
			lanes[l] = chains[0]
			for _, c := range chains[1:] {
				lanes[l] = add(lanes[l], c)
			}
		}
		if !r.down {
			sum := lanes[0]
			for _, l := range lanes[1:] {
				sum = add(sum, l)
			}
			return sum
		}
		return butterfly(lanes)
	}
	return mode{fmt.Sprintf("%+v, s %d", r, s), order, func(x, y []float64) float64 {
		sum := slice(upTo(x, 0, nominal), upTo(y, 0, nominal))
		for i := 1; i < s; i++ {
			sum = add(sum, slice(upTo(x, i*nominal, (i+1)*nominal), upTo(y, i*nominal, (i+1)*nominal)))
		}
		return sum
	}}
}

// butterfly adds at distances of half the lanes, and so on. It changes them.
func butterfly(lanes []float64) float64 {
	for h := len(lanes) / 2; h > 0; h /= 2 {
		for i := range h {
			lanes[i] = add(lanes[i], lanes[i+h])
		}
	}
	return lanes[0]
}

func drawGemv14(rng *rand.Rand, u unit, k int, _ output) mode {
	blocks, v := []int{1, 2, 3, 5, 31, 130, 300}[rng.IntN(7)], 1+rng.IntN(2)
	thread := plan.Parts{Cut: plan.Cut{Lanes: v, Vector: 1}, Each: plan.Run{Device: u.device}, Merge: plan.Merge{Zero: true}}
	block := plan.Parts{Cut: plan.Cut{Lanes: 128, Vector: v}, Each: thread, Merge: plan.Merge{Folds: plan.Butterfly(128)}}
	order := plan.Parts{Cut: plan.Cut{Lanes: blocks, Vector: 128 * v}, Each: block, Merge: plan.Merge{Folds: []int{128, 64, 32, 4, 1}}}

	return mode{fmt.Sprintf("%d blocks, V %d", blocks, v), order, func(x, y []float64) float64 {
		q := make([]float64, 128)
		for b := range max(blocks, 128) {
			p := 0.0
			if b < blocks {
				threads := make([]float64, 128)
				for t := range threads {
					chains := make([]float64, v)
					for tile := b * 128 * v; tile < k; tile += blocks * 128 * v {
						for j := range v {
							if i := tile + t*v + j; i < k {
								chains[j] = u.add(chains[j], x[i:i+1], y[i:i+1])
							}
						}
					}
					for _, c := range chains {
						threads[t] = add(threads[t], c)
					}
				}
				p = butterfly(threads)
			}
			if b < 128 {
				q[b] = p
			} else {
				q[b%128] = add(q[b%128], p)
			}
		}
		for b := max(blocks, 128); b > 128 && b%128 != 0; b++ {
			q[b%128] = add(q[b%128], 0)
		}
		for _, h := range []int{64, 32} {
			for t := range h {
				q[t] = add(q[t], q[t+h])
			}
		}
		u := make([]float64, 4)
		for j := range u {
			u[j] = q[j]
			for i := j + 4; i < 32; i += 4 {
				u[j] = add(u[j], q[i])
			}
		}
		return add(add(add(u[0], u[1]), u[2]), u[3])
	}}
}
