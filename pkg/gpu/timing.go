package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Timing is the time that one algorithm needs for a product.
type Timing struct {
	Algorithm Algorithm     // zero for a Classic routine
	Chosen    bool          // whether Multiply uses this algorithm
	Time      time.Duration // on the device's clock, without the transfers
}

// Time computes AB with the algorithm that [Routine.Multiply] uses, and with at
// most limit algorithms that cuBLASLt suggests. It runs each algorithm once to
// warm up and then the given number of passes, and returns the shortest time of
// each algorithm, that of Multiply first. The result is not copied back to the
// host.
//
// When ctx is done it stops before the next pass. It returns an error if the
// matrices do not fit into the device's memory as a whole. It panics as
// Multiply does, and if passes or limit is below 1.
func (k *Routine) Time(ctx context.Context, a, b blas32.General, passes, limit int) (timings []Timing, err error) {
	if passes < 1 || limit < 1 {
		panic(fmt.Sprintf("gpu: Time: passes = %d, limit = %d, want at least 1", passes, limit))
	}
	d := blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float32, a.Rows*b.Cols)}
	p := newProduct(k, blas.NoTrans, blas.NoTrans, 1, a, b, 0, d, d)
	err = k.GPU.opened("Time").Do(func() (err error) {
		if err = k.GPU.openBLAS(); err == nil {
			timings, err = p.timings(ctx, passes, limit)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gpu: time of %d × %d by %d × %d, %s: %w", p.m, p.k, p.k, p.n, k.A.Name, err)
	}
	return timings, nil
}

// timings copies the factors to the device and times every algorithm on it.
func (p *product) timings(ctx context.Context, passes, limit int) (timings []Timing, err error) {
	j := &job{product: p, held: held{device: p.kernel.GPU.device}}
	defer func() { err = errors.Join(err, j.release()) }()
	switch m, n, err := j.open(); {
	case err != nil:
		return nil, err
	case m < p.m || n < p.n:
		return nil, fmt.Errorf("device memory holds %d × %d of the result at a time, want all %d × %d", m, n, p.m, p.n)
	}
	var report Report
	if err := j.compute(&report, 0, 0, p.m, p.n); err != nil {
		return nil, err
	}
	d := p.describe(p.panel(p.m, p.n))
	list := []Algorithm{{}}
	if !p.kernel.Classic {
		list = report.Algorithms
		more, err := p.kernel.GPU.blas.Algorithms(d, p.kernel.workspace(), limit)
		if err != nil {
			return nil, err
		}
		for _, a := range more {
			if a != list[0] {
				list = append(list, a)
			}
		}
	}
	for i, a := range list {
		t, err := j.shortest(ctx, d, a, passes)
		if err != nil {
			return nil, err
		}
		timings = append(timings, Timing{a, i == 0, t})
	}
	return timings, nil
}

// shortest returns the shortest time of an algorithm over the passes, not
// counting a first pass that warms up.
func (j *job) shortest(ctx context.Context, d cuda.Product, a Algorithm, passes int) (time.Duration, error) {
	var times []time.Duration
	for range passes + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t, err := j.time(func() error { return j.launch(d, a) })
		if err != nil {
			return 0, err
		}
		times = append(times, t)
	}
	return slices.Min(times[1:]), nil
}
