package tcore

import (
	"runtime"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// tiling divides an M × N product of K terms into tiles of rows × columns sums.
// The rows of a tile are a group of rows of A, its columns a panel of columns of
// B, and depth terms of a panel, a chunk, stay in the cache while they are
// multiplied by all groups.
type tiling struct{ m, n, k, rows, columns, depth int }

func (t tiling) groups() int { return (t.m + t.rows - 1) / t.rows }
func (t tiling) panels() int { return (t.n + t.columns - 1) / t.columns }
func (t tiling) chunks() int { return (t.k + t.depth - 1) / t.depth }

// stride is the number of columns in whole panels.
func (t tiling) stride() int { return t.panels() * t.columns }

// each calls work for every chunk of every tile, whose terms are [lo, hi): for
// one tile in the order of the terms, on one goroutine, and for different tiles
// on GOMAXPROCS goroutines.
func (t tiling) each(work func(group, panel, lo, hi int)) {
	part := func(groupLo, groupHi, panelLo, panelHi int) {
		for panel := panelLo; panel < panelHi; panel++ {
			for lo := 0; lo < t.k; lo += t.depth {
				for group := groupLo; group < groupHi; group++ {
					work(group, panel, lo, min(lo+t.depth, t.k))
				}
			}
		}
	}
	if t.groups() >= runtime.GOMAXPROCS(0) {
		parallel.Ranges(t.groups(), func(lo, hi int) { part(lo, hi, 0, t.panels()) })
		return
	}
	parallel.Ranges(t.panels(), func(lo, hi int) { part(0, t.groups(), lo, hi) })
}

// eachTile calls work, which start returns for each goroutine, for every tile.
// At most few groups, but one at least, are multiplied by all panels in turn.
func (t tiling) eachTile(few int, start func() (work func(group, panel int))) {
	few = max(few, 1)
	part := func(groupLo, groupHi, panelLo, panelHi int) {
		work := start()
		for first := groupLo; first < groupHi; first += few {
			for panel := panelLo; panel < panelHi; panel++ {
				for group := first; group < min(first+few, groupHi); group++ {
					work(group, panel)
				}
			}
		}
	}
	if t.groups() >= runtime.GOMAXPROCS(0) {
		parallel.Ranges(t.groups(), func(lo, hi int) { part(lo, hi, 0, t.panels()) })
		return
	}
	parallel.Ranges(t.panels(), func(lo, hi int) { part(0, t.groups(), lo, hi) })
}

// loadTile stores the sums of a tile before the first term, zeros if there is
// no c and beyond its edges, in sums.
func (t tiling) loadTile(sums []float32, c blas32.General, group, panel int) {
	i, j := group*t.rows, panel*t.columns
	if c.Data == nil || i+t.rows > t.m || j+t.columns > t.n {
		clear(sums)
	}
	for r := 0; c.Data != nil && r < min(t.rows, t.m-i); r++ {
		copy(sums[r*t.columns:][:t.columns], matrix.Row(c, i+r)[j:])
	}
}

// storeTile stores the sums of a tile in z.
func (t tiling) storeTile(z blas32.General, sums []float32, group, panel int) {
	i, j := group*t.rows, panel*t.columns
	for r := range min(t.rows, t.m-i) {
		copy(matrix.Row(z, i+r)[j:], sums[r*t.columns:][:t.columns])
	}
}

// load returns the sums before the first term: c rounded to f, row by row,
// padded with zeros to whole tiles, or zeros if there is no c. The caller puts
// them back in tilingScratch.
func (t tiling) load(c blas32.General, f Format) []float32 {
	stride := t.stride()
	sums := tilingScratch.get(t.groups() * t.rows * stride)
	parallel.Ranges(t.groups()*t.rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := sums[i*stride : (i+1)*stride]
			if c.Data == nil || i >= t.m {
				clear(row)
				continue
			}
			roundRow(row[:t.n], matrix.Row(c, i), f)
			clear(row[t.n:])
		}
	})
	return sums
}

// store stores the sums in z.
func (t tiling) store(z blas32.General, sums []float32) {
	parallel.Ranges(t.m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(matrix.Row(z, i), sums[i*t.stride():])
		}
	})
}

// tilingScratch recycles the sums of finished products.
var tilingScratch scratch[float32]
