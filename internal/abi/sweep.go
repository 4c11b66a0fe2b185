package abi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// Sweep answers with the text of a shard of a sweep, the bytes that roundoff
// sweep -shard writes. Without a shard it answers in JSON what sweep is asked
// for, how many draws it has and into how many shards it is best divided, and
// which of the files that are named are shards of it.
func Sweep(text string, cancelled func() bool) (string, error) {
	q := struct {
		question.Sweep
		Shard string            `json:"shard"` // as in 3/16; "" for none
		Files map[string]string `json:"files"` // by shard, files that may have it
	}{Sweep: question.NewSweep()}
	if err := read(text, &q); err != nil {
		return "", err
	}
	q.Given = givenIn(text)
	if q.Shard == "" {
		return describe(&q.Sweep, q.Files)
	}
	if len(q.Files) > 0 {
		return "", fmt.Errorf("shard is %.40q and files are named, want one of them", q.Shard)
	}
	shard, err := sweep.ParseShard(q.Shard)
	if err != nil {
		return "", err
	}
	plans, part, err := q.Part(shard)
	if err != nil {
		return "", err
	}
	ctx, end := untilCancelled(cancelled)
	defer end()
	err = shard.Run(ctx, plans, 0, func(rows []sweep.Row) error {
		part.Draws = append(part.Draws, rows)
		return nil
	}, nil)
	if ctx.Err() != nil {
		return "", errCancelled
	}
	var b strings.Builder
	if err == nil {
		err = part.Write(&b)
	}
	return b.String(), err
}

// givenIn returns a function that reports whether a question that has been read
// has the key of a flag.
func givenIn(text string) func(flag string) bool {
	var keys map[string]json.RawMessage
	json.Unmarshal([]byte(text), &keys) // which read has done, or there is none
	return func(flag string) bool {
		_, given := keys[strings.ReplaceAll(flag, "-", "_")]
		return given
	}
}

// untilCancelled returns a context that ends soon after cancelled returns true.
// The function ends it, and the watch over it.
func untilCancelled(cancelled func() bool) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for !cancelled() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		end()
	}()
	return ctx, end
}

// A foundShard is what a file has of a shard. Draws is 0 where it has to be
// computed: there is no file, or it is damaged, as Why says.
type foundShard struct {
	Shard   sweep.Shard `json:"shard"`
	Draws   int         `json:"draws"`
	Missing int         `json:"missing"`
	Why     string      `json:"why"`
}

// describe answers what a sweep is, and what files have of it.
func describe(q *question.Sweep, files map[string]string) (string, error) {
	plans, part, err := q.Part(sweep.Shard{Index: 1, Of: 1})
	if err != nil {
		return "", err
	}
	z := struct {
		Version string       `json:"version"`
		Command string       `json:"command"`
		Draws   int          `json:"draws"`
		Outputs float64      `json:"outputs"`
		Shards  int          `json:"shards"`
		Files   []foundShard `json:"files"`
	}{part.Version, part.Command, part.Missing(), 0, question.Shards(plans), []foundShard{}}
	for _, p := range plans {
		units, err := p.Units()
		if err != nil {
			return "", err
		}
		z.Outputs += float64(p.Grid().Draws()) * float64(p.M) * float64(p.N) * float64(units)
	}
	for name, file := range files {
		if part.Shard, err = sweep.ParseShard(name); err != nil {
			return "", fmt.Errorf("files: %w", err)
		}
		there, damage, err := question.Begun(part, file)
		if err != nil {
			return "", failure{fmt.Errorf("%w; it stays as it is", err)}
		}
		found := foundShard{part.Shard, len(there.Draws), there.Missing(), ""}
		if damage != nil {
			found.Why = damage.Error()
		}
		z.Files = append(z.Files, found)
	}
	slices.SortFunc(z.Files, func(a, b foundShard) int { return a.Shard.Index - b.Shard.Index })
	return write(z)
}

// A sweptRow is a row of a sweep. Numbers are null where they are not finite.
type sweptRow struct {
	Machine            string   `json:"machine"`
	Recipe             string   `json:"recipe"`
	Data               string   `json:"data"`
	M                  int      `json:"m"`
	N                  int      `json:"n"`
	K                  int      `json:"k"`
	Confidence         float64  `json:"confidence"`
	PerOutput          bool     `json:"per_output"`
	Told               string   `json:"told"`
	Ranges             bool     `json:"ranges"`
	Represented        bool     `json:"represented"`
	Bound              string   `json:"bound"`
	Deterministic      bool     `json:"deterministic"`
	Verdict            string   `json:"verdict"`
	Fails              bool     `json:"fails"`
	Seeds              string   `json:"seeds"`
	Runs               int      `json:"runs"`
	Failed             int      `json:"failed"`
	Outputs            int      `json:"outputs"`
	Violations         int      `json:"violations"`
	Tightness          *float64 `json:"tightness"`
	Largest            *float64 `json:"largest"`
	Median             *float64 `json:"median"`
	Constant           *float64 `json:"constant"`
	Conversion         *float64 `json:"conversion"` // with a recipe, in rows of bounds
	Mean               *float64 `json:"mean"`       // this and what follows in rows of errors alone
	Spread             *float64 `json:"spread"`
	Slope              *float64 `json:"slope"`
	PredictedMean      *float64 `json:"predicted_mean"`
	PredictedSlope     *float64 `json:"predicted_slope"`
	PredictedSpread    *float64 `json:"predicted_spread"`
	QuantisedMean      *float64 `json:"quantised_mean"` // this and what follows with a recipe
	QuantisedSpread    *float64 `json:"quantised_spread"`
	QuantisedLargest   *float64 `json:"quantised_largest"`
	AccumulatedMean    *float64 `json:"accumulated_mean"`
	AccumulatedSpread  *float64 `json:"accumulated_spread"`
	AccumulatedLargest *float64 `json:"accumulated_largest"`
	Skipped            int      `json:"skipped"`
	Why                string   `json:"why"`
}

// swept returns a row for JSON.
func swept(r sweep.Row) sweptRow {
	known := question.Known
	z := sweptRow{Machine: r.Machine, Recipe: r.Recipe, Data: r.Data, M: r.M, N: r.N, K: r.K, Confidence: r.Confidence, PerOutput: r.PerOutput, Told: r.Told.String(),
		Ranges: r.Ranges, Represented: r.Represented, Bound: r.Bound, Deterministic: r.Deterministic, Verdict: string(r.Verdict),
		Fails: len(sweep.Violated([]sweep.Row{r}, sweep.Sure)) > 0, Seeds: sweep.FormatSeeds(r.Seeds), Runs: r.Runs, Failed: r.Failed, Outputs: r.Outputs,
		Violations: r.Violations, Tightness: known(r.Tightness), Largest: known(r.Largest), Median: known(math.NaN()), Constant: known(r.Constant),
		Skipped: r.Skipped, Why: r.Why}
	if r.Outputs > 0 {
		z.Median = known(r.Median())
	}
	if r.Bound == sweep.ErrorRow && r.Outputs > 0 {
		z.Mean, z.Spread, z.Slope = known(r.Mean()), known(r.Spread()), known(r.Slope())
		p := r.Predicted
		z.PredictedMean, z.PredictedSlope, z.PredictedSpread = known(p.Mean), known(p.Slope), known(p.Spread)
	}
	switch {
	case r.Recipe != "" && r.Bound != sweep.ErrorRow:
		z.Conversion = known(r.Conversion)
	case r.Recipe != "" && r.Outputs > 0:
		q, a := r.Quantised, r.Accumulated
		z.QuantisedMean, z.QuantisedSpread, z.QuantisedLargest = known(q.Mean()), known(q.Spread()), known(q.Largest)
		z.AccumulatedMean, z.AccumulatedSpread, z.AccumulatedLargest = known(a.Mean()), known(a.Spread()), known(a.Largest)
	}
	return z
}

// Join answers with the rows of the shards in files, as the text that roundoff
// sweep -join writes and as records, and with what is missing.
func Join(text string) (string, error) {
	q := struct {
		Files   []string `json:"files"`
		Partial bool     `json:"partial"`
	}{}
	if err := read(text, &q); err != nil {
		return "", err
	}
	if len(q.Files) == 0 {
		return "", fmt.Errorf("files is empty, want those of shards")
	}
	joined, err := question.JoinShards(q.Files, q.Partial)
	if err != nil {
		return "", failure{err}
	}
	var csv strings.Builder
	if err := sweep.Write(&csv, joined.Comment(), joined.Rows); err != nil {
		return "", err
	}
	z := struct {
		CSV     string     `json:"csv"`
		Version string     `json:"version"`
		Command string     `json:"command"`
		Draws   int        `json:"draws"` // of the sweep
		Missing int        `json:"missing"`
		Shards  []uint64   `json:"shards"` // that are missing
		Text    string     `json:"text"`   // what is missing, in words
		Rows    []sweptRow `json:"rows"`
	}{csv.String(), joined.Version, joined.Command, joined.Lack.Draws, joined.Lack.Missing, joined.Lack.Shards, joined.Lack.String(), []sweptRow{}}
	for _, r := range joined.Rows {
		z.Rows = append(z.Rows, swept(r))
	}
	return write(z)
}
