package main

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/network"
)

// wholeNumbers contains the types of integers that an input of a network may
// have besides those of numbers.
var wholeNumbers = map[string]elementType{
	"|b1": {1, func(b []byte) float64 { return float64(b[0]) }, 0},
	"|u1": {1, func(b []byte) float64 { return float64(b[0]) }, 0},
	"|i1": numbers["|i1"],
	"<i2": {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }, 0},
	"<u2": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }, 0},
	"<i4": numbers["<i4"],
	"<i8": {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }, 0},
}

// readTensors reads the arrays of a file of numpy.savez by their names, rounded
// to binary32.
func readTensors(path string) (map[string]network.Tensor, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w, want a file of numpy.savez", path, err)
	}
	defer archive.Close()
	found := map[string]network.Tensor{}
	for _, file := range archive.File {
		name, array := strings.CutSuffix(file.Name, ".npy")
		if !array {
			return nil, fmt.Errorf("%s: %.80q is no array, want a file of numpy.savez", path, file.Name)
		}
		if found[name], err = readTensor(file); err != nil {
			return nil, fmt.Errorf("%s: array %.80q: %w", path, name, err)
		}
	}
	return found, nil
}

// readTensor reads one array.
func readTensor(file *zip.File) (x network.Tensor, err error) {
	r, err := file.Open()
	if err != nil {
		return x, err
	}
	defer r.Close()
	const most = 8*question.MostElements + 1<<16
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return x, err
	case len(data) > most:
		return x, fmt.Errorf("more than %d bytes", most)
	}
	h, data, err := parseHeader(data)
	if err != nil {
		return x, err
	}
	kind, whole := wholeNumbers[h.Descr.Type]
	if !whole {
		if kind, err = numberType(h.Descr.Type); err != nil {
			return x, err
		}
	}
	n, left := 1, len(data)/kind.size
	for _, s := range h.Descr.Shape {
		if s < 1 || n > left/s {
			return x, fmt.Errorf("shape %v for %d bytes of data", h.Descr.Shape, len(data))
		}
		n *= s
	}
	switch {
	case len(data) != n*kind.size:
		return x, fmt.Errorf("%d bytes of data, want those of %v elements of %s", len(data), h.Descr.Shape, h.Descr.Type)
	case h.Descr.Fortran && len(h.Descr.Shape) > 1:
		return x, fmt.Errorf("columns are stored one after the other, want rows (numpy.ascontiguousarray)")
	}
	x = network.Tensor{Shape: h.Descr.Shape, Data: make([]float32, n), Integer: whole}
	for i := range x.Data {
		x.Data[i] = float32(kind.read(data[i*kind.size:]))
	}
	return x, nil
}

// numberType returns how elements of a type are read that is not of integers.
func numberType(kind string) (elementType, error) {
	t, ok := numbers[kind]
	if !ok {
		return t, fmt.Errorf("elements of type %.20q, want integers or float16, float32 or float64, little-endian", kind)
	}
	return t, nil
}
