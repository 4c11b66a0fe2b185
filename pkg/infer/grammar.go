package infer

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The grammar is a set of records: the cores of package tcore with every value
// of their parameters that dot products of the shape can need. Candidates are
// enumerated in two steps, so that their number is a sum and not a product.
// Frames differ in what questions of the kind high can show; records differ
// from their frame in what only small numbers, zeros and special values show.

// frames yields the records of a shape as far as questions of the kind high
// can tell them, the simplest first. Results have the given number of
// significant bits, and from c = 0 at most those of the sum.
func frames(s Shape, result, sum int) iter.Seq[tcore.Device] {
	return func(yield func(tcore.Device) bool) {
		for core := range cores(s, result, sum) {
			if d := s.device(core); supported(d) && !yield(d) {
				return
			}
		}
	}
}

// device returns the record of a core in the formats of s.
func (s Shape) device(core tcore.Core) tcore.Device {
	d := tcore.Device{Name: "unknown", Architecture: "unknown", Instruction: fmt.Sprintf("unknown.k%d", s.K),
		A: s.A, B: s.B, C: s.C, Scale: s.Scale, ScaleBlock: s.ScaleBlock, Core: core}
	if s.A.Equal(tcore.TF32) {
		d.Convert = tcore.ToZero
	}
	return d
}

// supported reports whether the core of d computes in the formats of d.
func supported(d tcore.Device) (ok bool) {
	defer func() { ok = recover() == nil }()
	d.DotScaled(nil, nil, nil, nil, 0)
	return true
}

// mostFractionBits is greater than FractionBits of every Fused core.
const mostFractionBits = 60

// cores yields the cores of all kinds.
func cores(s Shape, result, sum int) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		for _, list := range []iter.Seq[tcore.Core]{
			simpleCores(s), fusedCores(s, narrowed(s.C, result)), splitCores(s, narrowed(s.C, sum)), splitCores(s, s.C), paperCores(s),
		} {
			for core := range list {
				if !yield(core) {
					return
				}
			}
		}
	}
}

// simpleCores yields the cores with no parameter but the number of terms.
func simpleCores(s Shape) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		if !yield(tcore.Chain{}) || !yield(tcore.Chain{NaN: tcore.FirstOfXYC}) || !yield(tcore.Chain{NaN: tcore.FirstOfYCX}) || !yield(tcore.OddFirst{}) {
			return
		}
		for _, n := range []int{2, 4} {
			if !yield(tcore.OddPairs{Terms: n}) || !yield(tcore.FusedPairs{Terms: n}) {
				return
			}
		}
		for n := 1; n <= even(s.K); n++ {
			if !yield(tcore.EvenOdd{Terms: n}) || !yield(tcore.ExactSum{Terms: n}) || !yield(tcore.ExactSum{Terms: n, SignedZeros: true}) ||
				!yield(tcore.TwoStage{Terms: n, Parts: 1}) || !yield(tcore.TwoStage{Terms: n, Parts: 2}) {
				return
			}
		}
		for n := 1; n <= 1<<bits.Len(uint(s.K-1)); n *= 2 {
			if !yield(tcore.Pairwise{Terms: n}) {
				return
			}
		}
	}
}

// even returns the least even number that is not below n.
func even(n int) int { return n + n%2 }

// fusedCores yields the Fused cores with these results, with zeros that do not
// take part in the alignment.
func fusedCores(s Shape, result tcore.Format) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		groups := []int{0}
		for g := 1; g <= s.ScaleBlock; g++ {
			if s.ScaleBlock%g == 0 {
				groups = append(groups, g)
			}
		}
		for _, g := range groups {
			for n := 1; n <= s.K; n++ {
				if s.ScaleBlock > 0 && n%s.ScaleBlock != 0 {
					continue
				}
				for f := range fused(s, n, g, result) {
					if !yield(f) {
						return
					}
				}
			}
		}
	}
}

// splitCores yields the Split cores whose parts have these results.
func splitCores(s Shape, result tcore.Format) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		for n := 2; n <= s.K; n += 2 {
			for f := range fused(s, n, 0, result) {
				if !yield(tcore.Split{By: f}) {
					return
				}
			}
		}
	}
}

// fused yields the Fused cores of n terms in groups of g.
func fused(s Shape, n, g int, result tcore.Format) iter.Seq[tcore.Fused] {
	return func(yield func(tcore.Fused) bool) {
		lowest, _ := s.zeroExponents()
		for bits := 1; bits < mostFractionBits; bits++ {
			for mode := tcore.ToNearestEven; mode <= tcore.ToOdd; mode++ {
				if !yield(tcore.Fused{Terms: n, FractionBits: bits, Group: g, Result: result, Rounding: mode, ZeroExponent: lowest}) {
					return
				}
			}
		}
	}
}

// paperCores yields the cores of Algorithm 1 of the paper, in the IEEE formats,
// bfloat16 and tf32.
func paperCores(s Shape) iter.Seq[tcore.Core] {
	formats := []tcore.Format{tcore.Binary64, tcore.Binary32, tcore.TF32, tcore.BFloat16, tcore.Binary16}
	low := s.A
	if !s.A.Equal(s.B) {
		low = tcore.Binary64 // the factors keep their own formats
	}
	return func(yield func(tcore.Core) bool) {
		for _, accumulate := range formats {
			for _, product := range formats {
				for _, carried := range formats {
					for n := s.K; n >= 1; n-- {
						m := tcore.MPFMA{Low: low, High: carried, Product: product, Accumulate: accumulate, Output: s.C}
						if !yield(tcore.TensorCore{Name: "learned", Block: n, MPFMA: m}) {
							return
						}
					}
				}
			}
		}
	}
}

// narrowed returns c with fewer significant bits.
func narrowed(c tcore.Format, precision int) tcore.Format {
	if precision < 2 || precision >= c.Precision {
		return c
	}
	exponent := c.Bits() - c.Precision
	c.Precision = precision
	c.Name = fmt.Sprintf("e%dm%d", exponent, precision-1)
	return c
}

// zeroExponents returns the least and the greatest exponent of a zero of which
// records are tried. The least does not take part in the alignment: no other
// term has a smaller exponent.
func (s Shape) zeroExponents() (least, greatest int) {
	least = s.A.Emin + s.B.Emin
	if s.ScaleBlock > 0 {
		least += 2 * s.Scale.Emin
	}
	return min(least, s.C.Emin) - 1, 0
}

// records yields the records that have the frame d, the simplest first. nan is
// the code of a NaN that the box has answered.
func (s Shape) records(d tcore.Device, nan uint64) iter.Seq[tcore.Device] {
	return func(yield func(tcore.Device) bool) {
		for _, flush := range []struct{ factors, sums bool }{{}, {true, false}, {false, true}, {true, true}} {
			flushed := d
			if flush.factors && s.A.Equal(tcore.TF32) {
				continue // tcore reads the words of tf32 only
			}
			if flush.factors {
				flushed.A.Subnormals, flushed.B.Subnormals = tcore.Flushed, tcore.Flushed
			}
			if flush.sums {
				flushed.C.Subnormals = tcore.Flushed
			}
			for _, flushed.NaN = range distinct(0, nan) {
				if !supported(flushed) {
					continue
				}
				for core := range s.zeros(d.Core) {
					flushed.Core = core
					if !yield(flushed) {
						return
					}
				}
			}
		}
	}
}

func distinct(a, b uint64) []uint64 {
	if a == b {
		return []uint64{a}
	}
	return []uint64{a, b}
}

// zeros yields the cores that differ from the given one in how they treat zeros
// and what is rounded to zero. Cores without such parameters yield themselves.
func (s Shape) zeros(core tcore.Core) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		switch c := core.(type) {
		case tcore.Fused:
			for f := range s.zerosOf(c) {
				if !yield(f) {
					return
				}
			}
		case tcore.Split:
			for f := range s.zerosOf(c.By) {
				if !yield(tcore.Split{By: f}) {
					return
				}
			}
		default:
			yield(core)
		}
	}
}

func (s Shape) zerosOf(f tcore.Fused) iter.Seq[tcore.Fused] {
	return func(yield func(tcore.Fused) bool) {
		least, greatest := s.zeroExponents()
		for _, f.Result.Subnormals = range []tcore.Subnormals{tcore.Kept, tcore.Flushed} {
			for _, f.NegativeTiny = range []bool{false, true} {
				for _, f.ClampAlways = range []bool{false, true} {
					for f.ZeroExponent = least; f.ZeroExponent <= greatest; f.ZeroExponent++ {
						if !yield(f) {
							return
						}
					}
				}
			}
		}
	}
}

// neighbours yields the records that differ from d in one parameter: of the
// core, in flushing, or in the code of a NaN.
func (s Shape) neighbours(d tcore.Device) iter.Seq[tcore.Device] {
	return func(yield func(tcore.Device) bool) {
		try := func(n tcore.Device) bool { return n == d || !supported(n) || yield(n) }
		for core := range s.neighbourCores(d.Core) {
			n := d
			if n.Core = core; !try(n) {
				return
			}
		}
		for _, set := range []func(n *tcore.Device){
			func(n *tcore.Device) { n.A.Subnormals, n.B.Subnormals = other(n.A.Subnormals), other(n.B.Subnormals) },
			func(n *tcore.Device) { n.C.Subnormals = other(n.C.Subnormals) },
			func(n *tcore.Device) { n.NaN = 0 },
		} {
			n := d
			if set(&n); !n.A.Equal(d.A) && s.A.Equal(tcore.TF32) {
				continue
			}
			if !try(n) {
				return
			}
		}
	}
}

// other returns the other treatment of subnormal numbers.
func other(s tcore.Subnormals) tcore.Subnormals {
	if s == tcore.Flushed {
		return tcore.Kept
	}
	return tcore.Flushed
}

// neighbourCores yields the cores that differ in one parameter from the given
// one, and that core itself.
func (s Shape) neighbourCores(core tcore.Core) iter.Seq[tcore.Core] {
	return func(yield func(tcore.Core) bool) {
		switch c := core.(type) {
		case tcore.Fused:
			for f := range s.neighbourSums(c) {
				if !yield(f) {
					return
				}
			}
		case tcore.Split:
			for f := range s.neighbourSums(c.By) {
				if !yield(tcore.Split{By: f}) {
					return
				}
			}
		case tcore.TensorCore:
			for n := range paperCores(s) {
				if t := n.(tcore.TensorCore); (t.MPFMA == c.MPFMA || t.Block == c.Block) && !yield(t) {
					return
				}
			}
		default:
			for n := range simpleCores(s) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

func (s Shape) neighbourSums(f tcore.Fused) iter.Seq[tcore.Fused] {
	return func(yield func(tcore.Fused) bool) {
		n := f
		for n.Terms = range s.K + 1 {
			if n.Terms > 0 && !yield(n) {
				return
			}
		}
		n = f
		for n.FractionBits = 1; n.FractionBits < mostFractionBits; n.FractionBits++ {
			if !yield(n) {
				return
			}
		}
		n = f
		for n.Rounding = tcore.ToNearestEven; n.Rounding <= tcore.ToOdd; n.Rounding++ {
			if !yield(n) {
				return
			}
		}
		n = f
		for n.Group = range s.ScaleBlock + 1 {
			if !yield(n) {
				return
			}
		}
		n = f
		n.Result.Subnormals = other(f.Result.Subnormals)
		tiny, clamp := f, f
		tiny.NegativeTiny, clamp.ClampAlways = !f.NegativeTiny, !f.ClampAlways
		if !yield(n) || !yield(tiny) || !yield(clamp) {
			return
		}
		n = f
		least, greatest := s.zeroExponents()
		for n.ZeroExponent = least; n.ZeroExponent <= greatest; n.ZeroExponent++ {
			if !yield(n) {
				return
			}
		}
	}
}
