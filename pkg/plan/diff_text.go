package plan

import (
	"fmt"
	"math"
	"strings"
)

// String tells the difference in words and numbers.
func (d Difference) String() string {
	e := &explanation{}
	if d.Equal {
		e.line(0, "For K = %d both compute the same, whatever the products are.", d.K)
		return e.String()
	}
	for _, w := range d.Words {
		e.line(0, "%s", w)
	}
	e.line(0, "")
	if z := d.Example; z == nil {
		e.line(0, "No difference was found in %d inputs. That proves nothing.", d.Tried)
	} else {
		e.line(0, "An input that shows it, of %s that are not 0, after %d were tried:", plural(len(z.At), "product", "products"), d.Tried)
		for i, at := range z.At {
			if i == 8 && len(z.At) > 9 {
				e.line(1, "and %d more", len(z.At)-i)
				break
			}
			e.line(1, "x%d y%d = %v × %v", at, at, z.X[i], z.Y[i])
		}
		e.line(0, "The results are %v and %v.", z.P, z.Q)
	}
	e.line(0, "")
	s := d.Random
	if s.Dots > 0 {
		e.line(0, "Of %d sums of products of normal factors, of deviation 1, %d differ: by %.3g at most and %s in the root mean square, where the errors are %s and %s.",
			s.Dots, s.Differ, s.Largest, small(s.RMS), small(s.ErrorP), small(s.ErrorQ))
	}
	return strings.TrimLeft(e.String(), "\n")
}

func small(x float64) string {
	if math.IsNaN(x) {
		return "not finite"
	}
	return fmt.Sprintf("%.3g", x)
}
