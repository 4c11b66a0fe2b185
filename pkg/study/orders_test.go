package study

import (
	"strconv"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// ordersSentences are those of notebook 15 that say "all", "none" and the like.
var ordersSentences = []sentence{
	{"A product of matrices has thousands for each element", nil, definition},
	{"The first is one accumulator over all of $K$", nil, procedure},
	{"each precision in a tint of its own", nil, procedure},
	{"In another order one chip has other bits", orderTellsBits, ""},
	{"hides most of the differences, not all", roundingHidesMost, ""},
	{"With one configuration for all batches", oneConfigurationAgrees, ""},
	{"round each to the format of $D$ before", nil, definition},
	{"one that holds for every order", everyOrderIsAboveOthers, ""},
	{"differ by more than the sum of their bounds", nil, mathematics},
}

func init() { sentences["15"] = ordersSentences }

// rowsOf returns the rows of a table, whose numbers are read by column.
func rowsOf(t *testing.T, of func() (*viz.Table, error)) []map[string]string {
	t.Helper()
	table, err := of()
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, table)
	return drawn.Cells(t, table)
}

func count(t *testing.T, row map[string]string, column string) int {
	t.Helper()
	n, err := strconv.Atoi(row[column])
	if err != nil {
		t.Fatalf("column %q of %v: %v", column, row, err)
	}
	return n
}

// Of 1024 elements the same order on a B200 has those of the H100, and every
// other order has others in nine of ten.
func orderTellsBits(t *testing.T) {
	for i, row := range rowsOf(t, OrdersTable) {
		if n := count(t, row, "other bits"); (i < 2) != (n == 0) || i >= 2 && n < 922 {
			t.Errorf("%s: %d", row["Who"], n)
		}
	}
}

func roundingHidesMost(t *testing.T) {
	for _, row := range rowsOf(t, BatchTable)[1:] {
		short, long := count(t, row, "other bits, binary16"), count(t, row, "other bits, binary32")
		if short == 0 || short > long/10 {
			t.Errorf("%v", row)
		}
	}
}

func oneConfigurationAgrees(t *testing.T) {
	rows := rowsOf(t, BatchTable)
	a, b := rows[len(rows)-2], rows[len(rows)-1]
	if a["configuration"] != b["configuration"] || a["other bits, binary32"] != b["other bits, binary32"] || a["Rows in the batch"] == b["Rows in the batch"] {
		t.Errorf("%v and %v", a, b)
	}
}

// The bound for every order is above those for one chain and for slices, which
// are above what was measured.
func everyOrderIsAboveOthers(t *testing.T) {
	for _, row := range rowsOf(t, AnyOrderTable) {
		var values []float64
		for _, column := range []string{"largest difference", "4 slices", "one chain", "every order of kernels", "every order"} {
			values = append(values, typedNumber(t, row[column]))
		}
		for i := range values[1:] {
			if values[i] >= values[i+1] {
				t.Errorf("%v", row)
			}
		}
	}
}

// The bounds see the lost tail and let both whole results pass, each for the
// orders that it is for.
func TestTailIsSeen(t *testing.T) {
	for i, row := range rowsOf(t, TailTable)[:2] {
		if count(t, row, "above it: tail lost") != 8 || count(t, row, "whole, in slices") != 0 || i == 1 && count(t, row, "whole, in one chain") != 0 {
			t.Errorf("%v", row)
		}
	}
}

// Slices help where they are added in binary32, and harm where the running
// total is in binary16.
func TestSplits(t *testing.T) {
	s := DefaultSplits
	s.K, s.Parts = 4096, []int{1, 16}
	results, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, s.Figure(results))
	for _, e := range results {
		if wide, running := e.errors[0], e.errors[2]; wide[1] > wide[0]/4 || running[1] < running[0] {
			t.Errorf("%s: %v", e.data, e.errors)
		}
	}
}

// typedNumber reads a number such as 1.4·10⁻⁶.
func typedNumber(t *testing.T, text string) float64 {
	t.Helper()
	power := strings.NewReplacer("·10", "e", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
	v, err := strconv.ParseFloat(power.Replace(text), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
