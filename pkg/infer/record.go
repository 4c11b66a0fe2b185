package infer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// formatNames are the names in package tcore of the formats of factors, sums
// and scales.
var formatNames = []struct {
	name   string
	format tcore.Format
}{
	{"Binary16", tcore.Binary16}, {"BFloat16", tcore.BFloat16}, {"TF32", tcore.TF32}, {"Binary32", tcore.Binary32}, {"Binary64", tcore.Binary64},
	{"E4M3", tcore.E4M3}, {"E5M2", tcore.E5M2}, {"E4M3FNUZ", tcore.E4M3FNUZ}, {"E5M2FNUZ", tcore.E5M2FNUZ},
	{"E3M2", tcore.E3M2}, {"E2M3", tcore.E2M3}, {"E2M1", tcore.E2M1}, {"E8M0", tcore.E8M0}, {"UE4M3", tcore.UE4M3},
}

// FormatByName returns the format of factors, sums or scales of that name, as
// binary16 or e4m3; ok is false if there is none.
func FormatByName(name string) (f tcore.Format, ok bool) {
	for _, n := range formatNames {
		if n.format.Name == name {
			return n.format, true
		}
	}
	return f, false
}

// Literal returns d as a Go expression, in which fields that are zero are left
// out.
func Literal(d tcore.Device) string { return literal(reflect.ValueOf(d)) }

func literal(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case tcore.Format:
		for _, f := range formatNames {
			if f.format == x {
				return "tcore." + f.name
			}
		}
	case tcore.RoundingMode:
		return "tcore." + x.String()
	case tcore.Subnormals:
		return []string{"tcore.Kept", "tcore.Flushed", "tcore.NoZero"}[x]
	}
	switch v.Kind() {
	case reflect.Interface:
		return literal(v.Elem())
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fields = append(fields, v.Type().Field(i).Name+": "+literal(f))
			}
		}
		return v.Type().String() + "{" + strings.Join(fields, ", ") + "}"
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Uint64:
		return fmt.Sprintf("%#x", v.Uint())
	}
	return fmt.Sprint(v.Interface())
}

// record is a device as JSON. It has the fields of the device, the core with
// the name of its kind.
type record struct {
	A, B, C    tcore.Format
	Scale      *tcore.Format `json:",omitempty"`
	ScaleBlock int           `json:",omitempty"`
	Convert    tcore.RoundingMode
	NaN        uint64 `json:",omitempty"`
	Kind       string
	Core       json.RawMessage
}

// WriteJSON returns the record of a device as JSON, that of its core with the
// name of its kind. [ReadJSON] reads it.
func WriteJSON(d tcore.Device) ([]byte, error) {
	core, err := json.Marshal(d.Core)
	if err != nil {
		return nil, err
	}
	r := record{A: d.A, B: d.B, C: d.C, ScaleBlock: d.ScaleBlock, Convert: d.Convert, NaN: d.NaN, Kind: kindOf(d.Core), Core: core}
	if d.ScaleBlock > 0 {
		r.Scale = &d.Scale
	}
	return json.Marshal(r)
}

// kindOf returns the name of the type of a core.
func kindOf(core tcore.Core) string { return strings.TrimPrefix(fmt.Sprintf("%T", core), "tcore.") }

// ReadJSON returns the device that WriteJSON wrote, without its names. It
// returns an error if the text is none, or describes no device that computes in
// its formats.
func ReadJSON(text []byte) (tcore.Device, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return tcore.Device{}, fmt.Errorf("infer: no record: %w", err)
	}
	d := tcore.Device{A: r.A, B: r.B, C: r.C, ScaleBlock: r.ScaleBlock, Convert: r.Convert, NaN: r.NaN}
	if r.Scale != nil {
		d.Scale = *r.Scale
	}
	for _, core := range []tcore.Core{
		tcore.Fused{}, tcore.ExactSum{}, tcore.Pairwise{}, tcore.EvenOdd{}, tcore.OddFirst{}, tcore.OddPairs{}, tcore.FusedPairs{}, tcore.TwoStage{}, tcore.Chain{}, tcore.Split{}, tcore.TensorCore{},
	} {
		if kindOf(core) != r.Kind {
			continue
		}
		v := reflect.New(reflect.TypeOf(core))
		if err := json.Unmarshal(r.Core, v.Interface()); err != nil {
			return d, fmt.Errorf("infer: no %s: %w", r.Kind, err)
		}
		if d.Core = v.Elem().Interface().(tcore.Core); !supported(d) {
			return d, fmt.Errorf("infer: a %s %s does not compute in the formats of the record", r.Kind, r.Core)
		}
		return d, nil
	}
	return d, fmt.Errorf("infer: no core %q", r.Kind)
}

// Catalogue returns the names of the devices of the catalogue, of the same
// shape, that give the same answers to all the dot products of Vectors and to
// as many random ones as records that are alike.
func (l Learned) Catalogue() (names []string) {
	if !l.Explained() {
		return nil
	}
	w := newDrawer(l.Shape, 3)
	for _, d := range devices.All() {
		if ShapeOf(d, l.K) != l.Shape || !supported(d) {
			continue
		}
		same := true
		for _, a := range l.Vectors {
			same = same && answer(d, a.Dot) == a.D
		}
		for i := 0; same && i < unlike; i++ {
			q := w.question(allKinds()[i%int(kinds)])
			same = answer(d, q) == answer(l.Record, q)
		}
		if same {
			names = append(names, d.Name)
		}
	}
	return names
}

// MarshalJSON returns what was learned: the record, as [WriteJSON] writes it,
// its parameters, and the vectors; or the closest record and the answer against
// it.
func (l Learned) MarshalJSON() ([]byte, error) {
	var z struct {
		Explained                                bool
		Record                                   json.RawMessage `json:",omitempty"`
		Literal                                  string          `json:",omitempty"`
		Tree                                     string          `json:",omitempty"`
		Parameters                               []Parameter     `json:",omitempty"`
		Catalogue                                []string        `json:",omitempty"`
		Asked, Tried, Undecided, Checked, Agreed int
		Vectors                                  []Answer
		Closest                                  json.RawMessage `json:",omitempty"`
		Against                                  *Answer         `json:",omitempty"`
	}
	z.Asked, z.Tried, z.Undecided, z.Checked, z.Agreed = l.Asked, l.Tried, l.Undecided, l.Checked, l.Agreed
	z.Vectors, z.Against = l.Vectors, l.Against
	var err error
	if z.Explained = l.Explained(); z.Explained {
		z.Literal, z.Tree, z.Parameters, z.Catalogue = Literal(l.Record), Tree(l.Record, l.K), l.Parameters(), l.Catalogue()
		z.Record, err = WriteJSON(l.Record)
	} else if l.Closest.Core != nil {
		z.Closest, err = WriteJSON(l.Closest)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(z)
}
