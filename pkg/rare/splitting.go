package rare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// Splitting is multilevel splitting for a black box of K independent parts of
// one law. Score is called concurrently.
//
// A pilot run chooses levels of which each is exceeded by a quarter of the
// samples beyond the last (Au & Beck 2001; Cérou & Guyader 2007), how many
// parts a move is to draw anew, and how often to move where that finds no way
// up. Then runs that know nothing of the pilot but these estimate the rate as
// the product of the shares that pass each level. A move draws neighbouring
// parts anew and is taken back if the score falls below the level: it leaves
// the law beyond the level as it is. Therefore each run is unbiased, however
// few moves there are (Del Moral 2004); their number decides on the variance
// alone, which the spread of the runs shows.
type Splitting[T any] struct {
	K     int
	Draw  func(r *rand.Rand) T
	Score func(parts []T) float64
}

// survivors is the share of samples beyond a level that pass the next: one in
// so many.
const survivors = 4

// A stage is a level with how those beyond it move: sizes of moves, in the
// proportions of their cumulated weights.
type stage struct {
	level   float64
	last    bool // the event is a score above the level, otherwise from the level on
	sizes   []int
	weights []float64
	rounds  int // of moves: more than one where the first found no way up
}

// mostRounds is the number of rounds of moves after which the pilot gives up.
const mostRounds = 32

func (s *stage) passed(score float64) bool {
	return score > s.level || !s.last && score == s.level
}

// size draws the size of a move.
func (s *stage) size(r *rand.Rand) int {
	u := r.Float64() * s.weights[len(s.weights)-1]
	return s.sizes[min(len(s.sizes)-1, slices.IndexFunc(s.weights, func(w float64) bool { return u < w }))]
}

// A sample is one state of the black box.
type sample[T any] struct {
	parts  []T
	score  float64
	family int // the number of the first draw from which it descends
}

// Exceeds estimates the probability that Score exceeds the threshold. The error
// is that of ctx. It panics if K is below 1 or the effort is invalid.
func (s Splitting[T]) Exceeds(ctx context.Context, threshold float64, e Effort) (Estimate, error) {
	if s.K < 1 {
		panic(fmt.Sprintf("rare: Splitting.K = %d, want K >= 1", s.K))
	}
	e = e.filled()
	var computed atomic.Int64
	var mu sync.Mutex
	done := 0
	step := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; e.Progress != nil {
			e.Progress(done, e.Runs+1)
		}
	}
	stages := s.pilot(ctx, threshold, e, &computed)
	step()
	rates, families := make([]float64, e.Runs), make([]int, e.Runs)
	parallel.Each(e.Runs, func(i int) {
		if ctx.Err() == nil {
			rates[i], families[i] = s.run(ctx, stages, uint64(i+1), e, &computed)
			step()
		}
	})
	if err := ctx.Err(); err != nil {
		return Estimate{}, err
	}
	z := estimate(rates)
	z.Seed, z.Samples = e.Seed, int(computed.Load())
	for _, n := range families {
		z.Effective += float64(n)
	}
	if end := stages[len(stages)-1]; !end.last {
		z.Level = min(end.level/threshold, math.Nextafter(1, 0)) // also where scores end at the threshold
	}
	return z, nil
}

// run returns the share of samples beyond the last stage, and the number of
// families among them.
func (s Splitting[T]) run(ctx context.Context, stages []stage, number uint64, e Effort, computed *atomic.Int64) (rate float64, families int) {
	all := s.first(number, e, computed)
	rate = 1
	for l := range stages {
		passed := beyond(all, &stages[l])
		rate *= float64(len(passed)) / float64(e.Samples)
		if len(passed) == 0 || ctx.Err() != nil {
			return 0, 0
		}
		if l == len(stages)-1 {
			return rate, familiesOf(passed)
		}
		all = resampled(passed, e, number, l)
		for round := range stages[l].rounds {
			s.move(all, &stages[l], number, l, round, e, computed, nil)
		}
	}
	return rate, familiesOf(all)
}

// pilot returns the stages, the last of which is that of the threshold unless
// the rate falls below the floor before, or no sample comes beyond a level.
func (s Splitting[T]) pilot(ctx context.Context, threshold float64, e Effort, computed *atomic.Int64) (stages []stage) {
	all, rate := s.first(0, e, computed), 1.0
	level := math.Inf(-1)
	for l := 0; ; l++ {
		next, ok := nextLevel(all, level)
		for l > 0 && !ok && stages[l-1].rounds < mostRounds && ctx.Err() == nil {
			last := &stages[l-1]
			s.move(all, last, 0, l-1, last.rounds, e, computed, nil)
			last.rounds++
			next, ok = nextLevel(all, level)
		}
		if next > threshold || ctx.Err() != nil {
			return append(stages, stage{level: threshold, last: true})
		}
		if !ok {
			break
		}
		z := stage{level: next, sizes: sizesOf(s.K), rounds: 1}
		level = next
		passed := beyond(all, &z)
		rate *= float64(len(passed)) / float64(e.Samples)
		z.weights = make([]float64, len(z.sizes))
		for i := range z.weights {
			z.weights[i] = float64(i + 1) // each size as often
		}
		tried, taken := make([]int64, len(z.sizes)), make([]int64, len(z.sizes))
		all = resampled(passed, e, 0, l)
		s.move(all, &z, 0, l, 0, e, computed, func(size int, accepted bool) {
			i := slices.Index(z.sizes, size)
			atomic.AddInt64(&tried[i], 1)
			if accepted {
				atomic.AddInt64(&taken[i], 1)
			}
		})
		sum := 0.0
		for i, size := range z.sizes { // by how many parts a move is expected to replace
			sum += float64(size) * float64(taken[i]+1) / float64(tried[i]+1)
			z.weights[i] = sum
		}
		stages = append(stages, z)
		if rate < e.Floor {
			break
		}
	}
	if len(stages) == 0 { // all scores are the same, and none exceeds the threshold
		return []stage{{level: threshold, last: true}}
	}
	return stages
}

// nextLevel returns the greatest score that a share of 1/survivors reaches, or
// the least above the level if that is not above it, and false if none is.
func nextLevel[T any](all []sample[T], level float64) (float64, bool) {
	scores := make([]float64, len(all))
	for i := range all {
		scores[i] = all[i].score
	}
	slices.Sort(scores)
	if next := scores[len(scores)-(len(scores)+survivors-1)/survivors]; next > level && next > scores[0] {
		return next, true
	}
	i := slices.IndexFunc(scores, func(x float64) bool { return x > max(level, scores[0]) })
	if i < 0 {
		return level, false
	}
	return scores[i], true
}

// sizesOf returns the powers of two up to n, and n.
func sizesOf(n int) (sizes []int) {
	for size := 1; size < n; size *= 2 {
		sizes = append(sizes, size)
	}
	return append(sizes, n)
}

// first returns the samples with which a run begins.
func (s Splitting[T]) first(number uint64, e Effort, computed *atomic.Int64) []sample[T] {
	all := make([]sample[T], e.Samples)
	parallel.Each(len(all), func(i int) {
		r := stream(e.Seed, number, 0, i)
		z := sample[T]{parts: make([]T, s.K), family: i}
		for j := range z.parts {
			z.parts[j] = s.Draw(r)
		}
		z.score = s.Score(z.parts)
		all[i] = z
	})
	computed.Add(int64(len(all)))
	return all
}

// beyond returns the samples that pass a stage.
func beyond[T any](all []sample[T], s *stage) (passed []sample[T]) {
	for _, z := range all {
		if s.passed(z.score) {
			passed = append(passed, z)
		}
	}
	return passed
}

// resampled returns as many samples as the effort has: copies of those given,
// as equally many of each as can be, and which have one more by lot.
func resampled[T any](passed []sample[T], e Effort, number uint64, level int) []sample[T] {
	r := stream(e.Seed, number, level+1, e.Samples)
	order := r.Perm(len(passed))
	all := make([]sample[T], e.Samples)
	for i := range all {
		z := passed[order[i%len(passed)]]
		z.parts = slices.Clone(z.parts)
		all[i] = z
	}
	return all
}

// move moves every sample beyond a stage in one round, and tells how each move
// ended unless tell is nil.
func (s Splitting[T]) move(all []sample[T], at *stage, number uint64, level, round int, e Effort, computed *atomic.Int64, tell func(size int, accepted bool)) {
	parallel.Each(len(all), func(i int) {
		r := stream(e.Seed, number|uint64(round)<<10, level+1, i)
		z := &all[i]
		kept := make([]T, s.K)
		for range e.Moves {
			size := at.size(r)
			begin := r.IntN(s.K)
			for j := range size {
				k := (begin + j) % s.K
				kept[j], z.parts[k] = z.parts[k], s.Draw(r)
			}
			score := s.Score(z.parts)
			accepted := at.passed(score)
			if accepted {
				z.score = score
			} else {
				for j := range size {
					z.parts[(begin+j)%s.K] = kept[j]
				}
			}
			if tell != nil {
				tell(size, accepted)
			}
		}
	})
	computed.Add(int64(len(all) * e.Moves))
}

// familiesOf returns the number of families among samples.
func familiesOf[T any](all []sample[T]) int {
	seen := map[int]bool{}
	for _, z := range all {
		seen[z.family] = true
	}
	return len(seen)
}

// stream returns the random numbers of one sample at one level of a run.
func stream(seed, number uint64, level, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, number<<48|uint64(level)<<24|uint64(i)))
}
