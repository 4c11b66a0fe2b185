package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A tensor is an array whose numbers are read when they are needed.
type tensor struct {
	shape []int
	read  func() ([]float32, error)
}

// A number is a type of the elements of a tensor: its name, its size in bytes,
// whether it is an integer, and what the bytes stand for.
type number struct {
	name    string
	size    int
	integer bool
	decode  func(b []byte) float64
}

func small(name string, f tcore.Format) number {
	if f.Bits() == 16 {
		return number{name, 2, false, func(b []byte) float64 { return f.Decode(uint64(binary.LittleEndian.Uint16(b))) }}
	}
	return number{name, 1, false, func(b []byte) float64 { return f.Decode(uint64(b[0])) }}
}

// Types of elements, little-endian, by the names of safetensors.
var (
	f64 = number{"F64", 8, false, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }}
	f32 = number{"F32", 4, false, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }}
	i64 = number{"I64", 8, true, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }}
	i32 = number{"I32", 4, true, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }}
	i16 = number{"I16", 2, true, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }}
	i8  = number{"I8", 1, true, func(b []byte) float64 { return float64(int8(b[0])) }}
	u64 = number{"U64", 8, true, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }}
	u32 = number{"U32", 4, true, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }}
	u16 = number{"U16", 2, true, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }}
	u8  = number{"U8", 1, true, func(b []byte) float64 { return float64(b[0]) }}

	boolean = number{"BOOL", 1, true, u8.decode}

	f16    = small("F16", tcore.Binary16)
	bf16   = small("BF16", tcore.BFloat16)
	f8e4m3 = small("F8_E4M3", tcore.E4M3)
	f8e5m2 = small("F8_E5M2", tcore.E5M2)
)

// elements returns the product of the sizes of a shape. An error says that a
// size is negative, or that the product is beyond what memory can have.
func elements(shape []int64) (sizes []int, n int64, err error) {
	n = 1
	for _, s := range shape {
		if s < 0 {
			return nil, 0, fmt.Errorf("shape %v, want sizes of at least 0", shape)
		}
		if s > 0 && n > (1<<40)/s {
			return nil, 0, fmt.Errorf("shape %v, want at most 2^40 elements", shape)
		}
		n *= s
		sizes = append(sizes, int(s))
	}
	return sizes, n, nil
}

// readNumbers returns n numbers of the given type from r, where they begin at
// the given byte, rounded to binary32.
func readNumbers(r io.ReaderAt, at, n int64, t number) ([]float32, error) {
	data := make([]float32, n)
	buffer := make([]byte, min(n, 8192)*int64(t.size))
	for i := 0; i < len(data); {
		part := data[i:min(i+8192, len(data))]
		b := buffer[:len(part)*t.size]
		if k, err := r.ReadAt(b, at+int64(i)*int64(t.size)); k < len(b) {
			return nil, unexpected(err)
		}
		for j := range part {
			part[j] = float32(t.decode(b[j*t.size:]))
		}
		i += len(part)
	}
	return data, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// gather returns the elements of data at offset + Σ iₖ strideₖ for every index
// i of the shape, the last counting fastest.
func gather(data []float32, shape, strides []int, offset int) []float32 {
	n := 1
	for _, s := range shape {
		n *= s
	}
	z := make([]float32, 0, n)
	if n == 0 {
		return z
	}
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(shape) {
			z = append(z, data[at])
			return
		}
		for i := range shape[axis] {
			walk(axis+1, at+i*strides[axis])
		}
	}
	walk(0, offset)
	return z
}

// strides returns the steps along the axes of an array of that shape, row by
// row.
func strides(shape []int) []int {
	z, n := make([]int, len(shape)), 1
	for k, s := range slices.Backward(shape) {
		z[k] = n
		n *= s
	}
	return z
}
