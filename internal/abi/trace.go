package abi

import (
	"fmt"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Trace answers how an element of AB is summed: the text that roundoff trace
// prints, and the same as numbers. A number that is not finite is null.
func Trace(text string, a, b *Matrix) (string, error) {
	q := struct {
		machine
		Row    int `json:"row"`
		Column int `json:"column"`
	}{machine: newMachine()}
	if err := read(text, &q); err != nil {
		return "", err
	}
	m, err := q.find()
	if err != nil {
		return "", err
	}
	if err := fit(a, b); err != nil {
		return "", err
	}
	switch {
	case q.Row < 0 || q.Row >= a.Rows:
		return "", fmt.Errorf("row is %d, want one of the %d of a, from 0", q.Row, a.Rows)
	case q.Column < 0 || q.Column >= b.Columns:
		return "", fmt.Errorf("column is %d, want one of the %d of b, from 0", q.Column, b.Columns)
	}
	x, err := a.part(q.Row, 1).numbers("a")
	if err != nil {
		return "", err
	}
	y, err := b.transposed().part(q.Column, 1).numbers("b")
	if err != nil {
		return "", err
	}
	m.Device.A.RoundSlice(x.Data, x.Data, m.Device.Convert)
	m.Device.B.RoundSlice(y.Data, y.Data, m.Device.Convert)
	return write(traced(m.Trace(x.Data, y.Data)))
}

// part returns rows of a matrix that is checked.
func (m *Matrix) part(i, rows int) *Matrix {
	z := *m
	z.Data, z.Rows = unsafe.Pointer(unsafe.SliceData(m.at(i, 0))), rows
	return &z
}

// transposed returns the transpose.
func (m *Matrix) transposed() *Matrix {
	z := *m
	z.Rows, z.Columns, z.RowStride, z.ColumnStride = m.Columns, m.Rows, m.ColumnStride, m.RowStride
	return &z
}

// What is told of a trace. A number is null where it is not finite.
type (
	tracedSum struct {
		Device string        `json:"device"`
		Text   string        `json:"text"`
		Result *float64      `json:"result"`
		Exact  *string       `json:"exact"` // in decimal, all digits
		Error  *float64      `json:"error"`
		Blocks []tracedBlock `json:"blocks"`
		Parts  []tracedPart  `json:"parts"`
	}
	tracedBlock struct {
		Start    int          `json:"start"`
		Exponent int          `json:"exponent"`
		Unit     *float64     `json:"unit"`
		Terms    []tracedTerm `json:"terms"`
		Sum      *float64     `json:"sum"`
		Result   *float64     `json:"result"`
	}
	tracedTerm struct {
		Index    int      `json:"index"`
		X        *float64 `json:"x"`
		Y        *float64 `json:"y"`
		Value    *float64 `json:"value"`
		Exponent int      `json:"exponent"`
		Kept     *float64 `json:"kept"`
		Lost     *float64 `json:"lost"`
	}
	tracedPart struct {
		Start  int      `json:"start"`
		Sum    *float64 `json:"sum"`
		Result *float64 `json:"result"`
		Lost   *float64 `json:"lost"`
	}
)

// traced returns what is told of a trace.
func traced(t tcore.Trace) tracedSum {
	known := question.Known
	z := tracedSum{Device: t.Device, Text: t.String(), Result: known(t.Result), Error: known(t.Error), Blocks: []tracedBlock{}, Parts: []tracedPart{}}
	if t.Exact != nil {
		exact := t.Exact.Text('g', -1)
		z.Exact = &exact
	}
	for _, b := range t.Blocks {
		u := tracedBlock{b.Start, b.Exponent, known(b.Unit), []tracedTerm{}, known(b.Sum), known(b.Result)}
		for _, e := range b.Terms {
			u.Terms = append(u.Terms, tracedTerm{e.Index, known(e.X), known(e.Y), known(e.Value), e.Exponent, known(e.Kept), known(e.Lost)})
		}
		z.Blocks = append(z.Blocks, u)
	}
	for _, p := range t.Parts {
		z.Parts = append(z.Parts, tracedPart{p.Start, known(p.Sum), known(p.Result), known(p.Lost)})
	}
	return z
}
