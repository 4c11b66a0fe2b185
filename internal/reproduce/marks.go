package reproduce

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/notebook"
)

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
