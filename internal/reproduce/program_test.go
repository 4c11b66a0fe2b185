package reproduce

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// codeCells returns cells with these texts; one that begins with "alone:" has
// that tag.
func codeCells(texts ...string) []*notebook.Cell {
	var cells []*notebook.Cell
	for _, text := range texts {
		c := &notebook.Cell{Type: "code"}
		if text, alone := strings.CutPrefix(text, "alone:"); alone {
			c.Source, c.Metadata = text, map[string]any{"tags": []any{"alone"}}
		} else {
			c.Source = text
		}
		cells = append(cells, c)
	}
	return cells
}

func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		name  string
		cells []string
		want  string // how many cells each program has
	}{
		{"of_statements", []string{"%%\nf()", "%%\ng()", "f()"}, "[2 1]"}, // the last is no Go
		{"of_declarations", []string{"import \"fmt\"\n%%\nfmt.Print()", "var x = 1", "func f() {}\n%%\nf()"}, "[3]"},
		{"not_of_commands", []string{"%%\nf()", "!ls", "%%\ng()", "%env A=1\n%%\nh()", "%% -n=1\nh()", "  %ls"}, "[1 1 1 1 1 1]"},
		{"not_of_cells_that_run_alone", []string{"%%\nf()", "alone:%%\ng()", "%%\nh()", "%%\nh()"}, "[1 1 2]"},
		{"not_of_cells_that_do_not_compile", []string{"%%\nf()", "%%\nif {", "var", "%%\nh()", "%%\nh()"}, "[1 1 1 1 1]"},
		{"not_where_braces_end_what_a_cell_does_not_begin", []string{"%%\nf()", "%%\n}\nfunc h() {\n", "%%\nh()"}, "[1 1 1]"},
		{"not_with_a_function_main", []string{"func main() {}", "%%\nh()"}, "[1 1]"},
		{"until_a_name_is_declared_anew", []string{"var x = 1", "%%\nf(x)", "var x = 2\n%%\nf(x)", "%%\nf(x)"}, "[2 1 1]"},
		{"until_a_function_is_declared_anew", []string{"func f() {}", "%%\nf()", "const f = 2\n%%\ng(f)", "%%\ng(f)"}, "[2 1 1]"},
		{"until_a_name_that_was_used_is_declared", []string{"%%\nf(x)", "%%\nf(1)", "var x = 2\n%%\nf(x)", "%%\nf(x)"}, "[2 2]"},
		{"whatever_names_statements_declare", []string{"%%\nx := 1\nf(x)", "const x = 2\n%%\nf(x)", "%%\nvar x T\nf(x)"}, "[3]"},
		{"until_a_name_that_was_used_is_imported", []string{"%%\nrand.Int()", "import \"math/rand/v2\"\n%%\nrand.Int()", "import \"math/rand/v2\"\n%%\nrand.Int()"}, "[1 2]"},
		{"until_an_import_has_another_meaning", []string{"import \"math/rand\"\n%%\nrand.Int()", "import \"math/rand/v2\"\n%%\nrand.Int()", "%%\nf()"}, "[1 1 1]"},
		{"until_an_import_takes_a_name", []string{"var rand = 1", "%%\nf(rand)", "import \"math/rand\"\n%%\nrand.Int()", "%%\nf()"}, "[2 1 1]"},
		{"until_a_variable_is_declared_beside_a_command", []string{"%%\nf()", "%%\nf()", "!ls\nvar x = 1", "%%\nx++", "%%\nf(x)"}, "[2 1 1 1]"},
		{"until_a_declaration_takes_the_name_of_an_import", []string{"import \"math/rand\"\n%%\nrand.Int()", "var rand = 1", "%%\nf()"}, "[1 1 1]"},
		{"and_from_then_on_of_other_names", []string{"%%\nf(x, y)", "var x = 2", "var y = 2", "%%\nf(x, y)"}, "[1 3]"},
		{"not_with_a_function_that_every_later_cell_runs", []string{"func init_x() {}", "%%\nh()"}, "[1 1]"},
		{"of_nothing", nil, "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells := codeCells(c.cells...)
			sizes := []int{}
			var all []*notebook.Cell
			for _, p := range programs(cells) {
				sizes = append(sizes, len(p.cells))
				all = append(all, p.cells...)
			}
			if got := fmt.Sprint(sizes); got != c.want {
				t.Errorf("%s cells, want %s", got, c.want)
			}
			if !slices.Equal(all, cells) {
				t.Error("the cells are not those of the notebook, in order")
			}
		})
	}
}

// Cells of our notebooks run together but for commands and what runs alone.
func TestPrograms_of_the_notebooks(t *testing.T) {
	job := Job{Notebooks: "../../notebooks"}
	names, _, err := job.names()
	if err != nil {
		t.Fatal(err)
	}
	notebooks, err := job.read(names)
	if err != nil {
		t.Fatal(err)
	}
	for i, nb := range notebooks {
		cells := nb.CodeCells()
		want, open := 0, false
		for _, c := range cells {
			joins := !c.Alone() && !strings.HasPrefix(c.Source, "!")
			if !joins || !open {
				want++
			}
			open = joins
		}
		if got := len(programs(cells)); got != want {
			t.Errorf("%s: %d programs, want %d", names[i], got, want)
		}
	}
}

func TestSource(t *testing.T) {
	list := programs(codeCells("var q int", "alone:%%\nf(q)",
		"import (\n\t\"fmt\"\n\tm \"math\"\n) // two\nimport \"os\"\n\nvar x, y = m.Pi, 2 // change\n\n%%\nfmt.Print(x)",
		"%%\nf(x) // again", "import m \"math\"\nvar (\n\tz [2]int\n\ts, t string\n)\n%%\nf(z)", "%%\nf()"))
	if len(list) != 3 || list[0].source() != "var q int" || list[1].source() != "%%\nf(q)" {
		t.Fatalf("%v: a cell by itself is not as it was", list)
	}
	got := list[2].source()
	head, body, _ := strings.Cut(got, "%%\n")
	if want := "import \"fmt\"\nimport \"os\"\nimport \"github.com/janpfeifer/gonb/gonbui\"\nimport m \"math\"\n"; !strings.HasPrefix(head, want) {
		t.Errorf("imports of\n%s", head)
	}
	if strings.Count(head, "import") != 4 || strings.Count(head, "var x, y = m.Pi, 2 // change") != 1 {
		t.Errorf("declarations of\n%s", head)
	}
	_, body, _ = strings.Cut(body, "\n}\n")
	const want = `func() { fmt.Print(x) }()
roundoffCellEnds("\x1eroundoff cell 0 ends\x1e")
q = *new(int)
x, y = m.Pi, 2
func() { f(x) // again }()
roundoffCellEnds("\x1eroundoff cell 1 ends\x1e")
q = *new(int)
x, y = m.Pi, 2
z = *new([2]int)
s, t = *new(string), *new(string)
func() { f(z) }()
roundoffCellEnds("\x1eroundoff cell 2 ends\x1e")
q = *new(int)
x, y = m.Pi, 2
z = *new([2]int)
s, t = *new(string), *new(string)
func() { f() }()
roundoffCellEnds("\x1eroundoff cell 3 ends\x1e")
`
	body = strings.NewReplacer("func() {\n", "func() { ", "\n\n}()", " }()").Replace(body)
	if body != want {
		t.Errorf("statements\n%s\nwant\n%s", body, want)
	}
}

func TestDivide(t *testing.T) {
	out := func(text string) *notebook.Output {
		return &notebook.Output{Type: "stream", Name: "stdout", Text: text}
	}
	warn := func(text string) *notebook.Output {
		return &notebook.Output{Type: "stream", Name: "stderr", Text: text}
	}
	show := func(text string) *notebook.Output {
		return &notebook.Output{Type: "display_data", Data: map[string]any{"text/markdown": text}}
	}
	m0, m1 := mark(0), mark(1)
	for _, c := range []struct {
		name    string
		outputs []*notebook.Output
		want    string // of the two cells, or of the error
	}{
		{"as_written", []*notebook.Output{out("a"), show("b"), warn("c"), show(m0), out(m0), warn(m0), out("d\n" + m1), show("e"), show(m1), warn(m1)},
			"out a,show b,warn c|out d;,show e"},
		{"text_of_both", []*notebook.Output{show(m0), out("a" + m0 + "b" + m1), warn(m0 + "c" + m1), show(m1)}, "out a|out b,warn c"},
		{"displays_that_come_before_text", []*notebook.Output{show("a"), show(m0), show("b"), show(m1), out("c"), warn(m0), out(m0 + "d" + m1), warn(m1)},
			"show a,out c|show b,out d"},
		{"text_of_one_stream_as_one", []*notebook.Output{out("a"), show(m0), out("b" + m0), warn(m0), out("c"), show(m1), out("d" + m1), warn(m1)}, "out ab|out cd"},
		{"marks_in_pieces", []*notebook.Output{out("a" + m0[:1]), show("b"), out(m0[1:9]), warn(m0), out(m0[9:] + "c" + m1[:20]), show(m0), show(m1), out(m1[20:]), warn(m1)},
			"out a,show b|out c"},
		{"what_begins_like_a_mark", []*notebook.Output{out("a\x1e"), show(m0), out("b" + m0 + "\x1eround\x1e" + m1), warn(m0), show(m1), warn(m1)},
			"out a\x1eb|out \x1eround\x1e"},
		{"cells_that_show_nothing", []*notebook.Output{show(m0), out(m0), warn(m0), show(m1), out(m1), warn(m1)}, "|"},
		{"nothing", nil, "error"},
		{"no_display_at_the_end", []*notebook.Output{show(m0), out(m0 + m1), warn(m0 + m1)}, "error"},
		{"no_text_at_the_end", []*notebook.Output{show(m0), show(m1), out(m0), warn(m0 + m1)}, "error"},
		{"no_end_among_errors", []*notebook.Output{show(m0), show(m1), out(m0 + m1), warn(m0)}, "error"},
		{"text_behind_the_end", []*notebook.Output{show(m0), show(m1), out(m0 + m1 + "x"), warn(m0 + m1)}, "error"},
		{"a_piece_of_a_mark_behind_the_end", []*notebook.Output{show(m0), show(m1), out(m0 + m1 + "\x1e"), warn(m0 + m1)}, "error"},
		{"a_display_behind_the_end", []*notebook.Output{show(m0), show(m1), show("x"), out(m0 + m1), warn(m0 + m1)}, "error"},
		{"marks_in_another_order", []*notebook.Output{show(m1), show(m0), out(m0 + m1), warn(m0 + m1)}, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program{cells: codeCells("", "")}
			got := "error"
			if err := p.divide(c.outputs); err == nil {
				var cells []string
				for _, cell := range p.cells {
					var list []string
					for _, o := range cell.Outputs {
						kind := map[string]string{"stdout": "out", "stderr": "warn", "": "show"}[o.Name]
						text, _ := o.Data["text/markdown"].(string)
						list = append(list, kind+" "+strings.ReplaceAll(o.Text+text, "\n", ";"))
					}
					cells = append(cells, strings.Join(list, ","))
				}
				got = strings.Join(cells, "|")
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("and_a_cell_by_itself_has_all", func(t *testing.T) {
		p := program{cells: codeCells("")}
		all := []*notebook.Output{out("a"), out(m0), show(m0)}
		if err := p.divide(all); err != nil || !slices.Equal(p.cells[0].Outputs, all) {
			t.Errorf("%v, %v", p.cells[0].Outputs, err)
		}
	})
}
