package tcore

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// scaledDotAdd is a dotAddProduct of codes with scales of e8m0: the factors are
// multiplied by their scales, exactly, and the exponents of the scales are
// added to theirs, of which those of subnormal codes are Emin.
type scaledDotAdd struct {
	*dotAddProduct
	a, b Codes
}

var scaledDotAddPath = newPath("scaled codes, by terms")

// scaledDotAddScratch recycles the memory of decoded factors.
var scaledDotAddScratch scratch[float32]

// newScaledDotAdd prepares a and b. It returns false if there is no kernel for
// d.
func newScaledDotAdd(d *Device, a, b Codes) (prepared, bool) {
	f, ok := d.Core.(Fused)
	if !ok || d.ScaleBlock > 0 && (!d.Scale.Equal(E8M0) || dotAddDepth%d.ScaleBlock != 0) {
		return nil, false
	}
	plain := *d
	plain.ScaleBlock = 0
	if _, ok := f.dotAddKernel(&plain); !ok {
		return nil, false
	}
	x, y := a.decode(d.A), b.decode(d.B)
	defer scaledDotAddScratch.put(x.Data)
	defer scaledDotAddScratch.put(y.Data)
	plain.Convert = ToNearestEven // the codes are of the formats
	p, _ := newDotAddProduct(&plain, x, y)
	w := &scaledDotAdd{p, a, b}
	if len(a.Scales) > 0 {
		w.scaleRows(d.ScaleBlock)
	}
	if len(b.Scales) > 0 {
		w.scaleColumns(d.ScaleBlock)
	}
	slow := sync.OnceValue(func() *scaledProduct { return newScaledProduct(d, a, b) })
	p.exact = func(c float32, i, j, lo, hi int) float32 { return slow().part(c, i, j, lo, hi) }
	return w, true
}

// decode returns the numbers of codes of f. The caller puts them back in
// scaledDotAddScratch.
func (m Codes) decode(f Format) blas32.General {
	number, z := f.numbers(), scaledDotAddScratch.get(len(m.Data))
	parallel.Ranges(len(z), func(lo, hi int) {
		for i, code := range m.Data[lo:hi] {
			z[lo+i] = number[code]
		}
	})
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: z}
}

// scaleInReach returns the exponent of a scale. It returns false if the scale
// is a NaN or takes a number of f out of reach of the kernel.
func scaleInReach(code uint8, f Format) (e int, ok bool) {
	e = int(code) - E8M0.Emax
	return e, code < 1<<8-1 && f.Emin+e >= -dotAddReach && f.Emax+e <= dotAddReach
}

func (p *scaledDotAdd) scaleRows(block int) {
	scales := (p.a.Cols + block - 1) / block
	parallel.Ranges(p.m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for s, code := range p.a.Scales[i*scales:][:scales] {
				e, ok := scaleInReach(code, p.d.A)
				if !ok {
					p.rareX[i*p.chunks()+s*block/dotAddDepth] = true
					continue
				}
				factor, distance := math.Float32frombits(exponentBits(e)), uint16(-e<<7)
				at := i*p.stride + s*block
				ex := p.ex[at : at+min(block, p.k-s*block)]
				for k, x := range p.x[at : at+len(ex)] {
					if x != 0 {
						p.x[at+k], ex[k] = x*factor, uint32(uint16(ex[k])+distance)*0x10001
					}
				}
			}
		}
	})
}

func (p *scaledDotAdd) scaleColumns(block int) {
	columns := p.kernel.columns
	scales := (p.b.Rows + block - 1) / block
	parallel.Ranges(p.width()/columns, func(lo, hi int) {
		for panel := lo; panel < hi; panel++ {
			for s := range scales {
				for j, code := range p.b.Scales[s*p.n+panel*columns:][:min(columns, p.n-panel*columns)] {
					e, ok := scaleInReach(code, p.d.B)
					if !ok {
						p.rareY[panel*p.chunks()+s*block/dotAddDepth] |= 1 << j
						continue
					}
					factor, distance := math.Float32frombits(exponentBits(e)), uint16(-e<<7)
					beside := 2*(j%(columns/2)) + j/(columns/2)
					for k := s * block; k < min((s+1)*block, p.k); k++ {
						at := (panel*p.stride + k) * columns
						if y := p.y[at+j]; y != 0 {
							p.y[at+j] = y * factor
							p.ey[at+beside] += distance
						}
					}
				}
			}
		}
	})
}

func (p *scaledDotAdd) addTo(c, z blas32.General) {
	const rows = 8
	t := tiling{m: p.m, n: p.n, k: p.k, rows: rows, columns: p.kernel.columns}
	sums := t.load(c, p.d.C)
	defer tilingScratch.put(sums)
	parallel.Ranges(t.groups(), func(lo, hi int) {
		for group := lo; group < hi; group++ {
			p.rectangle(sums, t.stride(), group*rows, min((group+1)*rows, p.m), 0, p.width())
		}
	})
	t.store(z, sums)
	scaledDotAddPath.count(p.m, p.a.Cols, p.n)
}

// part returns c plus the products of row i and column j with the terms in [lo,
// hi), whole blocks of the core.
func (p *scaledProduct) part(c float32, i, j, lo, hi int) float32 {
	x, y := p.x[i], p.y[j]
	hi = min(hi, len(x))
	var scaleX, scaleY []float64
	if block := p.d.ScaleBlock; block > 0 {
		first, last := lo/block, (hi+block-1)/block
		if len(p.scaleX[i]) > 0 {
			scaleX = p.scaleX[i][first:last]
		}
		if len(p.scaleY[j]) > 0 {
			scaleY = p.scaleY[j][first:last]
		}
	}
	return float32(p.d.chain(x[lo:hi], y[lo:hi], scaleX, scaleY, float64(c), nil))
}
