package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The wire format of Protocol Buffers: a message is a list of fields, each a
// tag, that is a number and a type, and a value. Values that are long are
// passed over, so that weights stay in the file.

// Types of values on the wire.
const (
	varint  = 0
	fixed64 = 1
	chunk   = 2 // bytes: also strings, messages and packed numbers
	fixed32 = 5
)

// A field is a field of a message. The value of a number is value; that of
// bytes lies in the file from at to end.
type field struct {
	number, kind int
	value        uint64
	at, end      int64
}

// mostFields limits how many fields a file is believed to have besides the
// elements of its arrays: more than a hundred thousand nodes have.
const mostFields = 1 << 22

// A wire reads messages of a file, of which it keeps a page.
type wire struct {
	file   io.ReaderAt
	size   int64
	page   []byte
	begin  int64 // of the page
	fields int
}

// bytesAt returns up to n <= 4096 bytes from the given one on, less at the end
// of the file. They are valid until the next call.
func (w *wire) bytesAt(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-at))
	if at < w.begin || at+int64(n) > w.begin+int64(len(w.page)) {
		if w.page == nil {
			w.page = make([]byte, 1<<16)
		}
		w.page = w.page[:min(int64(cap(w.page)), w.size-at)]
		w.begin = at
		if k, err := w.file.ReadAt(w.page, at); k < len(w.page) {
			w.page = w.page[:0]
			return nil, unexpected(err)
		}
	}
	return w.page[at-w.begin:][:n], nil
}

// varint returns the number at a byte, and where it ends.
func (w *wire) varint(at, end int64) (uint64, int64, error) {
	b, err := w.bytesAt(at, int(min(binary.MaxVarintLen64, end-at)))
	if err != nil {
		return 0, 0, err
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, fmt.Errorf("byte %d: a number that does not end", at)
	}
	return v, at + int64(n), nil
}

// each calls do for the fields of the message from at to end.
func (w *wire) each(at, end int64, do func(f field) error) error {
	for at < end {
		if w.fields++; w.fields > mostFields {
			return fmt.Errorf("more than %d fields", mostFields)
		}
		begin := at
		tag, next, err := w.varint(at, end)
		if err != nil {
			return err
		}
		f := field{number: int(tag >> 3 & 0x1fffffff), kind: int(tag & 7)}
		if tag>>3 == 0 || tag > 1<<32 {
			return fmt.Errorf("byte %d: the tag %d of no field", begin, tag)
		}
		length := uint64(0)
		switch f.kind {
		case varint:
			if f.value, next, err = w.varint(next, end); err != nil {
				return err
			}
		case fixed64:
			length = 8
		case fixed32:
			length = 4
		case chunk:
			if length, next, err = w.varint(next, end); err != nil {
				return err
			}
		default:
			return fmt.Errorf("byte %d: a field of type %d, want 0, 1, 2 or 5", begin, f.kind)
		}
		if length > uint64(end-next) {
			return fmt.Errorf("byte %d: a field of %d bytes in a message of which %d are left", begin, length, end-next)
		}
		f.at, f.end = next, next+int64(length)
		if f.kind == fixed32 || f.kind == fixed64 {
			b, err := w.bytesAt(f.at, int(length))
			if err != nil {
				return err
			}
			f.value = binary.LittleEndian.Uint64(append(append([]byte{}, b...), 0, 0, 0, 0)[:8])
		}
		if err := do(f); err != nil {
			return err
		}
		at = f.end
	}
	return nil
}

// text returns the bytes of a name.
func (w *wire) text(f field) (string, error) {
	if f.kind != chunk || f.end-f.at > 4096 {
		return "", fmt.Errorf("byte %d: a name of type %d and %d bytes, want type 2 and at most 4096", f.at, f.kind, f.end-f.at)
	}
	b, err := w.bytesAt(f.at, int(f.end-f.at))
	return string(b), err
}

// message calls do for the fields of a field that is a message.
func (w *wire) message(f field, do func(f field) error) error {
	if f.kind != chunk {
		return fmt.Errorf("byte %d: field %d is of type %d, want a message", f.at, f.number, f.kind)
	}
	return w.each(f.at, f.end, do)
}

// integers appends the numbers of a field of integers, packed or a single one.
func (w *wire) integers(to []int64, f field) ([]int64, error) {
	if f.kind == varint {
		return append(to, int64(f.value)), nil
	}
	if f.kind != chunk {
		return nil, fmt.Errorf("byte %d: field %d is of type %d, want integers", f.at, f.number, f.kind)
	}
	for at := f.at; at < f.end; {
		v, next, err := w.varint(at, f.end)
		if err != nil {
			return nil, err
		}
		if to = append(to, int64(v)); len(to) > mostIntegers {
			return nil, errTooMany
		}
		at = next
	}
	return to, nil
}

// mostIntegers limits the lists that describe a tensor: sizes, axes, strides.
const mostIntegers = 1 << 12

var errTooMany = errors.New("a list of more than 4096 integers, want the sizes or the axes of a tensor")
