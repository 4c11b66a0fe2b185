package sweep_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

var small = sweep.Plan{
	Machines:    []tcore.Machine{sweep.Paper, sweep.Volta},
	Data:        []sweep.Generator{sweep.Positive},
	M:           32,
	N:           8,
	Ks:          []int{256, 4096},
	Seeds:       []uint64{1, 2},
	Confidences: []float64{0.99},
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// The paper's theorem is valid on the machine that it describes. On a machine
// that truncates, for which it is not claimed, every output of long sums
// exceeds it.
func Example() {
	for _, r := range must(small.Run(context.Background(), nil)) {
		if r.Bound == "vibea" {
			fmt.Printf("%-5s  K = %4d  %-7s  %3d of %d above, largest error %.2f of the bound\n",
				r.Machine, r.K, r.Verdict, r.Violations, r.Outputs, r.Largest)
		}
	}
	// Output:
	// paper  K =  256  holds      0 of 512 above, largest error 0.05 of the bound
	// paper  K = 4096  holds      0 of 512 above, largest error 0.06 of the bound
	// volta  K =  256  machine    0 of 512 above, largest error 0.41 of the bound
	// volta  K = 4096  machine  512 of 512 above, largest error 1.63 of the bound
}

// The tightest claimed bound, by its τ: before the product is computed, and
// after.
func ExampleTightest() {
	p := small
	p.Ks, p.Machines = []int{4096}, []tcore.Machine{sweep.Paper}
	rows := must(p.Run(context.Background(), nil))
	for _, knows := range []bound.Knowledge{bound.Moments, bound.Trace} {
		r, _ := sweep.Tightest(rows, knows)
		fmt.Printf("%s: τ = %.1f, %d violations\n", r.Bound, r.Tightness, r.Violations)
	}
	// Output:
	// typical: τ = 0.3, 0 violations
	// half-ulp-uniform: τ = 0.7, 0 violations
}

// A sweep split over seeds and joined is the sweep of all seeds.
func ExampleJoin() {
	first, second := small, small
	first.Seeds, second.Seeds = []uint64{1}, []uint64{2}
	joined := must(sweep.Join(must(first.Run(context.Background(), nil)), must(second.Run(context.Background(), nil))))
	whole := must(small.Run(context.Background(), nil))
	fmt.Println(len(joined) == len(whole), joined[3].Summary == whole[3].Summary, joined[3].Seeds)

	_, err := sweep.Join(joined, whole)
	fmt.Println(err)
	// Output:
	// true true [1 2]
	// sweep: seed 1 of paper, U(0,1) is in both
}

func ExampleWrite() {
	var file bytes.Buffer
	rows := must(small.Run(context.Background(), nil))
	fmt.Println(sweep.Write(&file, "seeds 1:2", rows))
	read, comment, err := sweep.Read(&file)
	fmt.Println(comment, len(read) == len(rows), read[3].Ratios == rows[3].Ratios, err)
	// Output:
	// <nil>
	// seeds 1:2 true true <nil>
}

// Errors that drift grow with K. The worst-case bound on truncation grows at
// the same rate.
func ExampleGrowthOf() {
	for _, g := range sweep.GrowthOf(must(small.Run(context.Background(), nil))) {
		if g.Machine == "volta" && (g.Bound == "truncation" || g.Bound == "higham-mary") {
			fmt.Printf("%-11s  K^%.1f, errors K^%.1f\n", g.Bound, g.Constant, g.Error)
		}
	}
	// Output:
	// truncation   K^1.0, errors K^1.0
	// higham-mary  K^0.5, errors K^1.0
}

// If none of 300 trials failed, the probability of failure may still be 1 %.
func ExampleClopperPearson() {
	lo, hi := sweep.ClopperPearson(0, 300, 0.95)
	fmt.Printf("%.4f to %.4f\n", lo, hi)
	// Output:
	// 0.0000 to 0.0122
}

func ExampleViolated() {
	fmt.Println(len(sweep.Violated(must(small.Run(context.Background(), nil)), sweep.Sure)))
	// Output:
	// 0
}

func ExampleRow_Failures() {
	r := sweep.Row{Confidence: 0.9, Summary: sweep.Summary{Runs: 5, Failed: 1, Outputs: 40960, Violations: 3}}
	fmt.Println(r.Failures())
	r.PerOutput = true
	fmt.Println(r.Failures())
	fmt.Printf("%.1f\n", r.NominalRate())
	// Output:
	// 1 5
	// 3 40960
	// 0.1
}

func ExampleSummary_Merge() {
	s := sweep.Summary{Runs: 1, Tightness: 0.5, Largest: 0.5}
	t := s.Merge(sweep.Summary{Runs: 1, Tightness: 0.3, Largest: 0.3})
	fmt.Println(t.Runs, t.Tightness, t.Largest)
	// Output:
	// 2 0.3 0.5
}

// The median of 1000 numbers to within 19 %, from 12 counters.
func ExampleSketch() {
	var s sweep.Sketch
	for i := range 1000 {
		s.Add(float64(i + 1))
	}
	fmt.Printf("%.0f of %d\n", s.Quantile(0.5), s.Count())
	// Output:
	// 431 of 1000
}

func ExampleParseSketch() {
	s, err := sweep.ParseSketch("-4:1 2|3")
	fmt.Println(s, s.Count(), err)
	// Output:
	// -4:1 2|3 6 <nil>
}

func ExampleParseSeeds() {
	seeds, err := sweep.ParseSeeds("1:3,8")
	fmt.Println(seeds, sweep.FormatSeeds(seeds), err)
	_, err = sweep.ParseSeeds("3:1")
	fmt.Println(err)
	// Output:
	// [1 2 3 8] 1:3,8 <nil>
	// sweep: seeds "3:1", want numbers and ranges as in 1:5,8, a million at most
}

func ExampleFindMachine() {
	m, _ := sweep.FindMachine("hopper-tcgen05/4")
	fmt.Println(m.Name == "")
	m, _ = sweep.FindMachine("volta/4")
	fmt.Println(m.Name, m.Device.Name, m.SplitK)
	// Output:
	// true
	// volta/4 volta-mma-binary16-binary32 4
}

// A Generator has the distribution that the bounds are given, and says which
// assumptions it violates.
func ExampleGenerator() {
	for _, l := range sweep.Generators() {
		told := l.X.String()
		if l.Misled {
			told += ", which is false"
		}
		fmt.Printf("%-17s  told %q, %s\n", l.Name, told, cmp.Or(l.Adverse, "not adverse"))
	}
	// Output:
	// U(-1,1)            told "U(-1,1)", not adverse
	// U(0,1)             told "U(0,1)", not adverse
	// U(1,2)             told "U(1,2)", not adverse
	// N(0,1)             told "N(0,1)", not adverse
	// log-normal         told "log-normal", not adverse
	// k/8                told "k/8", not adverse
	// scaled             told "", not adverse
	// U(0,1) as U(-1,1)  told "U(-1,1), which is false", not adverse
	// constant           told "", all products are one number
	// low bits           told "", all products are one number
	// ties               told "", every rounding goes the same way
	// pairing            told "", factors are paired to lose the most
	// condition 1e4      told "", the second half of a sum takes back the first
}

func ExampleFindGenerator() {
	l, err := sweep.FindGenerator("N(1,0.5)")
	fmt.Println(l.Name, l.X.Mean(), err)
	l, err = sweep.FindGenerator("relu(N(0,1))×ar(0.99)")
	fmt.Printf("%s, mean %.2f, %s, %v\n", l.Name, l.X.Mean(), l.Dependent, err)
	// Output:
	// N(1,0.5) 1 <nil>
	// relu(N(0,1))×ar(0.99), mean 0.40, each element depends on the one before it, <nil>
}

// Any distribution that can draw samples makes a Generator.
func ExampleIndependent() {
	coin := sweep.Independent(bound.FromMoments("coin", bound.DataMoments{MeanSquare: 1, MeanAbs: 1, MaxAbs: 1}, func(r *rand.Rand) float64 { return float64(2*r.IntN(2) - 1) }))
	a, _ := coin.Matrices(1, 1, 16, 1)
	b, _ := coin.Matrices(1, 1, 8, 1)
	fmt.Println(a.Data[:8])
	fmt.Println(b.Data)
	// Output:
	// [1 1 1 1 -1 -1 -1 -1]
	// [1 1 1 1 -1 -1 -1 -1]
}

func ExampleFormatSeeds() {
	fmt.Println(sweep.FormatSeeds([]uint64{1, 2, 3, 8}))
	// Output:
	// 1:3,8
}

// Every machine is a device and the way in which a library uses it.
func ExampleMachines() {
	for _, m := range sweep.Machines()[:4] {
		fmt.Println(m.Name, m.Device.Name)
	}
	// Output:
	// paper paper-f32
	// volta volta-mma-binary16-binary32
	// ampere ampere-mma-binary16-binary32
	// hopper hopper-wgmma-binary16-binary32
}

// A plan reports its progress in units of K.
func ExamplePlan_Run() {
	p := small
	p.Machines, p.Seeds = p.Machines[:1], p.Seeds[:1]
	rows, err := p.Run(context.Background(), func(done, total int) { fmt.Println(done, "of", total) })
	fmt.Println(rows[0].Bound, rows[0].K, err)
	// Output:
	// 256 of 4352
	// 4352 of 4352
	// error 256 <nil>
}

// On Volta the errors of sums of one sign are a drift, almost the same for all
// outputs. Merge joins the moments of different seeds.
func ExampleMoments() {
	p := small
	p.Machines, p.Ks = p.Machines[1:], []int{4096}
	rows := must(p.Run(context.Background(), nil))
	m := rows[0].Moments // of the errors, of both seeds
	fmt.Printf("mean %.1e, spread %.0e, slope %.0e\n", m.Mean(), m.Spread(), m.Slope())
	fmt.Println(m.Merge(sweep.Moments{}).Mean() == m.Mean())
	// Output:
	// mean -8.1e-05, spread 1e-06, slope -1e-04
	// true
}

func ExampleRead() {
	var file bytes.Buffer
	if err := sweep.Write(&file, "of nothing", nil); err != nil {
		panic(err)
	}
	rows, comment, err := sweep.Read(&file)
	fmt.Println(len(rows), comment, err)
	// Output:
	// 0 of nothing <nil>
}

// A probabilistic bound may fail with probability 1 - Confidence, a
// deterministic one never.
func ExampleRow_NominalRate() {
	fmt.Printf("%.2f %v\n", sweep.Row{Confidence: 0.99}.NominalRate(), sweep.Row{Deterministic: true, Confidence: 0.99}.NominalRate())
	// Output:
	// 0.01 0
}

func ExampleSketch_Merge() {
	var s, t sweep.Sketch
	s.Add(1)
	t.Add(3)
	s.Merge(t)
	fmt.Println(s.Count())
	// Output:
	// 2
}

func ExampleSummary_Median() {
	s := sweep.Summary{Largest: 1}
	for _, ratio := range []float64{0.25, 0.5, 0.5, 0.75, 1} {
		s.Ratios.Add(ratio)
	}
	fmt.Printf("%.2f\n", s.Median())
	// Output:
	// 0.59
}

func ExampleParseTold() {
	told, err := sweep.ParseTold("moments")
	fmt.Println(told == sweep.FromMoments, err)
	_, err = sweep.ParseTold("hearsay")
	fmt.Println(err)
	// Output:
	// true <nil>
	// sweep: told from "hearsay", want distribution, moments, files or matrices
}

// The standard plan comes in parts of different sizes.
func ExampleStandard() {
	for _, p := range sweep.Standard([]uint64{1, 2}) {
		fmt.Printf("%d machines, %d distributions, %d × K × %d, K = %v\n", len(p.Machines), len(p.Data), p.M, p.N, p.Ks)
	}
	// Output:
	// 125 machines, 32 distributions, 16 × K × 16, K = [1 2 3 7 16 33]
	// 125 machines, 32 distributions, 16 × K × 8, K = [100 129 1000]
	// 125 machines, 32 distributions, 8 × K × 4, K = [2047 10000]
	// 16 machines, 11 distributions, 16 × K × 8, K = [1 3 32 33 100 129 1000]
}

func ExampleAtlas() {
	for _, p := range sweep.Atlas([]uint64{1, 2}) {
		fmt.Printf("%d machines, %d distributions, %d × K × %d, K = %v\n", len(p.Machines), len(p.Data), p.M, p.N, p.Ks)
	}
	// Output:
	// 125 machines, 8 distributions, 8 × K × 4, K = [16 128 1024 8192]
	// 16 machines, 2 distributions, 8 × K × 4, K = [16 128 1024 8192]
	// 20 machines, 8 distributions, 8 × K × 4, K = [128 1024 8192]
}

// Hopper and Blackwell take what the recipe makes, and Volta does not.
func ExamplePlan_Units() {
	p := small
	p.Machines = []tcore.Machine{sweep.Volta, sweep.HopperE4M3, sweep.BlackwellE4M3}
	p.Recipes = []bound.Recipes{must(sweep.FindRecipes("torchao-e4m3-row"))}
	fmt.Println(p.Units())
	p.Machines = p.Machines[:1]
	fmt.Println(p.Units())
	// Output:
	// 2 <nil>
	// 0 sweep: none of 1 machines takes what one of 1 recipes makes, want such a pair
}

// DeepGEMM quantises A in rows of 128 elements and B in tiles.
func ExampleFindRecipes() {
	r, err := sweep.FindRecipes("deepgemm-1x128:deepgemm-128x128")
	fmt.Println(r.A.Block, r.B.Block, err)
	_, err = sweep.FindRecipes("int3")
	fmt.Println(err)
	// Output:
	// 1×128 128×128 <nil>
	// sweep: quant: no recipe "int3", see roundoff quantise
}

func ExampleNameRecipes() {
	a, b := quant.DeepGEMM(quant.Vector128, false), quant.DeepGEMM(quant.Tile128, false)
	fmt.Println(sweep.NameRecipes(bound.Recipes{A: a, B: b}), sweep.NameRecipes(bound.Recipes{A: a, B: a}))
	// Output:
	// deepgemm-1x128:deepgemm-128x128 deepgemm-1x128
}

// Of products in e4m3 on Hopper, scaled by rows, sums lose most where they are
// long and of one sign.
func ExampleComponent() {
	rows := must(sweep.Plan{
		Machines: []tcore.Machine{sweep.HopperE4M3}, Recipes: []bound.Recipes{must(sweep.FindRecipes("torchao-e4m3-row"))},
		Data: []sweep.Generator{sweep.Positive}, M: 8, N: 4, Ks: []int{128, 8192}, Seeds: []uint64{1}, Confidences: []float64{0.99},
	}.Run(context.Background(), nil))
	for _, r := range rows {
		switch r.Bound {
		case sweep.ErrorRow:
			fmt.Printf("K = %4d: quantised %.1e ± %.1e, accumulated %.1e ± %.1e\n", r.K, r.Quantised.Mean(), r.Quantised.Spread(), r.Accumulated.Mean(), r.Accumulated.Spread())
		case sweep.QuantisationRow:
			fmt.Printf("what recipes lose is below %.2g: %v\n", r.Constant, r.Violations == 0)
		}
	}
	// Output:
	// K =  128: quantised -1.9e-03 ± 4.5e-03, accumulated -6.4e-04 ± 1.7e-04
	// what recipes lose is below 0.031: true
	// K = 8192: quantised 4.1e-05 ± 5.4e-04, accumulated -1.4e-01 ± 1.3e-03
	// what recipes lose is below 0.0025: true
}

// The largest of two parts is that of both.
func ExampleComponent_Merge() {
	c := sweep.Component{Largest: 0.1}.Merge(sweep.Component{Largest: 0.2})
	fmt.Println(c.Largest)
	// Output:
	// 0.2
}

// CaseOf gives the command that recomputes a row.
func ExampleCaseOf() {
	rows := must(small.Run(context.Background(), nil))
	fmt.Println(sweep.CaseOf(rows[0]))
	// Output:
	// roundoff sweep -devices paper -dist 'U(0,1)' -m 32 -n 8 -k 256 -seeds 1:2
}

// A hunt of at least ten cases.
func ExampleHunt() {
	ctx, stop := context.WithCancel(context.Background())
	c, err := sweep.Hunt(ctx, time.Hour, 4, func(c sweep.Catch) {
		if c.Trials >= 10 {
			stop()
		}
	})
	fmt.Println(c.Trials >= 10, c.Judged > c.Outputs, err)
	// Output:
	// true true <nil>
}

// The same seed gives the same matrices.
func ExampleGenerator_Matrices() {
	a, b := sweep.Positive.Matrices(2, 2, 3, 1)
	again, _ := sweep.Positive.Matrices(2, 2, 3, 1)
	fmt.Println(a.Rows, a.Cols, b.Rows, b.Cols, slices.Equal(a.Data, again.Data))
	// Output:
	// 2 3 3 2 true
}

// Three computers compute a shard each, and a fourth joins what they wrote.
// Whatever their number, the rows are those of the sweep on one.
func ExampleShard() {
	ctx := context.Background()
	var files []sweep.Part
	for i := range 3 {
		part := sweep.Part{Version: "1", Command: "a small sweep", Shard: sweep.Shard{Index: i + 1, Of: 3}, Plans: []sweep.Grid{small.Grid()}}
		err := part.Shard.Run(ctx, []sweep.Plan{small}, len(part.Draws), func(rows []sweep.Row) error {
			part.Draws = append(part.Draws, rows)
			return nil
		}, nil)
		var file bytes.Buffer
		if err := errors.Join(err, part.Write(&file)); err != nil {
			panic(err)
		}
		fmt.Printf("shard %v has %d draws and lacks %d\n", part.Shard, len(part.Draws), part.Missing())
		files = append(files, must(sweep.ReadPart(&file)))
	}
	joined, whole := must(sweep.JoinParts(files)), must(small.Run(ctx, nil))
	for i, r := range whole {
		if r.Bound == "vibea" {
			fmt.Println(joined[i].Machine, joined[i].K, joined[i].Violations == r.Violations)
		}
	}
	// Output:
	// shard 1/3 has 2 draws and lacks 0
	// shard 2/3 has 1 draws and lacks 0
	// shard 3/3 has 1 draws and lacks 0
	// paper 256 true
	// paper 4096 true
	// volta 256 true
	// volta 4096 true
}

func ExampleParseShard() {
	s, err := sweep.ParseShard("3/16")
	fmt.Println(s, s.Draws(40), err)
	_, err = sweep.ParseShard("17/16")
	fmt.Println(err)
	// Output:
	// 3/16 3 <nil>
	// sweep: shard "17/16", want one of how many, as in 3/16, a million at most
}

// A shard in JSON is its text.
func ExampleShard_MarshalText() {
	text, err := json.Marshal(sweep.Shard{Index: 3, Of: 16})
	fmt.Println(string(text), err)
	// Output: "3/16" <nil>
}

func ExampleShard_UnmarshalText() {
	var s sweep.Shard
	fmt.Println(json.Unmarshal([]byte(`"3/16"`), &s), s.Index, s.Of)
	// Output: <nil> 3 16
}

// The draws of a plan are the pairs of matrices that all its machines multiply.
func ExamplePlan_Grid() {
	g := small.Grid()
	fmt.Println(g.Data, g.Ks, g.Seeds)
	// Output: [U(0,1)] [256 4096] [1 2]
}

func ExampleGrid_Draws() {
	fmt.Println(small.Grid().Draws())
	// Output: 4
}

// begun is a shard of small of which nothing is computed yet.
var begun = sweep.Part{
	File: "b.csv", Version: "1", Command: "roundoff sweep -k 256,4096",
	Shard: sweep.Shard{Index: 2, Of: 3}, Plans: []sweep.Grid{small.Grid()},
}

// A join says what it lacks.
func ExampleJoinParts() {
	none := begun // as of four computers that share three draws
	none.Shard, none.Plans = sweep.Shard{Index: 4, Of: 4}, []sweep.Grid{{Data: []string{"U(0,1)"}, Ks: []int{16}, Seeds: []uint64{1, 2, 3}}}
	_, err := sweep.JoinParts([]sweep.Part{none})
	fmt.Println(err)
	_, err = sweep.JoinParts([]sweep.Part{none, none})
	fmt.Println(err)
	// Output:
	// sweep: 3 of 4 shards are missing: 1:3
	// sweep: b.csv and b.csv are both shard 4/4, want each once
}

// Of a sweep that is not whole yet there are the rows so far.
func ExampleJoinSome() {
	part := begun
	rows, lack, err := sweep.JoinSome([]sweep.Part{part})
	fmt.Println(len(rows), lack.Missing, lack, err)
	// Output: 0 4 0 of 4 draws: shards 1,3 are missing, shard 2/3 lacks 1 <nil>
}

func ExamplePart_Missing() {
	fmt.Println(begun.Missing())
	// Output: 1
}

// Shards of two versions are not joined.
func ExamplePart_Same() {
	newer := begun
	newer.File, newer.Version = "c.csv", "2"
	fmt.Println(begun.Same(newer))
	// Output: sweep: b.csv is by version 1, c.csv by version 2, want shards by one
}

// A file begins with what it is of.
func ExamplePart_Write() {
	var file bytes.Buffer
	if err := begun.Write(&file); err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(file.String(), `,"plans"`)
	fmt.Println(line)
	fmt.Println(sweep.BeginsPart(bufio.NewReader(&file)))
	// Output:
	// # {"version":"1","command":"roundoff sweep -k 256,4096","shard":"2/3"
	// true
}

func ExampleBeginsPart() {
	fmt.Println(sweep.BeginsPart(bufio.NewReader(strings.NewReader("# roundoff sweep -k 16"))))
	// Output: false
}

// What is cut off is refused, and still tells what it was of.
func ExampleReadPart() {
	var file bytes.Buffer
	if err := begun.Write(&file); err != nil {
		panic(err)
	}
	file.Truncate(file.Len() - 10)
	part, err := sweep.ReadPart(&file)
	fmt.Println(part.Command, len(part.Draws))
	fmt.Println(err)
	// Output:
	// roundoff sweep -k 256,4096 0
	// sweep: shard 2/3 is damaged or cut off, its rows have not the checksum of its manifest
}
