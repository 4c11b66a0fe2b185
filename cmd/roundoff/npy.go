package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// readMatrix reads a matrix from a NumPy file and rounds it to f. Bytes of no
// type are codes of f.
func readMatrix(path string, f tcore.Format, mode tcore.RoundingMode) (blas32.General, error) {
	m, err := readElements(path, f)
	if err != nil {
		return blas32.General{}, err
	}
	z, _, err := question.RoundMatrix(path, m, f, mode)
	return z, err
}

// readNumbers reads the matrix of a NumPy file without rounding it.
func readNumbers(path string) (blas64.General, error) { return readElements(path, tcore.Format{}) }

// readElements is readNumbers for a file whose bytes of no type are codes of
// the given format.
func readElements(path string, codes tcore.Format) (blas64.General, error) {
	data, err := readFile(path, string(npy.Magic[:]), 8*question.MostElements+1<<16, "a NumPy file")
	if err != nil {
		return blas64.General{}, err
	}
	m, err := parseMatrix(data, codes)
	if err != nil {
		return blas64.General{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readShape reads how many rows and columns the matrix of a NumPy file has.
func readShape(path string) (rowsAndColumns [2]int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return rowsAndColumns, err
	}
	defer file.Close()
	const most = 1 << 17 // of a header
	data, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return rowsAndColumns, err
	}
	h, _, err := parseHeader(data)
	if err == nil && len(h.Descr.Shape) != 2 {
		err = fmt.Errorf("shape %v, want a matrix", h.Descr.Shape)
	}
	if err != nil {
		return rowsAndColumns, fmt.Errorf("%s: %w", path, err)
	}
	return [2]int(h.Descr.Shape), nil
}

// An elementType is a type of elements: its size in bytes, how one is read, and
// the number of its codes, 0 if all bytes are codes.
type elementType struct {
	size  int
	read  func(b []byte) float64
	codes int
}

// numbers contains the types of elements. Package ml_dtypes has bfloat16 and
// e5m2 stored as V2 and f1; all its other types are stored as V1, which does
// not tell one from another.
var numbers = map[string]elementType{
	"|i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }, 0},
	"|u1": {1, func(b []byte) float64 { return float64(b[0]) }, 0},
	"<i4": {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }, 0},
	"<f1": {1, func(b []byte) float64 { return tcore.E5M2.Decode(uint64(b[0])) }, 0},
	"<V2": {2, func(b []byte) float64 { return tcore.BFloat16.Decode(uint64(binary.LittleEndian.Uint16(b))) }, 0},
	"<f2": {2, func(b []byte) float64 { return tcore.Binary16.Decode(uint64(binary.LittleEndian.Uint16(b))) }, 0},
	"<f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }, 0},
	"<f8": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }, 0},
}

// elementTypeOf returns how elements of a type are read, those of no type as
// codes.
func elementTypeOf(kind string, codes tcore.Format) (n elementType, err error) {
	switch kind {
	case "|f1", "|V2":
		kind = "<" + kind[1:]
	case "<V1", "|V1":
		if codes.Precision == 0 || codes.Bits() > 8 {
			return n, errors.New("bytes of no type, as NumPy stores fp8, fp6 and fp4: want a command with -in of a format of at most 8 bits, whose codes they are")
		}
		return elementType{1, func(b []byte) float64 { return codes.Decode(uint64(b[0])) }, 1 << codes.Bits()}, nil
	}
	n, ok := numbers[kind]
	if !ok {
		return n, fmt.Errorf("elements of type %.20q, want int32, float16, float32 or float64, little-endian, int8, uint8 or a type of ml_dtypes", kind)
	}
	return n, nil
}

// parseMatrix returns the matrix in the bytes of a NumPy file; bytes of no type
// are codes of the given format. It compares the shape with the length of the
// data before it allocates the matrix.
func parseMatrix(data []byte, codes tcore.Format) (m blas64.General, err error) {
	h, data, err := parseHeader(data)
	if err != nil {
		return m, err
	}
	number, err := elementTypeOf(h.Descr.Type, codes)
	if err != nil {
		return m, err
	}
	if len(h.Descr.Shape) != 2 || h.Descr.Shape[0] < 1 || h.Descr.Shape[1] < 1 {
		return m, fmt.Errorf("shape %v, want a matrix that is not empty", h.Descr.Shape)
	}
	rows, cols := h.Descr.Shape[0], h.Descr.Shape[1]
	if n := len(data) / number.size; len(data)%number.size != 0 || n/rows != cols || n%rows != 0 {
		return m, fmt.Errorf("%d bytes of data, want those of %d × %d elements of %s", len(data), rows, cols, h.Descr.Type)
	}

	m = blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	for k := range m.Data {
		i := k
		if h.Descr.Fortran {
			i = k%rows*cols + k/rows
		}
		if b := data[k*number.size]; number.codes > 0 && int(b) >= number.codes {
			return blas64.General{}, fmt.Errorf("byte %d of the data is %#x, want a code of %s, less than %#x", k, b, codes.Name, number.codes)
		}
		m.Data[i] = number.read(data[k*number.size:])
	}
	return m, nil
}

// parseHeader returns the header of a NumPy file and the data after it. It
// checks what package npy assumes, the length of the header and the parentheses
// of the shape: given a malformed header, npy panics or returns an error of
// strconv.
func parseHeader(data []byte) (h npy.Header, rest []byte, err error) {
	length := 0
	switch {
	case len(data) < 12 || [6]byte(data) != npy.Magic:
		return h, nil, errors.New("not a NumPy file")
	case data[6] == 1:
		length = 10 + int(binary.LittleEndian.Uint16(data[8:]))
	case data[6] == 2:
		length = 12 + int(binary.LittleEndian.Uint32(data[8:]))
	default:
		return h, nil, fmt.Errorf("NumPy format version %d, want 1 or 2", data[6])
	}
	if length > len(data) {
		return h, nil, fmt.Errorf("a header of %d bytes in a file of %d", length, len(data))
	}
	header := data[:length]
	malformed := fmt.Errorf("malformed NumPy header %.120q", bytes.TrimSpace(header[min(length, 10):]))
	defer func() {
		if recover() != nil {
			err = malformed
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(header))
	if err != nil || !bytes.Contains(header, []byte("'shape': (")) {
		return h, nil, malformed
	}
	return r.Header, data[length:], nil
}

// writeCodes writes codes as a NumPy file of the type that NumPy stores for
// those of package ml_dtypes, bytes of no type, or of int8.
func writeCodes(w io.Writer, q *quant.Quantised) error {
	kind := "|V1"
	if q.Recipe.Element.Equal(quant.Int8) || q.Recipe.Element.Equal(quant.MXInt8) {
		kind = "|i1"
	}
	b := bufio.NewWriter(w)
	writeHeader(b, kind, q.Rows, q.Cols) // Flush returns the first error
	b.Write(q.Codes)
	return b.Flush()
}

// writeHeader writes the header of a NumPy file of a matrix.
func writeHeader(b *bufio.Writer, kind string, rows, cols int) {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", kind, rows, cols)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n" // the data begin at a multiple of 64 bytes
	b.Write(npy.Magic[:])
	b.Write([]byte{1, 0, byte(len(header)), 0})
	b.WriteString(header)
}

// writeIntegers writes codes of int32, rows of cols, as a NumPy file of int32.
func writeIntegers(w io.Writer, codes []uint64, cols int) error {
	b := bufio.NewWriter(w)
	writeHeader(b, "<i4", len(codes)/cols, cols) // Flush returns the first error
	for _, code := range codes {
		b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), uint32(code)))
	}
	return b.Flush()
}

// writeMatrix writes m as a NumPy file of float64, which contains the numbers
// of every format exactly.
func writeMatrix(w io.Writer, m blas32.General) error {
	return writeRows(w, m.Rows, m.Cols, m.Stride, m.Data)
}

// writeRows is writeMatrix for elements of either type.
func writeRows[E float32 | float64](w io.Writer, rows, cols, stride int, data []E) error {
	b := bufio.NewWriter(w)
	writeHeader(b, "<f8", rows, cols) // Flush returns the first error
	row := make([]byte, 0, 8*cols)
	for i := range rows {
		row = row[:0]
		for _, x := range data[i*stride:][:cols] {
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(float64(x)))
		}
		b.Write(row)
	}
	return b.Flush()
}
