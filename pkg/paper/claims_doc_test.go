package paper

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/written"
)

var update = flag.Bool("update", false, "write the tables of claims in README.md and docs/claims.md anew")

const root = "../../"

// The tables in README.md and docs/claims.md that say how to verify each claim
// agree with the claims. The command go test ./pkg/paper -run
// TestTheTablesOfClaims -update writes them.
func TestTheTablesOfClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment")
	}
	list, err := AllClaims("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		for _, file := range []string{c.File, "notebooks/" + c.Notebook + ".ipynb"} {
			if _, err := os.Stat(root + file); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
	for file, table := range map[string]string{"README.md": summaryTable(t, list), "docs/claims.md": wholeTable(t, list)} {
		written.Part(t, root+file, "claims", table, *update)
	}
}

// seconds returns the running time that the first cell of a notebook states.
func seconds(t *testing.T, notebook string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root+"notebooks", notebook+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\*Running time:\* about (\d+) seconds`).FindStringSubmatch(string(data))
	if found == nil {
		t.Fatalf("%s gives no running time", notebook)
	}
	return found[1] + " s"
}

func link(path string) string { return fmt.Sprintf("[%s](%s)", filepath.Base(path), path) }

// summaryTable returns a table with one row for each section of the paper,
// notebook and file.
func summaryTable(t *testing.T, list []Claim) string {
	var b strings.Builder
	b.WriteString("| of the paper | claims | notebook | file | tolerance | time |\n|---|--:|---|---|---|--:|\n")
	for len(list) > 0 {
		first := list[0]
		same := func(c Claim) bool {
			return c.Source == first.Source && c.Notebook == first.Notebook && c.File == first.File
		}
		n, tolerances := 0, []string{}
		for _, c := range list {
			if same(c) {
				n++
				if !slices.Contains(tolerances, c.Tolerance) {
					tolerances = append(tolerances, c.Tolerance)
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | [%s](notebooks/%s.ipynb) | %s | %s | %s |\n", first.Source, n,
			first.Notebook[:2], first.Notebook, link(first.File), strings.Join(tolerances, ", "), seconds(t, first.Notebook))
		list = slices.DeleteFunc(slices.Clone(list), same)
	}
	return b.String()
}

// wholeTable returns a table with one row for each claim.
func wholeTable(t *testing.T, list []Claim) string {
	var b strings.Builder
	b.WriteString("| of the paper | it says | `id` | notebook | file | tolerance | time |\n|---|---|---|---|---|---|--:|\n")
	for _, c := range list {
		fmt.Fprintf(&b, "| %s | %s | `%s` | [%s](../notebooks/%s.ipynb) | [%s](../%s) | %s | %s |\n",
			c.Source, strings.ReplaceAll(c.Paper, "|", `\|`), c.ID, c.Notebook[:2], c.Notebook,
			filepath.Base(c.File), c.File, c.Tolerance, seconds(t, c.Notebook))
	}
	return b.String()
}
