package tcore

import "sync"

// scratch keeps slices from one product to the next. New ones would cost every
// product their pages, and a collection of garbage soon after.
type scratch[T any] struct{ pool sync.Pool }

// get returns n elements that hold anything.
func (s *scratch[T]) get(n int) []T {
	if kept, _ := s.pool.Get().(*[]T); kept != nil && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]T, n)
}

// put keeps elements that are no longer used.
func (s *scratch[T]) put(elements []T) { s.pool.Put(&elements) }
