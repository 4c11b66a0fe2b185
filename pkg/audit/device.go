package audit

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// steps returns after how many products sums leave the device, in the ways in
// which the factors can be multiplied on it; none if it does not take them.
func steps(a, b *quant.Quantised, d tcore.Device, promote int) []int {
	if d.ScaleBlock > 0 {
		_, errA := a.TensorCodes(d)
		_, errB := b.TensorCodes(d)
		if errA != nil || errB != nil {
			return nil
		}
		return []int{0}
	}
	if !d.A.Equal(a.Recipe.Element) || !d.B.Equal(b.Recipe.Element) || !outside(a.Recipe) || !outside(b.Recipe) {
		return nil
	}
	short, long := min(a.Recipe.Block.Along, b.Recipe.Block.Along), max(a.Recipe.Block.Along, b.Recipe.Block.Along)
	switch {
	case long == 0 && (promote < 1 || promote >= a.Cols):
		return []int{0}
	case long == 0:
		return []int{0, promote}
	case short == 0:
		return []int{long}
	case long%short == 0:
		return []int{short}
	}
	return nil
}

// outside reports whether the scales are for other hands than the device.
func outside(r quant.Recipe) bool { return r.Scale.Stored.Equal(tcore.Binary32) }

// run returns D̂, the product of A and these columns of b on the device.
func (l *Layer) run(a, b *quant.Quantised, cols []int, d tcore.Device, every int) blas64.General {
	z := matrix.New(len(l.rows), len(cols))
	if d.ScaleBlock > 0 {
		x, _ := a.TensorCodes(d)
		y, _ := b.TensorCodes(d)
		d.MultiplyAddCodes(rowsOf(x, l.rows), columnsOf(y, cols), blas32.General{}, z)
	} else {
		l.chunks(a, b, cols, d, every, z)
	}
	scale := a.TensorScale() * b.TensorScale()
	return matrix.Float64(matrix.Map(z, func(v float32) float32 { return v * scale }))
}

// chunks stores in z the sum over chunks of K of fl(sA sB) times the sum of the
// device, by one FMA in binary32 for each.
func (l *Layer) chunks(a, b *quant.Quantised, cols []int, d tcore.Device, every int, z blas32.General) {
	K := l.a.Cols
	if every == 0 {
		every = K
	}
	x, y := l.codes(a, b, cols)
	sum := matrix.New(z.Rows, z.Cols)
	for k := 0; k < K; k += every {
		end := min(k+every, K)
		d.MultiplyAdd(matrix.Columns(x, k, end), matrix.Rows(y, k, end), blas32.General{}, sum)
		for r, i := range l.rows {
			for c, j := range cols {
				at := r*z.Stride + c
				s := a.Scale(i, k) * b.Scale(k, j)
				z.Data[at] = float32(tcore.Binary32.FMA(float64(s), float64(sum.Data[at]), float64(z.Data[at]), tcore.ToNearestEven))
			}
		}
	}
}

// codes returns the numbers of the codes, without scales.
func (l *Layer) codes(a, b *quant.Quantised, cols []int) (x, y blas32.General) {
	x, y = matrix.New(len(l.rows), l.a.Cols), matrix.New(l.a.Cols, len(cols))
	for k := range l.a.Cols {
		for r, i := range l.rows {
			x.Data[r*x.Stride+k] = a.Number(i, k)
		}
		for c, j := range cols {
			y.Data[k*y.Stride+c] = b.Number(k, j)
		}
	}
	return x, y
}

// rowsOf returns rows of a left factor, with their scales.
func rowsOf(x tcore.Codes, rows []int) tcore.Codes {
	z := tcore.Codes{Rows: len(rows), Cols: x.Cols}
	scales := len(x.Scales) / x.Rows
	for _, i := range rows {
		z.Data = append(z.Data, x.Data[i*x.Cols:(i+1)*x.Cols]...)
		z.Scales = append(z.Scales, x.Scales[i*scales:(i+1)*scales]...)
	}
	return z
}

// columnsOf returns columns of a right factor, with their scales.
func columnsOf(y tcore.Codes, cols []int) tcore.Codes {
	z := tcore.Codes{Rows: y.Rows, Cols: len(cols)}
	pick := func(from []uint8) (to []uint8) {
		for row := 0; row < len(from); row += y.Cols {
			for _, j := range cols {
				to = append(to, from[row+j])
			}
		}
		return to
	}
	z.Data, z.Scales = pick(y.Data), pick(y.Scales)
	return z
}
