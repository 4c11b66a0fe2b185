package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Output is one output of a cell. Type determines which fields are used.
type Output struct {
	Type string // "stream", "display_data", "execute_result" or "error"

	Name string // stream: "stdout" or "stderr"
	Text string // stream

	Data     map[string]any // display_data, execute_result: by MIME type; a string, or JSON
	Metadata map[string]any // display_data, execute_result
	Count    int            // execute_result: execution count

	ErrName   string   // error: ename
	ErrValue  string   // error: evalue
	Traceback []string // error

	extra map[string]any
}

// parseOutput returns the output that the JSON object m describes.
func parseOutput(m object) (*Output, error) {
	o := &Output{Type: m.text("output_type")}
	switch o.Type {
	case "stream":
		o.Name, o.Text = m.text("name"), m.text("text")
	case "display_data", "execute_result":
		o.Data, o.Metadata = m.object("data"), m.object("metadata")
		for mime, v := range o.Data {
			if s, ok := joinLines(v); ok && !isJSON(mime) {
				o.Data[mime] = s
			}
		}
		if o.Type == "execute_result" {
			o.Count = m.number("execution_count")
		}
	case "error":
		o.ErrName, o.ErrValue, o.Traceback = m.text("ename"), m.text("evalue"), m.list("traceback")
	default:
		return nil, fmt.Errorf("output_type %q, want stream, display_data, execute_result or error", o.Type)
	}
	o.extra = m
	return o, nil
}

// MarshalJSON returns the output as nbformat writes it.
func (o *Output) MarshalJSON() ([]byte, error) {
	m := with(o.extra)
	m["output_type"] = o.Type
	switch o.Type {
	case "stream":
		m["name"], m["text"] = o.Name, splitLines(o.Text)
	case "display_data", "execute_result":
		data := object{}
		for mime, v := range o.Data {
			data[mime] = v
			if s, ok := v.(string); ok && isText(mime) {
				data[mime] = splitLines(s)
			}
		}
		m["data"], m["metadata"] = data, with(o.Metadata)
		if o.Type == "execute_result" {
			m["execution_count"] = count(o.Count)
		}
	case "error":
		m["ename"], m["evalue"], m["traceback"] = o.ErrName, o.ErrValue, append([]string{}, o.Traceback...)
	}
	return marshal(m)
}

// isJSON reports whether values of the MIME type are JSON rather than text.
func isJSON(mime string) bool {
	return mime == "application/json" ||
		strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// isText reports whether nbformat writes values of the MIME type as a list of
// lines.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") ||
		mime == "image/svg+xml" || mime == "application/javascript"
}

var _ json.Marshaler = (*Output)(nil)
