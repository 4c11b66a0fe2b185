package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// parts returns all n shards of plans, after writing and reading them.
func parts(t *testing.T, n int, plans ...Plan) (all []Part) {
	t.Helper()
	for i := range n {
		p := Part{Version: "1", Command: "sweep", Shard: Shard{i + 1, n}}
		for _, q := range plans {
			p.Plans = append(p.Plans, q.Grid())
		}
		err := p.Shard.Run(t.Context(), plans, 0, func(rows []Row) error {
			p.Draws = append(p.Draws, rows)
			return nil
		}, nil)
		var file bytes.Buffer
		if err := errors.Join(err, p.Write(&file)); err != nil {
			t.Fatal(err)
		}
		read, err := ReadPart(&file)
		if err != nil || read.Missing() != 0 {
			t.Fatal(err, read.Missing())
		}
		all = append(all, read)
	}
	return all
}

// Shards of plans join to the rows of one plan after another, each with its own
// predictions.
func TestShards_of_plans(t *testing.T) {
	a := Plan{Machines: []tcore.Machine{Volta}, Data: []Generator{Positive}, M: 2, N: 2, Ks: []int{8}, Seeds: []uint64{1, 2, 3}, Confidences: []float64{0.9}, Predict: true}
	b := a
	b.Ks, b.Seeds = []int{40, 24}, []uint64{7, 2}
	var want []Row
	for _, p := range []Plan{a, b} {
		want = append(want, run(t, p)...)
	}
	for i := range want {
		want[i].Product, want[i].Exact = 0, 0
	}
	var whole bytes.Buffer
	if err := Write(&whole, "", want); err != nil {
		t.Fatal(err)
	}
	rows, err := JoinParts(parts(t, 3, a, b)) // the first shard has the first draw of either plan
	var joined bytes.Buffer
	if err := errors.Join(err, Write(&joined, "", rows)); err != nil || joined.String() != whole.String() {
		t.Errorf("%v:\n%.600s\nwant\n%.600s", err, joined.String(), whole.String())
	}
}

// Every draw is of exactly one shard.
func TestShard_has_its_draws(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for all := range 20 {
			sum := 0
			for i := 1; i <= n; i++ {
				sum += Shard{i, n}.Draws(all)
			}
			if sum != all {
				t.Errorf("%d shards have %d draws of %d", n, sum, all)
			}
		}
	}
}

// A manifest that no part has is refused: without an end of time or memory, and
// without a panic.
func TestReadPart_refuses(t *testing.T) {
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing
	plan := `"plans":[{"data":["U(0,1)"],"k":[8],"seeds":"1"}]`
	long := fmt.Sprintf(`"plans":[{"data":["a"%s],"k":[1%s],"seeds":"1:20001"}]`, strings.Repeat(`,"a"`, 20000), strings.Repeat(",1", 20000))
	for text, want := range map[string]string{
		"":     "no shard of a sweep",
		"# x":  "no shard of a sweep",
		"# {":  "a manifest that is damaged or cut off",
		"# {}": "a manifest that is damaged or cut off",
		`# {"version":"1","command":"c","shard":"1/0",` + plan + "}\n":                                      "a manifest that is damaged or cut off",
		`# {"version":"1","command":"c","shard":"1/1","plans":[]}` + "\n":                                   "a manifest that is damaged or cut off",
		`# {"version":"1","command":"c","shard":"1/1",` + long + "}\n":                                      "a manifest that is damaged or cut off",
		`# {"version":"1","command":"c","shard":"1/1",` + plan + "}\n":                                      "have not the checksum of its manifest",
		`# {"version":"1","command":"c","shard":"1/1","sha256":"` + sum + `",` + plan + "}\n":               `line 1 begins with ""`,
		`# {"version":"1","command":"c","shard":"1/1","sha256":"` + sum + `",` + plan + "}\nmachine,data\n": "have not the checksum of its manifest",
	} {
		if _, err := ReadPart(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %v, want %s", text, err, want)
		}
	}
	rows := parts(t, 1, Plan{Machines: []tcore.Machine{IEEE}, Data: []Generator{Positive}, M: 1, N: 1, Ks: []int{8}, Seeds: []uint64{1, 2}, Confidences: []float64{0.9}})[0]
	for name, change := range map[string]func(p *Part){
		"another seed":    func(p *Part) { p.Plans[0].Seeds = []uint64{1, 3} },
		"another K":       func(p *Part) { p.Plans[0].Ks = []int{9} },
		"other data":      func(p *Part) { p.Plans[0].Data = []string{"U(0,2)"} },
		"another shard":   func(p *Part) { p.Shard = Shard{2, 2} },
		"too few draws":   func(p *Part) { p.Plans[0].Seeds = []uint64{1} },
		"an empty draw":   func(p *Part) { p.Draws = [][]Row{nil, p.Draws[0]} },
		"no row of error": func(p *Part) { p.Draws = [][]Row{p.Draws[0][1:]} },
	} {
		p := rows
		p.Plans = []Grid{rows.Plans[0]}
		change(&p)
		var file bytes.Buffer
		if err := p.Write(&file); err != nil {
			t.Fatal(err)
		}
		if q, err := ReadPart(&file); err == nil || q.Draws != nil || !strings.Contains(err.Error(), "want what its manifest says") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A shard ends with its context and has kept whole draws alone.
func TestShard_ends(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	p := Plan{Machines: []tcore.Machine{IEEE}, Data: []Generator{Positive}, M: 1, N: 1, Ks: []int{8, 9}, Seeds: []uint64{1, 2}, Confidences: []float64{0.9}}
	kept := 0
	err := Shard{1, 1}.Run(ctx, []Plan{p}, 1, func(rows []Row) error {
		if kept++; rows[0].Seeds[0] != 2 || rows[0].K != 8 {
			t.Errorf("K = %d, seed %d", rows[0].K, rows[0].Seeds)
		}
		stop()
		return nil
	}, func(done, total int) {
		if total != 8+9+9 {
			t.Errorf("%d of %d", done, total)
		}
	})
	if !errors.Is(err, context.Canceled) || kept != 1 {
		t.Errorf("%v, %d draws", err, kept)
	}
}

// What some shards join to is the sweep over the draws that they have, and it
// is said which are missing.
func TestJoinSome(t *testing.T) {
	p := Plan{Machines: []tcore.Machine{IEEE, Volta}, Data: []Generator{Positive}, M: 2, N: 2, Ks: []int{8, 9}, Seeds: []uint64{1, 2, 3}, Confidences: []float64{0.9}, Predict: true}
	text := func(rows []Row) string {
		for i := range rows {
			rows[i].Product, rows[i].Exact = 0, 0
		}
		var b bytes.Buffer
		if err := Write(&b, "", rows); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all := parts(t, 4, p) // draws 1, 5; 2, 6; 3; 4 of 6
	whole, lack, err := JoinSome(all)
	if err != nil || lack.Missing != 0 || lack.String() != "all 6 draws" || text(whole) != text(run(t, p)) {
		t.Errorf("%v, %v", lack, err)
	}
	some := []Part{all[2], all[0]}
	some[1].Draws = some[1].Draws[:1]
	rows, lack, err := JoinSome(some) // draws 1 and 3 of 6: seeds 1 and 3 of the first K
	const want = "2 of 6 draws: shards 2,4 are missing, shard 1/4 lacks 1"
	if err != nil || lack.Missing != 4 || lack.String() != want {
		t.Errorf("%v, %v, want %s", lack, err, want)
	}
	p.Ks, p.Seeds = []int{8}, []uint64{1, 3}
	if got, want := text(rows), text(run(t, p)); got != want {
		t.Errorf("joined\n%s\nwant\n%s", got, want)
	}
	if _, _, err := JoinSome([]Part{all[1], all[1]}); err == nil || !strings.Contains(err.Error(), "are both shard 2/4") {
		t.Error(err)
	}
}

// Moments are merged with a rounding after each operation, also where a
// compiler may fuse a product with a sum, as that for arm64 does.
func TestMoments_are_not_fused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	op := func(x float64, sign byte, y float64) float64 { // rounded once
		a, b := big.NewFloat(x).SetPrec(4000), big.NewFloat(y).SetPrec(4000)
		z := new(big.Float).SetPrec(4000)
		switch sign {
		case '+':
			z.Add(a, b)
		case '-':
			z.Sub(a, b)
		case '*':
			z.Mul(a, b)
		case '/':
			z.SetPrec(200).Quo(a, b)
		}
		f, _ := z.Float64()
		return f
	}
	merge := func(m, t Moments) Moments {
		n := op(m.count, '+', t.count)
		both := op(op(m.count, '*', t.count), '/', n)
		dm, de, ds := op(t.mean, '-', m.mean), op(t.e, '-', m.e), op(t.s, '-', m.s)
		share := func(d float64) float64 { return op(op(d, '*', t.count), '/', n) }
		more := func(mine, theirs, d, e float64) float64 {
			return op(mine, '+', op(theirs, '+', op(op(d, '*', e), '*', both)))
		}
		return Moments{count: n, mean: op(m.mean, '+', share(dm)), e: op(m.e, '+', share(de)), s: op(m.s, '+', share(ds)),
			square: more(m.square, t.square, dm, dm), es: more(m.es, t.es, de, ds), ss: more(m.ss, t.ss, ds, ds)}
	}
	one := func() Moments { return momentsOf(rng.NormFloat64()*1e-8, rng.NormFloat64(), 1+rng.Float64()) }
	some := func() (m Moments) {
		for range 2 + rng.IntN(6) {
			m = m.Merge(one())
		}
		return m
	}
	for i := range 2000 { // of which a few in a hundred have other bits if they are fused
		a, b := some(), some()
		if got, want := a.Merge(b), merge(a, b); got != want {
			t.Fatalf("pair %d: %+v, want %+v", i, got, want)
		}
	}
}

// A grid in JSON is the same, whatever the order of its seeds, and a million of
// them take few bytes.
func TestGridInJSON(t *testing.T) {
	many := make([]uint64, 1_000_000)
	for i := range many {
		many[i] = uint64(i + 7)
	}
	for _, seeds := range [][]uint64{{1}, {5, 3, 4, 9}, {3, 3}, many} {
		g := Grid{Data: []string{"U(0,1)", "N(0,1)"}, Ks: []int{16, 8}, Seeds: seeds}
		text, err := json.Marshal(g)
		if err != nil || len(text) > 100 {
			t.Errorf("%d seeds: %d bytes, %v", len(seeds), len(text), err)
		}
		var again Grid
		if err := json.Unmarshal(text, &again); err != nil || !slices.Equal(again.Seeds, seeds) || !slices.Equal(again.Ks, g.Ks) || !slices.Equal(again.Data, g.Data) {
			t.Errorf("%s: %v, %v", text, again, err)
		}
	}
	for _, text := range []string{`{"seeds":""}`, `{"seeds":"x"}`, `{"seeds":[1]}`, `{"seeds":"2:1"}`} {
		if err := json.Unmarshal([]byte(text), &Grid{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
