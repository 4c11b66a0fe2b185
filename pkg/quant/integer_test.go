package quant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// spelledIntegers returns D of integer codes: sums of any length, rounded once
// to binary32, and then as products has it.
func spelledIntegers(k Kernel, a, b *Quantised) blas32.General {
	every := k.Every
	if every == 0 {
		every = a.Cols
	}
	unit := big.NewFloat(a.Recipe.Element.MinSubnormal() * b.Recipe.Element.MinSubnormal())
	z := matrix.New(a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			var sums, s, t []float32
			for l := 0; l < a.Cols; l += every {
				sum := new(big.Int)
				for h := l; h < min(l+every, a.Cols); h++ {
					x, y := big.NewInt(int64(int8(a.Codes[i*a.Cols+h]))), big.NewInt(int64(int8(b.Codes[h*b.Cols+j])))
					sum.Add(sum, x.Mul(x, y))
				}
				exact := new(big.Float).SetPrec(100).SetInt(sum)
				c, _ := exact.Mul(exact, unit).Float32()
				sums, s, t = append(sums, c), append(s, a.Scale(i, l)), append(t, b.Scale(l, j))
			}
			z.Data[i*z.Cols+j] = products[k.Name](sums, s, t)
			if k.Machine.Output != (tcore.Format{}) {
				z.Data[i*z.Cols+j] = float32(k.Machine.Output.Round(float64(z.Data[i*z.Cols+j]), tcore.ToNearestEven))
			}
		}
	}
	return z
}

// Products of int8 are exact sums, rounded to binary32, and scaled in the order
// of the kernel, bit for bit.
func TestProductsOfIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 15))
	late := Integers(PerVector) // its amax is of the past: most numbers saturate
	late.Scale.Amax = 0.25
	every := func(n int, of func(tcore.Machine) Kernel) func(tcore.Machine) Kernel {
		return func(m tcore.Machine) Kernel {
			k := of(m)
			k.Every = n
			return k
		}
	}
	rounded := 0 // sums
	for _, test := range []struct {
		left, right Recipe
		kernel      func(tcore.Machine) Kernel
	}{
		{Integers(PerVector), Integers(PerVector), EpilogueKernel},
		{Integers(PerVector), Integers(PerVector), AlphaKernel},
		{Integers(PerTensor), Integers(PerVector), EpilogueKernel},
		{Integers(Vector128), Integers(Vector128), DeepSeekKernel},
		{Integers(Vector128), Integers(PerVector), DeepGEMMKernel},
		{MX(MXInt8, FloorScale), MX(MXInt8, FloorScale), every(32, DeepSeekKernel)},
		{MX(MXInt8, FloorScale), Integers(PerVector), every(32, DeepGEMMKernel)},
		{late, late, EpilogueKernel},
	} {
		for _, output := range []tcore.Format{{}, tcore.BFloat16} {
			for _, offset := range []float32{0, 3} {
				x, y := random(rng, 4, 3000, kinds["binary32"]), random(rng, 3000, 5, kinds["binary32"])
				for _, m := range []blas32.General{x, y} {
					for i, v := range m.Data {
						m.Data[i] = v + offset
					}
				}
				clear(matrix.Row(x, 2)) // zeros have the scale 1
				for i := range 3000 {   // below the least scale
					x.Data[3*x.Stride+i] = float32(i%3) * math.SmallestNonzeroFloat32
				}
				a, b := quantisedBoth(t, test.left, test.right, x, y)
				k := test.kernel(tcore.Machine{Output: output})
				got, err := k.Multiply(a, b)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range spelledIntegers(k, a, b).Data {
					if math.Float32bits(got.Data[i]) != math.Float32bits(want) && !(want != want && got.Data[i] != got.Data[i]) {
						t.Errorf("%s by %s, %s: element %d is %v, want %v", test.left.Name, test.right.Name, k.Name, i, got.Data[i], want)
					}
				}
				exact := matrix.Product64(matrix.Float64(a.numbers()), matrix.Float64(b.numbers()))
				for _, s := range exact.Data {
					if float64(float32(s)) != s {
						rounded++
					}
				}
			}
		}
	}
	if rounded == 0 {
		t.Error("no sum has more than 24 bits")
	}
}

// What int32 does not hold, and what belongs to other sums, is refused in a
// sentence.
func TestProductsOfIntegersRefuse(t *testing.T) {
	const K = 133145 // 127² K > 2^31
	ones := func(rows, cols int) blas32.General {
		return matrix.Map(matrix.New(rows, cols), func(float32) float32 { return 1 })
	}
	a, b := quantisedBoth(t, Integers(PerVector), Integers(PerVector), ones(1, K), ones(K, 1))
	if _, err := EpilogueKernel(tcore.Machine{}).Multiply(a, b); err == nil || !strings.Contains(err.Error(), "the products of row 0 of A and column 0 of B add up to 2147495705, which int32 does not hold") {
		t.Error(err)
	}
	a, b = quantisedBoth(t, Integers(PerVector), Integers(PerVector), ones(1, K-1), ones(K-1, 1))
	if d, err := EpilogueKernel(tcore.Machine{}).Multiply(a, b); err != nil || math.Abs(float64(d.Data[0])/(K-1)-1) > 1e-6 {
		t.Error(d, err)
	}
	a, b = quantisedBoth(t, Integers(PerVector), Integers(Vector128), ones(1, 256), ones(256, 1))
	for want, k := range map[string]Kernel{
		"sums of integers are exact, want none of Promote, SplitK, Order and Stochastic": DeepSeekKernel(tcore.Machine{Promote: 128}),
		`scales sums of all products, recipe "int8-1x128" has a scale for every 128`:     EpilogueKernel(tcore.Machine{}),
	} {
		if _, err := k.Multiply(a, b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	a, b = quantisedBoth(t, Integers(PerVector), Torchao(tcore.E4M3, PerVector, false), ones(1, 256), ones(256, 1))
	if _, err := EpilogueKernel(tcore.Machine{}).Multiply(a, b); err == nil || !strings.Contains(err.Error(), "want one for factors of int8 and e4m3, which are not both integers") {
		t.Error(err)
	}
}
