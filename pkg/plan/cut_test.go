package plan

import (
	"fmt"
	"strings"
	"testing"
)

// What the cuts of other libraries make of a sum of n products, as the
// positions of their parts.
func TestCutsOfSums(t *testing.T) {
	for _, test := range []struct {
		cut  Cut
		n    int
		want string
	}{
		{Cut{Halves: 8, Most: 128}, 300, "0…143 144…299"},
		{Cut{Halves: 8, Most: 128}, 129, "0…63 64…128"},
		{Cut{Halves: 8, Most: 128}, 128, "0…127"},
		{Cut{Halves: 8, Most: 16}, 17, "0…7 8…16"},
		{Cut{Head: 8}, 19, "0…15 16 17 18"},
		{Cut{Head: 8}, 16, "0…15"},
		{Cut{Head: 8}, 3, "- 0 1 2"},
		{Cut{Lanes: 2, Vector: 1, Whole: 4}, 7, "0,2,4,5,6 1,3"},
		{Cut{Lanes: 2, Vector: 1, Whole: 4}, 3, "0…2 -"},
		{Cut{Lanes: 2, Vector: 1}, 3, "0,2 1"},
	} {
		var words []string
		for _, part := range test.cut.of(positions(test.n)) {
			words = append(words, written(part))
		}
		if got := strings.Join(words, " "); got != test.want {
			t.Errorf("%+v of %d: %s, want %s", test.cut, test.n, got, test.want)
		}
	}
}

// written returns positions as a text.
func written(k []int) string {
	switch {
	case len(k) == 0:
		return "-"
	case len(k) > 1 && consecutive(k):
		return fmt.Sprintf("%d…%d", k[0], k[len(k)-1])
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(k), "[]"), " ", ",")
}

// A cut that would go on for ever, or that has a field of another, is an error
// that names it.
func TestCutsThatAreNotAllowed(t *testing.T) {
	for want, cut := range map[string]Cut{
		"Cut.Most = 15":    {Halves: 8, Most: 15},
		"Cut.Most = 0":     {Halves: 8},
		"Cut.Most = 9":     {Length: 8, Most: 9},
		"Cut.Halves = -1":  {Halves: -1},
		"Cut.Head = -8":    {Head: -8},
		"Cut.Whole = 4":    {Length: 8, Whole: 4},
		"Cut has 2":        {Head: 8, Halves: 8, Most: 128},
		"Cut.Whole = -1":   {Lanes: 2, Whole: -1},
		"Cut.Vector = 1":   {Head: 8, Vector: 1},
		"Cut.Grain = 64":   {Halves: 8, Most: 128, Grain: 64},
		"Cut.Floor is for": {Head: 8, Floor: true},
	} {
		if err := cut.check("Cut"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", cut, err, want)
		}
	}
}
