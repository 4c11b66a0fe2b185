// Package tcvec reads test vectors of tensor cores, files of the format tcvec1,
// and runs them against the devices of package tcore.
//
// A file is gzip. Inside is one line of JSON, the [Header], and then Count rows
// of RowBytes bytes, little-endian: flags and regime, one byte each; the K
// codes of A and of B, e2m1 packed two to a byte with the first in the low
// half; the scales of both, one byte each, if there are any; and the codes of
// c, of the expected d, and of a second opinion on d.
//
// Nothing a file says is believed before it is checked: a row is sized by the
// formats, which must agree with RowBytes, rows are read one at a time, and a
// file must end where Count says.
package tcvec
