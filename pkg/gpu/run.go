package gpu

import (
	"context"
	"errors"
	"math"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A job is a product in progress, with its resources on the device. All its
// methods run inside Device.Do.
type job struct {
	*product
	held
	clock
	stage     []byte   // pinned memory of the host, through which matrices are copied
	x, y, z   cuda.Ptr // B, A and D, in the order of cuBLAS by columns
	workspace cuda.Ptr
}

// run computes the product panel by panel. It frees all resources, also after
// an error.
func (p *product) run(ctx context.Context) (report Report, err error) {
	j := &job{product: p, held: held{device: p.kernel.GPU.device}}
	defer func() { err = errors.Join(err, j.release()) }()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	m, n, err := j.open()
	if err != nil {
		return report, err
	}
	for col := 0; col < p.n; col += n {
		for row := 0; row < p.m; row += m {
			if err := ctx.Err(); err != nil {
				return report, err
			}
			if err := j.compute(&report, row, col, min(m, p.m-row), min(n, p.n-col)); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// open allocates memory for the largest panel and returns the size of that
// panel.
func (j *job) open() (m, n int, err error) {
	const stage = 16 << 20
	room, _, err := j.device.MemInfo()
	if err != nil {
		return 0, 0, err
	}
	room -= room / 16 // which the driver and the libraries may need
	if j.kernel.MaxBytes > 0 {
		room = min(room, j.kernel.MaxBytes)
	}
	if m, n, err = j.divide(room - j.kernel.workspace()); err != nil {
		return 0, 0, err
	}
	l := j.panel(m, n)
	for _, part := range []struct {
		p *cuda.Ptr
		n int
	}{{&j.x, l.b.bytes()}, {&j.y, l.a.bytes()}, {&j.z, l.d.bytes()}, {&j.workspace, j.kernel.workspace()}} {
		if *part.p, err = j.memory(part.n); err != nil {
			return 0, 0, err
		}
	}
	row := max(l.a.rowBytes(), l.b.rowBytes(), l.d.rowBytes())
	all := max(l.a.bytes(), l.b.bytes(), l.d.bytes())
	if j.stage, err = j.pinned(max(row, min(all, stage))); err != nil {
		return 0, 0, err
	}
	if j.clock, err = j.newClock(); err != nil {
		return 0, 0, err
	}
	return m, n, nil
}

// compute computes m rows and n columns of D, from (row, col) on. It copies B
// to the device only if row is 0: the panels of the same columns share it.
func (j *job) compute(report *Report, row, col, m, n int) error {
	l := j.panel(m, n)
	if row == 0 {
		v := factor(j.b, j.tB != j.layB, j.layB, 0, col, j.k, n)
		if err := j.upload(j.x, v, l.b, j.arithmetic.b); err != nil {
			return err
		}
	}
	if err := j.upload(j.y, factor(j.a, j.tA != j.layA, j.layA, row, 0, m, j.k), l.a, j.arithmetic.a); err != nil {
		return err
	}
	if j.beta != 0 {
		if err := j.upload(j.z, view{m: j.c, row: row, col: col, nrows: m, ncols: n}, l.d, j.output); err != nil {
			return err
		}
	} else if err := j.blank(j.z, l.d.bytes(), j.stage, j.stream); err != nil {
		return err
	}
	if err := j.multiply(report, j.describe(l)); err != nil {
		return err
	}
	return j.download(view{m: j.d, row: row, col: col, nrows: m, ncols: n}, l.d)
}

// factor returns the view of rows × cols elements of op(M), from (row, col) on,
// in the order of the device: that of op(M), or of its transpose if lay. The
// view reads the transpose of m if flip.
func factor(m blas32.General, flip, lay bool, row, col, rows, cols int) view {
	if lay {
		row, col, rows, cols = col, row, cols, rows
	}
	return view{m: m, row: row, col: col, nrows: rows, ncols: cols, transposed: flip}
}

// multiply computes the product on the device and waits for its end.
func (j *job) multiply(report *Report, d cuda.Product) error {
	var algorithm Algorithm
	if !j.kernel.Classic {
		var err error
		if algorithm, err = j.choose(d, report.Algorithms); err != nil {
			return err
		}
		report.Algorithms = append(report.Algorithms, algorithm)
	}
	took, err := j.time(func() error { return j.launch(d, algorithm) })
	report.Time += took
	if err == nil {
		report.Panels++
	}
	return err
}

// launch enqueues the product in the stream.
func (j *job) launch(d cuda.Product, a Algorithm) error {
	b := j.kernel.GPU.blas
	if j.kernel.Classic {
		return b.GemmEx(d, j.x, j.y, j.z, j.workspace, j.kernel.workspace(), j.stream)
	}
	x, y := j.x, j.y
	if j.kernel.Rows {
		x, y = y, x
	}
	return b.Matmul(d, x, y, j.z, a, j.workspace, j.kernel.workspace(), j.stream)
}

// upload copies a view to the device, as many rows at a time as fit into the
// stage.
func (j *job) upload(to cuda.Ptr, v view, l layout, f tcore.Format) error {
	return j.chunks(l, func(part []byte, lo, hi int) error {
		v.encode(part, l, f, lo, hi)
		if err := j.device.ToDevice(to+cuda.Ptr(lo*l.rowBytes()), part, j.stream); err != nil {
			return err
		}
		return j.stream.Sync()
	})
}

// download copies D from the device to a view.
func (j *job) download(v view, l layout) error {
	return j.chunks(l, func(part []byte, lo, hi int) error {
		blank(part)
		if err := j.device.ToHost(part, j.z+cuda.Ptr(lo*l.rowBytes()), j.stream); err != nil {
			return err
		}
		if err := j.stream.Sync(); err != nil {
			return err
		}
		v.decode(part, l, j.output, lo, hi)
		return nil
	})
}

// chunks divides the rows of the layout into chunks that fit into the stage.
// For each chunk it calls f with the part of the stage that stores the chunk,
// for rows lo to hi-1.
func (j *job) chunks(l layout, f func(part []byte, lo, hi int) error) error {
	step := min(len(j.stage)/l.rowBytes(), math.MaxInt32)
	for lo := 0; lo < l.rows; lo += step {
		hi := min(lo+step, l.rows)
		if err := f(j.stage[:(hi-lo)*l.rowBytes()], lo, hi); err != nil {
			return err
		}
	}
	return nil
}
