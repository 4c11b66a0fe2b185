package reproduce

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ran is a notebook as executed: a table of Table 3 and a chart, each as viz
// shows it, and text that arrived in two pieces, with a message between them.
const ran = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
{"cell_type": "markdown", "metadata": {}, "source": "# 1. Speed"},
{"cell_type": "code", "id": "a", "metadata": {}, "source": "nb.Show(table)", "execution_count": 2, "outputs": [
 {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<figure><script>x</script><a download=\"rates.csv\">CSV</a></figure>"}},
 {"output_type": "stream", "name": "stdout", "text": "one "},
 {"output_type": "stream", "name": "stderr", "text": "go: building\n"},
 {"output_type": "stream", "name": "stdout", "text": "line\n"},
 {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": "It runs 1.26 times as fast."}}]},
{"cell_type": "code", "id": "b", "metadata": {}, "source": "nb.Show(chart)", "execution_count": 3, "outputs": [
 {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<figure><a download=\"curve.csv\">CSV</a></figure>"}},
 {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": "Half of *it*."}}]}]}`

const rates = `<table style=\"a:b\"><thead><tr><th style=\"text-align:left;c:d\">Algorithm</th><th>flop / byte</th><th>Gflop/s</th></tr></thead>` +
	`<tbody><tr><td>FMA</td><td>0.125</td><td>3.84</td></tr></tbody></table>`

// published writes the results of a run and a notebook without outputs, and
// returns their folders. Edits, old and new in turn, change the results.
func published(t *testing.T, edits ...string) Publication {
	t.Helper()
	dir := t.TempDir()
	edit := strings.NewReplacer(edits...)
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(edit.Replace(content)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("out/notebooks/01.ipynb", ran)
	write("notebooks/01.ipynb", ran)
	record := func(name, kind, html string) {
		write("out/figures/"+name+".json", fmt.Sprintf(`{"name": %q, "kind": %q, "finding": "It is 1.26 times as fast.",
			"details": "Of 480 MiB. Twice.", "notebook": "01", "html": "%s"}`, name, kind, html))
		write("out/figures/"+name+".svg", `<svg><path d="M0 1"/><text>a <tspan>bound</tspan></text><text>u</text></svg>`)
		write("out/figures/"+name+".csv", "x")
		write("out/figures/"+name+".png", string(drawing(t, 40)))
	}
	record("rates", "table", rates)
	record("curve", "figure", "")
	p := Publication{Out: filepath.Join(dir, "out"), Notebooks: filepath.Join(dir, "notebooks"), Log: io.Discard}
	nb, err := readNotebook(filepath.Join(p.Notebooks, "01.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	nb.ClearOutputs()
	data, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	write("notebooks/01.ipynb", string(data))
	return p
}

// drawing returns a PNG with a square whose side is the given number of pixels
// and whose edge is soft.
func drawing(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for x := range 200 {
		for y := range 100 {
			grey := uint8(min(255, 40*max(0, x-side, y-side)))
			img.Set(x, y, color.RGBA{grey, grey, 255, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPublication_Write(t *testing.T) {
	p := published(t)
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	nb, err := readNotebook(filepath.Join(p.Notebooks, "01.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	table, chart := nb.Cells[1].Outputs, nb.Cells[2].Outputs
	t.Run("a_table_without_styles_a_cell_on_each_line", func(t *testing.T) {
		const want = "<table><thead><tr>\n<th style=\"text-align:left\">Algorithm</th>\n<th>flop / byte</th>\n<th>Gflop/s</th></tr></thead>" +
			"<tbody><tr>\n<td>FMA</td>\n<td>0.125</td>\n<td>3.84</td></tr></tbody></table>\n" +
			"<p><strong>It is 1.26 times as fast.</strong>\nOf 480 MiB.\nTwice.</p>\n"
		if got := table[1].Data["text/html"]; got != want {
			t.Errorf("%v", got)
		}
	})
	t.Run("text_first_and_in_one_piece_without_messages", func(t *testing.T) {
		if len(table) != 3 || table[0].Text != "one line\n" {
			t.Errorf("%d outputs, the first says %q", len(table), table[0].Text)
		}
	})
	t.Run("a_chart_as_a_picture_with_what_is_written_in_it", func(t *testing.T) {
		if len(chart) != 3 || chart[0].Data["text/plain"] != "curve: It is 1.26 times as fast.\na bound\nu\n" {
			t.Fatalf("%d outputs, the first is %v", len(chart), chart[0].Data)
		}
		img, err := png.Decode(bytes.NewReader(pngOf(chart[0])))
		if err != nil || img.Bounds().Dx() != 200 {
			t.Errorf("%v, %v", img, err)
		}
	})
	t.Run("neither_scripts_nor_counts", func(t *testing.T) {
		data, err := nb.Bytes()
		if err != nil || bytes.Contains(data, []byte("script")) || bytes.Contains(data, []byte(`"execution_count": 2`)) {
			t.Errorf("%v\n%s", err, data)
		}
	})
	t.Run("then_Compare_agrees_and_a_second_Write_changes_nothing", func(t *testing.T) {
		var log bytes.Buffer
		p.Log = &log
		if err := p.Compare(); err != nil {
			t.Error(err)
		}
		if err := p.Write(); err != nil || !strings.HasSuffix(log.String(), "the notebooks show what the last run showed\n") {
			t.Errorf("%v, %s", err, log.String())
		}
	})
}

// Another run differs in one thing. Compare must say so, and in which cell,
// unless it is a time.
func TestPublication_Compare(t *testing.T) {
	before := published(t)
	if err := before.Write(); err != nil {
		t.Fatal(err)
	}
	small, large := string(drawing(t, 40)), string(drawing(t, 60))
	for _, c := range []struct {
		name string
		edit [2]string
		want string
	}{
		{"times", [2]string{"3.84", "12.07"}, ""},
		{"what_is_said_about_times", [2]string{"It runs 1.26 times", "It runs 2 times"}, ""},
		{"in_other_words", [2]string{"It runs 1.26 times", "It crawls 1.26 times"}, "cell 2: output 3"},
		{"how_times_are_told", [2]string{"1.26 times", "1.3 times"}, "cell 3: output 1"}, // of the curve, not of the table
		{"what_is_printed", [2]string{`"line\n"`, `"lines\n"`}, `cell 2: output 1: "one line" is stored, the last run shows "one lines"`},
		{"a_number_of_the_table", [2]string{"0.125", "0.25"}, `cell 2: output 2: "<td>0.125</td>" is stored`},
		{"a_word_of_the_table", [2]string{"<td>FMA", "<td>MAC"}, "cell 2: output 2"},
		{"markdown", [2]string{"Half", "All"}, `cell 3: output 3: "Half of *it*." is stored`},
		{"a_label", [2]string{">u<", ">v<"}, `cell 3: output 1: "u" is stored`},
		{"a_curve", [2]string{"M0 1", "M0 2"}, "cell 3: output 1: the picture of curve differs"},
		{"a_picture", [2]string{small, large}, "cell 3: output 1: the picture of curve differs"},
		{"an_output_more", [2]string{"{\"output_type\": \"stream\"", "{\"output_type\": \"display_data\", \"data\": {\"text/markdown\": \"x\"}},{\"output_type\": \"stream\""},
			"cell 2: 3 outputs are stored, the last run has 6"},
		{"the_code", [2]string{"nb.Show(chart)", "nb.Show(other)"}, "cell 3 is not the one that ran"},
		{"a_page_that_is_no_figure", [2]string{"download", "href"}, "no published form"},
		{"a_figure_without_files", [2]string{"curve.csv", "lost.csv"}, "lost.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := published(t, c.edit[0], c.edit[1])
			after.Notebooks = before.Notebooks
			err := after.Compare()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Compare says %v, want %q", err, c.want)
			}
		})
	}
}

// What a notebook shows of this processor is compared where the processor has
// the units of that on which it was stored; what else it shows is compared
// everywhere.
func TestPublication_Compare_on_another_processor(t *testing.T) {
	const shown, half = "Half of *it*.", "Half on this processor."
	units := []string{"TDPBF16PS", "VDPBF16PS"}
	before := published(t, shown, half)
	before.Units = units
	if err := before.Write(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		units       []string
		text, cell2 string // what is shown then
		want        string // the error
		said        string
	}{
		{"the_same", units, half, "0.125", "", "1 notebooks show what the last run showed"},
		{"another_word_on_the_same", units, "All on this processor.", "0.125", "cell 3: output 3", ""},
		{"another_word_elsewhere", nil, "All on this processor.", "0.125", "", "01, cell 3: not compared: it was stored on a processor with TDPBF16PS and VDPBF16PS, this one has none"},
		{"nothing_of_it_elsewhere", []string{"BFDOT"}, shown, "0.125", "", "01, cell 3: not compared"},
		{"another_number_elsewhere", nil, half, "0.25", "cell 2: output 2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := published(t, shown, c.text, "0.125", c.cell2)
			var log bytes.Buffer
			after.Notebooks, after.Units, after.Log = before.Notebooks, c.units, &log
			err := after.Compare()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || !strings.Contains(log.String(), c.said) {
				t.Errorf("Compare says %v and %q, want %q and %q", err, log.String(), c.want, c.said)
			}
		})
	}
	t.Run("units_that_are_not_stored", func(t *testing.T) {
		p := published(t, shown, half)
		if err := p.Compare(); err == nil || !strings.Contains(err.Error(), "the units of the processor that it ran on are not stored") {
			t.Error(err)
		}
	})
}

// A picture that shows the same keeps its bytes, and a notebook that cannot be
// published is not written.
func TestPublication_Write_changes_no_more_than_it_must(t *testing.T) {
	p := published(t)
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.Notebooks, "01.ipynb")
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := published(t, "Half", "All", string(drawing(t, 40)), string(recoded(t, drawing(t, 40))))
	a.Notebooks = p.Notebooks
	if err := a.Write(); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if want := bytes.Replace(stored, []byte("Half of"), []byte("All of"), 1); err != nil || !bytes.Equal(written, want) {
		t.Errorf("more than a word has changed: %v\n%s", err, written)
	}
	b := published(t, "curve.csv", "lost.csv")
	b.Notebooks = p.Notebooks
	if err := b.Write(); err == nil {
		t.Error("a notebook with a lost figure is published")
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, written) {
		t.Errorf("it is written all the same: %v", err)
	}
}

// recoded returns the same picture in another file, one level darker.
func recoded(t *testing.T, data []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	dark := image.NewNRGBA(img.Bounds())
	eachPixel(img, func(x, y int, c color.NRGBA) {
		c.B--
		dark.SetNRGBA(x, y, c)
	})
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, dark); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Claims about speed lose what was measured and the verdict; nothing else is
// lost but the counts of verdicts.
func TestWithoutTimes(t *testing.T) {
	const claims = "<table><thead><tr><th>Where</th><th>Paper</th><th>Measured</th><th>Verdict</th><th>Why</th></tr></thead><tbody>" +
		"<tr><td>Table 3</td><td>runs at 0.00004 flops/s</td><td>3.844 Gflop/s</td><td>differs</td><td>no unit</td></tr>" +
		"<tr><td>Table 3; Conclusions</td><td>two times increase in performance</td><td>1.261</td>\n<td>differs</td><td>2</td></tr>" +
		"<tr><td>Table 3</td><td>2.47</td><td>1.333</td><td>differs</td><td>x</td></tr>" +
		"<tr><td>Section 3</td><td>13</td><td>13.1</td><td>reproduced</td><td>x</td></tr></tbody></table><p>39 of 57</p>"
	want := strings.NewReplacer("3.844 Gflop/s</td><td>differs", "#", "1.261</td>\n<td>differs", "#", "39 of 57", "# of #").Replace(claims)
	if got := withoutTimes(claims); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	other := strings.ReplaceAll(claims, "Table 3", "Table 2")
	if got := withoutTimes(other); got != other {
		t.Errorf("claims about something else become %s", got)
	}
	if s := "3.84 Gflop/s, Table 3"; withoutTimes(s) != s {
		t.Errorf("text that is no table becomes %s", withoutTimes(s))
	}
}

// Every pixel has the palette's colour that is nearest to its own; what has few
// colours does not change.
func TestFewColours(t *testing.T) {
	data := drawing(t, 30)
	before, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 4, 100} {
		small, size, err := fewColours(data, n)
		if err != nil || size != image.Pt(200, 100) {
			t.Fatal(size, err)
		}
		after, err := png.Decode(bytes.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		palette := after.(*image.Paletted).Palette
		if len(palette) > n {
			t.Errorf("%d colours, want %d or less", len(palette), n)
		}
		eachPixel(before, func(x, y int, c color.NRGBA) {
			if want := color.NRGBAModel.Convert(palette.Convert(c)); color.NRGBAModel.Convert(after.At(x, y)) != want {
				t.Fatalf("%d colours: pixel %d, %d is %v, want %v", n, x, y, after.At(x, y), want)
			}
		})
		if alike(small, data) != (n == 100) {
			t.Errorf("%d colours: alike = %v", n, n != 100)
		}
	}
	if _, _, err := fewColours([]byte("no picture"), 2); err == nil {
		t.Error("text is a picture")
	}
}
