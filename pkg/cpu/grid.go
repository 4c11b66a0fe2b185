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
// instruction of a matrix unit, and 32 results one of VFMADD231PH. It returns
// the error of ctx. It panics if the lengths do not fit.
func (u *Unit) Grid(ctx context.Context, x, y, c, d []uint64) error {
	kernel, k := u.opened("Grid"), u.K()
	m, n := len(x)/k, len(y)/k
	if len(x) != m*k || len(y) != n*k || len(c) != m*n || len(d) != m*n {
		panic(fmt.Sprintf("cpu: Grid: x, y, c, d have %d, %d, %d, %d elements, want mK, nK, mn, mn with K = %d",
			len(x), len(y), len(c), len(d), k))
	}
	switch {
	case kernel.bytes != nil:
		return kernel.bytes.grid(ctx, m, n, x, y, c, d)
	case kernel.lanes != nil:
		return kernel.laneGrid(ctx, x, y, c, d)
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

// grid is Grid of integers, in tiles of 32 × 32 results.
func (k *tileKernel[E]) grid(ctx context.Context, m, n int, x, y, c, d []uint64) error {
	parallel.Ranges(parts(m, width), func(lo, hi int) {
		var t byteDots
		for i := lo * width; i < min(hi*width, m) && ctx.Err() == nil; i += width {
			rows := min(width, m-i)
			for r := range rows {
				t.setRow(r, x[(i+r)*k.terms:][:k.terms])
			}
			for j := 0; j < n; j += width {
				columns := min(width, n-j)
				for s := range columns {
					t.setColumn(s, y[(j+s)*k.terms:][:k.terms])
				}
				for r := range rows {
					for s, v := range c[(i+r)*n+j:][:columns] {
						t.sums[r*width+s] = int32(uint32(v))
					}
				}
				t.run(k.blocks)
				for r := range rows {
					for s := range columns {
						d[(i+r)*n+j+s] = uint64(uint32(t.sums[r*width+s]))
					}
				}
			}
		}
	})
	return ctx.Err()
}

// laneGrid is Grid of an instruction that adds one product to each lane: a
// vector x and the vectors y of 32 lanes at a time.
func (k *kernel) laneGrid(ctx context.Context, x, y, c, d []uint64) error {
	n := len(y)
	parallel.Ranges(len(x), func(lo, hi int) {
		var sums, u, v [lanes]uint16
		for j := 0; j < n && ctx.Err() == nil; j += lanes {
			columns := min(lanes, n-j)
			for s, code := range y[j:][:columns] {
				v[s] = uint16(code)
			}
			for i := lo; i < hi; i++ {
				from, to := c[i*n+j:][:columns], d[i*n+j:][:columns]
				for s, code := range from {
					sums[s], u[s] = uint16(code), uint16(x[i])
				}
				k.lanes(&sums[0], &u[0], &v[0], 1)
				for s := range to {
					to[s] = uint64(sums[s])
				}
			}
		}
	})
	return ctx.Err()
}
