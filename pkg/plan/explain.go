package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Explain tells in words how a plan computes a sum of k products: how K is cut,
// what an accumulator does, how parts are merged, and what one product meets on
// its way. It panics if k < 1 or [Plan.Check] returns an error.
func Explain(p Plan, k int) string {
	s := p.Size(k)
	e := &explanation{}
	e.node(p.Order, k, []int{k}, 0)
	e.epilogue(p)
	e.line(0, "")
	e.size(p, s)
	return e.String()
}

// An explanation is text, whose lines are indented and wrapped.
type explanation struct{ strings.Builder }

// width is how wide the lines of an explanation are, in columns.
const width = 100

// line writes a sentence or more, as lines of their own.
func (e *explanation) line(depth int, format string, values ...any) {
	indent := strings.Repeat("  ", depth)
	line := ""
	for _, w := range strings.Fields(fmt.Sprintf(format, values...)) {
		switch {
		case line == "":
			line = indent + w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width:
			e.WriteString(line + "\n")
			line = indent + "  " + w
		default:
			line += " " + w
		}
	}
	e.WriteString(line + "\n")
}

// node explains an order of sums of these lengths, each of which occurs, the
// longest first.
func (e *explanation) node(o Order, k int, lengths []int, depth int) {
	if r, ok := o.(Run); ok {
		e.run(r, lengths, depth)
		return
	}
	p := o.(Parts)
	var inner []int
	parts := 0
	for i, n := range lengths {
		list := p.Cut.sizes(n)
		count := 0
		for _, s := range list {
			count += s.Count
			inner = append(inner, p.Cut.ends(s.Products)...)
		}
		parts = max(parts, count)
		if i < shown && n > 0 {
			e.line(depth, "%s is cut into %s.%s", subject(n, depth), cutWords(list, count), e.floor(p.Cut, n))
		}
	}
	if n := len(lengths) - shown; n > 0 {
		e.line(depth, "%s of %s alike.", plural(n, "further length", "further lengths"), "parts")
	}
	e.where(p.Cut, lengths[0], depth)
	slices.SortFunc(inner, func(a, b int) int { return b - a })
	e.node(p.Each, k, slices.Compact(inner), depth+1)
	e.merge(p.Merge, parts, depth)
}

// shown is how many lengths of parts are explained.
const shown = 3

// subject returns what a sentence on a sum of n products begins with.
func subject(n, depth int) string {
	if depth == 0 {
		return fmt.Sprintf("K = %d", n)
	}
	return fmt.Sprintf("A part of %d", n)
}

// cutWords returns "2 parts of 2048 products", or "3 parts: 2 of 128 products
// and 1 of 44".
func cutWords(list []Group, count int) string {
	if len(list) == 1 {
		return fmt.Sprintf("%s of %s", plural(count, "part", "parts"), plural(list[0].Products, "product", "products"))
	}
	var words []string
	for i, s := range list {
		text := fmt.Sprintf("%d of %d", s.Count, s.Products)
		if i == 0 {
			text = fmt.Sprintf("%d of %s", s.Count, plural(s.Products, "product", "products"))
		}
		if s.Products == 0 {
			text = fmt.Sprintf("%d empty", s.Count)
		}
		if i == shown+1 && len(list) > i+1 {
			words = append(words, fmt.Sprintf("others, %d in all", count))
			break
		}
		words = append(words, text)
	}
	return fmt.Sprintf("%s: %s", plural(count, "part", "parts"), join(words))
}

func (e *explanation) floor(c Cut, n int) string {
	if lost := c.lost(n); lost > 0 {
		return fmt.Sprintf(" What lies beyond, %s, is in no part and LOST.", plural(lost, "product", "products"))
	}
	return ""
}

// where tells which products the parts have, where they do not stand in a row.
func (e *explanation) where(c Cut, n, depth int) {
	v := 0
	if c.Lanes > 0 {
		v = c.vector(n)
	}
	switch {
	case v > 0 && v*c.Lanes < n:
		second := c.Lanes * v
		e.line(depth, "They take turns, %s at a time: the first has %s, then %s, and so on.", plural(v, "product", "products"),
			rangeWords(0, v), rangeWords(second, min(v, n-second)))
	case c.Halves > 0 && n > c.Most:
		e.line(depth, "Parts of more than %d products are cut in two again, and so on; the first of two has a multiple of %d.", c.Most, c.Halves)
	case c.Grain > 1:
		e.line(depth, "Parts begin at multiples of %d.", c.Grain)
	}
}

// rangeWords returns the positions of n products.
func rangeWords(start, n int) string {
	switch n {
	case 1:
		return strconv.Itoa(start)
	case 2:
		return fmt.Sprintf("%d and %d", start, start+1)
	}
	return fmt.Sprintf("%d … %d", start, start+n-1)
}

// run explains an accumulator.
func (e *explanation) run(r Run, lengths []int, depth int) {
	for i, n := range lengths {
		if i == shown {
			e.line(depth, "%s alike.", plural(len(lengths)-shown, "further length", "further lengths"))
			break
		}
		name := subject(n, depth)
		switch groups := r.groups(n); {
		case n == 0:
			e.line(depth, "An empty part is +0.")
		case len(groups) == 1 && n == 1:
			e.line(depth, "%s: one %s.", name, instruction(r.Device, 1))
		case len(groups) == 1 && groups[0].Count == 1:
			e.line(depth, "%s: one %s on all of it.", name, instruction(r.Device, 1))
		default:
			e.line(depth, "%s: %s, one after the other on one accumulator.", name, groupWords(r.Device, groups))
		}
	}
	if n := lengths[0]; r.Tile > 0 && n%r.Tile > 0 {
		e.line(depth, "The %s that tiles of %d leave over come first.", plural(n%r.Tile, "product", "products"), r.Tile)
	}
	e.line(depth, "The accumulator starts at +0. %s", arithmetic(r.Device))
}

// groupWords returns "8 instructions of 16 products", or "…, 1 of 4".
func groupWords(d tcore.Device, groups []Group) string {
	var words []string
	for i, g := range groups {
		if _, chain := d.Core.(tcore.Chain); chain {
			return fmt.Sprintf("%d FMAs", g.Count)
		}
		if i == 0 {
			words = append(words, fmt.Sprintf("%d %s of %s", g.Count, instruction(d, g.Count), plural(g.Products, "product", "products")))
		} else {
			words = append(words, fmt.Sprintf("%d of %d", g.Count, g.Products))
		}
	}
	return strings.Join(words, ", then ")
}

func instruction(d tcore.Device, n int) string {
	_, chain := d.Core.(tcore.Chain)
	switch {
	case chain && n == 1:
		return "FMA"
	case chain:
		return "FMAs"
	case n == 1:
		return "instruction"
	}
	return "instructions"
}

// arithmetic returns what an instruction of a device does with its products and
// the accumulator c, in a sentence or two.
func arithmetic(d tcore.Device) string {
	fused := func(f tcore.Fused) string {
		return fmt.Sprintf("aligns its products and the accumulator to the greatest exponent, cuts off what is more than %d bits below it, adds exactly, and rounds the sum %s to %s",
			f.FractionBits, rounding(f.Rounding), f.Result.Name)
	}
	switch c := d.Core.(type) {
	case tcore.Chain:
		return fmt.Sprintf("An FMA adds one product, and rounds the sum to nearest to %s.", d.C.Name)
	case tcore.Fused:
		return fmt.Sprintf("An instruction %s.", fused(c))
	case tcore.Split:
		return fmt.Sprintf("An instruction is two of half its products, from +0: each %s; then both are added to the accumulator, to nearest in %s.", fused(c.By), d.C.Name)
	case tcore.ExactSum:
		return fmt.Sprintf("An instruction adds its products and the accumulator exactly, and rounds the sum to nearest to %s.", d.C.Name)
	case tcore.TwoStage:
		return fmt.Sprintf("An instruction aligns its products and cuts off what is more than 24 bits below the greatest exponent, aligns their sum and the accumulator in the same way, adds them, and rounds the sum to nearest to %s.", d.C.Name)
	}
	return fmt.Sprintf("An instruction adds as %s does, in %s.", d.Name, d.C.Name)
}

// rounding returns the direction of a rounding in words.
func rounding(m tcore.RoundingMode) string {
	switch m {
	case tcore.ToNearestEven:
		return "to nearest"
	case tcore.ToZero:
		return "toward zero"
	}
	return m.String()
}

// merge explains how a number of parts are merged.
func (e *explanation) merge(m Merge, parts, depth int) {
	if m.Partial != (tcore.Format{}) {
		e.line(depth, "Each sum is rounded to nearest to %s before it is added.", m.Partial.Name)
	}
	switch m.Scale {
	case Fused:
		e.line(depth, "The %s are added to +0 from left to right, each times its scales fl(sa × sb), by one FMA in binary32.", plural(parts, "sum", "sums"))
		return
	case FusedSecond:
		e.line(depth, "The %s are added to +0 from left to right, each times sa, rounded, then times sb, by one FMA in binary32.", plural(parts, "sum", "sums"))
		return
	}
	from := ""
	if m.Zero {
		from = ", from +0"
	}
	passes := m.passes(parts)
	switch {
	case parts == 1 && len(passes) == 1:
		e.line(depth, "There is one sum%s, and nothing to add.", from)
	case len(passes) == 1:
		e.line(depth, "The %d sums are added from left to right%s, in binary32 to nearest.", parts, from)
	case slices.Equal(m.Folds, halves(parts)):
		e.line(depth, "The %d sums are added in pairs at distances %s%s, in binary32 to nearest.", parts, join(strings.Split(numbers(m.Folds), ",")), from)
	default:
		for i, f := range passes {
			what := "sums"
			if i > 0 {
				what = "values"
			}
			if f.sums == 1 {
				e.line(depth, "The %d %s are added from left to right%s, in binary32 to nearest.", f.values, what, from)
				continue
			}
			e.line(depth, "The %d %s are added to %s%s: number t is t, t + %d, t + %d, … from left to right, in binary32 to nearest.",
				f.values, what, plural(f.sums, "sum", "sums"), from, f.sums, 2*f.sums)
		}
	}
	if m.Running != (tcore.Format{}) {
		e.line(depth, "After each addition the sum so far is rounded to nearest to %s, the first sum too.", m.Running.Name)
	}
}

// epilogue explains what becomes of the sum.
func (e *explanation) epilogue(p Plan) {
	beta := "alpha and beta C are applied in binary32 before, each operation to nearest."
	if p.FusedBeta {
		beta = "alpha and beta C are applied before by one FMA in binary32, after beta C is rounded."
	}
	e.line(0, "The result is rounded once, to nearest, to %s; %s", p.output().Name, beta)
}

// size tells what a product meets, and what all of them take.
func (e *explanation) size(p Plan, s Size) {
	d := p.Device()
	most := plural(s.MostInstructions, instruction(d, 1), instruction(d, 2))
	if f, ok := d.Core.(tcore.Fused); ok && f.Rounding == tcore.ToZero {
		most += fmt.Sprintf(", each of which truncates to %d bits,", f.FractionBits)
	}
	e.line(0, "A product meets at most %s and %s on its way, then the rounding of the result.",
		most, plural(s.MostAdditions, "addition to nearest", "additions to nearest"))
	e.line(0, "All take %s in %s, and %s.", plural(s.Instructions, instruction(d, 1), instruction(d, 2)),
		plural(s.Runs, "accumulator", "accumulators"), plural(s.Additions, "addition", "additions"))
	if s.Lost > 0 {
		e.line(0, "%s LOST, of %d: the result is that of the others.", plural(s.Lost, "product is", "products are"), s.Products)
	} else {
		e.line(0, "No product is lost.")
	}
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// join returns "a, b and c".
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
