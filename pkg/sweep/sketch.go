package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Sketch is a histogram of numbers that are not negative, from which
// quantiles are told to within 19 %: two bins to an octave, of the six octaves
// below the largest number. What lies below them is counted and not told apart.
// Sketches that are merged, in any order, are the sketch of all the numbers
// (Masson, Rim & Lee 2019, with the lowest bins collapsed).
type Sketch struct {
	top    int // the bin of the largest number: those from 2^(top/2) to 2^((top+1)/2)
	counts [bins]int
	below  int
}

const (
	bins      = 12
	perOctave = 2
)

// Add counts x. It panics if x is negative or NaN.
func (s *Sketch) Add(x float64) {
	if !(x >= 0) {
		panic(fmt.Sprintf("sweep: Add(%v), want x >= 0", x))
	}
	if x == 0 {
		s.below++
		return
	}
	s.count(int(math.Floor(perOctave*math.Log2(min(x, math.MaxFloat64)))), 1)
}

// count adds n numbers to a bin.
func (s *Sketch) count(bin, n int) {
	if s.counts[0] == 0 {
		s.top = bin
	}
	if up := bin - s.top; up > 0 {
		for i := bins - 1; i >= 0; i-- {
			c := s.counts[i]
			s.counts[i] = 0
			if i+up < bins {
				s.counts[i+up] = c
			} else {
				s.below += c
			}
		}
		s.top = bin
	}
	if i := s.top - bin; i < bins {
		s.counts[i] += n
	} else {
		s.below += n
	}
}

// Merge counts all that t has.
func (s *Sketch) Merge(t Sketch) {
	for i, n := range t.counts {
		if n > 0 {
			s.count(t.top-i, n)
		}
	}
	s.below += t.below
}

// Count returns how many numbers there are.
func (s Sketch) Count() int {
	n := s.below
	for _, c := range s.counts {
		n += c
	}
	return n
}

// Quantile returns the number that a share q of the numbers does not exceed, to
// within 19 %; 0 if it lies six octaves below the largest or lower, NaN if
// there are no numbers. It panics unless 0 <= q <= 1.
func (s Sketch) Quantile(q float64) float64 {
	if !(0 <= q && q <= 1) {
		panic(fmt.Sprintf("sweep: Quantile(%v), want 0 <= q <= 1", q))
	}
	n := s.Count()
	if n == 0 {
		return math.NaN()
	}
	above := n - max(1, int(math.Ceil(q*float64(n)))) // so many numbers are larger
	for i, c := range s.counts {
		if above -= c; above < 0 {
			return math.Exp2((float64(s.top-i) + 0.5) / perOctave)
		}
	}
	return 0
}

// String returns the sketch as ParseSketch reads it: the top bin, the counts
// from there down, and those below.
func (s Sketch) String() string {
	last := bins
	for last > 0 && s.counts[last-1] == 0 {
		last--
	}
	words := make([]string, last)
	for i := range words {
		words[i] = strconv.Itoa(s.counts[i])
	}
	return fmt.Sprintf("%d:%s|%d", s.top, strings.Join(words, " "), s.below)
}

// ParseSketch returns the sketch that String wrote.
func ParseSketch(text string) (Sketch, error) {
	var s Sketch
	const most = 1 << 50
	fail := fmt.Errorf("sweep: sketch %.60q, want top:counts|below", text)
	first, rest, ok := strings.Cut(text, ":")
	counts, below, ok2 := strings.Cut(rest, "|")
	top, err := strconv.Atoi(first)
	if !ok || !ok2 || err != nil || top < -perOctave*1100 || top > perOctave*1100 { // of numbers of binary64
		return s, fail
	}
	words := strings.Fields(counts)
	if len(words) > bins {
		return s, fail
	}
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > most || i == 0 && n == 0 {
			return s, fail
		}
		if n > 0 {
			s.count(top-i, n)
		}
	}
	n, err := strconv.Atoi(below)
	if err != nil || n < 0 || n > most {
		return s, fail
	}
	s.below += n
	return s, nil
}
