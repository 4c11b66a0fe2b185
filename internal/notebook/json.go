package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Parse returns the notebook in data, the content of an .ipynb file of nbformat
// 4.
func Parse(data []byte) (*Notebook, error) {
	var m object
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // 1.0 stays 1.0
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("notebook: something follows the notebook")
	}
	nb := &Notebook{Metadata: m.object("metadata"), Format: m.number("nbformat"), Minor: m.number("nbformat_minor")}
	if nb.Format != 4 {
		return nil, fmt.Errorf("notebook: nbformat %d, want 4", nb.Format)
	}
	cells, ok := m["cells"].([]any)
	if !ok {
		return nil, errors.New("notebook: no list of cells")
	}
	for i, v := range cells {
		c, err := parseCell(v)
		if err != nil {
			return nil, fmt.Errorf("notebook: cell %d: %w", i+1, err)
		}
		nb.Cells = append(nb.Cells, c)
	}
	nb.extra = m
	return nb, nil
}

func parseCell(v any) (*Cell, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	o := object(m)
	c := &Cell{Type: o.text("cell_type"), ID: o.text("id"), Source: o.text("source"), Metadata: o.object("metadata")}
	switch c.Type {
	case "markdown", "raw":
	case "code":
		c.Count = o.number("execution_count")
		outputs, _ := m["outputs"].([]any)
		for i, v := range outputs {
			om, _ := v.(map[string]any)
			out, err := parseOutput(om)
			if err != nil {
				return nil, fmt.Errorf("output %d: %w", i+1, err)
			}
			c.Outputs = append(c.Outputs, out)
		}
	default:
		return nil, fmt.Errorf("cell_type %q, want code, markdown or raw", c.Type)
	}
	c.extra = m
	return c, nil
}

// Bytes returns the notebook as the content of an .ipynb file.
func (nb *Notebook) Bytes() ([]byte, error) {
	m := with(nb.extra)
	m["metadata"], m["nbformat"], m["nbformat_minor"] = with(nb.Metadata), nb.Format, nb.Minor
	m["cells"] = append([]*Cell{}, nb.Cells...)
	raw, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	var b bytes.Buffer
	json.Indent(&b, raw, "", " ") // raw is valid: marshal made it
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// MarshalJSON returns the cell as nbformat writes it.
func (c *Cell) MarshalJSON() ([]byte, error) {
	m := with(c.extra)
	m["cell_type"], m["source"], m["metadata"] = c.Type, splitLines(c.Source), with(c.Metadata)
	if c.ID != "" {
		m["id"] = c.ID
	}
	if c.Type == "code" {
		m["execution_count"], m["outputs"] = count(c.Count), append([]*Output{}, c.Outputs...)
	}
	return marshal(m)
}

// marshal is json.Marshal without escapes for <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// An object is a JSON object. Reading a key that is missing, or whose value has
// another type, gives the zero value.
type object map[string]any

func (m object) text(key string) string {
	s, _ := joinLines(m[key])
	return s
}

func (m object) object(key string) map[string]any {
	o, _ := m[key].(map[string]any)
	return o
}

func (m object) number(key string) int {
	n, _ := m[key].(json.Number)
	i, _ := n.Int64()
	return int(i)
}

func (m object) list(key string) []string {
	var list []string
	values, _ := m[key].([]any)
	for _, v := range values {
		s, _ := v.(string)
		list = append(list, s)
	}
	return list
}

// joinLines returns the text of v, which nbformat allows to be a string or a
// list of strings.
func joinLines(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, ok := line.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

// splitLines returns s as a list of lines, each with its newline.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// with returns a copy of m, never nil, to which known keys can be added.
func with(m map[string]any) object {
	o := make(object, len(m)+4)
	for k, v := range m {
		o[k] = v
	}
	return o
}

// count returns an execution count as nbformat writes it: null for a cell never
// run.
func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
