// Package some has things with and without examples.
package some

// Shown has an example.
func Shown() {}

// Bare has none.
func Bare() {}

// Thing is exported.
type Thing struct{}

// Make returns a Thing.
func Make() Thing { return Thing{} }

// Grow has no example.
func (Thing) Grow() {}

// Shrink has one.
func (Thing) Shrink() {}

// Turn is in the example of its type, as Make is.
func (Thing) Turn() {}

// String needs none.
func (Thing) String() string { return "thing" }

type hidden struct{}

// Grow is nobody's business.
func (hidden) Grow() {}
