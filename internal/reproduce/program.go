package reproduce

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// A program is consecutive cells of a notebook that the kernel gets as one:
// they are compiled and linked once, which takes longer than what most of them
// compute, and run one after the other. What they show is what they show one by
// one:
//
//   - each is Go and, after a line %%, statements, with no other command to the
//     kernel, and none measures times;
//   - none declares a name that another declares, or uses a name that a later
//     one declares or imports;
//   - each finds the variables of the notebook as they are declared, whatever
//     the cells before it did to them.
//
// A cell of which this cannot be seen is a program by itself, and the kernel
// gets it as it is. What packages keep in variables of their own, such as
// results, cells of a program have in common.
type program struct {
	cells []*notebook.Cell
	parts []*part // of each cell, if there are several
	fresh string  // assigns to the variables of earlier programs what they are declared with
}

// programs divides cells into programs, in order.
func programs(cells []*notebook.Cell) []program {
	var list []program
	open, fresh := false, "" // whether the last program takes further cells
	var all, own names       // of the notebook up to here, and of the last program
	for i, c := range cells {
		p, err := parsePart(c.Source)
		if err != nil && declares.MatchString(c.Source) || err == nil && !all.allow(p, false) {
			return append(list, singly(cells[i:])...) // which variables there are is no longer known
		}
		if err != nil || c.Alone() {
			list, open = append(list, program{cells: []*notebook.Cell{c}}), false
		} else {
			if !open || !own.allow(p, true) {
				list, open, own = append(list, program{fresh: fresh}), true, names{}
			}
			own.add(p)
			last := &list[len(list)-1]
			last.cells, last.parts = append(last.cells, c), append(last.parts, p)
		}
		if err == nil {
			all.add(p)
			fresh += p.fresh
		}
	}
	return list
}

// declares matches a declaration in the text of a cell.
var declares = regexp.MustCompile(`(?m)^(var|const|type|func)\b`)

// singly returns each cell as a program.
func singly(cells []*notebook.Cell) []program {
	var list []program
	for _, c := range cells {
		list = append(list, program{cells: []*notebook.Cell{c}})
	}
	return list
}

// source returns the text that the kernel gets. After each of several cells
// its program writes a mark wherever the cell can have written: as a display
// and on both streams.
func (p program) source() string {
	if len(p.cells) == 1 {
		return p.cells[0].Source
	}
	var imports, declarations, statements strings.Builder
	known := map[string]bool{}
	add := func(spec string) {
		if !known[spec] {
			fmt.Fprintf(&imports, "import %s\n", spec)
		}
		known[spec] = true
	}
	add(`"fmt"`)
	add(`"os"`)
	add(`"github.com/janpfeifer/gonb/gonbui"`)
	fresh := p.fresh
	for i, part := range p.parts {
		for _, name := range slices.Sorted(maps.Keys(part.imports)) {
			add(part.imports[name])
		}
		declarations.WriteString(part.declarations + "\n")
		if fresh += part.fresh; i > 0 {
			statements.WriteString(fresh)
		}
		fmt.Fprintf(&statements, "func() {\n%s\n}()\n%s(%q)\n", part.statements, ends, mark(i))
	}
	return imports.String() + declarations.String() + "%%\n" + ends + ` := func(mark string) {
	gonbui.DisplayMarkdown(mark)
	gonbui.Sync()
	fmt.Print(mark)
	fmt.Fprint(os.Stderr, mark)
}
` + statements.String()
}

// ends is the function of a program that writes marks.
const ends = "roundoffCellEnds"

// mark returns what a program writes after its cell i, counted from 0.
func mark(i int) string { return fmt.Sprintf("\x1eroundoff cell %d ends\x1e", i) }

// marks reports whether an output is the mark of cell i.
func marks(o *notebook.Output, i int) bool { return o.Data["text/markdown"] == mark(i) }

// divide gives each cell its outputs, of all that the program showed. It
// returns an error if a mark is missing or something follows the last.
func (p program) divide(outputs []*notebook.Output) error {
	if len(p.cells) == 1 {
		p.cells[0].Outputs = outputs
		return nil
	}
	of := make([][]*notebook.Output, len(p.cells)+1) // the last are of no cell
	displays, streams := 0, map[string]*stream{"stdout": {}, "stderr": {}}
	for _, o := range outputs {
		switch s := streams[o.Name]; {
		case o.Type == "stream" && s != nil:
			s.add(of, o)
		case marks(o, displays):
			displays++
		default:
			of[displays] = append(of[displays], o)
		}
	}
	for i, c := range p.cells {
		c.Outputs = of[i]
	}
	out, warned := streams["stdout"], streams["stderr"]
	if n := len(p.cells); min(displays, out.cell, warned.cell) < n || len(of[n]) > 0 || out.rest+warned.rest != "" {
		return fmt.Errorf("of %d cells, %d ended, by their marks on standard output %d and among errors %d", n, displays, out.cell, warned.cell)
	}
	return nil
}

// A stream is the text that a program writes on standard output or among
// errors.
type stream struct {
	cell int    // that writes now
	rest string // the end of what has been read, if a mark may begin with it
}

// add gives the text of an output to the cells that wrote it.
func (s *stream) add(of [][]*notebook.Output, o *notebook.Output) {
	text := s.rest + o.Text
	for {
		before, after, ended := strings.Cut(text, mark(s.cell))
		if !ended {
			break
		}
		s.show(of, o.Name, before)
		s.cell++
		text = after
	}
	s.rest = ""
	if i := strings.LastIndexByte(text, mark(s.cell)[0]); i >= 0 && strings.HasPrefix(mark(s.cell), text[i:]) {
		text, s.rest = text[:i], text[i:]
	}
	s.show(of, o.Name, text)
}

// show adds text to the last output of the cell if that is the same stream,
// otherwise as a new one.
func (s *stream) show(of [][]*notebook.Output, name, text string) {
	list := &of[s.cell]
	n := len(*list)
	switch {
	case text == "":
	case n > 0 && (*list)[n-1].Type == "stream" && (*list)[n-1].Name == name:
		(*list)[n-1].Text += text
	default:
		*list = append(*list, &notebook.Output{Type: "stream", Name: name, Text: text})
	}
}
