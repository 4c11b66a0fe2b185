package reproduce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// A Verdict is the outcome of the comparison of a claim of the paper with a
// measurement.
type Verdict string

// The verdicts, in the order in which they are listed.
const (
	Reproduced     Verdict = "reproduced"
	Differs        Verdict = "differs"
	CannotBeTested Verdict = "cannot-be-tested"
)

// Verdicts are all verdicts.
var Verdicts = []Verdict{Reproduced, Differs, CannotBeTested}

// A Claim is one numerical statement of the paper with the measured number: an
// element of claims.json.
type Claim struct {
	ID       string   `json:"id"`
	Source   string   `json:"source"`   // where in the paper
	Paper    string   `json:"paper"`    // what the paper says
	Measured *float64 `json:"measured"` // nil: nothing was measured
	Unit     string   `json:"unit"`
	Verdict  Verdict  `json:"verdict"`
	Why      string   `json:"why"`
	Notebook string   `json:"notebook"` // the name of the notebook that measured it
}

var claimKeys = []string{"id", "source", "paper", "measured", "unit", "verdict", "why", "notebook"}

// ParseClaims returns the claims in data, the content of claims.json. It
// returns an error unless data is a list, not empty, of objects with every key,
// a known verdict, and an id that no other claim has.
func ParseClaims(data []byte) ([]Claim, error) {
	var raw []map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&raw); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("claims: something follows the list")
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("claims: the list is empty")
	}
	for i, m := range raw {
		for _, key := range claimKeys {
			if _, ok := m[key]; !ok {
				return nil, fmt.Errorf("claims: claim %d: no key %q", i+1, key)
			}
		}
	}
	var claims []Claim
	if err := json.Unmarshal(data, &claims); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	seen := map[string]bool{}
	for i, c := range claims {
		switch {
		case c.ID == "":
			return nil, fmt.Errorf("claims: claim %d: the id is empty", i+1)
		case seen[c.ID]:
			return nil, fmt.Errorf("claims: two claims with the id %q", c.ID)
		case !slices.Contains(Verdicts, c.Verdict):
			return nil, fmt.Errorf("claims: claim %s: verdict %q, want one of %q", c.ID, c.Verdict, Verdicts)
		}
		seen[c.ID] = true
	}
	return claims, nil
}
