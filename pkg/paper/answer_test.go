package paper

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// agreed returns every claim that the answer needs, as if the paper and the
// measurement had the same number.
func agreed(t *testing.T) []Claim {
	t.Helper()
	var b book
	b.mathematics()
	b.gain()
	b.single()
	b.loose()
	b.slip()
	b.profile()
	b.items()
	slices.Sort(b.missing)
	var list []Claim
	for i, id := range slices.Compact(b.missing) {
		x := float64(10 + i)
		list = append(list, Claim{ID: id, Value: &x, Measured: &x, Verdict: Reproduced})
	}
	if len(list) < 30 {
		t.Fatalf("only %d claims", len(list))
	}
	return list
}

// with returns the claims, those with the given ids with another verdict.
func with(list []Claim, v Verdict, ids ...string) []Claim {
	list = slices.Clone(list)
	for i := range list {
		if slices.Contains(ids, list[i].ID) {
			list[i].Verdict = v
		}
	}
	return list
}

// A sentence that still said "holds" where a claim differs would be a lie.
func TestAnswer_has_words_that_follow_the_verdicts(t *testing.T) {
	list := agreed(t)
	for _, c := range []struct {
		claims   []Claim
		sentence int
		lead     string
		verdict  Verdict
	}{
		{list, 0, "The mathematics holds", Reproduced},
		{with(list, Differs, "lemma-fma-dbea"), 0, "The mathematics does not hold", Differs},
		{with(list, CannotBeTested, "lemma1-holds"), 0, "The mathematics does not hold", CannotBeTested},
		{list, 1, "holds without conversion error", Reproduced},
		{with(list, Differs, "gemm-ratio"), 1, "is not found", Differs},
		{list, 2, "probability gains nothing", Reproduced},
		{with(list, Differs, "mac-fma-same-bound"), 2, "otherwise than in the paper", Differs},
		{list, 3, "as loose as the paper says", Reproduced},
		{with(list, Differs, "gemm-vibea-overestimates"), 3, "differs from what the paper says", Differs},
		{list, 4, "is no slip", Reproduced},
		{with(list, Differs, "gemm-dbea-1e2"), 4, "is a slip", Differs},
		{with(list, CannotBeTested, "gemm-dbea-1e2"), 4, "is not decided", CannotBeTested},
		{with(list, Differs, "gemm-dbea-1e2", "gemm-dbea-u-times-1e11"), 4, "neither", Differs},
		{list, 5, "Table 3 is reproduced", Reproduced},
		{with(list, Differs, "profile-speedup"), 5, "in part", Differs},
		{with(list, Differs, profileIDs...), 5, "cannot be reproduced as printed", Differs},
	} {
		a, err := answerOf(c.claims)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Sentences[c.sentence]
		if !strings.Contains(s.Lead, c.lead) || s.Verdict != c.verdict {
			t.Errorf("%s (%s), want %q (%s)", s.Lead, s.Verdict, c.lead, c.verdict)
		}
		for _, s := range a.Sentences {
			if strings.Contains(s.Rest, "%!") || strings.Contains(s.Rest, "NaN") || !strings.HasSuffix(s.Rest, ".") {
				t.Error(s.Rest)
			}
		}
	}
}

func TestTenfold(t *testing.T) {
	for x, want := range map[float64]bool{13.1: true, 4: true, 31: true, 2.9: false, 32: false, 1: false} {
		if tenfold(x) != want {
			t.Errorf("tenfold(%v) is %v", x, !want)
		}
	}
}

func TestAnswer_has_the_papers_figures_and_tables(t *testing.T) {
	list := with(agreed(t), Differs, "table2-row-2")
	a, err := answerOf(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Sentences) != 6 || len(a.Items) != 9 {
		t.Fatalf("%d sentences, %d items", len(a.Sentences), len(a.Items))
	}
	for i, name := range []string{"Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "Figure 6", "Table 1", "Table 2", "Table 3"} {
		if a.Items[i].Name != name {
			t.Errorf("item %d is %s, want %s", i, a.Items[i].Name, name)
		}
	}
	want := line{"rows of unit roundoffs", "2 rows", "1 of 2 the same", Differs, []string{"table2-row-1", "table2-row-2"}}
	if got := a.Items[7].Lines[0]; got.Here != want.Here || got.Verdict != want.Verdict {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// An answer without one of its claims would have a hole.
func TestAnswer_needs_its_claims(t *testing.T) {
	list := agreed(t)
	for i, c := range list {
		if _, err := answerOf(slices.Delete(slices.Clone(list), i, i+1)); err == nil || !strings.Contains(err.Error(), c.ID) {
			t.Errorf("without %s: %v", c.ID, err)
		}
	}
}

func TestWriteAnswer(t *testing.T) {
	dir, list := t.TempDir(), agreed(t)
	if err := WriteAnswer(dir, list); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "answer.json"))
	var back answer
	if err != nil || json.Unmarshal(data, &back) != nil || len(back.Sentences) != 6 {
		t.Errorf("%v, %s", err, data)
	}
	if err := WriteAnswer(filepath.Join(dir, "missing"), list); err == nil {
		t.Error("a missing folder is no error")
	}
}

func TestAnswer_of_this_project(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every experiment")
	}
	list, err := AllClaims("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answerOf(list); err != nil {
		t.Error(err)
	}
}
