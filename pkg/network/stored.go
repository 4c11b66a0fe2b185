package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// A stored tensor is a TensorProto: where its elements are, and of which type.
type stored struct {
	name   string
	dims   []int64
	kind   uint64
	parts  []field // of elements: raw_data, or the list that the type takes
	where  map[string]string
	reader *reader
}

// onnxTypes are the types of elements that are read, by their number in
// TensorProto.
var onnxTypes = map[uint64]number{1: f32, 2: u8, 3: i8, 4: u16, 5: i16, 6: i32, 7: i64, 9: boolean, 10: f16, 11: f64, 12: u32, 13: u64, 16: bf16, 17: f8e4m3, 19: f8e5m2}

// tensor reads a TensorProto and passes over its elements.
func (r *reader) tensor(f field) (*stored, error) {
	t := &stored{where: map[string]string{}, reader: r}
	err := r.message(f, func(f field) (err error) {
		switch f.number {
		case 1:
			t.dims, err = r.integers(t.dims, f)
		case 2:
			t.kind = f.value
		case 8:
			t.name, err = r.text(f)
		case 4, 5, 7, 9, 10, 11:
			if t.parts = append(t.parts, f); len(t.parts) > mostIntegers {
				err = errors.New("elements in more than 4096 parts")
			}
		case 13:
			err = r.pair(f, t.where)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return t, nil
}

// pair reads a StringStringEntryProto.
func (r *reader) pair(f field, to map[string]string) error {
	var words [2]string
	err := r.message(f, func(f field) (err error) {
		if f.number == 1 || f.number == 2 {
			words[f.number-1], err = r.text(f)
		}
		return err
	})
	to[words[0]] = words[1]
	return err
}

// open returns the tensor, to be read. The error says that its type is none
// that is read, or that there are not the bytes that its shape wants; the
// reader then remembers it.
func (t *stored) open() (tensor, error) {
	kind, ok := onnxTypes[t.kind]
	if !ok {
		return tensor{}, fmt.Errorf("elements of type %d of ONNX are not read", t.kind)
	}
	shape, n, err := elements(t.dims)
	if err == nil {
		err = t.check(n, kind)
	}
	if err != nil {
		err = fmt.Errorf("tensor %q: %w", t.name, err)
		t.reader.damage = errors.Join(t.reader.damage, err)
		return tensor{}, err
	}
	return tensor{shape, func() ([]float32, error) { return named(t.name)(t.read(n, kind)) }}, nil
}

// check compares the bytes that there are with the number of elements.
func (t *stored) check(n int64, kind number) error {
	want, have := n*int64(kind.size), int64(0)
	if t.where["location"] != "" {
		path, at, length, size, err := t.external()
		if err != nil {
			return err
		}
		if length >= 0 && length != want || at > size || want > size-at {
			return fmt.Errorf("offset %d and length %d in %s of %d bytes, want the %d of %v elements of %s", at, length, path, size, want, t.dims, kind.name)
		}
		t.reader.outside[path] = size
		return nil
	}
	for _, f := range t.parts {
		have += max(f.end-f.at, 1)
	}
	if t.raw() && have != want && n > 0 || have < n {
		return fmt.Errorf("%d bytes of data, want those of %v elements of %s", have, t.dims, kind.name)
	}
	return nil
}

// raw reports whether the elements are bytes, and no list of numbers.
func (t *stored) raw() bool { return len(t.parts) == 1 && t.parts[0].number == 9 }

// read returns the elements.
func (t *stored) read(n int64, kind number) ([]float32, error) {
	switch {
	case t.where["location"] != "":
		path, at, _, _, err := t.external()
		if err != nil {
			return nil, err
		}
		file, _, err := openRegular(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return readNumbers(file, at, n, kind)
	case t.raw():
		return readNumbers(t.reader.file, t.parts[0].at, n, kind)
	}
	return t.readList(n, kind)
}

// readList returns elements of lists of numbers, which stand for the bits of
// an element where its type has fewer.
func (t *stored) readList(n int64, kind number) ([]float32, error) {
	var data []float32
	var b [8]byte
	add := func(v uint64) error {
		if int64(len(data)) == n {
			return fmt.Errorf("more elements than the shape %v has", t.dims)
		}
		binary.LittleEndian.PutUint64(b[:], v)
		data = append(data, float32(kind.decode(b[:])))
		return nil
	}
	for _, f := range t.parts {
		switch {
		case f.number == 9 || f.number == 4 != (t.kind == 1) || f.number == 10 != (t.kind == 11):
			return nil, fmt.Errorf("elements of %s in field %d of a tensor, in %d parts", kind.name, f.number, len(t.parts))
		case f.kind != chunk:
			if err := add(f.value); err != nil {
				return nil, err
			}
		case f.number == 4 || f.number == 10:
			part := (f.end - f.at) / int64(kind.size)
			if (f.end-f.at)%int64(kind.size) != 0 || part > n-int64(len(data)) {
				return nil, fmt.Errorf("%d bytes of data besides %d elements, want those of %v elements of %s", f.end-f.at, len(data), t.dims, kind.name)
			}
			more, err := readNumbers(t.reader.file, f.at, part, kind)
			if err != nil {
				return nil, err
			}
			data = append(data, more...)
		default:
			for at := f.at; at < f.end; {
				v, next, err := t.reader.varint(at, f.end)
				if err == nil {
					err = add(v)
				}
				if err != nil {
					return nil, err
				}
				at = next
			}
		}
	}
	if int64(len(data)) != n {
		return nil, fmt.Errorf("%d elements, want those of shape %v", len(data), t.dims)
	}
	return data, nil
}

// external returns the file beside the model that has the elements, where they
// begin, how many bytes they are or -1, and the size of the file.
func (t *stored) external() (path string, at, length, size int64, err error) {
	location := t.where["location"]
	if !filepath.IsLocal(location) {
		return "", 0, 0, 0, fmt.Errorf("data in %q, want a file below the folder of the model", location)
	}
	length = -1
	for key, to := range map[string]*int64{"offset": &at, "length": &length} {
		if text := t.where[key]; text != "" {
			if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 0 {
				return "", 0, 0, 0, fmt.Errorf("%s %.40q of the data in %q, want a number of bytes", key, text, location)
			}
		}
	}
	path = filepath.Join(filepath.Dir(t.reader.m.Path), location)
	file, size, err := openRegular(path)
	if err != nil {
		return "", 0, 0, 0, fmt.Errorf("data outside of the model: %w", err)
	}
	return path, at, length, size, file.Close()
}

// integers returns the elements of a short list of integers.
func (t *stored) integers() ([]int64, error) {
	kind := onnxTypes[t.kind]
	z, err := t.open()
	switch {
	case err != nil:
		return nil, err
	case kind.name != "I64" && kind.name != "I32" || count(z.shape) > mostIntegers:
		return nil, fmt.Errorf("tensor %q: shape %v of %s, want a short list of integers", t.name, t.dims, kind.name)
	}
	data, err := z.read()
	list := make([]int64, len(data))
	for i, x := range data {
		list[i] = int64(max(-1<<62, min(float64(x), 1<<62))) // ends of slices are as great as can be
	}
	return list, err
}
