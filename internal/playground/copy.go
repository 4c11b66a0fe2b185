package playground

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/tcvec"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Copy asks for a dot product as something to take away.
type Copy struct {
	Dot
	As string `json:"as"` // go, python or vector
}

// A CopyAnswer is that text.
type CopyAnswer struct {
	Text string `json:"text"`
}

// Answer returns the answer. An error says which part of the question is wrong.
func (q Copy) Answer() (*CopyAnswer, error) {
	a, o, err := q.answer()
	if err != nil {
		return nil, err
	}
	a.Rows = slices.DeleteFunc(a.Rows, func(r DotRow) bool { return r.Refused != "" })
	switch q.As {
	case "go":
		return &CopyAnswer{goProgram(a, o)}, nil
	case "python":
		return &CopyAnswer{pythonProgram(a, having(q.Format)[0])}, nil
	case "vector":
		return q.vector(a, o)
	}
	return nil, fmt.Errorf("as: %q, want go, python or vector", q.As)
}

// goProgram returns a program that computes every result and says whether it is
// still that of the page.
func goProgram(a *DotAnswer, o operands) string {
	var s strings.Builder
	s.WriteString(`// What c + Σ xᵢyᵢ is on every matrix unit, and what the playground showed.
package main

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func main() {
`)
	for _, v := range []struct {
		name  string
		codes []uint64
	}{{"x", o.x}, {"y", o.y}, {"scaleX", o.scaleX}, {"scaleY", o.scaleY}} {
		fmt.Fprintf(&s, "\t%s := []uint64{%s}\n", v.name, strings.Join(hexadecimal(v.codes), ", "))
	}
	s.WriteString("\tfor _, shown := range []struct {\n\t\tdevice string\n\t\tc, d   uint64\n\t}{\n")
	for _, r := range a.Rows {
		fmt.Fprintf(&s, "\t\t{%q, %s, %s},\n", r.Device, r.C.Bits, r.Result.Bits)
	}
	s.WriteString(`	} {
		device, _ := devices.ByName(shown.device)
		d := device.DotScaled(x, y, scaleX, scaleY, shown.c)
		fmt.Printf("%-40s %#x %v %v\n", shown.device, d, device.C.Decode(d), d == shown.d)
	}
}
`)
	return s.String()
}

// hexadecimal returns codes as they are written in Go.
func hexadecimal(codes []uint64) (list []string) {
	for _, code := range codes {
		list = append(list, fmt.Sprintf("%#x", code))
	}
	return list
}

// pythonProgram returns a program that computes the exact result, the error of
// every result of the page, and what NumPy makes of the same numbers.
func pythonProgram(a *DotAnswer, d tcore.Device) string {
	var x, y []string
	for i, u := range a.Used {
		for _, v := range []struct {
			list  *[]string
			which int
		}{{&x, 0}, {&y, 1}} {
			term := pythonNumber(u[v.which])
			if d.ScaleBlock > 0 {
				term += " * " + pythonNumber(a.Scales[i/d.ScaleBlock][v.which])
			}
			*v.list = append(*v.list, term)
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "# The exact c + sum of x[i] y[i], and how far every matrix unit is from it.\nimport math\nfrom fractions import Fraction\n\nx = [%s]\ny = [%s]\n",
		strings.Join(x, ", "), strings.Join(y, ", "))
	s.WriteString("shown = {  # instruction: (c, result, bits of the result)\n")
	for _, r := range a.Rows {
		fmt.Fprintf(&s, "    %q: (%s, %s, %q),\n", r.Device, pythonNumber(r.C), pythonNumber(r.Result), r.Result.Bits)
	}
	s.WriteString(`}
for name, (c, d, bits) in shown.items():
    if all(map(math.isfinite, x + y + [c, d])):
        exact = Fraction(c) + sum(Fraction(a) * Fraction(b) for a, b in zip(x, y))
        print(f"{name:40} {d!r:24} {bits:20} error {float(Fraction(d) - exact)!r}")
    else:
        print(f"{name:40} {d!r:24} {bits:20}")
try:
    import numpy
    c = next(iter(shown.values()))[0]
    print("numpy.dot in binary32:", numpy.dot(numpy.float32(x), numpy.float32(y)) + numpy.float32(c))
except ImportError:
    pass
`)
	return s.String()
}

// pythonNumber returns the expression of a number.
func pythonNumber(n Number) string {
	if x, err := parse(n.Value, tcore.Binary64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("float(%q)", n.Value)
	}
	return fmt.Sprintf("float.fromhex(%q)", n.Hex)
}

// vector returns the commands that write a file of one test vector, of the
// device asked for or else of the first, and check it.
func (q Copy) vector(a *DotAnswer, o operands) (*CopyAnswer, error) {
	row := a.Rows[max(0, slices.IndexFunc(a.Rows, func(r DotRow) bool { return r.Device == q.Device }))]
	all := having(q.Format)
	d := all[slices.IndexFunc(all, func(d tcore.Device) bool { return d.Name == row.Device })]
	// A file holds whole blocks of scales, and whole bytes; zeros change no sum.
	whole := max(2, d.ScaleBlock)
	k := (len(o.x) + whole - 1) / whole * whole
	r := tcvec.Row{A: padded(o.x, k), B: padded(o.y, k), ScaleA: o.scaleX, ScaleB: o.scaleY}
	r.C = row.c
	r.D = d.DotScaled(o.x, o.y, o.scaleX, o.scaleY, r.C)
	r.Second = r.D
	var file bytes.Buffer
	w, err := tcvec.NewPlainWriter(&file, tcvec.HeaderOf(d, "T", k, 1), tcvec.Provenance{Emulated: d.Name})
	if err != nil {
		return nil, err
	}
	if err := w.Write(r); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &CopyAnswer{fmt.Sprintf("# %s: %s from c = %s and %d products\nmkdir -p vectors\nbase64 -d >vectors/%s.tcv.gz <<END\n%s\nEND\nroundoff vectors check vectors\n",
		d.Name, row.Result.Bits, row.C.Bits, len(o.x), d.Name, base64.StdEncoding.EncodeToString(stored(file.Bytes())))}, nil
}

// padded returns codes with zeros up to length k.
func padded(codes []uint64, k int) []uint64 {
	return append(slices.Clone(codes), make([]uint64, k-len(codes))...)
}

// stored returns a gzip file (RFC 1952) with data as they are, not compressed:
// the code that compresses would be a twentieth of the page's program.
func stored(data []byte) []byte {
	file := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	for rest := data; ; {
		n := min(len(rest), math.MaxUint16)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		file = append(file, last)
		file = binary.LittleEndian.AppendUint16(file, uint16(n))
		file = binary.LittleEndian.AppendUint16(file, ^uint16(n))
		file = append(file, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(file, uint32(len(data)))
}
