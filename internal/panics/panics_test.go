package panics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

// reports keeps what a test is told.
type reports struct {
	testing.TB
	said []string
}

func (r *reports) Helper() {}

func (r *reports) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func TestWant(t *testing.T) {
	for _, test := range []struct {
		call        func()
		whole, part []string
	}{
		{func() { panic("K = 0") }, nil, nil},
		{func() { panic(fmt.Errorf("K = %d", 0)) }, nil, nil},
		{func() { panic("K = 0, want K >= 1") }, []string{`panic "K = 0, want K >= 1", want "K = 0"`}, nil},
		{func() { panic("L = 0") }, []string{`panic "L = 0", want "K = 0"`}, []string{`panic "L = 0", want one with "K = 0"`}},
		{func() {}, []string{`panic "<nil>", want "K = 0"`}, []string{`panic "<nil>", want one with "K = 0"`}},
	} {
		whole, part := &reports{TB: t}, &reports{TB: t}
		panics.Want(whole, "K = 0", test.call)
		panics.WantPart(part, "K = 0", test.call)
		if !slices.Equal(whole.said, test.whole) || !slices.Equal(part.said, test.part) {
			t.Errorf("said %q and %q, want %q and %q", whole.said, part.said, test.whole, test.part)
		}
	}
}
