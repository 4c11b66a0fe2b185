package study

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// The errors are those of dot products, one after the other, against sums
// without rounding.
func TestPrecisionIsThatOfDotProducts(t *testing.T) {
	const n, seed = 2, 3
	lengths := []int{128, 320}
	got, err := precisionOf(sweep.Positive, n, lengths, seed)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(x, y []float64) float64 {
		sum := new(big.Float).SetPrec(400)
		for k := range x {
			sum.Add(sum, new(big.Float).SetPrec(400).Mul(big.NewFloat(x[k]), big.NewFloat(y[k])))
		}
		z, _ := sum.Float64()
		return z
	}
	vectors := func(a, b blas32.General, i, j int) (x, y []float64) {
		for k := range a.Cols {
			x, y = append(x, float64(a.Data[i*a.Stride+k])), append(y, float64(b.Data[k*b.Stride+j]))
		}
		return x, y
	}
	for l, k := range lengths {
		a, b := sweep.Positive.Draw(n, n, k, seed)
		fa, fb, err := quant.NVFP4(quant.Vector16).Factors(a, b)
		if err != nil {
			t.Fatal(err)
		}
		var squares [5]float64
		for i := range n {
			for j := range n {
				x, y := vectors(a, b, i, j)
				want := exact(x, y) // of positive numbers: it is |A||B| too
				fx, fy := vectors(fa, fb, i, j)
				for k := range x {
					x[k], y[k] = tcore.E4M3.Round(x[k], tcore.ToNearestEven), tcore.E4M3.Round(y[k], tcore.ToNearestEven)
				}
				rounded := exact(x, y)
				for c, e := range []float64{
					rounded - want, exact(fx, fy) - want,
					devices.HopperE4M3().Dot(x, y, 0) - rounded,
					tcore.Machine{Device: devices.HopperE4M3(), Promote: 128}.Dot(x, y, 0) - rounded,
					devices.BlackwellE4M3().Dot(x, y, 0) - rounded,
				} {
					squares[c] += e / want * e / want / (n * n)
				}
			}
		}
		for c, list := range [][]float64{got.e4m3, got.fp4, got.hopper, got.promoted, got.blackwell} {
			if want := math.Sqrt(squares[c]); math.Abs(list[l]-want) > 1e-9*want {
				t.Errorf("K = %d, error %d: %v, want %v", k, c, list[l], want)
			}
		}
	}
}

// Each error is drawn under its name, and the finding names the lengths.
func TestPrecision_is_drawn_under_its_names(t *testing.T) {
	lengths := []int{128, 256, 512}
	of := func(data string, x float64, hopper ...float64) precisionErrors {
		return precisionErrors{data, []float64{x, x, x}, []float64{2 * x, 2 * x, 2 * x}, hopper, []float64{3 * x, 3 * x, 3 * x}, []float64{0, 4 * x, 5 * x}}
	}
	chart := precisionFigure([]precisionErrors{of("U(0,1)", 1e-3, 1e-4, 2e-3, 4e-3), of("U(-1,1)", 2e-3, 1e-4, 1e-4, 1e-4)}, lengths)
	if got, want := chart.Finding(), "it is the larger error from K = 256 on for U(0,1) and at no K up to 512 for U(−1,1)."; !strings.HasSuffix(got, want) {
		t.Errorf("finding %q, want %q at its end", got, want)
	}
	series := drawn.Series(t, chart)
	for name, want := range map[string][]float64{
		"U(0,1): rounding to e4m3": {1e-3, 1e-3, 1e-3}, "U(0,1): rounding to NVFP4": {2e-3, 2e-3, 2e-3},
		"U(0,1): Hopper": {1e-4, 2e-3, 4e-3}, "U(0,1): Hopper, promoted": {3e-3, 3e-3, 3e-3}, "U(0,1): Blackwell": {4e-3, 5e-3},
		"U(-1,1): rounding to e4m3": {2e-3, 2e-3, 2e-3}, "U(-1,1): Hopper": {1e-4, 1e-4, 1e-4},
	} {
		var ys []float64
		for _, p := range series["Entries ~ "+name] {
			ys = append(ys, p.Y)
		}
		if !slices.Equal(ys, want) {
			t.Errorf("%s: %v, want %v", name, ys, want)
		}
	}
}

// Scales that OCP rounds down clip and drift, those rounded up do not.
func TestScaleTable(t *testing.T) {
	table, err := ScaleTable()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]string{}
	for _, r := range drawn.Cells(t, table) {
		rows[r["Recipe"]] = r
	}
	for name, want := range map[string]string{"mxe4m3-floor": "−3.1 %", "mxe2m1-floor": "−12 %"} {
		if got := rows[name]["drift of the product"]; got != want {
			t.Errorf("%s drifts by %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"mxe4m3-rceil", "mxe2m1-rceil", "mxe4m3-ceil", "mxe2m1-ceil"} {
		if got := rows[name]["clipped, U(0,1)"]; got != "0" {
			t.Errorf("%s clips %s numbers", name, got)
		}
	}
	x, _ := sweep.Normal.Draw(64, 1, 4096, 1)
	q, err := quant.NVFP4(quant.Vector16).Quantise(x, quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for i, v := range q.Dequantise().Data {
		if v == 0 && x.Data[i] != 0 {
			zeros++
		}
	}
	if got := rows["nvfp4-te-1x16"]["become 0"]; got != fmt.Sprint(zeros) {
		t.Errorf("NVFP4 makes %s zeros, want %d", got, zeros)
	}
}

func roundedUpClipNothing(t *testing.T) {
	x, _ := sweep.Positive.Draw(64, 1, 4096, 1)
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
		for _, s := range []quant.MXScale{quant.CeilScale, quant.RoundUpScale} {
			q, err := quant.MX(f, s).Quantise(x, quant.Left)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range q.Dequantise().Data {
				if greatest := float32(f.Max()) * q.Scale(i/4096, i%4096); x.Data[i] > greatest {
					t.Fatalf("%s: %v becomes %v, the greatest number of its block is %v", q.Recipe.Name, x.Data[i], v, greatest)
				}
			}
		}
	}
}
