package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

func TestBlockSums(t *testing.T) {
	r := rand.New(rand.NewPCG(241118747, 5))
	random := func(rows, cols int, scale float64) blas32.General {
		m := matrix.New(rows, cols)
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64() * math.Exp2(scale*r.NormFloat64()))
		}
		m.Data[0] = 0
		return m
	}
	for _, d := range []Device{VoltaF16, AmpereBF16, HopperF16, HopperF16F16, HopperTF32, HopperE4M3, BlackwellE5M2} {
		for _, scale := range []float64{0, 2, 12} {
			if scale > 2 && d.A.Emax < 100 {
				continue
			}
			a, b := random(3, 100, scale), random(100, 2, scale)
			z := matrix.New(3, 2)
			d.MultiplyAdd(a, b, blas32.General{}, z)
			n := 0
			outputs, err := d.BlockSums(a, b)
			if err != nil {
				t.Fatal(err)
			}
			for blocks := range outputs {
				i, j := n/2, n%2
				n++
				want := d.TraceGEMM(a, b, blas32.General{}, i, j)
				err, size := 0.0, 0.0
				for k, got := range blocks {
					w := want.Blocks[k]
					if got.Exponent != w.Exponent || got.Kept != w.Sum || got.Result != w.Result {
						t.Fatalf("%s (%d, %d) block %d: %+v, traced %d, %v, %v", d.Name, i, j, k, got, w.Exponent, w.Sum, w.Result)
					}
					lost, signs := 0.0, 0
					for _, m := range w.Terms {
						lost += m.Lost
						if m.Index >= 0 {
							size += math.Abs(m.Value)
							signs += sign(m.Value)
						}
					}
					if math.Abs(got.Lost-lost) > 1e-12*w.Unit || got.Signs != signs {
						t.Fatalf("%s (%d, %d) block %d: %+v, traced losses %v, signs %d", d.Name, i, j, k, got, lost, signs)
					}
					err += got.Error()
					size -= got.Size
				}
				if got := blocks[len(blocks)-1].Result; float32(got) != z.Data[i*2+j] {
					t.Errorf("%s (%d, %d): %v, GEMM has %v", d.Name, i, j, got, z.Data[i*2+j])
				}
				if math.Abs(err-want.Error) > 1e-9*math.Abs(want.Error)+1e-300 {
					t.Errorf("%s (%d, %d): error %v, exactly %v", d.Name, i, j, err, want.Error)
				}
				if math.Abs(size) > 1e-9*math.Abs(want.Result) {
					t.Errorf("%s (%d, %d): Σ|xy| off by %v", d.Name, i, j, size)
				}
			}
			if n != 6 {
				t.Errorf("%s: %d elements, want 6", d.Name, n)
			}
		}
	}

	t.Run("refuses what it cannot observe", func(t *testing.T) {
		one := matrix.New(1, 1)
		bad := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(math.Inf(1))}}
		for want, call := range map[string]func() error{
			"tcore: a[0, 0] = +Inf, want a finite number": func() error { _, err := HopperF16.BlockSums(bad, one); return err },
			"tcore: b[0, 0] = +Inf, want a finite number": func() error { _, err := HopperF16.BlockSums(one, bad); return err },
		} {
			if err := call(); err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
		defer func() {
			want := `tcore: BlockSums: device "ieee-fma-binary32-binary32", want a Fused core without groups and scales`
			if got := recover(); got != want {
				t.Errorf("panic %v, want %s", got, want)
			}
		}()
		IEEEF32.BlockSums(one, one)
	})
}

func BenchmarkBlockSums(b *testing.B) {
	x, y := matrix.New(64, 4096), matrix.New(4096, 8)
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range [][]float32{x.Data, y.Data} {
		for i := range m {
			m[i] = r.Float32()
		}
	}
	for b.Loop() {
		outputs, _ := HopperF16.BlockSums(x, y)
		for range outputs {
		}
	}
	b.ReportMetric(float64(b.N)*64*8*4096/b.Elapsed().Seconds()/1e6, "MMAC/s")
}
