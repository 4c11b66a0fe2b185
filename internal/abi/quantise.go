package abi

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// Quantise quantises x as a library does, and stores codes, scales of blocks
// and the numbers that they stand for in the matrices that are not nil. The
// answer has the scale of the tensor and what is lost.
func Quantise(text string, x, codes, scales, values *Matrix) (string, error) {
	q := struct {
		Recipe     string `json:"recipe"`
		Side       string `json:"side"`
		Stochastic int    `json:"stochastic"`
		Seed       uint64 `json:"seed"`
	}{Side: "a", Seed: 1}
	if err := read(text, &q); err != nil {
		return "", err
	}
	side, ok := map[string]quant.Side{"a": quant.Left, "b": quant.Right}[q.Side]
	if !ok {
		return "", fmt.Errorf("side is %q, want a or b", q.Side)
	}
	if q.Stochastic < 0 || q.Stochastic > 32 {
		return "", fmt.Errorf("stochastic is %d, want 0 to 32 random bits", q.Stochastic)
	}
	r, err := question.FindRecipe(q.Recipe)
	if err != nil {
		return "", err
	}
	r.Stochastic = tcore.Stochastic{Seed: q.Seed, Bits: q.Stochastic}
	if err := x.check("x"); err != nil {
		return "", err
	}
	m, err := x.whole("x")
	if err != nil {
		return "", err
	}
	for _, z := range []struct {
		name string
		m    *Matrix
	}{{"codes", codes}, {"scales", scales}, {"values", values}} {
		if z.m == nil {
			continue
		}
		if err := z.m.checkOutput(z.name, x); err != nil {
			return "", err
		}
	}
	z, err := r.Quantise(m, side)
	if err != nil {
		return "", err
	}
	down, across := z.Blocks()
	if codes != nil {
		if err := shaped("codes", codes, z.Rows, z.Cols); err != nil {
			return "", err
		}
		if codes.size != 1 {
			return "", fmt.Errorf("codes is of %s, want a format of at most 8 bits", codes.Format)
		}
	}
	for _, f := range []struct {
		name       string
		m          *Matrix
		rows, cols int
	}{{"scales", scales, down, across}, {"values", values, z.Rows, z.Cols}} {
		if f.m == nil {
			continue
		}
		if err := shaped(f.name, f.m, f.rows, f.cols); err != nil {
			return "", err
		}
		if f.m.Format != tcore.Binary32.Name {
			return "", fmt.Errorf("%s is of %s, want binary32", f.name, f.m.Format)
		}
	}
	if codes != nil {
		for i, code := range z.Codes {
			codes.set(i/z.Cols, i%z.Cols, uint64(code))
		}
	}
	if scales != nil {
		scales.store(0, blas32.General{Rows: down, Cols: across, Stride: across, Data: z.Scales})
	}
	if values != nil {
		values.store(0, z.Dequantise())
	}
	var tensor *float64
	if r.Tensor != nil {
		tensor = question.Known(float64(z.Tensor))
	}
	l := z.Loss(m)
	return write(struct {
		Recipe  string   `json:"recipe"`
		Source  string   `json:"source"`
		Element string   `json:"element"`
		Tensor  *float64 `json:"tensor"` // null if there is none
		RMS     *float64 `json:"rms"`
		Drift   *float64 `json:"drift"`
		Flushed int      `json:"flushed"`
		Clipped int      `json:"clipped"`
		NaN     int      `json:"nan"`
	}{r.Name, r.Source, r.Element.Name, tensor, question.Known(l.RMS), question.Known(l.Drift), l.Flushed, l.Clipped, l.NaN})
}
