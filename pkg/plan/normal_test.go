package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// A product is in the part that has it.
func TestPlacesAreThoseOfTheParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		n := 1 + rng.IntN(200)
		c := drawnCut(rng)
		seen := make([]bool, n)
		for i, part := range c.of(positions(n)) {
			for j, at := range part {
				seen[at] = true
				if p, in, products, ok := c.place(n, at); !ok || p != i || in != j || products != len(part) {
					t.Fatalf("%v of %d: %d is place %d of part %d of %d, %v, want %d of %d of %d", c, n, at, in, p, products, ok, j, i, len(part))
				}
			}
		}
		for at, is := range seen {
			if _, _, _, ok := c.place(n, at); !is && ok {
				t.Fatalf("%v of %d: %d is in a part", c, n, at)
			}
		}
	}
}

// Orders with one normal text give the same bits.
func TestNormalTextsAreNotOfDifferentOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	devices := []string{"hopper-wgmma-e4m3-binary32", "ieee-fma-e4m3-binary32", "ada-mma-e4m3-binary32"}
	draw := func() Plan {
		p, err := Parse(devices[rng.IntN(len(devices))])
		if err != nil {
			t.Fatal(err)
		}
		r := p.Order.(Run)
		if r.Group = rng.IntN(2) * (1 + rng.IntN(r.Device.BlockTerms())); rng.IntN(2) == 0 {
			r.Tile = r.group() * rng.IntN(4)
		}
		p.Order = r
		for range rng.IntN(3) {
			c := drawnCut(rng)
			if rng.IntN(2) == 0 { // often the same
				c = Cut{Length: 1 << rng.IntN(7)}
			}
			p.Order = Parts{Cut: c, Each: p.Order, Merge: Merge{Zero: rng.IntN(4) == 0, Folds: [][]int{nil, {1}, {2, 1}, {3, 1}}[rng.IntN(4)]}}
		}
		if err := p.Check(); err != nil {
			t.Fatal(p, err)
		}
		return p
	}
	equal := 0
	plans := make([]Plan, 60)
	for i := range plans {
		plans[i] = draw()
	}
	for _, k := range []int{1, 2, 7, 32, 45} {
		rows := 200
		a, b := matrix.New(rows, k), matrix.New(k, 1)
		s := newSearch(plans[0], plans[0], k)
		for i := range a.Data {
			a.Data[i] = float32(s.x[rng.IntN(len(s.x))])
		}
		for i := range b.Data {
			b.Data[i] = float32(s.y[rng.IntN(len(s.y))])
		}
		results := make([][]float32, len(plans))
		for i, p := range plans {
			results[i] = s.multiply(p, a, b)
		}
		for i, p := range plans {
			for j, q := range plans[:i] {
				if p.normal(k) != q.normal(k) {
					continue
				}
				equal++
				for l, v := range results[i] {
					if !same(v, results[j][l]) {
						t.Fatalf("%v and %v of %d are one and give %v and %v", p, q, k, v, results[j][l])
					}
				}
			}
		}
	}
	if equal < 50 {
		t.Errorf("%d pairs are one, want 50 at least", equal)
	}
}

// A search goes through all choices, in bands too.
func TestSearchesMissNoChoice(t *testing.T) {
	s := &search{k: 9}
	at, x := []int{2, 5}, []float64{1, 2, 3}
	seen := map[string]bool{}
	for start := 0; start < 9; start += 2 {
		a := s.rows(at, x, start, min(2, 9-start))
		for r := range a.Rows {
			seen[fmt.Sprint(a.Data[r*9:r*9+9])] = true
		}
	}
	for _, u := range x {
		for _, v := range x {
			if want := fmt.Sprintf("[0 0 %v 0 0 %v 0 0 0]", u, v); !seen[want] {
				t.Errorf("no %s among %v", want, seen)
			}
		}
	}
}
