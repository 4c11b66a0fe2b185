package tcore

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// stageDevices returns the devices that add in two stages.
func stageDevices() []Device {
	var list []Device
	for _, d := range Devices() {
		if _, ok := d.Core.(TwoStage); ok {
			list = append(list, d)
		}
	}
	return list
}

// stageMatrix returns a matrix of which every row is of one kind of numbers of
// f: those of fusedMatrix; numbers of few bits, whose sums cancel or have ties;
// sparse ones; and numbers of exponents that differ by up to spread.
func stageMatrix(rng *rand.Rand, rows, cols int, f Format, rare float64, spread int) blas32.General {
	m := fusedMatrix(rng, rows, cols, f, rare)
	for i := range rows {
		kind, middle := rng.IntN(7), rng.IntN(9)-4
		for j := range cols {
			x := float64(m.Data[i*cols+j])
			switch kind {
			case 0:
				x = float64(rng.IntN(9) - 4)
			case 1:
				x = exp2(middle+rng.IntN(spread)-spread/2) * (1 + float64(rng.IntN(2))*exp2(1-f.Precision)) * float64(1-2*rng.IntN(2))
			case 2:
				x = rng.NormFloat64() * exp2(middle+rng.IntN(spread)-spread/2)
			case 3:
				x = rng.NormFloat64() * exp2(middle)
				if rng.IntN(8) > 0 {
					x = math.Copysign(0, x)
				}
			}
			m.Data[i*cols+j] = float32(f.Round(x, ToNearestEven))
		}
	}
	return m
}

// Sums in two stages agree with Dot at every level of features, for products
// and C of like and of very different size, in shapes around the sizes of
// panels and chunks.
func TestStageProduct(t *testing.T) {
	trials := 16
	if testing.Short() {
		trials = 4
	}
	shapes := []shape{{1, 1, 1}, {3, 64, 64}, {5, 65, 63}, {9, 130, 65}, {4, 19, 130}, {2, 300, 7}, {7, 16, 64}}
	onEveryLevel(t, func(t *testing.T) {
		if features.VNNI || features.FP16 {
			return // they are not used
		}
		rng := rand.New(rand.NewPCG(91, 0))
		narrow := CDNA3F16
		narrow.Name, narrow.C = "CDNA3 with sums in bfloat16", BFloat16 // which have no kernel
		for _, d := range append(stageDevices(), narrow) {
			for trial := range trials {
				for _, s := range shapes {
					rare := [...]float64{0, 0, 0.0005, 0.01}[trial%4]
					spread := [...]int{4, 12, 30, 60}[rng.IntN(4)]
					a, b := stageMatrix(rng, s.m, s.k, d.A, rare, spread), stageMatrix(rng, s.n, s.k, d.B, rare, spread)
					c := blas32.General{}
					if trial%2 == 1 {
						c = stageMatrix(rng, s.m, s.n, d.C, rare, spread)
						for i := range c.Data {
							switch rng.IntN(4) {
							case 0: // anything
								c.Data[i] *= float32(exp2(rng.IntN(80) - 40))
							case 1: // far below the products
								c.Data[i] *= float32(exp2(rng.IntN(10) - 30))
							}
						}
					}
					compareProduct(t, rng, d, a, matrix.Transpose(b), c, 6)
				}
			}
		}
	})
}

// Where the exponents are in range, nothing is computed one by one; where those
// of a row, of a column or of C are not, these are.
func TestStagePaths(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range stageDevices() {
			a, b, c, z := uniform(5, 100, 1), uniform(100, 70, 2), uniform(5, 70, 3), zeros(5, 70)
			count := func() (fast, slow int64) {
				n := counted(func() { d.MultiplyAdd(a, b, c, z) })
				return n[stagePath], n[stageSlowPath]
			}
			want := int64(0)
			if features.Bits > 0 {
				want = 5 * 100 * 70
			}
			k := int64(d.padded(100))
			if fast, slow := count(); fast != want/100*k || slow != 0 {
				t.Errorf("%s: %d of %d by vectors, %d one by one", d.Name, fast, want/100*k, slow)
			}
			if want == 0 {
				continue
			}
			clear(c.Data[:20])
			if _, slow := count(); slow != 0 {
				t.Errorf("%s, zeros in c: %d one by one", d.Name, slow)
			}
			c.Data[3] = 0x1p-80
			if fast, slow := count(); slow != stageDepth || fast != want/100*k-slow {
				t.Errorf("%s, tiny c: %d by vectors, %d one by one, want %d", d.Name, fast, slow, stageDepth)
			}
			c.Data[3] = 1
			a.Data[0] = float32(math.NaN())
			if _, slow := count(); slow < stageDepth*70 {
				t.Errorf("%s, NaN: %d one by one, want %d", d.Name, slow, stageDepth*70)
			}
			a.Data[0] = 1
			b.Data[7] = float32(math.NaN())
			if _, slow := count(); slow < stageDepth*5 {
				t.Errorf("%s, NaN: %d one by one, want %d", d.Name, slow, stageDepth*5)
			}
		}
	})
}

// The vector code prepares the same operands as the code in Go.
func TestStagePacks(t *testing.T) {
	k, ok := stageKernelFor(TwoStage{8, 1})
	if !ok {
		t.Skip("no vectors")
	}
	rng := rand.New(rand.NewPCG(92, 0))
	for range 200 {
		emin, stride := rng.IntN(60)-70, k.columns+rng.IntN(40)
		src := make([]float32, stageDepth*stride)
		for i := range src {
			src[i] = float32(rng.NormFloat64() * exp2(rng.IntN(63)-31))
			if rng.IntN(300) == 0 {
				src[i] = [...]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(-1)),
					0x1p-149, 0x1p-40, 0x1p32, 0x1p31, -0x1p-32}[rng.IntN(9)]
			}
		}
		n := stageDepth * k.columns
		ae, want := make([]uint32, stageDepth), make([]uint32, stageDepth)
		if rare, slow := k.pack(ae, src[:stageDepth], emin), packStageRow(want, src[:stageDepth], emin); rare != slow || !rare && !slices.Equal(ae, want) {
			t.Fatalf("row: %v %x, want %v %x", rare, ae, slow, want)
		}
		bv, be, wantV, wantE := make([]float32, n), make([]uint8, n), make([]float32, n), make([]uint8, n)
		rare, slow := k.packPanel(bv, be, src, stride, emin), packStagePanel(k.columns)(wantV, wantE, src, stride, emin)
		if rare != slow {
			t.Fatalf("panel: out of range are %x, want %x", rare, slow)
		}
		for i := range bv {
			if !same(float64(bv[i]), float64(wantV[i])) || be[i] != wantE[i] && rare>>(i%k.columns)&1 == 0 {
				t.Fatalf("panel: element %d is %x at %d, want %x at %d", i, bv[i], be[i], wantV[i], wantE[i])
			}
		}
	}
}

// FuzzStageProduct compares sums in two stages of any codes with Dot.
func FuzzStageProduct(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(0), []byte{0, 60, 1, 0, 255, 123, 0, 4})
	f.Fuzz(func(t *testing.T, seed uint64, terms, which uint8, data []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		list := stageDevices()
		d := list[int(which)%len(list)]
		codes := func(rows, cols int, f Format) blas32.General {
			m := stageMatrix(rng, rows, cols, f, 0, 2+rng.IntN(60))
			for i := range m.Data {
				if n := len(data) / 4; n > 0 && rng.IntN(4) > 0 {
					code := uint64(binary.LittleEndian.Uint32(data[4*rng.IntN(n):]))
					m.Data[i] = float32(f.Round(float64(math.Float32frombits(uint32(code))), ToNearestEven))
				}
			}
			return m
		}
		k := 1 + int(terms)
		a, b, c := codes(3, k, d.A), codes(k, 35, d.B), codes(3, 35, d.C)
		for _, l := range features.Levels() {
			if l.Bits == 0 || l.VNNI || l.FP16 {
				continue
			}
			with(l, func() {
				compareProduct(t, rng, d, a, b, c, 6)
				compareProduct(t, rng, d, a, b, blas32.General{}, 6)
			})
		}
	})
}
