package tcvec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Header is the first line of a file. Formats are named as in the file: fp64,
// fp32, tf32, fp16, bf16, e5m2, e4m3, e2m1 and so on.
type Header struct {
	Format, Name, Kind string
	Arch, Instr, Via   string
	K                  int // length of the dot products
	A, B, C            string
	Scale              string
	NScale, Block      int // number of scales of one vector, and of the elements that each one scales
	Count, RowBytes    int
}

// Row is one dot product: codes of the operands and of the expected result.
type Row struct {
	Flags, Regime  byte
	A, B           []uint64
	ScaleA, ScaleB []uint64
	C, D, Second   uint64
}

// contested are the bits of Row.Flags that mark rows whose sources disagree on
// D.
const contested = 3

// Limits on the size of a header and on its K.
const (
	maxHeader = 1 << 16
	maxK      = 1 << 16
)

// Reader reads the rows of one file.
type Reader struct {
	Header Header
	in     *bufio.Reader
	buf    []byte
	row    Row
	read   int
}

// NewReader reads the header and checks its sizes.
func NewReader(r io.Reader) (*Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("tcvec: not a gzip file: %w", err)
	}
	return NewPlainReader(z)
}

// NewPlainReader is NewReader for the contents of a file, decompressed.
func NewPlainReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(r, maxHeader)
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("tcvec: no header line in the first %d bytes", maxHeader)
	case err == io.EOF:
		return nil, errors.New("tcvec: no header line")
	case err != nil:
		return nil, fmt.Errorf("tcvec: header: %w", err)
	}
	var h Header
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&h); err != nil {
		return nil, fmt.Errorf("tcvec: header: %w", err)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	return &Reader{Header: h, in: in, buf: make([]byte, h.RowBytes), row: h.newRow()}, nil
}

// check returns an error unless the sizes in the header agree with each other.
func (h Header) check() error {
	switch {
	case h.Format != "tcvec1":
		return fmt.Errorf("tcvec: format %.40q, want tcvec1", h.Format)
	case h.K < 1 || h.K > maxK:
		return fmt.Errorf("tcvec: K = %d, want 1 to %d", h.K, maxK)
	case h.Count < 0:
		return fmt.Errorf("tcvec: count = %d, want 0 or more", h.Count)
	case h.NScale < 0 || h.Block < 0 || h.Block > h.K || h.NScale*h.Block != h.K && h.NScale > 0:
		return fmt.Errorf("tcvec: nscale = %d and block = %d, want blocks that cover K = %d", h.NScale, h.Block, h.K)
	}
	a, errA := vectorBytes("a", h.A, h.K)
	b, errB := vectorBytes("b", h.B, h.K)
	c, errC := vectorBytes("c", h.C, 1)
	if err := errors.Join(errA, errB, errC); err != nil {
		return err
	}
	if want := 2 + a + b + 2*h.NScale + 3*c; h.RowBytes != want {
		return fmt.Errorf("tcvec: rowbytes = %d, want %d for K = %d of %s and %s", h.RowBytes, want, h.K, h.A, h.B)
	}
	return nil
}

// widths contains the number of bits of a code as stored. The upper two bits of
// e3m2 and e2m3 are not used.
var widths = map[string]int{
	"fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16,
	"e5m2": 8, "e4m3": 8, "e5m2fnuz": 8, "e4m3fnuz": 8, "e3m2": 8, "e2m3": 8, "e2m1": 4,
	"int8": 8, "uint8": 8, "int32": 32,
}

// vectorBytes returns the size in bytes of n codes of the format. Field is the
// field of the header that names the format, for the error.
func vectorBytes(field, format string, n int) (int, error) {
	w, ok := widths[format]
	if !ok {
		return 0, fmt.Errorf("tcvec: %s = %.40q is no format known", field, format)
	}
	if n*w%8 != 0 {
		return 0, fmt.Errorf("tcvec: %s: %d codes of %s do not fill bytes", field, n, format)
	}
	return n * w / 8, nil
}

func (h Header) newRow() Row {
	return Row{
		A: make([]uint64, h.K), B: make([]uint64, h.K),
		ScaleA: make([]uint64, h.NScale), ScaleB: make([]uint64, h.NScale),
	}
}

// Next returns the next row, which is valid until the next call, or io.EOF
// after the last row. It is an error if the file ends before or continues after
// Count rows.
func (r *Reader) Next() (Row, error) {
	if r.read == r.Header.Count {
		if _, err := r.in.ReadByte(); err == nil {
			return Row{}, fmt.Errorf("tcvec: the file goes on after its %d rows", r.Header.Count)
		} else if err != io.EOF {
			return Row{}, fmt.Errorf("tcvec: after the last row: %w", err)
		}
		return Row{}, io.EOF
	}
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Row{}, fmt.Errorf("tcvec: row %d of %d: %w", r.read, r.Header.Count, err)
	}
	r.read++

	h, b := r.Header, r.buf
	r.row.Flags, r.row.Regime, b = b[0], b[1], b[2:]
	b = codes(r.row.A, b, h.A)
	b = codes(r.row.B, b, h.B)
	b = codes(r.row.ScaleA, b, "scale")
	b = codes(r.row.ScaleB, b, "scale")
	var last [3]uint64
	codes(last[:], b, h.C)
	r.row.C, r.row.D, r.row.Second = last[0], last[1], last[2]
	return r.row, nil
}

// codes fills dst with codes of the format and returns the remaining bytes.
func codes(dst []uint64, b []byte, format string) []byte {
	switch format {
	case "scale":
		return bytesOf(dst, b, 1, 0xff)
	case "e3m2", "e2m3":
		return bytesOf(dst, b, 1, 0x3f)
	case "e2m1":
		for i := range dst {
			dst[i] = uint64(b[i/2]>>(i%2*4)) & 15
		}
		return b[len(dst)/2:]
	}
	return bytesOf(dst, b, widths[format]/8, math.MaxUint64)
}

// bytesOf fills dst with codes of n bytes each, applies the mask to every code,
// and returns the remaining bytes.
func bytesOf(dst []uint64, b []byte, n int, mask uint64) []byte {
	for i := range dst {
		code := uint64(0)
		for k := n - 1; k >= 0; k-- {
			code = code<<8 | uint64(b[k])
		}
		dst[i], b = code&mask, b[n:]
	}
	return b
}
