package library

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/plan"
)

// tail marks a plan of a split of ALGO_ID 66 whose tail of K is suspected to be
// lost, and with the option Floor makes it the plan.
func (q *question) tail(p *Planned, block int) {
	if p.AlgoID != 66 || q.splits() == 1 {
		return
	}
	s := q.splits()
	if q.Floor {
		if s*p.KChunk < q.K {
			p.Plan.Order = q.floored(block)
			p.Plan.Doc += fmt.Sprintf("; the last %d products lost, a hypothesis", q.K-s*p.KChunk)
		}
		return
	}
	blocks, tail := q.K/block, q.K%block
	if tail == 0 || blocks%s != 0 || s <= tail {
		return
	}
	lossy := p.Plan
	lossy.Name += " without the tail"
	lossy.Doc += fmt.Sprintf("; suspected: the last %d of %d products lost", tail, q.K)
	lossy.Order = q.floored(block)
	p.Suspected = &Suspicion{
		Plan: lossy, Lost: tail,
		Note: fmt.Sprintf("suspected: D has %d of %d products, without the last %d. SPLITK_NUM %d divides ⌊K/%d⌋ = %d and exceeds K mod %d = %d, "+
			"where cuBLASLt 12.8.5, 13.1.1 and 13.2.2 were seen to lose them; NVIDIA has not confirmed it (bitequiv 2026)",
			q.K-tail, q.K, tail, s, block, blocks, block, tail),
	}
}

// floor returns the length of slices of K from ⌊K/SPLITK_NUM⌋.
func (q *question) floor(block int) int { return block * max(1, ceil(q.K/q.splits(), block)) }

// floored returns the order of slices of that length, which may leave a tail
// of K.
func (q *question) floored(block int) plan.Order {
	var slice plan.Order = plan.Run{Device: q.device(q.kind)}
	if q.promoted && block == 128 {
		slice = plan.Parts{Cut: plan.Cut{Length: block}, Each: slice, Merge: left}
	}
	return plan.Parts{Cut: plan.Cut{Count: q.splits(), Grain: block, Floor: true}, Each: slice, Merge: left}
}
