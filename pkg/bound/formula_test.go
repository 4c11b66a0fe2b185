package bound

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The closed formulas of the catalogue, written out once more, have the values
// that the catalogue computes.
func TestFormula(t *testing.T) {
	const (
		M, N, K = 16, 8, 64
		p       = 0.01
		u       = 0x1p-24
	)
	gamma := func(n float64) float64 { return n * u / (1 - n*u) }
	composed := func(a, b float64) float64 { return a + b + a*b }
	n := K - 1.
	ell := math.Log(2 * n * M * N / p)
	paper := Problem{M: M, N: N, K: K, Machine: tcore.Machine{Device: devices.PaperCoreF32()}}
	compensated := Problem{M: M, N: N, K: K, Machine: tcore.Machine{Device: devices.IEEEF16(), Order: tcore.Compensated}}
	hopper := Problem{M: M, N: N, K: K, Machine: tcore.Machine{Device: devices.HopperF16()}}
	for _, c := range []struct {
		bound Bound
		k     Problem
		want  float64
	}{
		{Gamma, paper, gamma(n)},
		{Unrestricted, paper, math.Expm1(-n * math.Log1p(-u))},
		{Linear, paper, (K - 1) * u},
		{CompensatedDot, compensated, u + gamma(K-1)*gamma(K-1)},
		{DBEA, paper, composed(gamma(K-1), gamma(K/4))},
		{HighamMary, paper, math.Expm1(math.Sqrt(2*ell)/(1-u)*math.Sqrt(n)*u + n*u*u/(1-u))},
		{ConnollyHighamMary, paper, math.Expm1((math.Sqrt(2*ell*n)*u + n*u*u) / (1 - u))},
		{ElArar, paper, math.Sqrt(M * N * math.Expm1(n*math.Log1p(u*u)) / p)},
		{Truncation, hopper, K / 16 * (16*0x1p-25 + 2*u)},
	} {
		got := c.bound.Constant(c.k, roundoff.FailureOf(1-p)).Constant
		if !(math.Abs(got/c.want-1) < 1e-9) {
			t.Errorf("%s, %s: %v by hand, %v by the catalogue", c.bound.Name, c.bound.Formula, c.want, got)
		}
	}
}

// The letters of all formulas are explained in notebook 11, which shows them.
func TestFormula_has_letters_that_are_explained(t *testing.T) {
	data, err := os.ReadFile("../../notebooks/11-every-bound.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	_, letters, found := strings.Cut(string(data), "The letters")
	letters, _, ended := strings.Cut(letters, `"cell_type"`)
	if !found || !ended {
		t.Fatal("notebook 11 has no list of letters")
	}
	letters = strings.ReplaceAll(letters, `\\`, `\`)
	words := regexp.MustCompile(`\\(text|mathrm)\{[^}]*\}`)
	letter := regexp.MustCompile(`\\[a-zA-Z]+|[a-zA-Z]`)
	signs := strings.Fields(`\frac \tfrac \sqrt \sum \left \right \le \sim \approx \pm \quad \lvert \rvert \log \max \min \hat \tilde \bar \mathbb e`)
	for _, b := range Catalogue() {
		for _, l := range letter.FindAllString(words.ReplaceAllString(b.Formula, " "), -1) {
			explained := regexp.MustCompile(`(^|[^a-zA-Z\\])` + regexp.QuoteMeta(l) + `([^a-zA-Z]|$)`)
			if !slices.Contains(signs, l) && !explained.MatchString(letters) {
				t.Errorf("%s: nothing explains %s of %s", b.Name, l, b.Formula)
			}
		}
	}
}
