package abi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

const smallSweep = `"devices":"ieee,hopper/2","plans":"split","dist":"U(0,1),pairing","m":4,"n":2,"k":"16,40"`

// shardFile writes a shard into a file.
func shardFile(t *testing.T, dir, shard string) string {
	t.Helper()
	code, text := Call(func() (string, error) { return Sweep(`{`+smallSweep+`,"shard":"`+shard+`"}`, never) })
	file := filepath.Join(dir, strings.ReplaceAll(shard, "/", "-of-")+".csv")
	if err := os.WriteFile(file, []byte(text), 0o666); code != OK || err != nil {
		t.Fatalf("%d: %.300s, %v", code, text, err)
	}
	return file
}

// quoted returns a list in JSON.
func quoted(words ...string) string { return `["` + strings.Join(words, `","`) + `"]` }

// Shards are parts of the sweep that the package computes, and join to its
// rows.
func TestSweep(t *testing.T) {
	q := question.NewSweep()
	if err := json.Unmarshal([]byte("{"+smallSweep+"}"), &q); err != nil {
		t.Fatal(err)
	}
	plans, command, err := q.Results()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := plans[0].Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].Product, rows[i].Exact = 0, 0
	}
	var want strings.Builder
	if err := sweep.Write(&want, command+"\nroundoff "+question.Version(), rows); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files []string
	for i := range 3 {
		files = append(files, shardFile(t, dir, fmt.Sprintf("%d/3", i+1)))
	}
	for _, c := range []struct {
		question string
		missing  int
	}{
		{`{"files":` + quoted(files...) + `}`, 0},
		{`{"files":` + quoted(files[2], files[0], files[1]) + `,"partial":true}`, 0},
		{`{"files":` + quoted(files[2], files[0]) + `,"partial":true}`, 3},
	} {
		code, text := Call(func() (string, error) { return Join(c.question) })
		var z struct {
			CSV, Version, Command, Text string
			Draws, Missing              int
			Shards                      []int
			Rows                        []sweptRow
		}
		if err := json.Unmarshal([]byte(text), &z); code != OK || err != nil {
			t.Fatalf("%d: %v, %.300s", code, err, text)
		}
		if z.Draws != 8 || z.Missing != c.missing || z.Command != command || z.Version != question.Version() {
			t.Errorf("%s: %d draws, %d missing, %s", c.question, z.Draws, z.Missing, z.Command)
		}
		if c.missing > 0 {
			if len(z.Shards) != 1 || z.Shards[0] != 2 || !strings.Contains(z.CSV, "\n# 5 of 8 draws: shards 2 are missing\n") {
				t.Errorf("%v, %.300s", z.Shards, z.CSV)
			}
			continue
		}
		if z.CSV != want.String() {
			t.Errorf("joined\n%.600s\nwant\n%.600s", z.CSV, want.String())
		}
		if len(z.Rows) != len(rows) {
			t.Fatalf("%d rows, want %d", len(z.Rows), len(rows))
		}
		for i, r := range rows {
			got := z.Rows[i]
			if got.Machine != r.Machine || got.K != r.K || got.Bound != r.Bound || got.Violations != r.Violations || got.Outputs != r.Outputs ||
				(got.Mean != nil) != (r.Bound == sweep.ErrorRow && r.Outputs > 0) || got.Mean != nil && *got.Mean != r.Mean() ||
				got.Fails != (len(sweep.Violated(rows[i:i+1], sweep.Sure)) > 0) {
				t.Fatalf("%+v, want %+v", got, r)
			}
		}
	}
}

// Rows with recipes tell both parts of errors, and which part of a bound is of
// quantisation.
func TestSweep_of_recipes(t *testing.T) {
	text := `{"devices":"hopper-e4m3,int32","recipe":"torchao-e4m3-row,int8-row","dist":"U(0,1)","m":4,"n":2,"k":"128","seeds":"1:2","told":"matrices","shard":"1/1"}`
	q := question.NewSweep()
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		t.Fatal(err)
	}
	plans, _, err := q.Results()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := plans[0].Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	code, part := Call(func() (string, error) { return Sweep(text, never) })
	file := filepath.Join(t.TempDir(), "1.csv")
	if err := os.WriteFile(file, []byte(part), 0o666); code != OK || err != nil {
		t.Fatalf("%d: %.300s, %v", code, part, err)
	}
	code, joined := Call(func() (string, error) { return Join(`{"files":` + quoted(file) + `}`) })
	var z struct{ Rows []sweptRow }
	if err := json.Unmarshal([]byte(joined), &z); code != OK || err != nil || len(z.Rows) != len(rows) {
		t.Fatalf("%d: %v, %d rows, want %d", code, err, len(z.Rows), len(rows))
	}
	for i, r := range rows {
		got, errors := z.Rows[i], r.Bound == sweep.ErrorRow
		if got.Machine != r.Machine || got.Recipe != r.Recipe || got.Told != r.Told.String() || (got.QuantisedMean != nil) != errors || (got.Conversion != nil) == errors ||
			errors && (*got.QuantisedMean != r.Quantised.Mean() || *got.QuantisedSpread != r.Quantised.Spread() || *got.AccumulatedMean != r.Accumulated.Mean() || *got.AccumulatedSpread != r.Accumulated.Spread()) {
			t.Errorf("%+v, want %+v", got, r)
		}
		near := func(x *float64, want float64) bool { return x != nil && *x >= 0.99*want && *x <= 1.01*want } // three digits
		if errors && (!near(got.QuantisedLargest, r.Quantised.Largest) || !near(got.AccumulatedLargest, r.Accumulated.Largest)) || !errors && !near(got.Conversion, r.Conversion) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}

// A row says that its bound fails, if it is claimed.
func TestSweep_says_what_fails(t *testing.T) {
	r := sweep.Row{Bound: "b", Deterministic: true, Verdict: sweep.Holds, Seeds: []uint64{1, 2, 3}, Summary: sweep.Summary{Runs: 3, Failed: 1, Outputs: 6, Violations: 1}}
	other := r
	other.Verdict = sweep.NotData
	if !swept(r).Fails || swept(other).Fails {
		t.Errorf("%+v, %+v", swept(r), swept(other))
	}
}

// What a sweep is, and what files have of it.
func TestSweep_describes(t *testing.T) {
	dir := t.TempDir()
	one, two, cut := shardFile(t, dir, "1/3"), shardFile(t, dir, "2/3"), filepath.Join(dir, "cut.csv")
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, text[:len(text)-9], 0o666); err != nil {
		t.Fatal(err)
	}
	ask := func(files string) (int, string) {
		return Call(func() (string, error) { return Sweep(`{`+smallSweep+`,"files":{`+files+`}}`, never) })
	}
	code, said := ask(`"3/3":"` + filepath.Join(dir, "none.csv") + `","2/3":"` + cut + `","1/3":"` + one + `"`)
	var z struct {
		Draws, Shards int
		Outputs       float64
		Files         []foundShard
	}
	if err := json.Unmarshal([]byte(said), &z); code != OK || err != nil || z.Draws != 8 || z.Shards != 8 || z.Outputs != 8*4*2*3 || len(z.Files) != 3 {
		t.Fatalf("%d: %v, %s", code, err, said)
	}
	for i, want := range []foundShard{{Draws: 3}, {Missing: 3, Why: "damaged or cut off"}, {Missing: 2}} {
		if got := z.Files[i]; got.Shard.Index != i+1 || got.Draws != want.Draws || got.Missing != want.Missing || !strings.Contains(got.Why, want.Why) || (got.Why == "") != (want.Why == "") {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for files, want := range map[string]string{
		`"3/3":"` + two + `"`: "is shard 2/3, not 3/3; it stays as it is",
		`"3/4":"` + two + `"`: "want shards of as many; it stays as it is",
		`"2/3":"` + dir + `"`: "is no file",
		`"3/2":"` + two + `"`: `files: sweep: shard "3/2"`,
	} {
		if code, said := ask(files); code != Failed && code != Argument || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s, want %s", files, code, said, want)
		}
	}
	if code, said := Call(func() (string, error) {
		return Sweep(`{"devices":"ieee","m":4,"n":2,"k":"16","files":{"1/3":"`+one+`"}}`, never)
	}); code != Failed || !strings.Contains(said, "want shards of one plan; it stays as it is") {
		t.Errorf("%d, %s", code, said)
	}
}

// What of the standard plan is not named is all of it.
func TestSweep_standard(t *testing.T) {
	for text, want := range map[string]string{
		`{"standard":true,"k":"7"}`:       "roundoff sweep -standard -k 7 -seeds 1:2",
		`{"standard":true,"seeds":"1:3"}`: "roundoff sweep -standard -seeds 1:3",
	} {
		if code, said := Call(func() (string, error) { return Sweep(text, never) }); code != OK || !strings.Contains(said, `"command":"`+want+`"`) {
			t.Errorf("%s: %d, %s, want %s", text, code, said, want)
		}
	}
}

// Every difference is refused with a sentence.
func TestSweep_refuses(t *testing.T) {
	dir := t.TempDir()
	one := shardFile(t, dir, "1/2")
	for text, want := range map[string]string{
		`{"k":16}`:                            "k is a number, want one of type string",
		`{"device":"hopper"}`:                 `question: unknown field "device"`,
		`{"shard":"3/2"}`:                     `shard "3/2", want one of how many`,
		`{"shard":"1/2","files":{"1/2":"f"}}`: `shard is "1/2" and files are named, want one of them`,
		`{"standard":true,"per_output":true}`: "per_output with standard, which has its own",
		`{"devices":"pascal","shard":"1/1"}`:  `no machine "pascal"`,
	} {
		if code, said := Call(func() (string, error) { return Sweep(text, never) }); code != Argument || !strings.Contains(strings.ReplaceAll(said, "-", ""), strings.ReplaceAll(want, "-", "")) {
			t.Errorf("%s: %d, %s, want %s", text, code, said, want)
		}
	}
	for text, want := range map[string]string{
		`{}`:                                        "files is empty",
		`{"files":["/none.csv"]}`:                   "no such file",
		`{"files":` + quoted(one) + `}`:             "1 of 2 shards are missing: 2",
		`{"files":` + quoted(one, one) + `}`:        "are both shard 1/2, want each once",
		`{"files":` + quoted("sweep_test.go") + `}`: "no shard of a sweep",
	} {
		if code, said := Call(func() (string, error) { return Join(text) }); code != Argument && code != Failed || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s, want %s", text, code, said, want)
		}
	}
}

// A shard that is cancelled ends soon.
func TestSweep_cancelled(t *testing.T) {
	start := time.Now()
	code, _ := Call(func() (string, error) {
		return Sweep(`{"devices":"hopper","dist":"U(0,1)","seeds":"1:1000","shard":"1/1"}`, func() bool { return time.Since(start) > 100*time.Millisecond })
	})
	if code != Cancelled {
		t.Errorf("code %d", code)
	}
}
