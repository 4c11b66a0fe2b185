package tcore

import "sync/atomic"

// path is one of the ways to compute products of matrices. It counts what it
// computed, so that tests and benchmarks can tell which way was taken.
type path struct {
	name string
	done atomic.Int64 // multiply-adds
}

// paths are all ways, in the order of their definition.
var paths []*path

func newPath(name string) *path {
	p := &path{name: name}
	paths = append(paths, p)
	return p
}

// count adds the multiply-adds of an m × k × n product.
func (p *path) count(m, k, n int) { p.done.Add(int64(m) * int64(k) * int64(n)) }
