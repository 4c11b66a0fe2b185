package network

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The builders below write the wire format and the header of safetensors
// another way than they are read: as nested calls, without a schema.

func uvarint(v uint64) []byte { return binary.AppendUvarint(nil, v) }

// sub is a field of bytes: a message, a string or packed numbers.
func sub(number int, parts ...[]byte) []byte {
	var body []byte
	for _, p := range parts {
		body = append(body, p...)
	}
	return append(append(uvarint(uint64(number)<<3|2), uvarint(uint64(len(body)))...), body...)
}

func word(number int, s string) []byte { return sub(number, []byte(s)) }

func integer(number int, v int64) []byte {
	return append(uvarint(uint64(number)<<3), uvarint(uint64(v))...)
}

func floats(x ...float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func dims(d ...int64) (b []byte) {
	for _, v := range d {
		b = append(b, integer(1, v)...)
	}
	return b
}

// raw is a tensor of binary32, with its bytes.
func raw(name string, shape []int64, x ...float32) []byte {
	return append(append(append(dims(shape...), integer(2, 1)...), word(8, name)...), sub(9, floats(x...))...)
}

// list is a tensor of int64.
func list(name string, x ...int64) []byte {
	var packed []byte
	for _, v := range x {
		packed = append(packed, uvarint(uint64(v))...)
	}
	return append(append(append(dims(int64(len(x))), integer(2, 7)...), word(8, name)...), sub(7, packed)...)
}

// op is a node: inputs, a dash, outputs.
func op(name, operator string, words []string, attributes ...[]byte) []byte {
	var b []byte
	number := 1
	for _, w := range words {
		if w == "-" {
			number = 2
			continue
		}
		b = append(b, word(number, w)...)
	}
	b = append(append(b, word(3, name)...), word(4, operator)...)
	for _, a := range attributes {
		b = append(b, sub(5, a)...)
	}
	return b
}

func integersOf(name string, x ...int64) []byte {
	b := word(1, name)
	for _, v := range x {
		b = append(b, integer(8, v)...)
	}
	return b
}

func integerOf(name string, v int64) []byte { return append(word(1, name), integer(3, v)...) }

// onnx is a model: version 9, and a graph of nodes (field 1) and tensors (5).
func onnx(parts ...[]byte) []byte { return append(integer(1, 9), sub(7, parts...)...) }

// header is the beginning of a safetensors file.
func header(text string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
}

type shaped struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// tensors is a safetensors file of tensors and their data.
func tensors(t testing.TB, of map[string]shaped, data []byte) []byte {
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return append(header(string(text)), data...)
}

// open writes a model into a folder and opens it.
func open(t testing.TB, name string, data []byte) (*Model, error) {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err == nil {
		t.Cleanup(func() { m.Close() })
	}
	return m, err
}
