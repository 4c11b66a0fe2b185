package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// CancellationTable returns the table of the results of all devices for 2²³ −
// 2²³ − ½ − ¼ − ⅛, with the first number in the accumulator. Devices that add
// differently return different results. Devices whose formats do not contain
// these numbers are omitted.
func CancellationTable() *viz.Table {
	var results []float64
	found := map[float64][]tcore.Device{}
	asked := 0
	for _, d := range devices.All() {
		x, y := []float64{-0x1p15, -0.5, -0.25, -0.125}, []float64{0x1p8, 1, 1, 1}
		if d.ScaleBlock > 0 || d.C.Max() < 0x1p23 || d.A.Max() < 0x1p15 {
			continue // its formats do not contain these numbers
		}
		asked++
		z := d.Dot(x, y, 0x1p23)
		if found[z] == nil {
			results = append(results, z)
		}
		found[z] = append(found[z], d)
	}
	slices.Sort(results)
	slices.Reverse(results)
	t := viz.NewTable("cancellation",
		fmt.Sprintf("Adding the same five numbers, %d devices find %d sums; the exact one is −0.875.", asked, len(results)),
		"2²³ − 2²³ − ½ − ¼ − ⅛: the first number in the accumulator, the others as products of one instruction. A device is an instruction with its formats.",
		[]string{"Sum", "Number of devices", "Factors", "Chip and instruction"})
	for _, z := range results {
		result, count := typeset.Number(z, 4), fmt.Sprint(len(found[z]))
		for _, g := range byFactors(found[z]) {
			t.Row(result, count, g.factors, strings.Join(g.instructions, ", "))
			result, count = "", ""
		}
	}
	return t
}

// group is a set of instructions that were found with the same formats of
// factors.
type group struct {
	factors      string
	instructions []string
}

// byFactors groups the instructions of devices by the formats of their factors.
func byFactors(found []tcore.Device) []group {
	var instructions, lists []string
	factors := map[string]string{}
	for _, d := range found {
		instruction := unitTitle(d)
		if factors[instruction] == "" {
			instructions = append(instructions, instruction)
		} else {
			factors[instruction] += ", "
		}
		factors[instruction] += d.A.Name
	}
	of := map[string][]string{}
	for _, instruction := range instructions {
		list := factors[instruction]
		if of[list] == nil {
			lists = append(lists, list)
		}
		of[list] = append(of[list], instruction)
	}
	var groups []group
	for _, list := range lists {
		groups = append(groups, group{list, of[list]})
	}
	return groups
}

// SideBySideTable returns the table of one dot product of 256 terms, computed
// by every device with factors in binary16 and results in binary32. Errors are
// relative, in units of u.
func SideBySideTable() *viz.Table {
	const k = 256
	rng := rand.New(rand.NewPCG(paper.Seed, 6))
	x, y := make([]float64, k), make([]float64, k)
	for i := range x {
		x[i] = tcore.Binary16.Round(rng.Float64(), tcore.ToNearestEven)
		y[i] = tcore.Binary16.Round(rng.Float64(), tcore.ToNearestEven)
	}
	var rows [][]string
	sums, least, most, truncating := map[float64]bool{}, math.Inf(1), math.Inf(-1), 0
	for _, d := range devices.All() {
		if d.A.Name != tcore.Binary16.Name || d.C.Name != tcore.Binary32.Name {
			continue
		}
		trace := d.Trace(x, y, 0)
		exact, _ := trace.Exact.Float64()
		off := trace.Error / exact / tcore.Binary32.UnitRoundoff()
		sums[trace.Result] = true
		if _, ok := d.Core.(tcore.Fused); ok {
			least, most, truncating = min(least, off), max(most, off), truncating+1
		}
		rows = append(rows, []string{unitTitle(d), fmt.Sprint(k / len(trace.Blocks)), fmt.Sprintf("%.9g", trace.Result),
			fmt.Sprintf("%08x", d.C.Encode(trace.Result, tcore.ToNearestEven)), typeset.Number(off, 3)})
	}
	t := viz.NewTable("side-by-side",
		fmt.Sprintf("One dot product on %d instructions has %d different results; the %d that align and truncate are off by %s to %s u.",
			len(rows), len(sums), truncating, typeset.Number(least, 3), typeset.Number(most, 3)),
		fmt.Sprintf("%d pairs of binary16 numbers ~ U(0,1), seed %d, sums in binary32 from left to right, so many terms at once. The error is relative to the exact sum; u = 2⁻²⁴.",
			k, paper.Seed),
		[]string{"Chip and instruction", "Terms at once", "Result", "Code", "Error in u"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// TraceTable returns the table of a dot product as a device computes it: what
// each term contributes to the sum of its block, and what truncation discards.
// The heading of a block has its unit, the weight of the last bit that
// alignment keeps.
func TraceTable(name string, trace tcore.Trace) *viz.Table {
	exact, _ := trace.Exact.Float64()
	t := viz.NewTable(name,
		fmt.Sprintf("%s computes %s where %s is exact.", capital(machineNamed(trace.Device)), typeset.Number(trace.Result, 9), typeset.Number(exact, 9)),
		"The terms of a block are aligned to the largest exponent; of each, what lies below the unit, the last bit kept, is lost. The sum of what is kept is then rounded.",
		[]string{"Term", "Value", "Exponent", "Kept", "Lost"})
	for i, b := range trace.Blocks {
		if b.Unit > 0 {
			heading := "unit 2" + typeset.Superscript(int(math.Log2(b.Unit)))
			if len(trace.Blocks) > 1 {
				heading = fmt.Sprintf("block %d, %s", i+1, heading)
			}
			t.Row("*"+heading+"*", "", "", "", "")
		}
		for _, m := range b.Terms {
			if m.Value == 0 {
				continue
			}
			term := "c"
			if m.Index >= 0 {
				term = fmt.Sprintf("%s × %s", typeset.Number(m.X, 5), typeset.Number(m.Y, 5))
			}
			t.Row(term, typeset.Number(m.Value, 9), typeset.Number(float64(m.Exponent), 4), typeset.Number(m.Kept, 9), typeset.Number(m.Lost, 4))
		}
		t.Row("sum", typeset.Number(b.Sum, 9), "", typeset.Number(b.Result, 9), typeset.Number(b.Sum-b.Result, 4))
	}
	return t
}

// capital returns text with a capital at its beginning.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
