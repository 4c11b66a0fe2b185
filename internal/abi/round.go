package abi

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// modes are the rounding modes by name.
var modes = func() map[string]tcore.RoundingMode {
	all := map[string]tcore.RoundingMode{}
	for m := tcore.ToNearestEven; m <= tcore.ToOdd; m++ {
		all[m.String()] = m
	}
	return all
}()

// Round stores in d the numbers of x rounded to a format.
func Round(text string, x, d *Matrix) (string, error) {
	q := struct {
		Format     string `json:"format"`
		Mode       string `json:"mode"`
		Stochastic int    `json:"stochastic"`
		Seed       uint64 `json:"seed"`
	}{Mode: tcore.ToNearestEven.String()}
	if err := read(text, &q); err != nil {
		return "", err
	}
	f, ok := stored[q.Format]
	if !ok {
		return "", fmt.Errorf("format is %q, want a name of a format", q.Format)
	}
	mode, ok := modes[q.Mode]
	switch {
	case !ok:
		return "", fmt.Errorf("mode is %q, want ToNearestEven, ToNearestAway, ToZero, ToPositive, ToNegative or ToOdd", q.Mode)
	case q.Stochastic < 0 || q.Stochastic > 32:
		return "", fmt.Errorf("stochastic is %d, want 0 to 32 random bits", q.Stochastic)
	case q.Stochastic > 0 && mode != tcore.ToNearestEven:
		return "", fmt.Errorf("stochastic is %d and mode %s, want one of them", q.Stochastic, q.Mode)
	}
	if err := x.check("x"); err != nil {
		return "", err
	}
	if err := x.checkCodes("x"); err != nil {
		return "", err
	}
	if err := d.checkOutput("d", x); err != nil {
		return "", err
	}
	if err := shaped("d", d, x.Rows, x.Columns); err != nil {
		return "", err
	}
	if wide := d.Format == tcore.Binary64.Name || d.Format == tcore.Binary32.Name && f.Precision <= d.Precision; d.Format != f.Name && !wide {
		return "", fmt.Errorf("d is of %s, want %s, binary64 or, if it holds the numbers, binary32", d.Format, f.Name)
	}
	random := tcore.Stochastic{Seed: q.Seed, Bits: q.Stochastic}
	parallel.Ranges(x.Rows, func(lo, hi int) {
		row := make([]float64, x.Columns)
		for i := lo; i < hi; i++ {
			x.row(i, row)
			if random.Bits > 0 {
				random.RoundSlice(f.Format, row, row, uint64(i*x.Columns))
			} else {
				f.RoundSlice(row, row, mode)
			}
			for j, v := range row {
				d.put(i, j, v)
			}
		}
	})
	return "{}", nil
}
