package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rounds := []struct {
		out       string
		yardstick float64
	}{
		{"goos: linux\nBenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 100 MMAC/s\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 190 MMAC/s\nPASS\n", 1000},
		{"BenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 200 MMAC/s\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 400 MMAC/s\n", 1000},
		{"BenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 900 MMAC/s\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 900 MMAC/s\n", 3000},
		{"BenchmarkRound/format=f/mode=RZ-2 10 5 ns/op 7 Melem/s\nBenchmarkOther 1 2 ns/op\n", 0},
	}
	var tab table
	for _, r := range rounds {
		tab.add(r.out, r.yardstick)
	}
	var got strings.Builder
	tab.print(&got)
	for _, want := range []string{
		"| GEMM device=x-y n=512 | 200 MMAC/s | 0.20 | 1.90 |\n",
		"| Round format=f mode=RZ | 7 Melem/s |  |  |\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, got.String())
		}
	}
	if strings.Contains(got.String(), "Other") {
		t.Error("a benchmark without a speed is in the table")
	}
}
