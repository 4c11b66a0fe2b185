package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A list may end early and have holes.
func TestParseConfig(t *testing.T) {
	for text, want := range map[string]string{
		"66,0,2,2,0,0,35,0,0":                "66,0,2,2,0,0,35,0,0",
		"66":                                 "66,null,null,null,null,null,null,null,null",
		"66,,1,,,,35":                        "66,null,1,null,null,null,35,null,null",
		" [ 13 , null, 1, None, null, -5 ] ": "13,null,1,null,null,-5,null,null,null",
		",,,,,,,,":                           "null,null,null,null,null,null,null,null,null",
		"2147483647,-2147483648":             "2147483647,-2147483648,null,null,null,null,null,null,null",
	} {
		if c, err := ParseConfig(text); err != nil || c.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, c, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                        "is empty",
		"[]":                      "is empty",
		"[":                       "one bracket",
		"[66":                     "one bracket",
		"66,0,1,0,0,0,35,0,0,7":   `field 10 of the configuration, "7", is one too many, want 9: ALGO_ID, TILE_ID, SPLITK_NUM`,
		"66,0,many":               `SPLITK_NUM = "many", want an integer`,
		"66.5":                    `ALGO_ID = "66.5"`,
		"66,0,1,0,0,0,2147483648": `STAGES_ID = "2147483648"`,
		"66 0 1":                  `ALGO_ID = "66 0 1"`,
		"66;0":                    `ALGO_ID = "66;0"`,
		"0x42":                    `ALGO_ID = "0x42"`,
		"[[66]]":                  `ALGO_ID = "[66]"`,
	} {
		if c, err := ParseConfig(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", text, c, err, want)
		}
	}
	var c Config
	for _, text := range []string{"[1,2,3,4,5,6,7,8,9,10]", `["66"]`, "[66.5]", "66"} {
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s: %v", text, c)
		}
	}
}

// Every rule that declines has the published words, in the published order, and
// says what is known nearest.
func TestRefusals(t *testing.T) {
	hopper := profiles[0]
	square, row := Shape{64, 64, 256}, Shape{1, 64, 256}
	for _, c := range []struct {
		shape           Shape
		kind            Kind
		config          Config
		reason, nearest string
	}{
		{square, FP16, Config{}, "no-heuristic", "another product"},
		{square, FP16, config(99, 1, 0, 0, 35), "unsupported ALGO_ID 99", "11, 12, 13, 14, 16, 21, 23, 24, 66"},
		{square, FP16, config(0, 1, 0, 0, 35), "unsupported ALGO_ID 0", "66"},
		{square, FP16, Config{SplitKNum: Some(1)}, "unsupported ALGO_ID None", "66"},
		{square, FP16, config(66, 1, 0, 0, 3), "unsupported STAGES_ID 3 for nvjet", "35, 36"},
		{square, FP16, Config{AlgoID: Some(66)}, "unsupported STAGES_ID None for nvjet", "35, 36"},
		{square, FP16, config(66, 5, 0, 0, 35), "ok", ""},
		{Shape{64, 64, 64}, FP16, config(66, 2, 0, 0, 35), "chunk out of range", "SPLITK_NUM 1"},
		{square, FP16, config(21, 1, 0, 0, 6), "unsupported STAGES_ID 6 for cutlass", "0, 7, 8"},
		{square, FP8, config(21, 1, 0, 0, 6), "unsupported STAGES_ID 6 for cutlass", "0, 7, 8"},
		{square, FP8, config(21, 1, 0, 0, 7), "unsupported fp8 on a CUTLASS kernel", "ALGO_ID 66"},
		{square, FP16, Config{AlgoID: Some(23), StagesID: Some(7)}, "ok", ""},
		{square, FP16, config(23, 2, 3, 0, 7), "unsupported REDUCTION_SCHEME 3", "0, 1, 2, 4"},
		{square, FP16, Config{AlgoID: Some(23), SplitKNum: Some(2), StagesID: Some(7)}, "unsupported REDUCTION_SCHEME None", "0, 1, 2, 4"},
		{Shape{64, 64, 7}, FP16, config(23, 2, 2, 0, 7), "chunk out of range", "SPLITK_NUM 1"},
		{Shape{64, 64, 8}, FP16, config(23, 2, 2, 0, 7), "ok", ""},
		{square, FP8, config(11, 2, 0, 0, 0), "unsupported fp8 on a CUDA-core kernel", "ALGO_ID 66"},
		{square, FP16, config(11, 2, 0, 0, 0), "unsupported SPLITK_NUM 2 for ALGO_ID 11", "SPLITK_NUM 1"},
		{square, FP16, config(16, 1, 0, 1, 0), "unsupported CUSTOM_OPTION 1 for ALGO_ID 16", "0 for ALGO_ID 16"},
		{square, FP16, Config{AlgoID: Some(11)}, "unsupported CUSTOM_OPTION None for ALGO_ID 11", "0 and 1 for ALGO_ID 11"},
		{row, FP8, config(13, 1, 0, 0, 0), "unsupported fp8 on a CUDA-core kernel", "ALGO_ID 66"},
		{square, FP16, config(13, 1, 0, 0, 0), "unsupported ALGO_ID 13 on a non-gemv shape (M 64, N 64)", "M = 1 or N = 1"},
		{row, FP16, config(13, 2, 0, 5, 0), "unsupported CUSTOM_OPTION 5 for ALGO_ID 13 at SPLITK_NUM 2 with M 1 (this kernel handles SPLITK_NUM 1, M == 1 only)", "M = 1"},
		{Shape{64, 1, 8}, FP16, config(13, 1, 0, 5, 0), "unsupported CUSTOM_OPTION 5 for ALGO_ID 13 at SPLITK_NUM 1 with M 64 (this kernel handles SPLITK_NUM 1, M == 1 only)", "M = 1"},
		{row, FP16, config(13, 1, 0, 1, 0), "unsupported CUSTOM_OPTION 1 for ALGO_ID 13", "0, 6, 7, 8, 10"},
		{row, FP16, Config{AlgoID: Some(13)}, "unsupported CUSTOM_OPTION None for ALGO_ID 13", "0, 6, 7, 8, 10"},
		{row, FP16, Config{AlgoID: Some(14)}, "ok", ""},
		{Shape{1, 8448, 8}, FP16, config(13, 1, 0, 10, 0), "ok", ""},
		{Shape{1, 8449, 8}, FP16, config(13, 1, 0, 10, 0), "unsupported CUSTOM_OPTION 10 for ALGO_ID 13 on a 8449-element gemv (measured up to 8448)", "8448 outputs"},
	} {
		_, err := hopper.Plan(c.shape, c.kind, c.config)
		var r *Refusal
		switch {
		case c.reason == "ok":
			if err != nil {
				t.Errorf("%v: %v", c.config, err)
			}
		case !errors.As(err, &r) || r.Reason != c.reason || err.Error() != c.reason || !strings.Contains(r.Nearest, c.nearest):
			t.Errorf("%v: %v, want %s", c.config, err, c.reason)
		}
	}
}

// What cannot be computed with is an error that names it, and no refusal.
func TestQuestionsThatAreNone(t *testing.T) {
	p, c := profiles[0], config(66, 1, 0, 0, 35)
	beyond := int64(math.MaxInt32) + 1 // a negative number where int has 32 bits
	for want, ask := range map[string]func() error{
		"M = 0, want 1":  func() error { _, err := p.Plan(Shape{0, 1, 1}, FP16, c); return err },
		"N = -4, want 1": func() error { _, err := p.Plan(Shape{1, -4, 1}, FP16, c); return err },
		fmt.Sprintf("K = %d, want 1", int(beyond)): func() error { _, err := p.Plan(Shape{1, 1, int(beyond)}, FP16, c); return err },
		"factors of fp32, want fp16":               func() error { _, err := p.Plan(Shape{1, 1, 1}, FP32, c); return err },
		"factors of Kind(9), want":                 func() error { _, err := p.Plan(Shape{1, 1, 1}, Kind(9), c); return err },
		"factors of fp16, want fp16, bf16":         func() error { _, err := (Profile{}).Plan(Shape{1, 1, 1}, FP16, c); return err },
		"SPLITK_NUM = 65537, want at most":         func() error { _, err := p.Plan(Shape{1, 1, 1}, FP16, config(14, 65537, 0, 0, 0)); return err },
		"D of bfloat16, want binary16 or": func() error {
			_, err := p.PlanWith(Shape{1, 1, 1}, FP16, c, Options{Output: tcore.BFloat16})
			return err
		},
		`kind "fp4", want one of fp16, bf16`: func() error { _, err := ParseKind("fp4"); return err },
	} {
		err := ask()
		var r *Refusal
		if err == nil || errors.As(err, &r) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What nobody measured is planned with a doubt, and refused with the option.
func TestDoubts(t *testing.T) {
	hopper, blackwell := profiles[0], profiles[2]
	for _, c := range []struct {
		profile         Profile
		shape           Shape
		kind            Kind
		config          Config
		reason, nearest string
	}{
		{hopper, Shape{64, 64, 256}, FP16, config(66, 1, 0, 0, 35), "", ""},
		{hopper, Shape{64, 64, 256}, FP8, config(66, 1, 0, 0, 36), "", ""},
		{hopper, Shape{64, 64, 250}, FP8, config(66, 1, 0, 0, 36), "K = 250, where cuBLASLt takes fp8 with multiples of 16 only", "K = 256"},
		{hopper, Shape{64, 8, 256}, FP8, config(66, 1, 0, 0, 36), "N = 8, where", "N = 16"},
		{hopper, Shape{8, 16, 256}, FP8, config(66, 1, 0, 0, 36), "M = 8, where", "M = 16"},
		{hopper, Shape{63, 64, 256}, FP16, config(21, 1, 0, 0, 7), "", ""},
		{hopper, Shape{63, 60, 256}, FP16, config(21, 1, 0, 0, 7), "N = 60, where ALGO_ID 21 takes rows aligned to 16 bytes, multiples of 8", "ALGO_ID 23, or N = 64"},
		{hopper, Shape{63, 64, 255}, BF16, config(21, 1, 0, 0, 7), "K = 255, where ALGO_ID 21", "ALGO_ID 24, or K = 256"},
		{hopper, Shape{63, 63, 254}, BF16, config(23, 1, 0, 0, 7), "N = 63, where ALGO_ID 23 takes rows aligned to 4 bytes, multiples of 2", "ALGO_ID 24, or N = 64"},
		{hopper, Shape{63, 63, 255}, BF16, config(24, 1, 0, 0, 7), "", ""},
		{hopper, Shape{40000, 64, 256}, FP16, config(66, 1, 0, 0, 35), "M = 40000, measured up to 32768", "M = 32768"},
		{hopper, Shape{64, 64, 400001}, FP16, config(66, 1, 0, 0, 35), "K = 400001, measured up to 400000", "K = 400000"},
		{hopper, Shape{64, 64, 256}, FP16, config(66, 1, 0, 0, 36), "STAGES_ID 36 with fp16", "STAGES_ID 35"},
		{hopper, Shape{64, 64, 256}, FP8, config(66, 1, 0, 0, 35), "STAGES_ID 35 with fp8", "STAGES_ID 36"},
		{hopper, Shape{64, 64, 38288}, FP8, config(66, 149, 2, 0, 36), "SPLITK_NUM 149 with fp8", "SPLITK_NUM 128"},
		{hopper, Shape{64, 64, 256}, FP16, config(12, 1, 0, 0, 7), "K = 256 with ALGO_ID 12, seen with K = 1 only", "K = 1"},
		{hopper, Shape{64, 64, 1}, FP16, config(12, 1, 0, 0, 7), "", ""},
		{hopper, Shape{64, 64, 256}, FP16, config(24, 1, 0, 0, 17), "STAGES_ID 17, which no query picked", "STAGES_ID 18"},
		{hopper, Shape{64, 64, 256}, FP16, config(24, 2, 0, 0, 8), "STAGES_ID 8 with SPLITK_NUM 2", "SPLITK_NUM 1"},
		{hopper, Shape{64, 64, 256}, FP16, config(24, 1, 0, 0, 25), "STAGES_ID 25 with ALGO_ID 24", "ALGO_ID 21"},
		{hopper, Shape{64, 64, 256}, FP16, config(11, 1, 0, 0, 0), "M = 64 with ALGO_ID 11, seen with 2 to 16", "M = 16"},
		{hopper, Shape{253, 64, 40}, FP16, config(16, 1, 0, 0, 0), "M = 253 with ALGO_ID 16, seen with 1 to 252", "M = 252"},
		{hopper, Shape{8, 64, 228}, FP16, config(16, 1, 0, 0, 0), "K = 228 with ALGO_ID 16, seen up to 227", "K = 227"},
		{blackwell, Shape{5, 64, 40}, FP16, config(16, 1, 0, 0, 0), "M = 5 with ALGO_ID 16, seen with 6 to 16", "M = 6"},
		{blackwell, Shape{8, 64, 46}, FP16, config(16, 1, 0, 0, 0), "K = 46 with ALGO_ID 16, seen up to 45", "K = 45"},
		{blackwell, Shape{8, 64, 1}, FP16, config(16, 1, 0, 0, 0), "K = 1 with ALGO_ID 16, seen up to 45", "K = 2"},
		{hopper, Shape{1, 64, 56}, FP16, config(13, 1, 0, 94, 0), "K = 56 with CUSTOM_OPTION 94, seen up to 55", "K = 55"},
		{hopper, Shape{1, 64, 55}, FP16, config(13, 1, 0, 94, 0), "", ""},
		{hopper, Shape{1, 64, 4096}, FP16, config(13, 1, 0, 73, 0), "", ""},
		{blackwell, Shape{1, 64, 80}, FP16, config(13, 1, 0, 8, 0), "K = 80 with CUSTOM_OPTION 8, seen below 80 only", "K = 79"},
		{hopper, Shape{1, 64, 80}, FP16, config(13, 1, 0, 8, 0), "", ""},
	} {
		planned, err := c.profile.Plan(c.shape, c.kind, c.config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.profile.PlanWith(c.shape, c.kind, c.config, Options{Measured: true})
		if c.reason == "" {
			if err != nil || len(planned.Doubts) > 0 {
				t.Errorf("%v, %v: %v, %v", c.shape, c.config, err, planned.Doubts)
			}
			continue
		}
		var r *Refusal
		if len(planned.Doubts) == 0 || !errors.As(err, &r) || *r != planned.Doubts[0] || !strings.HasPrefix(r.Reason, c.reason) || r.Nearest != c.nearest {
			t.Errorf("%v, %v: %v, %+v, want %s, %s", c.shape, c.config, planned.Doubts, r, c.reason, c.nearest)
		}
	}
	planned, err := blackwell.PlanWith(Shape{64, 64, 256}, FP16, config(24, 2, 4, 0, 7), Options{Output: tcore.Binary32})
	if err != nil || len(planned.Doubts) != 1 || !planned.Plan.Output.Equal(tcore.Binary32) {
		t.Errorf("%v, %v: D of binary32 from rounded slices was never measured", planned.Doubts, err)
	}
}

// Versions and architectures are found by all their names; others are refused,
// or warned of, with what is known.
func TestFindProfile(t *testing.T) {
	for _, c := range [][4]string{
		{"cublaslt-13.1", "h100", "cublaslt-13.1 sm_90", ""},
		{"13.1.1", "SM_90", "cublaslt-13.1 sm_90", ""},
		{"13.01", "9.0", "cublaslt-13.1 sm_90", ""},
		{"13.1", "sm_90a", "cublaslt-13.1 sm_90", ""},
		{"cublaslt-13.1", "h200", "cublaslt-13.1 sm_90", ""},
		{"cublaslt-13.1", "h800", "cublaslt-13.1 sm_90", "h800 was not measured"},
		{"12.8", "h100", "cublaslt-13.1 sm_90", "version 12.8 is not known on sm_90: the newest one that is, 13.1"},
		{"12.8.5", "b200", "cublaslt-12.8 sm_100", ""},
		{"13.1", "gb200", "cublaslt-13.1 sm_100", ""},
		{"13.2.2", "sm100", "cublaslt-13.1 sm_100", "version 13.2 is not known on sm_100"},
		{"13.1", "10.3", "cublaslt-13.1 sm_103", ""},
		{"1.0", "b300", "cublaslt-13.1 sm_103", "b300 was not measured"},
	} {
		p, warning, err := FindProfile(c[0], c[1])
		if err != nil || p.Name() != c[2] || !strings.Contains(warning, c[3]) || (warning == "") != (c[3] == "") {
			t.Errorf("%s, %s: %s, %q, %v", c[0], c[1], p.Name(), warning, err)
		}
	}
	for _, c := range [][2]string{
		{"13.1", "a100"}, {"13.1", "sm_80"}, {"13.1", "sm_120"}, {"13.1", ""}, {"13.1", "sm_9"}, {"", "h100"}, {"13", "h100"}, {"rocblas-4.0", "h100"}, {"13.x", "h100"},
	} {
		if p, _, err := FindProfile(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "cublaslt-13.1 sm_90 (h100, h200)") {
			t.Errorf("%s, %s: %s, %v", c[0], c[1], p.Name(), err)
		}
	}
	for i, want := range []int{72, 51, 51, 51} {
		if got := len(Profiles()[i].recipes); got != want {
			t.Errorf("%s: %d options of ALGO_ID 13, want %d", Profiles()[i].Name(), got, want)
		}
	}
}

// Of the options of ALGO_ID 13 with a butterfly, those whose lanes take turns
// are odd, and those whose lanes have slices in a row are even.
func TestOptionsOfButterflies(t *testing.T) {
	for _, p := range Profiles() {
		for option, r := range p.recipes {
			if turns := option%2 == 1; r.Down && option != cappedOption && turns != (r.Vector != inRow) {
				t.Errorf("%s: option %d is %+v", p.Name(), option, r)
			}
		}
	}
}
