package plan_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// box is a plan that is asked without being looked at.
type box struct {
	plan plan.Plan
	k    int
}

func (b box) Shape() infer.Shape {
	d := b.plan.Device()
	return infer.Shape{A: d.A, B: d.B, C: b.plan.Output, K: b.k}
}

func (b box) Dots(_ context.Context, questions []infer.Dot) ([]uint64, error) {
	d := b.plan.Device()
	z := make([]uint64, len(questions))
	for i, q := range questions {
		x, y := make([]float64, b.k), make([]float64, b.k)
		for k := range x {
			x[k], y[k] = d.A.Decode(q.X[k]), d.B.Decode(q.Y[k])
		}
		z[i] = b.plan.Output.Encode(b.plan.Dot(x, y), tcore.ToNearestEven)
	}
	return z, nil
}

// found returns an order that was found as a tree of a plan.
func found(o *infer.Order) *plan.Node {
	n := &plan.Node{Leaf: o.Leaf}
	for _, part := range o.Parts {
		n.Parts = append(n.Parts, found(part))
	}
	return n
}

// text returns a tree as nested parentheses, in which parts are sorted: sums at
// once have no order.
func text(n *plan.Node) string {
	if len(n.Parts) == 0 {
		return fmt.Sprint(n.Leaf)
	}
	words := make([]string, len(n.Parts))
	for i, part := range n.Parts {
		words[i] = text(part)
	}
	slices.Sort(words)
	return "(" + strings.Join(words, " ") + ")"
}

// The tree of an order is the one that questions find: of all modes of
// libraries, on scalar FMAs and on tensor cores.
func TestTreesAreThoseThatQuestionsFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	trials := 6
	if testing.Short() {
		trials = 3
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		family := families[name]
		if name == "floor" { // which loses products, as no tree of additions does
			continue
		}
		for n := range trials {
			units := slices.DeleteFunc(family.units(), func(u unit) bool { // without those that have no number that swallows
				return u.factor == e4m3 || u.bits == 0 && !slices.ContainsFunc(scalarUnits(), func(v unit) bool { return u.device.Name == v.device.Name })
			})
			u, k := units[rng.IntN(len(units))], 1+rng.IntN(60+20*n)
			mode := family.draw(rng, u, k, outputs[2])
			of := plan.Plan{Order: mode.order, Output: tcore.Binary32}
			s, err := infer.FindOrder(t.Context(), box{of, k}, uint64(n))
			if err != nil {
				t.Errorf("%s, %s on %s, K = %d: %v", name, mode.name, u.device.Name, k, err)
				continue
			}
			if got, want := text(plan.Tree(mode.order, k)), text(found(s.Order)); got != want {
				t.Errorf("%s, %s on %s, K = %d:\n%s\nfound\n%s", name, mode.name, u.device.Name, k, got, want)
			}
			if u.bits == 0 && (s.Agreed != s.Checked || k > 1 && s.Checked == 0) { // tensor cores cut
				t.Errorf("%s, %s on %s, K = %d: %d of %d sums agree", name, mode.name, u.device.Name, k, s.Agreed, s.Checked)
			}
		}
	}
}

// Sums of NumPy, eight chains that are added in neighbouring pairs, are lanes
// within lanes.
func TestTreeAsNumPy(t *testing.T) {
	var chains plan.Order = plan.Run{Device: scalarUnits()[2].device}
	for _, vector := range []int{1, 2, 4} {
		chains = plan.Parts{Cut: plan.Cut{Lanes: 2, Vector: vector}, Each: chains}
	}
	order := split(128, chains, plan.Merge{})
	s, err := infer.FindOrder(t.Context(), box{plan.Plan{Order: order, Output: tcore.Binary32}, 256}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := "(A + A@128)\nA = (B + B@4)\nB = (C + C@2)\nC = (D + D@1)\nD = (0 + 8 + … + 120)"; s.Order.String() != want {
		t.Errorf("found\n%v\nwant\n%s", s.Order, want)
	}
	if got, want := text(plan.Tree(order, 256)), text(found(s.Order)); got != want {
		t.Errorf("%s\nfound\n%s", got, want)
	}
}

func TestTreeWithoutWhatIsLost(t *testing.T) {
	run := plan.Run{Device: scalarUnits()[0].device}
	floor := plan.Parts{Cut: plan.Cut{Count: 3, Floor: true}, Each: run}
	if got := text(plan.Tree(floor, 8)); got != "(((0 1) (2 3)) (4 5))" {
		t.Errorf("8 products, of which two are lost: %s", got)
	}
	if got := plan.Tree(floor, 2); got != nil {
		t.Errorf("2 products, both lost: %s", text(got))
	}
	if got := text(plan.Tree(plan.Parts{Cut: plan.Cut{Count: 5}, Each: run, Merge: plan.Merge{Folds: []int{4, 1}}}, 5)); got != "((((0 4) 1) 2) 3)" {
		t.Errorf("lanes and one more: %s", got)
	}
}
