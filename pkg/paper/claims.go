package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Verdict says whether a number of the paper comes out again.
type Verdict string

// The verdicts.
const (
	Reproduced     Verdict = "reproduced"
	Differs        Verdict = "differs"
	CannotBeTested Verdict = "cannot-be-tested"
)

// Claim is one numerical statement of the paper beside what was measured here.
type Claim struct {
	ID       string   `json:"id"`
	Source   string   `json:"source"`   // section, figure or table of the paper
	Paper    string   `json:"paper"`    // what the paper says, with its number
	Value    *float64 `json:"value"`    // that number, nil where the paper says that something holds, or where nothing is compared
	Measured *float64 `json:"measured"` // nil when nothing could be measured
	Unit     string   `json:"unit"`     // empty for a ratio or a count
	Verdict  Verdict  `json:"verdict"`
	Why      string   `json:"why"`
	Notebook string   `json:"notebook"` // where it is computed

	File      string `json:"file"`      // of the code that measures it
	Tolerance string `json:"tolerance"` // how far the measured value may be off to count as reproduced
}

// claims gathers the claims of one source, one notebook and one file of this
// package.
type claims struct {
	source, notebook, file string
	list                   []Claim
}

// add adds a claim with the verdict on it. What is said of the tolerance is for
// those who verify it.
func (c *claims) add(id, paper string, value, measured *float64, unit, tolerance string, v Verdict, why string) {
	c.list = append(c.list, Claim{ID: id, Source: c.source, Paper: paper, Value: value, Measured: measured, Unit: unit,
		Verdict: v, Why: why, Notebook: c.notebook, File: "pkg/paper/" + c.file, Tolerance: tolerance})
}

// verdict returns Reproduced if ok.
func verdict(ok bool) Verdict {
	if ok {
		return Reproduced
	}
	return Differs
}

// holds adds a claim that either holds or does not.
func (c *claims) holds(id, paper string, measured float64, unit string, ok bool, why string) {
	c.add(id, paper, nil, &measured, unit, "as it says", verdict(ok), why)
}

// order adds a claim of an order of magnitude, O(10^k) in the paper's words. It
// counts as reproduced when the measured value is within a factor 10 of it.
func (c *claims) order(id, paper string, value, measured float64, unit, why string) {
	c.add(id, paper, &value, &measured, unit, "a factor 10", verdict(math.Abs(math.Log10(measured/value)) < 1), why)
}

// equal adds a claim of a value, reproduced when the measured one agrees to
// tol.
func (c *claims) equal(id, paper string, value, measured, tol float64, unit, why string) {
	tolerance := "none"
	if tol > 0 {
		tolerance = percent(tol)
	}
	c.add(id, paper, &value, &measured, unit, tolerance, verdict(math.Abs(measured-value) <= tol*math.Abs(value)), why)
}

// untestable adds a claim that nothing here can decide, with what was measured
// instead, or nil.
func (c *claims) untestable(id, paper string, measured *float64, unit, why string) {
	c.add(id, paper, nil, measured, unit, "cannot be tested", CannotBeTested, why)
}

// AllClaims runs every experiment of the paper and returns its claims in the
// paper's order of sections. It takes some ten seconds and a gigabyte. The
// times are those of [Table3] in the folder dir, which may be empty.
func AllClaims(dir string) ([]Claim, error) {
	task := progress.Start(8)
	defer task.End()
	profile, err := Table3(dir)
	if err != nil {
		return nil, err
	}
	step := func(list []Claim) []Claim { task.Step(1); return list }
	symmetric, err := DefaultGEMM.Run()
	if err != nil {
		return nil, err
	}
	task.Step(1)
	positive := DefaultGEMM
	positive.Distribution = UniformUnit
	unit, err := positive.Run()
	if err != nil {
		return nil, err
	}
	return slices.Concat(
		step(FormatClaims()), step(ProductClaims()), step(DefaultLemmas.Run().Claims()), step(TensorCoreClaims()),
		step(DefaultMAC.Run().Claims()), step(profile.Claims()), symmetric.Claims(), unit.Claims(),
	), nil
}

// ClaimTable returns the claims as a table, one row each.
func ClaimTable(name string, list []Claim) *viz.Table {
	n := map[Verdict]int{}
	for _, c := range list {
		n[c.Verdict]++
	}
	t := viz.NewTable(name,
		fmt.Sprintf("%d of %d claims reproduced, %d differ, %d cannot be tested here.", n[Reproduced], len(list), n[Differs], n[CannotBeTested]),
		"Written by paper.ClaimTable.",
		[]string{"Where", "The paper says", "Measured", "Verdict", "Why"})
	for _, c := range list {
		t.Row(c.Source, subscripts.Replace(c.Paper), c.measured(), c.Verdict.mark(), subscripts.Replace(c.Why))
	}
	return t
}

// subscripts marks those of a claim's plain text for package viz.
var subscripts = strings.NewReplacer("e_min", "e_{min}", "e_max", "e_{max}", "P_B", "P_{B}", "u_FMA", "u_{FMA}", "γ_q", "γ_{q}")

func (c Claim) measured() string {
	if c.Measured == nil {
		return "–"
	}
	s := short(*c.Measured)
	if c.Unit != "" {
		s += " " + c.Unit
	}
	return s
}

// mark returns the verdict with a sign, so that it does not depend on colour.
func (v Verdict) mark() string {
	switch v {
	case Reproduced:
		return "✓\u00a0reproduced"
	case Differs:
		return "✗\u00a0differs"
	}
	return "–\u00a0cannot be tested"
}

// WriteClaims writes the claims as JSON to claims.json in the directory dir,
// whole or not at all. With an empty dir it does nothing.
func WriteClaims(dir string, list []Claim) error {
	if dir == "" {
		return nil
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("paper: encoding claims: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, "claims.json"), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("paper: writing claims: %w", err)
	}
	return nil
}
