package library

import (
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
)

// Every plan of a library has a text that is read as that plan.
func TestPlansHaveTexts(t *testing.T) {
	texts := 0
	for _, e := range Plans() {
		for _, kind := range []Kind{FP16, BF16, FP8, FP32} {
			p, err := e.Plan(Shape{M: 128, N: 128, K: 1000 * 16}, kind)
			if err != nil {
				continue
			}
			read, err := plan.Parse(p.String())
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			if got := read.String(); got != p.String() {
				t.Errorf("%s: %s is read as %s", e.Name, p, got)
			}
			texts++
		}
	}
	if texts < 12 {
		t.Errorf("%d plans, want 12 at least", texts)
	}
}
