package study

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// What the figure of five bounds says is what the rows say: a bound whose
// assumptions are violated is dotted and may be exceeded, a bound whose
// assumptions are met is dashed and is not; and the sentence about the least of
// them takes none that is violated.
func TestBoundSweep_FiveBounds(t *testing.T) {
	plan := LessonSweep
	plan.Ks = []int{256, 4096}
	s, err := RunSweep("lesson", plan)
	if err != nil {
		t.Fatal(err)
	}
	_, exceeded := s.judgedFive("U(0,1)")
	if want := "those whose assumptions are violated are exceeded on Volta and on Hopper"; exceeded != want {
		t.Errorf("%q, want %q", exceeded, want)
	}
	nearest := s.Nearest("U(0,1)")
	for _, want := range []string{"K = 4096", "Higham & Mary 2020, sharper on the paper's model", "truncated-random-data on Volta", "truncated-random-data on Hopper"} {
		if !strings.Contains(nearest, want) {
			t.Errorf("%q does not say %q", nearest, want)
		}
	}
	for _, c := range []struct {
		machine, bound string
		style          viz.Style
	}{
		{"paper", "gamma", viz.Dashed}, {"paper", "random-data", viz.Dashed}, {"volta", "gamma", viz.Dotted}, {"hopper", "vibea", viz.Dotted},
		{"volta", "truncation", viz.Dashed}, {"hopper", "truncated-random-data", viz.Dashed},
	} {
		if got := s.styleOf(c.machine, "U(0,1)", c.bound); got != c.style {
			t.Errorf("%s on %s has style %v, want %v", c.bound, c.machine, got, c.style)
		}
	}
	largest, least := s.rowsOf("hopper", "U(0,1)", sweep.ErrorRow)[1].Largest, s.rowsOf("hopper", "U(0,1)", "truncated-random-data")[1].Constant
	if want := fmt.Sprintf("on Hopper (%.3g times the largest error)", least/largest); !strings.Contains(nearest, want) || least < largest {
		t.Errorf("%q does not say %q", nearest, want)
	}
	rows := cells(t, s.FiveBounds("U(0,1)"))
	for _, name := range []string{"observed", boundNamed("gamma"), "VIBEA", boundNamed("random-data"), "truncation", "truncated-random-data"} {
		if !slices.ContainsFunc(rows, func(r []string) bool { return slices.Contains(r, name) }) {
			t.Errorf("no curve of %s", name)
		}
	}

	for i := range s.Rows { // if a bound that holds were exceeded, the figure would say so
		if r := &s.Rows[i]; r.Bound == "truncation" && r.Verdict == sweep.Holds {
			r.Violations = 1
		}
	}
	if held, _ := s.judgedFive("U(0,1)"); held != "outputs exceed bounds whose assumptions are met, in 4 cases" {
		t.Error(held)
	}
}

// Where no assumption is violated, as for machines that round to nearest, the
// caption says that no bound is exceeded, and no curve is dotted.
func TestBoundSweep_FiveBounds_where_all_hold(t *testing.T) {
	plan := LessonSweep
	plan.Machines, plan.Ks = []tcore.Machine{sweep.Paper}, []int{64, 256}
	s, err := RunSweep("lesson", plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, exceeded := s.judgedFive("U(0,1)"); exceeded != "none of those whose assumptions are violated is exceeded either" {
		t.Error(exceeded)
	}
}

// Every bound of the catalogue stands in the reference once, with its formula,
// in the table of its assumption.
func TestBoundReference(t *testing.T) {
	text := BoundReference()
	for _, b := range bound.Catalogue() {
		if n := strings.Count(text, "| `"+b.Name+"` | $"+b.Formula+"$ |"); n != 1 {
			t.Errorf("%s is there %d times with its formula", b.Name, n)
		}
		if strings.ContainsRune(b.Formula, '|') {
			t.Errorf("%s: a | would end the cell: %s", b.Name, b.Formula)
		}
	}
	sections := strings.Split(text, "### ")
	for _, want := range []struct{ bound, section string }{
		{"gamma", "Sums rounded to nearest"}, {"vibea", "Rounding errors independent and uniform"},
		{"truncation", "Truncated sums\n"}, {"martingale-trace", "Truncated sums of random data"},
	} {
		if !slices.ContainsFunc(sections, func(s string) bool {
			return strings.HasPrefix(s, want.section) && strings.Contains(s, "`"+want.bound+"`")
		}) {
			t.Errorf("%s is not under %q", want.bound, want.section)
		}
	}
}

// What notebook 10 says of the machines is what their records have.
func TestLesson_has_the_parameters_of_the_machines(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/10-which-bound-holds.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range LessonSweep.Machines[1:] {
		c := m.Device.Core.(tcore.Fused)
		if want := fmt.Sprintf("%s ($L = %d$, $F = %d$)", m.Device.Architecture, c.Terms, c.FractionBits); !strings.Contains(string(text), want) {
			t.Errorf("notebook 10 does not say %s", want)
		}
	}
}
