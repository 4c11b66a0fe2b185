package question

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// gcd is that of Euclid.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// The shards that a sweep is divided into have all its Ks alike, whatever the
// numbers of seeds and Ks, and few draws a shard each.
func TestShards(t *testing.T) {
	data, err := Each("U(0,1),U(1,2),N(0,1)", sweep.FindGenerator)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ seeds, ks, m, least int }{{1, 1, 2, 3}, {3, 2, 2, 18}, {29, 1, 2, 31}, {29, 31, 2, 37}, {58, 4, 2, 31}, {600, 5, 256, 20000}} {
		p := sweep.Plan{Data: data, Machines: sweep.Machines()[:1], M: c.m, N: c.m}
		for s := range c.seeds {
			p.Seeds = append(p.Seeds, uint64(s))
		}
		for k := range c.ks {
			p.Ks = append(p.Ks, 1<<min(k+4, 12)+k)
		}
		draws := p.Grid().Draws()
		n := Shards([]sweep.Plan{p})
		if c.least < 1000 && n != c.least || n > draws || n < draws && gcd(n, c.seeds*c.ks) != 1 {
			t.Errorf("%+v: %d shards of %d draws, want %d", c, n, draws, c.least)
		}
		if n == draws {
			continue
		}
		// No shard has much more of a K than another.
		for i := 1; i <= n; i += max(1, n/7) {
			counts := make([]int, c.ks)
			for u := i - 1; u < draws; u += n {
				counts[u/c.seeds%c.ks]++
			}
			for _, count := range counts {
				if share := float64(draws) / float64(n*c.ks); float64(count) > share+3 || float64(count) < share-3 {
					t.Errorf("%+v: shard %d of %d has %v draws of the Ks, want about %.1f each", c, i, n, counts, share)
				}
			}
		}
	}
}

// A question in JSON is that of the flags, and both have one command.
func TestSweep_command(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "roundoff sweep -seeds 1:2",
		`{"devices":"ieee,hopper/2","dist":"U(0,1), pairing","m":4,"k":"16,40","seeds":"3,1:2","per_output":true,"ranges":false}`: "roundoff sweep -devices ieee,hopper/2 -dist 'U(0,1),pairing' -m 4 -k 16,40 -seeds 1:3 -per-output=true -ranges=false",
		`{"devices":"","plans":"split","confidence":"0.9","told":"moments"}`:                                                      "roundoff sweep -devices '' -plans '",
		`{"standard":true,"k":"7"}`:                          "roundoff sweep -standard -k 7 -seeds 1:2",
		`{"standard":true,"m":3}`:                            "-m with -standard, which has its own",
		`{"standard":true,"per_output":true}`:                "-per-output with -standard, which has its own",
		`{"standard":true,"plans":"split"}`:                  "-plans with -standard, which has its own",
		`{"standard":true,"k":"5"}`:                          "nothing of that is in the standard plan",
		`{"k":"16,16"}`:                                      "-k names 16 twice",
		`{"k":"16,x"}`:                                       "-k x, want numbers of 1 or more",
		`{"devices":"pascal"}`:                               `no machine "pascal"`,
		`{"plans":"no such"}`:                                `-plans "no such":`,
		`{"m":0}`:                                            "-m 0, want 1 to",
		`{"m":10000,"n":10000}`:                              "A is 10000 × 256 and B 256 × 10000",
		`{"seeds":"2:1"}`:                                    `seeds "2:1"`,
		`{"confidence":"1"}`:                                 "-confidence 1, want numbers between 0 and 1",
		`{"bounds":"truncation, half-ulp-bernstein"}`:        "roundoff sweep -seeds 1:2 -bounds truncation,half-ulp-bernstein",
		`{"bounds":"truncations"}`:                           `-bounds: no bound "truncations", see roundoff bound`,
		`{"bounds":"half-ulp-bernstein,half-ulp-bernstein"}`: "-bounds names half-ulp-bernstein twice",
		`{"bounds":"half-ulp-bernstein","atlas":true}`:       "-bounds with -atlas, which has its own",
		`{"atlas":true,"standard":true}`:                     "-standard and -atlas are two plans",
		`{"atlas":true,"told":"moments"}`:                    "-told with -atlas",
		`{"atlas":true,"k":"8192"}`:                          "roundoff sweep -atlas -k 8192 -seeds 1:2",
		`{"recipe":"torchao-e4m3-row,deepgemm-1x128:deepgemm-128x128","told":"matrices"}`: "roundoff sweep -recipe torchao-e4m3-row,deepgemm-1x128:deepgemm-128x128 -seeds 1:2 -told matrices",
		`{"recipe":"int8-row"}`:                            "none of 5 machines takes what one of 1 recipes makes",
		`{"recipe":"int3"}`:                                `no recipe "int3", see roundoff quantise`,
		`{"devices":"int32","recipe":"int8-row,int8-row"}`: "-recipe names int8-row twice",
		`{"devices":"int32"}`:                              `machine "int32" without recipes`,
		`{"recipe":"torchao-e4m3-row","per_output":true}`:  "PerOutput with recipes",
		`{"recipe":"torchao-e4m3-row","told":"files"}`:     "told files with recipes",
		`{"recipe":"torchao-e4m3-row","standard":true}`:    "-recipe with -standard, which has its own",
		`{"recipe":"mxe4m3-floor","atlas":true,"k":"128"}`: "roundoff sweep -atlas -recipe mxe4m3-floor -k 128 -seeds 1:2",
		`{"recipe":"mxe4m3-even","atlas":true}`:            "nothing of that is in the atlas plan",
		`{"recipe":"mxe4m3-floor","atlas":true,"k":"16"}`:  "nothing of that is in the atlas plan",
		`{"told":"hearsay"}`:                               `told from "hearsay"`,
	} {
		q := NewSweep()
		var keys map[string]any
		if json.Unmarshal([]byte(text), &q) != nil || json.Unmarshal([]byte(text), &keys) != nil {
			t.Fatal(text)
		}
		q.Given = func(name string) bool { _, ok := keys[strings.ReplaceAll(name, "-", "_")]; return ok }
		_, got, err := q.Results()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err == nil && !strings.HasSuffix(want, "'") && got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
