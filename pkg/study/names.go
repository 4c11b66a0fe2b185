package study

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The names of figures and tables. Commands and records have names of their
// own, which are short and never change, such as hopper-e4m3 and higham-mary.

// machineTitle returns the name of a machine: the chip, then what differs from
// factors in binary16 and sums in binary32.
func machineTitle(m tcore.Machine) string {
	d := m.Device
	switch d.Architecture {
	case "paper":
		return "paper's model"
	case "IEEE":
		return "FMAs in " + d.C.Name
	}
	title := d.Architecture
	if d.A != tcore.Binary16 {
		title += ", " + d.A.Name
	}
	if d.ScaleBlock > 0 {
		title += fmt.Sprintf(" in blocks of %d", d.ScaleBlock)
	}
	if d.C != tcore.Binary32 && d.C != d.A || d.C == tcore.Binary16 {
		title += ", sums in " + d.C.Name
	}
	if m.SplitK > 1 {
		title += fmt.Sprintf(", K in %d parts", m.SplitK)
	}
	if m.Promote > 0 {
		title += fmt.Sprintf(", promoted every %d", m.Promote)
	}
	if m.Output != (tcore.Format{}) {
		title += ", D in " + m.Output.Name
	}
	return title
}

// unitTitle returns the name of a matrix unit: the chip and the instruction.
func unitTitle(d tcore.Device) string {
	switch d.Architecture {
	case "paper":
		return "paper's model"
	case "IEEE":
		return "FMAs"
	}
	return d.Architecture + " " + strings.Split(d.Name, "-")[1]
}

// machineNamed returns the name, in figures, of the machine that package sweep
// calls name.
func machineNamed(name string) string {
	m, err := sweep.FindMachine(name)
	if err != nil {
		return name // of a record whose machines are not of the catalogue
	}
	return machineTitle(m)
}

// on returns the machine that package sweep calls name, with its preposition.
func on(name string) string {
	return strings.Replace("on "+machineNamed(name), "on paper's", "on the paper's", 1)
}

// dataTitles are the names of the data that violate an assumption.
var dataTitles = map[string]string{
	sweep.Scaled.Name:      "rows of different sizes",
	sweep.Misinformed.Name: "U(0,1), taken for U(−1,1)",
	sweep.Constant.Name:    "all entries equal",
	sweep.LowBits.Name:     "products whose low bits are ones",
	sweep.Ties.Name:        "every sum a tie, rounded down",
	sweep.Pairing.Name:     "factors paired to lose the most",
	sweep.Cancelling.Name:  "sums that cancel to 10⁻⁴",
}

// dataNamed returns the name, in figures, of the data that package sweep calls
// name.
func dataNamed(name string) string {
	if title, ok := dataTitles[name]; ok {
		return title
	}
	return typeset.Minus(name)
}

// boundTitles are the names of the bounds that others published. Those of this
// project have the name of the catalogue.
var boundTitles = map[string]string{
	"compensated":          "compensated sums",
	"dbea":                 "DBEA",
	"gamma":                "γ_{*n*}",
	"unrestricted":         "(1 − *u*)^{−*n*} − 1",
	"linear":               "*nu*",
	"beta":                 "biased errors",
	"higham-mary":          "Higham & Mary 2019",
	"connolly-higham-mary": "Connolly et al. 2021",
	"el-arar":              "El Arar et al. 2023",
	"hallman-ipsen":        "Hallman & Ipsen 2023",
	"hallman-ipsen-sums":   "Hallman & Ipsen 2023, sums",
	"typical":              "uniform significands",
	"benford":              "Benford's significands",
	"vibea":                "VIBEA",
	"vibea-printed":        paper.PrintedBound,
	"vibea-linear":         "VIBEA, linear",
	"vibea-moment":         "VIBEA, exact mean",
	"vibea-per-event":      "VIBEA, equal shares",
	"vibea-maximal":        "VIBEA, maximal",
	"higham-mary-theorem":  "VIBEA by Higham & Mary 2019",
	"higham-mary-2020":     "Higham & Mary 2020",
	"random-data":          "Higham & Mary 2020, sharper",
	"running":              "running error",
	"running-half-ulp":     "running error, half ulps",
	"half-ulp-bernstein":   "random half ulps",
	"half-ulp-uniform":     "uniform half ulps",
	"ipsen-zhou":           "Ipsen & Zhou 2020",
	"ipsen-zhou-half-ulp":  "Ipsen & Zhou 2020, half ulps",
}

// boundNamed returns the name, in figures, of the bound that the catalogue
// calls name.
func boundNamed(name string) string {
	if title, ok := boundTitles[name]; ok {
		return title
	}
	return name
}

// confidenceText returns a confidence as it is printed, such as "99 %" or "1 −
// 2.3·10⁻⁵".
func confidenceText(f roundoff.Failure) string {
	digits, exponent, found := strings.Cut(strings.TrimPrefix(f.String(), "1 - "), "e")
	if !found {
		return f.String()
	}
	e, _ := strconv.Atoi(exponent) // no error: String wrote it
	power := "10" + typeset.Superscript(e)
	if digits != "1" {
		power = digits + "·" + power
	}
	return "1 − " + power
}

// twoDigits returns x with two significant digits, also where they are zeros,
// so that the numbers of a column have equal digits.
func twoDigits(x float64) string {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 1, 64), "e")
	if e, err := strconv.Atoi(exponent); x != 0 && err == nil && -2 <= e && e <= 0 { // not of ∞ or NaN
		return strconv.FormatFloat(x, 'f', 1-e, 64)
	}
	return typeset.Number(x, 2)
}
