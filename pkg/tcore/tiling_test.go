package tcore

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Every chunk of every tile is computed once, and those of one tile in order,
// whatever the number of goroutines.
func TestTilingIsComplete(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		for _, l := range []tiling{{1, 1, 1, 2, 64, 128}, {7, 200, 300, 2, 64, 128}, {33, 64, 128, 4, 32, 64}, {2, 500, 129, 12, 16, 128}, {1037, 300, 70, 2, 32, 64}} {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			var mu sync.Mutex
			terms := map[[2]int][]int{}
			l.each(func(group, panel, lo, hi int) {
				mu.Lock()
				defer mu.Unlock()
				tile := [2]int{group, panel}
				terms[tile] = append(terms[tile], lo, hi)
			})
			var want []int
			for lo := 0; lo < l.k; lo += l.depth {
				want = append(want, lo, min(lo+l.depth, l.k))
			}
			for group := range l.groups() {
				for panel := range l.panels() {
					if got := terms[[2]int{group, panel}]; !slices.Equal(got, want) {
						t.Errorf("%+v on %d threads: tile (%d, %d) has terms %v, want %v", l, threads, group, panel, got, want)
					}
				}
			}
			if n := l.groups() * l.panels(); len(terms) != n {
				t.Errorf("%+v: %d tiles, want %d", l, len(terms), n)
			}
		}
	}
}

// A product of few rows and many columns, of which cores have parts, is that of
// its columns, a few at a time on one core, on every device.
func TestWideShapes(t *testing.T) {
	type product = func(a, b, c, z blas32.General)
	products := map[string]product{
		"paper-f16": func(a, b, c, z blas32.General) { PaperF16.multiply(a, b, z) },
		"paper-f32": func(a, b, c, z blas32.General) { PaperF32.multiply(a, b, z) },
	}
	for _, d := range append(Devices(), IEEEF32, IEEEF64) {
		if hasKernel(d) || !testing.Short() {
			products[d.Name] = func(a, b, c, z blas32.General) { d.MultiplyAdd(a, b, c, z) }
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s := shape{37, 72, 2100}
	for name, multiply := range products {
		a, b, want := operands(s, Binary16)
		c := uniform(s.m, s.n, 3)
		runtime.GOMAXPROCS(1)
		for lo := 0; lo < s.n; lo += 30 {
			part := func(m blas32.General) blas32.General {
				return blas32.General{Rows: m.Rows, Cols: 30, Stride: m.Stride, Data: m.Data[lo:]}
			}
			multiply(a, part(b), part(c), part(want))
		}
		for _, cores := range []int{2, 3, 8} {
			runtime.GOMAXPROCS(cores)
			z := zeros(s.m, s.n)
			multiply(a, b, c, z)
			if !reflect.DeepEqual(z, want) {
				t.Errorf("%s on %d cores: not the product of its columns", name, cores)
			}
		}
	}
}

// What is loaded is C rounded to the format, with zeros around it, and what is
// stored is the sums without their padding.
func TestTilingLoadsAndStores(t *testing.T) {
	l := tiling{m: 5, n: 70, k: 1, rows: 4, columns: 64, depth: 1}
	c := anyData(5, 70, rand.New(rand.NewPCG(3, 0)), true)
	z := zeros(5, 70)
	sums, stride := l.load(c, z, BFloat16)
	if len(sums) != 8*128 || stride != 128 {
		t.Fatalf("%d sums in rows of %d, want 8 rows of 128", len(sums), stride)
	}
	for i := range 8 {
		for j := range 128 {
			want := 0.0
			if i < 5 && j < 70 {
				want = BFloat16.Round(float64(c.Data[i*c.Stride+j]), ToNearestEven)
			}
			if got := float64(sums[i*128+j]); !same(got, want) {
				t.Errorf("sum (%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}
	l.store(z, sums)
	for i := range 5 {
		for j := range 70 {
			if got, want := z.Data[i*70+j], sums[i*128+j]; !same(float64(got), float64(want)) {
				t.Errorf("(%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}
	sums, _ = l.load(blas32.General{}, z, Binary32)
	for i, v := range sums {
		if v != 0 {
			t.Errorf("sum %d is %v without C", i, v)
		}
	}

	whole := blas32.General{Rows: 4, Cols: 64, Stride: 70, Data: fill(7, 4*70)}
	l.m, l.n = 4, 64
	if sums, stride := l.load(blas32.General{}, whole, Binary32); &sums[0] != &whole.Data[0] || stride != 70 {
		t.Errorf("whole tiles are not summed in z")
	}
	for i, v := range whole.Data {
		if want := float32(i % 70 / 64 * 7); v != want {
			t.Errorf("element %d of z is %v, want %v", i, v, want)
		}
	}
}
