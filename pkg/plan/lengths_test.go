package plan

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Lengths counts what the cut makes of positions, and Instructions the blocks
// of the steps.
func TestLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		n := 1 + rng.IntN(300)
		c := []Cut{
			{Length: 1 + rng.IntN(80)}, {Count: 1 + rng.IntN(9), Grain: rng.IntN(20)}, {Count: 1 + rng.IntN(9), Grain: rng.IntN(20), Floor: true},
			{Lanes: 1 + rng.IntN(9), Vector: rng.IntN(12) - 4}, {Lanes: 1 + rng.IntN(9), Nominal: 1 + rng.IntN(300)}, {At: []int{1 + rng.IntN(50), 60 + rng.IntN(300)}},
		}[rng.IntN(6)]
		var want []int
		for _, part := range c.of(positions(n)) {
			want = append(want, len(part))
		}
		if got := c.Lengths(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v of %d: %v, want %v", c, n, got, want)
		}
		r := Run{Device: devices.HopperF16(), Group: 1 + rng.IntN(16)}
		r.Tile = r.Group * rng.IntN(5)
		steps := r.steps(positions(n))
		blocks, short, width := 0, false, r.Device.BlockTerms()
		for start := 0; start < len(steps); start += width {
			blocks++
			products := 0
			for _, k := range steps[start:min(start+width, len(steps))] {
				if k != padding {
					products++
				}
			}
			short = short || products < r.Group && start+width < len(steps)
		}
		if got, gotShort := r.Instructions(n); got != blocks || gotShort != short {
			t.Fatalf("Group %d, Tile %d, %d: %d, %v, want %d, %v", r.Group, r.Tile, n, got, gotShort, blocks, short)
		}
	}
}
