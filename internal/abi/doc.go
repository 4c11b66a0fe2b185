// Package abi contains what the C library of this module computes: questions
// and answers in JSON, and matrices that lie in the memory of the caller. The
// library itself, cmd/libroundoff, only hands pointers on. [Functions] is the
// one table of what it exports, from which its header is written.
//
// Nothing of the caller's is kept after a call, and calls may run at the same
// time.
package abi
