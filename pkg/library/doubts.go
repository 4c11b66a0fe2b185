package library

import "fmt"

// Shapes beyond which nobody measured (bitequiv 2026).
const (
	mostOutputs = 32768
	mostK       = 400000
)

// doubts returns in which ways the product is beyond what was measured, or is
// none that cuBLASLt takes. What nobody published of Hopper was measured by
// roundoff gpu verify -library on an H100 and an H200: none of 8258 products
// differs.
func (q *question) doubts(p Planned) (doubts []Refusal) {
	add := func(when bool, nearest, reason string, args ...any) {
		if when {
			doubts = append(doubts, Refusal{fmt.Sprintf(reason, args...), nearest})
		}
	}
	algo, stages, option := q.AlgoID.Value, q.StagesID.Value, q.CustomOption.Value
	sizes := []struct {
		name  string
		value int
	}{{"M", q.M}, {"N", q.N}, {"K", q.K}}
	for _, f := range sizes {
		add(q.kind == FP8 && f.value%16 != 0, fmt.Sprintf("%s = %d", f.name, ceil(f.value, 16)*16), "%s = %d, where cuBLASLt takes fp8 with multiples of 16 only", f.name, f.value)
	}
	if bytes := alignment[algo]; bytes > 0 {
		elements := bytes / 2
		for _, f := range sizes[1:] { // rows of A have K elements, those of B and D have N
			add(f.value%elements != 0, fmt.Sprintf("ALGO_ID %d, or %s = %d", aligned(f.value), f.name, ceil(f.value, elements)*elements),
				"%s = %d, where ALGO_ID %d takes rows aligned to %d bytes, multiples of %d", f.name, f.value, algo, bytes, elements)
		}
	}
	add(q.M > mostOutputs, fmt.Sprint("M = ", mostOutputs), "M = %d, measured up to %d", q.M, mostOutputs)
	add(q.N > mostOutputs, fmt.Sprint("N = ", mostOutputs), "N = %d, measured up to %d", q.N, mostOutputs)
	add(q.K > mostK, fmt.Sprint("K = ", mostK), "K = %d, measured up to %d", q.K, mostK)
	switch families[algo] {
	case nvjet:
		want := 35
		if q.kind == FP8 {
			want = 36
		}
		add(stages != want, fmt.Sprint("STAGES_ID ", want), "STAGES_ID %d with %v, seen with the other formats only", stages, q.kind)
		add(q.kind == FP8 && q.splits() > 128, "SPLITK_NUM 128", "SPLITK_NUM %d with fp8: of products with 149, three differ from their plans and nobody knows why", q.splits())
	case cutlass:
		add(algo == 12 && q.K > 1, "K = 1", "K = %d with ALGO_ID 12, seen with K = 1 only", q.K)
		add(stages == 11 || stages == 17, fmt.Sprintf("STAGES_ID %d", stages+1), "STAGES_ID %d, which no query picked", stages)
		add(stages == 8 && q.splits() > 1, "SPLITK_NUM 1", "STAGES_ID 8 with SPLITK_NUM %d, seen without a split only", q.splits())
		add(stages == 25 && algo != 21, "ALGO_ID 21", "STAGES_ID 25 with ALGO_ID %d, seen with 21 only", algo)
		add(q.Architecture != "sm_90" && p.Mode == SplitKGroups && q.output != kinds[q.kind].output && p.MergeScheme != mergeBinary32, "REDUCTION_SCHEME 2",
			"REDUCTION_SCHEME %d with D of binary32, never measured: nothing is then rounded on the way", q.ReductionScheme.Value)
	case gemmsn:
		leastM, mostM, leastK, mostK := 2, 16, 1, 1200
		switch {
		case algo == 16 && q.Architecture == "sm_90":
			leastM, mostM, mostK = 1, 252, 227
		case algo == 16:
			leastM, leastK, mostK = 6, 2, 45
		}
		add(q.M < leastM || q.M > mostM, fmt.Sprintf("M = %d", min(max(q.M, leastM), mostM)), "M = %d with ALGO_ID %d, seen with %d to %d", q.M, algo, leastM, mostM)
		add(q.K < leastK || q.K > mostK, fmt.Sprint("K = ", min(max(q.K, leastK), mostK)), "K = %d with ALGO_ID %d, seen up to %d", q.K, algo, mostK)
	case gemv:
		most, short := askedK[option]
		add(algo == 13 && short && q.K > most, fmt.Sprint("K = ", most), "K = %d with CUSTOM_OPTION %d, seen up to %d", q.K, option, most)
		add(algo == 13 && option == 8 && q.shortOnly && q.K >= 80, "K = 79", "K = %d with CUSTOM_OPTION 8, seen below 80 only", q.K)
	}
	return doubts
}

// aligned returns the ALGO_ID of a kernel of CUTLASS that takes rows of so many
// elements of 2 bytes.
func aligned(elements int) int {
	if elements%2 == 0 {
		return 23
	}
	return 24
}
