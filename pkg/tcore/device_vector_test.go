package tcore

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/roundofflab/roundoff/internal/vectest"
)

var update = flag.Bool("update", false, "write testdata/devices.json.gz anew from the oracle")

// deviceVector is one dot product in codes, with its result by the oracle.
type deviceVector struct {
	Device         string
	X, Y           []uint64
	ScaleX, ScaleY []uint64 `json:",omitempty"`
	C, D           uint64
}

// randomVector returns a dot product of one or two blocks, of difficult codes:
// arbitrary ones, awkward numbers, and sums that nearly cancel.
func randomVector(rng *rand.Rand, d Device) deviceVector {
	n := d.Core.width() * (1 + rng.IntN(2))
	v := deviceVector{Device: d.Name, X: make([]uint64, n), Y: make([]uint64, n)}
	kind := rng.IntN(5)
	for i := range n {
		v.X[i], v.Y[i] = randomCode(rng, d.A, kind), randomCode(rng, d.B, kind)
	}
	if kind == 3 { // the second half repeats y, and x with the other sign: the sum cancels
		for i := n / 2; i < n-1; i++ {
			v.Y[i], v.X[i] = v.Y[i-n/2], d.A.Encode(-decodeOperand(d.A, v.X[i-n/2]), ToNearestEven)
			if d.A.Equal(TF32) {
				v.X[i] <<= 13
			}
		}
	}
	for range (n + d.ScaleBlock - 1) / max(d.ScaleBlock, 1) * min(d.ScaleBlock, 1) {
		v.ScaleX = append(v.ScaleX, randomScale(rng, d.Scale, kind))
		v.ScaleY = append(v.ScaleY, randomScale(rng, d.Scale, kind))
	}
	v.C = randomCode(rng, d.C, kind)
	return v
}

func randomCode(rng *rand.Rand, f Format, kind int) uint64 {
	w := f.Bits()
	if f.Equal(TF32) {
		w = 32
	}
	code := rng.Uint64() >> (64 - w)
	switch {
	case rng.IntN(10) == 0: // zeros of both signs
		code = code >> (w - 1) << (w - 1)
	case kind == 0: // any number, but rarely an infinity or a NaN
		if x := decodeOperand(f, code); !finite(x) && rng.IntN(30) > 0 {
			return randomCode(rng, f, kind)
		}
	case kind == 1:
		code = f.Encode(awkward(f, rng), ToNearestEven)
	case kind == 4: // powers of two: ties
		e := rng.IntN(min(40, -2*f.Emin+1)) - min(30, -f.Emin)
		code = f.Encode(math.Ldexp(float64(1-2*rng.IntN(2)), e), ToNearestEven)
	default: // near 1
		e := rng.IntN(9) - 4
		code = f.Encode(math.Ldexp(1+rng.Float64(), e)*float64(1-2*rng.IntN(2)), ToNearestEven)
	}
	if f.Equal(TF32) && kind > 0 && code < 1<<19 {
		code <<= 13
	}
	return code
}

func randomScale(rng *rand.Rand, f Format, kind int) uint64 {
	if kind == 0 {
		return uint64(rng.IntN(256))
	}
	return f.Encode(math.Ldexp(1+rng.Float64(), rng.IntN(7)-3), ToNearestEven)
}

// TestDevice compares every device with the oracle, on the vectors in the
// repository and on new ones.
func TestDevice(t *testing.T) {
	path := filepath.Join("testdata", "devices.json.gz")
	if *update {
		writeVectors(t, path)
	}
	committed := readVectors(t, path)
	n := 300
	if testing.Short() {
		n = 40
	}
	for i, d := range Devices() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			if len(committed[d.Name]) == 0 {
				t.Errorf("no vectors for %s: run the test with -update", d.Name)
			}
			for _, v := range committed[d.Name] {
				compareVector(t, d, v)
			}
			rng := rand.New(rand.NewPCG(11, uint64(i)))
			for range n {
				v := randomVector(rng, d)
				v.D = oracleDot(d, v)
				compareVector(t, d, v)
				if d.ScaleBlock == 0 {
					compareGEMM(t, d, v)
				}
			}
		})
	}
}

func compareVector(t *testing.T, d Device, v deviceVector) {
	t.Helper()
	got := d.DotScaled(v.X, v.Y, v.ScaleX, v.ScaleY, v.C)
	if x, y := d.C.Decode(got), d.C.Decode(v.D); got != v.D && !(x != x && y != y) {
		t.Fatalf("%+v gives %#x = %v, want %#x = %v", v, got, x, v.D, y)
	}
}

// TestTinyProduct compares every device whose inputs have such products with
// the oracle: one product, nearer to zero than the numbers of the result are to
// each other, beside zeros of both signs.
func TestTinyProduct(t *testing.T) {
	each := 200
	if testing.Short() {
		each = 40
	}
	negative := 0 // products below zero of cores that never give -0 for them
	for i, d := range Devices() {
		least := math.Ldexp(1, d.C.minQuantum())
		if d.ScaleBlock > 0 || math.Ldexp(1, d.A.minQuantum()+d.B.minQuantum()) > least {
			continue
		}
		rng := rand.New(rand.NewPCG(12, uint64(i)))
		for n := 0; n < each; {
			v := deviceVector{Device: d.Name, X: make([]uint64, d.Core.width()), Y: make([]uint64, d.Core.width())}
			v.X[0], v.Y[0] = randomCode(rng, d.A, 0), randomCode(rng, d.B, 0)
			p := decodeOperand(d.A, v.X[0]) * decodeOperand(d.B, v.Y[0])
			if !(0 < math.Abs(p) && math.Abs(p) < 2*least) {
				continue
			}
			n++
			v.C = d.C.Encode(signed(0, rng.IntN(2) == 0), ToNearestEven)
			v.D = oracleDot(d, v)
			compareVector(t, d, v)
			compareGEMM(t, d, v)
			if f, ok := d.Core.(Fused); ok && p < 0 && -p < least && !f.NegativeTiny && f.Rounding == ToZero {
				negative++
				if v.D != 0 {
					t.Errorf("%s: %+v gives %#x, want 0", d.Name, v, v.D)
				}
			}
		}
	}
	if negative == 0 {
		t.Error("no product below zero was rounded to zero")
	}
}

// writeVectors writes some vectors for every device.
func writeVectors(t *testing.T, path string) {
	const each = 16
	var text bytes.Buffer
	z, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewEncoder(z)
	for i, d := range Devices() {
		rng := rand.New(rand.NewPCG(2026, uint64(i)))
		for range each {
			v := randomVector(rng, d)
			v.D = oracleDot(d, v)
			if err := lines.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(z.Close(), os.MkdirAll("testdata", 0o755), os.WriteFile(path, text.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func readVectors(t *testing.T, path string) map[string][]deviceVector {
	t.Helper()
	vectors := map[string][]deviceVector{}
	for lines := json.NewDecoder(vectest.Open(t, path)); ; {
		var v deviceVector
		if err := lines.Decode(&v); err == io.EOF {
			return vectors
		} else if err != nil {
			t.Fatal(err)
		}
		vectors[v.Device] = append(vectors[v.Device], v)
	}
}
