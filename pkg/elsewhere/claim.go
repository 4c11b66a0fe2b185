package elsewhere

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// A Claim is a published statement beside what the emulator gives.
type Claim struct {
	ID      string   `json:"id"`
	Says    string   `json:"says"`    // the statement, in our words
	Source  string   `json:"source"`  // who said it and where; in full in REFERENCES.md
	Data    string   `json:"data"`    // on what it was tried: distribution, K, shape, seeds
	Numbers []Number `json:"numbers"` // what the emulator gives
	Outcome Outcome  `json:"outcome"`
	Verdict string   `json:"verdict"` // what was found, in words
	File    string   `json:"file"`    // the source file that computes it
}

// An Outcome says whether the numbers are as the statement says.
type Outcome string

// Outcomes.
const (
	Holds         Outcome = "holds"
	Conditionally Outcome = "holds on a condition"  // which was not stated
	Partly        Outcome = "holds as far as tried" // the rest takes a network
	Differs       Outcome = "differs"
)

// A Number is a result of the emulator.
type Number struct {
	Of    string  `json:"of"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // empty for a count or a factor
}

// String returns the number with what it is of, as in "U(0,1): 41.4 %".
func (n Number) String() string {
	s := typeset.Number(n.Value, 3)
	if n.Unit != "" {
		s += "\u00a0" + n.Unit
	}
	return typeset.Minus(n.Of) + ": " + s
}

// percent returns a number of x as a percentage.
func percent(of string, x float64) Number { return Number{of, 100 * x, "%"} }

// count returns the number n of a unit.
func count(of string, n int, unit string) Number { return Number{of, float64(n), unit} }

// judged returns c with an outcome and a verdict: the given ones if the numbers
// are as the statement says.
func (c Claim) judged(so bool, o Outcome, verdict string) (Claim, error) {
	c.Outcome, c.Verdict = o, verdict
	if !so {
		c.Outcome, c.Verdict = Differs, "the emulator gives other numbers"
	}
	for _, n := range c.Numbers {
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			return Claim{}, fmt.Errorf("claim %s: %s is %v, which no JSON can hold", c.ID, n.Of, n.Value)
		}
	}
	return c, nil
}

// measured returns the numbers as a text.
func (c Claim) measured() string {
	var list []string
	for _, n := range c.Numbers {
		list = append(list, n.String())
	}
	return strings.Join(list, "; ")
}

// header contains the columns of tables of claims.
var header = []string{"What was said", "Where", "Tried on", "The emulator gives", "Verdict"}

func (c Claim) cells() []string {
	return []string{c.Says, c.Source, c.Data, c.measured(), string(c.Outcome) + ": " + c.Verdict}
}

// Table returns the claims as a table, one row for each. It panics unless name
// can be the stem of a file name.
func Table(name string, list []Claim) *viz.Table {
	n := map[Outcome]int{}
	for _, c := range list {
		n[c.Outcome]++
	}
	t := viz.NewTable(name,
		fmt.Sprintf("Of %d published claims %d hold on the emulator, %d more on a condition that was not stated, %d as far as they were tried; %d differ.",
			len(list), n[Holds], n[Conditionally], n[Partly], n[Differs]),
		"Errors of accumulation are those against the exact product of the rounded factors. Devices are emulated bit for bit.", header)
	for _, c := range list {
		t.Row(c.cells()...)
	}
	return t
}

// Markdown returns the claims as a table in Markdown, with the id of each and a
// link to its file, for a page in the folder docs.
func Markdown(list []Claim) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | `id`, file |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)+1))
	for _, c := range list {
		for _, cell := range c.cells() {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		fmt.Fprintf(&b, "| `%s` [%s](../%s) |\n", c.ID, filepath.Base(c.File), c.File)
	}
	return b.String()
}

// Write writes the claims as JSON to claims-elsewhere.json in the folder dir.
// The file is replaced atomically. If dir is empty, it does nothing. It returns
// an error if encoding or writing fails.
func Write(dir string, list []Claim) error {
	if dir == "" {
		return nil
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("elsewhere: encoding claims: %w", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "claims-elsewhere.json"), append(data, '\n')); err != nil {
		return fmt.Errorf("elsewhere: writing claims: %w", err)
	}
	return nil
}
