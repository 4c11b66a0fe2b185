// Package tcvec reads and writes test vectors of tensor cores, files of the
// format tcvec1, and compares them with the devices of package tcore.
//
// A file is compressed by gzip. It contains one line of JSON, the [Header], and
// then Count rows of RowBytes bytes, little-endian. A row consists of flags and
// regime, one byte each; the K codes of A and of B, where e2m1 is packed two to
// a byte with the first in the low half; the scales of both, one byte each, if
// there are any; and the codes of c, of the expected d, and of d from a second
// source.
//
// The contents of a file are not trusted before they are checked: the size of a
// row is computed from the formats and must equal RowBytes, rows are read one
// at a time, and the file must end after Count rows.
package tcvec
