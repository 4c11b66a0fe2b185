package some_test

import "github.com/roundofflab/roundoff/internal/doctest/testdata/some"

func ExampleShown() { some.Shown() }

func ExampleThing_Shrink() { some.Thing{}.Shrink() }

func ExampleThing() {
	t := some.Make()
	t.Turn()
}
