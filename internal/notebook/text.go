package notebook

import (
	"fmt"
	"strings"
)

// Text returns the notebook as text for comparison: what is in its cells and
// their outputs, and in place of a picture, what its metadata and its plain
// text say about it.
func (nb *Notebook) Text() string {
	var b strings.Builder
	for i, c := range nb.Cells {
		fmt.Fprintf(&b, "─── cell %d, %s\n%s\n", i+1, c.Type, strings.TrimRight(c.Source, "\n"))
		for _, o := range c.Outputs {
			fmt.Fprintf(&b, "─── output of cell %d\n%s\n", i+1, strings.TrimRight(o.plain(), "\n"))
		}
	}
	return b.String()
}

// plain returns the output as text.
func (o *Output) plain() string {
	if o.Type == "error" {
		return o.ErrName + ": " + o.ErrValue
	}
	text := o.Text
	for _, mime := range []string{"text/plain", "text/markdown", "text/html"} {
		if s, ok := o.Data[mime].(string); ok {
			text = s
		}
	}
	if _, ok := o.Data["image/png"]; ok {
		text = fmt.Sprintf("picture %v\n%s", o.Metadata, text)
	}
	return text
}
