package quantisation

import (
	"fmt"
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The moments of x and its error that nodes give are those of numbers at the
// midpoints of a fine grid, rounded one by one.
func TestNodesAreTheRoundedLaw(t *testing.T) {
	laws := []Law{Uniform(-1, 1), Uniform(0, 1), Uniform(-0.3, 1.7), Normal(0, 1).Truncated(-5, 5), Normal(1, 0.3).Truncated(-1, 3),
		Normal(0, 1e-3).Truncated(-5e-3, 5e-3), Laplace(0.5, 1).Truncated(-9, 10)}
	for _, c := range []struct {
		format tcore.Format
		scale  float64
	}{{tcore.E4M3, 1}, {tcore.E5M2, 1}, {tcore.E2M1, 0.125}, {tcore.E2M1, 0.8125}, {tcore.E4M3, 0x1p-9}, {tcore.BFloat16, 1}, {tcore.Binary16, 1}, {tcore.Binary16, 0x1p-15}} {
		format := c.format
		format.Overflow = tcore.Saturate
		for i, l := range laws {
			t.Run(fmt.Sprintf("%s×%v %s %d", format.Name, c.scale, l.Name, i), func(t *testing.T) {
				got := func() (m [6]float64) {
					for _, n := range l.nodes(c.format, c.scale, nil) {
						add(&m, n)
					}
					return m
				}()
				points := 1 << 20
				if testing.Short() && format.Bits() <= 8 {
					points = 1 << 17
				}
				lo, hi := l.bounds()
				var want [6]float64
				total := 0.0
				for i := range points {
					x := lo + (hi-lo)*(float64(i)+0.5)/float64(points)
					w := l.Density(x)
					total += w
					add(&want, node{x, format.Round(x/c.scale, tcore.ToNearestEven)*c.scale - x, w})
				}
				size := math.Sqrt(want[4] / total) // rms of the error
				for i, unit := range [6]float64{1, size, 1, size, size * size, size * size * size * size} {
					want := want[i] / total
					// A grid does not know where in its steps the edges of cells are, and on
					// binades the error is uniform but for terms of order u.
					tolerance := 2e-3
					if format.Bits() > 8 {
						tolerance = 1e-2
					}
					if math.Abs(got[i]-want) > tolerance*unit {
						t.Errorf("moment %d is %v, on the grid %v, unit %v", i, got[i], want, unit)
					}
				}
			})
		}
	}
}

// add adds to the moments of 1, δ, x², xδ, δ² and δ⁴.
func add(m *[6]float64, n node) {
	d := n.delta
	for i, x := range [6]float64{1, d, n.x * n.x, n.x * d, d * d, d * d * d * d} {
		m[i] += n.weight * x
	}
}

// The mean error of wide formats is of order u², and a random walk of millions
// of numbers sees it. Between numbers of the format its error is known exactly.
func TestMeanErrorOfBinades(t *testing.T) {
	for _, f := range []tcore.Format{tcore.BFloat16, tcore.Binary16} {
		for _, l := range []Law{Uniform(0, 1), Uniform(0, 1.25), Uniform(0.1, 1.3), Normal(1, 0.3).Truncated(0.25, 3)} {
			exact, total, mean := 0.0, 0.0, 0.0
			lo, hi := l.bounds()
			// The midpoints of neighbours, above 2^-20.
			edges := []float64{lo}
			for x := f.Round(max(lo, 0x1p-20), tcore.ToZero); x <= hi; {
				h := math.Ldexp(1, math.Ilogb(x)-f.Precision+1)
				if edge := x + h/2; edge > lo && edge < hi {
					edges = append(edges, edge)
				}
				x += h
			}
			edges = append(edges, hi)
			var cells []node
			for i, hi := range edges[1:] {
				cells = codeCell(cells, l, f, 1, edges[i], hi)
			}
			for _, n := range cells {
				exact += n.weight * n.delta
				total += n.weight
			}
			exact /= total
			for _, n := range l.nodes(f, 1, nil) {
				mean += n.weight * n.delta
			}
			u := f.UnitRoundoff()
			if math.Abs(mean-exact) > 1e-3*u*u {
				t.Errorf("%s, %s on [%v, %v]: mean error %.5g u², of cells %.5g u²", f.Name, l.Name, lo, hi, mean/(u*u), exact/(u*u))
			}
		}
	}
}
