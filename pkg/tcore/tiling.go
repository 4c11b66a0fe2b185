package tcore

import (
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

// A block of tilingRows rows and tilingPanels panels is computed chunk by
// chunk: a chunk of its rows, and its sums, stay in the second cache for all
// its panels.
const (
	tilingRows   = 512
	tilingPanels = 4
)

// each calls work for every chunk of every tile, whose terms are [lo, hi): for
// one tile in the order of the terms, on one goroutine, and for different tiles
// on GOMAXPROCS goroutines.
func (t tiling) each(work func(group, panel, lo, hi int)) {
	t.parts(func(groupLo, groupHi, panelLo, panelHi int) { t.eachOf(groupLo, groupHi, panelLo, panelHi, work) })
}

// eachOf is each for the tiles of some groups and panels, on this goroutine.
func (t tiling) eachOf(groupLo, groupHi, panelLo, panelHi int, work func(group, panel, lo, hi int)) {
	block := max(1, tilingRows/t.rows)
	for firstGroup := groupLo; firstGroup < groupHi; firstGroup += block {
		for firstPanel := panelLo; firstPanel < panelHi; firstPanel += tilingPanels {
			for lo := 0; lo < t.k; lo += t.depth {
				for panel := firstPanel; panel < min(firstPanel+tilingPanels, panelHi); panel++ {
					for group := firstGroup; group < min(firstGroup+block, groupHi); group++ {
						work(group, panel, lo, min(lo+t.depth, t.k))
					}
				}
			}
		}
	}
}

// parts calls work for parts of all tiles, given by their groups and panels, on
// GOMAXPROCS goroutines.
func (t tiling) parts(work func(groupLo, groupHi, panelLo, panelHi int)) { t.divide(t.wide(), work) }

// wide reports whether B is larger than A, and panels are divided among cores,
// not groups: each core reads all of the other factor, from memory if it is in
// no cache.
func (t tiling) wide() bool { return t.n >= 2*t.m }

// divide is parts, with panels divided among cores, or groups.
func (t tiling) divide(panels bool, work func(groupLo, groupHi, panelLo, panelHi int)) {
	if panels {
		parallel.Grid(t.panels(), t.groups(), func(panelLo, panelHi, groupLo, groupHi int) { work(groupLo, groupHi, panelLo, panelHi) })
		return
	}
	parallel.Grid(t.groups(), t.panels(), work)
}

// eachTile calls work, which start returns for each part, for every tile.
// At most few groups, but one at least, are multiplied by all panels in turn.
func (t tiling) eachTile(few int, start func() (work func(group, panel int))) {
	few = max(few, 1)
	t.parts(func(groupLo, groupHi, panelLo, panelHi int) {
		work := start()
		for first := groupLo; first < groupHi; first += few {
			for panel := panelLo; panel < panelHi; panel++ {
				for group := first; group < min(first+few, groupHi); group++ {
					work(group, panel)
				}
			}
		}
	})
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

// load returns the sums before the first term, and the length of their rows: c
// rounded to f, or zeros if there is no c, padded with zeros to whole tiles. If
// tiles fit into z they are in z, otherwise in memory that store recycles.
func (t tiling) load(c, z blas32.General, f Format) (sums []float32, stride int) {
	if t.m%t.rows != 0 || t.n%t.columns != 0 {
		return t.loadBeside(c, f), t.stride()
	}
	t.fill(z.Data, z.Stride, c, f)
	return z.Data, z.Stride
}

// loadBeside is load into other memory than z, which may be c. The length of
// rows is stride. The caller puts it back in tilingScratch.
func (t tiling) loadBeside(c blas32.General, f Format) []float32 {
	sums := tilingScratch.get(t.groups() * t.rows * t.stride())
	t.fill(sums, t.stride(), c, f)
	return sums
}

// fill stores c rounded to f, or zeros if there is no c, in rows of sums that
// are stride apart, and zeros around it to whole tiles.
func (t tiling) fill(sums []float32, stride int, c blas32.General, f Format) {
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

// storeTile stores the sums of one tile, whose rows are stride apart, in z.
func (t tiling) storeTile(z blas32.General, sums []float32, stride, group, panel int) {
	i, j := group*t.rows, panel*t.columns
	n := min(t.columns, t.n-j)
	for r := range min(t.rows, t.m-i) {
		copy(matrix.Row(z, i+r)[j:], sums[r*stride:][:n])
	}
}

// tilingScratch recycles the sums of finished products.
var tilingScratch scratch[float32]
