package tcore

import "fmt"

// Device is one instruction of one architecture's matrix unit: what it takes,
// what it returns, and in Core how it adds. Package devices is the catalogue; a
// new device is one literal, and a variant is a copy with one field changed:
//
//	d := devices.HopperE4M3()
//	d.B = tcore.E5M2
//
// The operation is d = c + x₀y₀ + … + x₍K₋₁₎y₍K₋₁₎ for any K: the K products
// are taken in blocks from left to right, the result of one block being c of
// the next, as one instruction or a chain of them does. A last block that K
// does not fill is filled with products 0 × 0, as a GEMM kernel does.
type Device struct {
	Name         string
	Architecture string
	Instruction  string
	A, B         Format       // of the factors x and y
	C            Format       // of the accumulator c and of the result d
	Scale        Format       // of the scales of a block-scaled instruction
	ScaleBlock   int          // elements that one scale covers; 0 if there are no scales
	Convert      RoundingMode // how Dot and MultiplyAdd convert values to A and B
	NaN          uint64       // code of a NaN result; 0 means that of C.Encode
	Core         Core
}

// Core is the arithmetic of one block, a record of its own: [Fused],
// [ExactSum], [Pairwise], [TwoStage], [Chain], [Split] or [TensorCore]. The set
// is closed: a unit that adds in none of these ways gets a core in this
// package, with its slow oracle.
type Core interface {
	// width returns the number of products in a block.
	width() int
	// sum returns c + Σ xᵢyᵢ, a value of C, for one full block of values of A
	// and B. It fills in the trace if there is one.
	sum(d *Device, b block, t *TraceBlock) float64
	// check panics unless the core can take the formats of d.
	check(d *Device)
}

// block is what a Core takes at once: width factors, their scales if there are
// any, and the accumulator.
type block struct {
	x, y, scaleX, scaleY []float64
	c                    float64
}

// Dot returns c + Σ xᵢyᵢ as the device computes it. The factors are first
// converted to A and B by Convert, c is rounded to C. Scales are 1.
// It panics if the lengths differ.
func (d Device) Dot(x, y []float64, c float64) float64 {
	d.check("Dot", len(x), len(y))
	return d.chain(d.convert(d.A, x), d.convert(d.B, y), nil, nil, d.C.Round(c, ToNearestEven), nil)
}

// DotCodes is Dot on codes: x of A, y of B, c and the result of C. The codes of
// tf32 are binary32 words, of which the low 13 bits are ignored, as the
// instructions do. It panics if the lengths differ, a code has too many bits or
// the device takes scales.
func (d Device) DotCodes(x, y []uint64, c uint64) uint64 {
	if d.ScaleBlock > 0 {
		panic(fmt.Sprintf("tcore: DotCodes: %s takes scales, want DotScaled", d.Name))
	}
	return d.DotScaled(x, y, nil, nil, c)
}

// DotScaled is DotCodes for a block-scaled instruction. Scale i of a vector, a
// code of Scale, multiplies its elements i × ScaleBlock and on; a scale must be
// there for every block begun. It panics if the lengths do not fit.
func (d Device) DotScaled(x, y, scaleX, scaleY []uint64, c uint64) uint64 {
	d.check("DotScaled", len(x), len(y))
	if d.ScaleBlock > 0 {
		want := (len(x) + d.ScaleBlock - 1) / d.ScaleBlock
		checkLengths("DotScaled", "scaleX", len(scaleX), want)
		checkLengths("DotScaled", "scaleY", len(scaleY), want)
	} else {
		checkLengths("DotScaled", "scaleX", len(scaleX), 0)
		checkLengths("DotScaled", "scaleY", len(scaleY), 0)
	}
	z := d.chain(decodeAll(d.A, x), decodeAll(d.B, y), decodeAll(d.Scale, scaleX), decodeAll(d.Scale, scaleY),
		decodeOperand(d.C, c), nil)
	return d.encode(z)
}

// Takes reports whether the instruction takes factors y of format f: B itself
// or, since 8-bit instructions mix their formats, another one of at most 8 bits
// if B is such a format. A device that does becomes one with d.B = f.
func (d Device) Takes(f Format) bool {
	if f.Equal(d.B) {
		return true
	}
	core, _ := d.Core.(Fused)
	narrow := f.Precision > 0 && f.Sign == Signed && f.Bits() <= 8 && d.B.Bits() <= 8
	return narrow && core.Group == 0 && (f.Specials == FNUZ) == (d.B.Specials == FNUZ)
}

// chain takes the blocks one after the other.
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

// padOnes is padZeros for scales, with ones.
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

// convert returns the values x as numbers of f.
func (d *Device) convert(f Format, x []float64) []float64 {
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = f.Round(v, d.Convert)
	}
	return z
}

// decodeAll returns the numbers that codes stand for.
func decodeAll(f Format, codes []uint64) []float64 {
	z := make([]float64, len(codes))
	for i, code := range codes {
		z[i] = decodeOperand(f, code)
	}
	return z
}

// decodeOperand is f.Decode, but for tf32, which registers hold in the upper
// bits of a binary32 word.
func decodeOperand(f Format, code uint64) float64 {
	if f.Equal(TF32) {
		const unused = 1<<13 - 1
		return Binary32.Decode(code &^ unused)
	}
	return f.Decode(code)
}

// encode returns the code of a result.
func (d *Device) encode(z float64) uint64 {
	if z != z && d.NaN != 0 {
		return d.NaN
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
