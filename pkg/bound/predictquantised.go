package bound

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// A TypicalError is the error to be expected of an output of a product of
// quantised factors, D̂ - AB, and its parts, relative to the mean of |A||B|.
type TypicalError struct {
	Quantisation ErrorPart // ÂB̂ - AB
	Accumulation ErrorPart // sums on the device, promotion and split K
	Storing      float64   // the root mean square of what scales outside of the device and rounding to the format of D add
}

// An ErrorPart is what is expected of one part of an error: its mean over all
// outputs, which does not average out, and its standard deviation.
type ErrorPart struct{ Drift, Deviation float64 }

// RMS returns the root mean square of the error: the drifts are added, and then
// the squares. That takes the parts as uncorrelated.
func (e TypicalError) RMS() float64 {
	drift := e.Quantisation.Drift + e.Accumulation.Drift
	return math.Sqrt(drift*drift + square(e.Quantisation.Deviation) + square(e.Accumulation.Deviation) + square(e.Storing))
}

func square(x float64) float64 { return x * x }

// PredictQuantised returns a prediction of the error of an output where recipes
// quantise A and B, before anything is computed on the device.
//
// Given laws of independent elements, what quantisation loses is that of
// package quantisation, from the laws alone. What the sums lose is predicted as
// by [Predict], for numbers that are drawn and quantised by the recipes, with
// the median of the greatest element for the scale of a row, column or matrix.
//
// Given matrices, what quantisation loses is known, as are the outputs. If a
// recipe rounds at random, its mean and variance are known. What the sums lose
// is predicted as if the numbers that the device multiplies, or their blocks
// with a scale, were drawn from these matrices independently.
//
// Where scales of blocks multiply the sums of Promote products outside of the
// device, these sums have the errors of sums of the codes, which count as much
// as the scales are large; the roundings of the products of scales, far below
// those of the sums, are left out.
//
// Each rounding by a scale outside of the device, or to the format of D, is
// taken as uniform between neighbouring numbers.
//
// The returned error says why there is no prediction. PredictQuantised panics
// if the sizes or the machine of the problem are invalid.
//
// Source: derived here.
func PredictQuantised(k Problem) (TypicalError, error) {
	k.check()
	if k.Recipes == nil {
		return TypicalError{}, k.noPrediction("no recipe quantises its factors")
	}
	if why := k.Recipes.refuses(k.Machine); why != "" {
		return TypicalError{}, k.noPrediction(why)
	}
	var q typicalProduct
	var err error
	if k.Given != nil {
		q, err = k.typicalGiven()
	} else {
		q, err = k.typicalLaws()
	}
	if err != nil {
		return TypicalError{}, k.noPrediction(err.Error())
	}
	storing, why := k.typicalStoring(q.outputs)
	if why != "" {
		return TypicalError{}, k.noPrediction(why)
	}
	p, err := Predict(q.sums)
	if err != nil {
		return TypicalError{}, err
	}
	return TypicalError{
		Quantisation: ErrorPart{q.error.Drift / q.size, q.error.Deviation / q.size},
		Accumulation: ErrorPart{p.Backward * q.sizes, p.BackwardDeviation * q.sizes * q.spread},
		Storing:      storing / q.size,
	}, nil
}

// noPrediction returns the error that says why there is no prediction.
func (k Problem) noPrediction(why string) error {
	return fmt.Errorf("bound: no prediction for %s: %s", k.Device.Name, why)
}

// A typicalProduct is what a prediction takes of quantised factors.
type typicalProduct struct {
	error   ErrorPart // of ÂB̂ - AB
	size    float64   // the mean of |A||B|
	sizes   float64   // that of |Â||B̂|, over it
	spread  float64   // the root mean square of the scales outside of the device, over their mean
	outputs []float64 // of AB, or a sample that stands for them
	sums    Problem   // of the numbers that the device multiplies
}

// typicalGiven returns what is known of given matrices.
func (k Problem) typicalGiven() (q typicalProduct, err error) {
	g := k.Given
	if k.M != g.A.Rows || k.K != g.A.Cols || k.N != g.B.Cols {
		return q, fmt.Errorf("it has the sizes %d × %d × %d, and the matrices %d × %d × %d", k.M, k.K, k.N, g.A.Rows, g.A.Cols, g.B.Cols)
	}
	scaled := k.Device.ScaleBlock > 0
	a, err := newCodes(k.Recipes.A, quant.Left, g.A, scaled)
	if err != nil {
		return q, err
	}
	b, err := newCodes(k.Recipes.B, quant.Right, g.B, scaled)
	if err != nil {
		return q, err
	}
	means, err := quantisation.Known(g.A, g.B, a.random.Mean(), b.random.Mean())
	if err != nil {
		return q, err
	}
	e := means.Error().Data
	q.error.Drift = mean(e)
	variance := mean(quantisation.Stochastic(a.random, b.random).Variance().Data)
	for _, v := range e {
		variance += square(v-q.error.Drift) / float64(len(e))
	}
	q.error.Deviation = math.Sqrt(variance)
	q.outputs = matrix.Product64(g.A, g.B).Data
	if q.size = mean(sizes(g.A, g.B).Data); q.size == 0 {
		return q, fmt.Errorf("|A||B| is 0")
	}
	q.sizes = mean(sizes(a.values, b.values).Data) / q.size
	q.sums = k.ofNumbers()
	var s, t float64
	if q.sums.X, s, err = drawnCodes(k.Recipes.A, quant.Left, g.A, scaled); err != nil {
		return q, err
	}
	if q.sums.Y, t, err = drawnCodes(k.Recipes.B, quant.Right, g.B, scaled); err != nil {
		return q, err
	}
	q.spread = s * t
	if scaled {
		q.sums.blocks = &quantisedBlocks{k.Recipes,
			vectorsOf(g.A.Rows, k.K, k.Device.ScaleBlock, func(i, l int) float64 { return g.A.Data[i*g.A.Stride+l] }),
			vectorsOf(g.B.Cols, k.K, k.Device.ScaleBlock, func(j, l int) float64 { return g.B.Data[l*g.B.Stride+j] })}
	}
	return q, nil
}

// drawnCodes returns the distribution of the numbers of the codes of a matrix,
// with the scales of blocks if the device takes them; if it does not, spread is
// their root mean square over their mean. If the recipe rounds at random, they
// are those of one draw.
func drawnCodes(r quant.Recipe, side quant.Side, x blas64.General, scaled bool) (numbers Distribution, spread float64, err error) {
	q, err := r.Quantise(single(x), side)
	if err != nil {
		return Distribution{}, 0, err
	}
	z := matrix.New64(x.Rows, x.Cols)
	var sum, squares float64
	for i := range x.Rows {
		for j := range x.Cols {
			number, scale := float64(q.Number(i, j)), float64(q.Scale(i, j))
			if scaled {
				number, scale = number*scale, 1
			}
			z.Data[i*z.Stride+j] = number
			sum, squares = sum+scale, squares+square(scale)
		}
	}
	numbers, err = MomentsOf("the codes of "+side.String(), z)
	return numbers, math.Sqrt(squares*float64(len(z.Data))) / sum, err
}

// ofNumbers returns the problem of adding the products of the numbers that the
// device multiplies, of which the distributions are still to be set.
func (k Problem) ofNumbers() Problem {
	z := k.ofCodes(Range{}, Range{})
	z.Output = tcore.Format{}
	return z
}

// vectorsOf returns how to draw part of a row, which begins with a block, of a
// matrix of n rows of K elements. A part that is longer is filled with zeros.
func vectorsOf(n, K, block int, at func(i, l int) float64) func([]float32, *rand.Rand) {
	return func(dst []float32, rng *rand.Rand) {
		starts := max(0, K-len(dst))/block + 1
		i, start := rng.IntN(n), block*rng.IntN(starts)
		clear(dst)
		for l := range min(len(dst), K) {
			dst[l] = float32(at(i, start+l))
		}
	}
}

// typicalLaws returns what is known of independent elements of known laws.
func (k Problem) typicalLaws() (q typicalProduct, err error) {
	x, y := k.X.of().law, k.Y.of().law
	switch {
	case x == nil || y == nil || !x.wide() || !y.wide():
		return q, fmt.Errorf("it takes the matrices, or distributions with a density")
	case k.Recipes.outside(true):
		return q, fmt.Errorf("a scale of the tensor besides those of blocks, want the matrices")
	case k.Device.ScaleBlock > 0 && k.K%k.Device.ScaleBlock != 0:
		return q, fmt.Errorf("K = %d is no multiple of %d, the length of blocks", k.K, k.Device.ScaleBlock)
	}
	errors, err := k.quantisationErrors(*x, *y, roundoff.FailureOf(0.99))
	if err != nil {
		return q, err
	}
	e := errors()
	q.error = ErrorPart{e.Mean, e.Deviation}
	p, K := k.ProductMoments(), float64(k.K)
	q.size, q.spread = K*p.Abs, 1
	q.outputs = normalSample(K*p.Mean, math.Sqrt(K*p.Variance))
	q.sums = k.ofNumbers()
	if k.Device.ScaleBlock > 0 {
		draw := func(d Distribution) func([]float32, *rand.Rand) {
			return func(dst []float32, rng *rand.Rand) { fill(dst, d, tcore.Binary32, tcore.ToNearestEven, rng) }
		}
		q.sums.blocks = &quantisedBlocks{k.Recipes, draw(k.X), draw(k.Y)}
		q.sums.X, q.sums.Y = k.blockMoments(q.sums.blocks)
		q.sizes = q.sums.ProductMoments().Abs / p.Abs
		return q, nil
	}
	a, s := typicalCodes(k.Recipes.A, k.X, k.M, k.K, 1)
	b, t := typicalCodes(k.Recipes.B, k.Y, k.N, k.K, 2)
	q.sums.X, q.sums.Y = a, b
	q.sizes = a.MeanAbs() * s * b.MeanAbs() * t / p.Abs
	return q, nil
}

// samples is the number of elements of a law that are drawn to be quantised.
const samples = 1 << 16

// typicalCodes returns the distribution of the numbers of the codes of a matrix
// of so many vectors of K elements, if all scales are that of the median of the
// greatest in a block, and that scale.
func typicalCodes(r quant.Recipe, d Distribution, vectors, K int, stream uint64) (codes Distribution, scale float64) {
	part := func(block, of int) float64 {
		if block == 0 {
			return float64(of)
		}
		return float64(min(block, of))
	}
	n := part(r.Block.Along, K) * part(r.Block.Across, vectors)
	r.Block = quant.Block{Across: 1} // one scale, for all of a row
	x := matrix.New(1, samples+1)
	fill(x.Data, d, tcore.Binary32, tcore.ToNearestEven, rand.New(rand.NewPCG(dataSeed, stream)))
	greatest := float32(d.of().medianOfGreatest(n))
	for i, v := range x.Data {
		x.Data[i] = max(-greatest, min(v, greatest))
	}
	x.Data[samples] = greatest
	q, err := r.Quantise(x, quant.Left)
	if err != nil {
		panic("bound: " + err.Error()) // its elements are finite, and whole rows have a scale
	}
	z := make([]float64, samples)
	for i := range z {
		z[i] = float64(q.Number(0, i))
	}
	return numbersOf(d, z), float64(q.Scale(0, 0))
}

// medianOfGreatest returns the median of the greatest of n sizes.
func (o *facts) medianOfGreatest(n float64) float64 {
	tail := &facts{DataMoments: o.DataMoments, beyond: o.beyond}
	if o.family == normalFamily {
		σ := math.Sqrt2 * math.Sqrt(o.variance())
		tail.beyond = func(x float64) float64 { return (math.Erfc((x-o.Mean)/σ) + math.Erfc((x+o.Mean)/σ)) / 2 }
	}
	if tail.beyond == nil {
		return o.MaxAbs
	}
	return min(o.MaxAbs, tail.quantile(-math.Expm1(-math.Ln2/n)))
}

// numbersOf returns the distribution of numbers that were made of those of d.
func numbersOf(d Distribution, x []float64) Distribution {
	if d.Symmetric() {
		for i := range x[:len(x)/2] {
			x[len(x)/2+i] = -x[i]
		}
	}
	z, _ := MomentsOf("quantised "+d.String(), blas64.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}) // all are finite
	m := z.Moments()
	if m.Symmetric = d.Symmetric(); m.Symmetric {
		m.Mean = 0
	}
	return FromMoments(z.String(), m, z.of().draw)
}

// blockMoments returns the distributions of quantised numbers of A and B.
func (k Problem) blockMoments(blocks *quantisedBlocks) (x, y Distribution) {
	sums := k.ofNumbers()
	sums.blocks = blocks
	f := sums.newRandomFactors(samples/k.Width(), k.Width(), rand.New(rand.NewPCG(dataSeed, 4)))
	f.draw()
	return numbersOf(k.X, matrix.Float64(f.a).Data), numbersOf(k.Y, matrix.Float64(matrix.Transpose(f.b)).Data)
}

// normalSample returns numbers that stand for those of a normal distribution.
func normalSample(mean, deviation float64) []float64 {
	x := make([]float64, 256)
	for i := range x {
		x[i] = mean + deviation*math.Sqrt2*math.Erfinv((2*float64(i)+1)/float64(len(x))-1)
	}
	return x
}

// typicalStoring returns the root mean square of the roundings of outputs that
// follow the sums, or why it is not known.
func (k Problem) typicalStoring(outputs []float64) (storing float64, why string) {
	var formats []tcore.Format
	scaled := k.Device.ScaleBlock > 0
	if r := k.Recipes; r.outside(scaled) && !r.within(scaled) && !(powersOfTwo(r.A) && powersOfTwo(r.B)) {
		formats = append(formats, tcore.Binary32, tcore.Binary32) // by the scale of A, and by that of B
	}
	if out := k.output(); out.Precision < tcore.Binary32.Precision {
		formats = append(formats, out)
	}
	sum := 0.0
	for _, f := range formats {
		for _, s := range outputs {
			if math.Abs(s) > f.Max() {
				return 0, fmt.Sprintf("outputs reach %.3g, %s ends at %.3g", s, f.Name, f.Max())
			}
			sum += uniformRounding(f, s) / float64(len(outputs))
		}
	}
	return math.Sqrt(sum), ""
}

// powersOfTwo reports whether all scales of a recipe are powers of two.
func powersOfTwo(r quant.Recipe) bool {
	return r.Scale.Power != quant.NoPower && (r.Tensor == nil || r.Tensor.Power != quant.NoPower)
}

// uniformRounding returns the mean square of the error of rounding a number
// near s to f, if that is uniform between neighbouring numbers.
func uniformRounding(f tcore.Format, s float64) float64 {
	e := f.Emin
	if s != 0 {
		e = max(e, math.Ilogb(s))
	}
	return math.Ldexp(1, 2*(e-f.Precision+1)) / 12
}

// mean returns the mean of x.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
