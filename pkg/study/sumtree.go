package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// A SumTree says where the terms of a dot product c + Σ x_k y_k meet, as found
// by asking who computes it. Term k is the product k, and term K is c.
//
// Source: derived from the masks of FPRev (Xie et al. 2025): two terms are +M
// and -M, so large that 1 beside M is lost, and all others are 1. The terms
// that are not lost are those that are added after +M and -M have met. What is
// lost is in the smallest sum that has both.
type SumTree struct {
	Device tcore.Device
	By     string  // who computed: this processor, or emulation
	Meet   [][]int // Meet[i][j] is how many terms are in the smallest sum that has i and j; Meet[i][i] = 1
	Asked  int     // dot products computed
}

// TreeOf asks the instruction of this processor or, where it has none, its
// emulation, in which order it adds k products to c. It returns an error if the
// instruction fails, or its answers are those of no tree. It panics if k is not
// a multiple of the terms of an instruction, or the formats of the device have
// no M; those of bfloat16, TF32 and binary64 have.
func TreeOf(d tcore.Device, k int) (*SumTree, error) {
	if bits := d.A.Emax + d.B.Emax; bits < 2*d.C.Precision {
		panic(fmt.Sprintf("study: TreeOf %s: products to 2^%d, want 2^%d for sums of %d bits", d.Name, bits, 2*d.C.Precision, d.C.Precision))
	}
	sums, by, err := chainer(d, k)
	if err != nil {
		return nil, err
	}
	t := &SumTree{Device: d, By: by}
	for range k + 1 {
		t.Meet = append(t.Meet, make([]int, k+1))
	}
	for i := range k + 1 {
		t.Meet[i][i] = 1
		for j := range i {
			lost, err := sums(mask(d, k, i, j))
			if err != nil {
				return nil, err
			}
			t.Asked++
			t.Meet[i][j] = k + 1 - int(lost)
			t.Meet[j][i] = t.Meet[i][j]
		}
	}
	return t, t.check()
}

// mask returns the operands whose terms i and j are +M and -M, and whose others
// are 1.
func mask(d tcore.Device, k, i, j int) (x, y []float64, c float64) {
	e := min(d.A.Emax, d.B.Emax, (d.C.Emax-1)/2)
	root := math.Ldexp(1, e)
	x, y, c = make([]float64, k), make([]float64, k), 1
	for l := range k {
		x[l], y[l] = 1, 1
	}
	set := func(term int, sign float64) {
		if term == k {
			c = sign * root * root
			return
		}
		x[term], y[term] = sign*root, root
	}
	set(i, 1)
	set(j, -1)
	return x, y, c
}

// check returns an error unless sums that share a term lie in one another.
func (t *SumTree) check() error {
	n := len(t.Meet)
	for i := range n {
		for j := range i {
			if m := t.Meet[i][j]; m < 2 || m > n {
				return fmt.Errorf("study: %s: terms %d and %d meet in a sum of %d, want 2 to %d", t.Device.Name, i, j, m, n)
			}
			for k := range n {
				if t.Meet[i][j] > max(t.Meet[i][k], t.Meet[k][j]) {
					return fmt.Errorf("study: %s: terms %d, %d and %d meet in sums of %d, %d and %d, which are of no tree",
						t.Device.Name, i, j, k, t.Meet[i][j], t.Meet[i][k], t.Meet[k][j])
				}
			}
		}
	}
	return nil
}

// chainer returns a function that computes dot products of k products by the
// instruction of this processor, one instruction after the other, or by its
// emulation, and who computes.
func chainer(d tcore.Device, k int) (dot func(x, y []float64, c float64) (float64, error), by string, err error) {
	unit, err := cpu.Open(d)
	if errors.Is(err, cpu.ErrNoMatrixUnit) {
		return func(x, y []float64, c float64) (float64, error) { return d.Dot(x, y, c), nil }, "emulation", nil
	}
	if err != nil {
		return nil, "", err
	}
	n := unit.K()
	if k%n != 0 {
		panic(fmt.Sprintf("study: K = %d, want a multiple of %d", k, n))
	}
	return func(x, y []float64, c float64) (float64, error) {
		a, b := make([]uint64, n), make([]uint64, n)
		sum := []uint64{d.C.Encode(c, tcore.ToNearestEven)}
		for at := 0; at < k; at += n {
			for l := range n {
				a[l], b[l] = d.A.Encode(x[at+l], tcore.ToNearestEven), d.B.Encode(y[at+l], tcore.ToNearestEven)
			}
			if err := unit.Dots(context.Background(), a, b, slices.Clone(sum), sum); err != nil {
				return 0, err
			}
		}
		return d.C.Decode(sum[0]), nil
	}, thisProcessor, nil
}

// parts returns the terms of the sum that has them all, by the sums and terms
// that it adds: those that meet in less than all are together.
func (t *SumTree) parts(terms []int) [][]int {
	var parts [][]int
next:
	for _, i := range terms {
		for p, part := range parts {
			if t.Meet[i][part[0]] < len(terms) {
				parts[p] = append(part, i)
				continue next
			}
		}
		parts = append(parts, []int{i})
	}
	return parts
}

// order returns the terms so that those of every sum are neighbours, longer
// parts first.
func (t *SumTree) order(terms []int) []int {
	if len(terms) == 1 {
		return terms
	}
	parts := t.parts(terms)
	slices.SortStableFunc(parts, func(a, b []int) int { return len(b) - len(a) })
	var list []int
	for _, part := range parts {
		list = append(list, t.order(part)...)
	}
	return list
}

// terms returns all terms.
func (t *SumTree) terms() []int {
	list := make([]int, len(t.Meet))
	for i := range list {
		list[i] = i
	}
	return list
}

// String returns the tree in words: (0, 2, 4) are added one after the other,
// {0, 1, 2} at once.
func (t *SumTree) String() string { return t.words(t.terms()) }

func (t *SumTree) words(terms []int) string {
	if len(terms) == 1 {
		return t.name(terms[0])
	}
	var chain []string
	for {
		parts := t.parts(terms)
		slices.SortStableFunc(parts, func(a, b []int) int { return len(b) - len(a) })
		single := len(parts) == 2 && len(parts[1]) == 1
		if !single || len(parts[0]) == 1 {
			var words []string
			for _, part := range parts {
				words = append(words, t.words(part))
			}
			if len(parts) > 2 {
				words = []string{"{" + shortened(words) + "}"}
			} else if words[1] != t.name(len(t.Meet)-1) { // else c comes first
				slices.Reverse(words)
			}
			chain = append(chain, words...)
			break
		}
		chain = append(chain, t.name(parts[1][0]))
		terms = parts[0]
	}
	slices.Reverse(chain)
	if len(chain) == 1 {
		return chain[0]
	}
	return "(" + shortened(chain) + ")"
}

func (t *SumTree) name(term int) string {
	if term == len(t.Meet)-1 {
		return "c"
	}
	return fmt.Sprint(term)
}

// shortened joins words, of many numbers in steps the first three and the last.
func shortened(words []string) string {
	var out []string
	for len(words) > 0 {
		n := steps(words)
		if n > 4 {
			out = append(out, words[0], words[1], "…", words[n-1])
		} else {
			n = 1
			out = append(out, words[0])
		}
		words = words[n:]
	}
	return strings.Join(out, ", ")
}

// steps returns how many of the first words are numbers in equal steps.
func steps(words []string) int {
	var first, last, step int
	for n, w := range words {
		var v int
		if _, err := fmt.Sscanf(w, "%d", &v); err != nil || fmt.Sprint(v) != w {
			return n
		}
		switch {
		case n == 0:
			first = v
		case n == 1:
			step = v - first
		case v-last != step:
			return n
		}
		last = v
	}
	return len(words)
}

// Figure returns the chart of the tree: two neighbours are joined at the number
// of terms of the smallest sum that has both.
func (t *SumTree) Figure() *viz.Chart {
	by := "Emulated"
	if t.By == thisProcessor {
		by = "Asked of this processor"
	}
	c := viz.NewChart("sum-tree-"+t.Device.Name,
		fmt.Sprintf("%s adds %s.", unitTitle(t.Device), t),
		fmt.Sprintf("%s by %d dot products of which two terms are too large for the others. Terms in parentheses are added one after the other, those in braces at once.", by, t.Asked))
	list := t.order(t.terms())
	n := float64(len(list))
	p := c.Panel("", viz.Axis{Label: "Terms, in an order in which those of every sum are neighbours", Min: 0, Max: n + 1},
		viz.Axis{Label: "Terms in the sum where they meet", Min: 0, Max: n + 2})
	var x, y []float64
	for i := range list {
		at := float64(i + 1)
		if i > 0 {
			m := float64(t.Meet[list[i-1]][list[i]])
			x, y = append(x, at-1, at), append(y, m, m)
		}
		x, y = append(x, at), append(y, 1)
	}
	p.Line(viz.Series{Label: unitTitle(t.Device), Color: viz.Blue}, x, y)
	for i, term := range list {
		if i == 0 || i == len(list)-1 || t.Meet[list[i-1]][term] > t.Meet[term][list[min(i+1, len(list)-1)]] {
			p.Note(float64(i+1), 0.5, t.name(term))
		}
	}
	return c
}
