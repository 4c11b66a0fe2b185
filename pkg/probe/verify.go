package probe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Verdict contains the number of dot products that were compared, the number of
// equal results, and the first difference, if any.
type Verdict struct {
	Dots, Agreed int
	First        *Disagreement
	Regimes      []RegimeCount // of grids only
}

// RegimeCount tells how many dot products were drawn from a regime, and how
// many of their results are NaN by the emulation.
type RegimeCount struct {
	Name      string
	Dots, NaN int
}

// Disagreement is a dot product for which unit and device have different
// results. All operands and results are codes.
type Disagreement struct {
	Index     int // counted from 0
	Regime    string
	X, Y      []uint64
	C         uint64
	Got, Want uint64 // of the unit and of the device
	Device    tcore.Device
}

// Verify compares the unit with d on random dot products, drawn from all
// regimes in turn. It compares at least one batch and continues until the time
// limit. Two NaN count as equal, except where d passes on the payloads of NaN
// (see [tcore.Device.KeepsNaN]): there results are equal if their codes are. A
// [GridUnit] computes grids of 128 × 128 dot
// products, on GOMAXPROCS goroutines. The error is that of the unit or of ctx;
// the verdict then covers the batches before it.
func Verify(ctx context.Context, u Unit, d tcore.Device, limit time.Duration, seed uint64) (Verdict, error) {
	end := time.Now().Add(limit)
	return verify(ctx, u, d, seed, func(int) bool { return !time.Now().Before(end) })
}

// VerifyDots is [Verify] for a number of dot products in place of a time limit:
// it compares that many, rounded up to whole batches. It panics if count is not
// positive.
func VerifyDots(ctx context.Context, u Unit, d tcore.Device, count int, seed uint64) (Verdict, error) {
	if count < 1 {
		panic(fmt.Sprintf("probe: VerifyDots: count = %d, want at least 1", count))
	}
	return verify(ctx, u, d, seed, func(begun int) bool { return begun >= count })
}

// verify compares at least one batch, and continues until enough is true of the
// number of dot products of all batches that were begun.
func verify(ctx context.Context, u Unit, d tcore.Device, seed uint64, enough func(begun int) bool) (Verdict, error) {
	if g, ok := u.(GridUnit); ok {
		return verifyGrids(ctx, g, d, seed, enough)
	}
	const batch = 4000
	s := NewSampler(d, seed)
	var v Verdict
	for {
		next, err := compare(ctx, u, d, s, batch)
		v.add(next)
		if err != nil || enough(v.Dots) {
			return v, err
		}
	}
}

// add adds the counts of the next batch to v.
func (v *Verdict) add(next Verdict) {
	if next.First != nil {
		next.First.Index += v.Dots
	}
	v.merge(next)
}

// verifyGrids is verify of grids. The operands of grid i depend on the seed and
// on i alone.
func verifyGrids(ctx context.Context, u GridUnit, d tcore.Device, seed uint64, enough func(begun int) bool) (Verdict, error) {
	v := Verdict{Regimes: make([]RegimeCount, len(gridRegimes))}
	for i, name := range gridRegimes {
		v.Regimes[i].Name = name
	}
	var lock sync.Mutex
	var failed error
	begun := 0
	next := func() (i int, ok bool) {
		lock.Lock()
		defer lock.Unlock()
		if failed != nil || begun > 0 && enough(begun*gridSide*gridSide) {
			return 0, false
		}
		begun++
		return begun - 1, true
	}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i, ok := next(); ok; i, ok = next() {
				part, nan, err := compareGrid(ctx, u, d, seed, i)
				lock.Lock()
				failed = cmp.Or(failed, err)
				v.merge(part)
				v.Regimes[i%len(gridRegimes)].Dots += part.Dots
				v.Regimes[i%len(gridRegimes)].NaN += nan
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	return v, failed
}

// merge adds the counts of another part, whose first disagreement has its index
// among all.
func (v *Verdict) merge(part Verdict) {
	v.Dots += part.Dots
	v.Agreed += part.Agreed
	if v.First == nil || part.First != nil && part.First.Index < v.First.Index {
		v.First = part.First
	}
}

// compareGrid compares the results of unit and device for a grid. It also
// returns the number of results of the device that are NaN.
func compareGrid(ctx context.Context, u GridUnit, d tcore.Device, seed uint64, index int) (v Verdict, nan int, err error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, 0, err
	}
	k, regime := u.K(), index%len(gridRegimes)
	g := newGridSampler(d, seed, index).grid(regime, k)
	got, want := make([]uint64, len(g.c)), make([]uint64, len(g.c))
	if err := u.Grid(ctx, g.x, g.y, g.c, got); err != nil {
		return Verdict{}, 0, err
	}
	d.GridCodes(k, g.x, g.y, g.c, want)
	keeps := d.KeepsNaN()
	sign := uint64(1) << (d.C.Bits() - 1)
	infinity := d.C.Encode(math.Inf(1), tcore.ToNearestEven) // NaN have greater codes
	v.Dots = len(want)
	for i, z := range want {
		if z&^sign > infinity {
			nan++
		}
		if got[i] == z || !keeps && same(d.C, got[i], z) {
			v.Agreed++
		} else if v.First == nil {
			x, y := i/gridSide*k, i%gridSide*k
			v.First = &Disagreement{index*len(want) + i, gridRegimes[regime], g.x[x : x+k], g.y[y : y+k], g.c[i], got[i], z, d}
		}
	}
	return v, nan, nil
}

// rows contains the operands and results of many dot products.
type rows struct {
	regime     []int
	x, y, c, d []uint64
}

// compute draws the operands of n rows, from all regimes in turn, and has the
// unit compute the results.
func compute(ctx context.Context, u Unit, s *Sampler, n int) (rows, error) {
	k := u.K()
	r := rows{make([]int, n), make([]uint64, n*k), make([]uint64, n*k), make([]uint64, n), make([]uint64, n)}
	for i := range n {
		r.regime[i] = i % len(Regimes)
		r.c[i] = s.Draw(r.regime[i], r.x[i*k:(i+1)*k], r.y[i*k:(i+1)*k])
	}
	return r, u.Dots(ctx, r.x, r.y, r.c, r.d)
}

// compare compares the results of unit and device for n random dot products.
func compare(ctx context.Context, u Unit, d tcore.Device, s *Sampler, n int) (Verdict, error) {
	r, err := compute(ctx, u, s, n)
	if err != nil {
		return Verdict{}, err
	}
	want, k := make([]uint64, n), u.K()
	if err := (emulated{d, k}).Dots(ctx, r.x, r.y, r.c, want); err != nil {
		return Verdict{}, err
	}
	v, keeps := Verdict{Dots: n}, d.KeepsNaN()
	for i := range n {
		if r.d[i] == want[i] || !keeps && same(d.C, r.d[i], want[i]) {
			v.Agreed++
		} else if v.First == nil {
			v.First = &Disagreement{i, Regimes[r.regime[i]], r.x[i*k : (i+1)*k], r.y[i*k : (i+1)*k], r.c[i], r.d[i], want[i], d}
		}
	}
	return v, nil
}

// String returns the operands, both results, and a trace of the device's
// computation.
func (e *Disagreement) String() string {
	d := e.Device
	var x, y []float64
	for k := range e.X {
		x, y = append(x, number(d.A, e.X[k])), append(y, number(d.B, e.Y[k]))
	}
	var s strings.Builder
	fmt.Fprintf(&s, "dot product %d, regime %s\nx = %#x\ny = %#x\nc = %#x\n", e.Index, e.Regime, e.X, e.Y, e.C)
	fmt.Fprintf(&s, "unit      %#x = %v\nemulation %#x = %v\n", e.Got, d.C.Decode(e.Got), e.Want, d.C.Decode(e.Want))
	s.WriteString(d.Trace(x, y, number(d.C, e.C)).String())
	return s.String()
}
