package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// integerFile writes a matrix of bytes as NumPy does, and returns its path.
func integerFile(t *testing.T, kind string, rows, cols string, data ...byte) string {
	t.Helper()
	header := "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (" + rows + ", " + cols + "), }"
	header += strings.Repeat(" ", 127-10-len(header)) + "\n"
	path := filepath.Join(t.TempDir(), "m.npy")
	file := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	if err := os.WriteFile(path, append(file[:128:128], data...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every command takes the devices of integers, or says why not, and what it
// prints of them is right.
func TestCommandsOnIntegers(t *testing.T) {
	ss, su, uu := devices.AMXINT8().Name, devices.AMXINT8UINT8().Name, devices.AMXUINT8().Name
	a := integerFile(t, "|i1", "1", "3", 0x80, 0x7f, 0xff)    // -128, 127, -1
	b := integerFile(t, "|u1", "3", "1", 0xff, 0x80, 0x01)    // 255, 128, 1
	c := integerFile(t, "|i1", "3", "1", 0x80, 0x80, 0x01)    // -128, -128, 1
	long := integerFile(t, "|i1", "2", "2", 0, 0xff, 1, 0x7f) // does not fit
	const exact = "rounds nothing: the error of a sum is 0 unless the sum wraps at 2^31, which none of at most "
	for _, tt := range []struct {
		line   string
		status int
		want   string
	}{
		{"devices sapphirerapids", 0, su + "             tdpbsud      int8      int32     -      integers, wrapped         64     all   modulo 2^32"},
		{"trace -in int8,uint8 -device sapphirerapids " + a + " " + b, 0, "result -16385, exact -16385, error 0"},
		{"trace -in int8 -device " + ss + " " + a + " " + c, 0, "result 127, exact 127, error 0"},
		{"trace -in int8 -device sapphirerapids -out int32 " + a + " " + c, 0, "result 127, exact 127, error 0"},
		{"gemm -in int8,uint8 -device sapphirerapids -compare ieee " + a + " " + b, 1, `no device "ieee" for int8,uint8`},
		{"gemm -in int8 -device sapphirerapids -compare " + ss + " " + a + " " + c, 0, "0 of 1"},
		{"gemm -device " + su + " -compare ieee " + a + " " + b, 1, su + " multiplies integers, want -in int8,uint8"},
		{"gemm -in int8 -device sapphirerapids -compare " + ss + " " + a + " " + long, 1, "they do not fit"},
		{"bound -in int8,uint8 -acc int32 -device sapphirerapids -k 64", 0, "yes    K max|a| max|b| = 64 × 128 × 255 = 2088960 < 2^31"},
		{"bound -in uint8 -device " + uu + " -k 40000", 0, "no     K max|a| max|b| = 40000 × 255 × 255 = 2601000000 >= 2^31: a sum may wrap"},
		{"bound -in int8 -device " + ss + " " + a + " " + c, 0, "yes    K max|a| max|b| = 3 × 128 × 128 = 49152 < 2^31"},
		{"bound -in int8 -device " + ss + " -run " + a + " " + c, 1, exact + "131071 products does"},
		{"predict -in int8 -device " + ss, 0, exact + "131071 products does"},
		{"predict -in uint8 -device " + uu + " -k 256,33026", 1, "-k 33026 -split-k 1 -promote 0: " + uu + " " + exact + "33025 products does"},
		{"predict -in uint8 -device " + uu + " -split-k 2", 1, exact},
		{"advise -tolerance 1e-9 -in int8 -represented=false -k 40000", 0, "1 to 131071"},
		{"advise -tolerance 1e-9 -device " + ss, 0, "A and B are integers as given"},
		{"sweep -devices " + uu, 1, "there is no bound to count"},
		{"infer -device " + uu, 1, "results in int32, want a signed format"},
		{"infer -silicon " + uu, 1, ""},
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), strings.Fields(tt.line), &out, &errs)
		if text := out.String() + errs.String(); (status == 0) != (tt.status == 0) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: status %d, %s, want %q", tt.line, status, text, tt.want)
		}
	}
	var out bytes.Buffer // who asks for no integers, is told of none
	if run(t.Context(), []string{"advise", "-tolerance", "1e-3"}, &out, &out); strings.Contains(out.String(), "int32") {
		t.Errorf("integers in %s", &out)
	}
}

// -out int32 writes C + AB modulo 2^32, as NumPy stores it, whatever binary32
// could hold; C and what was written are read again.
func TestGEMM_int32(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(241118747, 7))
	for _, signs := range []struct{ a, b string }{{"i", "i"}, {"i", "u"}, {"u", "i"}, {"u", "u"}} {
		for _, size := range [][3]int{{1, 1, 1}, {130, 3, 5}, {2, 3, 70000}} { // bands of rows; sums that wrap
			for flags := range 8 {
				m, n, k := size[0], size[1], size[2]
				// Element (i, l) of A is a[i*si+l*sl], as stored or transposed.
				a, b, c := make([]byte, m*k), make([]byte, k*n), make([]int32, m*n)
				for i := range a {
					a[i] = 0x80 | byte(r.Uint32())
				}
				for i := range b {
					b[i] = 0x80 | byte(r.Uint32())
				}
				for i := range c {
					c[i] = int32(r.Uint32())
				}
				line, rowsA, rowsB, si, sl, tl, tj := "gemm -device sapphirerapids -out int32", m, k, k, 1, n, 1
				if flags&1 != 0 {
					line, rowsA, si, sl = line+" -ta", k, 1, m
				}
				if flags&2 != 0 {
					line, rowsB, tl, tj = line+" -tb", n, 1, k
				}
				if flags&4 != 0 {
					line += " -beta 1 -c " + placed(t, dir, "c.npy", npyFile(dictionary("<i4", "False", fmt.Sprintf("(%d, %d)", m, n)), c))
				} else {
					clear(c)
				}
				name := map[string]string{"i": "int8", "u": "uint8"}
				number := map[string]func(byte) int64{"i": func(x byte) int64 { return int64(int8(x)) }, "u": func(x byte) int64 { return int64(x) }}
				line += " -in " + name[signs.a] + "," + name[signs.b]
				line += " " + placed(t, dir, "a.npy", npyFile(dictionary("|"+signs.a+"1", "False", fmt.Sprintf("(%d, %d)", rowsA, m*k/rowsA)), a))
				line += " " + placed(t, dir, "b.npy", npyFile(dictionary("|"+signs.b+"1", "False", fmt.Sprintf("(%d, %d)", rowsB, n*k/rowsB)), b))
				out := filepath.Join(dir, "d.npy")
				if status, said, errs := ask(t, line+" -o "+out); status != 0 || said+errs != "" {
					t.Fatalf("%s: status %d, %q, %q", line, status, said, errs)
				}
				want := make([]int32, m*n)
				for e := range want {
					sum := int64(c[e])
					for l := range k {
						sum += number[signs.a](a[e/n*si+l*sl]) * number[signs.b](b[l*tl+e%n*tj])
					}
					want[e] = int32(uint32(uint64(sum)))
				}
				got, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if file := npyFile(dictionary("<i4", "False", fmt.Sprintf("(%d, %d)", m, n)), want); !bytes.Equal(got, file) {
					t.Fatalf("%s, %d × %d × %d: %x, want %x", line, m, k, n, got[len(got)-4*m*n:], file[len(got)-4*m*n:])
				}
			}
		}
	}
}

// A C that is no matrix of int32 is rounded to it.
func TestGEMM_int32_rounds_C(t *testing.T) {
	dir := t.TempDir()
	one := integerFile(t, "|i1", "1", "1", 1)
	row := integerFile(t, "|i1", "1", "5", 0, 0, 0, 0, 0)
	c := writeNumbers(t, dir, "c.npy", "(1, 5)", 2.5, -1e10, 1e10, 16777217, math.Inf(-1))
	out := filepath.Join(dir, "d.npy")
	if status, _, errs := ask(t, "gemm -in int8 -device sapphirerapids -out int32 -beta 1 -c "+c+" "+one+" "+row+" -o "+out); status != 0 {
		t.Fatal(errs)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{2, math.MinInt32, math.MaxInt32, 16777217, math.MinInt32}
	for i, x := range want {
		if got := int32(binary.LittleEndian.Uint32(data[len(data)-20+4*i:])); got != x {
			t.Errorf("%d: %d, want %d", i, got, x)
		}
	}
}
