package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rounds := []struct {
		out           string
		before, after float64 // of OpenBLAS
	}{
		{"goos: linux\nBenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 100 MMAC/s 80 clock-MMAC/s 25.4 %general 74.6 %integers\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 95 MMAC/s 152 clock-MMAC/s 1.7 of-one 800 fastest-one-MMAC/s 1400 fastest-MMAC/s\nPASS\n", 900, 1100},
		{"BenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 200 MMAC/s 200 clock-MMAC/s 25.4 %general 74.6 %integers\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 200 MMAC/s 400 clock-MMAC/s 1.9 of-one 900 fastest-one-MMAC/s 1700 fastest-MMAC/s\n", 1000, 1000},
		{"BenchmarkGEMM/device=x-y/n=512/threads=1-2 10 5 ns/op 900 MMAC/s 900 clock-MMAC/s 1200 fastest-MMAC/s 25.4 %general 74.6 %integers\n" +
			"BenchmarkGEMM/device=x-y/n=512/threads=2-2 10 5 ns/op 900 MMAC/s 900 clock-MMAC/s 1860 fastest-MMAC/s 2.4 of-one 1200 fastest-one-MMAC/s\n", 2000, 4000},
		{"BenchmarkRound/format=f/mode=RZ-2 10 5 ns/op 7 Melem/s\nBenchmarkOther 1 2 ns/op\n", 0, 0},
		{"BenchmarkGEMM/device=slow/n=8/threads=1 1 5 ns/op 2 MMAC/s 2 clock-MMAC/s 100 %single_elements 0.3 %general\n", 6000, 6000},
		{"BenchmarkExactBesideEmulation/device=x/n=512-2 1 5 ns/op 1.236 exact/emulated\n", 1000, 1000},
		{"BenchmarkExactBesideEmulation/device=x/n=512-2 1 5 ns/op 1.036 exact/emulated\n", 1000, 1000},
		{"BenchmarkExactBesideEmulation/device=x/n=512-2 1 5 ns/op 3.036 exact/emulated\n", 1000, 1000},
		{"BenchmarkBesideDevice/order=x/n=512-2 1 5 ns/op 0.876 of-device\n", 1000, 1000},
		{"BenchmarkGEMM/device=less/n=8/threads=1 1 5 ns/op 60 MMAC/s 2 clock-MMAC/s\n", 1000, 1000},
		{"BenchmarkGEMM/device=two/n=8/threads=2 1 5 ns/op 50 MMAC/s\n", 1000, 1000},
		{"BenchmarkGEMM/device=three/n=8/threads=2 1 5 ns/op 50 MMAC/s 38 clock-MMAC/s 38 fastest-MMAC/s 1.9 of-one 25 fastest-one-MMAC/s 70 %sums 30 %zeros\n", 1000, 1000},
		{"BenchmarkRound/format=g/threads=2 1 5 ns/op 50 Melem/s 17 clock-Melem/s 17 fastest-Melem/s 1.7 of-one 5 fastest-one-Melem/s\n", 0, 0},
		{"BenchmarkRound/format=h/threads=2 1 5 ns/op 50 Melem/s 38 clock-Melem/s 38 fastest-Melem/s 1.9 of-one 20 fastest-one-Melem/s\n", 0, 0},
		{"BenchmarkRound/format=i/threads=2 1 5 ns/op 50 Melem/s 18 clock-Melem/s 18 fastest-Melem/s 1.8 of-one 12 fastest-one-Melem/s\n", 0, 0},
	}
	tables := map[bool][]string{
		false: {
			"| GEMM device=x-y n=512 | 200 MMAC/s | 0.20 | 1.90 | general 25 %, integers 75 % |\n",
			"| Round format=f mode=RZ | 7 Melem/s |  |  |  |\n",
			"| GEMM device=slow n=8 | 2 MMAC/s | 0.0003 |  | single elements |\n",
			"| ExactBesideEmulation device=x n=512 | 1.24 exact/emulated |  |  |  |\n",
			"| BesideDevice order=x n=512 | 0.88 of-device |  |  |  |\n",
			"| GEMM device=less n=8 | 60 MMAC/s | 0.060 |  |  |\n",
		},
		true: {
			"| GEMM device=x-y n=512 | 1200 MMAC/s | 0.30 | 1.55 | general 25 %, integers 75 % |\n",
			"| Round format=f mode=RZ | 7 Melem/s |  |  |  |\n",
			"| ExactBesideEmulation device=x n=512 | 1.24 exact/emulated |  |  |  |\n", // of ratios there is no fastest
		},
	}
	for fastest, wants := range tables {
		tab := table{fastest: fastest}
		for _, r := range rounds {
			tab.add(r.out, r.before, r.after, r.before/100)
		}
		var got, threads, rival strings.Builder
		tab.print(&got)
		for _, want := range wants {
			if !strings.Contains(got.String(), want) {
				t.Errorf("fastest = %v: the table lacks %q:\n%s", fastest, want, got.String())
			}
		}
		tab.printThreads(&threads)
		ways := []string{
			"| integers | 1 | 1.90 | 1.90 | 1.90 | 1 |\n",
			"| Round | 3 | 1.70 | 1.80 | 1.90 | 2 |\n",
			"| sums | 1 | 1.90 | 1.90 | 1.90 | 1 |\n",
		}
		if fastest {
			ways = []string{
				"| integers | 1 | 1.55 | 1.55 | 1.55 | 0 |\n", // not 1.89, of one round
				"| Round | 3 | 1.50 | 1.90 | 3.40 | 2 |\n",
				"| sums | 1 | 1.52 | 1.52 | 1.52 | 0 |\n",
			}
		}
		for _, want := range ways {
			if !strings.Contains(threads.String(), want) {
				t.Errorf("fastest = %v: the table of threads lacks %q:\n%s", fastest, want, threads.String())
			}
		}
		if n := strings.Count(threads.String(), "\n"); n != 6 {
			t.Errorf("fastest = %v: the table of threads has %d lines, want 6:\n%s", fastest, n, threads.String())
		}
		threads.Reset()
		(&table{}).printThreads(&threads)
		if threads.Len() > 0 {
			t.Errorf("of nothing the table of threads is\n%s", threads.String())
		}
		tab.printRival(&rival)
		want := "| GEMM device=x-y n=512 | 200 MMAC/s | 10 MMAC/s | 20 |\n"
		if fastest {
			want = "| GEMM device=x-y n=512 | 1200 MMAC/s | 20 MMAC/s | 60 |\n"
		}
		if !strings.Contains(rival.String(), want) {
			t.Errorf("fastest = %v: the table of MMA-Sim lacks %q:\n%s", fastest, want, rival.String())
		}
		for _, name := range []string{"Other", "device=two"} {
			if strings.Contains(got.String(), name) {
				t.Errorf("%s, without a speed on one thread, is in the table", name)
			}
		}
	}
}

func TestShapeOf(t *testing.T) {
	for name, want := range map[string]string{
		"GEMM/device=x/n=512/threads=1":           "512 512 512",
		"GEMM/device=x/n=1024x32768x8/threads=2":  "1024 32768 8",
		"GEMM/device=x/data=amax/n=64/threads=1":  "64 64 64",
		"Round/format=binary16/mode=ToNearestOdd": "",
	} {
		if got := shapeOf(name); got != want {
			t.Errorf("shape of %s is %q, want %q", name, got, want)
		}
	}
}

// Benchmarks are left out only if no alternative can match their names.
func TestCanMatch(t *testing.T) {
	for _, c := range []struct {
		function, only string
		want           bool
	}{
		{"GEMM", "", true}, {"GEMM", "Processor", false}, {"Processor", "Processor", true},
		{"Processor", "Processor/device=a-(b|c).*/n=512", true}, {"GEMM", "Processor/device=a-(b|c).*/n=512", false}, {"GEMM", "^Plan/.*(gemv|x)|BesideDevice.*n=512", true}, {"BesideDevice", "^Plan/.*(gemv|x)|BesideDevice.*n=512", true},
		{"Plan", "(Plan|GEMM)/x", true}, {"Peak", "(Plan|GEMM)/x", false},
		{"Plan", "^Plan/.*gemv|Beside/x", true}, {"Peak", "^Plan/.*gemv|Beside/x", false}, {"Codes", "n=2048", true},
	} {
		if got := canMatch(c.function, c.only); got != c.want {
			t.Errorf("canMatch(%q, %q) = %v", c.function, c.only, got)
		}
	}
}
