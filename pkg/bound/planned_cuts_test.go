package bound

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A sum of halves of halves has the bound of as many additions as one product
// meets: of NumPy's 1000 terms 15 in a lane, 3 of lanes and 3 of halves.
func TestBoundsOfHalves(t *testing.T) {
	p, err := plan.Parse("ieee-fma-binary32-binary32 | lanes 8 vector 1 + butterfly | halves 8 most 128")
	if err != nil {
		t.Fatal(err)
	}
	k, err := Problem{M: 1, N: 1, K: 1000}.Planned(p)
	if err != nil {
		t.Fatal(err)
	}
	s := k.shape()
	u := tcore.Binary32.UnitRoundoff()
	if want := math.Expm1(6 * math.Log1p(u)); s.steps != 16 || s.length != 16 || math.Abs(s.merging/want-1) > 1e-6 {
		t.Errorf("chains of %d products, merging %v, want 16, %v", s.length, s.merging/u, want/u)
	}
	results, err := Evaluate(k, roundoff.FailureOf(0.99))
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := Tightest(results); !ok || r.Constant > 23*u {
		t.Errorf("%v of %v units", r.Bound, r.Constant/u)
	}
}
