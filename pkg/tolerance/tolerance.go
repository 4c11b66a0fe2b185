package tolerance

import (
	"fmt"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Data are the matrices A, M × K, and B, K × N, of a product, with what is
// known of them. Its methods may be called at the same time.
type Data struct {
	A, B  blas32.General
	Exact blas64.General // AB, rounded once to binary64
	Sizes blas64.General // |A||B|, rounded once

	ranges    func() (x, y bound.Range)
	statistic func() statistic
	scaled    *scaled // nil if there are no scales, or they are not known
}

// A statistic is what bounds from the distribution of the data need.
type statistic struct {
	x, y bound.Distribution
	data *bound.Inspection
	err  error
}

// Measure returns the data of A and B, numbers as a device multiplies them,
// after conversion to its formats. The error names an element that is not
// finite. It panics if the shapes do not fit.
func Measure(a, b blas32.General) (*Data, error) {
	matrix.CheckProduct(string(pkg), "Measure", a, b)
	for _, f := range []struct {
		name string
		m    blas32.General
	}{{"A", a}, {"B", b}} {
		if i, j, found := matrix.NotFinite(f.m); found {
			return nil, fmt.Errorf("tolerance: %s[%d, %d] is %v, want a finite number", f.name, i, j, f.m.Data[i*f.m.Stride+j])
		}
	}
	ab, sizes, err := exact.GEMMs(a, b)
	if err != nil {
		return nil, err
	}
	d := &Data{A: a, B: b, Exact: ab.Float64(), Sizes: sizes.Float64()}
	d.ranges = sync.OnceValues(func() (x, y bound.Range) { return bound.RangesOf32(a, b) })
	d.statistic = sync.OnceValue(func() (z statistic) {
		wideA, wideB := matrix.Float64(a), matrix.Float64(b)
		if z.x, z.err = bound.MomentsOf("A", wideA); z.err == nil {
			if z.y, z.err = bound.MomentsOf("B", wideB); z.err == nil {
				z.data, z.err = bound.Inspect(wideA, wideB)
			}
		}
		return z
	})
	return d, nil
}

// A Tolerance is how far outputs may be from the exact ones.
type Tolerance struct {
	*Data
	Implementation Implementation
	Limits         blas64.General // |D̂ - AB| <= Limits, elementwise

	// Bound is the bound that gives the limit of an output of median size, with
	// Parts parts of K, those with which it is greatest; 0 if that is not told.
	Bound      bound.Result
	Parts      int
	Confidence roundoff.Failure // of all outputs together: [roundoff.Never] if the bounds always hold
}

// A ceiling is what one bound says of the error of an output, before D is
// rounded to its format.
type ceiling struct {
	bound.Result
	parts, length int  // of K; 0 if that is not told
	stores        bool // the sum is rounded to the format of D
}

// covers reports whether c allows all that d allows.
func (c ceiling) covers(d ceiling) bool {
	return c.Constant >= d.Constant && c.Absolute >= d.Absolute && c.Underflow >= d.Underflow && (c.stores || !d.stores)
}

// Of returns the tolerance for an implementation. Every output of a sound one
// is within it with confidence 1 - e^f for all outputs together, if the data
// are as the Why of the bound assumes; with f = [roundoff.Never] always.
//
// Of bounds that hold with a probability the tightest may be chosen after the
// data are known, since f is divided among all of the catalogue. Rounding the
// sum to the format of D adds half a unit in the last place of the greatest
// result that the tolerance allows, which is less than any share of |A||B|
// where products cancel.
//
// On devices that add in binary64 nothing is assumed of the order: the bound is
// K 2^-53 |A||B| (Jeannerod & Rump 2013).
//
// The error says that an element is no number of the formats of the device, or
// why no bound holds. Of panics unless f < 0.
func (d *Data) Of(by Implementation, f roundoff.Failure) (*Tolerance, error) {
	pkg.Number("f", float64(f), f < 0, "f < 0, a logarithm, as FailureOf(0.99) is")
	if err := by.check(); err != nil {
		return nil, err
	}
	device := by.device()
	if err := d.fits(device); err != nil {
		return nil, err
	}
	k, err := d.problem(by, f != roundoff.Never)
	if err != nil {
		return nil, err
	}
	alternatives, err := alternatives(k, by, f)
	if err != nil {
		return nil, err
	}
	t := &Tolerance{Data: d, Implementation: by, Limits: matrix.New64(d.A.Rows, d.B.Cols)}
	t.limit(alternatives, f)
	return t, nil
}

// fits returns an error unless the elements are numbers of the formats of the
// device.
func (d *Data) fits(by tcore.Device) error {
	switch {
	case d.scaled != nil && (!d.scaled.device.A.Equal(by.A) || !d.scaled.device.B.Equal(by.B) || !d.scaled.device.Scale.Equal(by.Scale) || d.scaled.device.ScaleBlock != by.ScaleBlock):
		return fmt.Errorf("tolerance: elements and scales are those of %s, not of %s", d.scaled.device.Name, by.Name)
	case by.ScaleBlock > 0:
		return nil // products of elements and scales
	}
	for _, m := range []struct {
		name string
		blas32.General
		tcore.Format
	}{{"A", d.A, by.A}, {"B", d.B, by.B}} {
		row := make([]float64, m.Cols)
		for i := range m.Rows {
			for j, x := range matrix.Row(m.General, i) {
				row[j] = float64(x)
			}
			m.RoundSlice(row, row, tcore.ToNearestEven)
			for j, x := range matrix.Row(m.General, i) {
				if row[j] != float64(x) {
					return fmt.Errorf("tolerance: %s[%d, %d] is %v, want a number of %s, as %s multiplies them", m.name, i, j, x, m.Format.Name, by.Name)
				}
			}
		}
	}
	return nil
}

// problem returns the product as package bound takes it, with what is known of
// the data, statistics only if they are wanted.
func (d *Data) problem(by Implementation, statistics bool) (k bound.Problem, err error) {
	k = bound.Problem{M: d.A.Rows, N: d.B.Cols, K: d.A.Cols}
	if by.device().ScaleBlock > 0 {
		if d.scaled != nil {
			k.RangeX, k.RangeY = d.scaled.x, d.scaled.y
		}
		return k, nil
	}
	k.RangeX, k.RangeY = d.ranges()
	if statistics {
		z := d.statistic()
		k.X, k.Y, k.Data, err = z.x, z.y, z.data, z.err
	}
	return k, err
}

// alternatives returns for every number of parts that is possible the bounds
// that hold.
func alternatives(k bound.Problem, by Implementation, f roundoff.Failure) (all [][]ceiling, err error) {
	device, always := by.device(), f == roundoff.Never
	k.Machine = tcore.Machine{Device: device, Output: device.C}
	if always {
		f = roundoff.FailureOf(0.5) // of bounds that are not used
	}
	_, chain := device.Core.(tcore.Chain)
	if device.C.Precision > tcore.Binary32.Precision && !(by.Orders == OneMachine && by.Plan == nil && by.Machine.SplitK <= 1 && by.Machine.Promote == 0) {
		if !chain {
			return nil, fmt.Errorf("tolerance: %s adds in %s, want OneMachine", device.Name, device.C.Name)
		}
		return [][]ceiling{{wideSums(k)}}, nil
	}
	k.Output = tcore.Binary32
	if device.C.Precision > tcore.Binary32.Precision {
		k.Output = device.C
	}
	add := func(results []bound.Result, parts, length int, stores bool) error {
		var hold []ceiling
		why := ""
		for _, r := range results {
			if r.Holds && !(always && r.Confidence != roundoff.Never) {
				hold = append(hold, ceiling{r, parts, length, stores})
			} else if why == "" || r.Bound == bound.Truncation.Name {
				why = r.Why
			}
		}
		if len(hold) == 0 {
			return fmt.Errorf("tolerance: no bound holds for %s: %s", device.Name, why)
		}
		all = append(all, tightest(hold))
		return nil
	}
	each := f.Split(float64(randomBounds()))
	switch {
	case by.Orders == AnyOrder:
		return all, add(bound.AllOrders(k, bound.Orders{}, f), 0, 0, by.output().Precision < tcore.Binary32.Precision)
	case by.Plan != nil:
		p := *by.Plan
		p.Output = tcore.Binary32
		if k, err = k.Planned(p); err != nil {
			return nil, err
		}
		results, err := bound.Evaluate(k, each)
		if err != nil {
			return nil, err
		}
		return all, add(results, 0, 0, by.output().Precision < tcore.Binary32.Precision)
	}
	machines := []tcore.Machine{by.Machine}
	if by.Orders == UnknownSplit {
		machines = nil
		for _, s := range by.parts(k.K) {
			machines = append(machines, tcore.Machine{Name: by.Machine.Name, Device: device, SplitK: s, Order: by.Machine.Order})
		}
	}
	for _, m := range machines {
		out := k.Output
		k.Machine = m
		k.Output = out
		results, err := bound.Evaluate(k, each)
		if err != nil {
			return nil, err
		}
		carried, parts := device.C, (k.K+k.Length()-1)/k.Length()
		if parts > 1 {
			carried = tcore.Binary32
		}
		if err := add(results, parts, k.Length(), by.output().Precision < carried.Precision); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// wideSums returns the bound on sums in binary64 by additions and FMAs in any
// order.
func wideSums(k bound.Problem) ceiling {
	return ceiling{Result: bound.Result{
		Bound:      "any-order",
		Constant:   float64(k.K) * k.Device.C.UnitRoundoff(),
		Absolute:   math.Inf(1),
		Lambda:     math.NaN(),
		Underflow:  float64(2*k.K) * k.Device.C.MinSubnormal(),
		Confidence: roundoff.Never,
		Holds:      true,
		Why:        "always",
		Source:     "Jeannerod & Rump 2013",
	}}
}

// randomBounds returns how many bounds of the catalogue hold with a
// probability.
func randomBounds() (n int) {
	for _, b := range bound.Catalogue() {
		if b.Model.Random {
			n++
		}
	}
	return n
}

// tightest returns those of the bounds that no other one makes superfluous.
func tightest(all []ceiling) (kept []ceiling) {
	for i, c := range all {
		needed := true
		for j, d := range all {
			if i != j && c.covers(d) && (j < i || !d.covers(c)) {
				needed = false
			}
		}
		if needed {
			kept = append(kept, c)
		}
	}
	return kept
}

// limit fills in Limits, for each output the greatest over the alternatives of
// the least that a bound allows, and names the bound of an output of median
// size.
func (t *Tolerance) limit(alternatives [][]ceiling, f roundoff.Failure) {
	out, middle := t.Implementation.output(), medianOf(t.Sizes.Data)
	merges := float64(len(alternatives))*float64(len(t.Sizes.Data))*float64(t.A.Cols) <= mostMerged
	t.Confidence = roundoff.Never
	for _, bounds := range alternatives {
		var sums []float64
		if parts := bounds[0].parts; parts > 1 && merges {
			sums = t.partSums(bounds[0].length)
		}
		for i, size := range t.Sizes.Data {
			const rounded = 1 + 0x1p-48 // sizes, and this arithmetic
			exact, least, which := math.Abs(t.Exact.Data[i]), math.Inf(1), 0
			for j, c := range bounds {
				e := c.Limit(size * rounded)
				if sums != nil {
					e = min(e, c.merged(size*rounded, sums[i]*rounded))
				}
				if c.stores {
					e += storing(exact+e, out)
				}
				if e < least {
					least, which = e, j
				}
			}
			least = least*rounded + exact*0x1p-53 // AB is rounded to binary64
			if most := &t.Limits.Data[i]; least > *most || t.Bound.Bound == "" {
				*most = max(*most, least)
				if i == middle {
					t.Bound, t.Parts = bounds[which].Result, bounds[which].parts
				}
			}
		}
		for _, c := range bounds {
			if c.Confidence != roundoff.Never {
				t.Confidence = f
			}
		}
	}
	if t.Bound.Confidence != roundoff.Never {
		t.Bound.Confidence = f // of all bounds together
	}
}

// mostMerged is for how many products sums of parts are computed, in seconds.
const mostMerged = 1 << 33

// merged returns the limit of an output where the sizes of the sums of its
// parts are known to add up to sums, which is less than |A||B| where products
// cancel: the bound on the chains, then m-1 roundings of computed sums.
func (c ceiling) merged(size, sums float64) float64 {
	chains := (c.Result.Parts.Accumulation + c.Result.Parts.Drift) * (1 + 0x1p-40) * size
	return chains + float64(c.parts-1)*tcore.Binary32.UnitRoundoff()*(sums+chains+c.Underflow) + c.Underflow
}

// partSums returns upper bounds of the sizes of the sums of parts of a length,
// added up for each output.
func (d *Data) partSums(length int) []float64 {
	z := make([]float64, len(d.Sizes.Data))
	γ := roundoff.Gamma(d.A.Cols+1, tcore.Binary64.UnitRoundoff())
	for i, size := range d.Sizes.Data {
		z[i] = 2 * γ * size
	}
	for lo := 0; lo < d.A.Cols; lo += length {
		hi := min(d.A.Cols, lo+length)
		for i, x := range matrix.Product64(matrix.Float64(matrix.Columns(d.A, lo, hi)), matrix.Float64(matrix.Rows(d.B, lo, hi))).Data {
			z[i] += math.Abs(x)
		}
	}
	return z
}

// medianOf returns the index of a median of x.
func medianOf(x []float64) int {
	i, least, m := 0, math.Inf(1), sample.Median(x)
	for j, v := range x {
		if off := math.Abs(v - m); off < least {
			i, least = j, off
		}
	}
	return i
}

// storing returns the most that rounding numbers of at most this size to f to
// nearest changes them by.
func storing(most float64, f tcore.Format) float64 {
	least := f.MinSubnormal() / 2
	if f.Subnormals != tcore.Kept {
		least = f.MinNormal()
	}
	return max(most*f.UnitRoundoff(), least)
}
