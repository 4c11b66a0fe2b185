package probe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Verdict contains the number of dot products that were compared, the number of
// equal results, and the first difference, if any.
type Verdict struct {
	Dots, Agreed int
	First        *Disagreement
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
// limit. Two NaN count as equal. The error is that of the unit or of ctx; the
// verdict then covers the batches before it.
func Verify(ctx context.Context, u Unit, d tcore.Device, limit time.Duration, seed uint64) (Verdict, error) {
	const batch = 4000
	s := NewSampler(d, seed)
	var v Verdict
	for end := time.Now().Add(limit); ; {
		next, err := compare(ctx, u, d, s, batch)
		v.add(next)
		if err != nil || !time.Now().Before(end) {
			return v, err
		}
	}
}

// add adds the counts of the next batch to v.
func (v *Verdict) add(next Verdict) {
	if v.First == nil && next.First != nil {
		next.First.Index += v.Dots
		v.First = next.First
	}
	v.Dots += next.Dots
	v.Agreed += next.Agreed
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
	v := Verdict{Dots: n}
	for i := range n {
		if same(d.C, r.d[i], want[i]) {
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
