package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// What is divided rounds to the codes, in blocks of all sizes and shapes.
func TestDivided(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x := matrix.New(40, 70)
	for i := range x.Data {
		x.Data[i] = float32(math.Ldexp(r.NormFloat64(), r.IntN(12)-6))
	}
	for _, recipe := range Recipes() {
		for _, side := range []Side{Left, Right} {
			q, err := recipe.Quantise(x, side)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range q.Divided(x).Data {
				z := []float64{float64(v)}
				if recipe.round(recipe.element(), z, 0); encode(recipe.element(), z[0]) != q.Codes[i] {
					t.Errorf("%s of %v: %v at %d rounds to %v, code %#x", recipe.Name, side, v, i, z[0], q.Codes[i])
					break
				}
			}
		}
	}
	defer func() {
		if s, want := recover(), "quant: Divided: x is 1 × 1, the codes are 40 × 70"; s != want {
			t.Errorf("%v, want %s", s, want)
		}
	}()
	q, _ := Recipes()[0].Quantise(x, Left)
	q.Divided(matrix.New(1, 1))
}

// spelledOut has, for names of recipes, what their libraries compute, in their
// order, without a record: the code of x in a block of the given amax, in a
// tensor of the given one, and what it stands for.
var spelledOut = map[string]func(x, amax, tensor float32) (element float64, scale float32){
	"deepseek-1x128": func(x, amax, _ float32) (float64, float32) {
		s := max(amax, 1e-4) / 448
		return e4m3(x / s), s
	},
	"deepgemm-128x128": func(x, amax, _ float32) (float64, float32) {
		s := max(amax, 1e-4) / 448
		inverse := 1 / s
		return e4m3(x * inverse), s
	},
	"deepgemm-row-ue8m0": func(x, amax, _ float32) (float64, float32) {
		bits := math.Float32bits(max(amax, 1e-4) / 448)
		e := bits >> 23
		if bits&(1<<23-1) != 0 {
			e++
		}
		s := math.Float32frombits(e << 23)
		return e4m3(x * (1 / s)), s
	},
	"te-e4m3-tensor": func(x, amax, _ float32) (float64, float32) {
		s := 448 / amax
		return e4m3(x * s), 1 / s
	},
	"te-e5m2-1x128-power": func(x, amax, _ float32) (float64, float32) {
		s := math.Float32frombits(math.Float32bits(57344/amax) &^ (1<<23 - 1))
		f := tcore.E5M2
		f.Overflow = tcore.Saturate
		return f.Round(float64(x*s), tcore.ToNearestEven), 1 / s
	},
	"torchao-e4m3-row": func(x, amax, _ float32) (float64, float32) {
		s := float32(448 / max(float64(amax), 1e-12))
		return e4m3(min(max(x*s, -448), 448)), 1 / s
	},
	"mxe4m3-floor": func(x, amax, _ float32) (float64, float32) {
		e := int(math.Float32bits(amax)>>23) - 127 - 8
		return e4m3(float32(math.Ldexp(float64(x), -e))), float32(math.Ldexp(1, e))
	},
	"microxcaling-mxe2m1": func(x, amax, _ float32) (float64, float32) {
		e := math.Floor(float64(float32(math.Log2(float64(amax))))) - 2
		v := float64(x) / math.Exp2(e)
		z := math.Abs(v)
		switch { // ties away from zero
		case z < 2:
			z = math.Floor(z*2+0.5) / 2
		case z < 4:
			z = math.Floor(z + 0.5)
		default:
			z = min(math.Floor(z/2+0.5)*2, 6)
		}
		return math.Copysign(z, v), float32(math.Exp2(e))
	},
	"deepgemm-fp4-1x128": func(x, amax, _ float32) (float64, float32) {
		s := max(amax, 1e-4) / 6
		v := x * (1 / s)
		z := 0.0
		for i, above := range []float32{.25, .75, 1.25, 1.75, 2.5, 3.5, 5} {
			if float32(math.Abs(float64(v))) > above {
				z = []float64{.5, 1, 1.5, 2, 3, 4, 6}[i]
			}
		}
		return math.Copysign(z, float64(v)), s
	},
	"nvfp4-te-1x16": func(x, amax, tensor float32) (float64, float32) {
		s := float32(2688) / tensor
		sixth := float32(1) / 6
		block := float32(e4m3(amax * float32(s*sixth)))
		inverse := min(1/float32(block*(1/s)), math.MaxFloat32)
		return tcore.E2M1.Round(float64(x*inverse), tcore.ToNearestEven), block
	},
	"nvfp4-torchao": func(x, amax, tensor float32) (float64, float32) {
		t := tensor / 2688
		block := float32(e4m3(min(max(float32(amax/6)/t, 0x1p-6), 448)))
		return tcore.E2M1.Round(float64(x*float32((1/t)/block)), tcore.ToNearestEven), block
	},
	"int8-row": func(x, amax, _ float32) (float64, float32) {
		s := amax / 127
		return min(max(math.RoundToEven(float64(x/s)), -127), 127), s
	},
}

func e4m3(x float32) float64 {
	f := tcore.E4M3
	f.Overflow = tcore.Saturate
	return f.Round(float64(x), tcore.ToNearestEven)
}

// kinds of data whose codes differ where orders of operations do: bfloat16
// numbers are ties of 8-bit formats, and small ones meet the floors.
var kinds = map[string]func(rng *rand.Rand) float32{
	"binary32": func(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) },
	"bfloat16": func(rng *rand.Rand) float32 {
		return float32(tcore.BFloat16.Round(rng.NormFloat64(), tcore.ToNearestEven))
	},
	"wide": func(rng *rand.Rand) float32 {
		return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-50))
	},
}

func random(rng *rand.Rand, rows, cols int, number func(*rand.Rand) float32) blas32.General {
	x := blas32.General{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float32, rows*(cols+3))}
	for i := range x.Data {
		x.Data[i] = number(rng)
	}
	return x
}

// A record gives the codes and scales of its library, spelled out.
func TestRecipesAreThoseOfTheirLibraries(t *testing.T) {
	for name, library := range spelledOut {
		r, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for kind, number := range kinds {
			rng := rand.New(rand.NewPCG(1, 15))
			for _, side := range []Side{Left, Right} {
				x := random(rng, 130, 150, number)
				q, err := r.Quantise(x, side)
				if err != nil {
					t.Fatal(err)
				}
				rows, cols := q.blockSize()
				tensor := amax(x, 0, x.Rows, 0, x.Cols)
				for i0 := 0; i0 < x.Rows; i0 += rows {
					for j0 := 0; j0 < x.Cols; j0 += cols {
						i1, j1 := min(i0+rows, x.Rows), min(j0+cols, x.Cols)
						block := amax(x, i0, i1, j0, j1)
						for i := i0; i < i1; i++ {
							for j, v := range matrix.Row(x, i)[j0:j1] {
								want, scale := library(v, block, tensor)
								if got := float64(q.Number(i, j0+j)); got != want || q.Scale(i, j0+j) != scale {
									t.Fatalf("%s, %s data, %v (%d, %d): %v × %v, want %v × %v", name, kind, side, i, j0+j, got, q.Scale(i, j0+j), want, scale)
								}
							}
						}
					}
				}
			}
		}
	}
}

// The order of operations shows in the codes of bfloat16 numbers, which are
// often ties, and hardly in those of binary32 numbers.
func TestOrderOfOperationsShows(t *testing.T) {
	for kind, want := range map[string][2]int{"binary32": {0, 5}, "bfloat16": {300, 800}} {
		x := random(rand.New(rand.NewPCG(2, 15)), 1024, 1024, kinds[kind])
		a, _ := DeepSeek(false).Quantise(x, Left)
		b, _ := DeepGEMM(Vector128, false).Quantise(x, Left)
		differ := 0
		for i, code := range a.Codes {
			if code != b.Codes[i] {
				differ++
			}
		}
		if differ < want[0] || differ > want[1] {
			t.Errorf("%s: %d of %d codes differ, want %d to %d", kind, differ, len(a.Codes), want[0], want[1])
		}
	}
}

// Floor scales shrink positive data, and their products twice as much; those
// that clip nothing do not.
func TestFloorScalesDrift(t *testing.T) {
	uniform := func(rng *rand.Rand) float32 { return rng.Float32() }
	for _, test := range []struct {
		r    Recipe
		want float64 // the mean of products, beside that of exact ones
		tol  float64
	}{
		{MX(tcore.E4M3, FloorScale), -3.1e-2, 2e-3}, {MX(tcore.E5M2, FloorScale), -3.1e-2, 2e-3}, {MX(tcore.E2M1, FloorScale), -0.121, 4e-3},
		{MX(tcore.E4M3, RoundUpScale), 0, 1e-3}, {MX(tcore.E2M1, RoundUpScale), 0, 3e-3}, {NVFP4(Vector16), 0, 3e-3},
		{DeepGEMM(Vector128, false), 0, 1e-3}, {Integers(PerVector), 0, 1e-3},
	} {
		x := random(rand.New(rand.NewPCG(3, 15)), 512, 2048, uniform)
		q, err := test.r.Quantise(x, Left)
		if err != nil {
			t.Fatal(err)
		}
		z, exact, rounded := q.Dequantise(), 0.0, 0.0
		for i := range x.Rows {
			for j, v := range matrix.Row(x, i) {
				exact += float64(v)
				rounded += float64(z.Data[i*x.Cols+j])
			}
		}
		ratio := rounded / exact
		if got := ratio*ratio - 1; math.Abs(got-test.want) > test.tol {
			t.Errorf("%s: products of U(0,1) are %.4f larger, want %.4f", test.r.Name, got, test.want)
		}
	}
}

// What has no scale in the usual way: zeros, infinities, NaN, numbers so small
// that the scale rounds to 0 or its inverse overflows.
func TestCorners(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, test := range []struct {
		name  string
		x     []float32 // a block
		scale float32   // NaN for any NaN
		want  []float32 // numbers of the codes
	}{
		{"deepseek-1x128", []float32{0, 0}, float32(1e-4) / 448, []float32{0, 0}},
		{"deepgemm-row", []float32{3e-40, -3e-40}, float32(1e-4) / 448, []float32{0, 0}},
		{"te-e4m3-tensor", []float32{0, 0}, 1, []float32{0, 0}},
		{"te-e4m3-tensor", []float32{1, inf}, 1, []float32{1, 448}},
		{"te-e4m3-tensor", []float32{1, nan}, 1, []float32{1, nan}},
		{"te-e4m3-1x128", []float32{1e-40, 0}, 1 / float32(math.MaxFloat32), []float32{float32(e4m3(1e-40 * math.MaxFloat32)), 0}},
		{"te-e4m3-1x128-power", []float32{1e-40, 0}, 0x1p-127, []float32{float32(e4m3(1e-40 * 0x1p127)), 0}},
		{"torchao-e4m3-row", []float32{0, 0}, float32(1 / float32(448/1e-12)), []float32{0, 0}},
		{"mxe4m3-floor", []float32{0, 0}, 0x1p-127, []float32{0, 0}},
		{"mxe4m3-floor", []float32{1, inf}, nan, []float32{nan, nan}},
		{"mxe4m3-rceil", []float32{1, nan}, nan, []float32{nan, nan}},
		{"te-mxe4m3", []float32{1, inf}, 0x1p127, []float32{0, 448}},
		{"microxcaling-mxe4m3", []float32{0, 0}, 0x1p-127, []float32{0, 0}},
		{"nvfp4-te-1x16", []float32{0, 0}, 0, []float32{0, 0}},
		{"nvfp4-te-1x16", []float32{1, inf}, 448, []float32{0, 6}},
		{"nvfp4-4over6-mae", []float32{0, 0}, 0, []float32{0, 0}},
		{"nvfp4-4over6-mse", []float32{1, inf}, 448, []float32{0, 6}},
		{"nvfp4-torchao-one-level", []float32{0, 0}, 0x1p-6, []float32{0, 0}},
		{"int8-row", []float32{0, 0}, 1, []float32{0, 0}},
		{"int8-row", []float32{-127, 63.5}, 1, []float32{-127, 64}},
	} {
		r, err := Named(test.name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := r.Quantise(blas32.General{Rows: 1, Cols: len(test.x), Stride: len(test.x), Data: test.x}, Left)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Scale(0, 0); !same(got, test.scale) {
			t.Errorf("%s of %v: scale %v, want %v", test.name, test.x, got, test.scale)
		}
		for j, want := range test.want {
			if got := q.Number(0, j); !same(got, want) {
				t.Errorf("%s of %v: element %d is %v, want %v", test.name, test.x, j, got, want)
			}
		}
	}
}

// A block of NVFP4 whose scale rounds to 0 is zeros; torchao's has the least
// scale.
func TestBlockWithoutScale(t *testing.T) {
	x := blas32.General{Rows: 1, Cols: 32, Stride: 32, Data: make([]float32, 32)}
	x.Data[0], x.Data[16] = 1000, 1e-4
	for name, want := range map[string]float32{"nvfp4-te-1x16": 0, "nvfp4-torchao": 0x1p-6, "nvfp4-modelopt": 0x1p-9} {
		r, _ := Named(name)
		q, err := r.Quantise(x, Left)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Scale(0, 16); got != want {
			t.Errorf("%s: scale %v, want %v", name, got, want)
		}
		if z := q.Dequantise().Data[16]; want == 0 && z != 0 {
			t.Errorf("%s: dequantised %v, want 0", name, z)
		}
	}
}

func same(a, b float32) bool { return a == b || a != a && b != b }
