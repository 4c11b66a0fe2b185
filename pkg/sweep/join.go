package sweep

import (
	"errors"
	"fmt"
	"strings"
)

// A Lack says what of a sweep its parts lack.
type Lack struct {
	Draws   int      // of the sweep
	Missing int      // of these, how many no part has
	Shards  []uint64 // the indices of shards of which there is no part
	Begun   []Part   // those that are not whole
}

// String returns what is missing, in words, as in 12 of 16 draws: shards 3,5
// are missing, shard 2/8 lacks 1; or all 16 draws if nothing is.
func (l Lack) String() string {
	if l.Missing == 0 {
		return fmt.Sprintf("all %d draws", l.Draws)
	}
	var why []string
	if len(l.Shards) > 0 {
		why = append(why, fmt.Sprintf("shards %s are missing", FormatSeeds(l.Shards)))
	}
	for _, p := range l.Begun {
		why = append(why, fmt.Sprintf("shard %v lacks %d", p.Shard, p.Missing()))
	}
	return fmt.Sprintf("%d of %d draws: %s", l.Draws-l.Missing, l.Draws, strings.Join(why, ", "))
}

// JoinParts returns the rows of the sweep whose shards the parts are, in any
// order: those that [Plan.Run] returns for its plans one after another, up to
// the digits that [Write] writes, and without times. They do not depend on how
// many shards there are. An error says which part is of another sweep or
// version, there twice, not whole, or missing.
func JoinParts(parts []Part) ([]Row, error) {
	by, lack, err := gather(parts)
	if err != nil {
		return nil, err
	}
	if len(lack.Begun) > 0 {
		p := lack.Begun[0]
		have := len(p.Draws)
		return nil, fmt.Errorf("sweep: %s has %d draws of %d, want all: the command that began shard %v goes on with it", p.File, have, have+p.Missing(), p.Shard)
	}
	if n := len(lack.Shards); n > 0 {
		return nil, fmt.Errorf("sweep: %d of %d shards are missing: %s", n, parts[0].Shard.Of, FormatSeeds(lack.Shards))
	}
	return by.rows()
}

// JoinSome returns the rows of the draws that the parts have, joined in the
// order of the sweep, and what they lack. Where nothing is missing the rows are
// those of [JoinParts]. An error says which part is of another sweep or
// version, or there twice.
func JoinSome(parts []Part) ([]Row, Lack, error) {
	by, lack, err := gather(parts)
	if err != nil {
		return nil, lack, err
	}
	rows, err := by.rows()
	return rows, lack, err
}

// gathered are parts of one sweep by the indices of their shards.
type gathered struct {
	first Part
	by    map[int]Part
}

// gather returns the parts of a sweep, and what they lack.
func gather(parts []Part) (g gathered, l Lack, err error) {
	if len(parts) == 0 {
		return g, l, errors.New("sweep: no shards, want all of a sweep")
	}
	g = gathered{parts[0], map[int]Part{}}
	for _, p := range parts {
		if err := g.first.Same(p); err != nil {
			return g, l, err
		}
		if q, twice := g.by[p.Shard.Index]; twice {
			return g, l, fmt.Errorf("sweep: %s and %s are both shard %v, want each once", q.File, p.File, p.Shard)
		}
		g.by[p.Shard.Index] = p
		if p.Missing() > 0 {
			l.Begun = append(l.Begun, p)
		}
		l.Missing -= len(p.Draws)
	}
	for _, p := range g.first.Plans {
		l.Draws += p.Draws()
	}
	l.Missing += l.Draws
	for i := 1; i <= g.first.Shard.Of; i++ {
		if _, ok := g.by[i]; !ok {
			l.Shards = append(l.Shards, uint64(i))
		}
	}
	return g, l, nil
}

// rows returns the rows of the draws that there are.
func (g gathered) rows() (rows []Row, err error) {
	number, of := 0, g.first.Shard.Of
	for _, p := range g.first.Plans {
		t := p.table()
		for u := range p.Draws() {
			if draws := g.by[number%of+1].Draws; number/of < len(draws) {
				if err := t.add(u, draws[number/of]); err != nil {
					return nil, err
				}
			}
			number++
		}
		if rows, err = Join(rows, t.rows()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
