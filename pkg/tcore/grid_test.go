package tcore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

// Grids have the codes of DotCodes, payloads of NaN included, on all devices
// without scales.
func TestGridCodes(t *testing.T) {
	for _, d := range Devices() {
		if d.ScaleBlock > 0 {
			continue
		}
		r := rand.New(rand.NewPCG(241118747, 18))
		codes := func(f Format, n int, raw bool) []uint64 {
			z := make([]uint64, n)
			for i := range z {
				switch bits := f.Bits(); {
				case f.Equal(TF32): // a word of binary32
					z[i] = Binary32.Encode(r.NormFloat64(), ToNearestEven)
				case raw:
					z[i] = r.Uint64() >> (64 - bits)
				default:
					z[i] = f.Encode(r.NormFloat64(), ToNearestEven)
				}
			}
			return z
		}
		for trial := range 4 {
			m, n, k := 1+r.IntN(9), 1+r.IntN(40), 1+r.IntN(40)
			x, y, c := codes(d.A, m*k, trial%2 > 0), codes(d.B, n*k, trial/2 > 0), codes(d.C, m*n, trial > 2)
			z := make([]uint64, m*n)
			d.GridCodes(k, x, y, c, z)
			for e, got := range z {
				i, j := e/n, e%n
				if want := d.DotCodes(x[i*k:(i+1)*k], y[j*k:(j+1)*k], c[e]); got != want {
					t.Fatalf("%s, %d × %d, k = %d: element (%d, %d) is %#x, want %#x", d.Name, m, n, k, i, j, got, want)
				}
			}
		}
	}
}

func TestGridCodesPanics(t *testing.T) {
	one, two := make([]uint64, 1), make([]uint64, 2)
	for want, f := range map[string]func(){
		"tcore: GridCodes: k = 0, want at least 1":                                           func() { AMXBF16.GridCodes(0, one, one, one, one) },
		"tcore: GridCodes: x has 1 elements, want 0":                                         func() { AMXBF16.GridCodes(2, one, two, nil, nil) },
		"tcore: GridCodes: z has 1 elements, want 2":                                         func() { AMXBF16.GridCodes(1, two, one, two, one) },
		"tcore: GridCodes: " + BlackwellMXE4M3.Name + " takes scales, want a device without": func() { BlackwellMXE4M3.GridCodes(1, one, one, one, one) },
	} {
		panics.Want(t, want, f)
	}
	AMXBF16.GridCodes(1, nil, nil, nil, nil)
}

// Two vectors x and two y have four dot products.
func ExampleDevice_GridCodes() {
	one, two := uint64(0x3f80), uint64(0x4000) // of bfloat16
	z := make([]uint64, 4)
	AMXBF16.GridCodes(2, []uint64{one, one, two, two}, []uint64{one, one, one, two}, make([]uint64, 4), z)
	for _, code := range z {
		fmt.Print(Binary32.Decode(code), " ")
	}
	// Output: 2 3 4 6
}
