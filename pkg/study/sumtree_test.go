package study

import (
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The tree that is found by asking is that of the record, on this processor as
// by emulation.
func TestTreeOf_finds_the_order_of_records(t *testing.T) {
	for _, c := range []struct {
		device tcore.Device
		k      int
		want   string
	}{
		{devices.AMXBF16(), 32, "((0, 2, …, 30), (1, 3, …, 31), c)"},
		{devices.AVX512BF16(), 8, "(c, 1, 0, 3, 2, 5, 4, 7, 6)"},
		{devices.HopperBF16(), 16, "{0, 1, …, 15, c}"},
		{devices.HopperBF16(), 32, "{{0, 1, …, 15, c}, 16, 17, …, 31}"},
		{devices.AmpereBF16(), 16, "{{0, 1, …, 7, c}, 8, 9, …, 15}"},
		{devices.IEEEF32(), 5, "(c, 0, 1, …, 4)"},
		{devices.IEEEF64(), 5, "(c, 0, 1, …, 4)"},
		{devices.CDNA2F32(), 5, "(c, 0, 1, …, 4)"},
	} {
		tree, err := TreeOf(c.device, c.k)
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.String(); got != c.want {
			t.Errorf("%s, %d products: %s, want %s", c.device.Name, c.k, got, c.want)
		}
		drawn.Captions(t, tree.Figure())
		if _, err := cpu.Open(c.device); (err == nil) != (tree.By == thisProcessor) {
			t.Errorf("%s: by %s, and to open it: %v", c.device.Name, tree.By, err)
		}
	}
}

// Answers of a machine whose sums are no tree are refused.
func TestSumTree_refuses_what_is_no_tree(t *testing.T) {
	tree, err := TreeOf(devices.AVX512BF16(), 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, meet := range []int{0, 1, 4, 9} {
		z := SumTree{Device: tree.Device}
		for _, row := range tree.Meet {
			z.Meet = append(z.Meet, slices.Clone(row))
		}
		z.Meet[0][1], z.Meet[1][0] = meet, meet
		if z.check() == nil {
			t.Errorf("terms 0 and 1 may meet in a sum of %d", meet)
		}
	}
}
