package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// fill makes a matrix of numbers of a format whose lines along K, rows of A or columns of B, are filled by
// f and then rounded.
func fill(format tcore.Format, rows, cols int, columns bool, f filling) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	n, k := rows, cols
	if columns {
		n, k = cols, rows
	}
	x := make([]float64, k)
	for i := range n {
		f(i, x)
		for l, v := range x {
			at := i*m.Stride + l
			if columns {
				at = l*m.Stride + i
			}
			m.Data[at] = float32(format.Round(v, tcore.ToNearestEven))
		}
	}
	return m
}

// A filling makes one line of a matrix.
type filling func(i int, x []float64)

func uniform(rng *rand.Rand) filling {
	return func(_ int, x []float64) {
		for k := range x {
			x[k] = rng.Float64()
		}
	}
}

func descending(f filling) filling {
	return func(i int, x []float64) {
		f(i, x)
		slices.Sort(x)
		slices.Reverse(x)
	}
}

// autoregressive is AR(1) of correlation ρ.
func autoregressive(rng *rand.Rand, ρ float64) filling {
	return func(_ int, x []float64) {
		z := rng.NormFloat64()
		for k := range x {
			x[k] = z
			z = ρ*z + math.Sqrt(1-ρ*ρ)*rng.NormFloat64()
		}
	}
}

// Whatever is in the files, the error is below the bound that is printed for it, and bounds that take
// the data as random are used where these are and where they are not, are not.
func TestFilesOfAllKindsAreBounded(t *testing.T) {
	n, K := 8, 10000
	if testing.Short() {
		K = 2000
	}
	for _, c := range []struct {
		name    string
		refused string // what is printed of it
		a, b    func(rng *rand.Rand) filling
	}{
		{"independent", "", uniform, uniform},
		{"sorted", "order: refused", func(r *rand.Rand) filling { return descending(uniform(r)) }, uniform},
		{"both sorted", "pairing: refused", func(r *rand.Rand) filling { return descending(uniform(r)) }, func(r *rand.Rand) filling { return descending(uniform(r)) }},
		{"correlated", "order: refused", func(r *rand.Rand) filling { return autoregressive(r, 0.99) }, func(r *rand.Rand) filling { return autoregressive(r, 0.99) }},
		{"cancelling", "order: refused", func(r *rand.Rand) filling { return halves(uniform(r), 1) }, func(r *rand.Rand) filling { return halves(uniform(r), -1) }},
		{"scaled", "one law: refused", func(r *rand.Rand) filling {
			return func(i int, x []float64) {
				uniform(r)(i, x)
				for k := range x {
					x[k] *= math.Ldexp(1, -i)
				}
			}
		}, uniform},
		{"softmax", "", func(r *rand.Rand) filling { return softmax(r) }, uniform},
		{"constant", "bits: refused", func(*rand.Rand) filling { return constant }, func(*rand.Rand) filling { return constant }},
	} {
		for _, devices := range [][]tcore.Device{{tcore.VoltaF16, tcore.AmpereF16, tcore.HopperF16, tcore.IEEEF16, tcore.PaperCoreF32}, {tcore.HopperE4M3}} {
			format := devices[0].A
			t.Run(c.name+"/"+format.Name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(241118747, 1))
				bounded(t, devices, c.refused, fill(format, n, K, false, c.a(rng)), fill(format, K, n, true, c.b(rng)))
			})
		}
	}
}

// bounded asks what the error of AB is on devices, and compares.
func bounded(t *testing.T, devices []tcore.Device, refused string, a, b blas32.General) {
	dir := t.TempDir()
	fileA, fileB := filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	for path, m := range map[string]blas32.General{fileA: a, fileB: b} {
		if err := writeMatrix(path, m); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, d := range devices {
		names = append(names, d.Name)
	}
	question := fmt.Sprintf("advise --tolerance 1e-3 --represented=false --device %s %s %s", strings.Join(names, ","), fileA, fileB)
	_, out, _ := ask(t, question)
	if refused != "" && !strings.Contains(out, refused) || refused == "" && strings.Contains(out, "order: refused") {
		t.Errorf("want %q in\n%s", refused, out)
	}
	status, out, errs := ask(t, question+" --json")
	var advice []struct {
		Device, Bound, Why  string
		Constant, Underflow float64
		Confidence          float64
	}
	if err := json.Unmarshal([]byte(out), &advice); err != nil || status != 0 || len(advice) != len(devices) {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	exact, err := tcore.ExactGEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := tcore.ExactAbsGEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	sizes := abs.Float64()
	for _, got := range advice {
		d := devices[slices.Index(names, got.Device)]
		z := blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float32, a.Rows*b.Cols)}
		d.GEMM(a, b, blas32.General{}, z)
		worst := 0.0
		for i, e := range exact.Error(z).Data {
			worst = max(worst, (math.Abs(e)-got.Underflow)/(got.Constant*sizes.Data[i]))
		}
		if !(worst <= 1) {
			t.Errorf("%s: error %.3g of %s", got.Device, worst, got.Bound)
		}
		t.Logf("%-32s %.3e %-22s error %.3g of it", got.Device, got.Constant, got.Bound, worst)
	}
}

func halves(f filling, sign float64) filling {
	return func(i int, x []float64) {
		f(i, x)
		for k, v := range x[:len(x)/2] {
			x[len(x)/2+k] = sign * v
		}
	}
}

func softmax(rng *rand.Rand) filling {
	return func(_ int, x []float64) {
		sum := 0.0
		for k := range x {
			x[k] = math.Exp(2 * rng.NormFloat64())
			sum += x[k]
		}
		for k := range x {
			x[k] *= 100 / sum
		}
	}
}

func constant(_ int, x []float64) {
	for k := range x {
		x[k] = 0.1
	}
}
