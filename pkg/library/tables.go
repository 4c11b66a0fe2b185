package library

import "fmt"

// The tables of cuBLASLt's kernels (bitequiv 2026), which all profiles share
// but for what stands in them.

type family int

const (
	nvjet   family = iota + 1 // tensor cores, default on Blackwell, alone for fp8
	cutlass                   // tensor cores, kernels of CUTLASS for sm_80
	gemmsn                    // FMAs, a few rows
	gemv                      // FMAs, one row or column
)

// families has the kernels by ALGO_ID.
var families = map[int]family{
	66: nvjet,
	12: cutlass, 21: cutlass, 23: cutlass, 24: cutlass,
	11: gemmsn, 16: gemmsn,
	13: gemv, 14: gemv,
}

// alignment has how many bytes rows of a kernel of CUTLASS are aligned to, by
// ALGO_ID.
var alignment = map[int]int{21: 16, 23: 4, 24: 2}

// A stage is a row of the table of STAGES_ID.
type stage struct {
	block    int // of K
	products int // per instruction, 0 for all that it takes
}

var nvjetStages = map[int]stage{35: {64, 0}, 36: {128, 0}}

// cutlassStages follows the names of cublasLtMatmulStages_t: identifiers 1 to
// 24 have blocks of 16, 32, 64 and 128, six each.
var cutlassStages = func() map[int]stage {
	m := map[int]stage{0: {32, 8}, 25: {32, 16}}
	for id := 7; id <= 20; id++ {
		m[id] = stage{16 << ((id - 1) / 6), 16}
	}
	return m
}()

// mergeSchemes has the published merge_scheme of each REDUCTION_SCHEME.
var mergeSchemes = map[int]int{0: mergeSerial, 1: mergeSerial, 2: mergeBinary32, 4: mergeRounded}

const (
	mergeBinary32 = 0 // slices of binary32
	mergeRounded  = 2 // slices rounded to the format of D
	mergeSerial   = 3 // a running sum in the format of D
)

// gemmsnRecipes has parts and the length of their sub-blocks, 0 for the whole
// part, by ALGO_ID and CUSTOM_OPTION.
var gemmsnRecipes = map[[2]int][2]int{{11, 0}: {2, 256}, {11, 1}: {4, 128}, {16, 0}: {1, 0}}

// Option 5 of ALGO_ID 13 has lanes of slices in a row, closed after so many
// products.
const (
	sliceOption = 5
	sliceLanes  = 32
	sliceChain  = 16
)

// A Recipe is how a kernel of ALGO_ID 13 divides K among lanes.
type Recipe struct {
	Vector int  // products in a row; -64: one slice in a row for each lane, at most 64
	Lanes  int  // that take turns
	Chain  int  // tiles after which a lane closes its chain; 0 for never
	Down   bool // lanes are added by a butterfly, and not from left to right
}

// inRow is the Vector of a lane that has a slice in a row.
const inRow = -64

// cappedOption is known for so many outputs only.
const (
	cappedOption     = 10
	threadsPerSM     = 2048
	threadsPerOutput = 32
)

// lanesOf has the options of ALGO_ID 13 with butterflies of so many lanes:
// strided, then in a row.
type lanesOf map[int][2][]int

var everywhere = lanesOf{
	2:  {{49, 57, 63, 95}, {48, 56, 62}},
	4:  {{41, 51, 59, 65, 69}, {40, 50, 58, 86}},
	8:  {{43, 53, 61, 67}, {42, 52, 60, 66, 98}},
	16: {{35, 45, 55, 81, 91}, {44, 54, 90}},
	32: {{37, 47, 75, 83, 93}, {36, 46, 82}},
}

var onHopper = lanesOf{
	2:  {nil, {102}},
	4:  {{111}, {68, 96, 110}},
	8:  {{89}, {106}},
	16: {{101}, {72, 100}},
	32: {nil, {74, 92}},
}

// askedOnHopper are options that nobody published. Of all recipes of their
// kind, these alone gave the bytes that an H100 returned, for 51 to 242
// products of each, with K up to askedK where cuBLASLt takes them for short
// sums only.
var askedOnHopper = lanesOf{
	2:  {{103}, {94}},
	4:  {{87}, {76}},
	8:  {{107}, {78, 88}},
	16: {{73}, {80}},
}

var askedK = map[int]int{76: 136, 87: 51, 88: 356, 94: 55, 103: 334, 107: 334}

// recipes returns the table of ALGO_ID 13. one has the Chain of the options 0,
// 7 and 8, of one lane.
func recipes(one [3]int, lanes ...lanesOf) map[int]Recipe {
	m := map[int]Recipe{
		cappedOption: {4, 32, 0, true},
		11:           {1, 16, 32, false},
		12:           {1, 16, 16, false}, 13: {1, 16, 16, false}, 14: {1, 16, 16, false},
		6: {1, 1, 0, false}, 84: {1, 1, 0, false},
		0: {1, 1, one[0], false}, 7: {1, 1, one[1], false}, 8: {1, 1, one[2], false},
	}
	for _, rows := range lanes {
		for w, options := range rows {
			for i, vector := range []int{1, inRow} {
				for _, option := range options[i] {
					if _, twice := m[option]; twice {
						panic(fmt.Sprintf("library: option %d stands twice in the tables", option))
					}
					m[option] = Recipe{vector, w, 0, true}
				}
			}
		}
	}
	return m
}
