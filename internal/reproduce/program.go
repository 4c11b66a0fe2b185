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
