package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// read reads a question, an object in JSON, over the defaults in q. The error
// names a key that there is not, or a value of another type.
func read(text string, q any) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return fmt.Errorf("%s is a %s, want one of type %v", kind.Field, kind.Value, kind.Type)
		}
		return fmt.Errorf("question: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("question: %.40q follows the object", text[d.InputOffset()-1:])
	}
	return nil
}

// write returns v as JSON.
func write(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
