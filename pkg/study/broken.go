package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Broken returns the table of bounds that are claimed for a machine and are
// violated by data that violate their assumption: the largest |error|/bound
// over all machines.
func (s *BoundSweep) Broken() *viz.Table {
	sets := distinct(s, dataOf)
	worst := 0.0
	var rows []judgement
	for _, b := range bound.Catalogue() {
		next := judgement{[]string{boundNamed(b.Name)}, b.Needs, map[string]sweep.Row{}}
		for _, r := range s.of(func(r sweep.Row) bool {
			return r.Bound == b.Name && r.Violations > 0 && !r.PerOutput && r.Verdict != sweep.NotMachine
		}) {
			next.on[r.Data] = sweep.Row{Summary: sweep.Summary{Largest: max(next.on[r.Data].Largest, r.Largest)}}
			worst = max(worst, r.Largest)
		}
		if len(next.on) > 0 {
			rows = fold(rows, next)
		}
	}
	broken, held := splitData(sets, func(data string) bool {
		return slices.ContainsFunc(rows, func(j judgement) bool { return j.on[data].Largest > 0 })
	})
	finding, unbroken := "None of these data exceed a bound that holds on the machine.", ""
	if worst > 0 {
		finding = fmt.Sprintf("Data that break what a bound assumes exceed it by up to %s times.", times(worst))
	}
	if worst > 0 && len(held) > 0 {
		unbroken = fmt.Sprintf("No bound is exceeded with %s. ", typeset.List(titled(held)))
	}
	t := viz.NewTable(s.stem+"-broken", finding,
		fmt.Sprintf("Numbers: the largest |error|/bound over the machines, if above 1. %s%s", unbroken, s.conditions(typeset.List(lengths(s)))),
		append([]string{"Bounds (equal to 5 %: one row)"}, titled(broken)...))
	for _, r := range rows {
		cells := []string{strings.Join(r.names, "; ")}
		for _, data := range broken {
			cell := "–"
			if x := r.on[data].Largest; x > 0 {
				cell = times(x) + "×"
			}
			cells = append(cells, cell)
		}
		t.Row(cells...)
	}
	return t
}

// splitData returns the data for which want is true, and the others.
func splitData(sets []string, want func(string) bool) (yes, no []string) {
	for _, data := range sets {
		if want(data) {
			yes = append(yes, data)
		} else {
			no = append(no, data)
		}
	}
	return yes, no
}

// titled returns the names of data in figures.
func titled(sets []string) []string {
	titles := make([]string, len(sets))
	for i, data := range sets {
		titles[i] = dataNamed(data)
	}
	return titles
}
