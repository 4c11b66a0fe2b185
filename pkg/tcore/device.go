package tcore

import "fmt"

// Device is one instruction of one architecture's matrix unit: the formats of
// its operands and of its result and, in Core, the arithmetic of its sums.
// Package devices is the catalogue. A new device is one literal, and a variant
// is a copy with one field changed:
//
//	d := devices.HopperE4M3()
//	d.B = tcore.E5M2
//
// The operation is d = c + x₀y₀ + … + x₍K₋₁₎y₍K₋₁₎ for any K. The K products
// are added in blocks, from left to right, and the result of one block is c of
// the next, as in one instruction or in a chain of them. If K is not a multiple
// of the block width, the last block is padded with products 0 × 0, as in a
// GEMM kernel.
type Device struct {
	Name         string
	Architecture string
	Instruction  string
	A, B         Format       // of the factors x and y
	C            Format       // of the accumulator c and of the result d
	Scale        Format       // of the scales of a block-scaled instruction
	ScaleBlock   int          // elements that one scale covers; 0 if there are no scales
	Convert      RoundingMode // how Dot and MultiplyAdd convert values to A and B
	NaN          uint64       // code of a NaN result; 0 means that of C.Encode, or of the NaN that the core passes on
	Core         Core
}

// Core is the arithmetic of one block, given by its parameters: [Fused],
// [ExactSum], [Pairwise], [EvenOdd], [OddFirst], [OddPairs], [FusedPairs],
// [TwoStage], [Chain], [Split], [TensorCore] or [WrappedSum]. The set is
// closed: a matrix unit with another arithmetic needs a new core in this
// package, with a slow oracle in its tests.
type Core interface {
	// width returns the number of products in a block.
	width() int
	// sum returns c + Σ xᵢyᵢ, a value of C, for one full block of values of A and
	// B. It records the alignment in t, unless t is nil.
	sum(d *Device, b block, t *TraceBlock) float64
	// check panics unless the core supports the formats of d.
	check(d *Device)
}

// block is the input of Core.sum: width factors x and y, their scales if the
// device has any, and the accumulator c.
type block struct {
	x, y, scaleX, scaleY []float64
	c                    float64
}

// Dot returns c + Σ xᵢyᵢ as the device computes it. It first converts the
// factors to A and B by Convert, and rounds c to C, to nearest even. Scales are
// 1.
// It panics if the lengths differ or the core does not support the device.
func (d Device) Dot(x, y []float64, c float64) float64 {
	d.check("Dot", len(x), len(y))
	return d.chain(d.convert(d.A, x), d.convert(d.B, y), nil, nil, d.C.Round(c, ToNearestEven), nil)
}

// DotCodes is Dot on codes: x of A, y of B, c and the result of C. The codes of
// tf32 are binary32 words whose low 13 bits are ignored, as the instructions
// ignore them. It panics if the lengths differ, a code has too many bits or the
// device has scales.
func (d Device) DotCodes(x, y []uint64, c uint64) uint64 {
	if d.ScaleBlock > 0 {
		panic(fmt.Sprintf("tcore: DotCodes: %s takes scales, want DotScaled", d.Name))
	}
	return d.DotScaled(x, y, nil, nil, c)
}

// DotScaled is DotCodes for a block-scaled instruction. Scale i of a vector, a
// code of Scale, multiplies the ScaleBlock elements from index i × ScaleBlock
// on. Each vector of scales has ⌈len(x) / ScaleBlock⌉ elements, or none if the
// device has no scales. It panics if the lengths do not fit or a code has too
// many bits.
func (d Device) DotScaled(x, y, scaleX, scaleY []uint64, c uint64) uint64 {
	d.checkScaled("DotScaled", x, y, scaleX, scaleY)
	z := d.chain(d.decodeAll(d.A, x), d.decodeAll(d.B, y), d.decodeAll(d.Scale, scaleX), d.decodeAll(d.Scale, scaleY),
		d.decode(d.C, c), nil)
	return d.encode(z)
}

// checkScaled panics unless the device can compute a dot product of x and y
// with these scales.
func (d *Device) checkScaled(call string, x, y, scaleX, scaleY []uint64) {
	d.check(call, len(x), len(y))
	want := 0
	if d.ScaleBlock > 0 {
		want = (len(x) + d.ScaleBlock - 1) / d.ScaleBlock
	}
	checkLengths(call, "scaleX", len(scaleX), want)
	checkLengths(call, "scaleY", len(scaleY), want)
}

// Takes reports whether the instruction accepts factors y of format f. It
// accepts B. Since 8-bit instructions mix their formats, it also accepts a
// signed format of at most 8 bits if B has at most 8 bits, both or neither are
// fnuz, and the core sums no groups or integers. The device with factors y of
// format f is a copy with B = f.
func (d Device) Takes(f Format) bool {
	if f.Equal(d.B) {
		return true
	}
	if _, integers := d.Core.(WrappedSum); integers {
		return false
	}
	core, _ := d.Core.(Fused)
	narrow := f.Precision > 0 && f.Sign == Signed && f.Bits() <= 8 && d.B.Bits() <= 8
	return narrow && core.Group == 0 && (f.Specials == FNUZ) == (d.B.Specials == FNUZ)
}

// chain adds the blocks one after the other to c and returns the result. It
// appends a trace of each block to t, unless t is nil.
func (d *Device) chain(x, y, scaleX, scaleY []float64, c float64, t *Trace) float64 {
	w := d.Core.width()
	for k := 0; k < len(x); k += w {
		b := block{x: padZeros(x, k, w), y: padZeros(y, k, w), c: c}
		if d.ScaleBlock > 0 {
			n := w / d.ScaleBlock
			b.scaleX, b.scaleY = padOnes(scaleX, k/d.ScaleBlock, n), padOnes(scaleY, k/d.ScaleBlock, n)
		}
		if t == nil {
			c = d.Core.sum(d, b, nil)
			continue
		}
		step := newTraceBlock(k, b)
		c = d.Core.sum(d, b, &step)
		step.finish(c)
		t.Blocks = append(t.Blocks, step)
	}
	return c
}

// padZeros returns x[k:k+w], with zeros beyond the end of x.
func padZeros(x []float64, k, w int) []float64 {
	if k+w <= len(x) {
		return x[k : k+w]
	}
	z := make([]float64, w)
	copy(z, x[k:])
	return z
}

// padOnes is padZeros for scales: it returns ones beyond the end of x.
func padOnes(x []float64, k, w int) []float64 {
	if k+w <= len(x) {
		return x[k : k+w]
	}
	z := make([]float64, w)
	for i := copy(z, x[min(k, len(x)):]); i < w; i++ {
		z[i] = 1
	}
	return z
}

// convert returns x rounded to f by Convert.
func (d *Device) convert(f Format, x []float64) []float64 {
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = f.Round(v, d.Convert)
	}
	return z
}

// decodeAll returns the numbers that the codes represent.
func (d *Device) decodeAll(f Format, codes []uint64) []float64 {
	z := make([]float64, len(codes))
	for i, code := range codes {
		z[i] = d.decode(f, code)
	}
	return z
}

// decode is decodeOperand, with the payload of a NaN if the core keeps it.
func (d *Device) decode(f Format, code uint64) float64 {
	z := decodeOperand(f, code)
	if z != z && keepsNaN(d.Core) {
		return keptNaN(f, code)
	}
	return z
}

// decodeOperand is f.Decode, except for tf32, which registers store in the
// upper bits of a binary32 word.
func decodeOperand(f Format, code uint64) float64 {
	if f.Equal(TF32) {
		const unused = 1<<13 - 1
		return Binary32.Decode(code &^ unused)
	}
	return f.Decode(code)
}

// encode returns the code of a result.
func (d *Device) encode(z float64) uint64 {
	switch {
	case z != z && d.NaN != 0:
		return d.NaN
	case z != z && keepsNaN(d.Core):
		return codeOfNaN(d.C, z)
	}
	return d.C.Encode(z, ToNearestEven)
}

// check panics unless the device can compute a dot product of x and y.
func (d *Device) check(call string, lx, ly int) {
	if lx != ly {
		panic(fmt.Sprintf("tcore: %s: x has %d elements, y has %d", call, lx, ly))
	}
	if d.Core == nil {
		panic(fmt.Sprintf("tcore: %s: device %q has no Core", call, d.Name))
	}
	w := d.Core.width()
	if w < 1 {
		panic(fmt.Sprintf("tcore: %s: device %q takes %d terms at once, want at least 1", call, d.Name, w))
	}
	if d.ScaleBlock < 0 || d.ScaleBlock > 0 && w%d.ScaleBlock != 0 {
		panic(fmt.Sprintf("tcore: %s: device %q has ScaleBlock = %d, want a divisor of %d", call, d.Name, d.ScaleBlock, w))
	}
	if _, ok := d.Core.(Fused); d.ScaleBlock > 0 && !ok {
		panic(fmt.Sprintf("tcore: %s: device %q has scales, want a Fused core", call, d.Name))
	}
	if _, integers := d.Core.(WrappedSum); !integers && (d.A.Sign == TwosComplement || d.B.Sign == TwosComplement) {
		panic(fmt.Sprintf("tcore: %s: device %q has factors in two's complement, want a WrappedSum core", call, d.Name))
	}
	d.Core.check(d)
}

// BlockTerms returns the number of products that the device adds to an
// accumulator at once. It panics if the device has no core.
func (d Device) BlockTerms() int {
	if d.Core == nil {
		panic(fmt.Sprintf("tcore: device %q has no core", d.Name))
	}
	return d.Core.width()
}
