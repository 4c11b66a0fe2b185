package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Sketch is a histogram of nonnegative numbers that gives their quantiles to
// within 19 %. It has two bins to an octave, for the six octaves below the
// largest number. Smaller numbers are only counted. Merging sketches, in any
// order, gives the sketch of all the numbers (Masson, Rim & Lee 2019, with the
// lowest bins collapsed).
type Sketch struct {
	top    int // the bin of the largest number: from 2^(top/2) to 2^((top+1)/2)
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

// Merge adds all numbers that t counts.
func (s *Sketch) Merge(t Sketch) {
	for i, n := range t.counts {
		if n > 0 {
			s.count(t.top-i, n)
		}
	}
	s.below += t.below
}

// Count returns the number of numbers added.
func (s Sketch) Count() int {
	n := s.below
	for _, c := range s.counts {
		n += c
	}
	return n
}

// Quantile returns the q-quantile of the numbers, to within 19 %: a share q of
// them does not exceed it. It returns 0 if the quantile lies at least six
// octaves below the largest number, and NaN if there are no numbers. It panics
// unless 0 <= q <= 1.
func (s Sketch) Quantile(q float64) float64 {
	if !(0 <= q && q <= 1) {
		panic(fmt.Sprintf("sweep: Quantile(%v), want 0 <= q <= 1", q))
	}
	n := s.Count()
	if n == 0 {
		return math.NaN()
	}
	above := n - max(1, int(math.Ceil(q*float64(n)))) // how many numbers are larger
	for i, c := range s.counts {
		if above -= c; above < 0 {
			return math.Exp2((float64(s.top-i) + 0.5) / perOctave)
		}
	}
	return 0
}

// String returns the sketch in the form that ParseSketch reads: the top bin,
// the counts from there down, and the number of smaller ones.
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

// ParseSketch returns the sketch that String wrote. An error says that text has
// not that form.
func ParseSketch(text string) (Sketch, error) {
	var s Sketch
	const most = 1 << 50
	fail := fmt.Errorf("sweep: sketch %.60q, want top:counts|below", text)
	first, rest, ok := strings.Cut(text, ":")
	counts, below, ok2 := strings.Cut(rest, "|")
	top, err := strconv.Atoi(first)
	// No number of binary64 has a bin beyond ±perOctave*1100.
	if !ok || !ok2 || err != nil || top < -perOctave*1100 || top > perOctave*1100 {
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
