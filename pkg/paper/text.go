package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Unit roundoffs and the series that appear in most figures.
var (
	u16 = tcore.Binary16.UnitRoundoff()
	u32 = tcore.Binary32.UnitRoundoff()

	observed = viz.Series{Label: "observed", Color: viz.Observed, Style: viz.Solid}
)

func abs(x float64) float64 { return math.Abs(x) }

// percent returns a confidence as text: 0.99 is "99 %".
func percent(p float64) string { return strconv.FormatFloat(100*p, 'g', 6, 64) + " %" }

// short returns x with four significant digits.
func short(x float64) string { return digits(x, 4) }

// digits returns x with n significant digits, as 1.234·10⁻⁵ where plain digits
// would need many zeros.
func digits(x float64, n int) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	verb := byte('g')
	if a := abs(x); a != 0 && (a < 0.01 || a >= math.Pow10(n)) {
		verb = 'e'
		n--
	}
	s := strings.Replace(strconv.FormatFloat(x, verb, n, 64), "-", "−", 1)
	mantissa, exponent, found := strings.Cut(s, "e")
	if !found {
		return s
	}
	e, _ := strconv.Atoi(strings.ReplaceAll(exponent, "−", "-")) // FormatFloat wrote it
	return mantissa + "·10" + superscript(e)
}

// superscript returns n in superscript digits.
func superscript(n int) string {
	return strings.Map(func(r rune) rune {
		if r == '-' {
			return '⁻'
		}
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}, fmt.Sprint(n))
}

func isInf(x float64) bool { return math.IsInf(x, 0) }

// pow2 returns 2^n.
func pow2(n int) float64 { return math.Ldexp(1, n) }
