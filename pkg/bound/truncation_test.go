package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// truncating are the machines of the tables, and the laws of their data.
var (
	truncating = []tcore.Device{tcore.VoltaF16, tcore.AmpereF16, tcore.HopperF16, tcore.HopperE4M3, tcore.HopperF16F16, tcore.AmpereBF16, tcore.HopperTF32}
	laws       = []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1), Uniform(1, 2)}
)

// A tightness is what a bound made of a run: the largest error over the bound, and over its
// radius the largest distance from its centre.
type tightness struct{ bound, radius float64 }

// measure puts every bound that reads a run to one, M rows of a product of 1024 × 8.
func measure(t *testing.T, d tcore.Device, K, M int, law Distribution, seed uint64) map[string]tightness {
	t.Helper()
	k := on(d)
	k.K, k.M = K, M
	rng := rand.New(rand.NewPCG(seed, uint64(K)))
	run, err := Emulate(k, draw(rng, M, K, law), draw(rng, K, k.N, law))
	if err != nil {
		t.Fatal(err)
	}
	k.M, k.X, k.Y = 1024, law, law
	worst, largest := map[string]tightness{}, map[string]float64{}
	for o := range run {
		e := Exact.Output(k, o, at99).Centre
		for _, b := range Catalogue() {
			if b.Output == nil || b.Name == "exact" || b.Model.Fails(k) != "" {
				continue
			}
			i := b.Output(k, o, at99)
			w := worst[b.Name]
			largest[b.Name] = max(largest[b.Name], i.Bound())
			w.bound = max(w.bound, ratio(math.Abs(e), i.Bound()))
			w.radius = max(w.radius, ratio(math.Abs(e-i.Centre), i.Radius))
			worst[b.Name] = w
		}
	}
	return worst
}

// ratio returns x/y, and 0 for 0/0.
func ratio(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x / y
}

func TestTruncationBounds(t *testing.T) {
	sizes, rows := []int{256, 4096}, 8
	for _, d := range truncating {
		for _, law := range laws {
			for _, K := range sizes {
				got := measure(t, d, K, rows, law, 1)
				line := fmt.Sprintf("%-35s %-8s %6d", d.Name, law.Name, K)
				for _, b := range Catalogue() {
					if w, ok := got[b.Name]; ok {
						line += fmt.Sprintf("  %s %.2f %.2f", b.Name, w.bound, w.radius)
						if !(w.bound <= 1 && w.radius <= 1) {
							t.Errorf("%s, %s, K = %d: %s is broken, %+v", d.Name, law.Name, K, b.Name, w)
						}
					}
				}
				t.Log(line)
			}
		}
	}
}
