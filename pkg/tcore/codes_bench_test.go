package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// blockScaled returns rows × cols codes of f with the scales of d for numbers
// of N(0, 1), in blocks along the columns if vertical. If outliers, one block
// in 20 is up to 64 times as large. Each scale is the greatest number of its
// block divided by the greatest of f, rounded up or, of e8m0, a power of two at
// most twice as small.
func blockScaled(rng *rand.Rand, d Device, f Format, rows, cols int, outliers, vertical bool) Codes {
	m := Codes{Rows: rows, Cols: cols, Data: make([]uint8, rows*cols)}
	n, k := rows, cols
	if vertical {
		n, k = k, n
	}
	blocks := (k + d.ScaleBlock - 1) / d.ScaleBlock
	m.Scales = make([]uint8, n*blocks)
	x := make([]float64, d.ScaleBlock)
	for i := range n {
		for g := range blocks {
			part, size, most := x[:min(d.ScaleBlock, k-g*d.ScaleBlock)], 1.0, 0.0
			if outliers && rng.IntN(20) == 0 {
				size = exp2(rng.IntN(7))
			}
			for l := range part {
				part[l] = size * rng.NormFloat64()
				most = max(most, math.Abs(part[l]))
			}
			at, scale := i*blocks+g, d.Scale.Encode(most/f.Max(), ToPositive)
			if d.Scale.Equal(E8M0) {
				scale = d.Scale.Encode(most/f.Max(), ToNegative)
			}
			if vertical {
				at = g*n + i
			}
			m.Scales[at] = uint8(scale)
			for l, v := range part {
				at := i*k + g*d.ScaleBlock + l
				if vertical {
					at = (g*d.ScaleBlock+l)*n + i
				}
				m.Data[at] = uint8(f.Encode(v/d.Scale.Decode(scale), ToNearestEven))
			}
		}
	}
	return m
}

// BenchmarkCodes times products of codes with scales, of quiet data and with
// blocks of outliers, and reports the part of each path.
func BenchmarkCodes(b *testing.B) {
	for _, d := range Devices() {
		if core, ok := d.Core.(Fused); !ok || core.Group == 0 {
			continue
		}
		for _, data := range []string{"normal", "outliers"} {
			for _, s := range []shape{cube(512), cube(2048)} {
				benchmarkProduct(b, d.Name+"/data="+data, s, func() func() {
					rng := rand.New(rand.NewPCG(1, 0))
					x := blockScaled(rng, d, d.A, s.m, s.k, data == "outliers", false)
					y := blockScaled(rng, d, d.B, s.k, s.n, data == "outliers", true)
					z := zeros(s.m, s.n)
					return func() { d.MultiplyAddCodes(x, y, blas32.General{}, z) }
				})
			}
		}
	}
}
