package plan

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Merge adds parts, in binary32, rounded to nearest even. The zero value adds
// them from left to right, from the first.
type Merge struct {
	// Folds are the passes. A fold by n leaves n sums: number t is that of the
	// parts t, t + n, t + 2n, …, from left to right, where missing ones are +0. The
	// last is 1. nil means {1}; {16, 8, 4, 2, 1} is the butterfly of 32 lanes.
	Folds []int

	Zero    bool         // sums start at +0 and not at the first part
	Partial tcore.Format // parts are rounded to it before they are added; the zero value does not round
	Running tcore.Format // every sum is rounded to it; the zero value does not round
	Scale   Scale        // of each part
}

// Scale is how a [Merge] applies the scales of A and B that belong to a part.
type Scale int

const (
	Unscaled Scale = iota
	// Fused adds part × fl(sa × sb) by one FMA (DeepGEMM).
	Fused
	// FusedSecond adds fl(part × sa) × sb by one FMA (DeepSeek-V3's own kernel,
	// CUTLASS).
	FusedSecond
)

func (s Scale) String() string {
	switch s {
	case Unscaled:
		return "unscaled"
	case Fused:
		return "fused"
	case FusedSecond:
		return "fused second"
	}
	return fmt.Sprintf("Scale(%d)", int(s))
}

// Butterfly returns the folds of n lanes that are added in pairs at a distance
// of n/2, n/4, …, 1. It panics if n is not a power of two.
func Butterfly(n int) []int {
	if n < 1 || n&(n-1) != 0 {
		panic(fmt.Sprintf("plan: n = %d, want a power of two", n))
	}
	folds := []int{}
	for n /= 2; n > 0; n /= 2 {
		folds = append(folds, n)
	}
	if len(folds) == 0 {
		return []int{1}
	}
	return folds
}

func (m Merge) check(at string, c Cut) error {
	for i, n := range m.Folds {
		if n < 1 || i > 0 && n >= m.Folds[i-1] || i == len(m.Folds)-1 && n != 1 {
			return fmt.Errorf("%s.Folds = %v, want descending numbers down to 1", at, m.Folds)
		}
	}
	switch {
	case m.Scale < Unscaled || m.Scale > FusedSecond:
		return fmt.Errorf("%s.Scale = %v, want a constant of package plan", at, m.Scale)
	case m.Scale == Unscaled:
	case len(m.Folds) > 1 || m.Partial != (tcore.Format{}) || m.Running != (tcore.Format{}):
		return fmt.Errorf("%s.Scale = %v with folds or formats, want it alone", at, m.Scale)
	case c.Length == 0:
		return fmt.Errorf("%s.Scale = %v, want parts of one Length, which scales belong to", at, m.Scale)
	}
	for _, f := range []struct {
		name string
		tcore.Format
	}{{"Partial", m.Partial}, {"Running", m.Running}} {
		if f.Format != (tcore.Format{}) && (f.Precision > tcore.Binary32.Precision || f.Emax > tcore.Binary32.Emax) {
			return fmt.Errorf("%s.%s = %s, want numbers of binary32", at, f.name, f.Name)
		}
		if err := checkFormat(f.Format); err != nil {
			return fmt.Errorf("%s.%s: %w", at, f.name, err)
		}
	}
	return nil
}

// checkFormat returns an error unless f is a format or the zero value.
func checkFormat(f tcore.Format) error {
	if f == (tcore.Format{}) {
		return nil
	}
	return complaint(func() { f.Round(1, tcore.ToNearestEven) })
}

func (m Merge) folds() []int {
	if len(m.Folds) == 0 {
		return []int{1}
	}
	return m.Folds
}
