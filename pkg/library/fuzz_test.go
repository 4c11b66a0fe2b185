package library

import (
	"encoding/json"
	"errors"
	"testing"
)

// Whatever is planned is a plan that can be computed; whatever is not says why.
func FuzzPlan(f *testing.F) {
	for _, c := range every(Shape{}) {
		f.Add(64, 1, 300, 0, c.String(), false)
	}
	f.Add(1, 8, 8648, 2, "66,,9,,,,36", true)
	f.Add(1, 1, 1, 0, "[12, null, 0]", false)
	f.Add(1<<31-1, 1<<31-1, 1<<31-1, 1, "66,0,65536,2,0,0,35,0,0", true)
	f.Fuzz(func(t *testing.T, m, n, k, kind int, text string, option bool) {
		c, err := ParseConfig(text)
		if err != nil {
			return
		}
		if again, err := ParseConfig(c.String()); err != nil || again != c {
			t.Fatalf("%q is read as %v and then as %v, %v", text, c, again, err)
		}
		coded, err := json.Marshal(c)
		var back Config
		if err != nil || json.Unmarshal(coded, &back) != nil || back != c {
			t.Fatalf("%v is written as %s and read as %v, %v", c, coded, back, err)
		}
		for _, p := range Profiles() {
			planned, err := p.PlanWith(Shape{m, n, k}, Kind(kind), c, Options{Floor: option, Measured: option})
			var refusal *Refusal
			switch {
			case errors.As(err, &refusal):
				if refusal.Reason == "" || refusal.Nearest == "" {
					t.Fatalf("refusal %+v", refusal)
				}
				continue
			case err != nil:
				continue
			}
			if err := planned.Plan.Check(); err != nil {
				t.Fatal(err)
			}
			if s := planned.Suspected; s != nil {
				if err := s.Plan.Check(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := json.Marshal(planned); err != nil {
				t.Fatal(err)
			}
			if k < 1000 && planned.Slices < 100 && c.splits() < 100 {
				x := make([]float64, k)
				x[k-1] = 1
				if got := planned.Plan.Dot(x, x); got != 1 && !option {
					t.Fatalf("%v: %v, want 1", planned.Plan.Order, got)
				}
			}
		}
		for _, e := range Plans() {
			if p, err := e.Plan(Shape{m, n, k}, Kind(kind)); err == nil && k < 1<<20 {
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
