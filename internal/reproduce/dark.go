package reproduce

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// card is what lies behind a figure in the dark: --card of page.html.
const card = "#1c2024"

var painted = regexp.MustCompile(`(fill|stroke)="(#[0-9A-Fa-f]{6})"`)

// Night returns the style that gives the figures their colours in the dark, a
// rule for each colour that one of them has.
func (r *Report) Night() template.CSS {
	rules := map[string]string{}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			for _, m := range painted.FindAllSubmatch(f.svg, -1) {
				property, colour := string(m[1]), string(m[2])
				rules[fmt.Sprintf(`.plate svg [%s="%s"]`, property, colour)] = property + ": " + dark(colour)
			}
		}
	}
	var b strings.Builder
	for _, selector := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&b, "  %s { %s; }\n", selector, rules[selector])
	}
	return template.CSS(b.String())
}

// dark returns the colour of the same hue that has the contrast with the dark
// card that the given one has with white, or white if that is not enough. So
// two colours keep the contrast that they have with one another.
func dark(colour string) string {
	want := (luminance(rgb(card)) + 0.05) * 1.05 / (luminance(rgb(colour)) + 0.05)
	if strings.EqualFold(colour, "#ffffff") {
		return card
	}
	low, high := 0.0, 2.0
	for range 40 {
		if mid := (low + high) / 2; luminance(shade(rgb(colour), mid))+0.05 < want {
			low = mid
		} else {
			high = mid
		}
	}
	c := shade(rgb(colour), high)
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(255*c[0])), int(math.Round(255*c[1])), int(math.Round(255*c[2])))
}

// shade returns black for t = 0, the colour for t = 1, white for t = 2, and
// mixtures of two of them between.
func shade(c [3]float64, t float64) [3]float64 {
	for i := range c {
		c[i] = c[i]*min(t, 2-t, 1) + max(t-1, 0)
	}
	return c
}

// rgb returns the red, green and blue of a colour such as #0072b2, from 0 to 1.
func rgb(colour string) (c [3]float64) {
	for i := range c {
		v, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8) // no error: painted matched it
		c[i] = float64(v) / 255
	}
	return c
}

// luminance returns the relative luminance of a colour, as the Web Content
// Accessibility Guidelines define it.
func luminance(c [3]float64) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := c[i] / 12.92
		if c[i] > 0.04045 {
			v = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
