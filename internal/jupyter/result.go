package jupyter

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// A content combines the contents of all messages that carry an output.
type content struct {
	Name      string         `json:"name"` // stream
	Text      string         `json:"text"`
	Data      map[string]any `json:"data"` // display_data, update_display_data, execute_result
	Metadata  map[string]any `json:"metadata"`
	Transient struct {
		DisplayID string `json:"display_id"`
	} `json:"transient"`
	Count     int      `json:"execution_count"` // execute_input, execute_result, execute_reply
	ErrName   string   `json:"ename"`           // error, execute_reply
	ErrValue  string   `json:"evalue"`
	Traceback []string `json:"traceback"`
	Status    string   `json:"status"` // execute_reply
	Wait      bool     `json:"wait"`   // clear_output
}

func parseContent(data []byte) (c content, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // numbers in JSON outputs are not rounded
	if err = d.Decode(&c); err != nil {
		err = fmt.Errorf("jupyter: content of a message: %w", err)
	}
	return c, err
}

// reply adds the content of the execute_reply to the result.
func (r *Result) reply(data []byte) error {
	c, err := parseContent(data)
	r.Count = max(r.Count, c.Count)
	if c.Status != "ok" {
		r.Failed = true
		r.Reason = c.ErrValue
	}
	return err
}

// add adds a message from iopub to the result. Displays maps a display_id to
// its outputs in all cells: an update changes every display with its ID, also
// those of earlier cells.
func (r *Result) add(m message, displays map[string][]*notebook.Output) error {
	typ := m.Header.Type
	switch typ {
	case "execute_input", "stream", "display_data", "update_display_data", "execute_result", "error", "clear_output":
	default:
		return nil
	}
	c, err := parseContent(m.Content)
	if err != nil {
		return err
	}
	switch typ {
	case "execute_input":
		r.Count = c.Count
	case "stream":
		r.stream(c.Name, c.Text)
	case "display_data", "execute_result":
		o := &notebook.Output{Type: typ, Data: c.Data, Metadata: c.Metadata, Count: c.Count}
		r.show(o)
		if id := c.Transient.DisplayID; id != "" {
			displays[id] = append(displays[id], o)
		}
	case "update_display_data":
		for _, o := range displays[c.Transient.DisplayID] {
			o.Data, o.Metadata = c.Data, c.Metadata
		}
	case "error":
		r.show(&notebook.Output{Type: "error", ErrName: c.ErrName, ErrValue: c.ErrValue, Traceback: c.Traceback})
	case "clear_output":
		r.clear = true
		if !c.Wait {
			r.sweep()
		}
	}
	return nil
}

// show adds an output.
func (r *Result) show(o *notebook.Output) {
	r.sweep()
	r.Outputs = append(r.Outputs, o)
	if r.seen != nil {
		r.seen(o)
	}
}

// stream adds text to the last output if that output is the same stream,
// otherwise as a new output.
func (r *Result) stream(name, text string) {
	r.sweep()
	if n := len(r.Outputs); n > 0 && r.Outputs[n-1].Type == "stream" && r.Outputs[n-1].Name == name {
		r.Outputs[n-1].Text += text
		return
	}
	r.show(&notebook.Output{Type: "stream", Name: name, Text: text})
}

// sweep removes the outputs if the cell has asked that the next output replace
// them.
func (r *Result) sweep() {
	if r.clear {
		r.Outputs, r.clear = nil, false
	}
}
