package abi

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// mostInferred is the greatest number of products of a sum whose order is
// found. Records are found of fewer, as package infer says.
const mostInferred = 1 << 16

// A Box answers dot products in an unknown way: it stores c[i] + the products
// of row i of x and of y in d[i], all as codes. scaleX and scaleY are nil if
// there are no scales. The matrices are its own until it returns.
type Box func(x, y, scaleX, scaleY, c, d *Matrix) error

// Infer answers how a box adds: the text and the JSON that roundoff infer
// writes, but for orders, whose trees may be deeper than JSON can be nested.
// That no record explains the box is no error. An error of the box, or what its
// answers make impossible, is one that no other question would have avoided.
func Infer(text string, box Box, cancelled func() bool) (string, error) {
	q := question.NewInfer()
	if err := read(text, &q); err != nil {
		return "", err
	}
	shape, err := q.Shape()
	switch {
	case err != nil:
		return "", err
	case q.K < 1 || q.K > mostInferred:
		return "", fmt.Errorf("k is %d, want 1 to %d", q.K, mostInferred)
	case box == nil:
		return "", fmt.Errorf("box is NULL, want a function")
	}
	ctx, end := untilCancelled(cancelled)
	defer end()
	foreign := &foreignBox{shape: shape, answer: box}
	find := learned
	if q.Order {
		find = ordered
	}
	answer, err := find(ctx, foreign, q.Seed)
	switch {
	case ctx.Err() != nil:
		return "", errCancelled
	case err != nil && foreign.asked:
		return "", failure{err}
	}
	return answer, err
}

// learned answers with the record of a box.
func learned(ctx context.Context, b infer.Box, seed uint64) (string, error) {
	l, err := infer.Learn(ctx, b, seed)
	if err != nil {
		return "", err
	}
	return found(l, l)
}

// ordered answers with the order in which a box adds.
func ordered(ctx context.Context, b infer.Box, seed uint64) (string, error) {
	s, err := infer.FindOrder(ctx, b, seed)
	if err != nil {
		return "", err
	}
	return found(s, s)
}

// found answers with what is written of a box, and as values.
func found(text interface{ Write(w io.Writer) error }, values any) (string, error) {
	var b strings.Builder
	if err := text.Write(&b); err != nil {
		return "", err
	}
	return write(struct {
		Text  string `json:"text"`
		Found any    `json:"found"`
	}{b.String(), values})
}

// A foreignBox asks a function of the caller.
type foreignBox struct {
	shape  infer.Shape
	answer Box
	asked  bool
}

func (b *foreignBox) Shape() infer.Shape { return b.shape }

// Dots implements [infer.Box].
func (b *foreignBox) Dots(ctx context.Context, questions []infer.Dot) ([]uint64, error) {
	if err := ctx.Err(); err != nil || len(questions) == 0 {
		return nil, err
	}
	b.asked = true
	part := func(f tcore.Format, codes func(q infer.Dot) []uint64) *Matrix {
		m := codesOf(f, len(questions), len(codes(questions[0])))
		for i, q := range questions {
			for j, c := range codes(q) {
				m.set(i, j, c)
			}
		}
		return m
	}
	var scaleX, scaleY *Matrix
	if b.shape.ScaleBlock > 0 {
		scaleX = part(b.shape.Scale, func(q infer.Dot) []uint64 { return q.ScaleX })
		scaleY = part(b.shape.Scale, func(q infer.Dot) []uint64 { return q.ScaleY })
	}
	d := codesOf(b.shape.C, len(questions), 1)
	err := b.answer(
		part(b.shape.A, func(q infer.Dot) []uint64 { return q.X }), part(b.shape.B, func(q infer.Dot) []uint64 { return q.Y }), scaleX, scaleY,
		part(b.shape.C, func(q infer.Dot) []uint64 { return []uint64{q.C} }), d)
	if err != nil {
		return nil, fmt.Errorf("%w to %d dot products", err, len(questions))
	}
	z := make([]uint64, len(questions))
	for i := range z {
		z[i] = d.code(i, 0)
	}
	return z, nil
}

// codesOf returns a matrix of codes, zeros, whose rows follow each other.
func codesOf(f tcore.Format, rows, columns int) *Matrix {
	s := stored[f.Name]
	words := make([]uint64, (rows*columns*s.size+7)/8) // aligned for every element
	return &Matrix{Format: f.Name, Data: unsafe.Pointer(unsafe.SliceData(words)), Rows: rows, Columns: columns,
		RowStride: columns * s.size, ColumnStride: s.size, storage: s}
}
