package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// askSweep runs roundoff sweep and returns what it prints.
func askSweep(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(t.Context(), append([]string{"sweep"}, args...), &out, &errs); got != status {
		t.Fatalf("%q: status %d, want %d: %s", args, got, status, errs.String())
	}
	return out.String(), errs.String()
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	small := func(args ...string) []string {
		return append(args, "-m", "8", "-n", "2", "-k", "32,64", "-devices", "volta,paper/2", "-dist", "U(-1,1),log-normal")
	}
	t.Run("says_what_it_does_and_writes_it", func(t *testing.T) {
		stdout, stderr := askSweep(t, 0, small("--seeds", "1:2", "-o", file("whole.csv"))...)
		if want := "2 machines, 2 kinds of data, 8 × K × 2, K = 32,64, seeds 1:2, "; !strings.HasPrefix(stderr, want) {
			t.Errorf("%q, want %q", stderr, want)
		}
		if lines := strings.Count(stdout, "\n"); lines != 1+2*2*2 {
			t.Errorf("%d lines:\n%s", lines, stdout)
		}
		text, err := os.ReadFile(file("whole.csv"))
		if want := "# roundoff sweep --seeds 1:2 -o "; err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%v, %.60q, want %q", err, text, want)
		}
	})
	t.Run("joins_what_was_split", func(t *testing.T) {
		askSweep(t, 0, small("--seeds", "1", "-o", file("a.csv"))...)
		askSweep(t, 0, small("--seeds", "2", "-o", file("b.csv"))...)
		askSweep(t, 0, "--join", file("a.csv"), file("b.csv"), "-o", file("joined.csv"))
		joined, whole := readRows(t, file("joined.csv")), readRows(t, file("whole.csv"))
		if len(joined) != len(whole) {
			t.Fatalf("%d rows, want %d", len(joined), len(whole))
		}
		for i, r := range joined {
			if r.Summary != whole[i].Summary {
				t.Errorf("%+v, want %+v", r.Summary, whole[i].Summary)
			}
		}
		if _, stderr := askSweep(t, 1, "--join", file("a.csv"), file("whole.csv")); !strings.Contains(stderr, "seed 1 of volta, U(-1,1) is in both") {
			t.Error(stderr)
		}
	})
	for _, c := range []struct {
		status int
		args   string
		want   string
	}{
		{2, "-m 0", "0, want 1 to "},
		{2, "-join", "want files with -join, and none without"},
		{2, "a.csv", "want files with -join, and none without"},
		{1, "-devices none", `no machine "none"`},
		{1, "-dist U(1,0)", `no data "U(1,0)"`},
		{1, "-k 12,x", "-k x, want numbers of 1 or more"},
		{1, "-seeds 3:2", `seeds "3:2"`},
		{1, "-confidence 1", "-confidence 1, want numbers between 0 and 1"},
		{1, "-devices ,", "names nothing"},
		{1, "-join nowhere.csv", "nowhere.csv"},
		{1, "-told hearsay", `told from "hearsay"`},
		{1, "-standard -k 5", "nothing of that is in the standard plan"},
		{1, "-hunt -1s", "-hunt -1s"},
	} {
		t.Run(c.args, func(t *testing.T) {
			if _, stderr := askSweep(t, c.status, strings.Fields(c.args)...); !strings.Contains(stderr, c.want) {
				t.Errorf("%q, want %q", stderr, c.want)
			}
		})
	}
}

// -standard sweeps the standard plan, or a part of it, and prints the totals of
// each bound.
func TestSweep_standard(t *testing.T) {
	stdout, stderr := askSweep(t, 0, "-standard", "-devices", "volta,volta-mma-binary16-binary16", "-dist", "U(0,1),U(-1,1)", "-k", "7,33", "-seeds", "1", "-told", "distribution,moments")
	if want := "2 machines, 2 kinds of data, 16 × K × 16, K = [7 33], seeds 1"; !strings.HasPrefix(stderr, want) {
		t.Errorf("%q, want %q", stderr, want)
	}
	if want := "K = [33], seeds 1, told [moments]"; !strings.Contains(stderr, want) {
		t.Errorf("%q, want %q", stderr, want)
	}
	if !strings.Contains(stdout, "12 products, 3072 outputs\n") || !strings.Contains(stdout, "\ntruncation ") {
		t.Error(stdout)
	}
}

// The number of outputs that are not judged is printed with the reason.
func TestSweep_tells_what_it_skips(t *testing.T) {
	stdout, _ := askSweep(t, 0, "-devices", "hopper,hopper-e4m3", "-dist", "point(1000)", "-k", "2", "-m", "2", "-n", "2", "-seeds", "1")
	if want := "4 outputs not judged: an element of A or B is beyond e4m3\n"; !strings.HasSuffix(stdout, want) {
		t.Errorf("%q, want %q", stdout, want)
	}
}

// A hunt ends when its time is up, and prints how much it did.
func TestSweep_hunt(t *testing.T) {
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"sweep", "-hunt", "1ns", "-seed", "3"}, &out, &errs)
	trials, _, ok := strings.Cut(out.String(), " trials, ")
	if failed := strings.Contains(errs.String(), "claimed bounds fail"); !ok || trials == "0" || (status == 1) != failed || status > 1 {
		t.Errorf("status %d: %s%s", status, out.String(), errs.String())
	}
}

// digest prints each violation as a command, once if the bound fails with and
// without ranges.
func TestSweep_digest_tells_commands(t *testing.T) {
	row := func(ranges bool) sweep.Row {
		return sweep.Row{
			Machine: "volta>binary16", Data: "U(0,1)", M: 2, N: 3, K: 4, Seeds: []uint64{1, 2}, Confidence: 0.9, Ranges: ranges,
			Bound: "b", Deterministic: true, Verdict: sweep.Holds, Summary: sweep.Summary{Runs: 2, Failed: 1, Outputs: 12, Violations: 5, Largest: 1.5},
		}
	}
	var out bytes.Buffer
	err := digest(&out, []sweep.Row{row(false), row(true)})
	want := "b 1.5, 5 of 12: roundoff sweep -devices 'volta>binary16' -dist 'U(0,1)' -m 2 -n 3 -k 4 -seeds 1:2 -confidence 0.9\n"
	if err == nil || strings.Count(out.String(), want) != 1 {
		t.Errorf("%v: %s\nwant once %s", err, out.String(), want)
	}
}

func readRows(t *testing.T, path string) []sweep.Row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, _, err := sweep.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The command fails if a claimed bound is violated, and not if the bound is not
// claimed.
func TestSweep_fails_with_a_bound(t *testing.T) {
	rows := []sweep.Row{
		{Machine: "m", Data: "l", Bound: sweep.ErrorRow, Verdict: sweep.Holds},
		{Machine: "m", Data: "l", K: 8, Bound: "b", Deterministic: true, Verdict: sweep.Holds, Summary: sweep.Summary{Runs: 3, Failed: 1}},
	}
	const want = "1 claimed bounds fail: b on m, l, K = 8 fails 1 times of 3, stated is 0"
	if err := summarize(&bytes.Buffer{}, rows); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	rows[1].Verdict = sweep.NotData
	if err := summarize(&bytes.Buffer{}, rows); err != nil {
		t.Error(err)
	}
}

// endsAt is a writer that ends a context when it writes a text for the nth
// time.
type endsAt struct {
	bytes.Buffer
	text string
	n    int
	end  func()
}

func (w *endsAt) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		if w.n--; w.n == 0 {
			w.end()
		}
	}
	return w.Buffer.Write(b)
}

// A standard sweep that is interrupted in its second part writes the rows of
// the first.
func TestStandard_keeps_what_it_has(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, end := context.WithCancel(t.Context())
	stderr := &endsAt{text: "machines, ", n: 2, end: end}
	args := strings.Fields("-standard -devices hopper-wgmma-binary16-binary32 -dist U(0,1) -k 33,100 -seeds 1 -o f.csv")
	if err := sweepCommand(ctx, args, io.Discard, stderr); !errors.Is(err, context.Canceled) || !strings.Contains(stderr.String(), "f.csv contains the rows so far") {
		t.Errorf("%v, %q", err, stderr.String())
	}
	data, err := os.ReadFile("f.csv")
	if err != nil || !bytes.Contains(data, []byte("(interrupted)")) || !bytes.Contains(data, []byte(",33,")) || bytes.Contains(data, []byte(",100,0.99")) {
		t.Errorf("%.300q, %v", data, err)
	}
}

// A hunt that is interrupted prints what it has found so far.
func TestHunt_says_what_it_has(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer end()
	var stdout bytes.Buffer
	err := sweepCommand(ctx, []string{"-hunt", "10m"}, &stdout, io.Discard)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(stdout.String(), " trials, ") {
		t.Errorf("%v, %q", err, stdout.String())
	}
}
