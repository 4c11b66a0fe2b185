package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
	"gonum.org/v1/gonum/blas/blas32"
)

// What the controls of notebook 9 offer.
var (
	exploredFormats     = []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.Binary32, tcore.Binary64}
	exploredConfidences = []string{"0.5", "0.9", "0.99", "0.999", "0.9999", "1-1e-6", "1-1e-8", "1-1e-10", "1-1e-12", "1-1e-15"}
	exploredMachines    = append(slices.Clone(machines[:4]),
		Machine{"FMAs in binary32", tcore.Kernel{Device: tcore.IEEEF16}, viz.Series{}},
		Machine{"Hopper, e4m3", tcore.Kernel{Device: tcore.HopperE4M3}, viz.Series{}},
		Machine{"Hopper, D in binary16", tcore.Kernel{Device: tcore.HopperF16F16}, viz.Series{}},
	)
	exploredData = []bound.Distribution{bound.Uniform(-1, 1), bound.Uniform(0, 1), bound.Normal(0, 1), bound.Uniform(1, 2)}
)

// formatControl is the list of formats.
func formatControl(start tcore.Format) viz.Control {
	c := viz.Control{Label: "format", List: true}
	for i, f := range exploredFormats {
		c.Values = append(c.Values, f.Name)
		if f == start {
			c.Start = i
		}
	}
	return c
}

// confidenceControl is the slider of confidences, at 99 %.
func confidenceControl(kept ...int) viz.Control {
	c := viz.Control{Label: "confidence", Start: 2, Kept: kept}
	for _, s := range exploredConfidences {
		c.Values = append(c.Values, confidenceOf(s).String())
	}
	return c
}

func confidenceOf(s string) roundoff.Failure {
	f, err := roundoff.ParseConfidence(s)
	if err != nil {
		panic(err) // it stands above
	}
	return f
}

// lengthControl is the slider of n, four values an octave up to 2^20, kept where n is a power of 16.
func lengthControl() viz.Control {
	c := viz.Control{Label: "n", Start: 4 * 8}
	for i := range 4*20 + 1 {
		c.Values = append(c.Values, strconv.Itoa(quarterOctave(i)))
		if i%16 == 0 {
			c.Kept = append(c.Kept, i)
		}
	}
	return c
}

// quarterOctave returns 2^(i/4), to the next integer.
func quarterOctave(i int) int { return int(math.Round(math.Exp2(float64(i) / 4))) }

// ExploreLambda returns Lemma 2 against λ: the bound γ̃ₙ(λ) that it buys, beside γₙ, and the
// probability 1 - P_B(λ, u, n) that it is exceeded. Controls are format, n and λ.
func ExploreLambda() viz.Explorer {
	λs := viz.Control{Label: "λ", Start: 11}
	for i := 1; i <= 48; i++ {
		λs.Values = append(λs.Values, strconv.FormatFloat(float64(i)/4, 'g', -1, 64))
		if i%4 == 0 && (i <= 16 || i%16 == 0) {
			λs.Kept = append(λs.Kept, i-1)
		}
	}
	return viz.Explorer{
		Controls: []viz.Control{formatControl(tcore.Binary16), lengthControl(), λs},
		Draw: func(at []int) *viz.Chart {
			return lambdaFigure(exploredFormats[at[0]], quarterOctave(at[1]), float64(at[2]+1)/4)
		},
	}
}

// lambdaFigure draws one setting of ExploreLambda.
func lambdaFigure(f tcore.Format, n int, λ float64) *viz.Chart {
	u := f.UnitRoundoff()
	γ, tilde, failure := roundoff.Gamma(n, u), roundoff.GammaTilde(n, u, λ), roundoff.VIBEAFailure(λ, u, n)
	against := fmt.Sprintf("%s times γₙ", digits(tilde/γ, 2))
	if isInf(γ) {
		against = "where there is no γₙ"
	}
	promise := fmt.Sprintf("holds with a probability of %v", failure)
	if failure.Vacuous() {
		promise = "is not promised at all"
	}
	c := viz.NewChart("explore-lambda", fmt.Sprintf(
		"At λ = %v the bound is γ̃ₙ = %s, %s, and it %s. Format %s, n = %d, by Lemma 2. Drawn by paper.ExploreLambda.",
		λ, digits(tilde, 3), against, promise, f.Name, n))
	x := viz.Axis{Label: "λ", Min: 0, Max: 12}
	marked := viz.Series{Label: fmt.Sprintf("λ = %v", λ), Color: viz.Grey, Style: viz.Dotted}

	var λs, bounds, failing, failures []float64
	for i := 1; i <= 24; i++ {
		λ := float64(i) / 2
		λs, bounds = append(λs, λ), append(bounds, roundoff.GammaTilde(n, u, λ))
		if f := roundoff.VIBEAFailure(λ, u, n); !f.Vacuous() {
			failing, failures = append(failing, λ), append(failures, math.Exp(float64(f)))
		}
	}
	top := viz.Axis{Label: "Bound on |θₙ|", Log: true}
	top.Min, top.Max = decades(bounds[0], bounds[len(bounds)-1])
	if !isInf(γ) {
		top.Min, top.Max = decades(min(γ, bounds[0]), max(γ, bounds[len(bounds)-1]))
	}
	p := c.Panel("the bound", x, top)
	p.Line(viz.Series{Label: "γ̃ₙ(λ)", Color: viz.Probabilistic, Style: viz.Dashed}, λs, bounds)
	if !isInf(γ) {
		p.Horizontal(viz.Series{Label: "γₙ", Color: viz.Deterministic, Style: viz.Dashed}, γ)
	}
	p.Vertical(marked, λ)
	p = c.Panel("its failure", x, viz.Axis{Label: "1 − P(λ, u, n)", Log: true, Min: 1e-30, Max: 1})
	p.Line(viz.Series{Label: "at most", Color: viz.Probabilistic, Style: viz.Solid}, failing, failures)
	p.Vertical(marked, λ)
	return c
}

// ExploreBounds returns the bounds of a dot product against n. Controls are format, confidence
// and an n to be read off.
func ExploreBounds() viz.Explorer {
	return viz.Explorer{
		Controls: []viz.Control{formatControl(tcore.Binary16), confidenceControl(0, 1, 2, 3, 5, 8), lengthControl()},
		Draw: func(at []int) *viz.Chart {
			return boundsFigure(exploredFormats[at[0]], confidenceOf(exploredConfidences[at[1]]), quarterOctave(at[2]))
		},
	}
}

// dotBounds returns what bounds say of a dot product of n terms by FMAs in one format: γₙ, γ̃ₙ(λ)
// at the λ where all terms obey Lemma 2, and Higham and Mary's.
func dotBounds(format tcore.Format, n int, f roundoff.Failure) (γ float64, tilde bound.Value, hm float64) {
	fma := tcore.Device{Name: "FMAs in " + format.Name, A: format, B: format, C: format, Core: tcore.Chain{}}
	k := bound.Kernel{M: 1, N: 1, K: n, Kernel: tcore.Kernel{Device: fma}}
	return bound.Gamma.Constant(k, f).Constant, bound.VIBEAMoment.Constant(k, f), bound.HighamMary.Constant(k, f).Constant
}

// boundsFigure draws one setting of ExploreBounds.
func boundsFigure(format tcore.Format, f roundoff.Failure, n int) *viz.Chart {
	γ, tilde, hm := dotBounds(format, n, f)
	always := fmt.Sprintf("errs by no more than γₙ = %s times |x|ᵀ|y|, and", digits(γ, 3))
	if isInf(γ) {
		always = "has no γₙ, and its error relative to |x|ᵀ|y| is"
	}
	c := viz.NewChart("explore-bounds", fmt.Sprintf(
		"A dot product of n = %d terms in %s %s at %v no more than γ̃ₙ = %s. "+
			"FMAs from left to right. Lemma 2 holds for all terms together at λ = %s; Higham & Mary's bound, which needs no uniform errors, is %s. Drawn by paper.ExploreBounds.",
		n, format.Name, always, f, digits(tilde.Constant, 3), digits(tilde.Lambda, 3), digits(hm, 3)))
	p := c.Panel("", viz.Axis{Label: "Number of terms n", Log: true, Min: 1, Max: 1 << 20}, viz.Axis{Label: "Bound on |ŝ − s| / |x|ᵀ|y|", Log: true, Min: math.Pow(10, math.Floor(math.Log10(format.UnitRoundoff()))), Max: 1e2})
	series := []viz.Series{deterministic, probabilistic, highamMary}
	x, y := make([][]float64, len(series)), make([][]float64, len(series))
	for i := 0; i <= 20*4; i += 2 {
		n := quarterOctave(i)
		γ, tilde, hm := dotBounds(format, n, f)
		for j, v := range []float64{γ, tilde.Constant, hm} {
			if ended := len(y[j]) > 0 && isInf(y[j][len(y[j])-1]); !ended && (v <= 1e2 || isInf(v)) {
				x[j], y[j] = append(x[j], float64(n)), append(y[j], v)
			}
		}
	}
	for j, s := range series {
		p.Line(s, x[j], y[j])
	}
	p.Horizontal(viz.Series{Label: "no digits left", Color: viz.Grey, Style: viz.Solid}, 1)
	p.Vertical(viz.Series{Label: fmt.Sprintf("n = %d", n), Color: viz.Grey, Style: viz.Dotted}, float64(n))
	return c
}

// explored is how the error of products grows on one machine, with one kind of data: of each
// output |e|/(|A||B|), the mean square and the largest.
type explored struct {
	Machine
	data       bound.Distribution
	rms, worst []float64
}

// The products of ExploreDevices are 16 × K × 16.
const (
	exploredOutputs = 16
	exploredSeed    = 9
)

var exploredLengths = []int{1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14}

// explore computes products of every length.
func explore(m Machine, d bound.Distribution) *explored {
	e := &explored{Machine: m, data: d}
	for _, K := range exploredLengths {
		errors := backwardErrors(m.Kernel, d, K)
		sum := 0.0
		for _, v := range errors {
			sum += v * v
		}
		e.rms, e.worst = append(e.rms, math.Sqrt(sum/float64(len(errors)))), append(e.worst, largest(errors))
	}
	return e
}

// backwardErrors returns |e|/(|A||B|) of the outputs of a product of random matrices.
func backwardErrors(k tcore.Kernel, d bound.Distribution, K int) []float64 {
	const n = exploredOutputs
	rng := rand.New(rand.NewPCG(exploredSeed, uint64(K)))
	random := func(rows, cols int, f tcore.Format) blas32.General {
		m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = float32(f.Round(d.Draw(rng), tcore.ToNearestEven))
		}
		return m
	}
	a, b := random(n, K, k.A), random(K, n, k.B)
	exact, err := tcore.ExactGEMM(a, b)
	if err != nil {
		panic(err) // all are finite
	}
	sizes, err := tcore.ExactAbsGEMM(a, b)
	if err != nil {
		panic(err)
	}
	z := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
	k.Device.GEMM(a, b, blas32.General{}, z)
	return ratios(exact.Error(z), sizes.Float64())
}

// ExploreDevices returns the error of a product against K and the tightest bounds that hold.
// Controls are device, distribution of the entries, and confidence.
func ExploreDevices() viz.Explorer {
	devices, data := viz.Control{Label: "device", List: true, Start: 3}, viz.Control{Label: "entries", List: true, Start: 1}
	var runs []func() *explored
	for _, m := range exploredMachines {
		devices.Values = append(devices.Values, m.Name)
		for _, d := range exploredData {
			runs = append(runs, sync.OnceValue(func() *explored { return explore(m, d) }))
		}
	}
	for _, d := range exploredData {
		data.Values = append(data.Values, d.Name)
	}
	return viz.Explorer{
		Controls: []viz.Control{devices, data, confidenceControl(1, 2, 8)},
		Draw: func(at []int) *viz.Chart {
			return runs[at[0]*len(exploredData)+at[1]]().figure(confidenceOf(exploredConfidences[at[2]]))
		},
	}
}

// tightest returns the tightest bounds that hold, once nothing and once the distribution known.
func (e *explored) tightest(K int, f roundoff.Failure) (unknown, known bound.Result) {
	k := bound.Kernel{M: exploredOutputs, N: exploredOutputs, K: K, Kernel: e.Kernel}
	for _, best := range []*bound.Result{&unknown, &known} {
		results, err := bound.Evaluate(k, f)
		if err != nil {
			panic(err) // the distributions are in order
		}
		*best, _ = bound.Tightest(results)
		k.X, k.Y = e.data, e.data
	}
	return unknown, known
}

// figure draws one setting of ExploreDevices.
func (e *explored) figure(f roundoff.Failure) *viz.Chart {
	var unknown, known []float64
	var best bound.Result
	for _, K := range exploredLengths {
		var u bound.Result
		u, best = e.tightest(K, f)
		unknown, known = append(unknown, u.Constant), append(known, best.Constant)
	}
	last := len(exploredLengths) - 1
	c := viz.NewChart("explore-devices", fmt.Sprintf(
		"On %s with entries ~ %s the largest error at K = %d is %s |A||B|, and the tightest bound that holds, %s, is %s times as large at %v. "+
			"Of the outputs of %d × K × %d, seed %d; bounds for all of them together, once with nothing known of the data and once with their law. Drawn by paper.ExploreDevices.",
		e.Name, e.data.Name, exploredLengths[last], digits(e.worst[last], 2), best.Bound, digits(best.Constant/e.worst[last], 2), f,
		exploredOutputs, exploredOutputs, exploredSeed))
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true, Min: 16, Max: 1 << 14}, viz.Axis{Label: "|d̂ − d| / (|A||B|)", Log: true, Min: 1e-9, Max: 10})
	for _, s := range []struct {
		viz.Series
		y []float64
	}{
		{viz.Series{Label: "bound, data unknown", Color: viz.Deterministic, Style: viz.Dashed}, unknown},
		{viz.Series{Label: "bound, data known", Color: viz.Probabilistic, Style: viz.Dashed}, known},
		{viz.Series{Label: "largest error", Color: viz.Observed}, e.worst},
		{viz.Series{Label: "root mean square", Color: viz.Second}, e.rms},
	} {
		var x, y []float64
		for i, v := range s.y {
			if v > 0 { // no error has no place on the axis
				x, y = append(x, float64(exploredLengths[i])), append(y, v)
			}
		}
		if len(x) > 0 {
			p.Line(s.Series, x, y)
		}
	}
	return c
}
