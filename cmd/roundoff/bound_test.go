package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// askBound runs roundoff bound with JSON.
func askBound(t *testing.T, args string) []map[string]any {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), strings.Fields("bound --json "+args), &stdout, &stderr); status != 0 {
		t.Fatalf("status %d, %s", status, stderr.String())
	}
	var results []map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &results); err != nil {
		t.Fatal(err)
	}
	return results
}

func TestBound(t *testing.T) {
	const paper = "--kernel gemm --m 1024 --k 32768 --n 8 --device paper --block 4 --in binary16 --acc binary32 --out binary32 --confidence 0.99 "
	find := func(results []map[string]any, name string) map[string]any {
		i := slices.IndexFunc(results, func(r map[string]any) bool { return r["bound"] == name })
		return results[i]
	}
	t.Run("writes_all_bounds_with_nine_keys", func(t *testing.T) {
		results := askBound(t, paper)
		if len(results) != len(bound.Catalogue()) {
			t.Errorf("%d results, want %d", len(results), len(bound.Catalogue()))
		}
		keys := []string{"absolute", "bound", "confidence", "constant", "holds", "lambda", "source", "underflow", "why"}
		for _, r := range results {
			if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, keys) {
				t.Errorf("keys %q, want %q", got, keys)
			}
		}
	})
	t.Run("knows_the_paper", func(t *testing.T) {
		r := find(askBound(t, paper), "vibea-printed")
		if c := r["constant"].(float64); c < 1.8425e-4 || c > 1.8435e-4 || r["confidence"] != 0.99 || r["holds"] != false {
			t.Errorf("%v", r)
		}
		if r := find(askBound(t, paper+"--represented"), "dbea"); r["constant"].(float64) < 3.4255e-3 || r["confidence"] != 1.0 || r["lambda"] != nil {
			t.Errorf("%v", r)
		}
		coarse, fine := find(askBound(t, paper), "dbea"), find(askBound(t, strings.Replace(paper, "--block 4", "--block 16", 1)), "dbea")
		if !(fine["constant"].(float64) < coarse["constant"].(float64)) {
			t.Errorf("b = 16: %v, b = 4: %v", fine, coarse)
		}
	})
	t.Run("takes_a_confidence_beyond_float64", func(t *testing.T) {
		r := find(askBound(t, "--device ieee --confidence 1-1e-400"), "vibea-maximal")
		if r["confidence"] != "1 - 1e-400" || r["holds"] != true {
			t.Errorf("%v", r)
		}
	})
	t.Run("runs_what_it_bounds", func(t *testing.T) {
		r := find(askBound(t, "--kernel dot --device paper --k 256 --dist U(-1,1),N(0,1) --run"), "half-ulp-bernstein")
		if r["holds"] != true || !(r["constant"].(float64) > 0) {
			t.Errorf("%v", r)
		}
	})
	t.Run("quantises_by_a_recipe", func(t *testing.T) {
		r := find(askBound(t, "--m 1024 --n 8 --k 4096 --device blackwell --recipe nvfp4-torchao-one-level --dist N(0,1)"), "truncation")
		if c := r["constant"].(float64); r["holds"] != true || r["confidence"] != 0.99 || c < 0.015 || c > 0.02 {
			t.Errorf("%v", r)
		}
		dir := t.TempDir()
		a, b := writeNumbers(t, dir, "a.npy", "(2, 2)", 1, -1, 3, 1000), writeNumbers(t, dir, "b.npy", "(2, 1)", 1, 1)
		r = find(askBound(t, "--recipe torchao-e4m3-row,torchao-e4m3-tensor "+a+" "+b), "truncation")
		if r["holds"] != true || r["confidence"] != 1.0 || !(r["constant"].(float64) < 0.1) {
			t.Errorf("%v", r)
		}
	})
	t.Run("tells_the_tightest_first", func(t *testing.T) {
		for _, args := range []string{paper, "--k 100 --device cdna1", "--device ieee --order compensated", "--device ieee --stochastic", "--in e5m2 --split-k 2 --out binary16"} {
			results := askBound(t, args)
			for _, r := range results {
				if r["holds"] == true && (results[0]["holds"] != true || r["constant"].(float64) < results[0]["constant"].(float64)) {
					t.Errorf("%s: %v comes after %v", args, r, results[0])
				}
			}
			if results[0]["holds"] != true {
				t.Errorf("%s: none holds", args)
			}
		}
	})
}
