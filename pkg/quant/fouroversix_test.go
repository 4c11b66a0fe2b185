package quant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// fourOverSixSpelled is what TransformerEngine computes of a block, step by
// step: the scale and the numbers of the codes.
func fourOverSixSpelled(x []float32, tensor float32, squares bool) (scale float32, numbers []float64) {
	s := float32(1536) / tensor
	amax := float32(0)
	for _, v := range x {
		amax = max(amax, float32(math.Abs(float64(v))))
	}
	sixth := amax / 6
	base := sixth * s
	decode := 1 / s
	try := func(scale float32) (numbers []float64, err float32) {
		product := scale * decode
		inverse := min(1/product, math.MaxFloat32)
		for _, v := range x {
			scaled := v * inverse
			number := max(-6, min(6, tcore.E2M1.Round(float64(scaled), tcore.ToNearestEven)))
			numbers = append(numbers, number)
			back := float32(number) * scale
			back *= tensor
			back /= 1536
			diff := back - v
			if squares {
				diff *= diff
			}
			err += float32(math.Abs(float64(diff)))
		}
		return numbers, err
	}
	larger := base * 1.5
	scale6, scale4 := float32(e4m3(min(base, 448))), float32(e4m3(min(larger, 448)))
	six, error6 := try(scale6)
	four, error4 := try(scale4)
	if error4 < error6 {
		return scale4, four
	}
	return scale6, six
}

// A block takes the scale by which its error is smaller, in the order of
// operations of TransformerEngine, along rows and along columns.
func TestFourOverSix(t *testing.T) {
	chosen := map[string]int{}
	for kind, number := range kinds {
		for _, by := range []Comparison{Absolute, Squares} {
			for _, side := range []Side{Left, Right} {
				x := random(rand.New(rand.NewPCG(13, 15)), 96, 80, number)
				q, err := FourOverSix(by).Quantise(x, side)
				if err != nil {
					t.Fatal(err)
				}
				tensor := amax(x, 0, x.Rows, 0, x.Cols)
				at := func(vector, k int) (i, j int) {
					if side == Left {
						return vector, k
					}
					return k, vector
				}
				vectors, length := x.Rows, x.Cols
				if side == Right {
					vectors, length = x.Cols, x.Rows
				}
				for v := range vectors {
					for k := 0; k < length; k += 16 {
						var block []float32
						for l := k; l < k+16; l++ {
							i, j := at(v, l)
							block = append(block, x.Data[i*x.Stride+j])
						}
						scale, numbers := fourOverSixSpelled(block, tensor, by == Squares)
						if slices.ContainsFunc(numbers, func(z float64) bool { return math.Abs(z) == 6 }) {
							chosen[kind]++
						}
						for l, want := range numbers {
							i, j := at(v, k+l)
							if got := float64(q.Number(i, j)); got != want || q.Scale(i, j) != scale {
								t.Fatalf("%s data, %v, (%d, %d): %v × %v, want %v × %v", kind, side, i, j, got, q.Scale(i, j), want, scale)
							}
						}
					}
				}
			}
		}
		if blocks := 4 * 96 * 80 / 16; chosen[kind] == 0 || chosen[kind] >= blocks {
			t.Errorf("%s data: %d of %d blocks have a 6, want some", kind, chosen[kind], blocks)
		}
	}
}

// Two scales that are equally good leave the smaller one, of 6.
func TestFourOverSixTies(t *testing.T) {
	x := blas32.General{Rows: 2, Cols: 16, Stride: 16, Data: make([]float32, 32)}
	x.Data[0], x.Data[16] = 1536, 96 // scales 16 and 24 both give 96
	for _, by := range []Comparison{Absolute, Squares} {
		q, err := FourOverSix(by).Quantise(x, Left)
		if err != nil {
			t.Fatal(err)
		}
		if q.Number(1, 0) != 6 || q.Scale(1, 0) != 16 || q.Tensor != 1 {
			t.Errorf("%v: %v × %v, inverse scale of the tensor %v, want 6 × 16, 1", by, q.Number(1, 0), q.Scale(1, 0), q.Tensor)
		}
	}
}

// The choice of a scale loses less than one scale does, by the error that
// chooses, on data of a normal distribution.
func TestFourOverSixLosesLess(t *testing.T) {
	x := random(rand.New(rand.NewPCG(14, 15)), 256, 512, kinds["binary32"])
	rms := func(r Recipe) float64 {
		q, err := r.Quantise(x, Left)
		if err != nil {
			t.Fatal(err)
		}
		return q.Loss(x).RMS
	}
	one, mae, mse := rms(NVFP4(Vector16)), rms(FourOverSix(Absolute)), rms(FourOverSix(Squares))
	if mse >= mae || mae >= 0.97*one {
		t.Errorf("relative errors %.4f with one scale, %.4f by Σ |x̂ - x|, %.4f by its squares", one, mae, mse)
	}
	t.Logf("relative errors %.4f with one scale, %.4f by Σ |x̂ - x|, %.4f by its squares", one, mae, mse)
}

// The scales are those of the order of operations: another order, that of NVFP4
// without a choice, gives others for some bfloat16 numbers.
func TestFourOverSixScalesInTheirOrder(t *testing.T) {
	r, other := FourOverSix(Absolute), NVFP4(Vector16)
	differ := 0
	for tensor := float32(1); tensor < 2; tensor += 0x1p-7 {
		s := r.Tensor.scale(tensor, r.tensorMax(), r.element(), 1)
		if s != 1536/tensor {
			t.Fatalf("tensor %x: inverse scale %v, want %v", tensor, s, 1536/tensor)
		}
		for bits := math.Float32bits(tensor) - 8<<23; bits <= math.Float32bits(tensor); bits += 1 << 16 {
			amax := math.Float32frombits(bits)
			sixth := amax / 6
			base := sixth * s
			want, larger := e4m3(base), e4m3(base*1.5)
			if got, gotLarger := r.Scale.scale(amax, 6, r.element(), s), r.Second.scale(amax, 6, r.element(), s); float64(got) != want || float64(gotLarger) != larger {
				t.Fatalf("tensor %x, block %x: %v and %v, want %v and %v", tensor, amax, got, gotLarger, want, larger)
			}
			if float64(other.Scale.scale(amax, 6, r.element(), s)) != want {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("another order of operations gives the same scales: the test shows nothing")
	}
}
