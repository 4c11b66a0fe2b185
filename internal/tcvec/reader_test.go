package tcvec

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// pack returns a file with the given header line and rows.
func pack(header string, rows []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, header)
	z.Write(rows)
	z.Close()
	return b.Bytes()
}

const voltaHeader = `{"format": "tcvec1", "name": "volta_mma_f32_f16", "arch": "Volta", "kind": "T", "K": 4, ` +
	`"a": "fp16", "b": "fp16", "c": "fp32", "count": 2, "rowbytes": 30}`

// voltaRows returns two rows, 1×1 + 1×1 + 1×1 + 1×1 + 1 = 5 and the same with a
// wrong result. If flags is 1, the second is marked as one whose sources
// disagree.
func voltaRows(flags byte) []byte {
	var b bytes.Buffer
	for i, d := range []uint32{0x40a00000, 0x40a00001} {
		b.Write([]byte{flags * byte(i), 0})
		for range 8 {
			binary.Write(&b, binary.LittleEndian, uint16(0x3c00))
		}
		binary.Write(&b, binary.LittleEndian, []uint32{0x3f800000, d, d})
	}
	return b.Bytes()
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags byte
		want  Tally
	}{
		{"finds_a_wrong_result", 0, Tally{2, 2, 1}},
		{"grades_what_is_not_contested", 1, Tally{2, 1, 0}},
		{"grades_rows_with_other_flags", 4, Tally{2, 2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Check(bytes.NewReader(pack(voltaHeader, voltaRows(c.flags))))
			if err != nil || got != c.want {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestNext_unpacks_e2m1_low_half_first(t *testing.T) {
	header := `{"format": "tcvec1", "K": 4, "a": "e2m1", "b": "e3m2", "c": "fp16", "nscale": 2, "block": 2, "count": 1, "rowbytes": 18}`
	row := []byte{3, 7, 0x21, 0x43, 0xff, 0x40, 0x3f, 1, 10, 11, 12, 13, 1, 2, 3, 4, 5, 6}
	r, err := NewReader(bytes.NewReader(pack(header, row)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := Row{3, 7, []uint64{1, 2, 3, 4}, []uint64{0x3f, 0, 0x3f, 1}, []uint64{10, 11}, []uint64{12, 13}, 0x201, 0x403, 0x605}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last row: %v, want EOF", err)
	}
}

// Every kind of mistake in a file gives an error that describes it.
func TestCheck_refuses(t *testing.T) {
	whole := pack(voltaHeader, voltaRows(0))
	change := func(old, new string) []byte {
		if !strings.Contains(voltaHeader, old) {
			t.Fatalf("no %q in the header", old)
		}
		return pack(strings.Replace(voltaHeader, old, new, 1), voltaRows(0))
	}
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"an_empty_file", "not a gzip file", nil},
		{"another_file", "not a gzip file", []byte("PK\x03\x04 and so on and on")},
		{"a_truncated_file", "unexpected EOF", whole[:len(whole)-20]},
		{"no_header", "no header line", pack(strings.Repeat("x", maxHeader), nil)},
		{"a_header_without_end", "no header line", func() []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			io.WriteString(z, "{}")
			z.Close()
			return b.Bytes()
		}()},
		{"no_JSON", "header: invalid character", pack("tcvec1", nil)},
		{"a_number_that_is_text", "header: json", change(`"K": 4`, `"K": "4"`)},
		{"another_format", `format "tcvec2", want tcvec1`, change("tcvec1", "tcvec2")},
		{"no_length", "K = 0, want 1", change(`"K": 4`, `"K": 0`)},
		{"a_huge_length", "K = 1000000000000, want 1 to 65536", change(`"K": 4`, `"K": 1000000000000`)},
		{"an_unknown_format", `a = "fp17" is no format known`, change(`"a": "fp16"`, `"a": "fp17"`)},
		{"half_a_byte", "3 codes of e2m1 do not fill bytes", change(`"K": 4, "a": "fp16"`, `"K": 3, "a": "e2m1"`)},
		{"a_wrong_row_size", "rowbytes = 31, want 30", change(`"rowbytes": 30`, `"rowbytes": 31`)},
		{"scales_that_do_not_cover", "nscale = 2 and block = 1, want blocks that cover K = 4",
			change(`"rowbytes": 30`, `"rowbytes": 34, "nscale": 2, "block": 1`)},
		{"a_negative_count", "count = -1", change(`"count": 2`, `"count": -1`)},
		{"rows_missing", "row 2 of 3: unexpected EOF", change(`"count": 2`, `"count": 3`)},
		{"rows_too_many", "goes on after its 1 rows", change(`"count": 2`, `"count": 1`)},
		{"an_unknown_chip", "no device for", change("Volta", "Fermi")},
		{"factors_that_do_not_mix", "no device for", change(`"a": "fp16", "b": "fp16"`, `"a": "fp16", "b": "bf16"`)},
		{"scales_on_a_chip_without", "no device for", change(`"rowbytes": 30`, `"rowbytes": 38, "nscale": 4, "block": 1`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Check(bytes.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// For every device there is a header that names it.
func TestDevice_finds_the_catalogue(t *testing.T) {
	names := map[string]string{}
	for name, f := range formats {
		names[f.Name] = name
	}
	for _, d := range devices.All() {
		if d.Architecture == "IEEE" || d.Architecture == "paper" {
			continue
		}
		family, _, _ := strings.Cut(d.Instruction, ".")
		h := Header{Name: "set_" + family + "_of", Arch: d.Architecture, Kind: "T",
			A: names[d.A.Name], B: names[d.B.Name], C: names[d.C.Name]}
		if d.ScaleBlock > 0 {
			h.NScale, h.Block, h.Scale, h.Kind = 1, d.ScaleBlock, names[d.Scale.Name], "ST"
			if d.Core.(tcore.Fused).Group > 0 {
				h.Kind = "GST"
			}
		}
		if strings.HasSuffix(d.Instruction, "_1k") {
			h.Name += "_1k"
		}
		got, err := h.Device()
		if err != nil || got.Name != d.Name {
			t.Errorf("%+v gives %q, %v, want %q", h, got.Name, err, d.Name)
		}
	}
	var u *UnsupportedError
	if _, err := (Header{Arch: "Volta", A: "bf16", B: "bf16", C: "fp32"}).Device(); !errors.As(err, &u) {
		t.Errorf("bfloat16 on Volta: error %v, want an UnsupportedError", err)
	}
}

// Check returns a tally or an error for every content of a file.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(voltaHeader+"\n"+string(voltaRows(0))), true)
	f.Add(pack(voltaHeader, voltaRows(1)), false)
	f.Add([]byte(strings.Replace(voltaHeader, `"K": 4`, `"K": 65536`, 1)+"\n"), true)
	f.Add([]byte(`{"format":"tcvec1","arch":"Blackwell","kind":"GST","K":64,"a":"e2m1","b":"e2m1","c":"fp32","scale":"ue4m3","nscale":4,"block":16,"count":1,"rowbytes":86}`+"\n"+strings.Repeat("\xff", 86)), true)
	f.Add([]byte(`{"format":"tcvec1","arch":"CDNA3","kind":"C3","K":2,"a":"e4m3fnuz","b":"e5m2fnuz","c":"fp32","count":1,"rowbytes":18}`+"\n"+strings.Repeat("\x80", 18)), true)
	f.Fuzz(func(t *testing.T, data []byte, wrap bool) {
		if wrap {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(data)
			z.Close()
			data = b.Bytes()
		}
		n, err := Check(bytes.NewReader(data))
		if n.Mismatches > n.Graded || n.Graded > n.Rows || err == nil && n.Rows < 0 {
			t.Errorf("%+v", n)
		}
	})
}
