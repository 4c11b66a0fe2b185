package plan

import (
	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A merger computes a [Merge] of vectors, element by element, as the parts
// come. The first fold is computed on the way, so that no more vectors are kept
// than it leaves.
type merger struct {
	Merge
	of    *computation
	sums  [][]float32 // of the first fold
	parts int         // so far
}

func (m Merge) start(c *computation) *merger {
	z := &merger{of: c}
	if last := len(c.mergers) - 1; last >= 0 {
		c.mergers, z = c.mergers[:last], c.mergers[last]
	}
	z.Merge, z.parts = m, 0
	z.sums = append(z.sums[:0], make([][]float32, m.folds()[0])...)
	return z
}

// add takes the next part, which is the merger's from now on.
func (m *merger) add(part []float32) {
	t := m.parts % len(m.sums)
	if m.Scale == Unscaled {
		if m.Partial != (tcore.Format{}) {
			inBlocks(len(part), func(lo, hi int) { m.Partial.RoundSlice32(part[lo:hi], part[lo:hi]) })
		}
		m.sums[t] = m.plus(m.sums[t], part)
	} else {
		m.sums[t] = m.plusScaled(m.sums[t], part)
	}
	m.parts++
}

// zeros are what vectorAdd adds to make +0 of -0.
var zeros [8]float32

// plus returns sum + part, or a sum that begins with part if sum is nil. It
// takes both.
func (m *merger) plus(sum, part []float32) []float32 {
	first := sum == nil
	if first {
		sum = part
		if !m.Zero && m.Running == (tcore.Format{}) {
			return sum
		}
	}
	inBlocks(len(part), func(lo, hi int) {
		sum, part := sum[lo:hi], part[lo:hi]
		switch {
		case !first:
			done := vectorAdd(sum, part)
			for i, v := range part[done:len(sum)] {
				sum[done+i] += v
			}
		case m.Zero:
			done := vectorAdd(sum, zeros[:])
			for i, v := range sum[done:] {
				sum[done+i] = 0 + v // +0 for -0
			}
		}
		if m.Running != (tcore.Format{}) {
			m.Running.RoundSlice32(sum, sum)
		}
	})
	if !first {
		m.of.recycle(part)
	}
	return sum
}

// plusScaled is plus for a part that is multiplied by its scales. Sums start at
// +0.
func (m *merger) plusScaled(sum, part []float32) []float32 {
	if sum == nil {
		sum = m.of.zeros()
	}
	inBlocks(len(part), func(lo, hi int) {
		for i, v := range part[lo:hi] {
			a, b := m.of.scale(lo+i, m.parts)
			if m.Scale == Fused {
				sum[lo+i] = fma.Float32(v, float32(a*b), sum[lo+i])
			} else {
				sum[lo+i] = fma.Float32(float32(v*a), b, sum[lo+i])
			}
		}
	})
	m.of.recycle(part)
	return sum
}

// sum returns what the folds leave. The merger is used again then.
func (m *merger) sum() []float32 {
	n := len(m.sums)
	for t := range m.sums {
		if m.parts <= t || m.parts > n && m.parts%n > 0 && t >= m.parts%n {
			m.sums[t] = m.plus(m.sums[t], m.of.zeros())
		}
	}
	values := m.sums
	for _, n := range m.folds()[1:] {
		for i := range ceil(len(values), n) * n {
			switch {
			case i < n:
				values[i] = m.plus(nil, values[i])
			case i < len(values):
				values[i%n] = m.plus(values[i%n], values[i])
			default:
				values[i%n] = m.plus(values[i%n], m.of.zeros())
			}
		}
		values = values[:n]
	}
	m.of.mergers = append(m.of.mergers, m)
	return values[0]
}
