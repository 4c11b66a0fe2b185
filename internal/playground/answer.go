package playground

import (
	"encoding/json"
	"fmt"
)

// A question is one of several kinds; Ask says which.
type question struct {
	Ask string `json:"ask"`
}

// Answer answers a question, both as JSON. The question has the key ask, with
// the value factors, devices, dot, copy, line, product or vectors, and the keys
// of a [Dot], a [Copy], a [Line], a [Product] or of [Vectors]. The answer to a
// wrong question has the one key error.
func Answer(text []byte) []byte {
	answer, err := answer(text)
	if err == nil {
		var out []byte
		if out, err = json.Marshal(answer); err == nil {
			return out
		}
	}
	out, _ := json.Marshal(map[string]string{"error": err.Error()})
	return out
}

func answer(text []byte) (answer any, err error) {
	defer func() {
		if r := recover(); r != nil {
			answer, err = nil, fmt.Errorf("this question is a mistake of the page: %v", r)
		}
	}()
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	switch q.Ask {
	case "factors":
		return Factors(), nil
	case "devices":
		return Devices(), nil
	case "dot":
		return ask(text, Dot.Answer)
	case "copy":
		return ask(text, Copy.Answer)
	case "line":
		return ask(text, Line.Answer)
	case "product":
		return ask(text, Product.Answer)
	case "vectors":
		return ask(text, Vectors.Answer)
	}
	return nil, fmt.Errorf("ask is %q, want factors, devices, dot, copy, line, product or vectors", q.Ask)
}

// ask answers a question of one kind.
func ask[Q, A any](text []byte, answer func(Q) (A, error)) (any, error) {
	var q Q
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	return answer(q)
}
