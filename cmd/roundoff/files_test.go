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
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
)

// fill returns a matrix of a format. f fills its vectors, the rows of A or the
// columns of B, which are then rounded.
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

// A filling fills vector i of a matrix.
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

// autoregressive is AR(1) with correlation ρ.
func autoregressive(rng *rand.Rand, ρ float64) filling {
	return func(_ int, x []float64) {
		z := rng.NormFloat64()
		for k := range x {
			x[k] = z
			z = ρ*z + math.Sqrt(1-ρ*ρ)*rng.NormFloat64()
		}
	}
}

// The error is below the printed bound for files of all distributions. Bounds
// that assume random data are used if and only if the data are random.
func TestFilesOfAllKindsAreBounded(t *testing.T) {
	n, K := 8, 10000
	if testing.Short() {
		K = 1000
	}
	for _, c := range []struct {
		name    string
		refused string // text that the output must contain
		a, b    func(rng *rand.Rand) filling
	}{
		{"independent", "", uniform, uniform},
		{"sorted", "order: refused", func(r *rand.Rand) filling { return descending(uniform(r)) }, uniform},
		{"both sorted", "pairing: refused", func(r *rand.Rand) filling { return descending(uniform(r)) }, func(r *rand.Rand) filling { return descending(uniform(r)) }},
		{"correlated", "order: refused", func(r *rand.Rand) filling { return autoregressive(r, 0.99) }, func(r *rand.Rand) filling { return autoregressive(r, 0.99) }},
		{"cancelling", "order: refused", func(r *rand.Rand) filling { return halves(uniform(r), 1) }, func(r *rand.Rand) filling { return halves(uniform(r), -1) }},
		{"scaled", "one distribution: refused", func(r *rand.Rand) filling {
			return func(i int, x []float64) {
				uniform(r)(i, x)
				for k := range x {
					x[k] *= math.Ldexp(1, -i)
				}
			}
		}, uniform},
		{"softmax", "", func(r *rand.Rand) filling { return softmax(r) }, uniform},
		{"tiny", "", tiny, tiny},
		{"constant", "bits: refused", func(*rand.Rand) filling { return constant }, func(*rand.Rand) filling { return constant }},
	} {
		for _, units := range [][]tcore.Device{{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.IEEEF16(), devices.PaperCoreF32(), devices.CDNA2F16(), devices.HopperF16F16()}, {devices.HopperE4M3()}} {
			format := units[0].A
			if testing.Short() && format == tcore.E4M3 && c.name != "correlated" {
				continue
			}
			t.Run(c.name+"/"+format.Name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(241118747, 1))
				bounded(t, units, c.refused, fill(format, n, K, false, c.a(rng)), fill(format, K, n, true, c.b(rng)))
			})
		}
	}
}

// bounded checks the printed bounds on the error of AB on devices against the
// error.
func bounded(t *testing.T, units []tcore.Device, refused string, a, b blas32.General) {
	dir := t.TempDir()
	fileA, fileB := filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	for path, m := range map[string]blas32.General{fileA: a, fileB: b} {
		if err := saveMatrix(path, m); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, d := range units {
		names = append(names, d.Name)
	}
	const tolerance = 1e-3
	_, out, _ := ask(t, fmt.Sprintf("advise --tolerance 1 --device %s %s %s", devices.IEEEF32().Name, fileA, fileB))
	if refused != "" && !strings.Contains(out, refused) || refused == "" && strings.Contains(out, "order: refused") {
		t.Errorf("want %q in\n%s", refused, out)
	}
	question := fmt.Sprintf("advise --json --tolerance %v --represented=false --device %s %s %s", tolerance, strings.Join(names, ","), fileA, fileB)
	status, out, errs := ask(t, question)
	var advice []struct {
		Device, Bound, Why  string
		Constant, Underflow float64
		Excess              *float64
	}
	if err := json.Unmarshal([]byte(out), &advice); err != nil || status != 0 || len(advice) != len(units) {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	ab, err := exact.GEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := exact.AbsGEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	sizes := abs.Float64()
	for _, got := range advice {
		d := units[slices.Index(names, got.Device)]
		z := blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float32, a.Rows*b.Cols)}
		d.MultiplyAdd(a, b, blas32.General{}, z)
		if got.Excess == nil {
			t.Errorf("%s: %s", got.Device, got.Why)
			continue
		}
		worst := 0.0
		for i, e := range ab.Error(z).Data {
			if limit := got.Constant*sizes.Data[i] + got.Underflow; math.Abs(e) > limit {
				t.Errorf("%s: output %d errs by %.3g times what %s says", got.Device, i, math.Abs(e)/limit, got.Bound)
			}
			if e != 0 {
				worst = max(worst, math.Abs(e)/(tolerance**got.Excess*sizes.Data[i]))
			}
		}
		if !(worst <= 1) {
			t.Errorf("%s: %.3g times the error that meets is told from", got.Device, worst)
		}
		t.Logf("%-32s %.3e + %.1e %-22s error %.3g of it", got.Device, got.Constant, got.Underflow, got.Bound, worst)
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

// tiny draws numbers of which many are subnormal in binary16.
func tiny(rng *rand.Rand) filling {
	return func(i int, x []float64) {
		uniform(rng)(i, x)
		for k := range x {
			x[k] *= 0x1p-13
		}
	}
}

func constant(_ int, x []float64) {
	for k := range x {
		x[k] = 0.1
	}
}

// advise offers a permutation of K where it helps, and the error of the
// permuted product is below its bound.
func TestPermutationIsOffered(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 2))
	const n, K = 8, 1000
	a := fill(tcore.Binary16, n, K, false, descending(uniform(rng)))
	b := fill(tcore.Binary16, K, n, true, uniform(rng))
	dir := t.TempDir()
	fileA, fileB := filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	for path, m := range map[string]blas32.General{fileA: a, fileB: b} {
		if err := saveMatrix(path, m); err != nil {
			t.Fatal(err)
		}
	}
	question := fmt.Sprintf("advise --tolerance 1e-3 --represented=false --device %s %s %s", devices.HopperF16().Name, fileA, fileB)
	_, out, _ := ask(t, question)
	if !strings.Contains(out, "-permute SEED does that here") || strings.Contains(out, "truncated-random-data") {
		t.Errorf("sorted:\n%s", out)
	}
	_, out, _ = ask(t, question+" --permute 7")
	if !strings.Contains(out, "truncated-random-data") || !strings.Contains(out, "K is permuted") || strings.Contains(out, "refused") {
		t.Errorf("permuted:\n%s", out)
	}

	o, err := readOperands(fileA, fileB)
	if err != nil {
		t.Fatal(err)
	}
	o.Permute(7)
	for i := range n { // each output has the same products in another order
		for j := range n {
			var was, is []float64
			for k := range K {
				was = append(was, float64(a.Data[i*K+k])*float64(b.Data[k*n+j]))
				is = append(is, o.A.Data[i*K+k]*o.B.Data[k*n+j])
			}
			if slices.Equal(was, is) {
				t.Fatal("nothing is permuted")
			}
			slices.Sort(was)
			slices.Sort(is)
			if !slices.Equal(was, is) {
				t.Fatalf("output (%d, %d) has other products", i, j)
			}
		}
	}
	pa, pb, exact, err := o.Rounded(devices.HopperF16())
	if !exact || err != nil {
		t.Errorf("numbers of binary16 are rounded; %v", err)
	}
	permutedA, permutedB := filepath.Join(dir, "pa.npy"), filepath.Join(dir, "pb.npy")
	for path, m := range map[string]blas32.General{permutedA: pa, permutedB: pb} {
		if err := saveMatrix(path, m); err != nil {
			t.Fatal(err)
		}
	}
	bounded(t, []tcore.Device{devices.HopperF16(), devices.VoltaF16(), devices.IEEEF16()}, "", pa, pb)
	// Files that are permuted beforehand give the same answer.
	_, again, _ := ask(t, fmt.Sprintf("advise --tolerance 1e-3 --represented=false --device %s %s %s", devices.HopperF16().Name, permutedA, permutedB))
	if strings.Contains(again, "refused") || !strings.Contains(again, "truncated-random-data") {
		t.Errorf("permuted by hand:\n%s", again)
	}
}

// roundoff bound reads files as roundoff advise does, and emulates their
// product.
func TestBoundTakesFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 3))
	const n, K = 8, 500
	dir := t.TempDir()
	b := fill(tcore.Binary16, K, n, true, uniform(rng))
	fileB := filepath.Join(dir, "b.npy")
	if err := saveMatrix(fileB, b); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]filling{"independent": uniform(rng), "sorted": descending(uniform(rng))} {
		a, fileA := fill(tcore.Binary16, n, K, false, f), filepath.Join(dir, name+".npy")
		if err := saveMatrix(fileA, a); err != nil {
			t.Fatal(err)
		}
		z := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
		devices.HopperF16().MultiplyAdd(a, b, blas32.General{}, z)
		ab, _ := exact.GEMM(a, b)
		abs, _ := exact.AbsGEMM(a, b)
		worst := 0.0
		for i, e := range ab.Error(z).Data {
			worst = max(worst, math.Abs(e)/abs.Float64().Data[i])
		}
		random, holds := 0, 0
		for _, r := range askBound(t, "--device hopper --run "+fileA+" "+fileB) {
			c, _ := r["constant"].(float64)
			switch {
			case r["bound"] == "exact" && math.Abs(c-worst) > 1e-3*worst:
				t.Errorf("%s: the run errs by %.6g, the files by %.6g", name, c, worst)
			case r["holds"] == true && c < worst*(1-1e-3):
				t.Errorf("%s: %v holds with %.3g, the error is %.3g", name, r["bound"], c, worst)
			}
			if r["holds"] == true {
				holds++
			}
			if r["holds"] == true && r["confidence"] != 1.0 {
				random++
				if !strings.Contains(r["why"].(string), "tested on the matrices") {
					t.Errorf("%v: %v", r["bound"], r["why"])
				}
			}
		}
		if (random > 0) != (name == "independent") || holds == 0 {
			t.Errorf("%s: %d random bounds of %d hold", name, random, holds)
		}
		_, out, _ := ask(t, "bound --device hopper "+fileA+" "+fileB)
		for _, want := range []string{"underflow  lambda", "Of the elements of"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
	files := filepath.Join(dir, "sorted.npy") + " " + fileB
	if _, out, _ := ask(t, "bound --device hopper --in e4m3 "+files); !strings.Contains(out, "rounded to e4m3 and e4m3, which is not counted") {
		t.Errorf("not told that numbers are rounded:\n%s", out)
	}
	if _, out, _ := ask(t, "bound --device hopper --in e4m3 --represented "+files); strings.Contains(out, "not counted") {
		t.Errorf("told that numbers are not counted:\n%s", out)
	}
	for line, want := range map[string]string{
		"bound " + fileB:                       "or two files",
		"bound --k 8 " + files:                 "none of -m, -n, -k and -dist",
		"bound --dist U(0,1) " + files:         "none of -m, -n, -k and -dist",
		"bound --permute 1":                    "two files",
		"bound --run":                          "-dist for -run",
		"bound --kernel dot " + files:          "want -kernel gemm",
		"bound " + fileB + " " + fileB:         "they do not fit",
		"advise --tolerance 1 --permute 1":     "want two files for -permute",
		"advise --tolerance 1 --permute x x y": "invalid value",
	} {
		if status, out, errs := ask(t, line); status == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, errs, want)
		}
	}
}
