package infer_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// sums is a box of a function that adds terms in binary32.
type sums struct {
	k   int
	add func(terms []float32, c float32) float32
}

func (s sums) Shape() infer.Shape {
	return infer.Shape{A: tcore.Binary32, B: tcore.Binary32, C: tcore.Binary32, K: s.k}
}

func (s sums) Dots(_ context.Context, questions []infer.Dot) ([]uint64, error) {
	f := tcore.Binary32
	z := make([]uint64, len(questions))
	for i, q := range questions {
		terms := make([]float32, s.k)
		for k := range terms {
			terms[k] = float32(f.Decode(q.X[k])) * float32(f.Decode(q.Y[k]))
		}
		z[i] = f.Encode(float64(s.add(terms, float32(f.Decode(q.C)))), tcore.ToNearestEven)
	}
	return z, nil
}

// pairwise adds as NumPy does: eight sums of every eighth term of up to 128,
// and halves of more, whose length is a multiple of 8.
func pairwise(x []float32) float32 {
	n := len(x)
	switch {
	case n < 8:
		s := x[0]
		for _, v := range x[1:] {
			s += v
		}
		return s
	case n <= 128:
		var r [8]float32
		copy(r[:], x)
		i := 8
		for ; i < n-n%8; i += 8 {
			for j := range r {
				r[j] += x[i+j]
			}
		}
		s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			s += x[i]
		}
		return s
	}
	half := n / 2
	half -= half % 8
	return pairwise(x[:half]) + pairwise(x[half:])
}

// Orders that are known are found, in as many questions as are few, and written
// as a person would.
func TestFindOrder(t *testing.T) {
	chain := func(x []float32, c float32) float32 {
		for _, v := range x {
			c += v
		}
		return c
	}
	for name, want := range map[string]struct {
		box  infer.Box
		text string
		most int
	}{
		"from the first": {sums{1000, chain}, "(c + 0 + 1 + … + 999)", 6000},
		"from the last, then c": {sums{1000, func(x []float32, c float32) float32 {
			s := float32(0)
			for i := len(x) - 1; i >= 0; i-- {
				s += x[i]
			}
			return s + c
		}}, "(999 + 998 + … + 0 + c)", 6000},
		"c is ignored": {sums{9, func(x []float32, _ float32) float32 { return chain(x[1:], x[0]) }}, "(0 + 1 + … + 8)", 300},
		"one product":  {sums{1, chain}, "(c + 0)", 300},
		"two lanes": {sums{16, func(x []float32, c float32) float32 {
			var r [2]float32
			for i, v := range x {
				r[i%2] += v
			}
			return c + (r[0] + r[1])
		}}, "(A + A@1 + c)\nA = (0 + 2 + … + 14)", 500},
		"as NumPy": {sums{256, func(x []float32, _ float32) float32 { return pairwise(x) }},
			"(A + A@128)\nA = (B + B@4)\nB = (C + C@2)\nC = (D + D@1)\nD = (0 + 8 + … + 120)", 10000},
		"two parts of K": {sums{32, func(x []float32, c float32) float32 { return c + (chain(x[1:16], x[0]) + chain(x[17:], x[16])) }},
			"(A + A@16 + c)\nA = (0 + 1 + … + 15)", 1000},
		"a tensor core": {infer.Emulated(devices.AmpereF16(), 16), "[[c + 0 + 1 + … + 7] + 8 + 9 + … + 15]", 500},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := infer.FindOrder(t.Context(), want.box, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Order.String(); got != want.text {
				t.Errorf("found\n%s\nwant\n%s", got, want.text)
			}
			if s.Agreed != s.Checked || s.Questions > want.most {
				t.Errorf("%d of %d sums agree, after %d questions, want all and at most %d", s.Agreed, s.Checked, s.Questions, want.most)
			}
			if wide := strings.Contains(want.text, "["); wide == (s.Checked > 0) {
				t.Errorf("%d sums were compared", s.Checked)
			}
		})
	}
}

// Random orders are found.
func TestFindOrder_of_random_trees(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 0))
	for range 300 {
		k := 1 + rng.IntN(40)
		var trees [][2]int // parts of node k+i; products are nodes 0 to k-1, c is k
		open := rng.Perm(k + 1)
		for len(open) > 1 {
			i, j := rng.IntN(len(open)), rng.IntN(len(open)-1)
			if j >= i {
				j++
			}
			node := k + 1 + len(trees)
			trees = append(trees, [2]int{open[i], open[j]})
			open[i] = node
			open = append(open[:j], open[j+1:]...)
		}
		box := sums{k, func(x []float32, c float32) float32 {
			values := append(append([]float32{}, x...), c)
			for _, parts := range trees {
				values = append(values, values[parts[0]]+values[parts[1]])
			}
			return values[len(values)-1]
		}}
		s, err := infer.FindOrder(t.Context(), box, 2)
		if err != nil {
			t.Fatal(err)
		}
		if s.Agreed != s.Checked || s.Checked == 0 {
			t.Fatalf("%d of %d sums agree with %v, found for %v", s.Agreed, s.Checked, s.Order, trees)
		}
	}
}

// What is no sum has a question that shows it, and a box that fails its error.
func TestFindOrder_of_no_sum(t *testing.T) {
	gone := errors.New("gone")
	for want, box := range map[string]infer.Box{
		"which is no sum":       sums{8, func([]float32, float32) float32 { return 3 }},
		"no order of additions": sums{8, func(x []float32, c float32) float32 { return max(c, x[0]*x[1], x[2]) }},
		"no order of additions gives that": sums{8, func(x []float32, _ float32) float32 {
			s := float32(0)
			for _, v := range x {
				s -= v
			}
			return s
		}},
		"no order of additions has both": sums{8, func(x []float32, _ float32) float32 {
			s := x[0]
			for i := range x[1:] {
				if x[0] > 1 { // in another order
					i = 6 - i
				}
				s += x[i+1]
			}
			return s
		}},
		"gone":         failing{sums{8, nil}, gone},
		"want at most": infer.Emulated(devices.HopperE4M3(), 32),
	} {
		if _, err := infer.FindOrder(t.Context(), box, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

type failing struct {
	sums
	err error
}

func (f failing) Dots(context.Context, []infer.Dot) ([]uint64, error) { return nil, f.err }

// A box that adds in an order, but rounds otherwise, is told from one that
// rounds every sum to nearest.
func TestFindOrder_compares_sums(t *testing.T) {
	s, err := infer.FindOrder(t.Context(), sums{20, func(x []float32, c float32) float32 {
		z := float64(c)
		for _, v := range x {
			z += float64(v)
		}
		return float32(z)
	}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Order.String(); got != "(c + 0 + 1 + … + 19)" || s.Agreed == s.Checked || s.Agreed == 0 {
		t.Errorf("%s, %d of %d sums agree, want some", got, s.Agreed, s.Checked)
	}
	var text strings.Builder
	if err := s.Write(&text); err != nil || !strings.Contains(text.String(), "it rounds otherwise") {
		t.Errorf("%s, %v", text.String(), err)
	}
}

// An order is written however long its chain is: readers of JSON allow lists in
// lists ten thousand deep and less.
func TestSummation_of_a_long_chain(t *testing.T) {
	const k = 20000
	o := &infer.Order{Leaf: 0}
	for i := 1; i < k; i++ {
		o = &infer.Order{Parts: []*infer.Order{o, {Leaf: i}}}
	}
	text, err := json.Marshal(infer.Summation{K: k, Order: o})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Additions [][]int }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for i, a := range got.Additions {
		want := []int{k + i - 1, i + 1}
		if i == 0 {
			want[0] = 0
		}
		if !slices.Equal(a, want) {
			t.Fatalf("addition %d is of %v, want %v", i, a, want)
		}
	}
	if len(got.Additions) != k-1 {
		t.Errorf("%d additions, want %d", len(got.Additions), k-1)
	}
}

// A sum of one term is of no additions, which are a list, too.
func TestSummation_of_one_term(t *testing.T) {
	text, err := json.Marshal(infer.Summation{K: 1, Order: &infer.Order{Leaf: 0}})
	if err != nil || !strings.Contains(string(text), `"Additions":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}
