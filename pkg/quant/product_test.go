package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// The product of codes and scales on a tensor core that takes scales is that of
// the dequantised numbers where nothing is cut off.
func TestProductOfQuantisedMatrices(t *testing.T) {
	normal := func(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) }
	for _, test := range []struct {
		d tcore.Device
		r Recipe
	}{
		{devices.BlackwellMXE2M1(), MX(tcore.E2M1, RoundUpScale)},
		{devices.BlackwellMXE2M3(), MX(tcore.E2M3, FloorScale)},
		{devices.BlackwellNVF4(), NVFP4(Vector16)},
		{devices.BlackwellNVF4(), TorchaoNVFP4(false)},
	} {
		rng := rand.New(rand.NewPCG(4, 15))
		const m, k, n = 5, 96, 7
		a, errA := test.r.Quantise(random(rng, m, k, normal), Left)
		b, errB := test.r.Quantise(random(rng, k, n, normal), Right)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		x, errA := a.TensorCodes(test.d)
		y, errB := b.TensorCodes(test.d)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		z := matrix.New(m, n)
		test.d.MultiplyAddCodes(x, y, blas32.General{}, z)
		for i := range m {
			for j := range n {
				want, size := 0.0, 0.0
				for l := range k {
					p := float64(a.Number(i, l)) * float64(a.Scale(i, l)) * float64(b.Number(l, j)) * float64(b.Scale(l, j))
					want += p
					size += math.Abs(p)
				}
				if got := float64(z.Data[i*n+j]); math.Abs(got-want) > 0x1p-22*size {
					t.Errorf("%s, %s: (%d, %d) = %v, want %v", test.d.Name, test.r.Name, i, j, got, want)
				}
			}
		}
	}
}

// Stochastic rounding with 8 bits takes one of the two neighbours, and the mean
// is the number itself but for 2^-9 of their distance.
func TestStochasticRecipe(t *testing.T) {
	x := matrix.New(1, 1<<16)
	for i := range x.Data {
		x.Data[i] = 3.3
	}
	x.Data[0] = 6 // the scale is 1
	r := DeepGEMMFP4(PerTensor, true)
	r.Stochastic = tcore.Stochastic{Seed: 1, Bits: 8}
	q, err := r.Quantise(x, Left)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for j := 1; j < x.Cols; j++ {
		v := q.Number(0, j)
		if v != 3 && v != 4 {
			t.Fatalf("3.3 becomes %v", v)
		}
		sum += float64(v)
	}
	if mean := sum / float64(x.Cols-1); math.Abs(mean-3.3) > 0x1p-8+4*0.46/256 {
		t.Errorf("mean %v, want 3.3", mean)
	}
}

// A Hadamard matrix leaves products as they are, for any signs, and makes the
// greatest number of a row with an outlier smaller.
func TestHadamardLeavesProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	normal := func(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) }
	for seed := range uint64(8) {
		h := RandomHadamard(seed)
		a, b := random(rng, 3, 48, normal), random(rng, 48, 4, normal)
		a.Data[5] = 100
		x, errA := h.Apply(a, Left)
		y, errB := h.Apply(b, Right)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for i := range a.Rows {
			for j := range b.Cols {
				before, after := 0.0, 0.0
				for l := range a.Cols {
					before += float64(a.Data[i*a.Stride+l]) * float64(b.Data[l*b.Stride+j])
					after += float64(x.Data[i*x.Stride+l]) * float64(y.Data[l*y.Stride+j])
				}
				if math.Abs(before-after) > 1e-4 {
					t.Errorf("seed %d: (%d, %d) = %v, want %v", seed, i, j, after, before)
				}
			}
		}
		if got := amax(x, 0, 1, 0, 48); got > 35 {
			t.Errorf("seed %d: the greatest number is %v", seed, got)
		}
	}
}

// What is no recipe, and no matrix, is refused by name.
func TestRefusals(t *testing.T) {
	x := matrix.New(2, 2)
	for want, spoil := range map[string]func(r *Recipe){
		`quant: recipe "": Element is no format, want one, such as tcore.E4M3`:                           func(r *Recipe) { *r = Recipe{} },
		`quant: recipe "mxe4m3-floor": Stored of a scale is no format, want one, such as tcore.Binary32`: func(r *Recipe) { r.Scale.Stored = tcore.Format{} },
		`quant: recipe "mxe4m3-floor": Block = 1×-1, want sizes of at least 0`:                           func(r *Recipe) { r.Block.Along = -1 },
		`quant: recipe "mxe4m3-floor": Element = binary16 has codes of 16 bits, want at most 8`:          func(r *Recipe) { r.Element = tcore.Binary16 },
		`quant: recipe "mxe4m3-floor": Rounding = 7, want one of the constants`:                          func(r *Recipe) { r.Rounding = 7 },
		`quant: recipe "mxe4m3-floor": Stochastic.Bits = 33, want 0 to 32`:                               func(r *Recipe) { r.Stochastic.Bits = 33 },
		`quant: recipe "mxe4m3-floor": a scale of the tensor and a quotient with it, want both or none`: func(r *Recipe) {
			r.Scale.Quotient = AmaxOverTensor
		},
		`quant: recipe "mxe4m3-floor": a scale of the tensor and a way to divide by it, want both or none`: func(r *Recipe) {
			r.Scale.Apply = TimesQuotient
		},
		`quant: recipe "mxe4m3-floor": Times is for inverse scales, and they for Times`: func(r *Recipe) { r.Scale.Apply = Times },
		`quant: recipe "mxe4m3-floor": Compare = 2, want one of the constants`:          func(r *Recipe) { r.Compare = 2 },
		`quant: recipe "mxe4m3-floor": a second scale, want an inverse scale of the tensor and blocks 1×n`: func(r *Recipe) {
			r.Second = &Scaling{}
		},
		`quant: recipe "nvfp4-4over6-mae": a second scale, want an inverse scale of the tensor and blocks 1×n`: func(r *Recipe) {
			*r = FourOverSix(Absolute)
			r.Block = Tile16
		},
		`quant: recipe "nvfp4-4over6-mse": Second has another Quotient or Apply than Scale`: func(r *Recipe) {
			*r = FourOverSix(Squares)
			r.Second = &Scaling{Quotient: AmaxTimesTensor}
		},
	} {
		r := MX(tcore.E4M3, FloorScale)
		spoil(&r)
		if _, err := r.Quantise(x, Left); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := MX(tcore.E4M3, FloorScale).Quantise(x, Side(2)); err == nil {
		t.Error("side 2 is accepted")
	}
	for _, r := range Recipes() {
		if _, err := r.Quantise(x, Right); err != nil {
			t.Errorf("%v", err)
		}
	}
}
