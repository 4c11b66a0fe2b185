package tcore

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// Split is an 8-bit mma.sync on chips that have no such instruction (Hopper,
// Blackwell). The compiler converts the factors to binary16, exactly, and
// issues two binary16 instructions. The first sums the products of index k with
// k mod 4 < 2, from zero; the second adds the other products. Then c is added
// in C, rounded to nearest even.
type Split struct {
	By Fused // the binary16 instruction, with half as many terms
}

func (s Split) width() int { return 2 * s.By.Terms }

func (s Split) sum(d *Device, b block, _ *TraceBlock) float64 {
	half := *d
	half.A, half.B = Binary16, Binary16

	n := s.By.Terms
	first := block{x: make([]float64, 0, n), y: make([]float64, 0, n)}
	second := block{x: make([]float64, 0, n), y: make([]float64, 0, n)}
	for k := range b.x {
		part := &first
		if k%4 >= 2 {
			part = &second
		}
		part.x, part.y = append(part.x, b.x[k]), append(part.y, b.y[k])
	}

	second.c = s.By.sum(&half, first, nil)
	z := s.By.sum(&half, second, nil)
	return d.C.Add(z, b.c, ToNearestEven)
}

func (s Split) check(d *Device) {
	half := *d
	half.A, half.B = Binary16, Binary16
	s.By.check(&half)
	if s.By.Terms%2 != 0 || !Binary16.contains(d.A) || !Binary16.contains(d.B) {
		panic(fmt.Sprintf("tcore: device %q: Split of %s × %s in halves of %d, want numbers of binary16 and an even number",
			d.Name, d.A.Name, d.B.Name, s.By.Terms))
	}
}

// splitProduct computes the product of a [Split] by a multiplier for its
// binary16 instruction, on matrices whose terms are in the order of the two
// instructions.
type splitProduct struct {
	d    *Device
	half multiplier
}

func newSplitProduct(d *Device, core Split, a, b blas32.General) *splitProduct {
	x, y := d.splitTerms(core, a, b)
	defer splitScratch.put(x.Data)
	defer splitScratch.put(y.Data)
	return &splitProduct{d, core.half(d).newMultiplier(x, y)}
}

// half returns the device with the binary16 instruction alone.
func (s Split) half(d *Device) *Device {
	half := *d
	half.A, half.B, half.Core = Binary16, Binary16, s.By
	return &half
}

// splitTerms returns a and b, rounded to the formats of d, with their terms in
// the order of the two instructions. The caller puts them back in splitScratch.
func (d *Device) splitTerms(core Split, a, b blas32.General) (x, y blas32.General) {
	order := splitOrder(core.width(), d.padded(a.Cols))
	n := len(order)
	x = blas32.General{Rows: a.Rows, Cols: n, Stride: n, Data: splitScratch.get(a.Rows * n)}
	y = blas32.General{Rows: n, Cols: b.Cols, Stride: b.Cols, Data: splitScratch.get(n * b.Cols)}
	parallel.Loops(parallel.Loop{N: a.Rows, Work: func(lo, hi int) {
		rounded := make([]float32, n)
		for i := lo; i < hi; i++ {
			d.convertRow(rounded[:a.Cols], matrix.Row(a, i), d.A)
			z := matrix.Row(x, i)
			for l, k := range order {
				z[l] = rounded[k]
			}
		}
	}}, parallel.Loop{N: n, Work: func(lo, hi int) {
		for l := lo; l < hi; l++ {
			if k := order[l]; k < b.Rows {
				d.convertRow(matrix.Row(y, l), matrix.Row(b, k), d.B)
			} else {
				clear(matrix.Row(y, l))
			}
		}
	}})
	return x, y
}

// splitScratch recycles the memory of factors in the order of a [Split].
var splitScratch scratch[float32]

// splitOrder returns the indices of n terms in the order in which the binary16
// instructions use them. Every w terms are computed by two instructions.
func splitOrder(w, n int) []int {
	order := make([]int, 0, n)
	for start := 0; start < n; start += w {
		for part := range 2 {
			for k := start; k < start+w; k++ {
				if (k-start)%4/2 == part {
					order = append(order, k)
				}
			}
		}
	}
	return order
}

func (p *splitProduct) release() { p.half.release() }

func (p *splitProduct) multiply(z [][]float64, rowLo, rowHi, lo, hi int) {
	w := p.d.Core.width()
	sum := newRows(len(z), len(z[0]))
	for ; lo < hi; lo += w {
		clearRows(sum)
		p.half.multiply(sum, rowLo, rowHi, lo, lo+w)
		for i := range z {
			for j, s := range sum[i] {
				z[i][j] = addSplit(p.d.C, s, z[i][j])
			}
		}
	}
}

// addSplit returns x + y rounded to c. The sum of two binary16 numbers is exact
// in binary64.
func addSplit(c Format, x, y float64) float64 {
	switch {
	case c.Equal(Binary32):
		return float64(float32(x) + float32(y))
	case c.Equal(Binary16):
		return round16(x + y)
	}
	return c.Add(x, y, ToNearestEven)
}
