package quantisation

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseLaw returns the law of which s is the Name: [Uniform], "U(lo,hi)",
// [Normal], "N(mean,deviation)", or [Laplace], "Laplace(mean,scale)". The error
// says what s must be.
func ParseLaw(s string) (Law, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(s), "(")
	rest, closed := strings.CutSuffix(rest, ")")
	first, second, two := strings.Cut(rest, ",")
	law := map[string]func(x, y float64) Law{"U": Uniform, "N": Normal, "Laplace": Laplace}[name]
	if law == nil || !closed || !two {
		return Law{}, fmt.Errorf("quantisation: law %q, want U(lo,hi), N(mean,deviation) or Laplace(mean,scale)", s)
	}
	x, errX := strconv.ParseFloat(strings.TrimSpace(first), 64)
	y, errY := strconv.ParseFloat(strings.TrimSpace(second), 64)
	width := y
	if name == "U" {
		width = y - x
	}
	if errX != nil || errY != nil || math.IsNaN(x-x) || !(width > 0 && width <= math.MaxFloat64) {
		return Law{}, fmt.Errorf("quantisation: law %q, want finite numbers, lo < hi at a finite distance, deviation or scale > 0", s)
	}
	return law(x, y), nil
}
