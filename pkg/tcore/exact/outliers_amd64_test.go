package exact

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// withOutliers returns a function that draws most elements from integers of the
// given bits times 2^exp, and one in so many as rare says from what is below
// them, or above, or both, by at most the given distance in bits.
func withOutliers(bits, exp, rare, distance int, rng *rand.Rand) func() float32 {
	return func() float32 {
		n := rng.IntN(2<<bits) - 1<<bits
		x := math.Ldexp(float64(n>>rng.IntN(bits)), exp)
		if rare > 0 && rng.IntN(rare) == 0 {
			x = math.Ldexp(float64(n|1), exp+rng.IntN(2*distance+1)-distance)
		}
		return float32(x)
	}
}

// Products with outliers in A, in B, in both and in neither, of one limb and of
// two, of rows that are converted and of rows that are not, equal those that
// are computed without digits.
func TestGEMMWithOutliers(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(46, 0))
		shapes := []shape{{64, 700, 9}, {51, 253, 33}, {100, 4096 + 301, 8}, {3, 1000, 70}}
		rarities := [][2]int{{900, 0}, {0, 900}, {900, 900}, {500, 20}, {20, 500}, {0, 0}}
		type where struct {
			a, b  bool // have outliers
			limbs int
		}
		times := map[where]int{}
		for i := range 72 {
			bits, distance := []int{10, 12, 22}[i/24], 1+rng.IntN(14)
			a, b := factorsWithOutliers(shapes[i%len(shapes)], bits, distance, rarities[i/4%len(rarities)], rng)
			ab := checkOutliers(t, a, b)
			times[where{len(outliersOf(t, a)) > 0, len(outliersOf(t, b)) > 0, ab.limbs}]++
		}
		for _, w := range []where{{true, false, 1}, {false, true, 1}, {true, true, 1}, {false, false, 1}, {true, false, 2}, {false, true, 2}, {true, true, 2}} {
			if times[w] == 0 {
				t.Errorf("no case of %+v: %v", w, times)
			}
		}
	})
}

// Products of shapes and data of all kinds with outliers equal those that are
// computed without digits.
func FuzzGEMMWithOutliers(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint16(400), uint8(9), uint8(12), uint8(5), uint16(900), uint16(900))
	f.Add(uint64(2), uint8(70), uint16(4200), uint8(3), uint8(23), uint8(30), uint16(300), uint16(2000))
	f.Fuzz(func(t *testing.T, seed uint64, m uint8, k uint16, n, bits, distance uint8, rareA, rareB uint16) {
		s := shape{int(m)%100 + 1, int(k)%5000 + 1, int(n)%40 + 1}
		if s.m*s.k*s.n > 1<<21 {
			t.Skip("takes too long")
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		fewest := fewestForDigits
		defer func() { fewestForDigits = fewest }()
		fewestForDigits = 1
		a, b := factorsWithOutliers(s, int(bits)%24+1, int(distance)%60, [2]int{int(rareA), int(rareB)}, rng)
		digitsOnEveryWidth(t, func(t *testing.T) { checkOutliers(t, a, b) })
	})
}

// factorsWithOutliers returns factors of the given shape whose elements are
// those of [withOutliers]. Groups of rows and of terms of A have grids of their
// own.
func factorsWithOutliers(s shape, bits, distance int, rare [2]int, rng *rand.Rand) (a, b blas32.General) {
	a, b = matrix.New(s.m, s.k+3), matrix.New(s.k, s.n+5)
	a.Cols, b.Cols = s.k, s.n
	if rng.IntN(2) == 0 {
		b.Stride = s.n
	}
	draw := withOutliers(bits, -30, rare[0], distance, rng)
	for i := range a.Data {
		group := i/a.Stride/48 + i%a.Stride/4096
		a.Data[i] = draw() * float32(math.Ldexp(1, -2*group))
	}
	draw = withOutliers(bits, 9, rare[1], distance, rng)
	for i := range b.Data {
		b.Data[i] = draw()
	}
	return a, b
}

// checkOutliers compares the products of a and b, and those of three times a
// and b, with those that are computed without digits, and returns the first.
func checkOutliers(t *testing.T, a, b blas32.General) Matrix {
	third := func(dst, src []float32) {
		for i, x := range src {
			dst[i] = 3 * x
		}
	}
	before := slices.Concat(a.Data, b.Data)
	ab, abs, err := GEMMs(a, b)
	one, oneErr := GEMM(a, b)
	oneAbs, absErr := AbsGEMM(a, b)
	converted, convertedAbs, convertedErr := GEMMsOf(a, b, third, third)
	if err := errors.Join(err, oneErr, absErr, convertedErr); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ab, one) || !reflect.DeepEqual(abs, oneAbs) {
		t.Fatal("GEMMs differs from GEMM or AbsGEMM")
	}
	if !reflect.DeepEqual(before, slices.Concat(a.Data, b.Data)) {
		t.Fatal("the factors have changed")
	}
	withDigits(0, func() {
		slow, slowAbs, _ := GEMMs(a, b)
		if !reflect.DeepEqual(ab, slow) || !reflect.DeepEqual(abs, slowAbs) {
			t.Fatal("not what is computed without digits")
		}
		slow, slowAbs, _ = GEMMsOf(a, b, third, third)
		if !reflect.DeepEqual(converted, slow) || !reflect.DeepEqual(convertedAbs, slowAbs) {
			t.Fatal("converted: not what is computed without digits")
		}
	})
	return ab
}

// outliersOf returns the outliers of the elements of a matrix.
func outliersOf(t *testing.T, m blas32.General) []outlier {
	g, err := gridOf("m", factor{General: m})
	if err != nil {
		t.Fatal(err)
	}
	return newDigitProduct(m, g, nil, []kind{signed}).outliers
}

// What is set apart is what is not an integer when scaled, or exceeds the
// limit, which itself does not, in any place of a vector and in none.
func TestSetApart(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(50, 0))
		for _, exp := range []int{-100, -3, 0, 20, 110} {
			const limit = 1 << 12
			scale := float32(math.Ldexp(1, -exp))
			others := []float64{limit + 1, 0.5, limit - 0.5, 1 << 23, 0x1p-20, math.Inf(1)}
			for range 200 {
				n := 16 * (1 + rng.IntN(4))
				src, want := make([]float32, n), make([]float32, n)
				var at []int32
				var values []float32
				for i := range src {
					v := []float64{limit, 0, 1, float64(rng.IntN(limit))}[rng.IntN(4)]
					apart := rng.IntN(8) == 0
					if apart {
						v = others[rng.IntN(len(others))]
					}
					src[i] = float32(math.Copysign(math.Ldexp(v, exp), rng.Float64()-0.5))
					if want[i] = src[i]; apart {
						want[i] = 0
						at, values = append(at, int32(i)), append(values, src[i])
					}
				}
				indices, found, dst := make([]int32, n), make([]float32, n), make([]float32, n)
				for _, dst := range [][]float32{dst, src} {
					number := setApart(dst, src, scale, limit, indices, found)
					if !slices.Equal(dst, want) || !slices.Equal(indices[:number], at) || !slices.Equal(found[:number], values) {
						t.Fatalf("scale %v: %v and %v at %v, want %v and %v at %v", scale, dst, found[:number], indices[:number], want, values, at)
					}
				}
			}
		}
	})
}

// With AVX2, products take digits that have fewer instructions than integers,
// and where there are no sums of integers. Outliers do not count.
func TestTakeDigits(t *testing.T) {
	if vectorDigits < 256 {
		t.Skip("the processor adds no products of digits")
	}
	both, one := []kind{signed, absolute}, []kind{signed}
	for _, c := range []struct {
		bits, columns int
		outlier       float32
		list          []kind
		want          bool
	}{
		{bits: 12, columns: 8, list: one, want: true},
		{bits: 24, columns: 64, list: one, want: true},
		{bits: 24, columns: 8, list: one, want: false},
		{bits: 24, columns: 8, list: both, want: true},
		{bits: 24, columns: 8, outlier: 0x1p-4, list: both, want: true},
		{bits: 27, columns: 64, list: both, want: false},
		{bits: 30, columns: 8, list: one, want: true},
	} {
		rng := rand.New(rand.NewPCG(51, 0))
		a, b := matrix.New(70, 600), matrix.New(600, c.columns)
		for _, m := range []blas32.General{a, b} {
			for i := range m.Data {
				m.Data[i] = float32(rng.IntN(1<<c.bits)>>max(0, c.bits-24)<<max(0, c.bits-24) | 1<<(c.bits-1))
				if i%2 == 0 {
					m.Data[i] = 1
				}
			}
			if c.outlier != 0 {
				m.Data[7] = c.outlier
			}
		}
		g, err := gridOf("b", factor{General: b})
		if err != nil {
			t.Fatal(err)
		}
		withDigits(256, func() {
			atWidth(256, func() {
				if got := takeDigits(factor{General: a}, b, g, c.list); got != c.want {
					t.Errorf("%+v: %v", c, got)
				}
			})
		})
	}
}

// Outliers are what is not on the grid of the dense elements or exceeds its
// greatest number, and nothing else; dense elements and outliers together are
// the elements.
func TestWithoutOutliers(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(47, 0))
		times := map[bool]int{}
		for range 500 {
			n, exp := 1+rng.IntN(600), rng.IntN(200)-140
			rows := make([][]float32, 1+rng.IntN(48))
			draw := withOutliers([]int{4, 12, 13, 24}[rng.IntN(4)], exp, 300+rng.IntN(2000), 1+rng.IntN(20), rng)
			g := noGrid
			var want, buffer [][]float32
			for r := range rows {
				for range n {
					x := draw()
					if rng.IntN(4) == 0 { // at the limits of the digits
						x = float32(math.Ldexp([]float64{1, 1 << 12, 1<<12 - 1, 1 << 24, 1<<24 - 1}[rng.IntN(5)], exp))
					}
					rows[r] = append(rows[r], x)
				}
				of, nonFinite := gridOfRow(rows[r])
				if nonFinite >= 0 {
					t.Fatal("not finite")
				}
				g = g.union(of)
				want, buffer = append(want, append([]float32{}, rows[r]...)), append(buffer, make([]float32, n))
			}
			if g == noGrid {
				continue
			}
			if rng.IntN(2) == 0 {
				copy(buffer, rows)
			}
			dense, found := withoutOutliers(g, rows, buffer)
			times[len(found) > 0]++
			d, few := digitsOf(dense, signed)
			if all, _ := digitsOf(g, signed); few && len(found) > 0 && d.count >= all.count || len(found)*rareOutlier > n*len(rows) {
				t.Fatalf("%d digits of %d, with %d outliers of %d elements", d.count, all.count, len(found), n*len(rows))
			}
			for _, x := range found {
				v := float64(want[x.row][x.col])
				if m := math.Ldexp(v, -dense.low); m == math.Trunc(m) && math.Abs(v) <= dense.greatest {
					t.Fatalf("outlier %x fits the grid %v", v, dense)
				}
				if rows[x.row][x.col] != 0 {
					t.Fatal("an outlier is among the dense elements")
				}
				rows[x.row][x.col] = x.value
			}
			if !reflect.DeepEqual(rows, want) {
				t.Fatalf("%v: dense elements and outliers are not the elements", g)
			}
			for _, x := range found {
				rows[x.row][x.col] = 0
			}
			for _, x := range rows {
				for _, x := range x {
					if m := math.Ldexp(float64(x), -dense.low); m != math.Trunc(m) || math.Abs(float64(x)) > dense.greatest {
						t.Fatalf("%x is not on the dense grid %v", x, dense)
					}
				}
			}
		}
		if times[true] < 50 || times[false] < 50 {
			t.Errorf("outliers in %d cases, none in %d", times[true], times[false])
		}
	})
}

// The dense grid is that of all elements but a few, be these above or below it,
// or both.
func TestDenseGrid(t *testing.T) {
	for _, width := range []int{12, 24} {
		for _, outliers := range [][]float32{{0x1p-9}, {0x1p40}, {0x1p-9, 0x1p35}} {
			rng := rand.New(rand.NewPCG(49, 0))
			rows := [][]float32{make([]float32, 5000), make([]float32, 5000)}
			for _, x := range rows {
				for i := range x {
					x[i] = float32(rng.IntN(1<<width) | 1<<(width-1) | 1)
				}
			}
			if got, ok := denseGrid(grid{0, float64(int(1)<<width - 1)}, rows); ok {
				t.Errorf("%d bits: %v, want none", width, got)
			}
			g := noGrid
			for r, x := range rows {
				copy(x[2000*r:], outliers)
				of, _ := gridOfRow(x)
				g = g.union(of)
			}
			want := grid{0, math.Ldexp(1, width)}
			if got, ok := denseGrid(g, rows); !ok || got != want {
				t.Errorf("%d bits, outliers %v: %v, %v, want %v", width, outliers, got, ok, want)
			}
		}
	}
}

// Of grids with equally few outliers, those between two others have more: the
// grid is not in the middle of these.
func TestDenseGridBetweenOutliers(t *testing.T) {
	x := make([]float32, 1000)
	for i := range x {
		x[i] = 1<<10 | 1<<5
	}
	x[3], x[4] = 1, 1<<15
	if got, ok := denseGrid(grid{0, 1 << 15}, [][]float32{x}); !ok || got != (grid{0, 1 << 12}) {
		t.Errorf("%v, %v, want the grid up to 2^12", got, ok)
	}
}

// Outliers that are not rare, but not in the sample, are not set apart.
func TestWithoutOutliersThatAreNotInTheSample(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		x, buffer := make([]float32, 97*sampleSize), make([]float32, 97*sampleSize)
		for i := range x {
			x[i] = 1
			if i%97 == 1 {
				x[i] = 0x1p-20
			}
		}
		g, rows := grid{-20, 1}, [][]float32{slices.Clone(x)}
		if dense, ok := denseGrid(g, rows); !ok {
			t.Fatalf("outliers are in the sample: %v", dense)
		}
		dense, found := withoutOutliers(g, rows, [][]float32{buffer})
		if dense != g || found != nil || !slices.Equal(rows[0], x) {
			t.Errorf("%d outliers of the grid %v", len(found), dense)
		}
	})
}

// Numbers from N(0,1) in binary16 have two dense digits, of three.
func TestNormalNumbersHaveTwoDenseDigits(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(48, 0))
		b := matrix.New(512, 64)
		for i := range b.Data {
			x := rng.NormFloat64()
			_, exp := math.Frexp(x)
			unit := math.Ldexp(1, max(exp-11, -24))
			b.Data[i] = float32(math.RoundToEven(x/unit) * unit)
		}
		g, err := gridOf("b", factor{General: b})
		if err != nil {
			t.Fatal(err)
		}
		all, _ := digitsOf(g, signed)
		p := newDigitProduct(b, g, nil, []kind{signed})
		if d := p.panels[signed].count; all.count != 3 || d != 2 || len(p.outliers) == 0 {
			t.Errorf("%d digits of %d, %d outliers", d, all.count, len(p.outliers))
		}
	})
}
