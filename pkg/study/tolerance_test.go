package study

import (
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/viz"
)

func TestToleranceFigure(t *testing.T) {
	c := ToleranceFigure()
	if png, err := c.PNG(); err != nil || len(png) == 0 {
		t.Error(err)
	}
	svg, err := c.SVG()
	for _, label := range []string{"Volta", "FMAs in binary32", "e4m3, Blackwell", "bfloat16, Hopper"} {
		if err != nil || !strings.Contains(string(svg), label) {
			t.Errorf("no curve %q, %v", label, err)
		}
	}
	if !strings.Contains(viz.Caption(c), "of Hopper's 2.2·10⁻³ at K = 32768, ") {
		t.Error(viz.Caption(c))
	}
}

func TestAdviceTable(t *testing.T) {
	for tolerance, want := range map[float64]string{
		2e-3:  " guarantee an error of at most 2.0·10⁻³ |A||B|",
		1e-30: "Of 14 devices 0 ",
		100:   "Of 14 devices 14 ",
	} {
		table := AdviceTable(tolerance)
		if svg, err := table.SVG(); err != nil || !strings.Contains(viz.Caption(table), want) || !strings.Contains(string(svg), "Hopper, binary16") {
			t.Errorf("%v: %s, want %q", err, viz.Caption(table), want)
		}
	}
}
