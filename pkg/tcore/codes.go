package tcore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// Codes is a matrix of codes of a format of at most 16 bits, with the scales of
// its blocks: the operand of a block-scaled product, or of one of bfloat16 or
// binary16. The zero value of Scales stands for scales of 1.
type Codes struct {
	Rows, Cols int
	Data       []uint8  // the code of element (i, j) is Data[i*Cols+j]
	Data16     []uint16 // in place of Data, if the format has more than 8 bits

	// Scales contains the codes of the scales. A scale belongs to as many
	// consecutive elements along K as the ScaleBlock of the device says, the last
	// of a row or column to fewer if K is no multiple of it. Those of the left
	// factor A are M × ⌈K/ScaleBlock⌉, row by row: blocks are parts of rows. Those
	// of the right factor B are ⌈K/ScaleBlock⌉ × N: blocks are parts of columns.
	Scales []uint8
}

// Left returns the columns [start, end) of a left factor, with the scales of
// every block terms; start is a multiple of block.
func (m Codes) Left(start, end, block int) Codes {
	z := Codes{Rows: m.Rows, Cols: end - start}
	if len(m.Data16) > 0 {
		z.Data16 = columnsOf(m.Data16, m.Cols, start, end)
	} else {
		z.Data = columnsOf(m.Data, m.Cols, start, end)
	}
	if len(m.Scales) > 0 {
		z.Scales = columnsOf(m.Scales, (m.Cols+block-1)/block, start/block, (end+block-1)/block)
	}
	return z
}

// columnsOf returns the columns [start, end) of a matrix of n columns.
func columnsOf[E any](data []E, n, start, end int) []E {
	z := make([]E, 0, len(data)/n*(end-start))
	for i := 0; i < len(data); i += n {
		z = append(z, data[i+start:i+end]...)
	}
	return z
}

// Right returns the rows [start, end) of a right factor, with the scales of
// every block terms; start is a multiple of block.
func (m Codes) Right(start, end, block int) Codes {
	z := Codes{Rows: end - start, Cols: m.Cols}
	if len(m.Data16) > 0 {
		z.Data16 = m.Data16[start*m.Cols : end*m.Cols]
	} else {
		z.Data = m.Data[start*m.Cols : end*m.Cols]
	}
	if len(m.Scales) > 0 {
		z.Scales = m.Scales[start/block*m.Cols : (end+block-1)/block*m.Cols]
	}
	return z
}

// decode returns the numbers of f that the codes represent.
func (m Codes) decode(f Format) blas32.General {
	z := matrix.New(m.Rows, m.Cols)
	if len(m.Data16) > 0 {
		number := f.numbers16()
		parallel.Ranges(len(m.Data16), func(lo, hi int) {
			for i, code := range m.Data16[lo:hi] {
				z.Data[lo+i] = number[code]
			}
		})
		return z
	}
	number := f.numbers()
	for i, code := range m.Data {
		z.Data[i] = number[code]
	}
	return z
}

// unitScales returns n codes of a scale of 1.
func (d *Device) unitScales(n int) []uint8 {
	return bytes.Repeat([]uint8{uint8(d.Scale.Encode(1, ToNearestEven))}, n)
}

// MultiplyAddCodes stores in z the matrix C + AB for factors given as codes of
// A and B, with scales if the device is block-scaled: every element is the
// [Device.DotScaled] of a row of a, a column of b and an element of c, or their
// [Device.DotCodes] on a device without scales. The shapes of c and z and their
// relation are those of [Device.MultiplyAdd].
//
// It panics if a shape does not fit, a matrix is empty, the formats of the
// device have more than 16 bits, codes are not in Data or Data16 as their
// format has it, there are scales on a device without, or the core does not
// support the device.
func (d Device) MultiplyAddCodes(a, b Codes, c, z blas32.General) {
	const call = "MultiplyAddCodes"
	d.checkCodes(call, a, b)
	checkShape(call, "z", a.Rows, b.Cols, z)
	if c.Data != nil {
		checkShape(call, "c", a.Rows, b.Cols, c)
	}
	d.check(call, a.Cols, b.Rows)
	p := d.prepareCodes(a, b, c.Data != nil)
	defer p.release()
	p.addTo(c, z)
}

// codeMethods prepare products of codes, the fastest first. They return false
// for products that they do not compute.
var codeMethods = []func(d *Device, a, b Codes) (prepared, bool){
	newGroupProduct,
	newIntegerBlockCodes,
	newAlignedCodes,
}

// prepareCodes prepares a and b for the first method that computes their
// product. started reports whether C is given.
func (d *Device) prepareCodes(a, b Codes, started bool) prepared {
	if len(a.Data16)+len(b.Data16) > 0 {
		if d.ScaleBlock > 0 {
			return newScaledProduct(d, a, b)
		}
		return d.prepare(a.decode(d.A), b.decode(d.B), started)
	}
	for _, method := range codeMethods {
		if p, ok := method(d, a, b); ok {
			return p
		}
	}
	return newScaledProduct(d, a, b)
}

// scaledProduct computes a product of codes element by element.
type scaledProduct struct {
	d              *Device
	m, n           int
	x, y           [][]float64 // rows of A, columns of B
	scaleX, scaleY [][]float64 // and their scales
}

func newScaledProduct(d *Device, a, b Codes) *scaledProduct {
	p := &scaledProduct{d: d, m: a.Rows, n: b.Cols}
	p.x, p.scaleX = d.decodeVectors(d.A, a, false)
	p.y, p.scaleY = d.decodeVectors(d.B, b, true)
	return p
}

// decodeVectors returns the numbers and the scales of the rows of m, or of its
// columns.
func (d *Device) decodeVectors(f Format, m Codes, columns bool) (x, scales [][]float64) {
	n := m.Rows
	if columns {
		n = m.Cols
	}
	x, scales = make([][]float64, n), make([][]float64, n)
	for i := range n {
		x[i], scales[i] = d.decodeVector(f, m, i, columns)
	}
	return x, scales
}

// decodeVector returns the numbers and the scales of row i of m, or of column
// i.
func (d *Device) decodeVector(f Format, m Codes, i int, column bool) (x, scales []float64) {
	k := m.Cols
	if column {
		k = m.Rows
	}
	n := 0 // columns
	if column {
		n = m.Cols
	}
	if len(m.Data16) > 0 {
		x = decodePart(f, m.Data16, k, i, n)
	} else {
		x = decodePart(f, m.Data, k, i, n)
	}
	if len(m.Scales) > 0 {
		scales = decodePart(d.Scale, m.Scales, (k+d.ScaleBlock-1)/d.ScaleBlock, i, n)
	}
	return x, scales
}

// decodePart returns the numbers of row i of k codes, or of column i of n if n
// is not 0.
func decodePart[E uint8 | uint16](f Format, data []E, k, i, n int) []float64 {
	z, first, step := make([]float64, k), i*k, 1
	if n > 0 {
		first, step = i, n
	}
	for l := range z {
		z[l] = f.Decode(uint64(data[first+l*step]))
	}
	return z
}

func (p *scaledProduct) release() {}

func (p *scaledProduct) addTo(c, z blas32.General) {
	rows(p.m, p.n, func(part [][]float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range part[i-lo] {
				start := 0.0
				if c.Data != nil {
					start = p.d.C.Round(float64(c.Data[i*c.Stride+j]), ToNearestEven)
				}
				s := p.d.chain(p.x[i], p.y[j], p.scaleX[i], p.scaleY[j], start, nil)
				z.Data[i*z.Stride+j] = float32(s)
			}
		}
	})
}

// checkCodes panics unless a and b are codes of the factors of a product.
func (d *Device) checkCodes(call string, a, b Codes) {
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("tcore: %s: a is %d × %d, b is %d × %d", call, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	blocks := 0
	if d.ScaleBlock > 0 {
		blocks = (a.Cols + d.ScaleBlock - 1) / d.ScaleBlock
	}
	check := func(name string, f Format, m Codes, scales int) {
		if m.Rows < 1 || m.Cols < 1 {
			panic(fmt.Sprintf("tcore: %s: %s is %d × %d, want at least 1 × 1", call, name, m.Rows, m.Cols))
		}
		bits := f.Bits()
		n, n16 := m.Rows*m.Cols, 0
		switch {
		case bits > 16:
			panic(fmt.Sprintf("tcore: %s: %s of device %q has codes of %d bits, want at most 16", call, f.Name, d.Name, bits))
		case bits > 8:
			n, n16 = 0, n
		}
		checkLengths(call, name+".Data", len(m.Data), n)
		checkLengths(call, name+".Data16", len(m.Data16), n16)
		if i := firstBeyond(m.Data, bits); i >= 0 {
			panic(fmt.Sprintf("tcore: %s: %s.Data[%d] = %#x, want a code of %d bits", call, name, i, m.Data[i], bits))
		}
		if i := slices.IndexFunc(m.Data16, func(code uint16) bool { return code>>bits != 0 }); bits < 16 && i >= 0 {
			panic(fmt.Sprintf("tcore: %s: %s.Data16[%d] = %#x, want a code of %d bits", call, name, i, m.Data16[i], bits))
		}
		if len(m.Scales) > 0 {
			checkLengths(call, name+".Scales", len(m.Scales), scales)
		}
	}
	check("a", d.A, a, a.Rows*blocks)
	check("b", d.B, b, b.Cols*blocks)
}

// firstBeyond returns the index of the first code of more than w bits, or -1.
func firstBeyond(codes []uint8, w int) int {
	beyond := ^(0x0101010101010101 * (uint64(1)<<w - 1))
	if beyond == 0 {
		return -1
	}
	const part = 1 << 14
	var found atomic.Bool
	parallel.Ranges((len(codes)+part-1)/part, func(lo, hi int) {
		if union(codes[lo*part:min(hi*part, len(codes))])&beyond != 0 {
			found.Store(true)
		}
	})
	if !found.Load() {
		return -1
	}
	return slices.IndexFunc(codes, func(code uint8) bool { return code>>w != 0 })
}

// union returns bytes that have, together, all the bits of the codes.
func union(codes []uint8) uint64 {
	var a, b, c, d uint64
	for ; len(codes) >= 32; codes = codes[32:] {
		a |= binary.LittleEndian.Uint64(codes)
		b |= binary.LittleEndian.Uint64(codes[8:])
		c |= binary.LittleEndian.Uint64(codes[16:])
		d |= binary.LittleEndian.Uint64(codes[24:])
	}
	for _, code := range codes {
		a |= uint64(code)
	}
	return a | b | c | d
}
