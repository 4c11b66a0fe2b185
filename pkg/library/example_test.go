package library_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Two slices of K find a 1 that one chain loses beside 2^24.
func ExampleProfile_Plan() {
	h100, _, err := library.FindProfile("cublaslt-13.1", "h100")
	if err != nil {
		fmt.Println(err)
		return
	}
	shape := library.Shape{M: 64, N: 64, K: 256}
	x, y := make([]float64, shape.K), make([]float64, shape.K)
	x[0], y[0] = 1<<12, 1<<12
	x[128], y[128] = 1, 1
	x[255], y[255] = -(1 << 12), 1<<12
	for _, text := range []string{"66,0,1,2,0,0,35", "66,0,2,2,0,0,35"} {
		config, err := library.ParseConfig(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		planned, err := h100.Plan(shape, library.FP16, config)
		if err != nil {
			fmt.Println(err)
			return
		}
		published, err := json.Marshal(planned)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v\n", published, planned.Plan.Dot(x, y))
	}
	// Output:
	// {"algo_id":66,"mode":"plain"}: 0
	// {"algo_id":66,"k_chunk":128,"mode":"split"}: 1
}

// What the tables do not have is refused, with what is known nearest.
func ExampleRefusal() {
	h100, _, _ := library.FindProfile("13.1", "sm_90")
	config, _ := library.ParseConfig("66,0,1,0,0,0,3")
	_, err := h100.Plan(library.Shape{M: 64, N: 64, K: 256}, library.FP16, config)
	var refusal *library.Refusal
	if errors.As(err, &refusal) {
		fmt.Printf("%v; %s\n", err, refusal.Nearest)
	}
	// Output: unsupported STAGES_ID 3 for nvjet; known is STAGES_ID 35, 36
}

// A product that lost the last 8 of its products on a GB300: the published
// planner has them, and marks the plan.
func ExampleSuspicion() {
	gb300, _, _ := library.FindProfile("13.1", "gb300")
	config, _ := library.ParseConfig("66,,9,,,,35")
	planned, err := gb300.PlanWith(library.Shape{M: 1, N: 8, K: 8648}, library.FP16, config, library.Options{Output: tcore.Binary32})
	if err != nil {
		fmt.Println(err)
		return
	}
	ones := make([]float64, 8648)
	for i := range ones {
		ones[i] = 1
	}
	fmt.Println(planned.Plan.Dot(ones, ones), planned.Suspected.Plan.Dot(ones, ones))
	fmt.Println(planned.Suspected.Note[:58])
	// Output:
	// 8648 8640
	// suspected: D has 8640 of 8648 products, without the last 8
}

// What nobody measured is planned with a doubt, or refused.
func ExampleProfile_PlanWith() {
	h100, _, _ := library.FindProfile("13.1", "h100")
	shape := library.Shape{M: 64, N: 60, K: 256}
	config, _ := library.ParseConfig("21,0,1,0,0,0,7")
	planned, err := h100.PlanWith(shape, library.FP16, config, library.Options{})
	fmt.Println(planned.Mode, planned.Doubts[0].Reason, err)
	_, err = h100.PlanWith(shape, library.FP16, config, library.Options{Measured: true})
	fmt.Println(err)
	// Output:
	// k_per_dot N = 60, where ALGO_ID 21 takes rows aligned to 16 bytes, multiples of 8 <nil>
	// N = 60, where ALGO_ID 21 takes rows aligned to 16 bytes, multiples of 8
}

func ExampleProfiles() {
	for _, p := range library.Profiles() {
		fmt.Printf("%-20s %s\n", p.Name(), p.Measured)
	}
	// Output:
	// cublaslt-13.1 sm_90  H100 and H200, cuBLASLt 13.1.0 and 13.1.1
	// cublaslt-12.8 sm_100 B200 and GB200, cuBLASLt 12.8.5
	// cublaslt-13.1 sm_100 B200 and GB200, cuBLASLt 13.1.1
	// cublaslt-13.1 sm_103 GB300, cuBLASLt 13.1.1
}

func ExampleFindProfile() {
	p, warning, err := library.FindProfile("cublaslt-12.8", "h100")
	fmt.Println(p.Name(), err)
	fmt.Println(warning)
	_, _, err = library.FindProfile("cublaslt-13.1", "a100")
	fmt.Println(err)
	// Output:
	// cublaslt-13.1 sm_90 <nil>
	// version 12.8 is not known on sm_90: the newest one that is, 13.1, stands for it
	// library: no profile of cuBLASLt on "a100": known are cublaslt-13.1 sm_90 (h100, h200); cublaslt-12.8 sm_100 (b200, gb200); cublaslt-13.1 sm_100 (b200, gb200); cublaslt-13.1 sm_103 (gb300)
}

func ExampleParseConfig() {
	c, err := library.ParseConfig("66, null, 2")
	fmt.Println(c, err)
	c.StagesID = library.Some(35)
	fmt.Println(c)
	_, err = library.ParseConfig("66,0,two")
	fmt.Println(err)
	// Output:
	// 66,null,2,null,null,null,null,null,null <nil>
	// 66,null,2,null,null,null,35,null,null
	// library: SPLITK_NUM = "two", want an integer of 32 bits or null
}

func ExampleSome() {
	fmt.Println(library.Some(66), library.Attribute{})
	// Output: 66 null
}

func ExampleParseKind() {
	k, err := library.ParseKind("fp8")
	fmt.Println(k, k.Factors().Name, err)
	// Output: fp8 e4m3 <nil>
}

func ExampleKind_Factors() {
	fmt.Println(library.BF16.Factors().Name)
	// Output: bfloat16
}

func ExampleShape_Check() {
	fmt.Println(library.Shape{M: 64, N: 0, K: 256}.Check())
	// Output: library: N = 0, want 1 to 2147483647
}

func ExampleModes() {
	fmt.Println(library.Modes())
	// Output: [plain split split_blocks k_per_dot splitk_groups gemmsn gemv13 gemv_cslice gemv14]
}

func ExamplePlans() {
	for _, e := range library.Plans() {
		fmt.Printf("%-26s %s\n", e.Name, e.Source)
	}
	// Output:
	// deepgemm-sm90-1d2d         DeepGEMM 2025
	// deepgemm-sm90-1d1d         DeepGEMM 2025
	// deepseek-v3                DeepSeek-AI 2024b
	// cutlass-fp8                NVIDIA, CUTLASS
	// cutlass-fp8-fast           NVIDIA, CUTLASS
	// cutlass-fp8-blockwise      NVIDIA, CUTLASS
	// cutlass-fp8-blockwise-both NVIDIA, CUTLASS
	// transformer-engine-split   TransformerEngine 2026
	// transformer-engine-fast    TransformerEngine 2026
	// openblas-sgemm             OpenBLAS 2022
	// openblas-sgemm-two-chains  OpenBLAS 2022
	// numpy-sum                  NumPy 2024
	// deepgemm-sm100             DeepGEMM 2025
	// cutlass-stream-k           NVIDIA, CUTLASS
	// hipblaslt-stream-k         rocm-libraries 2026
}

// DeepGEMM and DeepSeek-V3's own kernel associate the scales of a block
// differently.
func ExampleEntry_Plan() {
	x, y := []float64{1, 3}, []float64{3, 7}
	for _, name := range []string{"deepgemm-sm90-1d1d", "deepseek-v3"} {
		e, err := library.FindPlan(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := e.Plan(library.Shape{M: 1, N: 1, K: 2}, library.FP8)
		if err != nil {
			fmt.Println(err)
			return
		}
		p.Output = tcore.Binary32
		fmt.Println(p.DotScaled(x, y, []float32{1.1}, []float32{0.3}))
	}
	// Output:
	// 7.920000076293945
	// 7.9200005531311035
}

func ExampleFindPlan() {
	e, err := library.FindPlan("numpy-sum")
	fmt.Println(e.Source, err)
	// Output: NumPy 2024 <nil>
}

// With a promotion every 8 instructions, 2^-8 meets 2^8 in one accumulator of
// 13 bits.
func ExampleCUTLASSPromoted() {
	x, y := make([]float64, 512), make([]float64, 512)
	x[0], y[0], x[150], y[150], x[511], y[511] = 16, 16, 0x1p-4, 0x1p-4, -16, 16
	for _, interval := range []int{4, 8} {
		e, err := library.CUTLASSPromoted(interval)
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := e.Plan(library.Shape{M: 1, N: 1, K: 512}, library.FP8)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Name, p.Dot(x, y))
	}
	// Output:
	// cutlass-fp8 0.00390625
	// cutlass-fp8-8 0
}

func ExamplePyTorchReduction() {
	full, err := library.PyTorchReduction(false, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"24,0,4,2", "24,0,4,4"} {
		config, _ := library.ParseConfig(text)
		fmt.Println(full.Allows(config))
	}
	// Output:
	// <nil>
	// library: REDUCTION_SCHEME 4 of 4 slices, which pytorch-full does not allow
}

func ExampleConstraint_Allows() {
	none, _ := library.PyTorchReduction(false, false)
	config, _ := library.ParseConfig("66,0,2,2,0,0,35")
	fmt.Println(none.Allows(config))
	// Output: library: SPLITK_NUM 2, which pytorch-full-no-split does not allow
}

// OpenBLAS cuts K = 321 in two, which finds what one chain loses.
func ExampleOpenBLASCore_Plan() {
	core, err := library.FindOpenBLASCore("Haswell")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := core.Plan(library.Shape{M: 40, N: 40, K: 321}, library.FP32, library.OneChain)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := make([]float64, 321), make([]float64, 321)
	x[0], y[0], x[160], y[160], x[320], y[320] = 1<<24, 1, 1, 1, -(1 << 24), 1
	chain := tcore.Device{A: tcore.Binary32, B: tcore.Binary32, C: tcore.Binary32, Core: tcore.Chain{}}
	fmt.Println(p.Dot(x, y), chain.Dot(x, y, 0))
	// Output: 1 0
}

func ExampleOpenBLASCores() {
	for _, c := range library.OpenBLASCores() {
		fmt.Println(c.Name, "in", c.Measured)
	}
	// Output:
	// Haswell in OpenBLAS 0.3.21, one thread, alpha = 1, beta = 0
	// Zen in OpenBLAS 0.3.21, one thread, alpha = 1, beta = 0
}

func ExampleFindOpenBLASCore() {
	_, err := library.FindOpenBLASCore("SkylakeX")
	fmt.Println(err)
	// Output: library: OpenBLAS with core "SkylakeX": known are the cores Haswell, Zen
}

// The devices are those of the catalogue.
func ExampleProfile() {
	b200, _, _ := library.FindProfile("13.1", "b200")
	config, _ := library.ParseConfig("66,0,1,0,0,0,36")
	planned, err := b200.Plan(library.Shape{M: 64, N: 64, K: 256}, library.FP8, config)
	fmt.Println(planned.Plan.Device().Name == devices.BlackwellE4M3().Name, err)
	// Output: true <nil>
}
