package tolerance

import (
	"fmt"
	"math"
	"slices"
)

// A stretch is a range of K, products lo to hi-1, that counts factor times in
// place of once.
type stretch struct {
	lo, hi int
	factor float64
	misfit float64 // the mean square of what it leaves, in tolerances
}

// words returns what became of the products, of k.
func (z stretch) words(k int) string {
	what := ""
	switch {
	case math.Abs(z.factor) < 0.02 && z.hi == k && z.lo > 0:
		return fmt.Sprintf("the last %d of %d products are missing, from %d on", z.hi-z.lo, k, z.lo)
	case math.Abs(z.factor) < 0.02:
		what = "missing"
	case math.Abs(z.factor-2) < 0.02:
		what = "counted twice, or have twice the scale"
	default:
		what = "multiplied by " + factor(z.factor)
	}
	if z.hi == z.lo+1 {
		return fmt.Sprintf("product %d of %d is %s", z.lo, k, what)
	}
	return fmt.Sprintf("products %d to %d of %d are %s", z.lo, z.hi-1, k, what)
}

// mostSampled is how many of the outputs beyond are looked at first.
const mostSampled = 24

// stretches are the lengths of ranges of K that are looked for, at multiples of
// them: one product, blocks of instructions and blocks with one scale.
var stretches = []int{1, 8, 16, 32, 64, 128, 256, 512}

// products finds products that are missing, count twice or have a wrong scale:
// a tail of K of any length, and blocks. What is missing from one row alone, or
// from one column, is looked for there.
func (s suspicion) products() (found []Cause) {
	groups := [][]Element{s.beyond}
	for _, lines := range []map[int][]Element{s.linesOf(false), s.linesOf(true)} {
		if len(lines) > 1 && len(lines) <= 4 {
			for _, i := range sorted(lines) {
				groups = append(groups, lines[i])
			}
		}
	}
	for _, group := range groups {
		if len(group) < fewestOutputs {
			continue
		}
		z, ok := s.stretch(group)
		if !ok {
			continue
		}
		inGroup := map[[2]int]bool{}
		for _, e := range group {
			inGroup[[2]int{e.Row, e.Column}] = true
		}
		c := s.share("dropped", z.words(s.t.A.Cols), func(e Element) bool {
			if !inGroup[[2]int{e.Row, e.Column}] {
				return false
			}
			return near(e, e.Want+(z.factor-1)*s.sum(e, z.lo, z.hi), e.Limit)
		})
		if math.Abs(z.factor) >= 0.02 && math.Abs(z.factor-2) >= 0.02 {
			c.Name = "scale"
		}
		row, column := group[0].Row, group[0].Column
		same := func(of func(Element) int, i int) bool {
			return !slices.ContainsFunc(group, func(e Element) bool { return of(e) != i })
		}
		switch {
		case s.want.Rows > 1 && same(func(e Element) int { return e.Row }, row):
			c.Words += fmt.Sprintf(", in row %d of A", row)
		case s.want.Cols > 1 && same(func(e Element) int { return e.Column }, column):
			c.Words += fmt.Sprintf(", in column %d of B", column)
		}
		found = append(found, c)
	}
	return found
}

// sum returns products lo to hi-1 of an output, added in binary64.
func (s suspicion) sum(e Element, lo, hi int) (z float64) {
	a, b := s.t.A, s.t.B
	for l := lo; l < hi; l++ {
		z += float64(a.Data[e.Row*a.Stride+l]) * float64(b.Data[l*b.Stride+e.Column])
	}
	return z
}

// stretch returns the range of K that explains a sample of outputs best, and
// whether it explains all of them.
func (s suspicion) stretch(group []Element) (best stretch, ok bool) {
	n, k := min(mostSampled, len(group)), s.t.A.Cols
	sample, sums := make([]Element, n), make([][]float64, n) // sums[i][l] are the first l products
	for i := range sample {
		e := group[i*len(group)/n]
		if e.Error-e.Error != 0 {
			return best, false
		}
		e.Limit = max(e.Limit, math.Abs(e.Want)*0x1p-24, math.SmallestNonzeroFloat64) // emulated outputs have no other
		sample[i], sums[i] = e, make([]float64, k+1)
		for l := range k {
			sums[i][l+1] = sums[i][l] + s.sum(e, l, l+1)
		}
	}
	best.misfit = math.Inf(1)
	try := func(lo, hi int, missing bool) {
		z := stretch{lo: lo, hi: hi}
		if !missing {
			xy, xx := 0.0, 0.0
			for i, e := range sample {
				p := sums[i][hi] - sums[i][lo]
				xy, xx = xy+(e.Got-e.Want)/e.Limit*(p/e.Limit), xx+p/e.Limit*(p/e.Limit)
			}
			if xx == 0 {
				return
			}
			z.factor = 1 + xy/xx
		}
		for i, e := range sample {
			left := (e.Got - e.Want - (z.factor-1)*(sums[i][hi]-sums[i][lo])) / e.Limit
			if math.Abs(left) > slack {
				return
			}
			z.misfit += left * left
		}
		if z.misfit < best.misfit*0.99 {
			best = z
		}
	}
	for lo := k - 1; lo > 0; lo-- {
		try(lo, k, true)
	}
	for _, length := range stretches {
		for lo := 0; lo < k && length < k; lo += length {
			try(lo, min(k, lo+length), false)
		}
	}
	return best, !math.IsInf(best.misfit, 1)
}
