package infer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Summation is what [FindOrder] finds out about a box.
type Summation struct {
	K         int // the number of products
	Order     *Order
	Questions int

	// Of so many random sums, those agreed which the order gives with additions of
	// two terms rounded to C, to nearest even. Checked is 0 if the order has
	// additions of more.
	Checked, Agreed int
}

// FindOrder returns the order in which a box adds its products, and c unless it
// takes no part, from the sizes of subtrees (Xie, Gao, Wang & Xue 2025): with M
// in place of one term and -M of another, where M swallows all other terms,
// which are equal, what is left are those outside the least subtree with both.
// Terms to compare with are drawn at random, from a seed, so that few questions
// do for chains from either end and for balanced trees alike.
//
// The error is that of the box or of ctx, says that the formats have no such M,
// or has a question whose answer no order gives.
func FindOrder(ctx context.Context, b Box, seed uint64) (Summation, error) {
	o := &orderer{ctx: ctx, box: b, shape: b.Shape(), rng: rand.New(rand.NewPCG(seed, 0))}
	if err := o.scale(); err != nil {
		return Summation{}, err
	}
	leaves := make([]int, 0, o.shape.K+1)
	for i := range o.shape.K {
		leaves = append(leaves, i)
	}
	alone, err := o.ask([]sumQuestion{{c: o.unit}})
	if err != nil {
		return Summation{}, err
	}
	switch alone[0] {
	case 0:
	case o.unit:
		leaves = append(leaves, -1)
	default:
		return Summation{}, fmt.Errorf("infer: c = %v and products 0 give %v, which is no sum", o.unit, alone[0])
	}
	o.terms = leaves
	order, err := o.find()
	if err != nil {
		return Summation{}, err
	}
	s := Summation{K: o.shape.K, Order: order}
	err = o.check(&s)
	s.Questions = o.asked
	return s, err
}

// MarshalJSON returns the order as its [Order.Additions], since nested lists of
// a long chain are deeper than most programs read.
func (s Summation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		K, Questions, Checked, Agreed int
		Additions                     [][]int
	}{s.K, s.Questions, s.Checked, s.Agreed, s.Order.Additions(s.K)})
}

// Write writes the order, and how it was compared with the box.
func (s Summation) Write(w io.Writer) error {
	text := fmt.Sprintf("Order, found by %d questions:\n\n  %s\n\n", s.Questions, strings.ReplaceAll(s.Order.String(), "\n", "\n  "))
	text += "Numbers are products. Terms in parentheses are added from left to right, those in brackets at once;\n" +
		"A@8 is A with all numbers increased by 8.\n"
	switch {
	case s.Checked == 0:
		text += "Sums are not compared: how terms that are added at once are aligned is no matter of order.\n"
	case s.Agreed == s.Checked:
		text += fmt.Sprintf("All of %d random sums have the bits of additions in this order, rounded to nearest.\n", s.Checked)
	default:
		text += fmt.Sprintf("Of %d random sums %d have the bits of additions in this order, rounded to nearest: it rounds otherwise.\n", s.Checked, s.Agreed)
	}
	_, err := io.WriteString(w, text)
	return err
}

// orderer finds the order of a box.
type orderer struct {
	ctx   context.Context
	box   Box
	shape Shape
	rng   *rand.Rand
	terms []int // all leaves
	asked int

	// The magnitudes of the terms that swallow, and of those that are swallowed,
	// as products of two factors.
	mask, unit   float64
	maskX, maskY float64
	unitX, unitY float64
}

// scale chooses the magnitudes.
func (o *orderer) scale() error {
	s := o.shape
	if s.K < 1 || s.ScaleBlock > 0 {
		return fmt.Errorf("infer: an order of K = %d products with scales of %d, want at least 1 and no scales", s.K, s.ScaleBlock)
	}
	low, high := max(s.A.Emin+s.B.Emin, s.C.Emin), min(s.A.Emax+s.B.Emax, s.C.Emax-1)
	y := min(max(low, s.B.Emin), 0)
	o.unitX, o.unitY = math.Ldexp(1, max(low-y, s.A.Emin)), math.Ldexp(1, y)
	y = max(min(high, s.B.Emax), 0)
	o.maskX, o.maskY = math.Ldexp(1, min(high-y, s.A.Emax)), math.Ldexp(1, y)
	o.unit, o.mask = o.unitX*o.unitY, o.maskX*o.maskY
	if most := o.mask / o.unit * s.C.UnitRoundoff() / 2; float64(s.K+1) > min(most, 1/s.C.UnitRoundoff()) {
		return fmt.Errorf("infer: an order of K = %d products of %s × %s in %s, want at most %v: beyond, no product is so large that it swallows all others, or their number is no sum",
			s.K, s.A.Name, s.B.Name, s.C.Name, max(0, math.Floor(min(most, 1/s.C.UnitRoundoff()))-1))
	}
	return nil
}

// sumQuestion asks for a sum: of products 1 · unit, but of those given.
type sumQuestion struct {
	given map[int][2]float64
	c     float64
	units bool // the other products are units, not 0
}

// ask returns the results of questions.
func (o *orderer) ask(questions []sumQuestion) ([]float64, error) {
	var z []float64
	s := o.shape
	x, y := code(s.A, o.unitX), code(s.B, o.unitY)
	for batch := range slices.Chunk(questions, max(1, 1<<18/s.K)) {
		if o.asked += len(batch); o.asked > mostQuestions {
			return nil, fmt.Errorf("infer: no order was found by %d questions", mostQuestions)
		}
		dots := make([]Dot, len(batch))
		for i, q := range batch {
			d := Dot{X: make([]uint64, s.K), Y: make([]uint64, s.K), C: code(s.C, q.c)}
			if q.units {
				for k := range d.X {
					d.X[k], d.Y[k] = x, y
				}
			}
			for k, f := range q.given {
				d.X[k], d.Y[k] = code(s.A, f[0]), code(s.B, f[1])
			}
			dots[i] = d
		}
		codes, err := o.box.Dots(o.ctx, dots)
		if err != nil {
			return nil, err
		}
		for _, c := range codes {
			z = append(z, s.C.Decode(c))
		}
	}
	return z, nil
}

// A group is a set of leaves of which is known that they are in parts of a node
// of the given number of leaves, which has no other leaf in these parts.
type group struct {
	leaves []int
	size   int
	node   *Order
	leaf   int // that is compared with the others
}

// find returns the order. All groups of a round are asked at once.
func (o *orderer) find() (*Order, error) {
	above := &Order{}
	open := []*group{{leaves: slices.Clone(o.terms), size: len(o.terms) + 1, node: above}}
	for len(open) > 0 {
		var questions []sumQuestion
		for _, g := range open {
			n := o.rng.IntN(len(g.leaves))
			g.leaf = g.leaves[n]
			g.leaves = slices.Delete(g.leaves, n, n+1)
			for _, other := range g.leaves {
				questions = append(questions, o.masked(g.leaf, other))
			}
		}
		left, err := o.ask(questions)
		if err != nil {
			return nil, err
		}
		var next []*group
		for _, g := range open {
			parts, err := o.divide(g, left[:len(g.leaves)])
			if err != nil {
				return nil, err
			}
			left, next = left[len(g.leaves):], append(next, parts...)
		}
		open = next
	}
	above.sort()
	return above.Parts[0], nil
}

// masked returns the question for the terms outside the least subtree with
// leaves i and j.
func (o *orderer) masked(i, j int) sumQuestion {
	q := sumQuestion{given: map[int][2]float64{}, units: true}
	if o.terms[len(o.terms)-1] < 0 {
		q.c = o.unit
	}
	for leaf, sign := range map[int]float64{i: 1, j: -1} {
		if leaf < 0 {
			q.c = sign * o.mask
		} else {
			q.given[leaf] = [2]float64{sign * o.maskX, o.maskY}
		}
	}
	return q
}

// divide adds to the node of a group the part that has its leaf, from what is
// left of the sums of masked. It returns the groups of the other leaves.
func (o *orderer) divide(g *group, left []float64) ([]*group, error) {
	joined := map[int][]int{} // the other leaves by the size of the least subtree with both
	for n, z := range left {
		outside := z / o.unit
		if outside != math.Trunc(outside) || outside < 0 || outside > float64(len(o.terms)-2) {
			return nil, fmt.Errorf("infer: with %v at %s, %v at %s and %v elsewhere, the sum of %d terms is %v: no order of additions gives that",
				o.mask, term(g.leaf), -o.mask, term(g.leaves[n]), o.unit, len(o.terms), z)
		}
		size := len(o.terms) - int(outside)
		joined[size] = append(joined[size], g.leaves[n])
	}
	var groups []*group
	here, count := &Order{Leaf: g.leaf}, 1
	for _, size := range slices.Sorted(maps.Keys(joined)) {
		others := joined[size]
		if size == g.size {
			groups = append(groups, &group{leaves: others, size: size, node: g.node})
			continue
		}
		if count += len(others); count != size {
			return nil, fmt.Errorf("infer: %s is added to %d terms and to %s with %d: no order of additions has both",
				term(g.leaf), count-1, term(others[0]), size-1)
		}
		here = &Order{Parts: []*Order{here}}
		groups = append(groups, &group{leaves: others, size: size, node: here})
	}
	g.node.Parts = append(g.node.Parts, here)
	return groups, nil
}

// term returns the name of a leaf.
func term(leaf int) string {
	if leaf < 0 {
		return "c"
	}
	return fmt.Sprintf("product %d", leaf)
}

// check compares random sums of the box with those by the order.
func (o *orderer) check(s *Summation) error {
	const sums = 200
	if s.Order.wide() {
		return nil
	}
	questions, want := make([]sumQuestion, sums), make([]float64, sums)
	f := o.shape
	spread := min(f.A.Emax, -f.A.Emin, 12)
	for n := range questions {
		q := sumQuestion{given: map[int][2]float64{}}
		values := map[int]float64{}
		for _, leaf := range o.terms {
			v := f.A.Round(math.Ldexp(o.rng.NormFloat64(), o.rng.IntN(spread+1)-spread/2), tcore.ToNearestEven)
			if leaf < 0 {
				v = f.C.Round(v, tcore.ToNearestEven)
				q.c = v
			} else {
				q.given[leaf] = [2]float64{v, 1}
			}
			values[leaf] = f.C.Round(v, tcore.ToNearestEven)
		}
		questions[n], want[n] = q, s.Order.sum(f.C, values)
	}
	got, err := o.ask(questions)
	if err != nil {
		return err
	}
	for n, z := range got {
		s.Checked++
		if z == want[n] {
			s.Agreed++
		}
	}
	return nil
}
