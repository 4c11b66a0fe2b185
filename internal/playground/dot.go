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

// A Dot asks what c + Σ x_i y_i is on every chip.
type Dot struct {
	Format string   `json:"format"` // of the factors
	X      []string `json:"x"`
	Y      []string `json:"y"`
	C      string   `json:"c"`      // "" is 0
	Device string   `json:"device"` // whose trace is asked for; "" for none
}

// A DotAnswer contains the result of every device whose factors have the
// format, and the exact one.
type DotAnswer struct {
	Used   [][2]Number `json:"used"`   // the factors as they are used, pair by pair
	Exact  string      `json:"exact"`  // in full where that has at most 60 digits, else rounded to 40
	Rows   []DotRow    `json:"rows"`   // in the order of the catalogue
	Groups int         `json:"groups"` // how many different results there are
	Trace  *Trace      `json:"trace"`
}

// A DotRow is the result of one device.
type DotRow struct {
	Device      string `json:"device"`
	Instruction string `json:"instruction"`
	Result      Number `json:"result"`
	Format      string `json:"format"` // of the result
	Error       string `json:"error"`  // result - exact, "" if not finite
	Units       string `json:"units"`  // |error|/|exact| in unit roundoffs of the result's format, "" if not finite
	Group       int    `json:"group"`  // rows with the same value have the same number, counted from 0
}

// Answer returns the answer. An error says which part of the question is wrong.
func (q Dot) Answer() (*DotAnswer, error) {
	all := having(q.Format)
	if len(all) == 0 {
		return nil, fmt.Errorf("no device multiplies %q, want one of %v", q.Format, Formats())
	}
	f := all[0].A
	if len(q.X) != len(q.Y) || len(q.X) == 0 || len(q.X) > MostTerms {
		return nil, fmt.Errorf("%d x and %d y, want as many of both, 1 to %d", len(q.X), len(q.Y), MostTerms)
	}
	x, err := parseAll("x", q.X, f)
	if err != nil {
		return nil, err
	}
	y, err := parseAll("y", q.Y, f)
	if err != nil {
		return nil, err
	}
	a := &DotAnswer{}
	for i := range x {
		a.Used = append(a.Used, [2]Number{number(x[i], f), number(y[i], f)})
	}
	var values []float64
	for _, d := range all {
		c := 0.0
		if q.C != "" {
			if c, err = parse(q.C, d.C); err != nil {
				return nil, fmt.Errorf("c: %w", err)
			}
		}
		t := d.Trace(x, y, c)
		row := DotRow{Device: d.Name, Instruction: d.Instruction, Result: number(t.Result, d.C), Format: d.C.Name}
		if t.Exact != nil && !math.IsNaN(t.Error) {
			row.Error = text(t.Error)
			if exact, _ := t.Exact.Float64(); exact != 0 {
				row.Units = text(math.Abs(t.Error/exact) / d.C.UnitRoundoff())
			}
			if a.Exact == "" {
				a.Exact = t.Exact.Text('g', 60)
			}
		}
		if row.Group = slices.IndexFunc(values, func(v float64) bool { return same(v, t.Result) }); row.Group < 0 {
			row.Group, values = len(values), append(values, t.Result)
		}
		a.Rows = append(a.Rows, row)
		if d.Name == q.Device {
			a.Trace = newTrace(d, t)
		}
	}
	a.Groups = len(values)
	if q.Device != "" && a.Trace == nil {
		return nil, fmt.Errorf("no device %q multiplies %s", q.Device, q.Format)
	}
	return a, nil
}

// same reports whether two results are the same number, zeros of either sign
// included, or both NaN.
func same(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// having returns the devices whose factors are both of the format of that name,
// without scales.
func having(name string) (list []tcore.Device) {
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 && d.A.Name == name && d.B.Name == name {
			list = append(list, d)
		}
	}
	return list
}

// Formats returns the names of the formats that devices multiply, in the order
// of the catalogue.
func Formats() (names []string) {
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 && d.A.Equal(d.B) && !slices.Contains(names, d.A.Name) {
			names = append(names, d.A.Name)
		}
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
