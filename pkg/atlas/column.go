package atlas

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// A column is one number of every record of a table: its name, its type in
// NumPy, what it says, and where it is in a record.
type column[T any] struct {
	name, kind, says string
	get              func(r *T) float64
	set              func(r *T, x float64)
}

// sizes are the types of columns and their bytes.
var sizes = map[string]int{"|u1": 1, "<i4": 4, "<f4": 4}

// whole returns a column of integers.
func whole[T any](name, kind, says string, at func(*T) *int) column[T] {
	return column[T]{name, kind, says, func(r *T) float64 { return float64(*at(r)) }, func(r *T, x float64) { *at(r) = int(x) }}
}

// real returns a column of numbers, rounded to binary32.
func real[T any](name, says string, at func(*T) *float64) column[T] {
	return column[T]{name, "<f4", says, func(r *T) float64 { return *at(r) }, func(r *T, x float64) { *at(r) = x }}
}

// header returns the header of a NumPy file of n numbers.
func header(kind string, n int) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", kind, n)
	dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n" // the data begin at a multiple of 64 bytes
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), byte(len(dict) >> 8)}) + dict
}

// pack returns the columns of the records as numpy.savez_compressed does: a zip
// archive with a NumPy file for each. The same records give the same bytes. It
// returns an error if an integer has no place in its type.
func pack[T any](columns []column[T], records []T) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, c := range columns {
		w, err := archive.Create(c.name + ".npy")
		if err != nil {
			return nil, err
		}
		data := []byte(header(c.kind, len(records)))
		for i := range records {
			x := c.get(&records[i])
			switch c.kind {
			case "<f4":
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
				continue
			case "<i4":
				data = binary.LittleEndian.AppendUint32(data, uint32(int32(x)))
			case "|u1":
				data = append(data, uint8(x))
			}
			if most := math.Ldexp(1, 8*sizes[c.kind]-1); c.kind == "<i4" && x >= most || c.kind == "|u1" && x >= 2*most || x < 0 {
				return nil, fmt.Errorf("atlas: %s = %v, want a number that fits %s", c.name, x, c.kind)
			}
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack returns the n records of the columns. An error names the column that
// is not what pack writes.
func unpack[T any](columns []column[T], data []byte, n int) ([]T, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if len(archive.File) != len(columns) {
		return nil, fmt.Errorf("%d columns, want %d", len(archive.File), len(columns))
	}
	records := make([]T, n)
	for i, c := range columns {
		file := archive.File[i]
		if file.Name != c.name+".npy" {
			return nil, fmt.Errorf("column %d is %.40q, want %s.npy", i+1, file.Name, c.name)
		}
		begins, size := header(c.kind, n), sizes[c.kind]
		r, err := file.Open()
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		all, err := io.ReadAll(io.LimitReader(r, int64(len(begins)+n*size+1)))
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		if len(all) != len(begins)+n*size || string(all[:len(begins)]) != begins {
			return nil, fmt.Errorf("column %s is not a NumPy file of %d numbers of type %s", c.name, n, c.kind)
		}
		for j, b := 0, all[len(begins):]; j < n; j, b = j+1, b[size:] {
			switch c.kind {
			case "<f4":
				c.set(&records[j], float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			case "<i4":
				c.set(&records[j], float64(int32(binary.LittleEndian.Uint32(b))))
			case "|u1":
				c.set(&records[j], float64(b[0]))
			}
		}
	}
	return records, nil
}
