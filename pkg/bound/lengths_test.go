package bound

import (
	"fmt"
	"math"
	"testing"
)

func TestGoodLengths(t *testing.T) {
	for _, c := range []struct {
		name   string
		excess func(K float64) float64
		at     int
	}{
		{"grows", func(K float64) float64 { return K / 12345 }, 100},
		{"falls", func(K float64) float64 { return math.Sqrt(14200 / K) }, 100},
		{"falls_and_grows", func(K float64) float64 { return math.Sqrt(300/K) + K/1e6 }, 4096},
		{"is_low_between_two_steps_only", func(K float64) float64 { return 0.99 + math.Abs(math.Log(K/32768))/30 }, 1000},
		{"is_good_at_the_given_K_only", func(K float64) float64 { return 0.999 + math.Abs(math.Log(K/777))/30 }, 777},
		{"is_always_good", func(float64) float64 { return 0.5 }, 1},
		{"is_never_good", func(K float64) float64 { return 1.01 + K/1e6 }, 9},
		{"is_good_at_1_only", func(K float64) float64 { return K }, 1 << 20},
		{"has_waves", func(K float64) float64 { return 0.97 + 0.05*math.Sin(2*math.Pi*math.Log2(K/30)/2) + K/1e6 }, 4096},
		{"has_waves_and_is_good_elsewhere", func(K float64) float64 { return 0.99 + 0.05*math.Cos(math.Pi*math.Log2(K/4096)) + K/1e7 }, 3000},
		{"is_infinite_for_long_sums", func(K float64) float64 {
			if K > 5000 {
				return math.Inf(1)
			}
			return 0.1
		}, 4096},
	} {
		t.Run(c.name, func(t *testing.T) {
			excess := func(K int) float64 { return c.excess(float64(K)) }
			calls := 0
			least, largest := goodLengths(func(K int) float64 { calls++; return excess(K) }, c.at)
			first, last := 0, 0 // by trying each K: the interval around the given one, or else the longest
			ratio := 0.0
			for K := 1; K <= LongestK; K++ {
				from := K
				for K <= LongestK && excess(K) <= 1 {
					K++
				}
				inside := from <= c.at && c.at < K
				if r := float64(K-1) / float64(from); K > from && (inside || r > ratio) {
					first, last, ratio = from, K-1, r
				}
				if inside {
					break
				}
			}
			if least != first || largest != last {
				t.Errorf("%d to %d, want %d to %d", least, largest, first, last)
			}
			if calls > 120 {
				t.Errorf("%d values of K tried", calls)
			}
		})
	}
	t.Run("tries_few_numbers_where_the_excess_is_nearly_a_power", func(t *testing.T) {
		for name, excess := range map[string]func(K int) float64{
			"power": func(K int) float64 { return math.Pow(float64(K)/9456100, 1.1) },
			"steps": func(K int) float64 { return float64((K+31)/32*32) / 9456100 },
			"both":  func(K int) float64 { return math.Sqrt(300/float64(K)) + float64((K+31)/32*32)/1e6 },
		} {
			for _, ends := range [][2]int{{4 << 20, 16 << 20}, {1 << 18, 1 << 20}, {1024, 256}} {
				if !(excess(ends[0]) <= 1 && excess(ends[1]) > 1) {
					continue
				}
				calls := 0
				crossing(remembered(func(K int) float64 { calls++; return excess(K) }), ends[0], ends[1])
				if calls > 16 {
					t.Errorf("%s from %d to %d: %d values of K tried", name, ends[0], ends[1], calls)
				}
			}
		}
	})
	// Between two steps of √2 an error that first averages out and then grows
	// may be small enough in an interval of a few per cent.
	t.Run("finds_what_lies_between_steps", func(t *testing.T) {
		for K0 := 300; K0 < 1200; K0 += 37 {
			dip := func(K int) float64 { // 0.997 at K0
				x := float64(K) / float64(K0)
				return 0.997 * (2/math.Sqrt(x) + x) / 3
			}
			least, largest := goodLengths(dip, 1<<20)
			if !(least <= K0 && K0 <= largest) || dip(least-1) <= 1 || dip(largest+1) <= 1 {
				t.Errorf("%d to %d, want both ends of the interval around %d", least, largest, K0)
			}
		}
	})
	t.Run("contains_the_given_K_where_that_is_good", func(t *testing.T) {
		two := func(K int) float64 { // good up to 40 and from 5000 on
			if K <= 40 || K >= 5000 {
				return 0.9
			}
			return 1.2
		}
		for at, want := range map[int]string{30: "1 40", 4: "1 40", 6000: "5000 16777216", 100: "5000 16777216"} {
			if got := fmt.Sprint(goodLengths(two, at)); got != want {
				t.Errorf("K = %d: %s, want %s", at, got, want)
			}
		}
	})
}
