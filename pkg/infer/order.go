package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Order is the tree of the additions by which a box computes a sum: of a
// leaf, or of the sums of its parts, which are added at once. Two parts are an
// addition; more are one of several terms, as tensor cores have.
type Order struct {
	Leaf  int // of a tree without parts: the index of a product, or -1 for c
	Parts []*Order
}

// leaves returns the number of leaves.
func (o *Order) leaves() int {
	if len(o.Parts) == 0 {
		return 1
	}
	n := 0
	for _, p := range o.Parts {
		n += p.leaves()
	}
	return n
}

// first returns the least index of a leaf, without c if there is another.
func (o *Order) first() int {
	if len(o.Parts) == 0 {
		return o.Leaf
	}
	least := -1
	for _, p := range o.Parts {
		if f := p.first(); f >= 0 && (least < 0 || f < least) {
			least = f
		}
	}
	return least
}

// Additions returns the additions of k products in an order in which they can
// be done, each a list of what it adds: i < k is product i, -1 is c, and k + i
// the result of addition i. The last one is the sum; of one term there is none.
func (o *Order) Additions(k int) [][]int {
	list := [][]int{}
	var sum func(o *Order) int
	sum = func(o *Order) int {
		if len(o.Parts) == 0 {
			return o.Leaf
		}
		terms := make([]int, len(o.Parts))
		for i, p := range o.Parts {
			terms[i] = sum(p)
		}
		list = append(list, terms)
		return k + len(list) - 1
	}
	sum(o)
	return list
}

// sort sorts all parts by their least indices.
func (o *Order) sort() {
	for _, p := range o.Parts {
		p.sort()
	}
	slices.SortFunc(o.Parts, func(a, b *Order) int { return a.first() - b.first() })
}

// wide reports whether more than two terms are added at once.
func (o *Order) wide() bool {
	return len(o.Parts) > 2 || slices.ContainsFunc(o.Parts, (*Order).wide)
}

// sum returns the sum of values in this order, rounded to f.
func (o *Order) sum(f tcore.Format, values map[int]float64) float64 {
	if len(o.Parts) == 0 {
		return values[o.Leaf]
	}
	z := o.Parts[0].sum(f, values)
	for _, p := range o.Parts[1:] {
		z = f.Add(z, p.sum(f, values), tcore.ToNearestEven)
	}
	return z
}

// String returns the order as a formula. Numbers are indices of products. A sum
// in parentheses is added from left to right, one in brackets at once. Letters
// are sums that come more than once, defined in lines that follow; A@8 is A
// with all indices increased by 8.
func (o *Order) String() string {
	w := &orderWriter{names: map[string]string{}, times: map[string]int{}}
	w.count(o)
	text := w.text(o, 0)
	return strings.Join(append([]string{text}, w.lines...), "\n")
}

// orderWriter writes an order.
type orderWriter struct {
	times map[string]int    // how often a shape is part of the order
	names map[string]string // of shapes that have a line
	lines []string
}

// shape returns a text that is equal for orders that differ only in where their
// indices begin.
func (o *Order) shape(from int) string {
	if len(o.Parts) == 0 {
		if o.Leaf < 0 {
			return "c"
		}
		return fmt.Sprint(o.Leaf - from)
	}
	words := make([]string, len(o.Parts))
	for i, p := range o.Parts {
		words[i] = p.shape(from)
	}
	return "(" + strings.Join(words, " ") + ")"
}

// spine returns the terms that a chain of additions of two adds one after the
// other: the longer part of each continues the chain.
func (o *Order) spine() []*Order {
	if len(o.Parts) != 2 {
		return []*Order{o}
	}
	long, short := o.Parts[0], o.Parts[1]
	switch m, n := long.leaves(), short.leaves(); {
	case m == n:
		return []*Order{long, short}
	case m < n:
		long, short = short, long
	}
	return append(long.spine(), short)
}

// children returns what the text of o has as terms.
func (o *Order) children() []*Order {
	if len(o.Parts) != 2 {
		return o.Parts
	}
	z := o.spine()
	if len(z) > 2 && !slices.ContainsFunc(z[:3], func(p *Order) bool { return len(p.Parts) > 0 }) && z[2].Leaf-z[0].Leaf == z[0].Leaf-z[1].Leaf {
		z[0], z[1] = z[1], z[0] // of a chain with equal steps, the end
	}
	return z
}

// count counts the shapes of o.
func (w *orderWriter) count(o *Order) {
	if len(o.Parts) == 0 {
		return
	}
	key := o.shape(max(0, o.first()))
	if w.times[key]++; w.times[key] > 1 {
		return
	}
	for _, p := range o.children() {
		w.count(p)
	}
}

// text returns the text of o, with indices decreased by from.
func (w *orderWriter) text(o *Order, from int) string {
	if len(o.Parts) == 0 {
		if o.Leaf < 0 {
			return "c"
		}
		return fmt.Sprint(o.Leaf - from)
	}
	first := max(0, o.first())
	key := o.shape(first)
	if w.times[key] < 2 || o.leaves() < 3 {
		return w.formula(o, from)
	}
	name, ok := w.names[key]
	if !ok {
		name = letters(len(w.names))
		w.names[key] = name
		at := len(w.lines)
		w.lines = append(w.lines, "")
		w.lines[at] = fmt.Sprintf("%s = %s", name, w.formula(o, first))
	}
	if first == from {
		return name
	}
	return fmt.Sprintf("%s@%d", name, first-from)
}

// formula returns the text of o from its parts.
func (w *orderWriter) formula(o *Order, from int) string {
	terms := o.children()
	words := make([]string, len(terms))
	for i, p := range terms {
		words[i] = w.text(p, from)
	}
	text := strings.Join(shortened(words, terms, from), " + ")
	if len(o.Parts) > 2 {
		return "[" + text + "]"
	}
	return "(" + text + ")"
}

// letters returns A, B, …, Z, A1, ….
func letters(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return fmt.Sprintf("%c%d", 'A'+n%26, n/26)
}

// shortened replaces runs of more than four indices with equal steps by the
// first two, … and the last.
func shortened(words []string, terms []*Order, from int) []string {
	var z []string
	for i := 0; i < len(words); {
		j := i + 1
		leaf := func(k int) bool { return len(terms[k].Parts) == 0 && terms[k].Leaf >= 0 }
		for j < len(words) && leaf(i) && leaf(j) && (j == i+1 || terms[j].Leaf-terms[j-1].Leaf == terms[i+1].Leaf-terms[i].Leaf) {
			j++
		}
		if j-i > 4 {
			z = append(z, words[i], words[i+1], "…", words[j-1])
			i = j
			continue
		}
		z = append(z, words[i])
		i++
	}
	return z
}
