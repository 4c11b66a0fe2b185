package library

import (
	"encoding/json"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Mode is one of the nine ways in which kernels of cuBLASLt add (bitequiv
// 2026).
type Mode string

const (
	Plain        Mode = "plain"         // one chain of the tensor core
	Split        Mode = "split"         // a chain for each slice of K
	SplitBlocks  Mode = "split_blocks"  // a chain for each block of 128 in a slice
	KPerDot      Mode = "k_per_dot"     // one chain, the residue of K first
	SplitKGroups Mode = "splitk_groups" // such a chain for each slice
	GEMMSN       Mode = "gemmsn"        // FMAs of a few rows
	GEMV13       Mode = "gemv13"        // FMAs in lanes
	GEMVSlice    Mode = "gemv_cslice"   // FMAs in lanes of slices in a row
	GEMV14       Mode = "gemv14"        // FMAs of blocks of threads, and a second kernel
)

// Modes returns the nine modes.
func Modes() []Mode {
	return []Mode{Plain, Split, SplitBlocks, KPerDot, SplitKGroups, GEMMSN, GEMV13, GEMVSlice, GEMV14}
}

// Planned is what a configuration of cuBLASLt computes: the published fields
// (bitequiv 2026), of which a mode has some and the others are 0, and the plan
// that they stand for.
type Planned struct {
	Mode          Mode
	AlgoID        int
	KChunk        int    // products of a slice: split, split_blocks, splitk_groups
	BlockK        int    // split_blocks, splitk_groups
	KPerDot       int    // products of an instruction: k_per_dot, splitk_groups
	LeadingGroupK int    // products of the residue: k_per_dot
	MergeScheme   int    // of slices: splitk_groups; 0 binary32, 2 rounded, 3 serial
	SIMT          [2]int // parts and length of their sub-blocks: gemmsn
	GEMV          Recipe // gemv13, gemv_cslice; of gemv14 the Vector
	Slices        int    // of K: gemv13; blocks of threads: gemv14

	Plan plan.Plan

	// Suspected is nil unless the conditions are met under which products of the
	// same configuration were seen to lose the tail of K.
	Suspected *Suspicion

	// Doubts say in which ways the product is beyond what was measured.
	Doubts []Refusal
}

// A Suspicion is another plan, which the library may follow instead.
type Suspicion struct {
	Plan plan.Plan
	Lost int // of the last products, which D does not have
	Note string
}

// MarshalJSON returns the published form, which has the fields of the mode.
func (p Planned) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"mode": p.Mode, "algo_id": p.AlgoID}
	switch p.Mode {
	case Plain:
	case Split:
		fields["k_chunk"] = p.KChunk
	case SplitBlocks:
		fields["k_chunk"], fields["block_k"] = p.KChunk, p.BlockK
	case KPerDot:
		fields["k_per_dot"], fields["leading_group_k"] = p.KPerDot, p.LeadingGroupK
	case SplitKGroups:
		fields["k_chunk"], fields["k_per_dot"], fields["block_k"], fields["merge_scheme"] = p.KChunk, p.KPerDot, p.BlockK, p.MergeScheme
	case GEMMSN:
		fields["simt"] = p.SIMT
	case GEMV13:
		fields["gemv"] = []any{[]any{p.GEMV.Vector, p.GEMV.Lanes, p.GEMV.Chain, p.GEMV.Down}, p.Slices}
	case GEMVSlice:
		fields["gemv"] = []int{p.GEMV.Lanes, p.GEMV.Chain}
	case GEMV14:
		fields["gemv"] = []int{p.Slices, p.GEMV.Vector}
	default:
		return nil, fmt.Errorf("library: mode %q, want one of %v", p.Mode, Modes())
	}
	return json.Marshal(fields)
}

// left is the merge from left to right, from the first part; fromZero that from
// +0.
var left, fromZero = plan.Merge{}, plan.Merge{Zero: true}

// order returns the order of the published fields for k products, on a tensor
// core. block is that of STAGES_ID, which the fields of k_per_dot do not have.
func (p Planned) order(k, block int, tensor, simt tcore.Device, output tcore.Format) plan.Order {
	chain := plan.Run{Device: simt}
	switch p.Mode {
	case Plain:
		return plan.Run{Device: tensor}
	case Split:
		return plan.Parts{Cut: plan.Cut{Length: p.KChunk}, Each: plan.Run{Device: tensor}, Merge: left}
	case SplitBlocks:
		blocks := plan.Parts{Cut: plan.Cut{Length: p.BlockK}, Each: plan.Run{Device: tensor}, Merge: left}
		return plan.Parts{Cut: plan.Cut{Length: p.KChunk}, Each: blocks, Merge: left}
	case KPerDot:
		return plan.Run{Device: tensor, Group: p.KPerDot, Tile: block}
	case SplitKGroups:
		merge := left
		switch p.MergeScheme {
		case mergeRounded:
			merge.Partial = output
		case mergeSerial:
			merge.Running = output
		}
		return plan.Parts{Cut: plan.Cut{Length: p.KChunk}, Each: plan.Run{Device: tensor, Group: p.KPerDot, Tile: p.BlockK}, Merge: merge}
	case GEMMSN:
		length := p.SIMT[1]
		if length == 0 {
			length = k
		}
		return plan.Parts{Cut: plan.Cut{Count: p.SIMT[0]}, Each: plan.Parts{Cut: plan.Cut{Length: length}, Each: chain, Merge: fromZero}, Merge: fromZero}
	case GEMV13:
		return p.GEMV.order(k, p.Slices, chain)
	case GEMVSlice:
		lane := plan.Parts{Cut: plan.Cut{Length: p.GEMV.Chain}, Each: chain, Merge: left}
		return plan.Parts{Cut: plan.Cut{Lanes: p.GEMV.Lanes}, Each: lane, Merge: left}
	case GEMV14:
		return blocksOfThreads(p.Slices, p.GEMV.Vector, chain)
	}
	panic(fmt.Sprintf("library: mode %q", p.Mode))
}

// order returns the order of a kernel of ALGO_ID 13 in so many slices of k
// products.
func (r Recipe) order(k, slices int, chain plan.Order) plan.Order {
	lane := chain
	if r.Chain > 0 {
		lane = plan.Parts{Cut: plan.Cut{Length: r.Chain * r.Vector}, Each: lane, Merge: left}
	}
	o := lane
	if r.Lanes > 1 {
		lanes := plan.Parts{Cut: plan.Cut{Lanes: r.Lanes, Vector: r.Vector}, Each: lane, Merge: left}
		if r.Vector < 0 && slices > 1 {
			lanes.Cut.Nominal = (k + slices - 1) / slices // also in a shorter slice
		}
		if r.Down {
			lanes.Merge.Folds = plan.Butterfly(r.Lanes)
		}
		o = lanes
	}
	if slices > 1 {
		o = plan.Parts{Cut: plan.Cut{Count: slices}, Each: o, Merge: left}
	}
	return o
}

// threads is the number of threads of a block of ALGO_ID 14.
const threads = 128

// blocksOfThreads returns the order of ALGO_ID 14: blocks of threads, each with
// vector products in a row and a chain for each of them, and the second kernel,
// which adds the blocks.
func blocksOfThreads(blocks, vector int, chain plan.Order) plan.Order {
	thread := plan.Parts{Cut: plan.Cut{Lanes: vector, Vector: 1}, Each: chain, Merge: fromZero}
	block := plan.Parts{Cut: plan.Cut{Lanes: threads, Vector: vector}, Each: thread, Merge: plan.Merge{Folds: plan.Butterfly(threads)}}
	return plan.Parts{
		Cut: plan.Cut{Lanes: blocks, Vector: threads * vector}, Each: block,
		Merge: plan.Merge{Folds: []int{threads, 64, 32, 4, 1}},
	}
}
