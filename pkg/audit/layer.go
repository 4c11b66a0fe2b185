package audit

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Most rows of A and columns of B of which errors are told: more are thinned
// out evenly, after they have been quantised.
const (
	MostRows    = 256
	MostColumns = 256
)

// A Layer is a product D = AB.
type Layer struct {
	a, b       blas32.General
	rows, cols []int          // of a and b, of which errors are told
	few        blas32.General // these columns of b, and the one of its greatest number last
	d          blas64.General // their product, in binary64
	size, mean float64        // rms(D), and the mean of |A||B|
	abs        blas64.General // |A||B|
}

// NewLayer returns the product of a, M × K, and b, K × N. The error says that
// an element is not finite, or that there is no error relative to D, because D
// is 0. It panics if the shapes do not fit.
func NewLayer(a, b blas32.General) (*Layer, error) {
	matrix.CheckProduct("audit", "NewLayer", a, b)
	for name, m := range map[string]blas32.General{"A": a, "B": b} {
		if i, j, found := matrix.NotFinite(m); found {
			return nil, fmt.Errorf("audit: %s[%d, %d] = %v, want a finite number", name, i, j, matrix.Row(m, i)[j])
		}
	}
	l := &Layer{a: a, b: b, rows: thinned(a.Rows, MostRows), cols: thinned(b.Cols, MostColumns)}
	at := func(m blas32.General) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(m.Data[i*m.Stride+j]) }
	}
	l.few = columns(b, append(slices.Clone(l.cols), greatest(b)))
	x, y := l.left(at(a)), l.right(at(b), l.cols)
	l.d = matrix.Product64(x, y)
	l.abs = matrix.Product64(matrix.Map64(math.Abs, x), matrix.Map64(math.Abs, y))
	l.size = rms(l.d.Data)
	for _, s := range l.abs.Data {
		l.mean += s / float64(len(l.abs.Data))
	}
	if l.size == 0 {
		return nil, fmt.Errorf("audit: the product of %d × %d and %d × %d is 0", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	return l, nil
}

// thinned returns at most most of n indices, evenly spaced.
func thinned(n, most int) (z []int) {
	k := min(n, most)
	for i := range k {
		z = append(z, i*n/k)
	}
	return z
}

// left returns the matrix of the elements of A, or of what has its shape, in
// the rows of which errors are told.
func (l *Layer) left(at func(i, j int) float64) blas64.General {
	z := matrix.New64(len(l.rows), l.a.Cols)
	for r, i := range l.rows {
		for j := range l.a.Cols {
			z.Data[r*z.Stride+j] = at(i, j)
		}
	}
	return z
}

// right returns columns of B, or of what has its shape.
func (l *Layer) right(at func(i, j int) float64, cols []int) blas64.General {
	z := matrix.New64(l.b.Rows, len(cols))
	for i := range l.b.Rows {
		for c, j := range cols {
			z.Data[i*z.Stride+c] = at(i, j)
		}
	}
	return z
}

// columns returns columns of m.
func columns(m blas32.General, cols []int) blas32.General {
	z := matrix.New(m.Rows, len(cols))
	for i := range m.Rows {
		row := matrix.Row(m, i)
		for c, j := range cols {
			z.Data[i*z.Stride+c] = row[j]
		}
	}
	return z
}

// greatest returns the column of the element of the greatest magnitude.
func greatest(m blas32.General) (column int) {
	var most float64
	for i := range m.Rows {
		for j, v := range matrix.Row(m, i) {
			if x := math.Abs(float64(v)); x > most {
				most, column = x, j
			}
		}
	}
	return column
}

// quantiseB quantises the columns of B of which errors are told, which are
// columns cols of the result. Where columns have scales of their own, the
// others make no difference, but for the greatest number to a scale of the
// matrix.
func (l *Layer) quantiseB(r quant.Recipe) (q *quant.Quantised, cols []int, err error) {
	if r.Block.Across == 1 && r.Stochastic.Bits == 0 {
		q, err = r.Quantise(l.few, quant.Right)
		return q, thinned(len(l.cols), len(l.cols)), err
	}
	q, err = r.Quantise(l.b, quant.Right)
	return q, l.cols, err
}

func minus(x, y blas64.General) blas64.General {
	z := matrix.New64(x.Rows, x.Cols)
	for i, v := range x.Data {
		z.Data[i] = v - y.Data[i]
	}
	return z
}

func rms(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}

// Errors says what a recipe does to a layer. Root mean squares are over all
// outputs of which errors are told.
type Errors struct {
	Activations, Weights float64 // the parts of Predicted: of A quantised, and of B
	Predicted            float64 // rms(E)/rms(D), from the errors of elements
	Measured             float64 // rms(E)/rms(D)
	Backward             float64 // rms(E) over the mean of |A||B|
	Largest              float64 // the greatest |E| over its |A||B|
	Devices              []Accumulated
}

// Accumulated is what a device adds to the error of a recipe.
type Accumulated struct {
	Device   string
	Promote  int     // sums leave the device for binary32 every so many products; 0: at the end
	RMS      float64 // rms(D̂ - ÂB̂)/rms(D)
	Total    float64 // rms(D̂ - D)/rms(D)
	Overflow int     // outputs that are not finite, and are left out of both
}

// Errors quantises A by one recipe and B by another, and multiplies them on
// those of the devices that take them. Where scales are applied outside of the
// device, sums leave it for every block of K, as in DeepGEMM; where a scale
// belongs to all of K, the product is made a second time with sums that leave
// every promote products, unless promote is 0 or at least K.
//
// Predicted is the root of the mean of V = Σ (δa² b² + a² δb²), K products for
// each output, with δa and δb the errors of elements: the variance of E if
// signs of errors are random. It leaves out what errors have as a mean.
//
// The error says that a recipe cannot be applied, or that it makes numbers
// which are not finite.
func (l *Layer) Errors(onA, onB quant.Recipe, devices []tcore.Device, promote int) (Errors, error) {
	qa, err := onA.Quantise(l.a, quant.Left)
	if err != nil {
		return Errors{}, err
	}
	qb, cols, err := l.quantiseB(onB)
	if err != nil {
		return Errors{}, err
	}
	a, b := l.left(func(i, j int) float64 { return float64(l.a.Data[i*l.a.Stride+j]) }), l.right(func(i, j int) float64 { return float64(l.b.Data[i*l.b.Stride+j]) }, l.cols)
	x, y := l.left(number(qa)), l.right(number(qb), cols)
	for name, z := range map[string]blas64.General{onA.Name: x, onB.Name: y} {
		for _, v := range z.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Errors{}, fmt.Errorf("audit: recipe %q makes %v of a number", name, v)
			}
		}
	}
	var e Errors
	e.Activations = math.Sqrt(mean(minus(x, a), b)) / l.size
	e.Weights = math.Sqrt(mean(a, minus(y, b))) / l.size
	e.Predicted = math.Hypot(e.Activations, e.Weights)
	exact := matrix.Product64(x, y)
	errors := minus(exact, l.d)
	e.Measured, e.Backward = rms(errors.Data)/l.size, rms(errors.Data)/l.mean
	for i, v := range errors.Data {
		if v != 0 {
			e.Largest = max(e.Largest, math.Abs(v)/l.abs.Data[i])
		}
	}
	for _, d := range devices {
		for _, every := range steps(qa, qb, d, promote) {
			e.Devices = append(e.Devices, l.accumulated(l.run(qa, qb, cols, d, every), exact, d.Name, every))
		}
	}
	return e, nil
}

// accumulated compares D̂ with ÂB̂ and D.
func (l *Layer) accumulated(z, exact blas64.General, device string, every int) Accumulated {
	a := Accumulated{Device: device, Promote: every}
	var added, total []float64
	for i, v := range z.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			a.Overflow++
			continue
		}
		added, total = append(added, v-exact.Data[i]), append(total, v-l.d.Data[i])
	}
	if added != nil {
		a.RMS, a.Total = rms(added)/l.size, rms(total)/l.size
	}
	return a
}

// number returns what codes and scales stand for, in binary64.
func number(q *quant.Quantised) func(i, j int) float64 {
	t := float64(q.TensorScale())
	return func(i, j int) float64 { return float64(q.Number(i, j)) * float64(q.Scale(i, j)) * t }
}

// mean returns the mean over all i, j of Σ xᵢₖ² yₖⱼ².
func mean(x, y blas64.General) float64 {
	sum := 0.0
	for k := range x.Cols {
		left, right := 0.0, 0.0
		for i := range x.Rows {
			left += x.Data[i*x.Stride+k] * x.Data[i*x.Stride+k]
		}
		for _, v := range y.Data[k*y.Stride : k*y.Stride+y.Cols] {
			right += v * v
		}
		sum += left * right
	}
	return sum / float64(x.Rows) / float64(y.Cols)
}
