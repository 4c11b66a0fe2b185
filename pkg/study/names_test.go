package study

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Machines, bounds and data have names of their own, and what is renamed
// exists.
func TestNames_are_distinct(t *testing.T) {
	of := map[string]string{}
	once := func(title, name string) {
		t.Helper()
		if other, taken := of[title]; taken {
			t.Errorf("%q is %q and %q", title, other, name)
		}
		of[title] = name
	}
	for _, m := range sweep.Machines() {
		once(machineNamed(m.Name), m.Name)
	}
	for _, b := range bound.Catalogue() {
		once(boundNamed(b.Name), b.Name)
	}
	for _, g := range sweep.Generators() {
		once(dataNamed(g.Name), g.Name)
	}
	for name := range boundTitles {
		if _, ok := bound.Find(name); !ok {
			t.Errorf("no bound %q", name)
		}
	}
	for name := range dataTitles {
		if _, err := sweep.FindGenerator(name); err != nil {
			t.Error(err)
		}
	}
}

// A machine has the same name whichever notebook shows it.
func TestNames_of_machines(t *testing.T) {
	for name, want := range map[string]string{
		"paper": "paper's model", "volta": "Volta", "hopper": "Hopper", "hopper/16": "Hopper, K in 16 parts",
		"hopper-e4m3": "Hopper, e4m3", "hopper-f16": "Hopper, sums in binary16", "hopper>binary16": "Hopper, D in binary16",
		"cdna3": "CDNA3", "ampere-mma-binary64-binary64": "Ampere, binary64", "blackwell-nvf4": "Blackwell, e2m1 in blocks of 16",
		"another lab's": "another lab's",
	} {
		if got := machineNamed(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for i, name := range []string{"paper", "volta", "ampere", "hopper", "hopper/16"} {
		if machines[i].Name != machineNamed(name) || machines[i].Series.Label != machineNamed(name) {
			t.Errorf("%s is %q in notebook 8", name, machines[i].Name)
		}
	}
	if got := on("paper") + on("volta"); got != "on the paper's modelon Volta" {
		t.Errorf("%q", got)
	}
	if got := adviceTitle(devices.HopperF16()); got != "Hopper, binary16" {
		t.Errorf("%q", got)
	}
	if got := machineTitle(tcore.Machine{Device: devices.IEEEF16()}); got != "FMAs in binary32" {
		t.Errorf("%q", got)
	}
}

// The glossary has the name of every bound in figures beside its name in
// commands.
func TestNames_are_in_the_glossary(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer("*", "", "{", "", "}", "", "$", "", "\\gamma", "γ", " ", "", "−", "-")
	for name, title := range boundTitles {
		found := false
		for line := range strings.Lines(string(text)) {
			found = found || strings.Contains(line, "`"+name+"`") && strings.Contains(plain.Replace(line), plain.Replace(title))
		}
		if !found {
			t.Errorf("%s, in figures %q, is in no row", name, title)
		}
	}
}

func TestNumbers_as_they_are_printed(t *testing.T) {
	for confidence, want := range map[string]string{"0.99": "99 %", "0.9999": "99.99 %", "1-1e-6": "1 − 10⁻⁶", "1-2.5e-12": "1 − 2.5·10⁻¹²"} {
		if got := confidenceText(confidenceOf(confidence)); got != want {
			t.Errorf("%s: %q, want %q", confidence, got, want)
		}
	}
	if got := confidenceText(roundoff.Never); got != "always" {
		t.Errorf("%q", got)
	}
	for x, want := range map[float64]string{
		0: "0", 0.1: "0.10", 0.0999: "0.10", 0.999: "1.0", 1: "1.0", 9.96: "10", 42: "42", 3e-3: "3.0·10⁻³", math.Inf(1): "∞",
	} {
		if got := twoDigits(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 %", 1: "< 0.1 %", 79: "0.79 %", 7900: "79 %", 9999: "> 99 %", 10000: "100 %"} {
		if got := share(n, 10000); got != want {
			t.Errorf("%d of 10000: %q, want %q", n, got, want)
		}
	}
	if got := from(0, 0) + ", " + from(1, 512) + ", " + from(9, bound.LongestK); got != "none, 1 to 512, from 9 on" {
		t.Errorf("%q", got)
	}
	if got := typeset.List([]string{"a"}) + "; " + typeset.List(strings.Fields("a b c")); got != "a; a, b and c" {
		t.Errorf("%q", got)
	}
}

// Bounds share a row where they agree on every machine to 5 %, and only there.
func TestFold(t *testing.T) {
	one := func(name string, needs bound.Knowledge, verdict sweep.Verdict, τ float64) judgement {
		r := sweep.Row{Verdict: verdict}
		r.Tightness, r.Largest = τ, τ
		return judgement{[]string{name}, needs, map[string]sweep.Row{"volta": r, "hopper": r}}
	}
	apart := one("apart on a machine", bound.Sums, sweep.Holds, 0.5)
	apart.on["volta"] = sweep.Row{Verdict: sweep.Holds}
	alone := one("on one machine", bound.Sums, sweep.Holds, 0.5)
	delete(alone.on, "hopper")
	var rows []judgement
	for _, j := range []judgement{
		one("first", bound.Sums, sweep.Holds, 0.5), one("not claimed", bound.Sums, sweep.NotData, 0.5), one("of the trace", bound.Trace, sweep.Holds, 0.5),
		one("near", bound.Sums, sweep.Holds, 0.48), one("far", bound.Sums, sweep.Holds, 0.47), apart, alone,
	} {
		rows = fold(rows, j)
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r.names, "+"))
	}
	if want := "first+near, not claimed, of the trace, far, apart on a machine, on one machine"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
}
