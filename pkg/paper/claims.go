package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Verdict says whether this package reproduces a number of the paper.
type Verdict string

// The verdicts.
const (
	Reproduced     Verdict = "reproduced"
	Differs        Verdict = "differs"
	CannotBeTested Verdict = "cannot-be-tested"
)

// Claim is one numerical statement of the paper, with the value measured here.
type Claim struct {
	ID     string `json:"id"`
	Source string `json:"source"` // section, figure or table of the paper
	Paper  string `json:"paper"`  // the statement, with its number
	// Value is that number. It is nil if the statement is qualitative, or if it
	// cannot be tested.
	Value    *float64 `json:"value"`
	Measured *float64 `json:"measured"` // nil when nothing could be measured
	Unit     string   `json:"unit"`     // empty for a ratio or a count
	Verdict  Verdict  `json:"verdict"`
	Why      string   `json:"why"`
	Notebook string   `json:"notebook"` // notebook that computes it

	File string `json:"file"` // source file that measures it
	// Tolerance is how far Measured may differ from Value for the verdict
	// Reproduced.
	Tolerance string `json:"tolerance"`
}

// claims collects the claims of one section of the paper, one notebook and one
// file of this package.
type claims struct {
	source, notebook, file string
	list                   []Claim
}

// add appends a claim with its verdict. The text tolerance is printed for
// readers; the verdict does not depend on it.
func (c *claims) add(id, paper string, value, measured *float64, unit, tolerance string, v Verdict, why string) {
	c.list = append(c.list, Claim{ID: id, Source: c.source, Paper: paper, Value: value, Measured: measured, Unit: unit,
		Verdict: v, Why: why, Notebook: c.notebook, File: "pkg/paper/" + c.file, Tolerance: tolerance})
}

// verdict returns Reproduced if ok, otherwise Differs.
func verdict(ok bool) Verdict {
	if ok {
		return Reproduced
	}
	return Differs
}

// holds appends a qualitative claim, Reproduced if ok.
func (c *claims) holds(id, paper string, measured float64, unit string, ok bool, why string) {
	c.add(id, paper, nil, &measured, unit, "as it says", verdict(ok), why)
}

// order appends a claim about an order of magnitude, which the paper writes as
// O(10^k). The verdict is Reproduced if measured/value lies strictly between
// 1/10 and 10.
func (c *claims) order(id, paper string, value, measured float64, unit, why string) {
	c.add(id, paper, &value, &measured, unit, "a factor 10", verdict(math.Abs(math.Log10(measured/value)) < 1), why)
}

// equal appends a claim about a value. The verdict is Reproduced if |measured -
// value| <= tol |value|.
func (c *claims) equal(id, paper string, value, measured, tol float64, unit, why string) {
	tolerance := "none"
	if tol > 0 {
		tolerance = percent(tol)
	}
	c.add(id, paper, &value, &measured, unit, tolerance, verdict(math.Abs(measured-value) <= tol*math.Abs(value)), why)
}

// untestable appends a claim that no experiment here can decide. measured is
// the closest quantity that can be measured, or nil.
func (c *claims) untestable(id, paper string, measured *float64, unit, why string) {
	c.add(id, paper, nil, measured, unit, "cannot be tested", CannotBeTested, why)
}

// AllClaims runs every experiment of the paper and returns its claims in the
// order of the paper's sections. It takes about ten seconds and one gigabyte of
// memory. The rates of Table 3 come from [Table3] with the folder dir, which
// may be "". The errors are those of [Table3] and [GEMM.Run].
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

// ClaimTable returns the claims as a table, one row for each. It panics unless
// name can be the stem of a file name.
func ClaimTable(name string, list []Claim) *viz.Table {
	n := map[Verdict]int{}
	for _, c := range list {
		n[c.Verdict]++
	}
	t := viz.NewTable(name,
		fmt.Sprintf("Claims of the paper: %d of %d reproduced, %d differing, %d that cannot be tested here.", n[Reproduced], len(list), n[Differs], n[CannotBeTested]),
		"An order of magnitude is reproduced if the measured number is within a factor of ten; any other number has its own tolerance.",
		[]string{"Where", "The paper says", "Measured", "Verdict", "How it was measured, or why not"})
	for _, c := range list {
		t.Row(c.Source, subscripts.Replace(c.Paper), c.measured(), c.Verdict.mark(), subscripts.Replace(c.Why))
	}
	return t
}

// subscripts adds the markup of package viz for subscripts to the plain text of
// a claim.
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

// mark returns the verdict with a sign, so that it can be read without colour.
func (v Verdict) mark() string {
	switch v {
	case Reproduced:
		return "✓\u00a0reproduced"
	case Differs:
		return "✗\u00a0differs"
	}
	return "–\u00a0cannot be tested"
}

// WriteClaims writes the claims as JSON to claims.json in the folder dir. The
// file is replaced atomically. If dir is empty, it does nothing. It returns an
// error if encoding or writing fails.
func WriteClaims(dir string, list []Claim) error {
	if dir == "" {
		return nil
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("paper: encoding claims: %w", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "claims.json"), append(data, '\n')); err != nil {
		return fmt.Errorf("paper: writing claims: %w", err)
	}
	return nil
}
