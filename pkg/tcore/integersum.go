package tcore

import (
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// integerSum is a product of numbers that are integers of at most 7 bits in
// units of the least number of their format, so few of them that no sum can
// reach 2^24 units. Then the device rounds nothing and cuts nothing: no product
// is so great that 1 unit would be below the last bit that it keeps. The sum is
// that of the integers.
type integerSum struct {
	tiling
	kernel integerKernel

	lda   int
	x     []uint8 // rows of A, plus a bias that makes them positive
	y     []int8  // panels of B, four terms of a column side by side
	start []int32 // for each column, what the bias adds, negated
	unit  float32
}

var integerSumPath = newPath("sums of integers")

// integerSumScratch recycles the memory of finished products.
var integerSumScratch struct {
	x     scratch[uint8]
	y     scratch[int8]
	start scratch[int32]
	rows  scratch[float32]
}

// newIntegerSum prepares a and b. It returns false if there is no kernel, C is
// given, or a sum could be rounded.
func newIntegerSum(d *Device, a, b blas32.General, started bool) (prepared, bool) {
	kernel, ok := integerKernelFor()
	if !ok || started || !d.sumsIntegers() {
		return nil, false
	}
	p := &integerSum{
		tiling: tiling{m: a.Rows, n: b.Cols, k: a.Cols, rows: kernel.rows, columns: kernel.columns},
		kernel: kernel,
		unit:   float32(exp2(d.A.minQuantum() + d.B.minQuantum())),
	}
	bias := min(d.A.integers(), 1<<7-1)
	var ofA, ofB maximum
	parallel.Loops(p.packRows(a, d.A, bias, &ofA), p.packPanels(b, d.B, bias, &ofB))
	x, y := ofA.value, ofB.value
	if x > float32(bias) || y > 1<<7-1 || float64(p.k)*float64(x)*float64(y) >= 1<<24 || 2*(float32(bias)+x)*y >= kernel.pair {
		p.release()
		return nil, false
	}
	return p, true
}

// integers returns Max in units of the least positive number.
func (f *Format) integers() int { return int(f.maxSignificand() << (f.Emax - f.Emin)) }

// sumsIntegers reports whether d neither cuts nor rounds in sums of numbers
// that stay below 2^24 units.
func (d *Device) sumsIntegers() bool {
	f, ok := d.integerCore()
	if !ok || d.A.Specials != FiniteOnly || d.B.Specials != FiniteOnly {
		return false
	}
	unit := d.A.minQuantum() + d.B.minQuantum()
	return max(d.A.Emax+d.B.Emax, unit+23, f.ZeroExponent)-f.FractionBits <= unit
}

// packRows returns the loop that packs the rows of A and computes the greatest
// magnitude of its integers. The memory of rows below the last one has any
// contents, and so have the results.
func (p *integerSum) packRows(a blas32.General, f Format, bias int, greatest *maximum) parallel.Loop {
	constants := newPackConstants(f, bias)
	n := (p.k + 15) &^ 15
	p.lda = n + 64
	p.x = integerSumScratch.x.get(p.groups() * p.rows * p.lda)
	return parallel.Loop{N: p.m, Work: func(lo, hi int) {
		most := make([]float32, p.kernel.columns/2)
		defer greatest.join(most)
		padded := make([]float32, n)
		for i := lo; i < hi; i++ {
			row := matrix.Row(a, i)
			if len(row) < n {
				copy(padded, row)
				row = padded
			}
			p.kernel.rowBytes(&p.x[i*p.lda], &most[0], &row[0], n, &constants.field)
		}
	}}
}

// maximum is the greatest of the numbers of several goroutines.
type maximum struct {
	mu    sync.Mutex
	value float32
}

func (m *maximum) join(x []float32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value = max(m.value, slices.Max(x))
}

// packPanels returns the loop that packs the columns of B and computes the
// greatest magnitude of its integers.
func (p *integerSum) packPanels(b blas32.General, f Format, bias int, greatest *maximum) parallel.Loop {
	constants := newPackConstants(f, 0)
	quads := p.quads()
	p.y = integerSumScratch.y.get(p.panels() * quads * 4 * p.columns)
	p.start = integerSumScratch.start.get(p.stride())
	return parallel.Loop{N: p.panels(), Work: func(lo, hi int) {
		most := make([]float32, p.columns/2)
		defer greatest.join(most)
		edge := integerSumScratch.rows.get(4 * p.columns)
		defer integerSumScratch.rows.put(edge)
		for panel := lo; panel < hi; panel++ {
			j, y := panel*p.columns, p.y[panel*quads*4*p.columns:]
			start := p.start[j:][:p.columns]
			clear(start)
			whole := 0 // quads of which all rows and columns exist
			if j+p.columns <= p.n && p.k >= 4 {
				whole = p.k / 4
				p.kernel.panelBytes(&y[0], &start[0], &most[0], &b.Data[j], 4*b.Stride, whole, &constants.field)
			}
			for q := whole; q < quads; q++ {
				clear(edge)
				for r := range min(4, p.k-4*q) {
					copy(edge[r*p.columns:][:p.columns], matrix.Row(b, 4*q+r)[j:])
				}
				p.kernel.panelBytes(&y[q*4*p.columns], &start[0], &most[0], &edge[0], 4*p.columns, 1, &constants.field)
			}
			for i := range start {
				start[i] *= -int32(bias)
			}
		}
	}}
}

// quads returns the number of terms in fours.
func (p *integerSum) quads() int { return (p.k + 3) / 4 }

func (p *integerSum) addTo(_, z blas32.General) {
	p.eachTile(integerCache/(p.rows*p.lda), func() func(group, panel int) {
		edge := make([]float32, p.rows*p.columns)
		return func(group, panel int) {
			i, j := group*p.rows, panel*p.columns
			x, y := &p.x[i*p.lda], &p.y[panel*p.quads()*4*p.columns]
			if i+p.rows <= p.m && j+p.columns <= p.n {
				p.kernel.sumBytes(&z.Data[i*z.Stride+j], 4*z.Stride, x, p.lda, y, &p.start[j], p.quads(), &p.unit)
				return
			}
			p.kernel.sumBytes(&edge[0], 4*p.columns, x, p.lda, y, &p.start[j], p.quads(), &p.unit)
			p.storeTile(z, edge, p.columns, group, panel)
		}
	})
	integerSumPath.count(p.m, p.k, p.n)
}

func (p *integerSum) release() {
	integerSumScratch.x.put(p.x)
	integerSumScratch.y.put(p.y)
	integerSumScratch.start.put(p.start)
}
