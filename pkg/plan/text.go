package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// String returns the run as [Parse] reads it.
func (r Run) String() string {
	s := deviceText(r.Device)
	if r.Group != 0 {
		s += fmt.Sprintf(" group %d", r.Group)
	}
	if r.Tile != 0 {
		s += fmt.Sprintf(" tile %d", r.Tile)
	}
	return s
}

// String returns the order as [Parse] reads it: the run first, then the parts
// from the inside out.
func (p Parts) String() string {
	s := fmt.Sprintf("%v | %v", p.Each, p.Cut)
	if words := p.Merge.words(p.Cut); len(words) > 0 {
		s += " + " + strings.Join(words, " ")
	}
	return s
}

// String returns the cut as [Parse] reads it.
func (c Cut) String() string {
	var words []string
	add := func(word string, n int) {
		if n != 0 {
			words = append(words, word, strconv.Itoa(n))
		}
	}
	add("every", c.Length)
	add("parts", c.Count)
	add("grain", c.Grain)
	if c.Floor {
		words = append(words, "floor")
	}
	add("lanes", c.Lanes)
	add("vector", max(c.Vector, 0))
	add("upto", max(-c.Vector, 0))
	add("nominal", c.Nominal)
	add("whole", c.Whole)
	add("halves", c.Halves)
	add("most", c.Most)
	add("head", c.Head)
	if len(c.At) > 0 {
		words = append(words, "at", numbers(c.At))
	}
	return strings.Join(words, " ")
}

// String returns the merge as [Parse] reads it, and "" for additions from left
// to right.
func (m Merge) String() string { return strings.Join(m.words(Cut{}), " ") }

// words returns the words of the merge of the parts of c.
func (m Merge) words(c Cut) []string {
	var words []string
	switch {
	case m.Folds == nil:
	case len(m.Folds) > 1 && slices.Equal(m.Folds, halves(max(c.Lanes, c.Count))):
		words = append(words, "butterfly")
	default:
		words = append(words, "folds", numbers(m.Folds))
	}
	if m.Zero {
		words = append(words, "zero")
	}
	if m.Partial != (tcore.Format{}) {
		words = append(words, "partial", m.Partial.Name)
	}
	if m.Running != (tcore.Format{}) {
		words = append(words, "running", m.Running.Name)
	}
	switch m.Scale {
	case Fused:
		words = append(words, "fused")
	case FusedSecond:
		words = append(words, "fused-second")
	}
	return words
}

// halves returns the butterfly of n lanes, nil if there is none.
func halves(n int) []int {
	if n < 2 || n&(n-1) != 0 {
		return nil
	}
	return Butterfly(n)
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// String returns the plan without its name as [Parse] reads it, such as
// "hopper-wgmma-e4m3-binary32 | every 128 > binary16". Of a device that is not
// in the catalogue it has the name, which Parse does not know.
func (p Plan) String() string {
	s := fmt.Sprint(p.Order)
	if p.Output == (tcore.Format{}) && !p.FusedBeta {
		return s
	}
	s += " >"
	if p.Output != (tcore.Format{}) {
		s += " " + p.Output.Name
	}
	if p.FusedBeta {
		s += " fused-beta"
	}
	return s
}

// record is a plan in JSON.
type record struct {
	Name string `json:"name,omitempty"`
	Doc  string `json:"doc,omitempty"`
	Plan string `json:"plan"`
}

// MarshalJSON returns an object of name, doc and plan, which is the text of
// String. The error says that the plan is not allowed, or none that Parse
// reads.
func (p Plan) MarshalJSON() ([]byte, error) {
	text := p.String()
	if _, err := Parse(text); err != nil {
		return nil, err
	}
	return json.Marshal(record{p.Name, p.Doc, text})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	read, err := Parse(r.Plan)
	if err != nil {
		return err
	}
	read.Name, read.Doc = r.Name, r.Doc
	*p = read
	return nil
}

// deviceText returns the name of a device, followed by the formats of its
// factors where they differ from those of the catalogue.
func deviceText(d tcore.Device) string {
	known, ok := deviceNamed(d.Name)
	if !ok || known.A == d.A && known.B == d.B {
		return d.Name
	}
	return fmt.Sprintf("%s(%s,%s)", d.Name, d.A.Name, d.B.Name)
}

// deviceNamed returns the device of the catalogue of that name. FMAs of IEEE
// 754 are ieee-fma-x-y for any formats x of both factors and y of the sum.
func deviceNamed(name string) (tcore.Device, bool) {
	if d, ok := devices.ByName(name); ok {
		return d, true
	}
	words := strings.Split(name, "-")
	if len(words) != 4 || words[0] != "ieee" || words[1] != "fma" {
		return tcore.Device{}, false
	}
	in, okIn := formatNamed(words[2])
	out, okOut := formatNamed(words[3])
	return FMA(in, out), okIn && okOut && out.Precision <= tcore.Binary32.Precision
}

// FMA returns FMAs of IEEE 754, as processors and CUDA cores have them: one
// product at a time, rounded to nearest even, with factors of one format and
// sums of another. In texts it is ieee-fma-x-y.
func FMA(factors, sums tcore.Format) tcore.Device {
	d := devices.IEEEF32()
	d.Name, d.A, d.B, d.C = "ieee-fma-"+factors.Name+"-"+sums.Name, factors, factors, sums
	return d
}

// formats are those that the text of a plan can name.
var formats = []tcore.Format{
	tcore.Binary32, tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.E4M3, tcore.E5M2,
	tcore.E4M3FNUZ, tcore.E5M2FNUZ, tcore.E3M2, tcore.E2M3, tcore.E2M1,
}

func formatNamed(name string) (tcore.Format, bool) {
	i := slices.IndexFunc(formats, func(f tcore.Format) bool { return f.Name == name })
	if i < 0 {
		return tcore.Format{}, false
	}
	return formats[i], true
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
