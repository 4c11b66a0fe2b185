package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// groupStrip is the memory of one goroutine for the tiles of some groups of
// rows and one panel.
type groupStrip struct {
	*groupProduct
	c, z    blas32.General
	sums    []float32 // of a tile after the other, divided by powers of two
	t, tile []float32 // memory of run, and a tile at the edge of z
	proved  []bool    // the tiles for which nothing is cut off
}

func newGroupStrip(p *groupProduct, c, z blas32.General, groups int) *groupStrip {
	size := groupRows * p.columns
	w := &groupStrip{groupProduct: p, c: c, z: z, proved: make([]bool, groups)}
	w.sums = groupScratch.sums.get((groups + groupDepth + 1) * size)
	w.t, w.tile = w.sums[groups*size:][:groupDepth*size], w.sums[(groups+groupDepth)*size:]
	return w
}

func (w *groupStrip) release() { groupScratch.sums.put(w.sums) }

// sumsOf returns the sums of tile l of the strip.
func (w *groupStrip) sumsOf(l int) []float32 {
	size := groupRows * w.columns
	return w.sums[l*size:][:size]
}

// compute computes the tiles of the groups [lo, hi) and a panel.
func (w *groupStrip) compute(lo, hi, panel int) {
	columns, blocks := w.columns, w.k/groupBlock
	each := groupBlock / w.d.ScaleBlock // groups in a block
	for l := range hi - lo {
		w.proved[l] = w.load(l, lo+l, panel)
	}
	proved, wide := 0, 0 // blocks of tiles
	for block := 0; block < blocks; block += groupDepth {
		n := min(groupDepth, blocks-block)
		b := &w.quadsB[panel*columns*w.k+block*groupBlock*columns]
		bs := &w.scalesB[(panel*w.scales+block*each)*2*columns]
		for l := range hi - lo {
			if !w.proved[l] {
				continue
			}
			a := &w.quadsA[(lo+l)*groupRows*w.k+block*groupBlock*groupRows]
			as := &w.scalesA[((lo+l)*w.scales+block*each)*2*groupRows]
			sums, z, stride := &w.sumsOf(l)[0], w.destination(lo+l, panel), 4*w.z.Stride
			if w.kernel.run(sums, a, as, b, bs, n, &w.t[0], z, stride) != 0 {
				w.kernel.wide(sums, a, as, b, bs, n)
				wide += n
			}
			proved += n
			if block+n == blocks {
				w.store(l, lo+l, panel)
			}
		}
	}
	groupPath.count(groupRows, proved*groupBlock, columns)
	groupWidePath.count(groupRows, wide*groupBlock, columns)
	for l := range hi - lo {
		if !w.proved[l] && !w.cutTile(lo+l, panel) {
			w.scalar(lo+l, panel)
		}
	}
}

// destination returns the first element of a tile in z.
func (w *groupStrip) destination(group, panel int) *float32 {
	return &w.z.Data[group*groupRows*w.z.Stride+panel*w.columns]
}

// tileSize returns the numbers of rows and columns of a tile that are in z.
func (w *groupStrip) tileSize(group, panel int) (rows, columns int) {
	return min(groupRows, w.m-group*groupRows), min(w.columns, w.n-panel*w.columns)
}

// load stores C / 2^least in the sums of tile l and reports whether it is
// proved that nothing is cut off if they begin so.
func (w *groupStrip) load(l, group, panel int) bool {
	limit := exp2(w.reach()+1) - w.bound(group, panel)
	if !(limit > 0) {
		return false
	}
	sums := w.sumsOf(l)
	clear(sums)
	if w.c.Data == nil {
		return true
	}
	rows, columns := w.tileSize(group, panel)
	for r := range rows {
		i, j := group*groupRows+r, panel*w.columns
		for c, v := range matrix.Row(w.c, i)[j : j+columns] {
			x := float64(v) * exp2(-int(w.a.vectors[i].least)-int(w.b.vectors[j+c].least))
			if y := x * exp2(w.fraction()); !(math.Abs(x) < limit) || y != math.Trunc(y) {
				return false
			}
			sums[r*w.columns+c] = float32(x)
		}
	}
	return true
}

// store stores tile l.
func (w *groupStrip) store(l, group, panel int) {
	rows, columns := w.tileSize(group, panel)
	x, y := &w.a.powers[group*groupRows], &w.b.powers[panel*w.columns]
	sums := &w.sumsOf(l)[0]
	if rows == groupRows && columns == w.columns {
		w.kernel.scale(w.destination(group, panel), 4*w.z.Stride, sums, x, y)
		return
	}
	w.kernel.scale(&w.tile[0], 4*w.columns, sums, x, y)
	w.storeTile(w.z, w.tile, w.columns, group, panel)
}

// scalar computes a tile without vectors.
func (w *groupStrip) scalar(group, panel int) {
	rows, columns := w.tileSize(group, panel)
	groupScalarPath.count(rows, w.source[0].Cols, columns)
	i0, j0 := group*groupRows, panel*w.columns
	var y, scaleY [][]float64
	for c := range columns {
		v, s := w.d.decodeVector(w.d.B, w.source[1], j0+c, true)
		y, scaleY = append(y, v), append(scaleY, s)
	}
	for i := i0; i < i0+rows; i++ {
		x, scaleX := w.d.decodeVector(w.d.A, w.source[0], i, false)
		for c := range columns {
			start := 0.0
			if w.c.Data != nil {
				start = w.d.C.Round(float64(w.c.Data[i*w.c.Stride+j0+c]), ToNearestEven)
			}
			w.z.Data[i*w.z.Stride+j0+c] = float32(w.d.chain(x, y[c], scaleX, scaleY[c], start, nil))
		}
	}
}
