package study

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// The headline of the table of moments is the largest quotient of a mean and a
// spread, with its machine and its data.
func TestBoundSweep_Moments(t *testing.T) {
	s, err := RecordedSweep()
	if err != nil {
		t.Fatal(err)
	}
	const k = 32768
	most, where := 0.0, ""
	for _, r := range s.Rows {
		if r.Bound == sweep.ErrorRow && !r.PerOutput && r.K == k && math.Abs(r.Mean())/r.Spread() > most {
			most, where = math.Abs(r.Mean())/r.Spread(), on(r.Machine)+", with "+dataNamed(r.Data)
		}
	}
	if got, want := s.Moments(k).Finding(), fmt.Sprintf("at most %s times their spread: %s.", times(most), where); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
