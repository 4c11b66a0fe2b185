package tcore

import (
	"runtime"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// tiling divides an M × N product of K terms into tiles of rows × columns sums.
// The rows of a tile are a group of rows of A, its columns a panel of columns
// of B, and depth terms of a panel, a chunk, stay in the cache while they are
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
	t.parts(func(groupLo, groupHi, panelLo, panelHi int) { t.eachOf(groupLo, groupHi, panelLo, panelHi, work) })
}

// eachOf is each for the tiles of some groups and panels, on this goroutine.
func (t tiling) eachOf(groupLo, groupHi, panelLo, panelHi int, work func(group, panel, lo, hi int)) {
	for panel := panelLo; panel < panelHi; panel++ {
		for lo := 0; lo < t.k; lo += t.depth {
			for group := groupLo; group < groupHi; group++ {
				work(group, panel, lo, min(lo+t.depth, t.k))
			}
		}
	}
}

// parts divides all tiles among GOMAXPROCS goroutines: it calls work once on
// each, with the groups and panels of its tiles.
func (t tiling) parts(work func(groupLo, groupHi, panelLo, panelHi int)) {
	if t.groups() >= runtime.GOMAXPROCS(0) {
		parallel.Ranges(t.groups(), func(lo, hi int) { work(lo, hi, 0, t.panels()) })
		return
	}
	parallel.Ranges(t.panels(), func(lo, hi int) { work(0, t.groups(), lo, hi) })
}

// load returns the sums before the first term, and the length of their rows: c
// rounded to f, or zeros if there is no c, padded with zeros to whole tiles. If
// tiles fit into z they are in z, otherwise in memory that store recycles.
func (t tiling) load(c, z blas32.General, f Format) (sums []float32, stride int) {
	sums, stride = z.Data, z.Stride
	if t.m%t.rows != 0 || t.n%t.columns != 0 {
		stride = t.stride()
		sums = tilingScratch.get(t.groups() * t.rows * stride)
	}
	parallel.Ranges(t.groups()*t.rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := sums[i*stride:][:t.stride()]
			if c.Data == nil || i >= t.m {
				clear(row)
				continue
			}
			roundRow(row[:t.n], matrix.Row(c, i), f)
			clear(row[t.n:])
		}
	})
	return sums, stride
}

// store stores the sums that load returned in z.
func (t tiling) store(z blas32.General, sums []float32) {
	if &sums[0] == &z.Data[0] {
		return
	}
	parallel.Ranges(t.m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(matrix.Row(z, i), sums[i*t.stride():])
		}
	})
	tilingScratch.put(sums)
}

// tilingScratch recycles the sums of finished products.
var tilingScratch scratch[float32]
