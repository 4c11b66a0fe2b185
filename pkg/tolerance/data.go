package tolerance

import (
	"fmt"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
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

// sign returns the sign of all products, 0 if they have both.
func (d *Data) sign() float64 {
	of := func(m blas32.General) float64 {
		positive, negative := false, false
		for i := range m.Rows {
			for _, x := range matrix.Row(m, i) {
				positive, negative = positive || x > 0, negative || x < 0
			}
		}
		switch {
		case positive && negative:
			return 0
		case negative:
			return -1
		}
		return 1
	}
	return of(d.A) * of(d.B)
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
