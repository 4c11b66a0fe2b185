package study

import (
	"fmt"
	"maps"
	"slices"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Coverage returns the chart of the observed failure rate of each valid
// probabilistic bound against its stated failure rate, 1 - confidence. As few
// or no outputs violate a bound, the observed rate is the upper end of its
// exact confidence interval (Clopper and Pearson, 99 %). It panics if there is
// no row of such a bound whose confidence is for single outputs.
func (s *BoundSweep) Coverage() *viz.Chart {
	const sure = 0.99
	rows := s.of(func(r sweep.Row) bool {
		return r.PerOutput && r.Bound != sweep.ErrorRow && !r.Deterministic && r.Verdict == sweep.Holds
	})
	if len(rows) == 0 {
		panic("study: Coverage of a sweep without rows of outputs alone")
	}
	worst, most := rows[0], -1.0
	points := map[string][2][]float64{}
	var machines []string
	for _, r := range rows {
		if !slices.Contains(machines, r.Machine) {
			machines = append(machines, r.Machine)
		}
		failed, trials := r.Failures()
		_, hi := sweep.ClopperPearson(failed, trials, sure)
		p := points[r.Data]
		points[r.Data] = [2][]float64{append(p[0], r.NominalRate()), append(p[1], hi)}
		if rate := hi / r.NominalRate(); rate > most {
			worst, most = r, rate
		}
	}
	failed, trials := worst.Failures()
	finding := "No probabilistic bound fails more often than it states"
	if n := len(sweep.Violated(rows, sure)); n > 0 {
		finding = fmt.Sprintf("%d probabilistic bounds fail more often than they state", n)
	}
	c := viz.NewChart(s.stem+"-coverage",
		fmt.Sprintf("%s: the nearest to it, %s %s at %s, is exceeded by %d of %d outputs.",
			finding, boundNamed(worst.Bound), on(worst.Machine), typeset.Percent(worst.Confidence), failed, trials),
		fmt.Sprintf("Each point is a bound on one of %d machines: the upper end of the exact %s interval (Clopper and Pearson) of its failure rate. K = %d. %s.",
			len(machines), typeset.Percent(sure), worst.K, s.Origin))
	_, unseen := sweep.ClopperPearson(0, trials, sure)
	for _, data := range slices.Sorted(maps.Keys(points)) {
		p := c.Panel("Entries ~ "+dataNamed(data), viz.Axis{Label: "Failure rate stated, 1 − confidence", Log: true, Min: 3e-4, Max: 0.3},
			viz.Axis{Label: "Failure rate observed, at most", Log: true, Min: 1e-6, Max: 1})
		none := 0
		for _, rate := range points[data][1] {
			if rate == unseen {
				none++
			}
		}
		p.Horizontal(viz.Series{Label: fmt.Sprintf("%d of %d never exceeded", none, len(points[data][1])), Color: viz.Grey, Style: viz.Dotted}, unseen)
		p.Line(viz.Series{Label: "as stated", Color: viz.Grey, Style: viz.Dotted}, []float64{3e-4, 0.3}, []float64{3e-4, 0.3})
		series := paper.Observed
		series.Label = "a bound on a machine"
		p.Points(series, points[data][0], points[data][1])
	}
	return c
}
