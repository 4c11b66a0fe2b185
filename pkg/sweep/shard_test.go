package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	plan := `"plans":[{"data":["U(0,1)"],"k":[8],"seeds":[1]}]`
	long := fmt.Sprintf(`"plans":[{"data":["a"%s],"k":[1%s],"seeds":[1%s]}]`, strings.Repeat(`,"a"`, 20000), strings.Repeat(",1", 20000), strings.Repeat(",1", 20000))
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
