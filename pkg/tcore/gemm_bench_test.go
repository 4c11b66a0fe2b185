package tcore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// shape is the size of a product, M × K by K × N.
type shape struct{ m, k, n int }

func cube(n int) shape { return shape{n, n, n} }

// paperShape is the size of the paper's experiment.
var paperShape = shape{1 << 10, 1 << 15, 1 << 3}

// String returns n for a cube and otherwise M×K×N.
func (s shape) String() string {
	if s.m == s.k && s.k == s.n {
		return fmt.Sprint(s.n)
	}
	return fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n)
}

// benchmarkProduct times a product on one thread, and on two where there are
// two, and reports the percentage of the multiply-adds that each path computed.
// prepare is called only for the benchmarks that are run.
func benchmarkProduct(b *testing.B, name string, s shape, prepare func() (multiply func())) {
	for _, threads := range []int{1, 2} {
		if threads > runtime.NumCPU() {
			continue
		}
		b.Run(fmt.Sprintf("device=%s/n=%v/threads=%d", name, s, threads), func(b *testing.B) {
			macs := float64(s.m) * float64(s.k) * float64(s.n)
			var times int
			n := counted(func() { times = cputime.Speed(b, threads, macs, "MMAC/s", prepare) })
			for _, p := range paths {
				if n[p] > 0 {
					b.ReportMetric(100*float64(n[p])/(macs*float64(times)), "%"+strings.ReplaceAll(p.name, " ", "_"))
				}
			}
		})
	}
}

// operands returns random factors in f, and memory for their product.
func operands(s shape, f Format) (x, y, d blas32.General) {
	x, y, d = uniform(s.m, s.k, 1), uniform(s.k, s.n, 2), zeros(s.m, s.n)
	f.RoundSlice32(x.Data, x.Data)
	f.RoundSlice32(y.Data, y.Data)
	return x, y, d
}

func BenchmarkGEMM(b *testing.B) {
	for _, s := range []shape{cube(512), cube(1024), paperShape} {
		benchmarkProduct(b, "paper-f32", s, func() func() {
			x, y, d := operands(s, Binary16)
			return func() { PaperF32.multiply(x, y, d) }
		})
	}
	for _, device := range Devices() {
		benchmarkDevice(b, device, cube(512))
	}
	for _, device := range []Device{HopperF16, HopperE4M3, CDNA2F16, IEEEF32, IEEEF64} {
		benchmarkDevice(b, device, cube(2048))
	}
	for _, m := range []int{16, 64, 256} { // few tokens
		for _, device := range []Device{IEEEF32, IEEEF64, HopperF16, HopperE4M3, BlackwellNVF4} {
			benchmarkDevice(b, device, shape{m, 2048, 2048})
		}
	}
	benchmarkProduct(b, "paper-f16", paperShape, func() func() {
		x, y, d := operands(paperShape, Binary16)
		return func() { PaperF16.multiply(x, y, d) }
	})
	benchmarkProduct(b, "binary64", paperShape, func() func() {
		x, y, _ := operands(paperShape, Binary16)
		return func() { Float64GEMM(x, y) }
	})
}

// BenchmarkMachine times Machine.GEMM, which adds the parts of K, and C if beta
// is not 0, and rounds to its Output.
func BenchmarkMachine(b *testing.B) {
	s := cube(512)
	for _, m := range []Machine{{Device: HopperF16}, {Device: HopperF16, Output: Binary16}, {Device: HopperE4M3, SplitK: 2}, {Device: IEEEF32}} {
		x, y, d := operands(s, Binary32)
		name := fmt.Sprintf("%s-%d-%s", m.Device.Name, max(m.SplitK, 1), cmp.Or(m.Output.Name, m.Device.C.Name))
		for _, beta := range []float32{0, 1} {
			benchmarkProduct(b, fmt.Sprintf("%s/beta=%v", name, beta), s, func() func() {
				return func() { m.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, beta, x, d) }
			})
		}
	}
}

// BenchmarkIntegers times products that are computed as integers where nothing
// is cut, for data with and without anything to cut, and reports the share of
// each path. The factors of block-scaled devices are codes with real scales.
func BenchmarkIntegers(b *testing.B) {
	s := cube(512)
	for _, d := range integerDevices() {
		if d.Architecture != "RTX Blackwell" {
			continue
		}
		for kind, data := range []string{"normal", "amax", "outliers"} {
			benchmarkProduct(b, d.Name+"/data="+data, s, func() func() {
				rng := rand.New(rand.NewPCG(1, 0))
				x, y, z := integerMatrix(rng, s.m, s.k, d.A, kind, false), integerMatrix(rng, s.k, s.n, d.B, kind, true), zeros(s.m, s.n)
				if d.ScaleBlock == 0 {
					return func() { d.MultiplyAdd(x, y, blas32.General{}, z) }
				}
				u, v := blockScaled(d, x, d.A, exp2(d.A.Emax), false), blockScaled(d, y, d.B, exp2(d.B.Emax), true)
				return func() { d.MultiplyAddCodes(u, v, blas32.General{}, z) }
			})
		}
	}
}

func benchmarkDevice(b *testing.B, device Device, s shape) {
	benchmarkProduct(b, device.Name, s, func() func() {
		x, y, d := operands(s, Binary32)
		return func() { device.MultiplyAdd(x, y, blas32.General{}, d) }
	})
}

// hasKernel reports whether a device runs on vector code here.
func hasKernel(d Device) bool {
	switch d.Core.(type) {
	case Chain, Pairwise:
		return features.Bits > 0 || features.ASIMD && !d.C.Equal(Binary16)
	case ExactSum, EvenOdd, OddFirst:
		return features.Bits > 0
	}
	core, ok := d.Core.(Fused)
	if split, isSplit := d.Core.(Split); isSplit {
		core, ok = split.By, true
	}
	if !ok || core.Group > 0 {
		return false
	}
	d.ScaleBlock = 0 // GEMM uses scales of 1
	_, ok = core.dotAddKernel(&d, false)
	return ok
}

func BenchmarkExactGEMM(b *testing.B) {
	multiply := func(of func(a, b blas32.General) (exact.Matrix, error), x, y blas32.General) func() {
		return func() {
			if _, err := of(x, y); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, f := range []Format{Binary16, Binary32} {
		benchmarkProduct(b, f.Name, paperShape, func() func() {
			x, y, _ := operands(paperShape, f)
			return multiply(exact.GEMM, x, y)
		})
		benchmarkProduct(b, f.Name+"-abs", paperShape, func() func() {
			x, y, _ := operands(paperShape, f)
			return multiply(exact.AbsGEMM, x, y)
		})
	}
	few := shape{64, paperK, paperN}
	benchmarkProduct(b, "any-range", few, func() func() {
		x, y, _ := operands(few, Binary32)
		for i := range x.Data {
			x.Data[i] *= float32(exp2(i%128 - 100))
		}
		return multiply(exact.GEMM, x, y)
	})
}

// BenchmarkExactBesideEmulation reports the time of the exact products AB and
// |A||B|, rounded to binary64, over that of the same product on a device. Both
// are timed in turn.
func BenchmarkExactBesideEmulation(b *testing.B) {
	for _, s := range []shape{cube(512), {1 << 10, 1 << 12, 1 << 3}} {
		for _, device := range []Device{HopperF16, HopperE4M3} {
			x, y, d := operands(s, Binary32)
			benchmarkExact(b, fmt.Sprintf("device=%s/n=%v", device.Name, s), device, x, y, d)
			rng := rand.New(rand.NewPCG(3, 0))
			for _, m := range []blas32.General{x, y} {
				for i := range m.Data {
					m.Data[i] = float32(rng.NormFloat64())
				}
			}
			benchmarkExact(b, fmt.Sprintf("device=%s/data=normal/n=%v", device.Name, s), device, x, y, d)
		}
	}
}

// benchmarkExact runs one benchmark of [BenchmarkExactBesideEmulation].
func benchmarkExact(b *testing.B, name string, device Device, x, y, d blas32.General) {
	b.Run(name, func(b *testing.B) {
		if cputime.Named(b, "exact/emulated") {
			return
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		var emulated, exactly time.Duration
		for b.Loop() {
			start := time.Now()
			device.MultiplyAdd(x, y, blas32.General{}, d)
			middle := time.Now()
			ab, abs, err := device.ExactGEMMs(x, y)
			if err != nil {
				b.Fatal(err)
			}
			ab.Float64()
			abs.Float64()
			emulated += middle.Sub(start)
			exactly += time.Since(middle)
		}
		b.ReportMetric(exactly.Seconds()/emulated.Seconds(), "exact/emulated")
	})
}
