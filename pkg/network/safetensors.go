package network

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// longestHeader is the greatest length of a header that the format allows, in
// bytes.
const longestHeader = 100_000_000

// safetensorsTypes are the types of elements that are read.
var safetensorsTypes = map[string]number{}

func init() {
	for _, t := range []number{f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolean} {
		safetensorsTypes[t.name] = t
	}
}

// An entry describes a tensor in the header of a safetensors file.
type entry struct {
	name    string
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// readSafetensors reads the header: a length in 8 bytes, then JSON; the data
// follow it.
func readSafetensors(m *Model, size int64) error {
	begin, list, err := safetensorsHeader(m.file, size)
	if err != nil {
		return err
	}
	end := int64(0)
	for _, e := range list {
		if e.Offsets[0] != end || e.Offsets[1] < end || e.Offsets[1] > size-begin {
			return fmt.Errorf("tensor %q: data_offsets %v, want them to begin at %d and to end within the %d bytes of data", e.name, e.Offsets, end, size-begin)
		}
		end = e.Offsets[1]
		shape, n, err := elements(e.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", e.name, err)
		}
		t, ok := safetensorsTypes[e.Type]
		switch {
		case ok && n*int64(t.size) != end-e.Offsets[0]:
			return fmt.Errorf("tensor %q: data_offsets %v, want %d bytes for %v elements of %s", e.name, e.Offsets, n*int64(t.size), e.Shape, e.Type)
		case len(shape) < 2:
		case !ok:
			m.leave(e.name, "tensor", fmt.Sprintf("elements of type %.40q are not read", e.Type))
		case t.integer:
			m.leave(e.name, "tensor", "integers "+e.Type+", of which the file tells no scale")
		default:
			at := begin + e.Offsets[0]
			m.add(Product{Name: e.name, Operator: "tensor", Tensor: e.name, N: shape[0], K: count(shape[1:]), across: true,
				weights: tensor{shape, func() ([]float32, error) { return named(e.name)(readNumbers(m.file, at, n, t)) }}})
		}
	}
	return nil
}

// named returns a function that adds the name of a tensor to an error.
func named(tensor string) func([]float32, error) ([]float32, error) {
	return func(data []float32, err error) ([]float32, error) {
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", tensor, err)
		}
		return data, nil
	}
}

func count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// safetensorsHeader returns where the data begin, and the tensors in their
// order.
func safetensorsHeader(r io.ReaderAt, size int64) (begin int64, list []entry, err error) {
	if size < 8 {
		return 0, nil, fmt.Errorf("%d bytes, want at least the 8 of a safetensors file", size)
	}
	var prefix [8]byte
	if _, err := r.ReadAt(prefix[:], 0); err != nil {
		return 0, nil, unexpected(err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > longestHeader || length > uint64(size-8) {
		return 0, nil, fmt.Errorf("a header of %d bytes, want at most %d and the %d that follow", length, longestHeader, size-8)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, 8); err != nil {
		return 0, nil, unexpected(err)
	}
	entries := map[string]json.RawMessage{}
	if err := json.Unmarshal(bytes.TrimSpace(header), &entries); err != nil {
		return 0, nil, fmt.Errorf("header: %w", err)
	}
	for name, text := range entries {
		if name == "__metadata__" {
			continue
		}
		e := entry{name: name, Offsets: [2]int64{-1, -1}}
		if err := json.Unmarshal(text, &e); err != nil {
			return 0, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]), cmp.Compare(a.name, b.name))
	})
	return 8 + int64(length), list, nil
}
