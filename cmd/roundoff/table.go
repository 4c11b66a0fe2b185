package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// writeJSON writes v, indented.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// yes returns yes or no.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// number returns x in the format, or a dash if it is NaN.
func number(format string, x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

// limit returns x in the format, or a dash if it is +Inf.
func limit(format string, x float64) string {
	if math.IsInf(x, 1) {
		return "-"
	}
	return fmt.Sprintf(format, x)
}
