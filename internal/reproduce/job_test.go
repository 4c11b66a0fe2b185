//go:build unix

package reproduce

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/notebook"
)

const kernel = "../../tools/kernels/gonb/kernel.json"

// gonb skips the test if GoNB is not available, and fails it if temporary files
// are left when it ends.
func gonb(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a GoNB kernel")
	}
	for _, tool := range []string{"gonb", "goimports"} {
		if _, err := os.Stat("../../.bin/" + tool); err != nil {
			t.Skipf("no .bin/%s: make tools builds it", tool)
		}
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(tmp); len(left) != 0 {
			t.Errorf("left in the temporary folder: %v", left)
		}
	})
}

func TestRun(t *testing.T) {
	gonb(t)
	out := filepath.Join(t.TempDir(), "out with a space")
	var log bytes.Buffer
	job := Job{Out: out, Notebooks: "testdata/notebooks", Kernel: kernel, Timeout: time.Minute, Log: &log}
	stale := []string{"figures/old.svg", "figures/old.json", "figures/old.html", "notebooks/00-old.ipynb", "claims.json", "answer.json", "claims-elsewhere.json", "report.json", "profile.json", "index.html", "ro-crate-metadata.json"}
	ours := []string{"figures/mine.svg", "figures/mine.json", "notebooks/mine.ipynb", "other"}
	litter(t, out, append(stale, ours...))
	report, err := job.Run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}

	t.Run("sums_up", func(t *testing.T) {
		const want = "3 notebooks, 7 cells, 4 figures and tables, 7 claims (4 reproduced, 1 differs, 2 cannot-be-tested)"
		if got := report.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("writes_a_line_for_each_cell", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 7 || !strings.HasPrefix(lines[1], "01-first [2/5] ok ") || !strings.HasSuffix(lines[1], " s  func double(n int) int { return 2 * n }") {
			t.Errorf("progress:\n%s", log.String())
		}
	})
	t.Run("removes_what_earlier_runs_left", func(t *testing.T) {
		for _, name := range []string{"figures/old.svg", "figures/old.json", "figures/old.html", "notebooks/00-old.ipynb"} {
			if _, err := os.Stat(filepath.Join(out, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("and_nothing_else", func(t *testing.T) {
		for _, name := range ours {
			if _, err := os.Stat(filepath.Join(out, name)); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("writes_the_page", func(t *testing.T) {
		page, err := os.ReadFile(filepath.Join(out, "index.html"))
		if err != nil || !bytes.Contains(page, []byte("1. What a cell can show")) {
			t.Errorf("%d bytes, %v", len(page), err)
		}
	})
	t.Run("keeps_what_cells_showed", func(t *testing.T) {
		cells := executed(t, out, "01-first").CodeCells()
		if got := shown(cells[2]); got != "stderr a warning is no failure;|stdout 42;" && got != "stdout 42;|stderr a warning is no failure;" {
			t.Errorf("streams: %s", got)
		}
		if got := cells[3].Outputs[0].Data["text/html"]; len(cells[3].Outputs) != 1 || got != "<b>late</b>" {
			t.Errorf("updated display: %v", got)
		}
		if got, _ := cells[4].Outputs[0].Data["text/html"].(string); len(got) != 150_000*len("<i>1.8 MB</i>") {
			t.Errorf("large output: %d bytes", len(got))
		}
		if c := executed(t, out, "01-first").Cells[6]; len(c.Outputs) != 0 {
			t.Errorf("a stored output stays: %v", c.Outputs[0])
		}
		if got := shown(executed(t, out, "02-second").CodeCells()[0]); got != "stdout 02-second true;" {
			t.Errorf("environment: %s", got)
		}
	})
	t.Run("starts_a_gopls_that_does_nothing", func(t *testing.T) {
		if got := shown(executed(t, out, "02-second").CodeCells()[1]); !strings.HasSuffix(got, "/tools/run/gopls;") {
			t.Errorf("gopls: %s", got)
		}
	})
	t.Run("of_one_keeps_the_others", func(t *testing.T) {
		job.Names = []string{"01"}
		report, err := job.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(report.Ran, []string{"01-first"}) || !report.Partly() || len(report.Claims) != 7 || report.Figures() != 3 {
			t.Errorf("ran %v, %v", report.Ran, report)
		}
	})
}

// litter writes files that an earlier run, or another program ("mine"), could
// have left in out.
func litter(t *testing.T, out string, names []string) {
	t.Helper()
	for _, name := range names {
		content := "x"
		switch {
		case strings.HasSuffix(name, "old.json"):
			content = `{"name": "old", "finding": "c", "notebook": "00-old", "kind": "figure"}`
		case strings.HasSuffix(name, "mine.json"):
			content = `{"name": "something else"}`
		case strings.HasSuffix(name, ".ipynb"):
			content = `{"nbformat": 4, "cells": [], "metadata": {"` + executedMark + `": ` +
				map[bool]string{true: "true", false: "null"}[strings.Contains(name, "old")] + `}}`
		}
		path := filepath.Join(out, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// executed returns an executed notebook.
func executed(t *testing.T, out, name string) *notebook.Notebook {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// shown returns the streams of a cell in one line.
func shown(c *notebook.Cell) string {
	var list []string
	for _, o := range c.Outputs {
		list = append(list, o.Name+" "+strings.ReplaceAll(o.Text, "\n", ";"))
	}
	return strings.Join(list, "|")
}

func TestRun_stops_at_a_cell_that_fails(t *testing.T) {
	gonb(t)
	for _, c := range []struct {
		name    string
		timeout time.Duration
		want    []string // in the error

		together bool // the cell that fails was compiled with others first
	}{
		{"compile-error", time.Minute, []string{"failed: ./main.go:", "declared and not used: unused", "| var unused int"}, true},
		{"panic", time.Minute, []string{"at the disco", `| panic("at the disco")`}, true},
		{"exit", time.Minute, []string{"exit status 3", "last words", "| os.Exit(3)"}, true},
		{"command", time.Minute, []string{"exit status 2", "/no/such/file", "| !ls /no/such/file"}, false},
		{"killed", time.Minute, []string{"signal: killed", "| !kill -9"}, false},
		{"endless", 3 * time.Second, []string{"not done after 3s", "| time.Sleep(time.Hour)"}, true},
		{"deaf", 3 * time.Second, []string{"not done after 3s", "| signal.Ignore"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			var log bytes.Buffer
			job := Job{Out: out, Notebooks: "testdata/failing", Names: []string{c.name}, Kernel: kernel, Timeout: c.timeout, Log: &log}
			_, err := job.Run(t.Context())
			var e *CellError
			if !errors.As(err, &e) || e.Notebook != c.name || e.Cell != 2 || e.Of != 3 {
				t.Fatalf("%v, want an error of cell 2 of 3", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %s in it", err, want)
				}
			}
			if got, together := strings.Contains(log.String(), c.name+" again, one cell after the other: "), c.together; got != together {
				t.Errorf("began again: %v, want %v", got, together)
			}
			if got := log.String(); !strings.Contains(got, c.name+" [2/3] FAILED") || strings.Contains(got, "[3/3]") {
				t.Errorf("progress:\n%s", got)
			}
			if left, _ := filepath.Glob(filepath.Join(out, "*", "*")); len(left) != 0 {
				t.Errorf("half a notebook was written: %v", left)
			}
		})
	}
}

// Cells that are compiled together show what they show one by one, although
// they change what others declare.
func TestRun_shows_the_same_together_and_apart(t *testing.T) {
	gonb(t)
	var shows [2][]string
	for i, apart := range []bool{false, true} {
		out := t.TempDir()
		var log bytes.Buffer
		job := Job{Out: out, Notebooks: "testdata/programs", Names: []string{"a"}, Kernel: kernel, Timeout: time.Minute, Apart: apart, Log: &log}
		if _, err := job.Run(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 10 || !strings.HasPrefix(lines[9], "a [10/10] ok ") {
			t.Errorf("progress:\n%s", log.String())
		}
		for _, c := range executed(t, out, "a").CodeCells() {
			texts := map[string]string{} // by where they are shown: a stream and a display can change places
			for _, o := range c.Outputs {
				markdown, _ := o.Data["text/markdown"].(string)
				html, _ := o.Data["text/html"].(string)
				texts[cmp.Or(o.Name, o.Type)] += o.Text + markdown + html
			}
			shows[i] = append(shows[i], fmt.Sprintf("%d: %q", c.Count, texts))
		}
	}
	const want = `3: map["stdout":"3 3 7 [9 2 3]"]` // of the third, by hand
	if got, alone := strings.Join(shows[0], "\n"), strings.Join(shows[1], "\n"); got != alone || !strings.Contains(got, want) {
		t.Errorf("together\n%s\nand apart\n%s\nwant both, with %s", got, alone, want)
	}
}

// A cell that leaves the next one without a place to write to is not compiled
// with it.
func TestRun_begins_again_where_cells_disturb_each_other(t *testing.T) {
	gonb(t)
	out := t.TempDir()
	var log bytes.Buffer
	job := Job{Out: out, Notebooks: "testdata/programs", Names: []string{"c"}, Kernel: kernel, Timeout: time.Minute, Log: &log}
	if _, err := job.Run(t.Context()); err != nil || !strings.Contains(log.String(), "c again, one cell after the other: cells together: of 2 cells, 2 ended") {
		t.Errorf("%v\n%s", err, log.String())
	}
	if got := shown(executed(t, out, "c").CodeCells()[1]); got != "stdout heard" {
		t.Errorf("the second cell shows %s", got)
	}
}

// The time limit is that of a cell, not of all that are compiled together.
func TestRun_limits_the_time_of_each_cell(t *testing.T) {
	gonb(t)
	var log bytes.Buffer
	job := Job{Out: t.TempDir(), Notebooks: "testdata/programs", Names: []string{"b"}, Kernel: kernel, Timeout: 10 * time.Second, Log: &log}
	if _, err := job.Run(t.Context()); err != nil || strings.Contains(log.String(), "again") {
		t.Errorf("%v\n%s", err, log.String())
	}
}

// Two notebooks wait for each other, and then one has a cell that runs alone.
func TestRun_two_at_a_time(t *testing.T) {
	gonb(t)
	out := t.TempDir()
	var log bytes.Buffer
	job := Job{Out: out, Notebooks: "testdata/together", Names: []string{"a", "b"}, Kernel: kernel, Timeout: 20 * time.Second, AtATime: 2, Log: &log}
	_, err := job.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "claims.json") { // all is well but that there are no claims
		t.Fatalf("%v\n%s", err, log.String())
	}
	order, err := os.ReadFile(filepath.Join(out, "order"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(order), "\n"); n != 2*(1+8) {
		t.Errorf("%d lines, want 18", n)
	}
	if !strings.Contains(string(order), "alone begins\nalone ends\n") {
		t.Errorf("a cell ran beside one that is to run alone:\n%s", order)
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "] ok ") || !strings.HasPrefix(line, "a [") && !strings.HasPrefix(line, "b [") {
			t.Errorf("line of the log: %s", line)
		}
	}
}

// Of two notebooks that run at the same time one fails. The other ends and is
// kept, and a third does not begin.
func TestRun_keeps_what_ran_beside_a_failure(t *testing.T) {
	gonb(t)
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	out := t.TempDir()
	var log bytes.Buffer
	job := Job{Out: out, Notebooks: "testdata/partly", Kernel: kernel, Timeout: 20 * time.Second, AtATime: 2, Log: &log}
	_, err := job.Run(t.Context())
	var e *CellError
	if !errors.As(err, &e) || e.Notebook != "a" || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v, want the error of a", err)
	}
	if got := shown(executed(t, out, "b").CodeCells()[1]); got != "stdout 300MiB 400;" {
		t.Errorf("b showed %s, want its share of the memory, and how to collect it", got)
	}
	for name, want := range map[string]bool{"ended": true, "third": false, "notebooks/a.ipynb": false, "notebooks/c.ipynb": false, "report.json": false} {
		if _, err := os.Stat(filepath.Join(out, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Contains(log.String(), "c [") {
		t.Errorf("progress:\n%s", log.String())
	}
}

func TestRun_stops_when_interrupted(t *testing.T) {
	gonb(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := writerFunc(func(p []byte) (int, error) { // cell 1 is done; cell 2 does not end by itself
		time.AfterFunc(3*time.Second, cancel)
		return len(p), nil
	})
	job := Job{Out: t.TempDir(), Notebooks: "testdata/failing", Names: []string{"endless"}, Kernel: kernel, Timeout: time.Minute, Log: log}
	_, err := job.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "cell 2 of 3 failed: interrupted") {
		t.Errorf("%v, want interrupted", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Run returns an error for mistakes that can be found without a kernel.
func TestRun_refuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	python := map[string]any{"nbformat": 4, "cells": []any{}, "metadata": map[string]any{}}
	data, _ := json.Marshal(python)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "python"), 0o755), os.WriteFile(filepath.Join(dir, "python", "a.ipynb"), data, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		job  Job
		want string
	}{
		{"a_folder_without_notebooks", Job{Notebooks: "testdata"}, "no notebooks"},
		{"an_unknown_name", Job{Notebooks: "testdata/notebooks", Names: []string{"02", "7"}}, "no notebook 7 in testdata/notebooks, there are 01-first, 02-second, 03-claims"},
		{"a_missing_kernel", Job{Notebooks: "testdata/notebooks", Kernel: "none"}, "no kernelspec"},
		{"to_overwrite_notebooks", Job{Notebooks: filepath.Join(dir, "notebooks"), Out: dir, Kernel: kernel}, "choose another folder"},
		{"a_notebook_of_another_language", Job{Notebooks: filepath.Join(dir, "python"), Out: filepath.Join(dir, "o"), Kernel: kernel}, "no kernelspec in the metadata"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.job.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "notebooks", "*.ipynb")); len(left) != 3 {
		t.Errorf("%d notebooks left of 3", len(left))
	}
}

func TestFirstLine(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"%%\n\n  fmt.Println(1)\nx", "fmt.Println(1)"},
		{"import (\n\t\"fmt\"\n)\n\n%%\nfmt.Println(1)", "fmt.Println(1)"},
		{"import \"fmt\"", "import \"fmt\""},
		{"%%", ""},
		{"%% --n=7\nx", "%% --n=7"},
		{strings.Repeat("γ", 61), strings.Repeat("γ", 59) + "…"},
	} {
		if got := firstLine(c.source); got != c.want {
			t.Errorf("%q: %q, want %q", c.source, got, c.want)
		}
	}
}
