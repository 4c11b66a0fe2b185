package study

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"github.com/roundofflab/roundoff/pkg/viz"
)

func TestGrowthRates(t *testing.T) {
	g := DefaultGrowthRates
	g.Predicted, g.Measured = []int{1 << 10, 1 << 12, 1 << 14, 1 << 16}, []int{1 << 10, 1 << 12}
	if testing.Short() {
		g.Machines = g.Machines[1:3] // Volta, Ampere
	}
	curves, err := g.Run()
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string][2]float64{ // the power of K, with entries ~ U(0,1) and U(-1,1)
		"paper's model": {0.5, 0}, "Volta": {1, 0}, "Ampere": {1, 0.5}, "Hopper": {1, 0.5},
	}
	for _, c := range curves {
		want := orders[c.Name][0]
		if c.Data == paper.UniformSymmetric {
			want = orders[c.Name][1]
		}
		if got := c.Order(g.Predicted); math.Abs(got-want) > 0.05 {
			t.Errorf("%s, %s: K^%.3f, want K^%v", c.Name, c.Data.Name, got, want)
		}
		for i := range g.Measured {
			if !scalar.EqualWithinRel(c.Predicted[i], c.Measured[i], 0.15) {
				t.Errorf("%s, %s: predicted %v, measured %v", c.Name, c.Data.Name, c.Predicted[i], c.Measured[i])
			}
		}
	}
	for _, c := range curves {
		if a, ok := c.problem().Accumulator(); ok && c.Data == paper.UniformSymmetric {
			want := a.ErrorSlope(c.problem().ProductMoments(), g.Measured[len(g.Measured)-1])
			off := 0.1
			if a.Kind() == truncation.KeepsSame { // carries are as rare as the logarithm of K
				off = 0.4
			}
			if !(math.Abs(c.Slope/want-1) < off) {
				t.Errorf("%s: slope %v, closed form %v", c.Name, c.Slope, want)
			}
		}
	}
	if finding := g.ClosedForms(curves).Finding(); !regexp.MustCompile(`of 4096 products to \d %`).MatchString(finding) {
		t.Error(finding) // less than 10 %
	}
	if caption := viz.Caption(g.Figure(curves)); !strings.Contains(caption, "Volta 1.00") {
		t.Error(caption)
	}
}
