package study

import (
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Other machines part from the matrix unit, and before they part they agree.
func TestPartingTable(t *testing.T) {
	const n = 20
	rows, _, err := partings(n)
	if err != nil {
		t.Fatal(err)
	}
	parted := 0
	for _, r := range rows {
		if r.index < 0 {
			continue
		}
		parted++
		if r.here == r.there || r.index >= n {
			t.Errorf("%s parts at %d, with %v here and %v there", r.other.Name, r.index, r.here, r.there)
		}
		if fewer, _, err := partings(r.index); err != nil {
			t.Error(err)
		} else {
			for _, f := range fewer {
				if f.other == r.other && f.index >= 0 {
					t.Errorf("%s parts at %d already", r.other.Name, f.index)
				}
			}
		}
	}
	if parted < len(rows)-1 {
		t.Errorf("%d of %d machines part in %d dot products", parted, len(rows), n)
	}
	table, err := PartingTable(n)
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, table)
	drawn.Captions(t, InstructionTable())
	if none, err := PartingTable(0); err != nil || none.Finding() != "In 0 dot products no other machine has other bits." {
		t.Errorf("of no dot product: %v, %v", none, err)
	}
}

// The machine that would compute the same is the same machine.
func TestPartings_ask_the_unit(t *testing.T) {
	d := devices.AMXBF16()
	dot, _, err := chainer(d, 32)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 32)
	for i := range x {
		x[i] = tcore.BFloat16.Round(1/float64(i+3), tcore.ToNearestEven)
	}
	if got, err := dot(x, x, 1); err != nil || got != d.Dot(x, x, 1) {
		t.Errorf("%v, %v, want %v", got, err, d.Dot(x, x, 1))
	}
}
