package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The lengths of parts are those of the parts.
func TestSizesAreThoseOfTheParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		n := rng.IntN(300)
		c := drawnCut(rng)
		var want []Group
		seen := make([]bool, n)
		for _, part := range c.of(positions(n)) {
			for _, k := range part {
				seen[k] = true
			}
			if last := len(want) - 1; last >= 0 && want[last].Products == len(part) {
				want[last].Count++
			} else {
				want = append(want, Group{1, len(part)})
			}
		}
		lost := 0
		for _, s := range seen {
			if !s {
				lost++
			}
		}
		if got := c.sizes(n); !slices.Equal(got, want) || c.lost(n) != lost {
			t.Fatalf("%v of %d: parts %v, %d lost, want %v, %d", c, n, got, c.lost(n), want, lost)
		}
	}
}

func drawnCut(rng *rand.Rand) Cut {
	n := 1 + rng.IntN(40)
	switch rng.IntN(8) {
	case 5:
		return Cut{Lanes: n, Vector: 1 + rng.IntN(3), Whole: 1 + rng.IntN(40)}
	case 6:
		return Cut{Halves: n, Most: 2*n + rng.IntN(40)}
	case 7:
		return Cut{Head: n}
	case 0:
		return Cut{Length: n}
	case 1:
		return Cut{Count: n, Grain: rng.IntN(9), Floor: rng.IntN(2) == 0}
	case 2:
		return Cut{Lanes: n, Vector: rng.IntN(9)}
	case 3:
		return Cut{Lanes: n, Vector: -1 - rng.IntN(9), Nominal: rng.IntN(400)}
	}
	c := Cut{At: []int{n}}
	for range rng.IntN(4) {
		c.At = append(c.At, c.At[len(c.At)-1]+1+rng.IntN(100))
	}
	return c
}

// The instructions of a run are those of its steps.
func TestGroupsAreThoseOfTheSteps(t *testing.T) {
	for _, text := range []string{"hopper-wgmma-e4m3-binary32", "ampere-mma-binary16-binary32 group 3 tile 12", "ampere-mma-binary16-binary32 tile 24", "ieee-fma-binary16-binary32"} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := p.Order.(Run)
		for n := range 100 {
			var want, got []int
			for block := range slices.Chunk(r.steps(positions(n)), r.Device.BlockTerms()) {
				products := 0
				for _, k := range block {
					if k != padding {
						products++
					}
				}
				want = append(want, products)
			}
			for _, g := range r.groups(n) {
				for range g.Count {
					got = append(got, g.Products)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of %d: instructions of %v, want %v", text, n, got, want)
			}
		}
	}
}

// Nothing that a text can say overflows.
func TestHugeSizes(t *testing.T) {
	p, err := Parse("ieee-fma-binary16-binary32 | every 1 | lanes 16777216 | parts 16777216 grain 16777216 | lanes 16777216 upto 1 + folds 16777216,1 | every 16777216 | halves 8 most 128")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 100, 1 << 24, 1 << 53} {
		if s := p.Size(k); s.Runs < 1<<24 || s.Additions < 0 || s.MostAdditions < 0 || s.Runs == math.MaxInt && s.Additions != math.MaxInt {
			t.Errorf("%d: %+v", k, s)
		}
		if Explain(p, k) == "" {
			t.Errorf("nothing to say of %d", k)
		}
	}
}
