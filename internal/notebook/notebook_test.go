package notebook

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func everyKind(t testing.TB) []byte {
	data, err := os.ReadFile("testdata/every-kind.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t *testing.T, s string) *Notebook {
	t.Helper()
	nb, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// The file has the form that Jupyter itself writes, with keys at every level
// that this package ignores.
func TestParse(t *testing.T) {
	data := everyKind(t)
	nb := parse(t, string(data))
	t.Run("then_Bytes_changes_nothing", func(t *testing.T) {
		got, err := nb.Bytes()
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("err = %v, got\n%s", err, got)
		}
	})
	t.Run("joins_lines", func(t *testing.T) {
		c := nb.Cells[1]
		if want := "%%\nfmt.Println(1)\n"; c.Source != want {
			t.Errorf("source %q, want %q", c.Source, want)
		}
		if want := "one\ntwo"; c.Outputs[0].Text != want {
			t.Errorf("stream %q, want %q", c.Outputs[0].Text, want)
		}
		if want := "<b>a &amp; b</b>\n<i>c</i>"; c.Outputs[1].Data["text/html"] != want {
			t.Errorf("html %q, want %q", c.Outputs[1].Data["text/html"], want)
		}
	})
	t.Run("reads_what_went_wrong", func(t *testing.T) {
		o := nb.Cells[1].Outputs[3]
		if o.ErrName != "ERROR" || o.ErrValue != "exit status 2" || len(o.Traceback) != 1 {
			t.Errorf("error output %+v", o)
		}
	})
	t.Run("leaves_JSON_values_alone", func(t *testing.T) {
		if _, ok := nb.Cells[1].Outputs[1].Data["application/vnd.vega+json"].(map[string]any); !ok {
			t.Errorf("data %v", nb.Cells[1].Outputs[1].Data)
		}
	})
}

func TestParse_says_what_is_wrong(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "EOF"},
		{`[]`, "cannot unmarshal"},
		{`{"cells": [], "nbformat": 4} x`, "something follows"},
		{`{"cells": [], "nbformat": 3}`, "nbformat 3, want 4"},
		{`{"cells": []}`, "nbformat 0, want 4"},
		{`{"nbformat": 4}`, "no list of cells"},
		{`{"nbformat": 4, "cells": [1]}`, "cell 1: not an object"},
		{`{"nbformat": 4, "cells": [{"cell_type": "code"}, {"cell_type": "heading"}]}`, `cell 2: cell_type "heading"`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "pyout"}]}]}`, `output 1: output_type "pyout"`},
		{`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [7]}]}`, `output 1: output_type ""`},
	} {
		if _, err := Parse([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
}

func TestClearOutputs(t *testing.T) {
	nb := parse(t, string(everyKind(t)))
	nb.ClearOutputs()
	c := nb.Cells[1]
	if len(c.Outputs) != 0 || c.Count != 0 {
		t.Errorf("after clearing: count %d, %d outputs", c.Count, len(c.Outputs))
	}
	if want := []string{"tags", "weight"}; c.Metadata["execution"] != nil || len(c.Metadata) != len(want) {
		t.Errorf("after clearing: metadata %v, want the keys %v", c.Metadata, want)
	}
	data, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again := parse(t, string(data)); len(again.Cells[1].Outputs) != 0 || again.Cells[1].Count != 0 {
		t.Error("outputs come back when the cleared notebook is read")
	}
}

// As text every part of a notebook is on lines of its own, a picture as its
// metadata and labels.
func TestText(t *testing.T) {
	nb := parse(t, `{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "markdown", "source": "# Title"},
{"cell_type": "code", "source": "f()", "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n2\n"},
{"output_type": "display_data", "data": {"image/png": "aGVsbG8=", "text/plain": "label"}, "metadata": {"drawing": "x7"}},
{"output_type": "display_data", "data": {"text/html": "<b>c</b>", "text/plain": "c"}},
{"output_type": "error", "ename": "E", "evalue": "why"}]}]}`)
	const rule = "─── output of cell 2\n"
	want := "─── cell 1, markdown\n# Title\n─── cell 2, code\nf()\n" + rule + "1\n2\n" +
		rule + "picture map[drawing:x7]\nlabel\n" + rule + "<b>c</b>\n" + rule + "E: why\n"
	if got := nb.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCheckKernel(t *testing.T) {
	for _, c := range []struct{ metadata, want string }{
		{`{"kernelspec": {"name": "gonb", "language": "go"}}`, ""},
		{`{}`, "no kernelspec"},
		{`{"kernelspec": {"name": "python3", "language": "python"}}`, `name = "python3", want "gonb"`},
		{`{"kernelspec": {"name": "gonb"}}`, `language = "", want "go"`},
	} {
		nb := parse(t, `{"cells": [], "nbformat": 4, "metadata": `+c.metadata+`}`)
		err := nb.CheckKernel()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.metadata, err, c.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"# One", "One"},
		{"words\n### Two \nmore\n# Three", "Two"},
		{"#hashtag\n# Real", "Real"},
		{"no heading", ""},
	} {
		nb := &Notebook{Cells: []*Cell{{Type: "code", Source: "# no"}, {Type: "markdown", Source: c.source}}}
		if got := nb.Title(); got != c.want {
			t.Errorf("Title of %q = %q, want %q", c.source, got, c.want)
		}
	}
}

func TestRunningTime(t *testing.T) {
	for _, c := range []struct {
		source string
		want   time.Duration
	}{
		{"# 1. Title\n*You will meet:* words. *Running time:* about 25 seconds: much. *Words:* 7 seconds", 25 * time.Second},
		{"*Running time:* about 1 second", time.Second},
		{"*Running time:* about a minute", 0},
		{"", 0},
	} {
		nb := &Notebook{Cells: []*Cell{{Type: "markdown", Source: c.source}, {Source: "*Running time:* about 9 seconds"}}}
		if got := nb.RunningTime(); got != c.want {
			t.Errorf("RunningTime of %q = %v, want %v", c.source, got, c.want)
		}
	}
	if got := new(Notebook).RunningTime(); got != 0 {
		t.Errorf("RunningTime without cells = %v", got)
	}
}

func TestAlone(t *testing.T) {
	nb := parse(t, `{"nbformat": 4, "metadata": {}, "cells": [
		{"cell_type": "code", "source": "x", "metadata": {"tags": ["slow", "alone"]}},
		{"cell_type": "code", "source": "x", "metadata": {"tags": ["slow"]}},
		{"cell_type": "code", "source": "x", "metadata": {"tags": "alone"}},
		{"cell_type": "code", "source": "x", "metadata": {}}]}`)
	for i, want := range []bool{true, false, false, false} {
		if got := nb.Cells[i].Alone(); got != want {
			t.Errorf("cell %d: %v, want %v", i+1, got, want)
		}
	}
}

func TestCodeCells_leaves_out_empty_cells(t *testing.T) {
	nb := &Notebook{Cells: []*Cell{{Type: "code", Source: " \n"}, {Type: "markdown", Source: "x"}, {Type: "code", Source: "y"}}}
	if got := nb.CodeCells(); len(got) != 1 || got[0].Source != "y" {
		t.Errorf("%d code cells", len(got))
	}
}

func TestSplitLines_is_undone_by_joinLines(t *testing.T) {
	for _, s := range []string{"", "a", "a\n", "a\n\nb", "\n"} {
		lines := splitLines(s)
		v := make([]any, len(lines))
		for i := range lines {
			v[i] = lines[i]
		}
		if got, ok := joinLines(v); !ok || got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// Every notebook that can be parsed can be written, and parsing and writing the
// result again does not change it.
func FuzzParse(f *testing.F) {
	f.Add(everyKind(f))
	f.Add([]byte(`{"cells": [{"cell_type": "raw", "source": 3}], "nbformat": 4, "metadata": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse(data)
		if err != nil {
			t.Skip()
		}
		first, err := nb.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, first)
		}
		second, err := again.Bytes()
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("written twice: %v\n%s\n%s", err, first, second)
		}
		if !reflect.DeepEqual(again.CodeCells() == nil, nb.CodeCells() == nil) {
			t.Error("code cells came or went")
		}
	})
}
