package tcvec

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Provenance states the origin of results.
type Provenance struct {
	GPU      string `json:"gpu,omitempty"`      // name and compute capability
	Driver   string `json:"driver,omitempty"`   // version
	Library  string `json:"library,omitempty"`  // library that ran the instruction, with its version
	Date     string `json:"date,omitempty"`     // date of the recording
	Seed     uint64 `json:"seed"`               // seed of the operands
	Emulated string `json:"emulated,omitempty"` // name of the emulated device; "" for silicon

	Processor string `json:"processor,omitempty"` // model, in place of a GPU
}

// headerLine is the header as written in a file.
type headerLine struct {
	Format   string `json:"format"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Arch     string `json:"arch"`
	Instr    string `json:"instr"`
	Via      string `json:"via"`
	K        int    `json:"K"`
	A        string `json:"a"`
	B        string `json:"b"`
	C        string `json:"c"`
	D        string `json:"d"`
	Scale    string `json:"scale,omitempty"`
	NScale   int    `json:"nscale"`
	Block    int    `json:"block,omitempty"`
	Count    int    `json:"count"`
	RowBytes int    `json:"rowbytes"`
	Provenance
}

// HeaderOf returns the header of a file of count dot products of length k on
// the instruction of d, from which [Header.Device] finds d. Kind is "silicon"
// for the results of a GPU, otherwise "T"; with scales it is "ST", or "GST"
// where groups of products are one term. It panics if k is not a multiple of
// the factors that a scale covers, or a format of d has no name in files.
func HeaderOf(d tcore.Device, kind string, k, count int) Header {
	family, _, _ := strings.Cut(d.Instruction, ".")
	if family == "mma" {
		family = "mma.sync"
	}
	h := Header{Format: "tcvec1", Name: d.Name, Kind: kind, Arch: d.Architecture, Instr: d.Instruction, Via: family,
		K: k, A: formatName(d.A), B: formatName(d.B), C: formatName(d.C), Count: count}
	if d.ScaleBlock > 0 {
		h.Kind, h.Scale, h.NScale, h.Block = "ST", formatName(d.Scale), k/d.ScaleBlock, d.ScaleBlock
		if core, _ := d.Core.(tcore.Fused); core.Group > 0 {
			h.Kind = "GST"
		}
	}
	a, errA := vectorBytes("a", h.A, k)
	b, errB := vectorBytes("b", h.B, k)
	c, errC := vectorBytes("c", h.C, 1)
	h.RowBytes = 2 + a + b + 2*h.NScale + 3*c
	if err := errors.Join(errA, errB, errC, h.check()); err != nil {
		panic(fmt.Sprintf("tcvec: HeaderOf: %s, K = %d: %v", d.Name, k, err))
	}
	return h
}

// formatName returns the name of a format in files, or "" if it has none.
func formatName(f tcore.Format) string {
	for name, g := range formats {
		if f == g {
			return name
		}
	}
	return ""
}

// Writer writes the rows of one file.
type Writer struct {
	header  Header
	zip     io.Closer // nil if nothing is compressed
	out     *bufio.Writer
	buf     []byte
	written int
}

// NewWriter writes the header. The caller writes Count rows and calls
// [Writer.Close].
func NewWriter(w io.Writer, h Header, p Provenance) (*Writer, error) {
	z := gzip.NewWriter(w)
	out, err := NewPlainWriter(z, h, p)
	if err != nil {
		return nil, err
	}
	out.zip = z
	return out, nil
}

// NewPlainWriter is NewWriter for the contents of a file, which somebody else
// compresses.
func NewPlainWriter(w io.Writer, h Header, p Provenance) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(headerLine{h.Format, h.Name, h.Kind, h.Arch, h.Instr, h.Via, h.K, h.A, h.B, h.C, h.C, h.Scale, h.NScale, h.Block,
		h.Count, h.RowBytes, p})
	if err != nil {
		return nil, err
	}
	if len(line) >= maxHeader {
		return nil, fmt.Errorf("tcvec: a header of %d bytes, want less than %d", len(line), maxHeader)
	}
	out := &Writer{header: h, out: bufio.NewWriter(w), buf: make([]byte, 0, h.RowBytes)}
	_, err = out.out.Write(append(line, '\n'))
	return out, err
}

// Write writes a row. It panics unless the row has K factors of A and K of B,
// and NScale scales of either.
func (w *Writer) Write(r Row) error {
	h := w.header
	if len(r.A) != h.K || len(r.B) != h.K {
		panic(fmt.Sprintf("tcvec: Write: a row of %d and %d factors, want %d", len(r.A), len(r.B), h.K))
	}
	if len(r.ScaleA) != h.NScale || len(r.ScaleB) != h.NScale {
		panic(fmt.Sprintf("tcvec: Write: a row of %d and %d scales, want %d", len(r.ScaleA), len(r.ScaleB), h.NScale))
	}
	b := append(w.buf[:0], r.Flags, r.Regime)
	b = appendCodes(b, r.A, h.A)
	b = appendCodes(b, r.B, h.B)
	b = appendScales(appendScales(b, r.ScaleA), r.ScaleB)
	b = appendCodes(b, []uint64{r.C, r.D, r.Second}, h.C)
	w.written++
	_, err := w.out.Write(b)
	return err
}

// Close ends the file. It returns an error if the number of rows written is not
// Count.
func (w *Writer) Close() error {
	if w.written != w.header.Count {
		return fmt.Errorf("tcvec: %d rows written, want %d", w.written, w.header.Count)
	}
	err := w.out.Flush()
	if w.zip != nil {
		err = errors.Join(err, w.zip.Close())
	}
	return err
}

// appendScales appends scales to b, a byte each.
func appendScales(b []byte, scales []uint64) []byte {
	for _, code := range scales {
		b = append(b, byte(code))
	}
	return b
}

// appendCodes appends codes of the format to b, in the form that the function
// codes reads.
func appendCodes(b []byte, src []uint64, format string) []byte {
	if format == "e2m1" {
		for i := 0; i < len(src); i += 2 {
			b = append(b, byte(src[i]&15|src[i+1]<<4))
		}
		return b
	}
	for _, code := range src {
		for n := widths[format]; n > 0; n -= 8 {
			b = append(b, byte(code))
			code >>= 8
		}
	}
	return b
}
