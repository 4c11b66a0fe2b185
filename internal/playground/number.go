package playground

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// parse returns the number of f that a text stands for: a decimal number, a
// hexadecimal one with a binary exponent (0x1.8p3), or the bits of f, as 0b…,
// or as 0x… without an exponent. Numbers are rounded to f, to nearest even.
func parse(text string, f tcore.Format) (float64, error) {
	s := strings.ToLower(strings.TrimSpace(strings.ReplaceAll(text, "−", "-")))
	if x, err := strconv.ParseFloat(s, 64); err == nil || math.IsInf(x, 0) {
		return f.Round(x, tcore.ToNearestEven), nil
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0b") {
		if code, err := strconv.ParseUint(s, 0, 64); err == nil && code>>f.Bits() == 0 {
			return f.Decode(code), nil
		}
		return 0, fmt.Errorf("%q is not a number of %d bits of %s", text, f.Bits(), f.Name)
	}
	return 0, fmt.Errorf("%q is not a number: want one like 0.1, 1e-3, 0x1.8p3, or bits like 0x3c00", text)
}

// parseAll returns the codes of the numbers of a list, as instructions take
// them. The error names the first wrong one by its place, counted from 1.
func parseAll(name string, texts []string, f tcore.Format) ([]uint64, error) {
	codes := make([]uint64, len(texts))
	for i, text := range texts {
		x, err := parse(text, f)
		if err != nil {
			return nil, fmt.Errorf("%s, number %d: %w", name, i+1, err)
		}
		codes[i] = word(f).Encode(x, tcore.ToNearestEven)
	}
	return codes, nil
}

// word returns the format of the codes that instructions take for numbers of f:
// those of tf32 are words of binary32, whose low 13 bits are zero.
func word(f tcore.Format) tcore.Format {
	if f.Equal(tcore.TF32) {
		return tcore.Binary32
	}
	return f
}

// decode returns the number of f that an instruction takes the code for.
func decode(code uint64, f tcore.Format) float64 { return word(f).Decode(code) }

// A Number is a number of a format as the page shows it. JSON has no NaN and no
// infinities, so its value is text.
type Number struct {
	Value string `json:"value"` // shortest decimal that has these bits in binary64
	Hex   string `json:"hex"`   // hexadecimal floating point
	Bits  string `json:"bits"`  // the code in f, as many hexadecimal digits as it has
}

// number returns z as a number of f.
func number(z float64, f tcore.Format) Number { return coded(f.Encode(z, tcore.ToNearestEven), f) }

// coded returns the number that a code of f stands for.
func coded(code uint64, f tcore.Format) Number {
	z := f.Decode(code)
	return Number{text(z), strconv.FormatFloat(z, 'x', -1, 64), bits(code, f)}
}

// bits returns a code of f, as many hexadecimal digits as it has.
func bits(code uint64, f tcore.Format) string { return fmt.Sprintf("0x%0*x", (f.Bits()+3)/4, code) }

// text returns the shortest decimal number that stands for x.
func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
