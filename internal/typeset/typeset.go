// Package typeset writes numbers as they are printed: with a minus sign, not a
// hyphen, and with powers of ten in superscript.
package typeset

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Number returns x with n significant digits, in the form 1.234·10⁻⁵ if |x| <
// 0.01 or |x| >= 10ⁿ.
func Number(x float64, n int) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	verb := byte('g')
	if a := math.Abs(x); a != 0 && (a < 0.01 || a >= math.Pow10(n)) {
		verb = 'e'
		n--
	}
	mantissa, exponent, found := strings.Cut(strconv.FormatFloat(x, verb, n, 64), "e")
	if !found {
		return Minus(mantissa)
	}
	e, _ := strconv.Atoi(exponent) // no error: FormatFloat wrote it
	return Minus(mantissa) + "·10" + Superscript(e)
}

// Percent returns a probability as text: 0.99 is "99 %".
func Percent(p float64) string { return strconv.FormatFloat(100*p, 'g', 6, 64) + " %" }

// List joins words as in "a, b and c".
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Superscript returns n in superscript digits.
func Superscript(n int) string { return raised.Replace(strconv.Itoa(n)) }

var raised = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "-", "⁻")

// Subscript returns n in subscript digits.
func Subscript(n int) string { return lowered.Replace(strconv.Itoa(n)) }

var lowered = strings.NewReplacer("0", "₀", "1", "₁", "2", "₂", "3", "₃", "4", "₄",
	"5", "₅", "6", "₆", "7", "₇", "8", "₈", "9", "₉", "-", "₋")

// Minus returns text with a minus sign in place of every hyphen that begins a
// number, as in "U(-1,1)". The hyphen of "hopper-16" is not changed.
func Minus(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		if r == '-' && !unicode.IsLetter(before) && !unicode.IsNumber(before) && beginsNumber(text[i+1:]) {
			r = '−'
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// beginsNumber reports whether text begins with a digit, or a point and a
// digit.
func beginsNumber(text string) bool {
	text = strings.TrimPrefix(text, ".")
	return text != "" && '0' <= text[0] && text[0] <= '9'
}
