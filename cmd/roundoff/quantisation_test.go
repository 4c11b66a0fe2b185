package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// saveDrawn writes a matrix of draws, and returns its path.
func saveDrawn(t *testing.T, path string, rows, cols int, draw func() float64) string {
	t.Helper()
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(draw())
	}
	if err := saveMatrix(path, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// askQuantisation runs roundoff quantisation with JSON, and returns its results
// by name.
func askQuantisation(t *testing.T, args string) map[string]quantisationResult {
	t.Helper()
	status, said, errs := ask(t, "quantisation -json "+args)
	if status != 0 || errs != "" {
		t.Fatalf("%s: status %d, %s", args, status, errs)
	}
	var results []quantisationResult
	if err := json.Unmarshal([]byte(said), &results); err != nil {
		t.Fatal(err)
	}
	z := map[string]quantisationResult{}
	for i, r := range results {
		z[r.Bound] = r
		if i > 0 && (r.Holds && !results[i-1].Holds || r.Holds && *r.Absolute < *results[i-1].Absolute) {
			t.Errorf("%s: %s comes after %s", args, r.Bound, results[i-1].Bound)
		}
	}
	return z
}

// Whatever is known of the factors, the bounds that need it hold, and the
// others say what they need.
func TestQuantisation(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 1))
	saveDrawn(t, "A.npy", 8, 256, r.NormFloat64)
	saveDrawn(t, "B.npy", 256, 4, r.NormFloat64)
	saveDrawn(t, "C.npy", 900, 256, r.NormFloat64)
	for _, c := range []struct {
		args  string
		holds string
	}{
		{"-dist N(0,1) -m 1024 -n 8 -k 4096", "laws worst-case-laws"},
		{"-dist N(0,1),U(-1,1) -k 256 -recipe mxe2m1-floor", "laws worst-case-laws"},
		{"-dist N(0,1) -m 8 B.npy", "law-of-a"},
		{"-calibration C.npy -m 8 -confidence 0.99 -recipe mxe4m3-rceil,torchao-e4m3-row B.npy", "conformal"},
		{"-calibration C.npy -dist N(0,1) -m 8 B.npy", "conformal law-of-a"},
		{"A.npy B.npy -in bfloat16,e5m2", "exact elementwise worst-case"},
		{"A.npy B.npy -dist N(0,1) -calibration C.npy", "exact elementwise worst-case worst-case-laws laws law-of-a law-of-b conformal"},
		{"A.npy B.npy -recipe nvfp4-te-1x16 -stochastic 8", "exact elementwise worst-case tilted sub-gaussian hoeffding hoeffding-norms"},
	} {
		for name, r := range askQuantisation(t, c.args) {
			if want := strings.Contains(" "+c.holds+" ", " "+name+" "); r.Holds != want {
				t.Errorf("%s: %s holds is %v: %s", c.args, name, r.Holds, r.Why)
			}
			if r.Holds && (r.OverError == nil) == strings.HasPrefix(c.args, "A") || r.OverError != nil && r.Holds && *r.OverError < 1 {
				t.Errorf("%s: %s is %v of the error", c.args, name, r.OverError)
			}
		}
	}
	z := askQuantisation(t, "-dist N(0,1) -m 1024 -n 8 -k 4096")
	// sd 0.0590/√K of the mean of |A||B|, times the 4.9 to 5.35 of 8192 outputs.
	if got := *z["laws"].Relative; math.Abs(got/(0.0590*5.1/64)-1) > 0.07 || z["laws"].Confidence != "99 %" {
		t.Errorf("%+v", z["laws"])
	}
	if again := askQuantisation(t, "A.npy B.npy -recipe nvfp4-te-1x16 -stochastic 8 -seed 2"); *again["exact"].Absolute == *askQuantisation(t, "A.npy B.npy -recipe nvfp4-te-1x16 -stochastic 8 -seed 3")["exact"].Absolute {
		t.Error("another seed gives the same error")
	}
}

// Of constants, decimal numbers and correlated factors it is told that
// predictions may be far off, and they are; matrices of other laws than those
// told are refused.
func TestQuantisation_warns(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(2, 2))
	saveDrawn(t, "normal.npy", 8, 256, r.NormFloat64)
	saveDrawn(t, "constant.npy", 8, 256, func() float64 { return 0.3 })
	saveDrawn(t, "constants.npy", 256, 4, func() float64 { return 0.3 })
	saveDrawn(t, "weights.npy", 256, 4, r.NormFloat64)
	saveDrawn(t, "decimal.npy", 256, 4, func() float64 { return float64(1+r.IntN(9)) / 10 })
	k := 0.0
	saveDrawn(t, "smooth.npy", 256, 4, func() float64 { k++; return math.Sin(0.01 * k) })
	for files, want := range map[string]string{
		"normal.npy weights.npy":     "",
		"constant.npy constants.npy": "of 1 values that are equally likely",
		"constant.npy decimal.npy":   "values that are equally likely",
		"normal.npy smooth.npy":      "and of these factors",
	} {
		status, said, errs := ask(t, "quantisation "+files)
		if status != 0 || errs != "" {
			t.Fatalf("status %d, %s", status, errs)
		}
		if strings.Contains(said, "may be far off") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %s", files, said)
		}
	}
	if z := askQuantisation(t, "constant.npy constants.npy"); *z["random-signs"].OverError > 0.3 || z["random-signs"].Holds || z["hoeffding"].Holds {
		t.Errorf("%+v", z["random-signs"])
	}
	if z := askQuantisation(t, "constant.npy weights.npy -dist N(0,1)"); z["laws"].Holds || !strings.HasPrefix(z["laws"].Why, "refused: of the elements of A 0 % are below 0.3") {
		t.Errorf("%+v", z["laws"])
	}
	if z := askQuantisation(t, "normal.npy smooth.npy -dist N(0,1),U(-1,1)"); z["laws"].Holds || !strings.HasPrefix(z["laws"].Why, "refused: ") {
		t.Errorf("%+v", z["laws"])
	}
}
