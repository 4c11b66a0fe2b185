package elsewhere

import (
	"math"
	"math/big"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

// exactDot returns row i of a times column j of b, without rounding.
func exactDot(a, b blas32.General, i, j int) float64 {
	sum := new(big.Float).SetPrec(400)
	for k := range a.Cols {
		x, y := big.NewFloat(float64(a.Data[i*a.Stride+k])), big.NewFloat(float64(b.Data[k*b.Stride+j]))
		sum.Add(sum, new(big.Float).SetPrec(400).Mul(x, y))
	}
	z, _ := sum.Float64()
	return z
}

func vectors(a, b blas32.General, i, j int) (x, y []float64) {
	for k := range a.Cols {
		x, y = append(x, float64(a.Data[i*a.Stride+k])), append(y, float64(b.Data[k*b.Stride+j]))
	}
	return x, y
}

// Errors of accumulation are those of one dot product after the other on the
// machine against sums without rounding, and those of rounding likewise.
func TestAccumulationIsThatOfDotProducts(t *testing.T) {
	e4m3 := func(v float32) float32 { return float32(tcore.E4M3.Round(float64(v), tcore.ToNearestEven)) }
	for _, g := range []sweep.Generator{sweep.Normal, sweep.Positive} {
		d := perTensor(g, 3, 320, 7)
		a, b := matrix.Map(d.A, e4m3), matrix.Map(d.B, e4m3)
		for _, promoted := range []bool{false, true} {
			m := Catalogued().hopper(promoted)
			var largest, each, mean, squares, all, rounded, before float64
			for i := range 3 {
				for j := range 3 {
					want := exactDot(a, b, i, j)
					x, y := vectors(a, b, i, j)
					err := m.Dot(x, y, 0) - want
					largest, each = max(largest, math.Abs(err)), max(each, math.Abs(err/want))
					mean += math.Abs(want) / 9
					squares, all = squares+err*err, all+want*want
					unrounded := exactDot(d.A, d.B, i, j)
					rounded, before = rounded+(want-unrounded)*(want-unrounded), before+unrounded*unrounded
				}
			}
			p, err := trial.On(m.Device, d.A, d.B)
			if err != nil {
				t.Fatal(err)
			}
			got := accumulationOf(p.Run(m))
			if largest == 0 || !near(got.overMean, largest/mean) || !near(got.pointwise, each) || !near(got.rms, math.Sqrt(squares/all)) {
				t.Errorf("%s, promoted %v: %+v, want %v %v %v", g.Name, promoted, got, largest/mean, each, math.Sqrt(squares/all))
			}
			if got, err := rounding(d, p); err != nil || !near(got, math.Sqrt(rounded/before)) {
				t.Errorf("%s: rounding %v, %v, want %v", g.Name, got, err, math.Sqrt(rounded/before))
			}
		}
	}
}

// The greatest magnitude of a scaled matrix is 448, and quotients are kept.
func TestPerTensor(t *testing.T) {
	d, z := perTensor(sweep.Normal, 4, 64, 1), drawn(sweep.Normal, 4, 64, 1)
	for _, m := range [][2]blas32.General{{d.A, z.A}, {d.B, z.B}} {
		amax := float32(0)
		for i, v := range m[0].Data {
			amax = max(amax, v, -v)
			if q := float64(v) / float64(m[1].Data[i]); math.Abs(q*float64(m[1].Data[0])/float64(m[0].Data[0])-1) > 1e-6 {
				t.Fatalf("element %d is %v times as large, the first one %v", i, q, m[0].Data[0]/m[1].Data[0])
			}
		}
		if math.Abs(float64(amax)-448) > 1e-4 {
			t.Errorf("greatest magnitude %v", amax)
		}
	}
}

// Drift and slope are those of products computed element by element.
func TestDriftAndSlopeAreThoseOfDotProducts(t *testing.T) {
	for _, r := range []quant.Recipe{Catalogued().MXFP8, Catalogued().MXFP4} {
		d := drawn(sweep.Positive, 3, 64, 5)
		a, b, err := r.Factors(d.A, d.B)
		if err != nil {
			t.Fatal(err)
		}
		var sum, all, along, square float64
		for i := range 3 {
			for j := range 3 {
				before, after := exactDot(d.A, d.B, i, j), exactDot(a, b, i, j)
				sum, all = sum+after-before, all+before
				along, square = along+(after-before)*before, square+before*before
			}
		}
		if got, err := drift(r, d); err != nil || sum == 0 || math.Abs(got-sum/all) > 1e-12 {
			t.Errorf("%s: drift %v, %v, want %v", r.Name, got, err, sum/all)
		}
		if got, err := slope(r, d); err != nil || math.Abs(got-along/square) > 1e-12 {
			t.Errorf("%s: slope %v, %v, want %v", r.Name, got, err, along/square)
		}
	}
}

// What is found by probing a device is what its record says.
func TestProbesFindTheRecord(t *testing.T) {
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.AdaE4M3(), devices.BlackwellE4M3(), devices.HopperMMAE4M3()} {
		core, whole := d.Core.(tcore.Fused)
		if split, ok := d.Core.(tcore.Split); ok { // aligns every other pair of products alone, not what the probe puts together
			core = split.By
		}
		if a := align(d); whole && a != (alignment{core.Terms, core.FractionBits, 1, -1}) {
			t.Errorf("%s: %+v, want %d terms, %d bits, toward zero", d.Name, a, core.Terms, core.FractionBits)
		}
		if got := significantBits(d); got != core.Result.Precision {
			t.Errorf("%s: results of %d bits, want %d", d.Name, got, core.Result.Precision)
		}
		if got, want := lostBits(d), 24-core.Result.Precision; got != want {
			t.Errorf("%s: %d bits of C lost, want %d", d.Name, got, want)
		}
	}
}

// Weights of attention are positive with the maximum 448 in each row, and V
// has the mean that is asked for.
func TestProbabilitiesValues(t *testing.T) {
	for _, mean := range []float64{0, 1} {
		d := probabilitiesValues(4, 64, 2048, mean, 1)
		logs := 0.0
		for i := range 4 {
			greatest := float32(0)
			for _, p := range matrix.Row(d.A, i) {
				if !(p > 0) {
					t.Fatalf("weight %v", p)
				}
				greatest = max(greatest, p)
				logs += math.Log(float64(p)) / (4 * 2048)
			}
			if greatest != 448 {
				t.Errorf("row %d has the maximum %v", i, greatest)
			}
		}
		spread := 0.0
		for _, p := range d.A.Data {
			spread += (math.Log(float64(p)) - logs) * (math.Log(float64(p)) - logs) / (4 * 2048)
		}
		if spread < 3.5 || spread > 4.5 { // of N(0,2), and of the four maxima
			t.Errorf("logarithms of weights have variance %v", spread)
		}
		sum := 0.0
		for _, v := range d.B.Data {
			sum += float64(v) / (64 * 2048)
		}
		if math.Abs(sum-mean) > 0.02 {
			t.Errorf("mean %v, want %v", sum, mean)
		}
	}
}

// Blocks with another scale are counted by their scales.
func TestOtherScales(t *testing.T) {
	e := Catalogued()
	a := matrix.New(1, 128)
	for i, amax := range []float32{6, 7, 4, 5} { // of 4, 5 and 6 both have the scale 1, of 7 the one 1 and the other 2
		a.Data[32*i] = amax
	}
	if got, err := otherScales(e.MXFP4, e.MXFP4Up, a); err != nil || got != 0.25 {
		t.Errorf("share %v, %v, want 0.25", got, err)
	}
}
