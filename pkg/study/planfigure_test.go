package study

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// planParts returns what a drawing consists of: kind, box and text.
func planParts(t *testing.T, s *viz.Schematic) (parts [][]string, boxes [][4]float64) {
	t.Helper()
	data, err := s.CSV()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		var b [4]float64
		for i := range b {
			if b[i], err = strconv.ParseFloat(r[1+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		parts, boxes = append(parts, r), append(boxes, b)
	}
	return parts, boxes
}

// planTexts are plans that are drawn for every K.
func planTexts(t *testing.T) []plan.Plan {
	t.Helper()
	list := plan.Forms()
	for _, text := range []string{
		"hopper-wgmma-binary16-binary32 | parts 9 grain 64 floor",
		"ampere-mma-bfloat16-binary32 tile 64 | every 1000 + zero partial bfloat16 running bfloat16 > bfloat16",
		"ieee-fma-binary16-binary32 | at 10,20,30,77,100 + folds 3,2,1 zero partial binary16",
		"hopper-wgmma-e4m3-binary32 | every 128 + fused-second > bfloat16",
		"hopper-mma-e4m3-binary32 | lanes 3 vector 5 | lanes 2 vector 1",
	} {
		p, err := plan.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// No text of a plan leaves the sheet or its box, or covers another.
func TestPlanFigureHasRoomForItsTexts(t *testing.T) {
	for _, p := range planTexts(t) {
		for _, k := range []int{1, 2, 5, 100, 4096, 8648, 400000} {
			parts, boxes := planParts(t, PlanFigure(p, k))
			for i, a := range boxes {
				if a[0] < 0 || a[0]+a[2] > planWidth || a[1] < 0 {
					t.Errorf("%v, %d: %v is outside", p, k, parts[i])
				}
				if parts[i][0] != "text" {
					continue
				}
				for j, b := range boxes[:i] {
					meet := a[0] < b[0]+b[2] && b[0] < a[0]+a[2] && a[1] < b[1]+b[3] && b[1] < a[1]+a[3]
					within := a[0] >= b[0] && a[0]+a[2] <= b[0]+b[2]
					if meet && (parts[j][0] == "text" || parts[j][0] == "box" && !within) {
						t.Errorf("%v, %d: %v covers %v", p, k, parts[i], parts[j])
					}
				}
			}
		}
	}
}

// The drawing names the products that a trace finds in the first part.
func TestPlanFigureNamesTheProducts(t *testing.T) {
	for _, p := range planTexts(t) {
		if _, scaled := p.Scaled(); scaled {
			continue
		}
		const k = 1000
		x := make([]float64, k)
		for s := p.Trace(x, x).Sum; ; s = s.Parts[0] {
			if s.Run == nil {
				continue
			}
			parts, _ := planParts(t, PlanFigure(p, k))
			last := s.Run.Blocks[len(s.Run.Blocks)-1]
			found := map[string]bool{}
			for _, r := range parts {
				for _, w := range strings.Fields(strings.ReplaceAll(r[5], ",", " ")) {
					found[w] = found[w] || strings.HasPrefix(r[5], "+ ")
				}
			}
			for _, at := range []int{s.K[0], last.Start, s.K[len(s.K)-1]} {
				if !found[fmt.Sprint(at)] {
					t.Errorf("%v: no instruction adds %d", p, at)
				}
			}
			break
		}
	}
}

func TestPlanFigureTellsWhatIsLost(t *testing.T) {
	p, err := plan.Parse("hopper-wgmma-binary16-binary32 | parts 9 grain 64 floor")
	if err != nil {
		t.Fatal(err)
	}
	f := PlanFigure(p, 8648)
	parts, _ := planParts(t, f)
	for _, r := range parts {
		if r[5] == "8 lost" && strings.Contains(f.Finding(), "8 of 8648 products are in no part and lost.") {
			return
		}
	}
	t.Errorf("%s: no word of it in %v", f.Finding(), parts)
}

// Which products meet where when FP8 sums are promoted.
func ExamplePlanFigure() {
	p, err := plan.Parse("hopper-wgmma-e4m3-binary32 | every 128 > binary16")
	if err != nil {
		panic(err)
	}
	fmt.Println(viz.Caption(PlanFigure(p, 4096)))
	// Output:
	// A product meets at most 4 instructions and 31 additions to nearest, then the rounding of the result. hopper-wgmma-e4m3-binary32 | every 128 > binary16, K = 4096. Tinted: what the row below shows. Drawn by study.PlanFigure.
}
