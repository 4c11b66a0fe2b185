package main

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/question"
)

// The table and JSON say the same, on any number of cores, and the rates fall
// with those that are stated.
func TestRare(t *testing.T) {
	const line = "rare -device ieee -dist U(0,1) -k 16 -bound half-ulp-bernstein -failure 0.1,0.01 -samples 50 -seed 3"
	status, table, errs := ask(t, line)
	if status != 0 {
		t.Fatalf("status %d, %s", status, errs)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	status, text, errs := ask(t, line+" -json")
	var rows []question.RareRow
	if err := json.Unmarshal([]byte(text), &rows); err != nil || status != 0 || len(rows) != 2 {
		t.Fatalf("status %d, %s, %v, %s", status, errs, err, text)
	}
	for i, r := range rows {
		if !(0 < r.Low && r.Low < r.Rate && r.Rate < r.High && r.High < *r.Stated) || !r.Holds || r.Broken || r.Level != 1 || r.Seed != 3 || r.Runs != 20 {
			t.Errorf("%+v", r)
		}
		if want := r.Rate / *r.Stated; *r.Ratio < 0.999*want || *r.Ratio > 1.001*want {
			t.Errorf("ratio %v, want %v", *r.Ratio, want)
		}
		if !strings.Contains(strings.Split(table, "\n")[i+1], r.Estimate.String()) {
			t.Errorf("the table has no %v:\n%s", r.Estimate, table)
		}
	}
	if rows[1].Rate > rows[0].Rate/3 {
		t.Errorf("%v and %v", rows[0].Estimate, rows[1].Estimate)
	}
}

// With stochastic rounding, and of limits in place of bounds.
func TestRareLimits(t *testing.T) {
	for line, want := range map[string]string{
		"rare -stochastic -device ieee -k 100 -limit 3e-8 -samples 60":        "3e-08 |A||B|  -      -",
		"rare -device hopper -in e4m3 -k 8 -limit 6.1e-5 -samples 60":         "6.1e-05 |A||B|  -      -",
		"rare -device ieee -stochastic -k 8 -failure 1e-3 -samples 60":        "hallman-ipsen         yes    0.001",
		"rare -device paper -k 8 -bound all -failure 0.3 -samples 2 -moves 1": "half-ulp-bernstein",
	} {
		if status, said, errs := ask(t, line); status != 0 || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, said %s%s, want %q", line, status, said, errs, want)
		}
	}
}
