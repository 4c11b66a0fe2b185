package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The fake cuBLASLt answers the configurations and adds in the order that a
// test chooses, in C of its own: what agrees, disagrees and has no plan is told
// so.
func TestGPUVerifyLibrary(t *testing.T) {
	fakeGPU(t)
	const plain, split = "66,20,1,0,0,0,35,0,3", "66,20,4,2,0,0,35,0,3"
	hopper := func(algorithms string) map[string]string {
		return map[string]string{"FAKE_VERSION": "130101", "FAKE_SUM": "hopper", "FAKE_ALGORITHMS": algorithms}
	}
	with := func(fake map[string]string, pairs ...string) map[string]string {
		for i := 0; i < len(pairs); i += 2 {
			fake[pairs[i]] = pairs[i+1]
		}
		return fake
	}
	for _, c := range []struct {
		name   string
		fake   map[string]string
		args   string
		status int
		want   []string
	}{
		{"agrees_with_chains_and_splits", hopper(plain + ";" + split), "--shapes 16x24x200,5x3x1001 fp16 bf16", 0, []string{
			"Fake GPU 0, compute capability 9.0, cuBLASLt 13.1.1, seed 1\nPlans of cublaslt-13.1 sm_90 (H100 and H200, cuBLASLt 13.1.0 and 13.1.1)\n",
			"16 × 24 × 200          fp16       2  66,20,4,2,0,0,35,0,3         split              1152         0\n",
			"5 × 3 × 1001           bf16>fp32  1  66,20,1,0,0,0,35,0,3         plain                45         0\n",
			"\nfirst choices: 8 of 8 have the bits of their plans\nother choices: 8 of 8 have the bits of their plans\n  plain: 8 of 8\n  split: 8 of 8\n", "\nproducts=16 outputs=9576 disagreements=0 refused=0\n"}},
		{"agrees_with_blocks_of_eight_bits_in_multiples_of_16", hopper("66,20,1,0,0,0,36,0,3;66,20,3,2,0,0,36,0,3"), "--shapes 16x24x600 fp8", 0, []string{
			"16 × 32 × 608          fp8        1  66,20,1,0,0,0,36,0,3         split_blocks", "products=4 outputs=6144 disagreements=0 refused=0\n"}},
		{"agrees_with_chains_of_FMAs", with(hopper("13,0,1,0,0,6,0,0,0"), "FAKE_SUM", "fma"), "--shapes 1x24x600 fp16", 0, []string{
			"gemv13", "products=2 outputs=144 disagreements=0 refused=0\n"}},
		{"finds_another_order_and_shows_it", with(hopper(split), "FAKE_SLICE", "128"), "--shapes 16x24x1000 fp16", 1, []string{
			"fp16>fp32  1  66,20,4,2,0,0,35,0,3         split              1152 ", "\n  normal data, row 0, column ", ", and by the plan ",
			"\nfirst choices: 0 of 2 have the bits of their plans\n  split: 0 of 2\n", "roundoff gpu: 2 of 2 products differ from their plans, in "}},
		{"finds_a_chain_in_place_of_lanes", with(hopper("13,0,1,0,0,47,0,0,0"), "FAKE_SUM", "fma"), "--shapes 1x24x600 fp16", 1, []string{"| lanes 32 vector 1 + butterfly > binary32'"}},
		{"tells_a_tail_that_is_lost_as_suspected", with(hopper("66,0,9,2,0,0,35,0,0"), "FAKE_SLICE", "960", "FAKE_LOSE", "8"), "--shapes 1x8x8648 fp16", 0, []string{
			"split-tail           24         0\n  without the last 8 products, as suspected of this configuration\n",
			"2 of these have lost the tail of K, as suspected\n", "disagreements=0 "}},
		{"finds_another_tail_that_is_lost", with(hopper("66,0,9,2,0,0,35,0,0"), "FAKE_SLICE", "960", "FAKE_LOSE", "7"), "--shapes 1x8x8648 fp16", 1, []string{"split "}},
		{"counts_what_has_no_plan", hopper("99,0,1,0,0,0,0,0,0;" + plain + ";98,0,1"), "--shapes 16x24x200,8x8x8 fp16", 0, []string{
			"16 × 24 × 200          fp16       1  99,0,1,0,0,0,0,0,0           refused: unsupported ALGO_ID 99; known is ALGO_ID 11, 12, 13,",
			"\nother choices: 4 of 4 have the bits of their plans\n  plain: 4 of 4\n", "\nrefused 4: unsupported ALGO_ID 99; known is", "\nproducts=4 outputs=2688 disagreements=0 refused=8\n"}},
		{"takes_as_many_algorithms_as_it_is_told", hopper(plain + ";" + split + ";" + plain), "--algorithms 2 --shapes 8x8x200 fp16", 0, []string{"\nproducts=4 "}},
		{"marks_what_nobody_measured", hopper("66,20,1,0,0,0,36,0,3"), "--shapes 8x8x200 fp16", 0, []string{
			" 0 ?\n", "\n? 2: STAGES_ID 36 with fp16, seen with the other formats only\n"}},
		{"counts_what_the_library_does_not_compute", with(hopper(plain), "FAKE_NO_ALGORITHM", "1"), "--shapes 8x8x8 fp16", 0, []string{
			"\nrefused 2: cuBLASLt has no algorithm for it\nproducts=0 outputs=0 disagreements=0 refused=2\n"}},
		{"counts_an_algorithm_that_the_library_takes_back", with(hopper(plain), "FAKE_FAIL", "cublasLtMatmul:15"), "--shapes 8x8x8 fp16", 0, []string{
			"\nrefused 2: cuBLASLt does not compute it by the algorithm that it suggests\nproducts=0 "}},
		{"names_the_nearest_version", with(hopper(plain), "FAKE_VERSION", "120803"), "--shapes 8x8x8 fp16", 0, []string{
			"cuBLASLt 12.8.3, seed 1\nPlans of cublaslt-13.1 sm_90 (H100 and H200, cuBLASLt 13.1.0 and 13.1.1): version 12.8 is not known on sm_90: the newest one that is, 13.1, stands for it\n"}},
		{"reads_configurations_where_no_plan_is_known", with(hopper(plain), "FAKE_CAPABILITY", "80"), "--shapes 8x8x8 fp16", 1, []string{
			"\nNo plans: ", plain + "         refused: no profile\n", "products=0 outputs=0 disagreements=0 refused=2\n", `no profile of cuBLASLt on "8.0": known are`}},
		{"leaves_out_what_an_old_library_has_not", with(hopper(plain), "FAKE_OLD", "1"), "--shapes 8x8x8 fp16", 0, []string{"  66,20,1,0,0,0,35,null,null "}},
		{"stops_when_enough_is_compared", hopper(plain), "--dots 1 fp16", 0, []string{"\nproducts=1 outputs=12288 "}},
		{"names_a_call_that_fails", with(hopper(plain), "FAKE_FAIL", "cublasLtMatmul:13"), "--shapes 8x8x8 fp16", 1, []string{
			"roundoff gpu: fp16 of 8 × 8 × 8: gpu: product of 8 × 8 by 8 × 8, binary16: cublasLtMatmul(NN, m 8, n 8, k 8,",
			", A by rows, B by rows, D by rows) returned 13, CUBLAS_STATUS_EXECUTION_FAILED: fake status\n"}},
		{"wants_a_product_whole", with(hopper(plain), "FAKE_MEMORY", "36500000"), "--shapes 256x600x256 fp16", 1, []string{"device memory holds it in 2 parts alone"}},
		{"names_a_query_that_fails", with(hopper(plain), "FAKE_FAIL", "cublasLtMatmulAlgoGetHeuristic:14"), "--shapes 8x8x8 fp16", 1, []string{"cublasLtMatmulAlgoGetHeuristic(", "CUBLAS_STATUS_INTERNAL_ERROR: fake status"}},
		{"names_a_layout_that_fails", with(hopper(plain), "FAKE_FAIL", "cublasLtMatrixLayoutSetAttribute:7"), "--shapes 8x8x8 fp16", 1, []string{"cublasLtMatrixLayoutSetAttribute(ORDER_ROW of 8 × 8, ld 8) returned 7, CUBLAS_STATUS_INVALID_VALUE"}},
		{"names_an_attribute_that_fails", with(hopper(plain), "FAKE_FAIL", "cublasLtMatmulAlgoConfigGetAttribute:1"), "--shapes 8x8x8 fp16", 1, []string{"cublasLtMatmulAlgoConfigGetAttribute(attribute 0) returned 1, CUBLAS_STATUS_NOT_INITIALIZED"}},
		{"exits_with_3_without_a_GPU", map[string]string{"FAKE_DEVICES": "0"}, "", 3, []string{"roundoff gpu: no NVIDIA GPU: no device 0"}},
		{"refuses_what_is_no_shape", nil, "--shapes 8x8", 2, []string{`shapes: "8x8", want M x N x K as in 1x4096x4096`}},
		{"refuses_a_shape_too_large", nil, "--shapes 1x1x1,9999999x1x9999999", 2, []string{`shapes: "9999999x1x9999999": A is 9999999 × 9999999 and B`}},
		{"refuses_factors_without_plans", nil, "fp32", 2, []string{`"fp32" with library, want fp16, bf16 or fp8`}},
		{"refuses_no_algorithm", nil, "--algorithms 0", 2, []string{"algorithms = 0, want 1 to 16"}},
		{"refuses_an_emulation", nil, "--emulate hopper", 2, []string{`emulate = "hopper" with library, which asks a GPU alone`}},
		{"refuses_no_time", nil, "--seconds 0", 2, []string{"seconds = 0, want more than 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.fake {
				t.Setenv(name, value)
			}
			status, out := verifyOnFake(t, c.args)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// verifyOnFake runs roundoff gpu verify --library.
func verifyOnFake(t *testing.T, args string) (status int, out string) {
	t.Helper()
	var b bytes.Buffer
	status = run(t.Context(), strings.Fields("gpu verify --library "+args), &b, &b)
	return status, b.String()
}

func TestGPUVerify_refuses_what_is_of_the_library_without_it(t *testing.T) {
	for flag, want := range map[string]string{
		"--shapes 8x8x8": `shapes = "8x8x8" without library`,
		"--algorithms 3": `algorithms = 3 without library`,
	} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Fields("gpu verify --emulate volta "+flag), &out, &out)
		if status != 2 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: status %d, %q, want 2 and %q", flag, status, out.String(), want)
		}
	}
}

// The plan that stands below a difference is one that roundoff plan explain
// takes.
func TestGPUVerifyLibrary_names_a_plan_to_explain(t *testing.T) {
	fakeGPU(t)
	t.Setenv("FAKE_ALGORITHMS", "66,20,4,2,0,0,35,0,3")
	_, out := verifyOnFake(t, "--shapes 8x8x1000 fp16") // the fake sums exactly
	found := regexp.MustCompile(`roundoff (plan explain -k 1000 -plan) '(.*)'`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no plan in\n%s", out)
	}
	var b bytes.Buffer
	if status := run(t.Context(), append(strings.Fields(found[1]), found[2]), &b, &b); status != 0 || !strings.Contains(b.String(), "256") {
		t.Errorf("status %d, %s, want slices of 256", status, b.String())
	}
}

func TestGPUVerifyLibrary_without_the_library(t *testing.T) {
	fakeGPU(t)
	if err := os.Remove(filepath.Join(os.Getenv("ROUNDOFF_CUDA_PATH"), "libcublasLt.so.12")); err != nil {
		t.Fatal(err)
	}
	status, out := verifyOnFake(t, "--shapes 8x8x8")
	if strings.Contains(out, "compute capability") {
		t.Skip("this machine has a libcublasLt of its own")
	}
	if want := "roundoff gpu: libcublasLt not found; tried "; status != 1 || !strings.HasPrefix(out, want) {
		t.Errorf("status %d, %q, want 1 and %q", status, out, want)
	}
}

// After the list, shapes are drawn until enough is compared.
func TestGPUVerifyLibrary_draws_shapes(t *testing.T) {
	fakeGPU(t)
	list := libraryShapes
	defer func() { libraryShapes = list }()
	libraryShapes = []library.Shape{{M: 1, N: 1, K: 1}}
	t.Setenv("FAKE_ALGORITHMS", "66,0,1,0,0,0,35,0,0")
	_, out := verifyOnFake(t, "--dots 7 fp16") // six of the list
	if rows := strings.Count(out, " plain "); rows != 3 || strings.Count(out, "1 × 1 × 1 ") != 2 {
		t.Errorf("%d rows, want two of 1 × 1 × 1 and one drawn:\n%s", rows, out)
	}
}

// Drawn shapes are small enough to be emulated, and of all the sorts that
// cuBLASLt has kernels for.
func TestDrawShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	rows, columns, few, deep, odd := 0, 0, 0, 0, 0
	for i := range 1000 {
		s := drawShape(rng, i)
		if err := s.Check(); err != nil || s.M*s.N*s.K > 1<<27 {
			t.Fatalf("%v: %v", s, err)
		}
		count := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		count(&rows, s.M == 1 && s.N > 1)
		count(&columns, s.N == 1 && s.M > 1)
		count(&few, s.M >= 2 && s.M <= 16 && s.N > 16)
		count(&deep, s.K > 16384)
		count(&odd, s.K%2 == 1 && s.N%2 == 1 && s.N > 1)
	}
	if min(rows, columns, few, deep, odd) < 50 {
		t.Errorf("%d rows, %d columns, %d of few rows, %d deep, %d odd, want 50 or more of each", rows, columns, few, deep, odd)
	}
}

// All data are finite numbers of their format, and those of binary16 tell one
// chain of the matrix unit from two.
func TestPlanData(t *testing.T) {
	chain := plan.Plan{Order: plan.Run{Device: devices.HopperF16()}}
	halves := plan.Plan{Order: plan.Parts{Cut: plan.Cut{Length: 256}, Each: plan.Run{Device: devices.HopperF16()}}}
	for _, k := range planKinds {
		for _, draw := range planData {
			s := library.Shape{M: 64, N: 8, K: 512}
			d := draw(rand.New(rand.NewPCG(1, 0)), s, k)
			f := k.Factors()
			for _, m := range [][]float32{d.a.Data, d.b.Data} {
				for j, x := range m {
					if y := float32(f.Round(float64(x), tcore.ToNearestEven)); x != y || math.IsInf(float64(x), 0) {
						t.Fatalf("%v, %s: element %d is %v, %v in %s", k, d.name, j, x, y, f.Name)
					}
				}
			}
			if k != library.FP16 {
				continue
			}
			p := plannedProduct{Shape: s, kind: k, output: chain.Device().C, data: []drawnFactors{d}}
			n, _ := differences(p, p.emulate(chain), p.emulate(halves))
			if n == 0 {
				t.Errorf("%s: no difference between one chain and two", d.name)
			}
		}
	}
}
