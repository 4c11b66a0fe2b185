package tcore

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// randomCodes returns rows × cols codes of a device's factor of format f, of a
// kind of randomVector, with scales along the columns if vertical, along the
// rows if not.
func randomCodes(rng *rand.Rand, d Device, f Format, rows, cols, kind int, vertical bool) Codes {
	m := Codes{Rows: rows, Cols: cols}
	for range rows * cols {
		if code := randomCode(rng, f, kind); f.Bits() > 8 {
			m.Data16 = append(m.Data16, uint16(code))
		} else {
			m.Data = append(m.Data, uint8(code))
		}
	}
	if d.ScaleBlock > 0 {
		n := rows * ((cols + d.ScaleBlock - 1) / d.ScaleBlock)
		if vertical {
			n = cols * ((rows + d.ScaleBlock - 1) / d.ScaleBlock)
		}
		for range n {
			m.Scales = append(m.Scales, uint8(randomScale(rng, d.Scale, kind)))
		}
	}
	return m
}

// normalBlocks returns rows × cols numbers of N(0, 1). If outliers, one block
// in 20 is up to 64 times as large: of a column if vertical, of a row if not.
func normalBlocks(rng *rand.Rand, rows, cols, block int, outliers, vertical bool) blas32.General {
	if vertical {
		return matrix.Transpose(normalBlocks(rng, cols, rows, block, outliers, false))
	}
	m := zeros(rows, cols)
	for i := range rows {
		for part := range slices.Chunk(matrix.Row(m, i), block) {
			size := 1.0
			if outliers && rng.IntN(20) == 0 {
				size = exp2(rng.IntN(7))
			}
			for l := range part {
				part[l] = float32(size * rng.NormFloat64())
			}
		}
	}
	return m
}

// blockScaled returns x as codes of f with a scale of d for every block of a
// row, or of a column if vertical: the greatest magnitude of the block divided
// by top, rounded up or, of e8m0, a power of two at most twice as small. With
// the greatest power of two of f for top, those of e8m0 are the scales of the
// OCP Microscaling Formats Specification.
func blockScaled(d Device, x blas32.General, f Format, top float64, vertical bool) Codes {
	m := Codes{Rows: x.Rows, Cols: x.Cols, Data: make([]uint8, len(x.Data))}
	n, k := x.Rows, x.Cols
	if vertical {
		n, k = k, n
	}
	blocks := (k + d.ScaleBlock - 1) / d.ScaleBlock
	m.Scales = make([]uint8, n*blocks)
	at := func(i, l, k int) int { // in a matrix of vectors of k elements
		if vertical {
			return l*n + i
		}
		return i*k + l
	}
	mode := ToPositive
	if d.Scale.Equal(E8M0) {
		mode = ToNegative
	}
	f.Overflow = Saturate
	for i := range n {
		for g := range blocks {
			lo, hi, most := g*d.ScaleBlock, min((g+1)*d.ScaleBlock, k), 0.0
			for l := lo; l < hi; l++ {
				most = max(most, math.Abs(float64(x.Data[at(i, l, k)])))
			}
			scale := d.Scale.Encode(most/top, mode)
			m.Scales[at(i, g, blocks)] = uint8(scale)
			for l := lo; l < hi; l++ {
				m.Data[at(i, l, k)] = uint8(f.Encode(float64(x.Data[at(i, l, k)])/d.Scale.Decode(scale), ToNearestEven))
			}
		}
	}
	return m
}

// normalCodes returns rows × cols codes of normalBlocks: the greatest number of
// a block has about the greatest code.
func normalCodes(rng *rand.Rand, d Device, f Format, rows, cols int, outliers, vertical bool) Codes {
	return blockScaled(d, normalBlocks(rng, rows, cols, d.ScaleBlock, outliers, vertical), f, f.Max(), vertical)
}

// scaledCodes returns the codes of m in f, with as many scales of e8m0 as told,
// of a kind.
func scaledCodes(rng *rand.Rand, m blas32.General, f Format, scales, kind int) Codes {
	z := Codes{Rows: m.Rows, Cols: m.Cols, Data: make([]uint8, len(m.Data))}
	for i, x := range m.Data {
		z.Data[i] = uint8(f.Encode(float64(x), ToNearestEven))
	}
	for range scales {
		e := 127
		switch kind {
		case 0: // none
			return z
		case 1: // near 1
			e += rng.IntN(5) - 2
		case 2: // of two sizes
			e += 12 * rng.IntN(2)
		case 3: // any
			e = rng.IntN(256)
		case 4: // products near the least numbers of binary32
			e = 61 - rng.IntN(2)
		case 5: // great
			e = 170 + rng.IntN(5)
		case 6: // small beside those of 7
			e = rng.IntN(5)
		case 7: // great, and very great beside zeros
			e = 127 + 60 + rng.IntN(10)
		case 8: // very great
			e = 127 + 100 + rng.IntN(10)
		}
		z.Scales = append(z.Scales, uint8(e))
	}
	return z
}

// codesOf returns vector i of m, a factor of d, and its scales, of 1 if m has
// none: a column if vertical, a row if not.
func (d Device) codesOf(m Codes, i int, vertical bool) (x, scales []uint64) {
	n, k := m.Rows, m.Cols
	if vertical {
		n, k = k, n
	}
	part := func(at func(int) uint64, k int) []uint64 {
		z := make([]uint64, k)
		for l := range z {
			if vertical {
				z[l] = at(l*n + i)
			} else {
				z[l] = at(i*k + l)
			}
		}
		return z
	}
	x = part(func(i int) uint64 {
		if m.Data == nil {
			return uint64(m.Data16[i])
		}
		return uint64(m.Data[i])
	}, k)
	if d.ScaleBlock == 0 {
		return x, nil
	}
	blocks := (k + d.ScaleBlock - 1) / d.ScaleBlock
	if len(m.Scales) == 0 {
		return x, slices.Repeat([]uint64{d.Scale.Encode(1, ToNearestEven)}, blocks)
	}
	return x, part(func(i int) uint64 { return uint64(m.Scales[i]) }, blocks)
}

// dotOfCodes returns what DotScaled does for element (i, j) of a product of
// codes, in numbers.
func (d Device) dotOfCodes(a, b Codes, i, j int, start float64) float64 {
	x, scaleX := d.codesOf(a, i, false)
	y, scaleY := d.codesOf(b, j, true)
	return d.C.Decode(d.DotScaled(x, y, scaleX, scaleY, d.C.Encode(start, ToNearestEven)))
}

// compareCodes fails unless the given elements of z = C + AB are the DotScaled
// of their rows, columns and elements of C.
func compareCodes(t *testing.T, d Device, a, b Codes, c, z blas32.General, elements iter.Seq2[int, int]) {
	t.Helper()
	compareSums(t, d, a.Cols, c, z, elements, func(i, j int, start float64) float64 { return d.dotOfCodes(a, b, i, j, start) })
}

// scaledHalves are hypothetical devices that scale blocks of numbers of more
// than 8 bits, one of them beside numbers of fewer.
func scaledHalves() []Device {
	d, e := BlackwellMXE4M3, BlackwellMXE4M3
	d.Name, d.A, d.B = "bfloat16, scaled", BFloat16, BFloat16
	e.Name, e.B = "e4m3 × binary16, scaled", Binary16
	return []Device{d, e}
}

// idealHalves are devices of the paper, one of which adds whole blocks alone.
func idealHalves() []Device {
	one := TensorCore{"one at a time", 1, MPFMA{Binary16, Binary16, Binary16, Binary16, Binary16}}
	return []Device{PaperF32.Device("paper, binary32"), PaperF16.Device("paper, binary16"), one.Device(one.Name)}
}

// A product of codes has the elements that DotScaled returns, at every level of
// features, for codes and scales of all kinds, with and without C.
func TestMultiplyAddCodes(t *testing.T) {
	trials := 10
	if testing.Short() {
		trials = 3
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range slices.Concat(Devices(), scaledHalves(), idealHalves()) {
			if d.A.Bits() > 16 {
				continue
			}
			rng := rand.New(rand.NewPCG(43, 0))
			for trial := range trials {
				s := shape{1 + rng.IntN(9), 1 + rng.IntN(200), 1 + rng.IntN(70)}
				a := randomCodes(rng, d, d.A, s.m, s.k, trial%5, false)
				b := randomCodes(rng, d, d.B, s.k, s.n, trial%5, true)
				c, z := blas32.General{}, zeros(s.m, s.n)
				if trial%2 == 1 {
					c = fusedMatrix(rng, s.m, s.n, d.C, 0.01)
				}
				switch trial % 5 {
				case 2:
					a.Scales = nil
				case 3:
					b.Scales = nil
				}
				d.MultiplyAddCodes(a, b, c, z)
				compareCodes(t, d, a, b, c, z, ofEachRow(rng, z, 8))
			}
		}
	})
}

// Operands that do not fit are refused by name and value.
func TestMultiplyAddCodesRefuses(t *testing.T) {
	nv := BlackwellNVF4
	good := func() (a, b Codes, z blas32.General) {
		return Codes{Rows: 2, Cols: 20, Data: make([]uint8, 40), Scales: make([]uint8, 4)}, Codes{Rows: 20, Cols: 3, Data: make([]uint8, 60), Scales: make([]uint8, 6)}, zeros(2, 3)
	}
	for want, spoil := range map[string]func(a, b *Codes, z *blas32.General){
		"a is 2 × 19, b is 20 × 3":             func(a, _ *Codes, _ *blas32.General) { a.Cols = 19 },
		"a is 0 × 20, want at least 1 × 1":     func(a, _ *Codes, _ *blas32.General) { a.Rows = 0 },
		"b.Data has 59 elements, want 60":      func(_, b *Codes, _ *blas32.General) { b.Data = b.Data[1:] },
		"a.Scales has 3 elements, want 4":      func(a, _ *Codes, _ *blas32.General) { a.Scales = a.Scales[1:] },
		"b.Data[7] = 0x10, want a code of 4":   func(_, b *Codes, _ *blas32.General) { b.Data[7] = 16 },
		"z is 2 × 2, want 2 × 3":               func(_, _ *Codes, z *blas32.General) { *z = zeros(2, 2) },
		"b.Scales has 5 elements, want 6":      func(_, b *Codes, _ *blas32.General) { b.Scales = b.Scales[1:] },
		"a.Data[39] = 0xff, want a code of 4 ": func(a, _ *Codes, _ *blas32.General) { a.Data[39] = 255 },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			a, b, z := good()
			spoil(&a, &b, &z)
			nv.MultiplyAddCodes(a, b, blas32.General{}, z)
		}()
	}
}

// Codes of more than 8 bits are refused where their format has none, and
// others where it has.
func TestMultiplyAddCodesRefusesOtherWidths(t *testing.T) {
	narrow, wide := Codes{Rows: 1, Cols: 1, Data: make([]uint8, 1)}, Codes{Rows: 1, Cols: 1, Data16: make([]uint16, 1)}
	both := Codes{Rows: 1, Cols: 1, Data: make([]uint8, 1), Data16: make([]uint16, 1)}
	twelve := IEEEF32
	twelve.Name, twelve.A, twelve.B = "twelve", Format{Name: "e5m6", Precision: 7, Emin: -14, Emax: 15}, E4M3
	for _, tt := range []struct {
		d    Device
		a, b Codes
		want string
	}{
		{AMXBF16, narrow, wide, "a.Data has 1 elements, want 0"},
		{AMXBF16, wide, both, "b.Data has 1 elements, want 0"},
		{AMXBF16, wide, Codes{Rows: 1, Cols: 1}, "b.Data16 has 0 elements, want 1"},
		{HopperE4M3, narrow, wide, "b.Data has 0 elements, want 1"},
		{HopperE4M3, both, narrow, "a.Data16 has 1 elements, want 0"},
		{HopperTF32, wide, wide, "tf32 of device \"" + HopperTF32.Name + "\" has codes of 19 bits, want at most 16"},
		{twelve, Codes{Rows: 1, Cols: 1, Data16: []uint16{1 << 12}}, narrow, "a.Data16[0] = 0x1000, want a code of 12 bits"},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want %q in it", got, tt.want)
				}
			}()
			tt.d.MultiplyAddCodes(tt.a, tt.b, blas32.General{}, zeros(1, 1))
		}()
	}
}

// All codes of bfloat16 and binary16 are the numbers that they are in the
// formats of the processor and of the standard.
func TestNumbersOfCodes16(t *testing.T) {
	for _, f := range []Format{BFloat16, Binary16} {
		m := Codes{Rows: 1 << 8, Cols: 1 << 8, Data16: make([]uint16, 1<<16)}
		for i := range m.Data16 {
			m.Data16[i] = uint16(i)
		}
		for i, got := range m.decode(f).Data {
			want := float64(math.Float32frombits(uint32(i) << 16))
			if f.Equal(Binary16) { // sign, 5 bits of exponent, 10 of significand
				e, n := i>>10&31, float64(i&1023)
				switch {
				case e == 0:
					want = math.Ldexp(n, -24)
				case e < 31:
					want = math.Ldexp(1024+n, e-25)
				case n == 0:
					want = math.Inf(1)
				default:
					want = math.NaN()
				}
				if i>>15 == 1 {
					want = -want
				}
			}
			if !same(float64(got), want) {
				t.Fatalf("code %#x of %s is %v, want %v", i, f.Name, got, want)
			}
		}
	}
}

// GEMMCodes has the elements of GEMM, with DotScaled for Dot, for every device
// of at most 16 bits, K split or not.
func TestGEMMCodes(t *testing.T) {
	const m, n, k = 3, 5, 200
	for _, d := range Devices() {
		if d.A.Bits() > 16 {
			continue
		}
		rng := rand.New(rand.NewPCG(47, 0))
		for _, machine := range []Machine{{Device: d}, {Device: d, SplitK: 3, Output: BFloat16}, {Device: d, SplitK: 100}} {
			a, b := randomCodes(rng, d, d.A, m, k, 2, false), randomCodes(rng, d, d.B, k, n, 2, true)
			c, z := anyData(m, n, rng, false), zeros(m, n)
			for _, beta := range []float32{0, -0.75} {
				machine.GEMMCodes(1.5, a, b, beta, c, z)
				length := machine.partLength(d.padded(k))
				for i := range m {
					x, scaleX := d.codesOf(a, i, false)
					for j := range n {
						y, scaleY := d.codesOf(b, j, true)
						sum := float32(0)
						for lo := 0; lo < k; lo += length {
							hi := min(lo+length, k)
							part := func(scales []uint64) []uint64 {
								if d.ScaleBlock == 0 {
									return nil
								}
								return scales[lo/d.ScaleBlock : (hi+d.ScaleBlock-1)/d.ScaleBlock]
							}
							s := d.C.Decode(d.DotScaled(x[lo:hi], y[lo:hi], part(scaleX), part(scaleY), 0))
							sum += float32(s)
						}
						want := float32(1.5 * sum)
						if beta != 0 {
							want += float32(beta * c.Data[i*c.Stride+j])
						}
						f := machine.Output
						if f == (Format{}) {
							f = d.C
						}
						if got := z.Data[i*n+j]; !same(float64(got), f.Round(float64(want), ToNearestEven)) {
							t.Fatalf("%s in %d parts, beta = %v: (%d, %d) = %x, want %x", d.Name, machine.SplitK, beta, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// Where software chooses the order, GEMMCodes is GEMM of the numbers.
func TestGEMMCodesInOrder(t *testing.T) {
	const m, n, k = 3, 5, 70
	d := IEEEF32
	d.A, d.B = E4M3, E4M3
	rng := rand.New(rand.NewPCG(53, 0))
	a, b := randomCodes(rng, d, d.A, m, k, 2, false), randomCodes(rng, d, d.B, k, n, 2, true)
	for _, machine := range []Machine{{Device: d, Order: InPairs}, {Device: d, SplitK: 2, Stochastic: Stochastic{Seed: 3, Bits: 9}}} {
		z, want := zeros(m, n), zeros(m, n)
		machine.GEMMCodes(2, a, b, 0, blas32.General{}, z)
		machine.GEMM(blas.NoTrans, blas.NoTrans, 2, a.decode(d.A), b.decode(d.B), 0, blas32.General{}, want)
		for i, v := range z.Data {
			if v != want.Data[i] {
				t.Errorf("element %d is %x, want %x", i, v, want.Data[i])
			}
		}
	}
}

// GEMMCodes refuses what does not fit, by name and value.
func TestGEMMCodesRefuses(t *testing.T) {
	a, b := Codes{Rows: 2, Cols: 20, Data: make([]uint8, 40), Scales: make([]uint8, 4)}, Codes{Rows: 20, Cols: 3, Data: make([]uint8, 60), Scales: make([]uint8, 6)}
	for want, call := range map[string]func(){
		"GEMMCodes: d is 2 × 2, want 2 × 3": func() { Machine{Device: BlackwellNVF4}.GEMMCodes(1, a, b, 0, blas32.General{}, zeros(2, 2)) },
		"GEMMCodes: c is 1 × 3, want 2 × 3": func() { Machine{Device: BlackwellNVF4}.GEMMCodes(1, a, b, 1, zeros(1, 3), zeros(2, 3)) },
		"GEMMCodes: SplitK = -1":            func() { Machine{Device: BlackwellNVF4, SplitK: -1}.GEMMCodes(1, a, b, 0, zeros(2, 3), zeros(2, 3)) },
		"a.Scales has 4 elements, want 0":   func() { Machine{Device: HopperE4M3}.GEMMCodes(1, a, b, 0, zeros(2, 3), zeros(2, 3)) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			call()
		}()
	}
}

// A code of too many bits is found wherever it stands, however the codes are
// divided among cores and words.
func TestFirstBeyond(t *testing.T) {
	for _, n := range []int{1, 31, 33, 1 << 14, 1<<14 + 1, 3<<14 + 5} {
		codes := make([]uint8, n)
		for i := range codes {
			codes[i] = 15
		}
		if got := firstBeyond(codes, 4); got != -1 {
			t.Errorf("%d codes: code %d has more than 4 bits", n, got)
		}
		for _, i := range []int{0, 7, 8, 31, 32, 1<<14 - 1, 1 << 14, 2<<14 - 1, n - 1} {
			if i >= n {
				continue
			}
			codes[i] = 16
			if got := firstBeyond(codes, 4); got != i {
				t.Errorf("%d codes: the first of more than 4 bits is %d, want %d", n, got, i)
			}
			if got := firstBeyond(codes, 8); got != -1 {
				t.Errorf("%d codes: code %d has more than 8 bits", n, got)
			}
			codes[i] = 15
		}
	}
}
