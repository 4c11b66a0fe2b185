package probe

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Record contains the results of the feature tests of a unit.
type Record struct {
	Instruction string
	Properties  []Property
	Core        tcore.Core // the arithmetic that follows from Properties; nil if package tcore has none
	Checked     int        // number of random dot products computed by both the unit and Core
	Agreed      int        // number of these with the same result
}

// Property is one measured property, in words. Visible is false if no operands
// of these formats can show it.
type Property struct {
	Name, Value string
	Visible     bool
}

// Explained reports whether the inferred Core exists and predicted every random
// dot product.
func (r Record) Explained() bool { return r.Core != nil && r.Agreed == r.Checked }

// Infer measures the unit by feature tests and returns its record. The error is
// that of the unit or of ctx.
func Infer(ctx context.Context, u Unit) (Record, error) {
	p := &prober{ctx: ctx, u: u, d: u.Device(), k: u.K()}
	if sumsIntegers(p.d) {
		return p.integers()
	}
	r := Record{Instruction: p.d.Instruction}
	add := r.add

	block := p.blockOfFirst()
	terms := len(block)
	inOrder := block[terms-1] == terms-1
	if inOrder {
		add(true, "block", "%d products", terms)
	} else {
		add(true, "block", "products %v", block)
	}

	frac, all := math.MaxInt16, true
	if terms > 1 {
		frac, all = p.fractionBits(block[1])
	}
	exact := all && (terms == 1 || frac >= 64)
	switch {
	case exact:
		add(true, "alignment", "nothing is cut")
		frac = math.MaxInt16
	case all:
		add(false, "alignment", "at least %d bits", frac)
	default:
		add(true, "alignment", "%d bits", frac)
	}

	precision, long := p.precision(terms, frac)
	add(long, "result", "%d bits", precision)
	modes := p.rounding(precision, terms, frac)
	add(len(modes) > 0, "rounding", "%s", words(modes))
	nearest := len(modes) == 1 && modes[0] == tcore.ToNearestEven

	least, tiny := p.tinyNegative()
	negative := least == 0 && math.Signbit(least)
	add(tiny, "tiny negative", "%s", choose(negative, "-0", choose(least == 0, "+0", "not 0")))
	zero, seen := math.MaxInt, false
	if terms > 1 && !exact {
		zero, seen = p.zeroExponent(frac, nearest, tiny && (negative || least != 0))
		switch {
		case seen:
			add(true, "exponent of zero", "%d", zero)
		case zero < math.MaxInt:
			add(false, "exponent of zero", "at most %d", zero)
		default:
			add(false, "exponent of zero", "unknown")
		}
	}
	p.specials(add)
	add(true, "order in a block", "%s", choose(p.orderFree(terms), "free", "matters"))

	exact = exact || all && terms > 1 && p.keepsNegativeZero() // no truncated sum does
	rule := tcore.OneNaN
	if terms == 1 {
		var known bool
		rule, known = p.nanRule()
		add(known, "payload of NaN", "%s", nanRules[rule])
	}
	r.Core = p.core(terms, frac, precision, zero, modes, inOrder, exact, tiny && negative, rule)
	p.predict(&r)
	return r, p.err
}

// add adds a property.
func (r *Record) add(visible bool, name, format string, values ...any) {
	r.Properties = append(r.Properties, Property{name, fmt.Sprintf(format, values...), visible})
}

// predict compares the unit with the arithmetic of the record, if it has one,
// on random dot products.
func (p *prober) predict(r *Record) {
	if r.Core == nil || p.err != nil {
		return
	}
	d := p.d
	d.Core = r.Core
	var v Verdict
	v, p.err = compare(p.ctx, p.u, d, NewSampler(d, 1), 100*len(Regimes))
	r.Checked, r.Agreed = v.Dots, v.Agreed
}

// core returns the arithmetic that follows from the measured properties, or nil
// if package tcore has none.
func (p *prober) core(terms, frac, precision, zero int, modes []tcore.RoundingMode, inOrder, exact, negativeTiny bool, rule tcore.NaNRule) tcore.Core {
	if len(modes) == 0 || !inOrder {
		return nil
	}
	nearest := modes[0] == tcore.ToNearestEven && precision == p.d.C.Precision
	switch {
	case exact && terms == 1 && nearest:
		return tcore.Chain{NaN: rule}
	case exact && terms > 1 && nearest:
		return tcore.ExactSum{Terms: terms, SignedZeros: p.keepsNegativeZero()}
	case exact, frac < 1, frac > 50:
		return nil
	}
	result := p.d.C
	if precision < result.Precision {
		result = tcore.Format{Name: fmt.Sprintf("e8m%d", precision-1), Precision: precision, Emin: result.Emin, Emax: result.Emax}
	}
	if zero == math.MaxInt {
		zero = 3*p.d.C.Emin - p.d.C.Precision // below the exponent of every product
	}
	core := tcore.Fused{Terms: terms, FractionBits: frac, Result: result, Rounding: modes[0], ZeroExponent: zero}
	core.NegativeTiny = negativeTiny
	return core
}

// specials measures how the unit treats subnormals, overflow, infinities, NaN
// and zeros.
func (p *prober) specials(add func(visible bool, name, format string, values ...any)) {
	a, b, c := p.d.A, p.d.B, p.d.C
	kept := func(name string, q question, want float64) {
		add(true, name, "%s", choose(p.values([]question{q})[0] == want, "kept", "flushed"))
	}
	x, y := a.MinNormal()/2, math.Ldexp(1, b.Emax)
	kept("subnormal A", question{0, map[int]product{0: {x, y}}}, x*y)
	x, y = math.Ldexp(1, a.Emax), b.MinNormal()/2
	kept("subnormal B", question{0, map[int]product{0: {x, y}}}, x*y)
	kept("subnormal c", question{c.MinNormal() / 2, nil}, c.MinNormal()/2)

	m, ok := p.power(c.Emax, 1)
	z := p.value(math.Ldexp(1, c.Emax), map[int]product{0: m})
	add(ok, "overflow", "%s", choose(math.IsInf(z, 1), "infinity", "finite"))
	add(true, "NaN", "%#x", p.ask([]question{{math.NaN(), nil}})[0])
	if a.Specials == tcore.IEEE {
		add(true, "0 × infinity", "%#x", p.ask([]question{{0, map[int]product{0: {math.Inf(1), 0}}}})[0])
	}

	add(a.Specials != tcore.FNUZ, "sum of all -0", "%s", choose(p.keepsNegativeZero(), "-0", "+0"))
}

// keepsNegativeZero reports whether the sum of -0 and products -0 is -0.
func (p *prober) keepsNegativeZero() bool {
	q := question{math.Copysign(0, -1), map[int]product{}}
	for k := range p.k {
		q.products[k] = product{math.Copysign(0, -1), 1}
	}
	return math.Signbit(p.values([]question{q})[0])
}

// orderFree reports whether permuting random products of the first block leaves
// the result unchanged.
func (p *prober) orderFree(terms int) bool {
	s := NewSampler(p.d, 2)
	const rows = 200
	x, y := make([]uint64, rows*p.k), make([]uint64, rows*p.k)
	c, d, e := make([]uint64, rows), make([]uint64, rows), make([]uint64, rows)
	for i := range rows {
		c[i] = s.Draw(2+i%2, x[i*p.k:i*p.k+terms], y[i*p.k:i*p.k+terms])
	}
	p.dots(x, y, c, d)
	for i := range rows {
		u, v := x[i*p.k:i*p.k+terms], y[i*p.k:i*p.k+terms]
		s.rng.Shuffle(terms, func(j, k int) { u[j], u[k], v[j], v[k] = u[k], u[j], v[k], v[j] })
	}
	p.dots(x, y, c, e)
	for i := range rows {
		if !same(p.d.C, d[i], e[i]) {
			return false
		}
	}
	return true
}

func (p *prober) dots(x, y, c, d []uint64) {
	if p.err == nil {
		p.err = p.u.Dots(p.ctx, x, y, c, d)
	}
}

// Compare writes the record next to another one, such as that of the emulation,
// and returns the number of properties that are visible in both and differ.
func (r Record) Compare(w io.Writer, other Record) (differ int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "property\tmeasured\tbuilt in")
	values := make(map[string]Property)
	for _, p := range other.Properties {
		values[p.Name] = p
	}
	for _, p := range r.Properties {
		q, mark := values[p.Name], ""
		if p.Visible && q.Visible && p.Value != q.Value {
			differ++
			mark = "\tdiffers"
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\n", p.Name, p, q, mark)
	}
	t.Flush()
	return differ
}

// String returns the value. If the property is not visible, it says so and adds
// a bound, if one is known.
func (p Property) String() string {
	switch {
	case p.Name == "":
		return "-"
	case p.Visible:
		return p.Value
	case strings.HasPrefix(p.Value, "at "):
		return "not visible, " + p.Value
	}
	return "not visible"
}

func words(modes []tcore.RoundingMode) string {
	var names []string
	for _, m := range modes {
		names = append(names, m.String())
	}
	if names == nil {
		return "none known"
	}
	return strings.Join(names, " or ")
}

func choose(first bool, yes, no string) string {
	if first {
		return yes
	}
	return no
}
