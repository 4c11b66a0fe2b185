package doctest

import (
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The glossary has a row for every bound of both catalogues and for every chip.
func TestTheGlossaryIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	glossary := string(text)
	for _, b := range bound.Catalogue() {
		if !strings.Contains(glossary, "`"+b.Name+"`") {
			t.Errorf("the bound %s is missing", b.Name)
		}
	}
	for _, b := range quantisation.Catalogue() {
		if !strings.Contains(glossary, "`"+b.Name+"`") {
			t.Errorf("the bound %s on quantisation is missing", b.Name)
		}
	}
	rows := strings.ToLower(glossary[strings.Index(glossary, "## Machines"):])
	for _, d := range devices.All() {
		chip, rest, _ := strings.Cut(d.Name, "-")
		instruction, _, _ := strings.Cut(rest, "-")
		if chip == "rtxblackwell" {
			chip = "rtx blackwell"
		}
		instruction, _, _ = strings.Cut(instruction, "_")
		if !strings.Contains(rows, chip) || !strings.Contains(rows, instruction) {
			t.Errorf("%s is missing: %s or %s", d.Name, chip, instruction)
		}
	}
}
