package tcore

import "sync"

// scratch recycles slices from one product to the next. New slices would cost
// every product page faults, and soon a garbage collection.
type scratch[T any] struct{ pool sync.Pool }

// get returns n elements of arbitrary values.
func (s *scratch[T]) get(n int) []T {
	if kept, _ := s.pool.Get().(*[]T); kept != nil && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]T, n)
}

// put recycles elements that are not in use.
func (s *scratch[T]) put(elements []T) { s.pool.Put(&elements) }
