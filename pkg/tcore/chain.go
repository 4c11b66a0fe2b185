package tcore

import "fmt"

// Chain is one IEEE FMA in C after the other, rounded to nearest even: binary64
// on all tensor and matrix cores, and binary32 on AMD CDNA (Xie et al. 2025).
// With C = Binary32 and narrow factors it is the recursive FMA of the paper.
type Chain struct{}

func (Chain) width() int { return 1 }

func (Chain) sum(d *Device, b block, _ *TraceBlock) float64 {
	return d.C.FMA(b.x[0], b.y[0], b.c, ToNearestEven)
}

func (Chain) check(*Device) {}

// Split is an 8-bit mma.sync on chips that have no such instruction (Hopper,
// Blackwell): the compiler converts the factors to binary16, exactly, and
// issues two binary16 instructions, the first on the indices k with k mod 4 < 2
// and from zero, the second on the others. Then c is added in C, to nearest
// even.
type Split struct {
	By Fused // the binary16 instruction, of half the terms
}

func (s Split) width() int { return 2 * s.By.Terms }

func (s Split) sum(d *Device, b block, _ *TraceBlock) float64 {
	half := *d
	half.A, half.B = Binary16, Binary16

	n := s.By.Terms
	first := block{x: make([]float64, 0, n), y: make([]float64, 0, n)}
	second := block{x: make([]float64, 0, n), y: make([]float64, 0, n)}
	for k := range b.x {
		part := &first
		if k%4 >= 2 {
			part = &second
		}
		part.x, part.y = append(part.x, b.x[k]), append(part.y, b.y[k])
	}

	second.c = s.By.sum(&half, first, nil)
	z := s.By.sum(&half, second, nil)
	return d.C.Add(z, b.c, ToNearestEven)
}

func (s Split) check(d *Device) {
	half := *d
	half.A, half.B = Binary16, Binary16
	s.By.check(&half)
	if s.By.Terms%2 != 0 || !Binary16.contains(d.A) || !Binary16.contains(d.B) {
		panic(fmt.Sprintf("tcore: device %q: Split of %s × %s in halves of %d, want numbers of binary16 and an even number",
			d.Name, d.A.Name, d.B.Name, s.By.Terms))
	}
}

// A TensorCore is the Core of a Device too: that of the paper.

func (t TensorCore) width() int { return t.Block }

func (t TensorCore) sum(_ *Device, b block, _ *TraceBlock) float64 {
	return t.kernel(b.c, b.x, b.y)
}

func (t TensorCore) check(d *Device) {
	if !t.Low.contains(d.A) || !t.Low.contains(d.B) || !d.C.contains(t.Output) {
		panic(fmt.Sprintf("tcore: device %q: %s × %s + %s around a TensorCore of %s to %s",
			d.Name, d.A.Name, d.B.Name, d.C.Name, t.Low.Name, t.Output.Name))
	}
}
