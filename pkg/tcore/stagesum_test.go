package tcore

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/panics"
	"gonum.org/v1/gonum/blas/blas32"
)

// devicesOf returns the devices of the catalogue for whose core the function
// core returns true.
func devicesOf(core func(Core) bool) []Device {
	return slices.DeleteFunc(Devices(), func(d Device) bool { return !core(d.Core) })
}

// mixed returns k numbers of f that spread over about spread binades on either
// side of 2^centre, with zeros among them.
func mixed(r *rand.Rand, f Format, k, centre int, spread float64) []float64 {
	x := make([]float64, k)
	for i := range x {
		if r.IntN(8) > 0 {
			x[i] = f.Round(math.Ldexp(r.NormFloat64()*math.Exp2(spread*(2*r.Float64()-1)), centre), ToZero)
		}
	}
	return x
}

// scales returns exponents around which numbers of f may lie, from the
// subnormal ones on.
func scales(f Format) []int { return []int{f.Emin - 1, f.Emin + 4, f.Emin / 2, 0} }

// The errors of the blocks add up to the error of the device's result, up to
// rounding in binary64.
func TestStageSums(t *testing.T) {
	devices := devicesOf(func(c Core) bool { _, ok := c.(TwoStage); return ok })
	if len(devices) != 5 {
		t.Fatalf("%d devices, want 5", len(devices))
	}
	r := rand.New(rand.NewPCG(241118747, 6))
	lost, moved := 0, 0
	for _, d := range devices {
		for _, centre := range scales(d.A) {
			for _, spread := range []float64{0, 3, 12} {
				for _, K := range []int{1, 2, 3, 7, 33, 100, 129} {
					x, y := mixed(r, d.A, K, centre, spread), mixed(r, d.B, K, centre, spread)
					if centre == 0 && spread == 12 { // one large product, below whose last bit others vanish
						x[K/2], y[K/2] = math.Ldexp(1, min(d.A.Emax, 60)), math.Ldexp(1.5, min(d.B.Emax, 60))
					}
					want := d.Trace(x, y, 0)
					blocks := d.StageSums(x, y)
					if len(blocks) != len(want.Blocks) {
						t.Fatalf("%s: %d blocks, want %d", d.Name, len(blocks), len(want.Blocks))
					}
					sum, size, blur := new(big.Float).SetPrec(2000), 0.0, 0.0
					for i, b := range blocks {
						if b.Result != want.Blocks[i].Result {
							t.Fatalf("%s, block %d of %v, %v: %v, traced %v", d.Name, i, x, y, b.Result, want.Blocks[i].Result)
						}
						var cut [2]float64
						for j, m := range want.Blocks[i].Terms[:d.Core.width()] {
							cut[j%d.Core.(TwoStage).Parts] += m.Lost
							size += math.Abs(m.Value)
						}
						for j, p := range b.Parts {
							if p.Lost != cut[j] || !(p.Least <= p.Lost && p.Lost <= p.Most) {
								t.Fatalf("%s, block %d, part %d: %+v, traced %v", d.Name, i, j, p, cut[j])
							}
							lost += count(p.Lost != 0)
						}
						moved += count(b.Moved != 0)
						sum.Add(sum, big.NewFloat(b.Moved))
						sum.Sub(sum, big.NewFloat(b.Parts[0].Lost)).Sub(sum, big.NewFloat(b.Parts[1].Lost))
						size -= b.Size
						blur += math.Ldexp(1, b.Exponent-24-52)
						if b.Exponent != want.Blocks[i].Exponent {
							t.Fatalf("%s: exponent %d, traced %d", d.Name, b.Exponent, want.Blocks[i].Exponent)
						}
					}
					if got, _ := sum.Float64(); math.Abs(got-want.Error) > 1e-14*math.Abs(want.Error)+blur {
						t.Errorf("%s, K = %d, 2^%d ± %v: error %v, exactly %v", d.Name, K, centre, spread, got, want.Error)
					}
					if math.Abs(size) > 1e-12*math.Abs(want.Result) {
						t.Errorf("%s: Σ|xy| is off by %v", d.Name, size)
					}
				}
			}
		}
	}
	if lost < 100 || moved < 100 {
		t.Errorf("%d parts lost something and %d blocks moved: nothing is tested", lost, moved)
	}
	t.Run("is not finite with an infinity", func(t *testing.T) {
		b := CDNA3BF16.StageSums([]float64{0x1p100, 1, 1, 1, 1, 1, 1, 1, 1}, []float64{0x1p100, 1, 1, 1, 1, 1, 1, 1, 1})
		if !math.IsNaN(b[0].Moved) || !math.IsInf(b[0].Result, 1) || !math.IsNaN(b[1].Error()) {
			t.Errorf("%+v", b)
		}
	})
	t.Run("refuses another core", func(t *testing.T) {
		panics.Want(t, `tcore: StageSums: device "hopper-wgmma-binary16-binary32", want a TwoStage core`, func() { HopperF16.StageSums(nil, nil) })
		panics.Want(t, "tcore: StageSums: x has 1 elements, y has 0", func() { CDNA3F16.StageSums([]float64{1}, nil) })
	})
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The largest possible errors of rounding the sums, plus the flushed numbers,
// bound the error of the result.
func TestRoundedSums(t *testing.T) {
	flushes := func(c Core) bool {
		switch c.(type) {
		case Pairwise, EvenOdd, OddFirst:
			return true
		}
		return false
	}
	devices := devicesOf(func(c Core) bool {
		switch c.(type) {
		case ExactSum, FusedPairs:
			return true
		}
		return flushes(c)
	})
	if len(devices) != 20 {
		t.Fatalf("%d devices, want 20", len(devices))
	}
	r := rand.New(rand.NewPCG(241118747, 7))
	for _, d := range devices {
		flushed := false
		for _, centre := range scales(d.A) {
			for _, spread := range []float64{0, 3, 12} {
				for _, K := range []int{1, 2, 3, 7, 33, 100, 129} {
					x, y := mixed(r, d.A, K, centre, spread), mixed(r, d.B, K, centre, spread)
					z, want := d.RoundedSums(x, y), d.Trace(x, y, 0)
					name := fmt.Sprintf("%s, K = %d, 2^%d ± %v", d.Name, K, centre, spread)
					if got := z.Sums[len(z.Sums)-1]; got != want.Result {
						t.Fatalf("%s: %v, traced %v", name, got, want.Result)
					}
					most := z.Flushed
					for _, s := range z.Sums {
						most += max(math.Abs(s)*d.C.UnitRoundoff(), d.C.MinSubnormal()/2)
					}
					if math.Abs(want.Error) > most*(1+1e-12) {
						t.Errorf("%s: error %v, at most %v", name, want.Error, most)
					}
					flushed = flushed || z.Flushed > 0
					if !flushes(d.Core) && z.Flushed > 0 {
						t.Errorf("%s flushes %v", name, z.Flushed)
					}
				}
			}
		}
		_, pairwise := d.Core.(Pairwise)
		subnormal := d.A.MinSubnormal() < d.C.MinNormal() // else nothing is subnormal in C: TDPFP16PS
		if (flushes(d.Core) && (pairwise || subnormal)) != flushed {
			t.Errorf("%s: flushed %v", d.Name, flushed)
		}
	}
	t.Run("has the nodes of the tree", func(t *testing.T) {
		ones := []float64{1, 1, 1, 1, 1, 1}
		for _, c := range []struct {
			d    Device
			want []float64
		}{
			{CDNA2F16, []float64{2, 2, 4, 2, 6}}, // 1+1, 1+1, 2+2, then 1+1 and 4+2
			{CDNA2BF16Pairs, []float64{2, 2, 4, 2, 6}},
			{CDNA1F16, []float64{4, 6}},
			{AMXBF16, []float64{2, 2, 3, 3, 6}}, // 1+1 twice, 2+1 twice, 3+3
			{AVX512BF16, []float64{2, 3, 4, 5, 6}},
		} {
			if got := c.d.RoundedSums(ones, ones); !slices.Equal(got.Sums, c.want) || got.Flushed != 0 {
				t.Errorf("%s: %+v, want %v", c.d.Name, got, c.want)
			}
		}
		if got := CDNA2F16.RoundedSums(ones[:1], ones[:1]); !slices.Equal(got.Sums, []float64{1}) {
			t.Errorf("%+v, want 1", got)
		}
	})
	t.Run("tells what is flushed", func(t *testing.T) {
		if got := CDNA2F16.RoundedSums([]float64{0x1p-15, 2}, []float64{-0x1p15, 0x1p-24}); got.Flushed != 1+0x1p-23 || got.Sums[0] != 0 {
			t.Errorf("%+v, want 1 + 2^-23 of factors", got)
		}
		tiny := 0x1p-63
		if got := CDNA2BF16.RoundedSums([]float64{tiny, tiny * 1.5}, []float64{tiny, -tiny}); got.Flushed != 0x1p-127 || got.Sums[0] != 0 {
			t.Errorf("%+v, want 2^-127, of a sum", got)
		}
		if got := CDNA2BF16.RoundedSums([]float64{0x1p-100}, []float64{0x1p-100}); got.Flushed != 0x1p-200 {
			t.Errorf("%+v, want 2^-200, of a product", got)
		}
		for _, d := range []Device{AMXBF16, AVX512BF16} {
			if got := d.RoundedSums([]float64{tiny, 0x1p-127}, []float64{tiny, 1}); got.Flushed != 0x1p-127 || got.Sums[0] != 0x1p-126 {
				t.Errorf("%s: %+v, want 2^-127 of a factor", d.Name, got)
			}
		}
	})
	t.Run("refuses another core", func(t *testing.T) {
		panics.Want(t, `tcore: RoundedSums: device "hopper-wgmma-binary16-binary32", want an ExactSum, Pairwise, EvenOdd, OddFirst or FusedPairs core`, func() { HopperF16.RoundedSums(nil, nil) })
	})
}

// GEMM returns the same bits as the last of the StageSums or RoundedSums.
func TestSumsAreThoseOfGEMM(t *testing.T) {
	r := rand.New(rand.NewPCG(241118747, 8))
	for _, d := range devicesOf(func(c Core) bool {
		switch c.(type) {
		case ExactSum, Pairwise, EvenOdd, OddFirst, TwoStage:
			return true
		}
		return false
	}) {
		for _, centre := range scales(d.A) {
			const K = 37
			a, b, z := matrix.New(2, K), matrix.New(K, 1), matrix.New(2, 1)
			y := mixed(r, d.B, K, centre, 4)
			for l, v := range y {
				b.Data[l] = float32(v)
			}
			for i := range 2 {
				for l, v := range mixed(r, d.A, K, centre, 4) {
					a.Data[i*K+l] = float32(v)
				}
			}
			d.MultiplyAdd(a, b, blas32.General{}, z)
			for i := range 2 {
				x := make([]float64, K)
				for l := range x {
					x[l] = float64(a.Data[i*K+l])
				}
				got := 0.0
				if _, ok := d.Core.(TwoStage); ok {
					blocks := d.StageSums(x, y)
					got = blocks[len(blocks)-1].Result
				} else {
					sums := d.RoundedSums(x, y).Sums
					got = sums[len(sums)-1]
				}
				if math.Float32bits(float32(got)) != math.Float32bits(z.Data[i]) && got != 0 {
					t.Errorf("%s, 2^%d: %v, GEMM has %v", d.Name, centre, got, z.Data[i])
				}
			}
		}
	}
}
