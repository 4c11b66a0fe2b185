package bound

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// predictable returns why the errors of the plan of the problem cannot be
// predicted, or "".
func (k Problem) predictable() string {
	s := k.shape()
	if _, scaled := k.planned.Scaled(); scaled {
		return "nothing is known of its scales"
	}
	for o := k.planned.Order; ; {
		parts, ok := o.(plan.Parts)
		if !ok {
			break
		}
		if f := parts.Merge.Running; f != (tcore.Format{}) {
			return fmt.Sprintf("its sums are rounded to %s while parts are added", f.Name)
		}
		o = parts.Each
	}
	if s.lost > 0 {
		return fmt.Sprintf("its plan loses %d of %d products", s.lost, k.K)
	}
	return ""
}

// errorOf returns the moments of the error of a sum of n products in an order,
// given the model of one chain.
func (k Problem) errorOf(o plan.Order, n int, chain truncation.RunningSum) (truncation.ErrorMoments, error) {
	parts, ok := o.(plan.Parts)
	if !ok {
		return chain.Error(n), nil
	}
	var e truncation.ErrorMoments
	known := map[int]truncation.ErrorMoments{}
	lengths := parts.Cut.Lengths(n)
	longest := slices.Max(lengths)
	for _, length := range lengths {
		if _, ok := known[length]; !ok && length > 0 {
			z, err := k.errorOf(parts.Part(length), length, chain)
			if err != nil {
				return e, err
			}
			known[length] = z
		}
		e = add(e, 1, known[length])
	}
	folds := parts.Merge.Folds
	if len(folds) == 0 {
		folds = []int{1}
	}
	each := parts.Part(longest)
	for i, n := range folds {
		f := fold{k: k, merge: parts.Merge, part: each, length: longest, first: i == 0}
		sums := make([]int, n)
		z, err := f.moments(lengths, sums, chain.Products)
		if err != nil {
			return e, err
		}
		e = add(e, 1, z)
		each = plan.Parts{Cut: plan.Cut{Length: longest}, Each: each, Merge: plan.Merge{Partial: parts.Merge.Partial}}
		lengths, longest = sums, slices.Max(sums)
	}
	return e, nil
}

// A fold is one pass of a merge: it adds sums of up to length products in
// binary32. An order computes such sums.
type fold struct {
	k      Problem
	merge  plan.Merge
	part   plan.Order
	length int
	first  bool
}

// moments returns the moments of all errors of the fold, whose parts are sums
// of so many products. It stores in sums the products of the sums that it
// leaves.
func (f *fold) moments(lengths, sums []int, products truncation.ProductMoments) (truncation.ErrorMoments, error) {
	n, counts := len(sums), make([]int, len(sums))
	for i, length := range lengths {
		sums[i%n] += length
		if length > 0 {
			counts[i%n]++
		}
	}
	var e truncation.ErrorMoments
	rounds := f.first && f.merge.Partial != (tcore.Format{})
	if slices.Max(counts) < 2 && !rounds {
		return e, nil
	}
	adder := f.adder()
	k := f.k
	k.K = slices.Max(sums)
	r, err := newResponse(k.edges(f.length), adder.step)
	if err != nil {
		return e, err
	}
	additions := truncation.RunningSum{Terms: f.length, Products: products, Step: r.mean}
	known := map[int]truncation.ErrorMoments{}
	for t, sum := range sums {
		if counts[t] < 2 && !rounds || sum == 0 {
			continue
		}
		if _, ok := known[sum]; !ok {
			known[sum] = additions.Error(sum)
		}
		e = add(e, 1, known[sum])
	}
	return e, nil
}

// adder computes sums of parts, as [Problem.newPartAdder] does.
func (f *fold) adder() *partAdder {
	const batches, seed, elements = 2, 241118747, 1 << 22
	n := min(128, max(8, elements/f.length))
	k := f.k
	k.K, k.planned = f.length, nil
	p := &partAdder{k: k, rng: rand.New(rand.NewPCG(seed, 1))}
	if f.first {
		p.partial = f.merge.Partial
	}
	computes := plan.Plan{Order: f.part, Output: tcore.Binary32}
	factors, z := k.newRandomFactors(n, f.length, p.rng), matrix.New(n, n)
	for range batches {
		factors.draw()
		computes.GEMM(blas.NoTrans, blas.NoTrans, 1, factors.a, factors.b, 0, blas32.General{}, z)
		p.sums = append(p.sums, z.Data...)
	}
	p.grid = lastBit(p.sums)
	return p
}
