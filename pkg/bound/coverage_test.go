package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
)

// Every random bound that is marked as valid is violated no more often than its
// confidence allows, for single outputs. The test counts over a million outputs
// for each machine and distribution, and about a million in all for the bounds
// that read sums; with -short, over a hundredth of them.
func TestCoverage(t *testing.T) {
	outputs, read := 1000, 400 // rows, and as many columns
	if testing.Short() {
		outputs, read = 100, 40
	}
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.IEEEF32()} {
		for _, data := range []Distribution{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1)} {
			t.Run(d.Name+"/"+data.String(), func(t *testing.T) {
				k := Problem{M: 1, N: 1, K: 256, Machine: tcore.Machine{Device: d}, X: data, Y: data}
				cover(t, k, outputs, read)
			})
		}
	}
}

// cover multiplies matrices with the distributions of k, which describes one
// output, and counts violations.
func cover(t *testing.T, k Problem, outputs, read int) {
	rng := rand.New(rand.NewPCG(41, 42))
	a, b := draw(rng, outputs, k.K, k.X), draw(rng, k.K, outputs, k.Y)
	normal(k.Device.A, a)
	normal(k.Device.B, b)
	d := blas32.General{Rows: outputs, Cols: outputs, Stride: outputs, Data: make([]float32, outputs*outputs)}
	k.Device.MultiplyAdd(a, b, blas32.General{}, d)
	ab, _ := exact.GEMM(a, b)
	abs, _ := exact.AbsGEMM(a, b)
	errors, sizes := ab.Error(d), abs.Float64()
	all := k
	all.M, all.N = read, read
	run, err := Emulate(all,
		blas32.General{Rows: read, Cols: k.K, Stride: a.Stride, Data: a.Data},
		blas32.General{Rows: k.K, Cols: read, Stride: b.Stride, Data: b.Data})
	if err != nil {
		t.Fatal(err)
	}
	k.Run = run // so that a run is known; the loop below passes single outputs

	confidences := []float64{0.9, 0.99, 0.999}
	var reads []Bound
	for _, bound := range Catalogue() {
		if !bound.Model.Random || !k.knows(bound.Needs) || bound.fails(k) != "" {
			continue
		}
		if bound.Interval != nil {
			reads = append(reads, bound)
			continue
		}
		for _, p := range confidences {
			v, failures := bound.Constant(k, roundoff.FailureOf(p)), 0
			for i, e := range errors.Data {
				if math.Abs(e) > min(v.Constant*sizes.Data[i], v.Absolute) {
					failures++
				}
			}
			check(t, bound.Name, p, failures, len(errors.Data))
		}
	}
	if len(reads) == 0 {
		t.Fatal("no bound that reads sums")
	}
	failures, broken := map[string][3]int{}, map[string]int{}
	i := 0
	for o := range run {
		row, column := i/read, i%read
		i++
		e := math.Abs(errors.Data[row*errors.Stride+column])
		if got := o.Sums[len(o.Sums)-1]; got != float64(d.Data[row*d.Stride+column]) {
			t.Fatalf("output (%d, %d) is %v, emulated %v", row, column, d.Data[row*d.Stride+column], got)
		}
		for _, bound := range reads {
			n := failures[bound.Name]
			for c, p := range confidences {
				radius := bound.Interval(k, o, roundoff.FailureOf(p)).Bound()
				if e > radius {
					n[c]++
				}
				if c == 0 && e > radius/8 {
					broken[bound.Name]++
				}
			}
			failures[bound.Name] = n
		}
	}
	for _, bound := range reads {
		for c, p := range confidences {
			if bound.Name == HalfUlpUniform.Name {
				checkExact(t, bound.Name, p, failures[bound.Name][c], i)
			} else {
				check(t, bound.Name, p, failures[bound.Name][c], i)
			}
		}
		// The test can fail: an eighth of the bound is violated often.
		if rate := float64(broken[bound.Name]) / float64(i); rate < 0.1 {
			t.Errorf("an eighth of %s is broken by %v of the outputs", bound.Name, rate)
		}
	}
}

// check reports a bound that is violated too often.
func check(t *testing.T, name string, confidence float64, failures, outputs int) {
	t.Helper()
	rate := float64(failures) / float64(outputs)
	if rate > 1-confidence {
		t.Errorf("%s fails for %v of %d outputs, want at most %.3g", name, rate, outputs, 1-confidence)
	}
	t.Logf("%-24s %v: %v", name, confidence, rate)
}

// checkExact reports a bound that is to fail as often as its confidence says,
// and that fails three standard deviations more often, or less than half as
// often where that is many times.
func checkExact(t *testing.T, name string, confidence float64, failures, outputs int) {
	t.Helper()
	want, n := (1-confidence)*float64(outputs), float64(failures)
	if n > want+3*math.Sqrt(want) || want > 100 && n < want/2 {
		t.Errorf("%s fails for %d of %d outputs, want about %.3g", name, failures, outputs, want)
	}
	t.Logf("%-24s %v: %v", name, confidence, n/float64(outputs))
}
