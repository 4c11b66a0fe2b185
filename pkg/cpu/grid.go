package cpu

import (
	"context"
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// Grid stores in d[in+j] the code of c[in+j] + Σ x[iK+k] y[jK+k] for every one
// of m vectors x and n vectors y: x has length mK, y has nK, c and d have mn.
// The codes are those of [Unit.Dots]; a tile of 16 × 16 results takes one
// instruction of a matrix unit. It returns the error of ctx. It panics if the
// lengths do not fit.
func (u *Unit) Grid(ctx context.Context, x, y, c, d []uint64) error {
	kernel, k := u.opened("Grid"), u.K()
	m, n := len(x)/k, len(y)/k
	if len(x) != m*k || len(y) != n*k || len(c) != m*n || len(d) != m*n {
		panic(fmt.Sprintf("cpu: Grid: x, y, c, d have %d, %d, %d, %d elements, want mK, nK, mn, mn with K = %d",
			len(x), len(y), len(c), len(d), k))
	}
	if kernel.run == nil { // it computes no tiles
		return u.rows(ctx, x, y, c, d)
	}
	panels := make([]uint16, whole(n, side)/side*tileSize)
	for j := range n {
		for l := range k {
			panels[j/side*tileSize+atPair(l, j%side)] = uint16(y[j*k+l])
		}
	}
	parallel.Ranges((m+side-1)/side, func(first, end int) {
		var t dots
		for i := first * side; i < min(end*side, m) && ctx.Err() == nil; i += side {
			rows := min(side, m-i)
			for r := range rows {
				for l := range k {
					t.a[r*2*tilePairs+l] = uint16(x[(i+r)*k+l])
				}
			}
			for j := 0; j < n; j += side {
				columns := min(side, n-j)
				for r := range rows {
					for s, v := range c[(i+r)*n+j:][:columns] {
						t.sums[r*side+s] = math.Float32frombits(uint32(v))
					}
				}
				kernel.run(&t.sums[0], 4*side, &t.a[0], &panels[j/side*tileSize], kernel.pairs)
				for r := range rows {
					for s := range columns {
						d[(i+r)*n+j+s] = uint64(math.Float32bits(t.sums[r*side+s]))
					}
				}
			}
		}
	})
	return ctx.Err()
}

// rows is Grid by single dot products, those of a vector x at a time.
func (u *Unit) rows(ctx context.Context, x, y, c, d []uint64) error {
	k := u.K()
	n := len(y) / k
	repeated := make([]uint64, len(y))
	for i := range len(x) / k {
		for j := range n {
			copy(repeated[j*k:], x[i*k:(i+1)*k])
		}
		if err := u.Dots(ctx, repeated, y, c[i*n:(i+1)*n], d[i*n:(i+1)*n]); err != nil {
			return err
		}
	}
	return ctx.Err()
}
