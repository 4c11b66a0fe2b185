package drawn

import (
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	sixty := strings.Repeat("word ", MostWords-2)
	for _, c := range []struct{ finding, details, want string }{
		{"The bound holds.", "K = 4, 2.3·10⁻⁵ on hopper-e4m3 and f4e8m0x32, U(−1,1).", ""},
		{"The bound " + strings.TrimSpace(sixty) + ".", "", ""},
		{"The " + sixty + "= × word.", "", ""},
		{"The bound", "", "without a full stop"},
		{"the bound holds.", "", "not with a capital"},
		{"7 bounds hold.", "", "not with a capital"},
		{"γ grows.", "", "not with a capital"},
		{"", "", "not with a capital"},
		{"It holds. It is loose.", "", "two sentences"},
		{"It holds.", "For K = 4", "details without"},
		{"The bound " + sixty + "holds.", "", "61 words"},
		{"The bound holds.", sixty + ".", "61 words"},
		{"It holds.", "Drawn by hand.", `"Drawn by"`},
		{"It holds.", "See paper.Table3.", `"paper.Table3"`},
		{"It is 2.3e-5.", "", `"2.3e-5"`},
		{"It is 10^5.", "", `"0^5"`},
		{"It is -1.", "", "minus"},
	} {
		got := strings.Join(Faults(c.finding, c.details), "; ")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q, %q: %q, want %q", c.finding, c.details, got, c.want)
		}
	}
}
