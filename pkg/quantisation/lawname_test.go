package quantisation

import (
	"fmt"
	"testing"
)

func ExampleParseLaw() {
	for _, s := range []string{"U(-1, 1)", "N(0,2)", "Laplace(0,1)", "t(3)", "N(0,0)"} {
		l, err := ParseLaw(s)
		fmt.Println(l.Name, err)
	}
	// Output:
	// U(-1,1) <nil>
	// N(0,2) <nil>
	// Laplace(0,1) <nil>
	//  quantisation: law "t(3)", want U(lo,hi), N(mean,deviation) or Laplace(mean,scale)
	//  quantisation: law "N(0,0)", want finite numbers, lo < hi at a finite distance, deviation or scale > 0
}

// The name of a law is read as that law, and what is none is refused.
func TestParseLaw(t *testing.T) {
	for _, l := range []Law{Uniform(-1.5, 1e30), Normal(-2, 0.25), Laplace(1e-3, 7)} {
		got, err := ParseLaw(" " + l.Name)
		if err != nil || got.Name != l.Name || got.Density(1) != l.Density(1) || got.Knots[0] != l.Knots[0] {
			t.Errorf("%s is read as %s, %v", l.Name, got.Name, err)
		}
	}
	for _, s := range []string{"", "U", "U(0,1", "U(1,0)", "U(1,1)", "U(-1e308,1e308)", "N(nan,1)", "N(0,inf)", "N(0,-1)", "N(1)", "Laplace(0,0)", "u(0,1)", "U(0,1))", "U(0,1e400)", "N(inf,1)"} {
		if l, err := ParseLaw(s); err == nil {
			t.Errorf("%q is read as %s", s, l.Name)
		}
	}
}
