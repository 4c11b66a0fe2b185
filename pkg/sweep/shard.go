package sweep

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// A Shard is one of the parts into which a sweep is divided, each for a
// computer: shard Index of Of, 1 ≤ Index ≤ Of. Of the draws of all its plans,
// numbered from 1, it has the draws Index, Index + Of, Index + 2 Of, ….
type Shard struct{ Index, Of int }

// ParseShard returns the shard that String writes, as in 3/16. An error says
// that s is none.
func ParseShard(s string) (Shard, error) {
	const most = 1_000_000
	index, of, _ := strings.Cut(s, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || i < 1 || n < i || n > most {
		return Shard{}, fmt.Errorf("sweep: shard %.40q, want one of how many, as in 3/16, a million at most", s)
	}
	return Shard{i, n}, nil
}

// String returns the shard in the form that ParseShard reads, as in 3/16.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// MarshalText returns String.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseShard.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// Draws returns how many of the given number of draws the shard has.
func (s Shard) Draws(all int) int { return (all - s.Index + s.Of) / s.Of }

// Run computes the draws of the plans that the shard has, in order, but for the
// first skip of them, and passes the rows of each to keep, those of each
// machine with its row of errors first. The rows depend on the plan and the
// draw alone: not on the shard, nor on the time that products take, which they
// leave out. It calls progress, unless that is nil, with the work done and the
// total, in units of K. An error is that of keep, says that ctx has ended, or
// that a product could not be judged.
//
// It panics as [Plan.Run] does.
func (s Shard) Run(ctx context.Context, plans []Plan, skip int, keep func(rows []Row) error, progress func(done, total int)) error {
	predicted := map[[2]int][][]Prediction{} // of a plan and a distribution, for every machine and K
	return s.run(ctx, plans, skip, func(of, u int, rows []Row) error {
		p := plans[of]
		for i := range rows {
			rows[i].Product, rows[i].Exact = 0, 0
		}
		if l, h, seed := p.Grid().at(u); p.Predict && seed == 0 {
			at := [2]int{of, l}
			if predicted[at] == nil {
				all, err := p.predictionsOf(ctx, l)
				if err != nil {
					return err
				}
				predicted[at] = all
			}
			machine := 0
			for i := range rows {
				if rows[i].Bound == ErrorRow {
					rows[i].Predicted = predicted[at][machine][h]
					machine++
				}
			}
		}
		return keep(rows)
	}, progress)
}

// run is Run without predictions and with the times; keep also gets the index
// of the plan and the number of the draw in it, from 0.
func (s Shard) run(ctx context.Context, plans []Plan, skip int, keep func(of, u int, rows []Row) error, progress func(done, total int)) error {
	units := make([][]unit, len(plans))
	var todo [][2]int // plan and draw
	total, number := 0, 0
	for i, p := range plans {
		p.check()
		var err error
		if units[i], err = p.units(); err != nil {
			return err
		}
		g := p.Grid()
		for u := range g.Draws() {
			if number++; number%s.Of != s.Index%s.Of {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			_, h, _ := g.at(u)
			total += p.Ks[h] * len(units[i])
			todo = append(todo, [2]int{i, u})
		}
	}
	var mu sync.Mutex
	done := 0
	for _, at := range todo {
		of, u := at[0], at[1]
		p := plans[of]
		_, h, _ := p.Grid().at(u)
		rows, err := p.measureDraw(ctx, units[of], u, func() {
			mu.Lock()
			defer mu.Unlock()
			if done += p.Ks[h]; ctx.Err() == nil && progress != nil {
				progress(done, total)
			}
		})
		if err == nil {
			err = keep(of, u, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
