package library

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// products has factors by their positions; all others are +0.
type products map[int][2]float64

var (
	one    = [2]float64{1, 1}
	minus  = [2]float64{-1, 1}
	large  = [2]float64{1 << 12, 1 << 12}    // 2^24, whose successor in binary32 is 2^24 + 2
	spent  = [2]float64{-(1 << 12), 1 << 12} // -2^24
	small  = [2]float64{0x1p-12, 0x1p-12}    // 2^-24, which 1 swallows and twice of which it does not
	least  = [2]float64{-0x1p-13, 0x1p-13}   // rounds to -0 in binary16
	tiny8  = [2]float64{0x1p-7, 0x1p-7}      // 2^-14 of e4m3
	half16 = [2]float64{0x1p-5, 0x1p-6}      // half a unit of binary16 in the last place of 1
)

// config returns a configuration of the attributes that decide.
func config(algo, splits, scheme, option, stages int) Config {
	return Config{AlgoID: Some(algo), SplitKNum: Some(splits), ReductionScheme: Some(scheme), CustomOption: Some(option), StagesID: Some(stages)}
}

// Every mode adds as can be followed by hand: a number that is lost beside a
// larger one shows which products meet first. lone is what one chain of
// multiply-adds gives.
func TestModesByHand(t *testing.T) {
	const next = 1 + 0x1p-23 // successor of 1 in binary32
	for _, c := range []struct {
		name, profile string
		kind          Kind
		shape         Shape
		config        Config
		products      products
		mode          Mode
		sum, d, lone  float64
	}{
		{
			"3 beside 2^24 is cut to 2, by the tensor core", "sm90_lt13_1", FP16, Shape{64, 64, 40}, config(66, 1, 0, 0, 35),
			products{0: large, 5: {3, 1}, 20: spent}, Plain, 2, 2, 4,
		},
		{
			"e4m3 has 25 bits below the largest on Blackwell", "sm100_lt13_1", FP8, Shape{64, 64, 160}, config(66, 1, 0, 0, 36),
			products{0: one, 1: tiny8, 128: minus}, Plain, 0x1p-14, 0x1p-14, 0x1p-14,
		},
		{
			"and 13 on Hopper", "sm90_lt13_1", FP8, Shape{64, 64, 160}, config(66, 1, 0, 0, 36),
			products{0: one, 1: tiny8, 128: minus}, SplitBlocks, 0, 0, 0x1p-14,
		},
		{
			"three blocks of 64 in slices of 128 and 64", "sm90_lt13_1", FP16, Shape{64, 64, 192}, config(66, 2, 2, 0, 35),
			products{0: large, 130: one, 190: spent}, Split, 1, 1, 0,
		},
		{
			"a total every 128", "sm90_lt13_1", BF16, Shape{64, 64, 256}, config(66, 1, 0, 0, 36),
			products{0: large, 127: one, 128: one, 255: spent}, SplitBlocks, 1, 1, 0,
		},
		{
			"with slices of 256, each has two totals", "sm90_lt13_1", FP8, Shape{64, 64, 512}, config(66, 2, 2, 0, 36),
			products{0: {16, 16}, 128: {0x1p-4, 0x1p-4}, 256: {0x1p-4, 0x1p-4}, 384: {-16, 16}}, SplitBlocks, 0x1p-7, 0x1p-7, 0x1p-7,
		},
		{
			"groups of 0-7, 8-23, 24-39: the residue of 8 comes first", "sm90_lt13_1", FP16, Shape{64, 64, 40}, config(24, 1, 0, 0, 7),
			products{0: large, 8: one, 23: spent}, KPerDot, 1, 1, 0,
		},
		{
			"groups of 8", "sm100_lt12_8", FP16, Shape{64, 64, 32}, config(12, 1, 0, 0, 0),
			products{0: large, 7: one, 8: spent}, KPerDot, 0, 0, 0,
		},
		{
			"the residue of 20 has groups of 16 and 4", "sm103_lt13_1", BF16, Shape{64, 64, 52}, config(21, 1, 0, 0, 25),
			products{0: large, 16: one, 19: spent, 20: one}, KPerDot, 2, 2, 1,
		},
		{
			"slices in binary32", "sm90_lt13_1", FP16, Shape{64, 64, 128}, config(23, 2, 2, 0, 13),
			products{0: one, 1: half16, 64: half16}, SplitKGroups, 1 + 0x1p-10, 1 + 0x1p-10, 1 + 0x1p-10,
		},
		{
			"slices rounded to binary16", "sm90_lt13_1", FP16, Shape{64, 64, 128}, config(23, 2, 4, 0, 13),
			products{0: one, 1: half16, 64: half16}, SplitKGroups, 1 + 0x1p-11, 1, 1 + 0x1p-10,
		},
		{
			"a running sum in binary16", "sm90_lt13_1", FP16, Shape{64, 64, 128}, config(23, 2, 1, 0, 13),
			products{0: one, 1: half16, 64: half16}, SplitKGroups, 1, 1, 1 + 0x1p-10,
		},
		{
			"slices of 56 and 44, the first with groups of 0-15, 16-23, 24-39, 40-55", "sm90_lt13_1", FP16, Shape{64, 64, 100}, config(24, 2, 2, 0, 7),
			products{0: large, 24: one, 39: spent}, SplitKGroups, 1, 1, 0,
		},
		{
			"a running sum in bfloat16", "sm100_lt13_1", BF16, Shape{64, 64, 128}, config(23, 2, 0, 0, 13),
			products{0: one, 1: {0x1p-4, 0x1p-4}, 64: {0x1p-4, 0x1p-4}}, SplitKGroups, 1, 1, 1 + 0x1p-7,
		},
		{
			"slices of -0 make -0", "sm90_lt13_1", FP16, Shape{64, 64, 128}, config(24, 2, 4, 0, 7),
			products{0: least, 64: least}, SplitKGroups, math.Copysign(0, -1), math.Copysign(0, -1), -0x1p-25,
		},
		{
			"two parts", "sm90_lt13_1", FP16, Shape{8, 64, 4}, config(11, 1, 0, 0, 0),
			products{0: one, 2: small, 3: small}, GEMMSN, next, 1, 1,
		},
		{
			"four parts, of two blocks: the first of 128", "sm90_lt13_1", BF16, Shape{8, 64, 600}, config(11, 1, 0, 1, 0),
			products{0: one, 128: small, 149: small}, GEMMSN, next, 1, 1,
		},
		{
			"one part", "sm90_lt13_1", FP16, Shape{8, 64, 4}, config(16, 1, 0, 0, 0),
			products{0: one, 2: small, 3: small}, GEMMSN, 1, 1, 1,
		},
		{
			"a sum of -0 begins with +0", "sm90_lt13_1", BF16, Shape{8, 64, 1}, config(16, 1, 0, 0, 0),
			products{0: {-0x1p-80, 0x1p-80}}, GEMMSN, 0, 0, math.Copysign(0, -1),
		},
		{
			"two lanes in turns", "sm90_lt13_1", FP16, Shape{1, 64, 4}, config(13, 1, 0, 49, 0),
			products{0: one, 1: small, 3: small}, GEMV13, next, 1, 1,
		},
		{
			"four lanes of two in a row, by a butterfly", "sm100_lt13_1", FP16, Shape{64, 1, 8}, config(13, 1, 0, 40, 0),
			products{0: one, 2: small, 6: small}, GEMV13, next, 1, 1,
		},
		{
			"16 lanes from left to right", "sm90_lt13_1", FP16, Shape{64, 1, 16}, config(13, 1, 0, 12, 0),
			products{0: one, 4: small, 8: small}, GEMV13, 1, 1, 1,
		},
		{
			"a chain closed after 512 on Hopper", "sm90_lt13_1", FP16, Shape{64, 1, 514}, config(13, 1, 0, 0, 0),
			products{0: one, 512: small, 513: small}, GEMV13, next, 1, 1,
		},
		{
			"and not on Blackwell", "sm100_lt13_1", FP16, Shape{64, 1, 514}, config(13, 1, 0, 0, 0),
			products{0: one, 512: small, 513: small}, GEMV13, 1, 1, 1,
		},
		{
			"32 lanes of 4", "sm90_lt13_1", FP16, Shape{64, 1, 128}, config(13, 1, 0, 10, 0),
			products{0: one, 4: small, 68: small}, GEMV13, next, 1, 1,
		},
		{
			"two slices", "sm90_lt13_1", FP16, Shape{1, 64, 4}, config(13, 2, 0, 84, 0),
			products{0: one, 2: small, 3: small}, GEMV13, next, 1, 1,
		},
		{
			"slices of 5 and 4, in both of which lanes have two in a row", "sm90_lt13_1", FP16, Shape{1, 64, 9}, config(13, 2, 0, 40, 0),
			products{5: one, 7: small, 8: small}, GEMV13, next, 1, 1,
		},
		{
			"lanes of two in a row", "sm90_lt13_1", BF16, Shape{1, 64, 64}, config(13, 1, 0, 5, 0),
			products{0: one, 2: small, 3: small}, GEMVSlice, next, 1, 1,
		},
		{
			"a lane of 18 closed after 16", "sm90_lt13_1", BF16, Shape{1, 64, 576}, config(13, 1, 0, 5, 0),
			products{0: one, 16: small, 17: small}, GEMVSlice, next, 1, 1,
		},
		{
			"128 threads by a butterfly", "sm90_lt13_1", FP16, Shape{1, 64, 128}, config(14, 1, 0, 0, 0),
			products{0: one, 64: small, 32: small, 96: small}, GEMV14, next, 1, 1,
		},
		{
			"two chains in a thread", "sm90_lt13_1", FP16, Shape{64, 1, 512}, config(14, 1, 0, 0, 0),
			products{0: one, 1: small, 257: small}, GEMV14, next, 1, 1,
		},
		{
			"the second kernel adds blocks four apart", "sm103_lt13_1", FP16, Shape{1, 64, 1024}, config(14, 8, 0, 0, 0),
			products{0: one, 512: small, 128: small, 640: small}, GEMV14, next, 1, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			planned := profileOf(t, c.profile).mustPlan(t, c.shape, c.kind.String(), c.config)
			if planned.Mode != c.mode {
				t.Fatalf("mode %s, want %s", planned.Mode, c.mode)
			}
			x, y := make([]float64, c.shape.K), make([]float64, c.shape.K)
			for k, f := range c.products {
				x[k], y[k] = f[0], f[1]
			}
			if s := sum(planned.Plan, x, y); !same(s, c.sum) {
				t.Errorf("sum %x, want %x", s, c.sum)
			}
			if d := planned.Plan.Dot(x, y); !same(d, c.d) {
				t.Errorf("D %x, want %x", d, c.d)
			}
			if d := element(planned.Plan, 1, x, y); !same(d, c.d) {
				t.Errorf("D %x as a matrix, want %x", d, c.d)
			}
			if lone := fma(c.kind).Dot(x, y, 0); !same(lone, c.lone) {
				t.Errorf("a chain of multiply-adds gives %x, want %x", lone, c.lone)
			}
		})
	}
}

// The published form of a plan of every mode, and where the tables change from
// one row to the next.
func TestPublishedForm(t *testing.T) {
	square, row, column := Shape{4096, 4096, 4096}, Shape{1, 4096, 4096}, Shape{4096, 1, 4096}
	for _, c := range []struct {
		profile string
		shape   Shape
		config  Config
		want    string
	}{
		{"sm90_lt13_1", square, config(66, 1, 0, 0, 35), `{"algo_id":66,"mode":"plain"}`},
		{"sm90_lt13_1", square, config(66, 2, 0, 0, 35), `{"algo_id":66,"k_chunk":2048,"mode":"split"}`},
		{"sm90_lt13_1", square, config(66, 1, 0, 0, 36), `{"algo_id":66,"block_k":128,"k_chunk":4096,"mode":"split_blocks"}`},
		{"sm100_lt13_1", square, config(66, 1, 0, 0, 36), `{"algo_id":66,"mode":"plain"}`},
		{"sm90_lt13_1", square, config(12, 1, 0, 0, 0), `{"algo_id":12,"k_per_dot":8,"leading_group_k":0,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(21, 1, 0, 0, 12), `{"algo_id":21,"k_per_dot":16,"leading_group_k":8,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(21, 1, 0, 0, 13), `{"algo_id":21,"k_per_dot":16,"leading_group_k":40,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(21, 1, 0, 0, 18), `{"algo_id":21,"k_per_dot":16,"leading_group_k":40,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(21, 1, 0, 0, 19), `{"algo_id":21,"k_per_dot":16,"leading_group_k":104,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(21, 1, 0, 0, 25), `{"algo_id":21,"k_per_dot":16,"leading_group_k":8,"mode":"k_per_dot"}`},
		{"sm90_lt13_1", square, config(12, 2, 0, 0, 0), `{"algo_id":12,"block_k":32,"k_chunk":2048,"k_per_dot":8,"merge_scheme":3,"mode":"splitk_groups"}`},
		{"sm90_lt13_1", Shape{8, 8, 1000}, config(23, 3, 4, 0, 20), `{"algo_id":23,"block_k":128,"k_chunk":336,"k_per_dot":16,"merge_scheme":2,"mode":"splitk_groups"}`},
		{"sm90_lt13_1", Shape{8, 8, 1024}, config(23, 3, 2, 0, 20), `{"algo_id":23,"block_k":128,"k_chunk":384,"k_per_dot":16,"merge_scheme":0,"mode":"splitk_groups"}`},
		{"sm90_lt13_1", Shape{8, 4096, 512}, config(11, 1, 0, 0, 0), `{"algo_id":11,"mode":"gemmsn","simt":[2,256]}`},
		{"sm90_lt13_1", Shape{8, 4096, 512}, config(11, 1, 0, 1, 0), `{"algo_id":11,"mode":"gemmsn","simt":[4,128]}`},
		{"sm90_lt13_1", Shape{8, 4096, 40}, config(16, 1, 0, 0, 0), `{"algo_id":16,"mode":"gemmsn","simt":[1,0]}`},
		{"sm90_lt13_1", row, config(13, 1, 0, 0, 0), `{"algo_id":13,"gemv":[[1,1,512,false],1],"mode":"gemv13"}`},
		{"sm90_lt13_1", row, config(13, 1, 0, 8, 0), `{"algo_id":13,"gemv":[[1,1,256,false],1],"mode":"gemv13"}`},
		{"sm100_lt12_8", row, config(13, 1, 0, 8, 0), `{"algo_id":13,"gemv":[[1,1,0,false],1],"mode":"gemv13"}`},
		{"sm103_lt13_1", row, config(13, 1, 0, 8, 0), `{"algo_id":13,"gemv":[[1,1,256,false],1],"mode":"gemv13"}`},
		{"sm103_lt13_1", column, config(13, 7, 0, 98, 0), `{"algo_id":13,"gemv":[[-64,8,0,true],7],"mode":"gemv13"}`},
		{"sm90_lt13_1", column, config(13, 0, 0, 111, 0), `{"algo_id":13,"gemv":[[1,4,0,true],1],"mode":"gemv13"}`},
		{"sm90_lt13_1", Shape{1, 4096, 64}, config(13, 1, 0, 5, 0), `{"algo_id":13,"gemv":[32,16],"mode":"gemv_cslice"}`},
		{"sm90_lt13_1", row, config(14, 1, 0, 0, 0), `{"algo_id":14,"gemv":[1,1],"mode":"gemv14"}`},
		{"sm90_lt13_1", column, config(14, 9, 0, 77, 0), `{"algo_id":14,"gemv":[9,2],"mode":"gemv14"}`},
	} {
		got, err := json.Marshal(profileOf(t, c.profile).mustPlan(t, c.shape, "fp16", c.config))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v, %v: %s, %v, want %s", c.profile, c.shape, c.config, got, err, c.want)
		}
	}
	if text, err := json.Marshal(Planned{Mode: "none"}); err == nil {
		t.Errorf("mode none is written as %s", text)
	}
}

// The formats of D and the devices are those of the kinds and architectures.
func TestDevicesAndOutputs(t *testing.T) {
	for _, p := range Profiles() {
		for k, want := range map[Kind]struct{ hopper, blackwell string }{
			FP16: {"hopper-wgmma-binary16-binary32", "blackwell-tcgen05-binary16-binary32"},
			BF16: {"hopper-wgmma-bfloat16-binary32", "blackwell-tcgen05-bfloat16-binary32"},
			FP8:  {"hopper-wgmma-e4m3-binary32", "blackwell-tcgen05-e4m3-binary32"},
		} {
			name := want.blackwell
			if p.Architecture == "sm_90" {
				name = want.hopper
			}
			planned := p.mustPlan(t, Shape{64, 64, 256}, k.String(), config(66, 1, 0, 0, 36))
			if got := planned.Plan.Device().Name; got != name {
				t.Errorf("%s, %v: device %s, want %s", p.Name(), k, got, name)
			}
			output := tcore.Binary16
			if k == BF16 {
				output = tcore.BFloat16
			}
			if got := planned.Plan.Output; !got.Equal(output) {
				t.Errorf("%s, %v: D of %s, want %s", p.Name(), k, got.Name, output.Name)
			}
		}
	}
}
