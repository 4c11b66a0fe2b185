package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/roundofflab/roundoff/pkg/plan"
)

func parse(t *testing.T, text string) plan.Plan {
	t.Helper()
	p, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An explanation tells the numbers of this K, and what is lost.
func TestExplanationsTellTheNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		k    int
		want []string
	}{
		{texts[1], 4096, []string{"K = 4096 is cut into 2 parts of 2048 products.", "A part of 2048: 128 instructions of 16 products", "more than 25 bits below it", "toward zero to binary32.", "The 2 sums are added from left to right, in binary32 to nearest.", "rounded once, to nearest, to binary16;", "at most 128 instructions, each of which truncates to 25 bits, and 1 addition to nearest", "All take 256 instructions in 2 accumulators, and 1 addition.", "No product is lost."}},
		{texts[2], 5000, []string{"3 parts: 2 of 2048 products and 1 of 904.", "A part of 904 is cut into 8 parts: 7 of 128 products and 1 of 8.", "A part of 8: one instruction on all of it.", "13 bits below", "toward zero to e8m13", "4 instructions, each", "17 additions to nearest"}},
		{texts[4], 2050, []string{"1 of 2.", "sum so far is rounded to nearest to binary16, the first sum too."}},
		{texts[3], 100, []string{"K = 100: 1 instruction of 4 products, then 12 of 8", "The 4 products that tiles of 32 leave over come first."}},
		{texts[5], 2000, []string{"Each sum is rounded to nearest to bfloat16 before it is added.", "by one FMA in binary32, after beta C is rounded."}},
		{texts[6], 1000, []string{"The 2 sums are added from left to right, from +0,", "A part of 256: 256 FMAs, one"}},
		{texts[7], 1000, []string{"They take turns, 4 products at a time: the first has 0 … 3, then 128 … 131,", "in pairs at distances 16, 8, 4, 2 and 1"}},
		{texts[9], 40000, []string{"148 parts: 8 of 512 products, 1 of 320 and 139 of 256.", "The 148 sums are added to 128 sums: number t is t, t + 128,", "The 4 values are added from left to right", "the first has 0 and 1, then 256 and 257,", "2 FMAs and 21 additions"}},
		{"hopper-wgmma-binary16-binary32 | parts 9 grain 64 floor", 8648, []string{"9 parts of 960 products. What lies beyond, 8 products, is in no part and LOST.", "8 products are LOST, of 8648:"}},
		{texts[11], 300, []string{"each times its scales fl(sa × sb), by one FMA", "3 additions to nearest"}},
		{texts[8], 20, []string{"32 parts: 20 of 1 product and 12 empty.", "An empty part is +0."}},
		{"hopper-mma-e4m3-binary32", 32, []string{"two of half its products, from +0: each aligns"}},
		{"ieee-fma-binary16-binary32 | at 1,3,7,12,20,35", 60, []string{"7 parts: 1 of 1 product, 1 of 2, 1 of 4, 1 of 5 and others, 7 in all.", "4 further lengths alike."}},
	} {
		got := strings.Join(strings.Fields(plan.Explain(parse(t, c.text), c.k)), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s, %d: no %q in\n%s", c.text, c.k, want, got)
			}
		}
	}
	if got := plan.Explain(parse(t, "ieee-fma-binary16-binary32 | at 1,3,7,12,20,35"), 60); strings.Count(got, "A part of ") != 3 {
		t.Errorf("want three lengths of parts in\n%s", got)
	}
	for _, text := range texts {
		for line := range strings.Lines(plan.Explain(parse(t, text), 12345)) {
			if utf8.RuneCountInString(line) > 101 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%s: %q", text, line)
			}
		}
	}
}

// Two slices of K, as words.
func ExampleExplain() {
	p, err := plan.Parse("hopper-wgmma-binary16-binary32 | every 2048 > binary16")
	if err != nil {
		panic(err)
	}
	fmt.Print(plan.Explain(p, 4096))
	// Output:
	// K = 4096 is cut into 2 parts of 2048 products.
	//   A part of 2048: 128 instructions of 16 products, one after the other on one accumulator.
	//   The accumulator starts at +0. An instruction aligns its products and the accumulator to the
	//     greatest exponent, cuts off what is more than 25 bits below it, adds exactly, and rounds the sum
	//     toward zero to binary32.
	// The 2 sums are added from left to right, in binary32 to nearest.
	// The result is rounded once, to nearest, to binary16; alpha and beta C are applied in binary32
	//   before, each operation to nearest.
	//
	// A product meets at most 128 instructions, each of which truncates to 25 bits, and 1 addition to
	//   nearest on its way, then the rounding of the result.
	// All take 256 instructions in 2 accumulators, and 1 addition.
	// No product is lost.
}

// A promotion every 128 products bounds what one of them meets.
func ExamplePlan_Size() {
	for _, text := range []string{"hopper-wgmma-e4m3-binary32", "hopper-wgmma-e4m3-binary32 | every 128"} {
		p, err := plan.Parse(text)
		if err != nil {
			panic(err)
		}
		s := p.Size(16384)
		fmt.Println(s.MostInstructions, s.MostAdditions, s.Instructions, s.Additions)
	}
	// Output:
	// 512 0 512 0
	// 4 127 512 127
}

// A warp takes turns of 4 products for each of its 32 lanes.
func ExamplePlan_Levels() {
	p, err := plan.Parse("ieee-fma-binary16-binary32 | lanes 32 vector 4 + butterfly | every 2048")
	if err != nil {
		panic(err)
	}
	for _, l := range p.Levels(5000) {
		fmt.Println(l.Products, l.Groups, l.Vector, l.Lost)
	}
	// Output:
	// 5000 [{2 2048} {1 904}] 0 0
	// 2048 [{32 64}] 4 0
	// 64 [{64 1}] 0 0
}
