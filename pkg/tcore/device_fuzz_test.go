package tcore

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// FuzzDevice compares one block of any device with the oracle and with GEMM,
// whose code is separate. The data are the codes of x, y, the scales and c,
// followed by zeros.
func FuzzDevice(f *testing.F) {
	for i, d := range Devices() {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		v := randomVector(rng, d)
		var data []byte
		for _, codes := range [][]uint64{v.X, v.Y, {v.C}} {
			for _, code := range codes {
				data = binary.LittleEndian.AppendUint64(data, code)
			}
		}
		f.Add(uint8(i), data)
	}
	devices := Devices()
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		d := devices[int(which)%len(devices)]
		next := func(f Format) uint64 {
			var word [8]byte
			data = data[copy(word[:], data):]
			w := f.Bits()
			if f.Equal(TF32) {
				w = 32
			}
			return binary.LittleEndian.Uint64(word[:]) << (64 - w) >> (64 - w)
		}
		n := d.Core.width()
		v := deviceVector{X: make([]uint64, n), Y: make([]uint64, n)}
		for i := range n {
			v.X[i], v.Y[i] = next(d.A), next(d.B)
		}
		for i := 0; i < n && d.ScaleBlock > 0; i += d.ScaleBlock {
			v.ScaleX, v.ScaleY = append(v.ScaleX, next(d.Scale)), append(v.ScaleY, next(d.Scale))
		}
		v.C = next(d.C)
		v.D = oracleDot(d, v)
		compareVector(t, d, v)
		if d.ScaleBlock == 0 {
			compareGEMM(t, d, v)
		}
	})
}

// compareGEMM compares the matrix product of a 1 × K and a K × 1 matrix with
// the dot product v.
func compareGEMM(t *testing.T, d Device, v deviceVector) {
	a, b, c, z := zeros(1, len(v.X)), zeros(len(v.Y), 1), zeros(1, 1), zeros(1, 1)
	exact := true
	store := func(dst []float32, f Format, codes []uint64) {
		for i, code := range codes {
			x := decodeOperand(f, code)
			dst[i] = float32(x)
			exact = exact && same(float64(dst[i]), x)
		}
	}
	store(a.Data, d.A, v.X)
	store(b.Data, d.B, v.Y)
	store(c.Data, d.C, []uint64{v.C})
	if !exact { // binary64
		return
	}
	d.MultiplyAdd(a, b, c, z)
	if want := float32(d.C.Decode(v.D)); !same(float64(z.Data[0]), float64(want)) {
		t.Errorf("%s: GEMM gives %x, want %x: %+v", d.Name, z.Data[0], want, v)
	}
	p := &panelProduct{&d, d.newPanel(d.A, a, false), d.newPanel(d.B, b, true)}
	scalar := [][]float64{{d.C.Decode(v.C)}}
	p.multiply(scalar, 0, 1, 0, p.x.k)
	if want := d.C.Decode(v.D); !same(scalar[0][0], want) {
		t.Errorf("%s: without vectors %x, want %x: %+v", d.Name, scalar[0][0], want, v)
	}
	d.MultiplyAdd(a, b, blas32.General{}, z)
	v.C = 0
	if want := float32(d.C.Decode(oracleDot(d, v))); !same(float64(z.Data[0]), float64(want)) {
		t.Errorf("%s: GEMM without c gives %x, want %x: %+v", d.Name, z.Data[0], want, v)
	}
}
