package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
)

// What does nothing at a K makes no difference.
func TestPlansThatAreEqual(t *testing.T) {
	const d = "hopper-wgmma-e4m3-binary32"
	for _, c := range []struct {
		p, q  string
		k     int
		equal bool
	}{
		{d, d + " | every 128", 128, true},
		{d, d + " | every 128", 129, false},
		{d, d + " > binary32", 1000, true},
		{d, d + " > binary16", 1000, false},
		{d, d + " group 32", 1000, true},
		{d, d + " group 16 | every 16", 16, true},
		{d + " group 8 tile 32", d + " group 8", 100, false},
		{d + " group 8 tile 32", d + " group 8", 96, true},
		{d + " group 4 tile 32", d + " group 4", 100, true},
		{d + " | every 50", d + " | parts 2", 100, true},
		{d + " | every 50", d + " | at 50", 100, true},
		{d + " | lanes 2", d + " | parts 2", 100, true},
		{d + " | lanes 2 vector 4", d + " | parts 2", 100, false},
		{d + " | parts 2", d + " | parts 2 floor", 100, true},
		{d + " | parts 2", d + " | parts 2 floor", 101, false},
		{d + " | every 10", d + " | every 10 + zero", 100, false},
		{d + " | every 200", d + " | every 200 + zero", 100, false},
		{d + " | every 200", d, 100, true},
		{d + " | every 100 + fused", d + " | every 200 + fused", 50, true},
		{d + " | every 100 + fused", d + " | every 200 + fused", 150, false},
		{d + " | lanes 2 vector 4", d + " | lanes 2 vector 5", 40, false},
		{d + " | every 100 | every 10", d + " | every 10", 100, true},
		{d + " | every 10 + fused", d + " | every 10 + fused-second", 100, false},
		{"ieee-fma-binary16-binary32", "cdna2-mfma-binary16-binary32", 100, false},
	} {
		z := plan.Diff(parse(t, c.p), parse(t, c.q), c.k)
		if z.Equal != c.equal || c.equal != (z.Words == nil) || c.equal && z.Example != nil {
			t.Errorf("%s, %s of %d: %+v, want equal = %v", c.p, c.q, c.k, z, c.equal)
		}
	}
}

// An example is one: the results are those of both plans and differ.
func TestExamplesOfDifferences(t *testing.T) {
	var list []plan.Plan
	for _, p := range plan.Forms() {
		if _, scaled := p.Scaled(); !scaled {
			list = append(list, p)
		}
	}
	const k = 150
	for i, p := range list {
		for j, q := range list[:i] {
			if testing.Short() && (i+j)%3 > 0 {
				continue
			}
			z := plan.Diff(p, q, k)
			if z.Equal {
				continue
			}
			if len(z.Words) == 0 || z.Random.Dots != 1024 || z.Tried < 1 {
				t.Errorf("%s, %s: %+v", p.Name, q.Name, z)
			}
			if p.Name == "split-groups" && q.Name == "residue-first" { // a slice, rounded to the format of D twice
				if text := z.String(); z.Example != nil || !strings.Contains(text, "No difference was found") {
					t.Errorf("%s, %s: %s", p.Name, q.Name, text)
				}
				continue
			}
			if z.Example == nil {
				t.Errorf("%s, %s: nothing found in %d inputs: %q", p.Name, q.Name, z.Tried, z.Words)
				continue
			}
			x, y := make([]float64, k), make([]float64, k)
			for l, at := range z.Example.At {
				x[at], y[at] = z.Example.X[l], z.Example.Y[l]
			}
			if d, e := p.Dot(x, y), q.Dot(x, y); d == e && math.Signbit(d) == math.Signbit(e) || d != z.Example.P && d == d || e != z.Example.Q && e == e {
				t.Errorf("%s, %s: %v and %v, want %+v", p.Name, q.Name, d, e, z.Example)
			}
			if len(z.Example.At) > 4 {
				t.Errorf("%s, %s: %d products, want 4 at most", p.Name, q.Name, len(z.Example.At))
			}
		}
	}
}

// A split of K and a promotion, and the least that tells them from a chain.
func ExampleDiff() {
	chain, errP := plan.Parse("hopper-wgmma-binary16-binary32")
	split, errQ := plan.Parse("hopper-wgmma-binary16-binary32 | every 2048")
	if errP != nil || errQ != nil {
		panic("no plans")
	}
	z := plan.Diff(chain, split, 4096)
	fmt.Print(z)
	// Output:
	// Products 0 and 2048 meet on one accumulator, in its instructions 0 and 128 in the first plan, and
	//   where sums 0 and 1 are added in the second.
	//
	// An input that shows it, of 2 products that are not 0, after 1249 were tried:
	//   x2 y2 = 0.0009765625 × 1
	//   x4094 y4094 = -32768 × 1
	// The results are -32767.998046875 and -32768.
	//
	// Of 1024 sums of products of normal factors, of deviation 1, 1013 differ: by 0.000732 at most and
	//   0.000184 in the root mean square, where the errors are 0.000307 and 0.000156.
}
