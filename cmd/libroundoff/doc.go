// Libroundoff is the library for other languages. It is built by
//
//	go build -buildmode=c-shared -o libroundoff.so ./cmd/libroundoff
//
// and roundoff.h declares its functions. What they compute is in internal/abi;
// here are only pointers. The header that cgo writes besides is not for use.
package main

//go:generate go test -run ^TestHeader$ ../../internal/abi -update
