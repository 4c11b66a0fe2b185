package playground

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// MostTerms is the largest number of products of a dot product.
const MostTerms = 4096

// A Dot asks what c + Σ x_i y_i is on every chip. With scales, scale i of a
// list multiplies the numbers that it covers; an empty list is a list of ones.
type Dot struct {
	Format string   `json:"format"` // of the factors, one of [Formats]
	X      []string `json:"x"`
	Y      []string `json:"y"`
	ScaleX []string `json:"scale_x"`
	ScaleY []string `json:"scale_y"`
	C      string   `json:"c"`      // "" is 0
	Device string   `json:"device"` // whose trace is asked for; "" for none
}

// A DotAnswer contains the result of every device whose factors have the
// format, and the exact one.
type DotAnswer struct {
	Used   [][2]Number `json:"used"`   // the factors as they are used, pair by pair
	Scales [][2]Number `json:"scales"` // and the scales
	Exact  string      `json:"exact"`  // of c as the first device takes it, to 60 digits
	Rows   []DotRow    `json:"rows"`   // in the order of the catalogue
	Groups int         `json:"groups"` // how many different results there are
	Trace  *Trace      `json:"trace"`
}

// A DotRow is the result of one device.
type DotRow struct {
	Device       string `json:"device"`
	Architecture string `json:"architecture"`
	Instruction  string `json:"instruction"`
	C            Number `json:"c"` // as it is used
	Result       Number `json:"result"`
	Format       string `json:"format"`  // of c and of the result
	Error        string `json:"error"`   // result - exact, "" if not finite
	Units        string `json:"units"`   // |error|/|exact| in unit roundoffs of the result's format, "" if not finite
	Group        int    `json:"group"`   // rows with the same value have the same number, counted from 0; -1 without a result
	Refused      string `json:"refused"` // why c is none of this device's; "" if it is
	c            uint64 // code of C
}

// operands are the numbers of a [Dot] as codes of the instructions.
type operands struct{ x, y, scaleX, scaleY []uint64 }

// Answer returns the answer. An error says which part of the question is wrong.
func (q Dot) Answer() (*DotAnswer, error) {
	a, _, err := q.answer()
	return a, err
}

// answer returns also the operands.
func (q Dot) answer() (*DotAnswer, operands, error) {
	all := having(q.Format)
	if len(all) == 0 {
		return nil, operands{}, fmt.Errorf("format: no device multiplies %q, want one of %v", q.Format, Formats())
	}
	o, err := q.operands(all[0])
	if err != nil {
		return nil, o, err
	}
	a := &DotAnswer{Used: pairs(o.x, o.y, all[0].A), Scales: pairs(o.scaleX, o.scaleY, all[0].Scale)}
	var values []float64
	for _, d := range all {
		row, trace, err := q.row(d, o)
		if err != nil {
			row.Refused = err.Error()
			a.Rows = append(a.Rows, row)
			continue
		}
		if a.Exact == "" && trace.Exact != nil {
			a.Exact = trace.Exact.Text('g', 60)
		}
		if row.Group = slices.IndexFunc(values, func(v float64) bool { return same(v, trace.Result) }); row.Group < 0 {
			row.Group, values = len(values), append(values, trace.Result)
		}
		a.Rows = append(a.Rows, row)
		if d.Name == q.Device {
			a.Trace = newTrace(d, trace)
		}
	}
	a.Groups = len(values)
	if a.Groups == 0 {
		return nil, o, fmt.Errorf("c: %s", a.Rows[0].Refused)
	}
	if q.Device != "" && !slices.ContainsFunc(all, func(d tcore.Device) bool { return d.Name == q.Device }) {
		return nil, o, fmt.Errorf("device: there is no %q that multiplies %s", q.Device, q.Format)
	}
	return a, o, nil
}

// operands returns the numbers of the question in the formats of d.
func (q Dot) operands(d tcore.Device) (o operands, err error) {
	if len(q.X) != len(q.Y) || len(q.X) == 0 || len(q.X) > MostTerms {
		return o, fmt.Errorf("x, y: %d x and %d y, want as many of both, 1 to %d", len(q.X), len(q.Y), MostTerms)
	}
	if o.x, err = parseAll("x", q.X, d.A); err != nil {
		return o, err
	}
	if o.y, err = parseAll("y", q.Y, d.B); err != nil {
		return o, err
	}
	if o.scaleX, err = parseScales("scales of x", q.ScaleX, len(q.X), d); err != nil {
		return o, err
	}
	o.scaleY, err = parseScales("scales of y", q.ScaleY, len(q.Y), d)
	return o, err
}

// parseScales returns the scales of n numbers on d.
func parseScales(name string, texts []string, n int, d tcore.Device) ([]uint64, error) {
	if d.ScaleBlock == 0 {
		if len(texts) > 0 {
			return nil, fmt.Errorf("%s: %s takes none", name, d.A.Name)
		}
		return nil, nil
	}
	want := (n + d.ScaleBlock - 1) / d.ScaleBlock
	if len(texts) == 0 {
		texts = slices.Repeat([]string{"1"}, want)
	}
	if len(texts) != want {
		return nil, fmt.Errorf("%s: %d, want %d, one for every %d numbers", name, len(texts), want, d.ScaleBlock)
	}
	return parseAll(name, texts, d.Scale)
}

// row returns what d computes. An error says that c is no number of d.
func (q Dot) row(d tcore.Device, o operands) (DotRow, tcore.Trace, error) {
	row := DotRow{Device: d.Name, Architecture: d.Architecture, Instruction: d.Instruction, Format: d.C.Name, Group: -1}
	c := 0.0
	if q.C != "" {
		var err error
		if c, err = parse(q.C, d.C); err != nil {
			return row, tcore.Trace{}, err
		}
	}
	row.c = d.C.Encode(c, tcore.ToNearestEven)
	t := d.TraceScaled(o.x, o.y, o.scaleX, o.scaleY, row.c)
	row.C = coded(row.c, d.C)
	row.Result = coded(d.DotScaled(o.x, o.y, o.scaleX, o.scaleY, row.c), d.C)
	if t.Exact != nil && !math.IsNaN(t.Error) {
		row.Error = text(t.Error)
		if exact, _ := t.Exact.Float64(); exact != 0 {
			row.Units = text(math.Abs(t.Error/exact) / d.C.UnitRoundoff())
		}
	}
	return row, t, nil
}

// pairs returns the numbers that two lists of codes stand for.
func pairs(x, y []uint64, f tcore.Format) (list [][2]Number) {
	for i := range x {
		list = append(list, [2]Number{number(decode(x[i], f), f), number(decode(y[i], f), f)})
	}
	return list
}

// same reports whether two results are the same number, zeros of either sign
// included, or both NaN.
func same(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// having returns the devices that take factors as a name of [Formats] says.
func having(name string) (list []tcore.Device) {
	for _, d := range devices.All() {
		if factors(d) == name {
			list = append(list, d)
		}
	}
	return list
}

// factors returns the name of the format of the factors of d, with that of
// their scales if they have any.
func factors(d tcore.Device) string {
	if d.ScaleBlock > 0 {
		return fmt.Sprintf("%s × %s per %d", d.A.Name, d.Scale.Name, d.ScaleBlock)
	}
	return d.A.Name
}

// A Factor is what devices multiply.
type Factor struct {
	Name  string `json:"name"`
	Block int    `json:"block"` // numbers that one scale covers; 0 without scales
}

// Factors returns the formats that devices multiply, in the order of the
// catalogue.
func Factors() (list []Factor) {
	for _, d := range devices.All() {
		f := Factor{factors(d), d.ScaleBlock}
		if d.A.Equal(d.B) && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// Formats returns the names of [Factors].
func Formats() (names []string) {
	for _, f := range Factors() {
		names = append(names, f.Name)
	}
	return names
}

// Devices returns the names of the devices that take no scales.
func Devices() (names []string) {
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 {
			names = append(names, d.Name)
		}
	}
	return names
}
