package quantisation

import (
	"cmp"
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// weighted returns the tilted sum of E_00 from the definition, term by term.
func (s StochasticProduct) weighted(θ float64) (z tilted) {
	for k := range s.a.mean.Cols {
		var q fourPoint
		s.term(&q, 0, k, 0)
		m, w := 0.0, [4]float64{}
		for l, v := range q.value {
			w[l] = q.weight[l] * math.Exp(θ*v)
			m += w[l]
		}
		mean := 0.0
		for l, v := range q.value {
			mean += w[l] / m * v
		}
		z.cumulant += math.Log(m)
		z.mean += mean
		for l, v := range q.value {
			z.variance += w[l] / m * math.Pow(v-mean, 2)
			z.cubes += w[l] / m * math.Pow(math.Abs(v-mean), 3)
		}
	}
	return z
}

func TestTilt(t *testing.T) {
	for name, make := range data {
		a, b := make(1, 20, 1, rand.New(rand.NewPCG(5, 1)))
		s := stochastic(t, tcore.E2M1, IdealBits, a, b)
		for _, θ := range []float64{-5, -0.3, 0, 0.3, 2, 10} {
			got, want := tilt(s.terms(nil, 0, 0), θ), s.weighted(θ)
			if math.Abs(got.cumulant-want.cumulant) > 1e-12*want.cumulant+1e-14 || math.Abs(got.mean-want.mean) > 1e-12*math.Abs(want.mean)+1e-12 {
				t.Errorf("%s, θ = %v: %+v, want %+v", name, θ, got, want)
			}
			near(t, name+", variance", got.variance, want.variance, 1e-9)
			near(t, name+", cubes", got.cubes, want.cubes, 1e-9)
		}
	}
}

// The tails that are found are those of a fine grid of θ.
func TestTailsAreTheLeast(t *testing.T) {
	for name, make := range data {
		a, b := make(1, 30, 1, rand.New(rand.NewPCG(5, 0)))
		s := stochastic(t, tcore.E2M1, IdealBits, a, b)
		for _, f := range []roundoff.Failure{roundoff.FailureOf(0.9), -14} {
			l := math.Ln2 - float64(f)
			chernoff, refined := 0.0, 0.0
			for _, sign := range []float64{-1, 1} {
				least, tail := math.Inf(1), math.Inf(1)
				for θ := 0.05; θ < 20; θ *= 1.004 {
					z := s.weighted(sign * θ)
					least = min(least, (l+z.cumulant)/θ)
					factor := 1/(θ*math.Sqrt(2*math.Pi*z.variance)) + 2*0.56*z.cubes/math.Pow(z.variance, 1.5)
					if math.Exp(z.cumulant-θ*sign*z.mean)*factor <= math.Exp(-l) {
						tail = min(tail, sign*z.mean)
					}
				}
				chernoff, refined = max(chernoff, least), max(refined, min(least, tail))
			}
			near(t, name+", Chernoff", s.Chernoff(f).Data[0], chernoff, 1e-5)
			if got := s.Tilted(f).Data[0]; got > refined*1.004 || got < refined*0.996 || got > s.Chernoff(f).Data[0] {
				t.Errorf("%s, f = %v: tilted %v, want %v", name, f, got, refined)
			}
		}
	}
}

// A tightness is the largest |E|/t over the outputs of one product, for t of
// five bounds that hold for all outputs with a probability of 99 %. All but the
// first are computed for the 16 outputs of largest E/√V alone, so theirs may be
// larger.
type tightness struct{ subGaussian, bernstein, chernoff, refined, tightest float64 }

func tightnessOf(t *testing.T, f tcore.Format, a, b blas64.General, seed uint64) (τ tightness) {
	t.Helper()
	const bits = 32
	s := stochastic(t, f, bits, a, b)
	p, err := Known(s.a.Mean(), s.b.Mean(), drawn(f, bits, a, 2*seed), drawn(f, bits, b, 2*seed+1))
	if err != nil {
		t.Fatal(err)
	}
	E, V := p.Error(), s.Variance()
	all := roundoff.FailureOf(0.99).Split(float64(len(E.Data)))
	for at, v := range s.SubGaussian(all).Data {
		τ.subGaussian = max(τ.subGaussian, math.Abs(E.Data[at])/v)
	}
	z := elementwise(func(e, v float64) float64 { return math.Abs(e) / math.Sqrt(v) }, E, V)
	order := make([]int, len(z.Data))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(z.Data[j], z.Data[i]) })
	for _, at := range order[:16] {
		one, e := s.output(at/E.Cols, at%E.Cols), math.Abs(E.Data[at])
		τ.bernstein = max(τ.bernstein, e/one.Bernstein(all).Data[0])
		τ.chernoff = max(τ.chernoff, e/one.Chernoff(all).Data[0])
		τ.refined = max(τ.refined, e/one.Tilted(all).Data[0])
		τ.tightest = max(τ.tightest, e/one.Tightest(all).Data[0])
	}
	return τ
}

// output returns the product of one row and one column.
func (s StochasticProduct) output(i, j int) StochasticProduct {
	row := func(m blas64.General) blas64.General {
		return blas64.General{Rows: 1, Cols: m.Cols, Stride: m.Cols, Data: m.Data[i*m.Stride:]}
	}
	column := func(m blas64.General) blas64.General {
		return blas64.General{Rows: m.Rows, Cols: 1, Stride: m.Stride, Data: m.Data[j:]}
	}
	return Stochastic(TwoPoint{row(s.a.mean), row(s.a.low), row(s.a.high)}, TwoPoint{column(s.b.mean), column(s.b.low), column(s.b.high)})
}

// kinds are data of which the distribution is unknown to a bound, or none.
var kinds = []string{"constants", "AR(1)", "sorted", "N(0,1)"}

// Of 8192 outputs the largest error is more than 0.6 of the tilted bound, in
// the mean over five products, and of the tightest one in each. Where all rows
// are nearly equal, as sorted ones, outputs share their errors, so that the
// largest of them is that of a few.
func TestTightnessOfStochasticRounding(t *testing.T) {
	seeds := 1
	if *whole {
		seeds = 5
	}
	for _, K := range []int{256, 4096, 32768} {
		if K > 256 && testing.Short() || K > 4096 && !*whole {
			continue
		}
		M, N := 1024, 8
		if K > 4096 { // less memory
			M, N = 128, 64
		}
		for _, name := range kinds {
			for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
				r := rand.New(rand.NewPCG(7, uint64(K)))
				least, mean := tightness{1, 1, 1, 1, 1}, 0.0
				for seed := range seeds {
					a, b := data[name](M, K, N, r)
					τ := tightnessOf(t, f, a, b, uint64(seed))
					if most := max(τ.subGaussian, τ.bernstein, τ.chernoff, τ.refined, τ.tightest); most > 1 {
						t.Errorf("%s, %s, K = %d: an error is %.2f of a bound", name, f.Name, K, most)
					}
					least = tightness{min(least.subGaussian, τ.subGaussian), min(least.bernstein, τ.bernstein),
						min(least.chernoff, τ.chernoff), min(least.refined, τ.refined), min(least.tightest, τ.tightest)}
					mean += τ.refined / float64(seeds)
				}
				t.Logf("%-9s %s K = %-4d least of %d: %.2f; mean of the last but one %.2f", name, f.Name, K, seeds, least, mean)
				if mean < 0.6 && seeds > 1 || least.refined < 0.55 || least.tightest < 0.6 {
					t.Errorf("%s, %s, K = %d: τ %.2f in the mean of %d, %.2f and of the tightest bound %.3f at least, want 0.6, 0.55 and 0.6",
						name, f.Name, K, mean, seeds, least.refined, least.tightest)
				}
			}
		}
	}
}

var layer = flag.String("layer", "", "A.npy,B.npy: test stochastic rounding of these binary32 matrices, such as a layer of a network")

// Of a layer of a network the largest error is more than 0.6 of the tightest
// bound as well, in each of five draws of the random bits.
func TestTightnessOfStochasticRoundingOfALayer(t *testing.T) {
	nameA, nameB, found := strings.Cut(*layer, ",")
	if !found {
		t.Skip("needs -layer A.npy,B.npy")
	}
	a, b := layerOf(t, nameA), layerOf(t, nameB)
	for seed := range uint64(5) {
		τ := tightnessOf(t, tcore.E4M3, a, b, seed)
		t.Logf("%d × %d × %d, seed %d: %.2f", a.Rows, a.Cols, b.Cols, seed, τ)
		if most := max(τ.subGaussian, τ.bernstein, τ.chernoff, τ.refined, τ.tightest); most > 1 || τ.tightest < 0.6 {
			t.Errorf("seed %d: %.2f, want 1 at most, and 0.6 of the tightest", seed, τ)
		}
	}
}

// layerOf reads a matrix of binary32.
func layerOf(t *testing.T, name string) blas64.General {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := npy.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var data []float32
	if err := r.Read(&data); err != nil {
		t.Fatal(err)
	}
	shape := r.Header.Descr.Shape
	if len(shape) != 2 || r.Header.Descr.Fortran {
		t.Fatalf("%s: shape %v, want a matrix in the order of C", name, shape)
	}
	return matrix.Float64(blas32.General{Rows: shape[0], Cols: shape[1], Stride: shape[1], Data: data})
}

// A file is read row by row, as NumPy stores it.
func TestLayerOf(t *testing.T) {
	const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	file, err := binary.Append(append(file, header...), binary.LittleEndian, []float32{1, 2, 3, 4, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	want := blas64.General{Rows: 2, Cols: 3, Stride: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
	if got := layerOf(t, name); !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

// One output is rounded many times: the errors exceed bounds of 90, 99 and 99.9
// % no more often than these say.
func TestCoverageOfStochasticRounding(t *testing.T) {
	for _, K := range []int{256, 4096} {
		runs := 2_000_000 / K
		if *whole {
			runs = 40_000_000 / K
		}
		for _, name := range kinds {
			for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
				r := rand.New(rand.NewPCG(8, uint64(K)))
				a, b := data[name](1, K, 1, r)
				s := stochastic(t, f, IdealBits, a, b)
				e := s.errors(runs, r)
				for _, ζ := range []float64{1e-1, 1e-2, 1e-3} {
					failure := roundoff.FailureOf(1 - ζ)
					var shares [5]float64
					for i, bound := range []blas64.General{s.SubGaussian(failure), s.Bernstein(failure), s.Chernoff(failure), s.Tilted(failure), s.Tightest(failure)} {
						shares[i] = exceeding(e, bound.Data[0])
						if shares[i] > ζ+3*math.Sqrt(ζ/float64(runs)) {
							t.Errorf("%s, %s, K = %d: bound %d fails with %v, want %v", name, f.Name, K, i, shares[i], ζ)
						}
					}
					t.Logf("%-9s %s K = %-4d of %d: %.0e %.1e", name, f.Name, K, runs, ζ, shares)
				}
				if z := sample.RMS(e) / math.Sqrt(s.Variance().Data[0]); math.Abs(z-1) > 4/math.Sqrt(float64(runs)) {
					t.Errorf("%s, %s, K = %d: rms of E/√V = %v, want 1", name, f.Name, K, z)
				}
			}
		}
	}
}

// errors draws the error of output (0, 0) so many times.
func (s StochasticProduct) errors(runs int, r *rand.Rand) []float64 {
	e := make([]float64, runs)
	for k := range s.a.mean.Cols {
		a, la, ha := s.a.at(0, k)
		b, lb, hb := s.b.at(k, 0)
		pa, pb := probability(a, la, ha), probability(b, lb, hb)
		for i := range e {
			x, y := la, lb
			if r.Float64() < pa {
				x = ha
			}
			if r.Float64() < pb {
				y = hb
			}
			e[i] += x*y - a*b
		}
	}
	return e
}

// exceeding returns the share of numbers of magnitude above t.
func exceeding(e []float64, t float64) float64 {
	n := 0.0
	for _, v := range e {
		if math.Abs(v) > t {
			n++
		}
	}
	return n / float64(len(e))
}
