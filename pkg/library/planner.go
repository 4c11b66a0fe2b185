package library

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Options are what [Profile.PlanWith] does beyond the published planner.
type Options struct {
	// Output is the format of D: that of [Profile.Plan] if it is the zero value, or
	// binary32, for which the configuration is the same (bitequiv 2026).
	Output tcore.Format

	// Floor takes for the chunk of a split of ALGO_ID 66 that of ⌊K/SPLITK_NUM⌋
	// and not of ⌈K/SPLITK_NUM⌉, rounded up to blocks: one formula which would
	// explain the lost tails, and foretells more of them for SPLITK_NUM > 128. It
	// is a hypothesis.
	Floor bool

	// Measured refuses what the published planner plans without anyone having
	// measured it: what would be Doubts.
	Measured bool
}

// Plan returns what cuBLASLt computes for a product if it answers c when it is
// asked for an algorithm, by the published tables and rules (bitequiv 2026).
// They hold for the first result of cublasLtMatmulAlgoGetHeuristic, sums in
// binary32, alpha = 1 (for fp8 the product of both scales), beta = 0, rows in a
// row for fp16 and bf16 and K in a row for fp8, no bias, no batch and fast
// accumulation off. D is binary16, for bf16 bfloat16. Plan is a pure function.
//
// The error is a [Refusal] in the published words, or says that a size, the
// kind or a number of the configuration is none that can be computed with.
func (p Profile) Plan(s Shape, k Kind, c Config) (Planned, error) {
	return p.PlanWith(s, k, c, Options{})
}

// PlanWith is [Profile.Plan] with options. The error may also say that D cannot
// have the format, or be a [Refusal] of the first doubt.
func (p Profile) PlanWith(s Shape, k Kind, c Config, o Options) (Planned, error) {
	if err := s.Check(); err != nil {
		return Planned{}, err
	}
	if !k.known() || p.devices[k] == nil {
		return Planned{}, fmt.Errorf("library: factors of %v, want fp16, bf16 or fp8 for cuBLASLt", k)
	}
	if err := c.check(); err != nil {
		return Planned{}, err
	}
	output := kinds[k].output
	if o.Output != (tcore.Format{}) {
		if !o.Output.Equal(output) && !o.Output.Equal(tcore.Binary32) {
			return Planned{}, fmt.Errorf("library: D of %s, want %s or binary32 for %v", o.Output.Name, output.Name, k)
		}
		output = o.Output
	}
	q := question{p, s, k, c, o, output}
	planned, block, err := q.fields()
	if err != nil {
		return Planned{}, err
	}
	planned.AlgoID = c.AlgoID.Value
	planned.Doubts = q.doubts(planned)
	if o.Measured && len(planned.Doubts) > 0 {
		return Planned{}, &planned.Doubts[0]
	}
	planned.Plan = plan.Plan{
		Name:   fmt.Sprintf("%s %s", p.Name(), planned.Mode),
		Doc:    fmt.Sprintf("cuBLASLt %s on %s, %s, configuration %s (bitequiv 2026)", p.Version, p.Architecture, k, c),
		Order:  planned.order(s.K, block, p.device(k), fma(k), output),
		Output: output,
	}
	q.tail(&planned, block)
	return planned, nil
}

// A question is what the planner is asked.
type question struct {
	Profile
	Shape
	kind Kind
	Config
	Options
	output tcore.Format
}

// refuse returns a refusal of an attribute, with what is known nearest.
func refuse(nearest, reason string, args ...any) error {
	return &Refusal{fmt.Sprintf(reason, args...), nearest}
}

// fields returns the published fields of the plan but ALGO_ID, and the block of
// K of the stage. Rules stand in the order of the published planner, which
// decides the reason where several apply.
func (q *question) fields() (Planned, int, error) {
	if q.Config == (Config{}) {
		return Planned{}, 0, refuse("the configuration of another product: for this one cuBLASLt answers none", "no-heuristic")
	}
	kernels := families[q.AlgoID.Value]
	if !q.AlgoID.Known {
		kernels = 0
	}
	switch kernels {
	case nvjet:
		return q.nvjet()
	case cutlass:
		return q.cutlass()
	case gemmsn:
		planned, err := q.gemmsn()
		return planned, 0, err
	case gemv:
		planned, err := q.gemv()
		return planned, 0, err
	}
	return Planned{}, 0, refuse(list("ALGO_ID", families), "unsupported ALGO_ID %s", q.AlgoID.published())
}

// list names the keys of a table.
func list[V any](name string, table map[int]V) string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(table)) {
		words = append(words, fmt.Sprint(id))
	}
	return fmt.Sprintf("known is %s %s", name, strings.Join(words, ", "))
}

// chunk returns the length of slices of K in blocks of a grain.
func (q *question) chunk(grain int) int { return grain * ceil(ceil(q.K, grain), q.splits()) }

// ceil returns ⌈n/d⌉.
func ceil(n, d int) int { return (n + d - 1) / d }

// stage returns the row of a table for STAGES_ID.
func (q *question) stage(table map[int]stage, name string) (stage, error) {
	s, ok := table[q.StagesID.Value]
	if !ok || !q.StagesID.Known {
		return stage{}, refuse(list("STAGES_ID", table), "unsupported STAGES_ID %s for %s", q.StagesID.published(), name)
	}
	return s, nil
}

const outOfRange = "chunk out of range"

func (q *question) nvjet() (Planned, int, error) {
	s, err := q.stage(nvjetStages, "nvjet")
	if err != nil {
		return Planned{}, 0, err
	}
	blocks := q.promoted && s.block == 128
	if q.splits() == 1 {
		if blocks {
			return Planned{Mode: SplitBlocks, KChunk: q.K, BlockK: s.block}, s.block, nil
		}
		return Planned{Mode: Plain}, s.block, nil
	}
	chunk := q.chunk(s.block)
	if chunk < s.block || chunk >= q.K {
		return Planned{}, 0, refuse(fmt.Sprintf("SPLITK_NUM 1: a slice of K = %d in blocks of %d has %d", q.K, s.block, chunk), outOfRange)
	}
	if q.Floor {
		chunk = q.floor(s.block)
	}
	if blocks {
		return Planned{Mode: SplitBlocks, KChunk: chunk, BlockK: s.block}, s.block, nil
	}
	return Planned{Mode: Split, KChunk: chunk}, s.block, nil
}

func (q *question) cutlass() (Planned, int, error) {
	s, err := q.stage(cutlassStages, "cutlass")
	if err != nil {
		return Planned{}, 0, err
	}
	if q.kind == FP8 {
		return Planned{}, 0, refuse("ALGO_ID 66 with STAGES_ID 36, the only one for fp8", "unsupported fp8 on a CUTLASS kernel")
	}
	if q.splits() == 1 {
		return Planned{Mode: KPerDot, KPerDot: s.products, LeadingGroupK: q.K % s.block}, s.block, nil
	}
	merge, ok := mergeSchemes[q.ReductionScheme.Value]
	if !ok || !q.ReductionScheme.Known {
		return Planned{}, 0, refuse(list("REDUCTION_SCHEME", mergeSchemes), "unsupported REDUCTION_SCHEME %s", q.ReductionScheme.published())
	}
	grain := 8
	if q.K%64 == 0 {
		grain = 64
	}
	chunk := q.chunk(grain)
	if chunk < grain || chunk > q.K {
		return Planned{}, 0, refuse(fmt.Sprintf("SPLITK_NUM 1: a slice of K = %d in blocks of %d has %d", q.K, grain, chunk), outOfRange)
	}
	return Planned{Mode: SplitKGroups, KChunk: chunk, KPerDot: s.products, BlockK: s.block, MergeScheme: merge}, s.block, nil
}

const fp8OnFMAs = "unsupported fp8 on a CUDA-core kernel"

func (q *question) gemmsn() (Planned, error) {
	algo := q.AlgoID.Value
	if q.kind == FP8 {
		return Planned{}, refuse("ALGO_ID 66 with STAGES_ID 36, the only one for fp8", fp8OnFMAs)
	}
	if n := q.splits(); n != 1 {
		return Planned{}, refuse("SPLITK_NUM 1", "unsupported SPLITK_NUM %d for ALGO_ID %d", n, algo)
	}
	r, ok := gemmsnRecipes[[2]int{algo, q.CustomOption.Value}]
	if !ok || !q.CustomOption.Known {
		return Planned{}, refuse("known is CUSTOM_OPTION 0 and 1 for ALGO_ID 11, 0 for ALGO_ID 16", "unsupported CUSTOM_OPTION %s for ALGO_ID %d", q.CustomOption.published(), algo)
	}
	return Planned{Mode: GEMMSN, SIMT: r}, nil
}

func (q *question) gemv() (Planned, error) {
	algo, s := q.AlgoID.Value, q.splits()
	option := q.CustomOption.Value
	if !q.CustomOption.Known {
		option = -1
	}
	r, ok := q.recipes[option]
	switch {
	case q.kind == FP8:
		return Planned{}, refuse("ALGO_ID 66 with STAGES_ID 36, the only one for fp8", fp8OnFMAs)
	case q.M != 1 && q.N != 1:
		return Planned{}, refuse("M = 1 or N = 1", "unsupported ALGO_ID %d on a non-gemv shape (M %d, N %d)", algo, q.M, q.N)
	case algo == 14:
		vector := 1
		if q.N == 1 {
			vector = 2
		}
		return Planned{Mode: GEMV14, GEMV: Recipe{Vector: vector}, Slices: s}, nil
	case option == sliceOption && (s != 1 || q.M != 1):
		return Planned{}, refuse("SPLITK_NUM 1 with M = 1",
			"unsupported CUSTOM_OPTION 5 for ALGO_ID 13 at SPLITK_NUM %d with M %d (this kernel handles SPLITK_NUM 1, M == 1 only)", s, q.M)
	case option == sliceOption:
		return Planned{Mode: GEMVSlice, GEMV: Recipe{Lanes: sliceLanes, Chain: sliceChain}}, nil
	case !ok:
		return Planned{}, refuse(list("CUSTOM_OPTION 5 and", q.recipes), "unsupported CUSTOM_OPTION %s for ALGO_ID 13", q.CustomOption.published())
	case option == cappedOption && max(q.M, q.N) > q.cap:
		return Planned{}, refuse(fmt.Sprintf("%d outputs", q.cap),
			"unsupported CUSTOM_OPTION 10 for ALGO_ID 13 on a %d-element gemv (measured up to %d)", max(q.M, q.N), q.cap)
	}
	return Planned{Mode: GEMV13, GEMV: r, Slices: s}, nil
}
