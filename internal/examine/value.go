package examine

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
)

// A Drawing is a result that is sent as its numbers in CSV, such as a chart of
// pkg/viz. The caller receives a [Sheet].
type Drawing interface{ CSV() ([]byte, error) }

// Sheet is the CSV of a drawing of the other end; nil if the drawing was nil.
type Sheet []byte

// CSV returns the CSV of the drawing.
func (s Sheet) CSV() ([]byte, error) { return s, nil }

var (
	drawing = reflect.TypeFor[Drawing]()
	sheet   = reflect.TypeFor[Sheet]()
	rat     = reflect.TypeFor[*big.Rat]()
)

// longestRat is the maximum length of a fraction in characters: reading one
// costs time quadratic in its length.
const longestRat = 1 << 14

// sendable returns an error unless values of type t can be sent.
func sendable(t reflect.Type) error {
	switch {
	case t == rat, t.Implements(drawing):
		return nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Uint64, reflect.Float64, reflect.String:
		return nil
	case reflect.Slice:
		return sendable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !t.Field(i).IsExported() {
				return fmt.Errorf("%v, whose field %s is its own, cannot be sent", t, t.Field(i).Name)
			}
			if err := sendable(t.Field(i).Type); err != nil {
				return err
			}
		}
		return nil
	case reflect.Func:
		if t.IsVariadic() {
			break
		}
		for i := range t.NumIn() {
			if err := sendable(t.In(i)); err != nil {
				return err
			}
		}
		for i := range t.NumOut() {
			if err := sendable(t.Out(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%v cannot be sent", t)
}

// Notation returns a type as Go writes it, a struct with the types of its
// fields: "func(tcore.Format{string, int, int}, []float64) float64".
func Notation(t reflect.Type) string {
	list := func(n int, at func(int) reflect.Type) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = Notation(at(i))
		}
		return strings.Join(parts, ", ")
	}
	switch {
	case t == rat || t.Implements(drawing):
		return t.String()
	case t.Kind() == reflect.Slice:
		return "[]" + Notation(t.Elem())
	case t.Kind() == reflect.Struct:
		return t.String() + "{" + list(t.NumField(), func(i int) reflect.Type { return t.Field(i).Type }) + "}"
	case t.Kind() == reflect.Func:
		out := list(t.NumOut(), t.Out)
		if t.NumOut() > 1 {
			out = "(" + out + ")"
		}
		return strings.TrimSpace("func(" + list(t.NumIn(), t.In) + ") " + out)
	}
	return t.Kind().String()
}

// encode returns the JSON of a value of a sendable type. Numbers of binary64
// are sent as text, so that NaN and infinities can be sent; functions are sent
// as their numbers.
func (p *peer) encode(v reflect.Value) json.RawMessage { return p.append(nil, v) }

func (p *peer) append(to []byte, v reflect.Value) []byte {
	switch t := v.Type(); {
	case t == rat:
		r := v.Interface().(*big.Rat)
		if r == nil {
			return append(to, "null"...)
		}
		return quote(to, r)
	case t.Implements(drawing):
		if k := t.Kind(); (k == reflect.Pointer || k == reflect.Slice || k == reflect.Interface) && v.IsNil() {
			return append(to, "null"...)
		}
		data, err := v.Interface().(Drawing).CSV()
		if err != nil {
			panic(fmt.Sprintf("it cannot be drawn: %v", err))
		}
		text, _ := json.Marshal(string(data))
		return append(to, text...)
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(to, v.Bool())
	case reflect.Int:
		return strconv.AppendInt(to, v.Int(), 10)
	case reflect.Uint64:
		return strconv.AppendUint(to, v.Uint(), 10)
	case reflect.Float64:
		return append(strconv.AppendFloat(append(to, '"'), v.Float(), 'g', -1, 64), '"')
	case reflect.String:
		text, _ := json.Marshal(v.String())
		return append(to, text...)
	case reflect.Func:
		if v.IsNil() {
			return append(to, "null"...)
		}
		return strconv.AppendInt(to, int64(p.offer(v)), 10)
	case reflect.Slice, reflect.Struct:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return append(to, "null"...)
		}
		to = append(to, '[')
		n, at := parts(v)
		for i := range n {
			if i > 0 {
				to = append(to, ',')
			}
			to = p.append(to, at(i))
		}
		return append(to, ']')
	}
	panic(fmt.Sprintf("%v cannot be sent", v.Type()))
}

// parts returns the number of elements of a slice or of fields of a struct, and
// a function that returns each.
func parts(v reflect.Value) (n int, at func(int) reflect.Value) {
	if v.Kind() == reflect.Slice {
		return v.Len(), v.Index
	}
	return v.NumField(), v.Field
}

func quote(to []byte, m encoding.TextMarshaler) []byte {
	text, err := m.MarshalText()
	if err != nil {
		panic(err.Error())
	}
	return append(append(append(to, '"'), text...), '"')
}

// decodeAll decodes one value for each type.
func (p *peer) decodeAll(sent []json.RawMessage, types []reflect.Type) ([]reflect.Value, error) {
	if len(sent) != len(types) {
		return nil, fmt.Errorf("%d values, want %d", len(sent), len(types))
	}
	values := make([]reflect.Value, len(types))
	for i, t := range types {
		values[i] = reflect.New(t).Elem()
		if err := p.decode(sent[i], values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// decode decodes into v what encode wrote. It trusts no part of the message.
func (p *peer) decode(sent json.RawMessage, v reflect.Value) error {
	t := v.Type()
	if string(sent) == "null" && (t == rat || v.Kind() == reflect.Slice || v.Kind() == reflect.Func) {
		return nil
	}
	var text string // of values that are sent as text
	if t == rat || t == sheet || v.Kind() == reflect.Float64 {
		if err := json.Unmarshal(sent, &text); err != nil {
			return err
		}
	}
	switch {
	case t == rat:
		r, ok := new(big.Rat), len(text) <= longestRat
		if ok {
			_, ok = fraction(r, text)
		}
		if !ok {
			return fmt.Errorf("%.40q is no fraction of at most %d characters", text, longestRat)
		}
		v.Set(reflect.ValueOf(r))
		return nil
	case t == sheet:
		v.SetBytes([]byte(text))
		return nil
	}
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Uint64, reflect.String:
		return json.Unmarshal(sent, v.Addr().Interface())
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return err
	case reflect.Func:
		var number int
		if err := json.Unmarshal(sent, &number); err != nil {
			return err
		}
		v.Set(p.function(number, t))
		return nil
	case reflect.Slice, reflect.Struct:
		var list []json.RawMessage
		if err := json.Unmarshal(sent, &list); err != nil {
			return err
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(t, len(list), len(list)))
		}
		n, at := parts(v)
		if n != len(list) {
			return fmt.Errorf("%d fields of %v, want %d", len(list), t, n)
		}
		for i, part := range list {
			if err := p.decode(part, at(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%v cannot be read", t)
}

// fraction sets r to a quotient of integers. It accepts nothing else: big.Rat
// would also read powers of ten of any size.
func fraction(r *big.Rat, text string) (*big.Rat, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '-' && c != '/' {
			return nil, false
		}
	}
	return r.SetString(text)
}
