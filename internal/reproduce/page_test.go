package reproduce

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fixture returns the report of the results in testdata/out.
func fixture(t *testing.T) *Report {
	t.Helper()
	r := &Report{
		Sections: []Section{
			{Name: "01-first", Title: "1. Three formats", Cells: 5, Duration: 4300 * time.Millisecond},
			{Name: "02-second", Title: "2. Multiply & accumulate", Cells: 9, Duration: 31 * time.Second},
			{Name: "03-claims", Title: "", Cells: 2, Duration: 80 * time.Second},
		},
		Ran:      []string{"01-first", "02-second", "03-claims"},
		Machine:  Machine{CPU: "A <fast> processor", Cores: 2, System: "linux/amd64", Go: "go1.26.0", Revision: "0123456789ab"},
		Date:     time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC),
		Duration: 130 * time.Second,
	}
	if err := r.gather("testdata/out", true); err != nil {
		t.Fatal(err)
	}
	return r
}

// To view the page: ROUNDOFF_PAGE=/tmp/index.html go test -run TestPage
// ./internal/reproduce
func TestPage(t *testing.T) {
	r := fixture(t)
	b, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("ROUNDOFF_PAGE"); path != "" {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Error(err)
		}
	}
	html := string(b)
	has := func(want string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if !strings.Contains(html, want) {
				t.Errorf("the page has no %s", want)
			}
		}
	}
	t.Run("has_the_figure_in_it", has(`<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400"`))
	t.Run("opens_it_large_at_its_width", has(`<div class="plate" id="large-fig5-mac" style="--width: 640px"><a class="close" href="#figure-fig5-mac">`))
	t.Run("names_what_is_of_the_paper", has(`<p class="name">Figure 5 of the paper</p>`))
	t.Run("begins_with_sentences", has(`<li class="reproduced" data-mark="✓"><strong>The bound with e<sub>min</sub> holds</strong>: 1.82 times &lt;measured&gt;. <a href="#claim-mac-dbea"`))
	t.Run("has_the_numbers_of_an_item", has(`<th scope="rowgroup" rowspan="2"><a href="#figure-fig5-mac">Figure 5</a>, errors</th>
<td class="quantity">DBEA</td><td class="paper">tighter</td><td class="here">1.82</td>`))
	t.Run("has_an_item_without_numbers", has(`<th scope="rowgroup"><a href="#figure-tensor-core">Figure 4</a>, a block</th>`))
	t.Run("folds_a_notebook", has("<details>\n<summary><h2>2. Multiply &amp; accumulate</h2> <span class=\"soft\">2 figures and tables · 6 claims</span></summary>\n<div class=\"inside\" id=\"02-second\">"))
	t.Run("lists_the_notebook_that_is_a_download", has(`<a class="beside" href="notebooks/02-second.ipynb" download>`))
	t.Run("links_no_picture_of_a_table", func(t *testing.T) {
		if strings.Contains(html, "figures/table1.png") || !strings.Contains(html, "figures/table1.csv") {
			t.Error("a table has other files than CSV")
		}
	})
	t.Run("shows_no_table_of_claims_twice", func(t *testing.T) {
		if strings.Contains(html, "figure-claims") {
			t.Error("the figure of the claims is there beside the table of all claims")
		}
	})
	t.Run("links_its_files", has(`href="figures/fig5-mac.csv" download`))
	t.Run("links_a_page_with_sliders", has(`<a href="figures/tensor-core.html">with sliders</a>`))
	t.Run("links_no_page_that_is_not_there", func(t *testing.T) {
		if n := strings.Count(html, "with sliders"); n != 1 {
			t.Errorf("%d figures with sliders, want 1", n)
		}
	})
	t.Run("shows_a_table_as_a_table", has(`<td>binary16</td><td align="right">11</td>`))
	t.Run("tells_the_finding_first", has("<strong>The deterministic bound is the tighter one.</strong> Empirical"))
	t.Run("escapes_text", has("A &lt;fast&gt; processor"))
	t.Run("names_a_notebook_without_title", has(`<summary><h2>03-claims</h2>`))
	t.Run("counts_verdicts", has(`<span class="chip differs">✗ 1 differ</span>`))
	t.Run("says_verdicts_in_words", has(`<span class="chip differs">✗ differs</span>`))
	t.Run("filters_by_verdict", has(`main:has(#show-cannot-be-tested:checked) tr[data-verdict]:not([data-verdict="cannot-be-tested"])`))
	t.Run("writes_numbers_as_in_print", has(`4.883·10⁻⁴`))
	t.Run("says_what_is_missing", has(`<td class="measured">–</td>`))
	t.Run("leads_from_a_notebook_to_its_claims", has(`<a href="#claim-mac-dbea">its 6 claims</a>`))
	t.Run("knows_no_page_that_is_not_there", func(t *testing.T) {
		if strings.Contains(html, "html/") || strings.Contains(html, "playground") {
			t.Error("the page links pages that were not made")
		}
	})
	t.Run("tells_the_machine", has("0123456789ab"))

	t.Run("asks_nothing_of_any_host", func(t *testing.T) {
		for _, tag := range regexp.MustCompile(`(src|href|action|url\(|@import)[="'(\s]*[^"')>]*`).FindAllString(html, -1) {
			if strings.Contains(tag, "//") && tag != `href="https://arxiv.org/abs/2411.18747` {
				t.Errorf("the page refers to %s", tag)
			}
		}
		if strings.Contains(html, "<script ") {
			t.Error("the page has a script that is not its own")
		}
	})
	t.Run("has_no_id_twice", func(t *testing.T) {
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if seen[m[1]] {
				t.Errorf("two elements with the id %s", m[1])
			}
			seen[m[1]] = true
		}
	})
	t.Run("leads_only_to_what_is_there", func(t *testing.T) {
		for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if !strings.Contains(html, ` id="`+m[1]+`"`) {
				t.Errorf("nothing has the id %s", m[1])
			}
		}
	})
	t.Run("was_filled_in_safely", func(t *testing.T) {
		if bytes.Contains(b, []byte("ZgotmplZ")) {
			t.Error("the template refused a value")
		}
	})
}

func TestPage_without_claims_or_figures(t *testing.T) {
	r := &Report{Sections: []Section{{Name: "a"}, {Name: "b"}}, Ran: []string{"b"}}
	b, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), `id="claims"`) {
		t.Error("a claims section without claims")
	}
	if !strings.Contains(string(b), "Run this time: b.") {
		t.Error("does not say that only b was run")
	}
}

// The page of a run is drawn again from what the run left, with links to pages
// that were made since.
func TestRedraw(t *testing.T) {
	out := t.TempDir()
	if _, err := Redraw(out); err == nil || !strings.Contains(err.Error(), "no report of a run") {
		t.Errorf("in an empty folder: %v", err)
	}
	if err := os.CopyFS(out, os.DirFS("testdata/out")); err != nil {
		t.Fatal(err)
	}
	r := fixture(t)
	if err := r.save(out); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		page, err := os.ReadFile(filepath.Join(out, "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	first := read()
	again, err := Redraw(out)
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != r.String() || read() != first {
		t.Errorf("%v, want %v and the same page", again, r)
	}
	for _, name := range []string{"html/01-first.html", "site/playground.html"} {
		path := filepath.Join(out, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
		if _, err := Redraw(out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(read(), `href="`+name+`"`) {
			t.Errorf("no link to %s", name)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "report.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Redraw(out); err == nil || !strings.Contains(err.Error(), "report.json") {
		t.Errorf("of half a record: %v", err)
	}
}

// Colours in the dark have the contrast that they have on white.
func TestDark(t *testing.T) {
	against := func(colour, ground string) float64 {
		a, b := luminance(rgb(colour)), luminance(rgb(ground))
		return (max(a, b) + 0.05) / (min(a, b) + 0.05)
	}
	for _, colour := range []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#e4e4e4", "#FBE3B5", "#767676"} {
		if day, night := against(colour, "#ffffff"), against(dark(colour), card); math.Abs(night/day-1) > 0.03 {
			t.Errorf("%s has the contrast %.2f with white, %s %.2f with the card", colour, day, dark(colour), night)
		}
	}
	for colour, want := range map[string]string{"#FFFFFF": card, "#000000": "#ffffff"} {
		if got := dark(colour); got != want {
			t.Errorf("%s becomes %s, want %s", colour, got, want)
		}
	}
	if !strings.Contains(pageText, "--card: "+card) {
		t.Errorf("the page has another card than %s", card)
	}
}

func TestSet(t *testing.T) {
	for text, want := range map[string]string{
		"e_min < γ_q, u_FMA": "e<sub>min</sub> &lt; γ<sub>q</sub>, u<sub>FMA</sub>", "P_B": "P<sub>B</sub>", "x_1": "x<sub>1</sub>",
		"ROUNDOFF_DEVICE=gpu": "ROUNDOFF_DEVICE=gpu", "a _ b": "a _ b", "|x_i|": "|x<sub>i</sub>|",
	} {
		if got := string(set(text)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestProse(t *testing.T) {
	short, long := Figure{HTML: "<td>a</td><td>b</td>"}, Figure{HTML: `<td>a</td><td align="left">` + strings.Repeat("word ", 20) + "</td>"}
	if short.Prose() || !long.Prose() {
		t.Error("a table of one-letter words has prose, or one of sentences has none")
	}
	if numbers := (Figure{HTML: long.HTML + strings.Repeat("<td>1</td>", 8)}); numbers.Prose() {
		t.Error("a table of numbers with one long name has prose")
	}
}

func TestNamed(t *testing.T) {
	const table = `<table><thead><tr><th align="left">A</th><th>P<sub>B</sub></th></tr></thead><tbody><tr><td>1</td><td align="right">2</td></tr><tr><td>3</td></tr></tbody></table>`
	const want = `<table><thead><tr><th align="left">A</th><th>P<sub>B</sub></th></tr></thead><tbody><tr><td data-column="A">1</td><td data-column="PB" align="right">2</td></tr><tr><td data-column="A">3</td></tr></tbody></table>`
	if got := named(table); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {1, "1"}, {-2, "−2"}, {10000, "10000"}, {268435456, "268435456"}, {0.5, "0.5"},
		{1.82345, "1.823"}, {1234.56, "1235"}, {12345.6, "1.235·10⁴"}, {0.00123, "1.230·10⁻³"},
		{4.8828125e-4, "4.883·10⁻⁴"}, {-3e10, "−3.000·10¹⁰"}, {2e100, "2.000·10¹⁰⁰"},
		{math.Inf(-1), "−∞"},
	} {
		if got := number(&c.x); got != c.want {
			t.Errorf("number(%v) = %s, want %s", c.x, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := fixture(t)
	const want = "3 notebooks, 16 cells, 4 figures and tables, 7 claims (4 reproduced, 1 differs, 2 cannot-be-tested), 130 s"
	if got := r.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

const (
	sentence = `{"lead": "a", "verdict": "differs", "claims": ["u16"]}`
	line     = `{"quantity": "b", "verdict": "differs", "claims": ["u16"]}`
)

// answered returns an answer of one sentence and one item with one number.
func answered(sentence, line, figure string) string {
	return `{"sentences": [` + sentence + `], "items": [{"name": "Figure 5", "figure": "` + figure + `", "lines": [` + line + `]}]}`
}

// A copy of the fixture with one defect is refused, and the error names the
// defect.
func TestGather_refuses(t *testing.T) {
	for _, c := range []struct {
		name, file, content, want string
	}{
		{"a_missing_drawing", "figures/fig5-mac.svg", "", "fig5-mac.svg"},
		{"a_missing_image", "figures/table1.png", "", "table1.png"},
		{"missing_data", "figures/tensor-core.csv", "", "tensor-core.csv"},
		{"an_image_that_is_none", "figures/table1.png", "GIF89a", "not what its name says"},
		{"no_finding", "figures/table1.json", `{"name": "table1", "notebook": "01-first", "kind": "figure"}`, "no finding"},
		{"no_notebook", "figures/table1.json", `{"name": "table1", "finding": "c", "kind": "figure"}`, "no notebook"},
		{"an_unknown_notebook", "figures/table1.json", `{"name": "table1", "finding": "c", "kind": "figure", "notebook": "09"}`, `no notebook "09"`},
		{"an_unknown_kind", "figures/table1.json", `{"name": "table1", "finding": "c", "notebook": "01-first", "kind": "film"}`, `kind "film"`},
		{"a_table_without_rows", "figures/table1.json", `{"name": "table1", "finding": "c", "notebook": "01-first", "kind": "table"}`, "without <table>"},
		{"no_claims", "claims.json", "", "claims.json"},
		{"bad_claims", "claims.json", "[]", "the list is empty"},
		{"no_answer", "answer.json", "", "answer.json"},
		{"an_empty_answer", "answer.json", `{}`, "0 sentences"},
		{"an_answer_that_is_none", "answer.json", `[]`, "cannot unmarshal"},
		{"a_sentence_without_words", "answer.json", answered(`{"verdict": "differs", "claims": ["u16"]}`, line, "fig5-mac"), `"" has the verdict`},
		{"a_sentence_without_claims", "answer.json", answered(`{"lead": "a", "verdict": "differs"}`, line, "fig5-mac"), "0 claims"},
		{"a_sentence_on_an_unknown_claim", "answer.json", answered(`{"lead": "a", "verdict": "differs", "claims": ["u17"]}`, line, "fig5-mac"), `the claim "u17"`},
		{"a_sentence_with_an_unknown_verdict", "answer.json", answered(`{"lead": "a", "verdict": "maybe", "claims": ["u16"]}`, line, "fig5-mac"), `verdict "maybe"`},
		{"a_number_without_a_name", "answer.json", answered(sentence, `{"verdict": "differs", "claims": ["u16"]}`, "fig5-mac"), "in Figure 5"},
		{"an_item_without_a_figure", "answer.json", answered(sentence, line, ""), `shown by figure ""`},
		{"an_item_of_an_unknown_figure", "answer.json", answered(sentence, line, "fig7"), `"fig7", which is not there`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS("testdata/out")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, c.file)
			if c.content == "" {
				os.Remove(path)
			} else if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			r := &Report{Sections: []Section{{Name: "01-first"}, {Name: "02-second"}, {Name: "03-claims"}}}
			if err := r.gather(dir, true); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestParseClaims(t *testing.T) {
	const good = `{"id": "a", "source": "s", "paper": "p", "measured": null, "unit": "", "verdict": "differs", "why": "w", "notebook": "n"}`
	if list, err := ParseClaims([]byte("[" + good + "]")); err != nil || len(list) != 1 || list[0].Measured != nil {
		t.Fatalf("%v, %v", list, err)
	}
	change := func(old, new string) string { return "[" + strings.Replace(good, old, new, 1) + "]" }
	for _, c := range []struct{ data, want string }{
		{`{}`, "cannot unmarshal"},
		{`[]`, "empty"},
		{`[` + good + `] x`, "something follows"},
		{`[` + good + `,` + good + `]`, `two claims with the id "a"`},
		{change(`"a"`, `""`), "id is empty"},
		{change(`"differs"`, `"wrong"`), `verdict "wrong"`},
		{change(`null`, `"1"`), "cannot unmarshal"},
		{change(`"unit": "", `, ``), `claim 1: no key "unit"`},
		{change(`"measured": null, `, ``), `claim 1: no key "measured"`},
	} {
		if _, err := ParseClaims([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.data, err, c.want)
		}
	}
}
