package tolerance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// Of codes and scales the data are the numbers that they stand for, with the
// greatest and the least scale. Sound products are within the limits, which are
// no wider than where the scales are not known, and have the bits of an
// emulation.
func TestMeasureScaled(t *testing.T) {
	const m, k, n = 5, 72, 6 // the last block is not full
	for _, d := range []tcore.Device{devices.BlackwellNVF4(), devices.BlackwellMXF4(), devices.BlackwellMXE4M3()} {
		rng := rand.New(rand.NewPCG(7, 7))
		block := d.ScaleBlock
		blocks := (k + block - 1) / block
		draw := func(rows, cols, scales, least int, f tcore.Format) tcore.Codes {
			z := tcore.Codes{Rows: rows, Cols: cols, Data: make([]uint8, rows*cols), Scales: make([]uint8, scales)}
			for i := range z.Data {
				z.Data[i] = uint8(f.Encode(f.Round(rng.NormFloat64(), tcore.ToNearestEven), tcore.ToNearestEven))
			}
			for i := range z.Scales {
				z.Scales[i] = uint8(d.Scale.Encode(math.Ldexp(1, least+rng.IntN(7)), tcore.ToNearestEven))
			}
			return z
		}
		a, b := draw(m, k, m*blocks, -4, d.A), draw(k, n, blocks*n, -2, d.B)
		data, err := MeasureScaled(d, a, b)
		if err != nil {
			t.Fatal(err)
		}
		most, least := 0.0, math.Inf(1)
		for i := range m {
			for l := range k {
				s := d.Scale.Decode(uint64(a.Scales[i*blocks+l/block]))
				most, least = max(most, s), min(least, s)
				if want := s * d.A.Decode(uint64(a.Data[i*k+l])); float64(data.A.Data[i*k+l]) != want {
					t.Fatalf("%s: A[%d, %d] is %v, want %v", d.Name, i, l, data.A.Data[i*k+l], want)
				}
			}
		}
		if x := data.scaled.x; x.Scale != most || x.LeastScale != least {
			t.Errorf("%s: scales of A from %v to %v, want %v to %v", d.Name, x.LeastScale, x.Scale, least, most)
		}
		most, least = 0, math.Inf(1)
		for l := range k {
			for j := range n {
				s := d.Scale.Decode(uint64(b.Scales[l/block*n+j]))
				most, least = max(most, s), min(least, s)
				if want := s * d.B.Decode(uint64(b.Data[l*n+j])); float64(data.B.Data[l*n+j]) != want {
					t.Fatalf("%s: B[%d, %d] is %v, want %v", d.Name, l, j, data.B.Data[l*n+j], want)
				}
			}
		}
		if y := data.scaled.y; y.Scale != most || y.LeastScale != least {
			t.Errorf("%s: scales of B from %v to %v, want %v to %v", d.Name, y.LeastScale, y.Scale, least, most)
		}
		by := Implementation{Machine: tcore.Machine{Device: d}}
		known, err := data.Of(by, roundoff.Never)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := Measure(data.A, data.B)
		if err != nil {
			t.Fatal(err)
		}
		unknown, err := numbers.Of(by, roundoff.Never)
		if err != nil {
			t.Fatal(err)
		}
		emulations, err := known.Emulate()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known.exact, true) || unknown.exact != nil {
			t.Errorf("%s: of sums with scales %v are exact, without %v", d.Name, known.exact, unknown.exact)
		}
		for i, limit := range known.Limits.Data {
			if limit > unknown.Limits.Data[i] {
				t.Errorf("%s: a limit of %v with scales, %v without", d.Name, limit, unknown.Limits.Data[i])
			}
		}
		for _, parts := range []int{1, 2, 3} {
			z := matrix.New(m, n)
			tcore.Machine{Device: d, SplitK: parts}.GEMMCodes(1, a, b, 0, blas32.General{}, z)
			for name, t0 := range map[string]*Tolerance{"known": known, "not known": unknown} {
				if r := t0.Compare(matrix.Float64(z)); !r.Within() {
					t.Errorf("%s in %d parts, scales %s: %v", d.Name, parts, name, r)
				}
			}
			if r, _ := known.CompareEmulated(matrix.Float64(z), emulations, true); !r.Within() {
				t.Errorf("%s in %d parts, emulated: %v", d.Name, parts, r)
			}
		}
	}
}
