package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// npyFile returns a NumPy file of version 1 with the given dictionary and data.
func npyFile(dictionary string, data any) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	header := dictionary + strings.Repeat(" ", 63-(len(dictionary)+10)%64) + "\n"
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes()
}

func dictionary(kind, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", kind, order, shape)
}

func TestParseMatrix(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"reads_float32", npyFile(dictionary("<f4", "False", "(2, 3)"), []float32{1, 2, 3, 4, 5, 6}), "2×3 [1 2 3 4 5 6]"},
		{"reads_float64", npyFile(dictionary("<f8", "False", "(1, 2)"), []float64{0.1, math.Inf(1)}), "1×2 [0.1 +Inf]"},
		{"reads_float16", npyFile(dictionary("<f2", "False", "(1, 3)"), []uint16{0x3c00, 0x8001, 0x7bff}), "1×3 [1 -5.960464477539063e-08 65504]"},
		{"reads_bfloat16", npyFile(dictionary("<V2", "False", "(1, 3)"), []uint16{0x3f80, 0x8001, 0x7f80}), "1×3 [1 -9.183549615799121e-41 +Inf]"},
		{"reads_e5m2", npyFile(dictionary("<f1", "False", "(1, 3)"), []uint8{0x3c, 0x81, 0x7c}), "1×3 [1 -1.52587890625e-05 +Inf]"},
		{"reads_int8", npyFile(dictionary("|i1", "False", "(1, 2)"), []int8{127, -128}), "1×2 [127 -128]"},
		{"reads_int32", npyFile(dictionary("<i4", "False", "(1, 3)"), []int32{16777217, -1 << 31, 1<<31 - 1}), "1×3 [1.6777217e+07 -2.147483648e+09 2.147483647e+09]"},
		{"reads_codes", npyFile(dictionary("<V1", "False", "(2, 2)"), []uint8{0x38, 0x7e, 0x81, 0xff}), "2×2 [1 448 -0.001953125 NaN]"},
		{"reads_codes_as_written_here", npyFile(dictionary("|V1", "True", "(2, 2)"), []uint8{0x38, 0x7e, 0x81, 0x7f}), "2×2 [1 -0.001953125 448 NaN]"},
		{"reads_columns_first", npyFile(dictionary("<f4", "True", "(2, 3)"), []float32{1, 4, 2, 5, 3, 6}), "2×3 [1 2 3 4 5 6]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parseMatrix(c.file, tcore.E4M3)
			if got := fmt.Sprintf("%d×%d %v", m.Rows, m.Cols, m.Data); err != nil || got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

// Bytes of no type are codes of the format that the command names, and of no
// other.
func TestParseMatrix_of_codes(t *testing.T) {
	file := npyFile(dictionary("|V1", "False", "(1, 2)"), []uint8{0x05, 0x10})
	for _, test := range []struct {
		codes tcore.Format
		want  string
	}{
		{tcore.E4M3, "[0.009765625 0.03125] <nil>"}, {tcore.E5M2, "[7.62939453125e-05 0.00048828125] <nil>"},
		{tcore.E2M1, "[] byte 1 of the data is 0x10, want a code of e2m1, less than 0x10"},
		{tcore.Binary16, "[] bytes of no type"}, {tcore.Format{}, "[] bytes of no type"},
	} {
		m, err := parseMatrix(file, test.codes)
		if got := fmt.Sprint(m.Data, err); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", test.codes.Name, got, test.want)
		}
	}
}

func TestParseMatrix_refuses(t *testing.T) {
	six := []float32{1, 2, 3, 4, 5, 6}
	good := npyFile(dictionary("<f4", "False", "(2, 3)"), six)
	long := append([]byte(nil), good...)
	long[9] = 0xff
	version2 := append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f"), good[10:]...)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"an_empty_file", "not a NumPy file", nil},
		{"another_file", "not a NumPy file", []byte("PK\x03\x04 and so on and on")},
		{"a_later_version", "version 9, want 1 or 2", append([]byte("\x93NUMPY\x09"), good[7:]...)},
		{"a_header_beyond_the_end", "a header of 65", long},
		{"a_header_of_two_gigabytes", "a header of 2147483659 bytes", version2},
		{"a_malformed_header", "NumPy header", npyFile("{'shape': (), 'fortran_order': 'descr': }", six)},
		{"no_dictionary", `malformed NumPy header "hello"`, npyFile("hello", six)},
		{"no_shape", "malformed NumPy header \"{'descr': '<f4'", npyFile(dictionary("<f4", "False", "None"), six)},
		{"a_shape_of_floats", "'shape': (2.0, 3)", npyFile(dictionary("<f4", "False", "(2.0, 3)"), six)},
		{"a_shape_that_is_no_tuple", "malformed NumPy header", npyFile(dictionary("<f4", "False", "[2, 3]"), six)},
		{"integers", `type "<u4", want int32, float16, float32 or float64`, npyFile(dictionary("<u4", "False", "(2, 3)"), six)},
		{"big-endian_numbers", `type ">f4"`, npyFile(dictionary(">f4", "False", "(2, 3)"), six)},
		{"a_vector", "shape [6], want a matrix", npyFile(dictionary("<f4", "False", "(6,)"), six)},
		{"an_empty_matrix", "shape [0 6], want a matrix that is not empty", npyFile(dictionary("<f4", "False", "(0, 6)"), six)},
		{"a_negative_size", "shape [-2 3]", npyFile(dictionary("<f4", "False", "(-2, 3)"), six)},
		{"a_huge_matrix", "24 bytes of data", npyFile(dictionary("<f4", "False", "(9223372036854775807, 9223372036854775807)"), six)},
		{"sizes_whose_product_overflows", "24 bytes of data", npyFile(dictionary("<f4", "False", "(4611686018427387905, 4)"), six)},
		{"missing_data", "20 bytes of data, want those of 2 × 3", good[:len(good)-4]},
		{"half_a_number", "23 bytes of data", good[:len(good)-1]},
		{"more_data", "28 bytes of data", append(append([]byte(nil), good...), 0, 0, 0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseMatrix(c.file, tcore.E4M3); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestWriteMatrix(t *testing.T) {
	dir := t.TempDir()
	m := blas32.General{Rows: 2, Cols: 2, Stride: 3, Data: []float32{1, 0.1, 9, -0.25, 1e-45, 9}}

	t.Run("reads_back", func(t *testing.T) {
		path := filepath.Join(dir, "d.npy")
		if err := saveMatrix(path, m); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := parseMatrix(data, tcore.E4M3)
		want := fmt.Sprint([]float64{1, float64(float32(0.1)), -0.25, 0x1p-149})
		if err != nil || z.Rows != 2 || z.Cols != 2 || fmt.Sprint(z.Data) != want {
			t.Errorf("%+v, %v, want %v", z, err, want)
		}
	})
	t.Run("writes_what_package_npy_reads", func(t *testing.T) {
		var b bytes.Buffer
		if err := writeMatrix(&b, m); err != nil {
			t.Fatal(err)
		}
		var z mat.Dense
		want := mat.NewDense(2, 2, []float64{1, float64(float32(0.1)), -0.25, 0x1p-149})
		if err := npy.Read(bytes.NewReader(b.Bytes()), &z); err != nil || !mat.Equal(&z, want) || (b.Len()-4*8)%64 != 0 {
			t.Errorf("%v, %v, %d bytes", mat.Formatted(&z), err, b.Len())
		}
	})
	t.Run("writes_without_a_copy_of_it", func(t *testing.T) {
		large := blas32.General{Rows: 1 << 10, Cols: 1 << 12, Stride: 1 << 12, Data: make([]float32, 1<<22)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := writeMatrix(io.Discard, large); err != nil {
			t.Fatal(err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("it takes %d bytes", after.TotalAlloc-before.TotalAlloc)
		}
	})
	t.Run("leaves_nothing_when_it_fails", func(t *testing.T) {
		folder := filepath.Join(dir, "taken.npy")
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := saveMatrix(folder, m); err == nil {
			t.Error("no error where a folder is in the way")
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// parseMatrix returns a matrix of its stated size or an error, for any bytes.
func FuzzParseMatrix(f *testing.F) {
	f.Add(npyFile(dictionary("<f4", "False", "(2, 3)"), []float32{1, 2, 3, 4, 5, 6}))
	f.Add(npyFile(dictionary("<f2", "True", "(1, 1)"), []uint16{1}))
	f.Add(npyFile(dictionary("<f8", "False", "()"), []float64{1}))
	f.Add(npyFile("{'shape': (), 'fortran_order': 'descr': }", []float64{1}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Add([]byte("\x93NUMPY\x01\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMatrix(data, tcore.E4M3)
		if err == nil && (len(m.Data) != m.Rows*m.Cols || 2*len(m.Data) > len(data)) {
			t.Errorf("%d × %d with %d elements of %d bytes", m.Rows, m.Cols, len(m.Data), len(data))
		}
	})
}

// saveMatrix writes a file as roundoff gemm does.
func saveMatrix(path string, m blas32.General) error {
	file, err := newOutput(path)
	if err != nil {
		return err
	}
	return file.write(func(w io.Writer) error { return writeMatrix(w, m) })
}
