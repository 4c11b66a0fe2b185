package paper

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// tableOne are the formats of Table 1.
var tableOne = []tcore.Format{tcore.Binary16, tcore.Binary32, tcore.Binary64}

// FormatTable returns Table 1, the formats of the paper, extended by the unit
// roundoff and the range that follow from their parameters.
func FormatTable() *viz.Table {
	var units []string
	for _, f := range tableOne {
		units = append(units, power(f.UnitRoundoff()))
	}
	t := viz.NewTable("table1-formats",
		"The precision p of a format determines its unit roundoff u, which is "+phrase(units)+"; the exponents determine its largest and smallest numbers.",
		"Table 1 of the paper, with the columns that follow from its own. Precision counts the bit that is not stored.",
		[]string{"Format", "*p*", "*β*", "*e*_{min}", "*e*_{max}", "*u*", "largest", "smallest normal", "smallest subnormal"})
	for _, f := range tableOne {
		t.Row(fmt.Sprintf("%s (fp%d)", f.Name, f.Bits()), fmt.Sprint(f.Precision), "2", digits(float64(f.Emin), 4), digits(float64(f.Emax), 4),
			short(f.UnitRoundoff()), short(f.Max()), short(f.MinNormal()), short(f.MinSubnormal()))
	}
	return t
}

// FormatClaims returns the claims of Table 1 and the unit roundoff of Section
// 2.1. Each parameter is measured by arithmetic in the format; the fields of
// [tcore.Format] are not read.
func FormatClaims() []Claim {
	c := claims{source: "Table 1", notebook: "01-floating-point", file: "formats.go"}
	for _, row := range []struct {
		format        tcore.Format
		p, emin, emax int
	}{
		{tcore.Binary16, 11, -14, 15},
		{tcore.Binary32, 24, -126, 127},
		{tcore.Binary64, 53, -1022, 1023},
	} {
		f := row.format
		p, emin, emax := measureFormat(f)
		c.equal("format-p-"+f.Name, fmt.Sprintf("%s has precision p = %d", f.Name, row.p), float64(row.p), float64(p), 0, "bits",
			"the least p for which 1 + 2⁻ᵖ rounds to 1")
		c.equal("format-emin-"+f.Name, fmt.Sprintf("%s has e_min = %s", f.Name, short(float64(row.emin))), float64(row.emin), float64(emin), 0, "",
			"the least e for which (1 + 2u)·2ᵉ keeps its last digit")
		c.equal("format-emax-"+f.Name, fmt.Sprintf("%s has e_max = %d", f.Name, row.emax), float64(row.emax), float64(emax), 0, "",
			"the next power of two overflows")
	}
	c.source = "Section 2.1"
	c.equal("unit-roundoff", "The unit roundoff is u = ½β¹⁻ᵖ; in binary16 2⁻¹¹", 1.0/2048, worstRounding(tcore.Binary16), 1e-3, "",
		fmt.Sprintf("the largest relative rounding error of a million numbers in [1, 2) is u/(1 + u), just below u = %s", short(u16)))
	return c.list
}

// measureFormat determines the parameters of f by rounding powers of two and
// their neighbours.
func measureFormat(f tcore.Format) (p, emin, emax int) {
	round := func(x float64) float64 { return f.Round(x, tcore.ToNearestEven) }
	for p = 1; round(1+math.Ldexp(1, -p)) != 1 && 1+math.Ldexp(1, -p) != 1; {
		p++
	}
	odd := 1 + math.Ldexp(1, 1-p) // the last significand bit is set
	for emin = 0; round(odd*math.Ldexp(1, emin-1)) == odd*math.Ldexp(1, emin-1) && odd*math.Ldexp(1, emin-1)/math.Ldexp(1, emin-1) == odd; {
		emin--
	}
	for emax = 0; !math.IsInf(round(math.Ldexp(1, emax+1)), 0); {
		emax++
	}
	return p, emin, emax
}

// worstRounding returns the largest |fl(x) - x|/|x| over 2^20 equidistant x in
// [1, 2), rounded to nearest.
func worstRounding(f tcore.Format) float64 {
	const n = 1 << 20
	worst := 0.0
	for i := range n {
		x := 1 + float64(i)/n
		worst = max(worst, math.Abs(f.Round(x, tcore.ToNearestEven)-x)/x)
	}
	return worst
}
