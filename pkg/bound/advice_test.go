package bound

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func advise(t *testing.T, k Problem, tolerance float64, among ...tcore.Device) []Advice {
	t.Helper()
	if among == nil {
		among = devices.All()
		if testing.Short() {
			among = []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.VoltaF16(), devices.VoltaF16F16(), devices.AmpereBF16(), devices.AmpereTF32(),
				devices.BlackwellE4M3(), devices.BlackwellMXE4M3(), devices.BlackwellNVF4(), devices.CDNA2F16(), devices.CDNA3F16(), devices.IEEEF64()}
		}
	}
	advice, err := Advise(k, tolerance, at99, among)
	if err != nil || len(advice) != len(among) {
		t.Fatalf("%d advices, %v", len(advice), err)
	}
	return advice
}

// with returns the problem on another device.
func (k Problem) with(d tcore.Device) Problem {
	k.Device = d
	return k
}

func TestAdvise(t *testing.T) {
	k := Problem{M: 64, N: 16, K: 4096, X: Uniform(-1, 1), Y: Uniform(0, 1), Represented: true}
	const tolerance = 2e-3
	advice := advise(t, k, tolerance)
	t.Run("meets_a_tolerance_where_the_tightest_bound_does", func(t *testing.T) {
		for _, a := range advice {
			of := k
			of.Device, of.Recipes = a.Device, a.Recipes
			best, ok := Tightest(of.results(Catalogue(), at99, true))
			if of.Recipes == nil && of.outOfRange() != "" {
				ok, best.Constant = false, math.Inf(1)
			}
			if a.Tightest.Holds != ok || a.Meets() != (ok && best.Constant <= tolerance) || a.Excess != best.Constant/tolerance || a.Tightest.Why == "" {
				t.Errorf("%s: %+v, want %+v", a.Device.Name, a, best)
			}
		}
	})
	t.Run("tells_from_which_K_up_to_which", func(t *testing.T) {
		at := map[float64][]Advice{tolerance: advice}
		if !testing.Short() {
			at[1e-5], at[0.3] = advise(t, k, 1e-5), advise(t, k, 0.3)
		}
		for tolerance, advice := range at {
			for _, a := range advice {
				meets := func(K int) bool {
					of := k
					of.Device, of.Recipes, of.K = a.Device, a.Recipes, K
					return K > 0 && of.relative(of.tightest(at99))/tolerance <= 1
				}
				switch from, to := a.LeastK, a.LargestK; {
				case a.Meets() != (from <= k.K && k.K <= to):
					t.Errorf("%s: meets = %v at K = %d, and from K = %d to %d", a.Device.Name, a.Meets(), k.K, from, to)
				case from > 0 && !meets(from), to > 0 && !meets(to), from > 1 && meets(from-1), to > 0 && to < LongestK && meets(to+1):
					t.Errorf("%s: from K = %d to %d", a.Device.Name, from, to)
				}
			}
		}
	})
	t.Run("tells_it_to_a_sixty-fourth_where_whole_rows_have_a_scale", func(t *testing.T) {
		row := quant.Torchao(tcore.E4M3, quant.PerVector, false)
		k := Problem{M: 64, N: 16, K: 4096, X: Uniform(-1, 1), Y: Uniform(0, 1), Represented: true, Recipes: &Recipes{row, row}}
		const tolerance = 0.02
		a := advise(t, k, tolerance, devices.BlackwellE4M3())[0]
		meets := func(K int) bool {
			of := k.with(a.Device)
			of.K = K
			return of.relative(of.tightest(at99)) <= tolerance
		}
		if from, to := a.LeastK, a.LargestK; !(1 < from && from < k.K && k.K < to) || !meets(from) || meets(from-max(1, from/64)) ||
			!meets(to) || to < LongestK && meets(to+to/64) {
			t.Errorf("from K = %d to %d", from, to)
		}
	})
	t.Run("tells_how_long_parts_of_K_may_be", func(t *testing.T) {
		cured := 0
		for _, a := range advice {
			of := k
			of.Device = a.Device
			meets := func(n int) bool {
				of.Promote = n
				return of.relative(of.tightest(at99)) <= tolerance
			}
			n := a.Promote
			if n > 0 {
				cured++
				if err := (tcore.Machine{Device: a.Device, Promote: n}).Check(); err != nil || a.Meets() || n >= k.K || !meets(n) {
					t.Errorf("%s: %d, %v", a.Device.Name, n, err)
				}
			}
			split := of
			split.Promote, split.SplitK = 0, a.SplitK
			if n > 0 && a.Device.ScaleBlock == 0 && (a.SplitK != (k.K+n-1)/n || split.relative(split.tightest(at99)) > tolerance) || n == 0 && a.SplitK != 0 {
				t.Errorf("%s: %d parts of %d products each", a.Device.Name, a.SplitK, n)
			}
			if a.Meets() || a.Device.ScaleBlock > 0 {
				continue
			}
			for longer := of.Width(); longer < k.K; longer *= 2 {
				if longer > n && meets(longer) {
					t.Errorf("%s: parts of %d, but %d are enough", a.Device.Name, n, longer)
				}
			}
		}
		if cured == 0 {
			t.Error("nothing to cure")
		}
		k := k
		k.Promote = 128
		for _, a := range advise(t, k, tolerance/100, devices.HopperF16()) {
			if a.Promote != 0 {
				t.Errorf("%s is cut into parts of %d twice", a.Device.Name, a.Promote)
			}
		}
	})
	t.Run("tells_the_parts_of_a_bound", func(t *testing.T) {
		k := k
		k.X, k.Y = Distribution{}, Distribution{}
		k.Output, k.Promote = tcore.Binary16, 128
		for _, d := range []tcore.Device{devices.HopperE4M3(), devices.VoltaF16(), devices.HopperTF32()} {
			best := advise(t, k, tolerance, d)[0].Tightest
			p := best.Parts
			if math.Abs(p.Sum()/best.Constant-1) > 1e-12 {
				t.Errorf("%s: parts of %v, constant %v", d.Name, p.Sum(), best.Constant)
			}
			z := p.Accumulation
			for _, c := range []struct {
				name      string
				got, next float64
			}{
				{"merging", p.Merging, roundoff.SumOfNearest(31, 0x1p-24)},
				{"storing", p.Storing, 0x1p-11},
				{"conversion", p.Conversion, k.with(d).conversion()},
			} {
				if want := (1+z)*(1+c.next) - 1 - z; math.Abs(c.got/want-1) > 1e-9 {
					t.Errorf("%s: %s %v, want %v", d.Name, c.name, c.got, want)
				}
				z += c.got
			}
			if name, share := p.Largest(); d.Name == devices.HopperE4M3().Name && (name != "conversion" || share != p.Conversion/p.Sum()) {
				t.Errorf("%s: %s, %v", d.Name, name, share)
			}
		}
		if name, share := (Parts{}).Largest(); name != "" || !math.IsNaN(share) {
			t.Errorf("of nothing: %s %v", name, share)
		}
	})
	t.Run("puts_the_fastest_of_those_that_meet_first_and_then_the_nearest", func(t *testing.T) {
		misses := slices.IndexFunc(advice, func(a Advice) bool { return !a.Meets() })
		least, first := math.Inf(1), advice[0]
		for i, a := range advice {
			if a.Meets() != (i < misses) {
				t.Errorf("%d, %s: out of order", i, a.Device.Name)
			}
			if a.Meets() {
				least = min(least, a.Bytes)
			}
			if i > misses && a.Excess < advice[i-1].Excess {
				t.Errorf("%s is nearer than %s", a.Device.Name, advice[i-1].Device.Name)
			}
			if a.Meets() && a.Peak.Tflops > first.Peak.Tflops {
				t.Errorf("%s is faster than %s", a.Device.Name, first.Device.Name)
			}
		}
		for _, a := range advice {
			if math.Abs(a.BytesRatio*least-a.Bytes) > 1e-9*a.Bytes {
				t.Errorf("%s: %v bytes are not %v times %v", a.Device.Name, a.Bytes, a.BytesRatio, least)
			}
			if known := a.Peak.Tflops > 0; known == math.IsNaN(a.TimeRatio) || known && math.Abs(a.TimeRatio*a.Peak.Tflops/first.Peak.Tflops-1) > 1e-12 {
				t.Errorf("%s: %v times as long, at %v of %v Tflop/s", a.Device.Name, a.TimeRatio, a.Peak.Tflops, first.Peak.Tflops)
			}
		}
	})
	t.Run("compares_with_nothing_where_none_meets", func(t *testing.T) {
		for _, a := range advise(t, k, 1e-300) {
			if a.Meets() || a.LeastK != 0 || a.LargestK != 0 || !math.IsNaN(a.BytesRatio) || !math.IsNaN(a.TimeRatio) {
				t.Errorf("%+v", a)
			}
		}
	})
	t.Run("counts_bytes", func(t *testing.T) {
		for _, c := range []struct {
			d    tcore.Device
			want float64
		}{
			{devices.HopperF16(), 64*4096*2 + 4096*16*2 + 64*16*4},
			{devices.HopperF16F16(), 64*4096*2 + 4096*16*2 + 64*16*2},
			{devices.AmpereTF32(), 64*4096*4 + 4096*16*4 + 64*16*4},
			{devices.BlackwellMXF4(), (64+16)*4096/2 + (64+16)*4096/32 + 64*16*4},
		} {
			if got := advise(t, k, 1, c.d)[0].Bytes; got != c.want {
				t.Errorf("%s: %v bytes, want %v", c.d.Name, got, c.want)
			}
		}
	})
	t.Run("counts_the_rounding_of_factors", func(t *testing.T) {
		k := k
		k.X, k.Y = Distribution{}, Distribution{}
		exact := k
		exact.Represented = false
		for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperTF32(), devices.HopperE4M3(), devices.IEEEF64()} {
			rounded, given := advise(t, k, 1, d)[0].Tightest.Constant, advise(t, exact, 1, d)[0].Tightest.Constant
			u := d.A.UnitRoundoff()
			if d == devices.HopperTF32() {
				u *= 2 // truncated
			}
			if want := math.Expm1(2*math.Log1p(u) + math.Log1p(given)); math.Abs(rounded/want-1) > 1e-9 {
				t.Errorf("%s: %v, want %v", d.Name, rounded, want)
			}
		}
	})
	t.Run("knows_where_formats_end", func(t *testing.T) {
		for why, change := range map[string]func(*Problem, *tcore.Device){
			"A reaches 1e+03, e4m3 ends at 448":          func(k *Problem, d *tcore.Device) { k.X, *d = Uniform(-1000, 1), devices.HopperE4M3() },
			"B reaches 7e+04, binary16 ends at 6.55e+04": func(k *Problem, d *tcore.Device) { k.Y = Uniform(0, 7e4) },
			"sums are 1.31e+05 in the mean, binary16 ends": func(k *Problem, d *tcore.Device) {
				k.K, k.X, k.Y, *d = 1<<17, Uniform(0, 2), Uniform(0, 2), devices.HopperF16F16()
			},
			"e2m1 has few normal numbers":                          func(k *Problem, d *tcore.Device) { k.X, *d = Distribution{}, devices.BlackwellE2M1() },
			"a factor far below the greatest of its block is lost": func(k *Problem, d *tcore.Device) { k.X, *d = Distribution{}, devices.BlackwellMXE4M3() },
		} {
			k, d := k, devices.HopperF16()
			change(&k, &d)
			if a := advise(t, k, 1, d)[0]; a.Meets() || a.Tightest.Holds || !strings.Contains(a.Tightest.Why, why) {
				t.Errorf("%+v, want %q", a, why)
			}
		}
		narrow := Problem{M: 1, N: 1, K: 64}
		if a := advise(t, narrow, 1, devices.BlackwellE2M1())[0]; !a.Meets() {
			t.Errorf("numbers of e2m1 as they are: %+v", a)
		}
		narrow.RangeX.Max, narrow.RangeY.Max = 1, 449 // and nothing is known of distributions
		if a := advise(t, narrow, 1, devices.HopperE4M3())[0]; a.Meets() || a.Tightest.Why != "B reaches 449, e4m3 ends at 448" {
			t.Errorf("sizes alone: %+v", a)
		}
	})
	t.Run("says_what_data_cannot_be", func(t *testing.T) {
		k := k
		k.X = FromMoments("d", DataMoments{Mean: 2, MeanSquare: 1, MeanAbs: 2, MaxAbs: 2}, nil)
		if _, err := Advise(k, 1, at99, devices.All()); err == nil || err.Error() != "bound: d: variance -3, want it not negative" {
			t.Error(err)
		}
	})
	for want, f := range map[string]func(){
		"bound: tolerance = 0, want tolerance > 0":   func() { Advise(k, 0, at99, devices.All()) },
		"bound: tolerance = NaN, want tolerance > 0": func() { Advise(k, nan, at99, devices.All()) },
		"bound: no device to advise on":              func() { Advise(k, 1, at99, nil) },
		`tcore: device "none" has no core`:           func() { Advise(k, 1, at99, []tcore.Device{devices.HopperF16(), {Name: "none"}}) },
		"bound: Advise with an Order, Stochastic or a Run, which are of one machine": func() {
			k := k
			k.Order = tcore.InPairs
			Advise(k, 1, at99, devices.All())
		},
		"bound: K = 0, want K >= 1": func() { Advise(Problem{M: 1, N: 1}, 1, at99, devices.All()) },
	} {
		t.Run(want, func(t *testing.T) { wantPanic(t, want, f) })
	}
}

func TestAdviceJSON(t *testing.T) {
	k := Problem{M: 1, N: 1, K: 64, Represented: true}
	for _, a := range advise(t, k, 1e-3) {
		text, err := json.Marshal(a)
		var got map[string]any
		if err != nil || json.Unmarshal(text, &got) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if keys := strings.Join(slices.Sorted(maps.Keys(got)), " "); keys !=
			"a absolute accumulate b bound bytes bytes_ratio confidence constant device excess gpu largest_k least_k meets other_recipe parts promote recipe source split_k tflops time_ratio underflow why" {
			t.Error(keys)
		}
		if (got["gpu"] == nil) != (a.Peak.Tflops == 0) || (got["bound"] == nil) == a.Tightest.Holds || got["meets"] != a.Meets() {
			t.Errorf("%s of %+v", text, a)
		}
	}
}

// Every peak has a GPU, a rate, a source and devices of one architecture. No
// device has two peaks, and a device without a published peak has none.
func TestPeaks(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range peaks {
		if p.GPU == "" || !(p.Tflops > 0) || !strings.Contains(p.Source, "20") || len(p.devices) == 0 {
			t.Errorf("%+v", p)
		}
		for _, d := range p.devices {
			if seen[d.Name] {
				t.Errorf("%s twice", d.Name)
			}
			seen[d.Name] = true
			if got, ok := PeakOf(d); !ok || got.Tflops != p.Tflops {
				t.Errorf("%s: %v", d.Name, got)
			}
			other, _ := PeakOf(p.devices[0])
			if d.Architecture != other.devices[0].Architecture {
				t.Errorf("%s is of another architecture than %s", d.Name, other.devices[0].Name)
			}
		}
	}
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.HopperMMAF16(), devices.RTXBlackwellF16(), devices.CDNA3TF32()} {
		if p, ok := PeakOf(d); ok {
			t.Errorf("%s: %+v, want none", d.Name, p)
		}
	}
}
