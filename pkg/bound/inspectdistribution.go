package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// oneDistribution tests every line against all elements of the matrix, by the
// mean of its ranks and by the share of its elements among the largest half,
// eighth, 32nd, ... of all. If all elements could be permuted, the elements of
// a line are drawn from all of them without replacement.
func (l lines) oneDistribution(f roundoff.Failure) []Finding {
	half := f.Split(2)
	name := "distribution of the " + l.name + "s of " + l.matrix
	if l.n == 1 {
		return []Finding{{Name: name, Tests: OneDistribution, Limit: 1, Power: nan, Words: "there is one " + l.name}}
	}
	size := l.distributionOf(name+" in size", math.Abs, half)
	// Multiplying normal numbers by 1 + x changes the mean rank of their sizes by
	// x/π.
	size.Power, size.Unit = size.Power*math.Pi, "relative difference in scale"
	value := l.distributionOf(name, func(x float64) float64 { return x }, half)
	// A shift by x standard deviations moves the mean rank by x/(2√π).
	value.Power *= 2 * math.Sqrt(math.Pi)
	return []Finding{value, size}
}

// distributionOf tests the distribution of a function of the elements. Its
// Power is a difference of ranks.
func (l lines) distributionOf(name string, of func(float64) float64, f roundoff.Failure) Finding {
	const elements = 1 << 22
	places := sample(rand.New(rand.NewPCG(dataSeed, 4)), l.k, max(elements/l.n, fewestTerms))
	cuts := l.cuts(places, of)
	histogram := func(i int, z []float64) {
		for _, k := range places {
			j, found := slices.BinarySearch(cuts, of(l.at(i, k)))
			if found {
				j++
			}
			z[j]++
		}
	}
	all := make([]float64, len(cuts)+1)
	for i := range l.n {
		histogram(i, all)
	}
	scores := scoresOf(all)
	each := f.Split(float64(l.n * len(scores)))
	z := Finding{Name: name, Tests: OneDistribution, Level: level(f), Limit: 1}
	n, worst := float64(len(places)), 0.0
	for j, s := range scores {
		limit := roundoff.Bernstein(n*s.variance, s.largest, each)
		if j == 0 {
			limit = min(limit, rankTail(n, each))
		}
		scores[j].limit = limit
		if j == 0 {
			z.Power = (limit + beyond*math.Sqrt(n*s.variance)) / n
		}
	}
	z.Words = "all are equal"
	line := make([]float64, len(all))
	for i := range l.n {
		clear(line)
		histogram(i, line)
		for _, s := range scores {
			sum := 0.0
			for b, count := range line {
				sum += count * s.of[b]
			}
			if s.limit == 0 {
				continue
			}
			if ratio := math.Abs(sum) / s.limit; ratio >= worst {
				worst, z.Statistic, z.Limit = ratio, math.Abs(sum)/n, s.limit/n
				z.Words = fmt.Sprintf("%s %d of %s is not as the others: its %s is %.2g off, at most %.2g if all are of one distribution",
					l.name, i+1, l.matrix, s.name, z.Statistic, z.Limit)
			}
		}
	}
	return z
}

// cuts returns numbers that divide the elements into parts of about equal size,
// and the largest elements into smaller parts. It uses all elements at these
// positions, or a random sample if they are many.
func (l lines) cuts(places []int, of func(float64) float64) []float64 {
	const most, parts = 1 << 18, 256
	n := l.n * len(places)
	x := make([]float64, 0, min(n, most))
	for _, e := range sample(rand.New(rand.NewPCG(dataSeed, 5)), n, most) {
		x = append(x, of(l.at(e/len(places), places[e%len(places)])))
	}
	slices.Sort(x)
	var cuts []float64
	for i := range parts {
		cuts = append(cuts, x[i*len(x)/parts])
	}
	for rest := len(x) / parts; rest > 0; rest /= 2 {
		cuts = append(cuts, x[len(x)-rest])
	}
	return slices.Compact(cuts)
}

// A score is a function of the part that an element belongs to. Its mean over
// all elements is 0.
type score struct {
	name              string
	of                []float64
	variance, largest float64
	limit             float64
}

// scoresOf returns the scores, given the number of elements in each part. The
// first score is the rank.
func scoresOf(count []float64) []score {
	total := 0.0
	for _, c := range count {
		total += c
	}
	rank, below := make([]float64, len(count)), 0.0
	for b, c := range count {
		rank[b] = (below + c/2) / total
		below += c
	}
	scores := []score{{name: "mean rank", of: rank}}
	for tail := 2.0; tail <= total; tail *= 4 {
		s := score{name: fmt.Sprintf("share of the largest 1/%v", tail), of: make([]float64, len(count))}
		above := 0.0
		for b := len(count) - 1; b >= 0; b-- {
			above += count[b]
			if above > total/tail+0.5 {
				break
			}
			s.of[b] = 1
		}
		scores = append(scores, s)
	}
	for i := range scores {
		scores[i].centre(count, total)
	}
	return scores
}

// centre subtracts the mean, and computes the variance and the largest size.
func (s *score) centre(count []float64, total float64) {
	mean := 0.0
	for b, c := range count {
		mean += c * s.of[b] / total
	}
	for b, c := range count {
		s.of[b] -= mean
		if c > 0 {
			s.variance += c * s.of[b] * s.of[b] / total
			s.largest = max(s.largest, math.Abs(s.of[b]))
		}
	}
}
