package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseGenerator returns the distribution that text names: one factor for both
// matrices, or two factors with × or * between.
func parseGenerator(text string) (Generator, bool) {
	p := generatorText{text}
	x, ok := p.factor()
	if !ok {
		return Generator{}, false
	}
	if p.rest == "" {
		return x.times(x, x.name), true
	}
	if !p.take("×") && !p.take("*") {
		return Generator{}, false
	}
	y, ok := p.factor()
	if !ok || p.rest != "" {
		return Generator{}, false
	}
	return x.times(y, x.name+"×"+y.name), true
}

// A generatorText is the part of the name of a distribution that is yet to be
// parsed.
type generatorText struct{ rest string }

// take skips the word and the spaces around it if it comes next, and reports
// whether it did.
func (p *generatorText) take(word string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " "), word)
	if ok {
		p.rest = strings.TrimLeft(rest, " ")
	}
	return ok
}

// until reads and returns the text before the first of the letters.
func (p *generatorText) until(letters string) string {
	i := strings.IndexAny(p.rest, letters)
	if i < 0 {
		i = len(p.rest)
	}
	word := p.rest[:i]
	p.rest = p.rest[i:]
	return strings.TrimSpace(word)
}

// factor parses a factor.
func (p *generatorText) factor() (z factor, ok bool) {
	name := p.until("([,)]×*")
	w, ok := words[name]
	if !ok {
		return z, false
	}
	var written []string
	var x []float64
	var f []factor
	for i := range w.numbers + w.factors {
		if i == 0 && !p.take("(") && !p.take("[") || i > 0 && !p.take(",") {
			return z, false
		}
		if i < w.numbers {
			v, err := strconv.ParseFloat(p.until(",)]"), 64)
			if err != nil || !(math.Abs(v) <= math.MaxFloat32) { // elements are binary32
				return z, false
			}
			x, written = append(x, v), append(written, strconv.FormatFloat(v, 'g', -1, 64))
			continue
		}
		inner, ok := p.factor()
		if !ok {
			return z, false
		}
		f, written = append(f, inner), append(written, inner.name)
	}
	if len(written) > 0 {
		if !p.take(")") && !p.take("]") {
			return z, false
		}
		name = fmt.Sprintf("%s(%s)", name, strings.Join(written, ","))
	}
	if z, ok = w.make(x, f); ok {
		z.name, z.Distribution = name, z.Named(name)
	}
	return z, ok
}
