package infer

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Tree returns the order in which the record adds the products p0, p1, … of a
// sum of k and c, one line for each block. What stands between [ and ] is added
// in one step, and what stands between ( and ) is rounded before it is added to
// more. It panics if the device has no core, or if k < 1.
func Tree(d tcore.Device, k int) string {
	if k < 1 {
		panic(fmt.Sprintf("infer: Tree: k = %d, want at least 1", k))
	}
	w, c := d.BlockTerms(), "c"
	var lines []string
	for at := 0; at < k; at += w {
		p := func(first, step int) (names []string) {
			for i := at + first; i < min(at+w, k); i += step {
				names = append(names, fmt.Sprintf("p%d", i))
			}
			return names
		}
		name := fmt.Sprintf("d%d", at/w+1)
		lines = append(lines, name+" = "+block(d.Core, c, p))
		c = name
	}
	return strings.Join(lines, "\n") + "\n"
}

// block returns the sum of one block. p(first, step) are the names of every
// step-th product of it.
func block(core tcore.Core, c string, p func(first, step int) []string) string {
	together := func(names ...string) string { return "[" + strings.Join(names, " + ") + "]" }
	chain := func(sum string, names []string) string {
		for i, n := range names {
			if i == 0 && sum == "" {
				sum = n
				continue
			}
			sum = "(" + sum + " + " + n + ")"
		}
		return sum
	}
	all := p(0, 1)
	switch core := core.(type) {
	case tcore.Fused, tcore.ExactSum:
		return together(append([]string{c}, all...)...)
	case tcore.TwoStage:
		if core.Parts == 2 && len(all) > 1 {
			return together(c, together(together(p(0, 2)...), together(p(1, 2)...)))
		}
		return together(c, together(all...))
	case tcore.Split:
		var first, second []string
		for i, n := range all {
			if i%4 < 2 {
				first = append(first, n)
			} else {
				second = append(second, n)
			}
		}
		return "(" + together(append([]string{together(first...)}, second...)...) + " + " + c + ")"
	case tcore.Pairwise:
		for len(all) > 1 {
			var sums []string
			for pair := range slices.Chunk(all, 2) {
				sums = append(sums, chain("", pair))
			}
			all = sums
		}
		return chain(c, all)
	case tcore.EvenOdd:
		return chain(c, []string{chain("", []string{chain("", p(0, 2)), chain("", p(1, 2))})})
	case tcore.OddPairs:
		for pair := range slices.Chunk(all, 2) {
			c = chain(c, []string{chain("", pair)})
		}
		return c
	case tcore.FusedPairs:
		for pair := range slices.Chunk(all, 2) {
			c = chain(c, []string{together(pair...)})
		}
		return c
	case tcore.OddFirst:
		return chain(c, append(p(1, 2), p(0, 2)...))
	}
	return chain(c, all)
}

// A Parameter is a field of a record, and its value. Others are the values of
// the records that are alike.
type Parameter struct {
	Name, Value string
	Others      []string `json:",omitempty"`
}

// Parameters returns the parameters of the record, none if there is no record.
func (l Learned) Parameters() []Parameter {
	if !l.Explained() {
		return nil
	}
	list := parameters(l.Record)
	for _, d := range l.Alike {
		if kindOf(d.Core) != kindOf(l.Record.Core) {
			list[0].Others = append(list[0].Others, Literal(tcore.Device{Core: d.Core}))
			continue
		}
		for i, p := range parameters(d) {
			if p.Value != list[i].Value && !slices.Contains(list[i].Others, p.Value) {
				list[i].Others = append(list[i].Others, p.Value)
			}
		}
	}
	return list
}

// parameters returns those of a record: the kind of its core, the core's
// fields, and what else of a device can be seen.
func parameters(d tcore.Device) []Parameter {
	list := []Parameter{{Name: "core", Value: kindOf(d.Core)}}
	list = append(list, fields(reflect.ValueOf(d.Core))...)
	subnormals := func(f tcore.Format) string {
		if f.Subnormals == tcore.Flushed {
			return "flushed"
		}
		return "as the core has them"
	}
	nan := d.NaN
	if nan == 0 {
		return append(list, Parameter{Name: "NaN", Value: "default"},
			Parameter{Name: "subnormal factors", Value: subnormals(d.A)}, Parameter{Name: "subnormal sums", Value: subnormals(d.C)})
	}
	return append(list, Parameter{Name: "NaN", Value: fmt.Sprintf("%#x", nan)},
		Parameter{Name: "subnormal factors", Value: subnormals(d.A)}, Parameter{Name: "subnormal sums", Value: subnormals(d.C)})
}

// fields returns the fields of a core, those of a core or record within it
// included. A format is one field.
func fields(v reflect.Value) (list []Parameter) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch x := f.Interface().(type) {
		case tcore.Format:
			value := x.Name
			if x.Subnormals == tcore.Flushed {
				value += ", subnormals flushed"
			}
			list = append(list, Parameter{Name: name, Value: value})
		default:
			if f.Kind() == reflect.Struct {
				list = append(list, fields(f)...)
			} else {
				list = append(list, Parameter{Name: name, Value: fmt.Sprint(x)})
			}
		}
	}
	return list
}

// String returns the value, and which others the answers leave possible.
func (p Parameter) String() string {
	switch n := len(p.Others); {
	case n == 0:
		return p.Value
	case n <= 4:
		return p.Value + ", not told from " + strings.Join(p.Others, ", ")
	default:
		return fmt.Sprintf("%s, not told from %d others, %s to %s", p.Value, n, p.Others[0], p.Others[n-1])
	}
}

// Write writes the record as a table, with the tree of the sum and what it
// rests on, or the counterexample if there is none.
func (l Learned) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "asked\t%d dot products of %d products, %s × %s in %s\n", l.Asked, l.K, l.A.Name, l.B.Name, l.C.Name)
	fmt.Fprintf(t, "records tried\t%d\n", l.Tried)
	if !l.Explained() {
		fmt.Fprintf(t, "record\tnone of those tried gives all answers\n")
		if l.Against != nil {
			fmt.Fprintf(t, "closest\t%s\n", Literal(l.Closest))
			fmt.Fprintf(t, "question\tx = %#x, y = %#x, c = %#x\n", l.Against.X, l.Against.Y, l.Against.C)
			fmt.Fprintf(t, "answer\t%#x, where the closest record gives %#x\n", l.Against.D, answer(l.Closest, l.Against.Dot))
		}
		return t.Flush()
	}
	for _, p := range l.Parameters() {
		fmt.Fprintf(t, "%s\t%v\n", p.Name, p)
	}
	fmt.Fprintf(t, "agreed\t%d of %d random dot products\n", l.Agreed, l.Checked)
	fmt.Fprintf(t, "told from others by\t%d of the answers\n", len(l.Vectors))
	if names := l.Catalogue(); len(names) > 0 {
		fmt.Fprintf(t, "same answers\t%s\n", strings.Join(names, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s\n", Tree(l.Record, l.K), Literal(l.Record))
	return err
}
