package sweep

import (
	"math/big"
	"time"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// runScaled computes the product of the codes with their scales on the device
// and exactly, and sets errors and sizes. It returns the exact values of the
// outputs.
func (z *product) runScaled() (m Moments, values []float64) {
	n := z.M * z.N
	values, z.errors, z.sizes = make([]float64, n), make([]float64, n), make([]float64, n)
	sx, sy := z.scales(z.Device)
	x, y := matrix.Vectors(z.a), matrix.Vectors(matrix.Transpose(z.b))
	codes := func(vectors [][]float64, encode func(float64) uint64) [][]uint64 {
		all := make([][]uint64, len(vectors))
		for i, v := range vectors {
			all[i] = make([]uint64, len(v))
			for l := range v {
				all[i][l] = encode(v[l])
			}
		}
		return all
	}
	cx := codes(x, func(v float64) uint64 { return z.Device.A.Encode(v, z.Device.Convert) })
	cy := codes(y, func(v float64) uint64 { return z.Device.B.Encode(v, z.Device.Convert) })

	start := time.Now()
	d := make([]float64, n)
	for i := range d {
		r, c := i/z.N, i%z.N
		d[i] = z.Device.C.Decode(z.Device.DotScaled(cx[r], cy[c], sx.codes[r], sy.codes[c], 0))
	}
	m.Product = time.Since(start).Seconds()

	// Factors are at least 2⁻¹⁶ and scales 2⁻¹²⁷, so that products are multiples of
	// 2⁻³⁰⁰. With scales of at most 2¹²⁷ each product is below 2³⁰⁰, and their sum
	// below 2³⁵⁰.
	const prec = 300 + 350
	start = time.Now()
	for i := range d {
		r, c := i/z.N, i%z.N
		var exact, size, p big.Float
		exact.SetPrec(prec)
		size.SetPrec(prec)
		for l := range cx[r] {
			b := l / z.Device.ScaleBlock
			// The numbers have few bits: these products are exact in binary64.
			v := z.Device.A.Decode(cx[r][l]) * z.Device.B.Decode(cy[c][l])
			v *= z.Device.Scale.Decode(sx.codes[r][b]) * z.Device.Scale.Decode(sy.codes[c][b])
			if v != v {
				d[i] = v
				break
			}
			p.SetFloat64(v)
			exact.Add(&exact, &p)
			size.Add(&size, p.Abs(&p))
		}
		z.errors[i] = d[i]
		if d[i]-d[i] == 0 {
			e := new(big.Float).SetPrec(prec).SetFloat64(d[i])
			z.errors[i], _ = e.Sub(e, &exact).Float64()
			values[i], _ = exact.Float64()
			z.sizes[i], _ = size.Float64()
		}
	}
	m.Exact = time.Since(start).Seconds()
	return m, values
}
