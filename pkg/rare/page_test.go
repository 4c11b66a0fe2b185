package rare_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/written"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/rare"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

var (
	update  = flag.Bool("update", false, "write the table of docs/rare.md from what is recorded")
	measure = flag.Bool("measure", false, "record anew what the table of docs/rare.md has: minutes")
)

// A pageCase is a product with bounds on it.
type pageCase struct {
	name    string
	device  tcore.Device
	data    bound.Distribution
	k       int
	bits    int
	bounds  []bound.Bound
	samples int
}

var pageCases = []pageCase{
	{"ieee, binary16, stochastic", devices.IEEEF16(), bound.Uniform(0, 1), 1024, 32, []bound.Bound{bound.HallmanIpsen}, 250},
	{"ieee, binary16", devices.IEEEF16(), bound.Uniform(0, 1), 64, 0, []bound.Bound{bound.HalfUlpBernstein}, 400},
	{"hopper, e4m3", devices.HopperE4M3(), bound.Uniform(-1, 1), 32, 0, []bound.Bound{bound.TruncatedRandomData}, 1000},
	{"hopper, e4m3", devices.HopperE4M3(), bound.Uniform(-1, 1), 32, 0, []bound.Bound{bound.MartingaleDistribution}, 250},
}

var pageRates = []float64{1e-3, 1e-6, 1e-9, 1e-12}

// A pageRow is one finding, as it is recorded.
type pageRow struct {
	Case   int
	Bound  string
	Stated float64
	Holds  bool
	rare.Estimate
}

const recorded = "testdata/rates.json"

func (c pageCase) finding(t *testing.T, b bound.Bound, rate float64) (rare.Finding, error) {
	k := bound.Problem{M: 1, N: 1, K: c.k, Machine: tcore.Machine{Device: c.device, Stochastic: tcore.Stochastic{Bits: c.bits}}, X: c.data, Y: c.data}
	return rare.Fails(t.Context(), k, b, roundoff.Failure(math.Log(rate)), rare.Effort{Seed: 1, Samples: c.samples})
}

// The table of docs/rare.md is that of what is recorded, of which the row that
// takes least is found again; no bound in it fails more often than stated.
func TestThePage(t *testing.T) {
	if *measure {
		var rows []pageRow
		for i, c := range pageCases {
			for _, b := range c.bounds {
				for _, rate := range pageRates {
					z, err := c.finding(t, b, rate)
					if err != nil {
						t.Fatal(c.name, b.Name, err)
					}
					t.Log(c.name, b.Name, rate, z.Estimate, z.Doubt())
					if z.Broken() {
						t.Errorf("%s, %s: %v, stated %v", c.name, b.Name, z.Estimate, rate)
					}
					rows = append(rows, pageRow{i, b.Name, rate, z.Result.Holds, z.Estimate})
				}
				text, err := json.MarshalIndent(rows, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(recorded, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var rows []pageRow
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| machine | data | K | bound | states 10⁻³ | 10⁻⁶ | 10⁻⁹ | 10⁻¹² |\n|---|---|--:|---|--:|--:|--:|--:|\n")
	for i, r := range rows {
		c := pageCases[r.Case]
		if i%len(pageRates) == 0 {
			fmt.Fprintf(&table, "| %s | %v | %d | `%s` |", c.name, c.data, c.k, r.Bound)
		}
		fmt.Fprintf(&table, " %s |", cell(r.Estimate))
		if i%len(pageRates) == len(pageRates)-1 {
			table.WriteString("\n")
		}
		if !r.Holds || r.Level == 1 && r.Low > r.Stated {
			t.Errorf("%s, %s: holds %v, from %v, stated %v", c.name, r.Bound, r.Holds, r.Low, r.Stated)
		}
	}
	written.Part(t, "../../docs/rare.md", "rates", table.String(), *update || *measure)
	for _, r := range rows {
		if c := pageCases[r.Case]; c.bits > 0 && r.Stated == 1e-3 {
			b, _ := bound.Find(r.Bound)
			if z, err := c.finding(t, b, r.Stated); err != nil || math.Abs(z.Rate-r.Rate) > 1e-9*r.Rate {
				t.Errorf("%s, %s: found %v, %v, recorded %v", c.name, r.Bound, z.Estimate, err, r.Estimate)
			}
			break
		}
	}
}

// cell returns the rate with the interval as a cell.
func cell(e rare.Estimate) string {
	s := fmt.Sprintf("%.0e", e.Rate)
	switch {
	case e.Level < 1:
		return "≤ " + s
	case e.Rate == 0:
		return "none"
	case e.Doubt() != "":
		return fmt.Sprintf("about %s", s)
	}
	return fmt.Sprintf("%.1e (%.0e to %.0e)", e.Rate, e.Low, e.High)
}
