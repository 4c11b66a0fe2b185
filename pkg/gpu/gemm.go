package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Report says how a product was computed.
type Report struct {
	Panels     int           // parts of D computed one after the other; 1 if all of D fits into memory
	Algorithms []Algorithm   // one for each panel; empty for a Classic routine
	Time       time.Duration // of the products, without the transfers, on the device's clock
}

var _ tcore.GEMMer = &Routine{}

// GEMM is [Routine.Multiply] with the signature of [tcore.GEMMer], which
// returns no error. It stores the first error, which [Routine.Err] returns, and
// does nothing after an error. It panics as Multiply does.
func (k *Routine) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	if k.err == nil {
		_, k.err = k.Multiply(context.Background(), tA, tB, alpha, a, b, beta, c, d)
	}
}

// Err returns the first error of GEMM.
func (k *Routine) Err() error { return k.err }

// Multiply stores in d the matrix D = alpha op(A) op(B) + beta C as the GPU
// computes it. Op(A), of m × k, is a or, with blas.Trans, its transpose; op(B),
// of k × n, likewise. With beta = 0, C is not read. D may be c and must not
// overlap the other matrices. A D of binary64 is rounded to float32.
//
// A product that does not fit into the device's memory is computed in panels of
// D, each of whole dot products. The division into panels by itself changes no
// order of summation, but the library may choose another algorithm for a panel
// than for the whole product. When ctx is done, Multiply stops before the next
// panel. After an error some panels of D may already be stored; all device
// memory is freed.
//
// It panics if the shapes do not agree, a matrix is empty or shorter than its
// shape, the formats are not a row of the table at [Routine], SplitK, Workspace
// or MaxBytes is negative, a Classic routine has SplitK, Algorithm or Rows, or
// the GPU was not opened.
//
// differs: [tcore.Machine] does not round C to the Output format.
func (k *Routine) Multiply(ctx context.Context, tA, tB blas.Transpose, alpha float32, a, b blas32.General,
	beta float32, c, d blas32.General) (Report, error) {

	p := newProduct(k, tA, tB, alpha, a, b, beta, c, d)
	var report Report
	err := k.GPU.opened("Multiply").Do(func() (err error) {
		if err = k.GPU.openBLAS(); err == nil {
			report, err = p.run(ctx)
		}
		return err
	})
	if err != nil {
		return report, fmt.Errorf("gpu: product of %d × %d by %d × %d, %s: %w", p.m, p.k, p.k, p.n, k.A.Name, err)
	}
	return report, nil
}

// Algorithms returns at most limit algorithms that cuBLASLt offers for products
// of m × l and l × n matrices that are not transposed, in the library's order:
// the one that it estimates to be fastest first. It panics if m, n, l or limit
// is below 1, if the formats are not a row of the table at [Routine], or if the
// GPU was not opened.
func (k *Routine) Algorithms(m, n, l, limit int) (list []Algorithm, err error) {
	if m < 1 || n < 1 || l < 1 || limit < 1 {
		panic(fmt.Sprintf("gpu: Algorithms: m = %d, n = %d, l = %d, limit = %d, want at least 1", m, n, l, limit))
	}
	p := &product{kernel: k, arithmetic: k.arithmetic(), alpha: 1, m: m, n: n, k: l}
	p.layB = p.eight()
	err = k.GPU.opened("Algorithms").Do(func() error {
		if err := k.GPU.openBLAS(); err != nil {
			return err
		}
		list, err = k.GPU.blas.Algorithms(p.describe(p.panel(m, n)), k.workspace(), limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gpu: algorithms for %d × %d by %d × %d, %s: %w", m, l, l, n, k.A.Name, err)
	}
	return list, nil
}

// openBLAS opens cuBLAS and cuBLASLt unless they are already open.
func (g *GPU) openBLAS() (err error) {
	if g.blas == nil {
		g.blas, err = g.device.NewBLAS()
	}
	return err
}

func (k *Routine) workspace() int {
	if k.Workspace > 0 {
		return k.Workspace
	}
	return 32 << 20
}

// product is one product of a routine: m × k by k × n.
type product struct {
	kernel *Routine
	arithmetic
	m, n, k     int
	alpha, beta float32
	a, b, c, d  blas32.General
	tA, tB      bool // on the host
	layA, layB  bool // on the device
}

// newProduct returns the product of the arguments of Multiply. It panics as
// Multiply does.
func newProduct(k *Routine, tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) *product {
	p := &product{kernel: k, arithmetic: k.arithmetic(), alpha: alpha, beta: beta, a: a, b: b, c: c, d: d,
		tA: tA != blas.NoTrans, tB: tB != blas.NoTrans}
	checkMatrix("a", a)
	checkMatrix("b", b)
	p.m, p.k = shape(a, p.tA)
	kB, n := shape(b, p.tB)
	p.n = n
	if p.k != kB {
		panic(fmt.Sprintf("gpu: GEMM: op(a) has %d columns, op(b) has %d rows", p.k, kB))
	}
	checkResult("d", d, p.m, p.n)
	if beta != 0 {
		checkResult("c", c, p.m, p.n)
	}
	if k.SplitK < 0 || k.Workspace < 0 || k.MaxBytes < 0 {
		panic(fmt.Sprintf("gpu: GEMM: SplitK = %d, Workspace = %d, MaxBytes = %d, want none negative", k.SplitK, k.Workspace, k.MaxBytes))
	}
	if k.Classic && (k.SplitK > 0 || k.Algorithm != nil || k.Rows) {
		panic("gpu: GEMM: Classic with SplitK or Algorithm or Rows, which cublasGemmEx does not take")
	}
	p.layA, p.layB = p.tA, p.tB
	if p.eight() {
		p.layA, p.layB = false, true
	}
	return p
}

func shape(m blas32.General, transposed bool) (rows, cols int) {
	if transposed {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

func checkResult(name string, m blas32.General, rows, cols int) {
	checkMatrix(name, m)
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("gpu: GEMM: %s is %d × %d, want %d × %d", name, m.Rows, m.Cols, rows, cols))
	}
}

// checkMatrix panics unless m has at least one element and Data is long enough.
// The library counts rows and columns in 32 bits.
func checkMatrix(name string, m blas32.General) {
	if m.Rows < 1 || m.Cols < 1 || m.Rows > math.MaxInt32-64 || m.Cols > math.MaxInt32-64 {
		panic(fmt.Sprintf("gpu: GEMM: %s is %d × %d, want at least 1 × 1 and less than 2^31", name, m.Rows, m.Cols))
	}
	if m.Stride < m.Cols {
		panic(fmt.Sprintf("gpu: GEMM: %s has stride %d, want at least its %d columns", name, m.Stride, m.Cols))
	}
	if n := len(m.Data) - m.Cols; n < 0 || m.Rows-1 > n/m.Stride {
		panic(fmt.Sprintf("gpu: GEMM: %s has %d elements, want at least %.0f", name, len(m.Data),
			float64(m.Rows-1)*float64(m.Stride)+float64(m.Cols)))
	}
}

// A panel is the layout in device memory of a part of D and of the factors that
// it needs.
type panel struct{ a, b, d layout }

// panel returns the layouts for m rows and n columns of D.
func (p *product) panel(m, n int) panel {
	lay := func(rows, cols int, t cuda.DataType, transposed bool) layout {
		if transposed {
			rows, cols = cols, rows
		}
		if p.kernel.Rows {
			return layout{rows: rows, cols: cols, ld: cols, t: t}
		}
		return newLayout(rows, cols, t, p.eight())
	}
	return panel{a: lay(m, p.k, p.ta, p.layA), b: lay(p.k, n, p.tb, p.layB), d: lay(m, n, p.td, false)}
}

func (l panel) bytes() int { return l.a.bytes() + l.b.bytes() + l.d.bytes() }

// divide returns the rows and columns of the panels of D: it halves the longer
// side of D until a panel, with its factors, needs at most the given number of
// bytes.
func (p *product) divide(bytes int) (m, n int, err error) {
	for m, n = p.m, p.n; p.panel(m, n).bytes() > bytes; {
		switch {
		case m == 1 && n == 1:
			return 0, 0, fmt.Errorf("%d bytes of device memory do not hold a row of A and a column of B, %d elements each", bytes, p.k)
		case m >= n:
			m = (m + 1) / 2
		default:
			n = (n + 1) / 2
		}
	}
	return m, n, nil
}

// describe returns the product of a panel in the column-major convention of
// cuBLAS: Dᵀ = op(B)ᵀ op(A)ᵀ, since a row-major matrix, read by columns, is its
// transpose. With Rows it is D = op(A) op(B), and only factors of 8 bits are
// described by columns.
func (p *product) describe(l panel) cuda.Product {
	k := l.a.cols
	if p.layA {
		k = l.a.rows
	}
	if p.kernel.Rows {
		byColumns := p.eight()
		return cuda.Product{
			TransA: p.layA != byColumns, A: p.ta, LDA: l.a.ld, RowA: !byColumns,
			TransB: p.layB != byColumns, B: p.tb, LDB: l.b.ld, RowB: !byColumns,
			D: p.td, LDD: l.d.ld, RowD: true,
			M: l.d.rows, N: l.d.cols, K: k,
			Compute: p.compute, Alpha: p.scalar(p.alpha), Beta: p.scalar(p.beta),
			Fast: p.kernel.Fast && p.eight(),
		}
	}
	return cuda.Product{
		TransA: p.layB, A: p.tb, LDA: l.b.ld,
		TransB: p.layA, B: p.ta, LDB: l.a.ld,
		D: p.td, LDD: l.d.ld,
		M: l.d.cols, N: l.d.rows, K: k,
		Compute: p.compute, Alpha: p.scalar(p.alpha), Beta: p.scalar(p.beta),
		Fast: p.kernel.Fast && p.eight(),
	}
}

var errAlgorithm = errors.New("cuBLASLt knows no algorithm for it")

// choose returns the algorithm for a panel. It is the one that the routine
// fixes, or that of the previous panel if it can compute this one, or the
// library's first. K is split into SplitK parts unless SplitK is 0.
func (p *product) choose(d cuda.Product, before []Algorithm) (Algorithm, error) {
	k, b := p.kernel, p.kernel.GPU.blas
	var list []Algorithm
	switch {
	case k.Algorithm != nil:
		a, err := b.Check(d, *k.Algorithm)
		if err != nil {
			return a, err
		}
		list = []Algorithm{a}
	case len(before) > 0:
		if a, err := b.Check(d, before[len(before)-1]); err == nil && a.Workspace <= k.workspace() {
			return a, nil
		}
	}
	if list == nil {
		const some = 16
		var err error
		if list, err = b.Algorithms(d, k.workspace(), some); err != nil {
			return Algorithm{}, err
		}
	}
	return p.split(d, list)
}

// split returns the first algorithm of the list that splits K into SplitK parts
// and whose workspace fits; if there is none, the first that can be configured
// so.
func (p *product) split(d cuda.Product, list []Algorithm) (Algorithm, error) {
	err := errAlgorithm
	for _, a := range list {
		if p.kernel.SplitK == 0 || a.SplitK == p.kernel.SplitK {
			if a.Workspace <= p.kernel.workspace() {
				return a, nil
			}
			err = fmt.Errorf("an algorithm needs a workspace of %d bytes, and has %d", a.Workspace, p.kernel.workspace())
		}
	}
	if p.kernel.SplitK == 0 {
		return Algorithm{}, err
	}
	for _, a := range list {
		b, splitErr := p.kernel.GPU.blas.Split(d, a, p.kernel.SplitK)
		if splitErr == nil && b.Workspace <= p.kernel.workspace() {
			return b, nil
		}
		err = errors.Join(err, splitErr)
	}
	return Algorithm{}, err
}
