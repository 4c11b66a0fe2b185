package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// groupDevices returns the devices that sum groups.
func groupDevices() []Device {
	var list []Device
	for _, d := range Devices() {
		if core, ok := d.Core.(Fused); ok && core.Group > 0 {
			list = append(list, d)
		}
	}
	return list
}

// groupCodes returns rows × cols codes with scales of a kind that tells which
// path is taken.
func groupCodes(rng *rand.Rand, d Device, rows, cols int, kind string, vertical bool) Codes {
	if kind == "quiet" || kind == "outliers" {
		return normalCodes(rng, d, d.A, rows, cols, kind == "outliers", vertical)
	}
	m := randomCodes(rng, d, d.A, rows, cols, 0, vertical)
	scale := func() float64 { return exp2(rng.IntN(4)) * (1 + float64(rng.IntN(8))/8) }
	switch kind {
	case "spread": // about as far apart as nothing is cut off
		scale = func() float64 { return exp2(rng.IntN(15) - 6) }
	case "wide": // something is cut off
		scale = func() float64 { return exp2(40*rng.IntN(2) - 20 + rng.IntN(4)) }
	case "tiny": // results are subnormal
		scale = func() float64 { return exp2(rng.IntN(8) - 77) }
	case "huge": // results overflow
		scale = func() float64 { return exp2(rng.IntN(8) + 56) }
	}
	for i := range m.Scales {
		m.Scales[i] = uint8(d.Scale.Encode(scale(), ToNearestEven))
		switch {
		case kind == "any":
			m.Scales[i] = uint8(rng.IntN(256))
		case kind == "NaN" && rng.IntN(40) == 0:
			m.Scales[i] = uint8(d.Scale.Encode(math.NaN(), ToNearestEven))
		}
	}
	if kind == "zeros" { // blocks of zeros, with any scales, and scales of 0
		for i := range m.Data {
			at := i / cols
			if vertical {
				at = i % cols
			}
			if at%3 == 0 || rng.IntN(2) == 0 {
				m.Data[i] &= 8
			}
		}
		for i := range m.Scales {
			at := i / (len(m.Scales) / rows)
			if vertical {
				at = i % cols
			}
			if at%3 == 0 {
				m.Scales[i] = uint8(rng.IntN(127) * rng.IntN(2))
			}
		}
	}
	return m
}

// groupStart returns a C of a kind.
func groupStart(rng *rand.Rand, rows, cols int, kind string) blas32.General {
	if kind == "none" {
		return blas32.General{}
	}
	c := blas32.General{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float32, rows*(cols+3))}
	for i := range c.Data {
		x := float64(rng.IntN(4001) - 2000)
		switch kind {
		case "fractions":
			x = rng.NormFloat64()
		case "large":
			x = math.Ldexp(x, 8+rng.IntN(30))
		case "specials":
			if rng.IntN(40) == 0 {
				x = [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat32, 0x1p-149, -0x1p-127}[rng.IntN(7)]
			}
		}
		c.Data[i] = float32(x)
	}
	return c
}

// checkCodes compares a product of codes with DotScaled, at every level of
// features. It returns what each level computed on each path.
func checkCodes(t *testing.T, d Device, a, b Codes, c blas32.General) (taken []map[*path]int64) {
	t.Helper()
	want := map[[2]int]float64{} // once for all levels
	dot := func(i, j int, start float64) float64 {
		at := [2]int{i, j}
		if _, ok := want[at]; !ok {
			want[at] = d.dotOfCodes(a, b, i, j, start)
		}
		return want[at]
	}
	for _, level := range features.Levels() {
		z := blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols + 1, Data: make([]float32, a.Rows*(b.Cols+1))}
		for i := range z.Data {
			z.Data[i] = 99
		}
		with(level, func() {
			taken = append(taken, counted(func() { d.MultiplyAddCodes(a, b, c, z) }))
			compareSums(t, d, a.Cols, c, z, everyNth(z, 1), dot)
		})
		for i := range a.Rows {
			if got := z.Data[i*z.Stride+b.Cols]; got != 99 {
				t.Fatalf("%s, %v: row %d is written beyond its end: %v", d.Name, level, i, got)
			}
		}
	}
	return taken
}

// Products with groups agree with DotScaled for scales and C of all kinds, in
// shapes around the sizes of tiles, and take the paths that these are for.
func TestGroupProduct(t *testing.T) {
	shapes := []shape{{1, 1, 1}, {4, 64, 32}, {3, 65, 33}, {9, 200, 31}, {5, 640, 40}, {8, 1030, 16}, {1, 129, 70}, {70, 33, 1}}
	if testing.Short() {
		shapes = shapes[:5]
	}
	levels := features.Levels()
	took := make([]map[*path]bool, len(levels))
	for l := range took {
		took[l] = map[*path]bool{}
	}
	check := func(d Device, a, b Codes, c blas32.General) []map[*path]int64 {
		taken := checkCodes(t, d, a, b, c)
		for l := range taken {
			for p, n := range taken[l] {
				took[l][p] = took[l][p] || n > 0
			}
		}
		return taken
	}
	for _, d := range groupDevices() {
		rng := rand.New(rand.NewPCG(71, uint64(d.ScaleBlock)))
		for _, kind := range []string{"quiet", "outliers", "near", "spread", "wide", "tiny", "huge", "zeros", "NaN", "any"} {
			for i, start := range []string{"none", "integers", "fractions", "large", "specials"} {
				s := shapes[rng.IntN(len(shapes))]
				a := groupCodes(rng, d, s.m, s.k, kind, false)
				b := groupCodes(rng, d, s.k, s.n, [...]string{kind, "near"}[i/4], true)
				check(d, a, b, groupStart(rng, s.m, s.n, start))
			}
		}
		for _, s := range shapes {
			a, b := groupCodes(rng, d, s.m, s.k, "quiet", false), groupCodes(rng, d, s.k, s.n, "quiet", true)
			for l, taken := range check(d, a, b, blas32.General{}) {
				if levels[l].Bits > 0 && (taken[groupPath] == 0 || taken[groupWidePath] >= taken[groupPath] || taken[groupScalarPath] > 0) {
					t.Errorf("%s, %v: %v is not computed by vectors", d.Name, levels[l], s)
				}
			}
		}
		a, b := groupCodes(rng, d, 6, 100, "near", false), groupCodes(rng, d, 100, 37, "near", true)
		a.Scales = nil
		check(d, a, b, blas32.General{})
		b.Scales = nil
		check(d, a, b, blas32.General{})
	}
	for l, level := range levels {
		for _, p := range []*path{groupPath, groupWidePath, groupCutPath, groupScalarPath} {
			if took[l][p] != (level.Bits > 0) {
				t.Errorf("%v: path %q is taken: %v", level, p.name, took[l][p])
			}
		}
	}
}

// The vector routine encodes numbers as Format.Encode does: all at which
// rounding changes, of both signs, and NaNs.
func TestEncodePairs(t *testing.T) {
	src := make([]float32, 0, 1<<12)
	for _, x := range around(E2M1, 1) {
		for _, e := range []int{0, -20, 20} {
			src = append(src, float32(math.Ldexp(x, e)))
		}
	}
	rng := rand.New(rand.NewPCG(73, 0))
	for range 2000 {
		src = append(src, math.Float32frombits(rng.Uint32()), float32(3*rng.NormFloat64()))
	}
	src = append(src, make([]float32, 7)...)
	onEveryLevel(t, func(t *testing.T) {
		d := BlackwellNVF4
		kernel, ok := d.groupKernel()
		if !ok {
			return
		}
		x := filled(1, len(src), src...)
		m := newEncoding(x)
		parallel.Loops(d.encodeMatrix(m, kernel, E2M1, x))
		for i, x := range src {
			if want := uint8(E2M1.Encode(float64(x), ToNearestEven)); m.Data[i] != want {
				t.Errorf("the code of %x is %x, want %x", x, m.Data[i], want)
			}
		}
	})
}

// MultiplyAdd on these devices agrees with Dot, for all data.
func TestOnesProduct(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range groupDevices() {
			rng := rand.New(rand.NewPCG(79, 0))
			for _, s := range []shape{{1, 1, 1}, {5, 70, 33}, {9, 260, 40}} {
				for _, c := range []blas32.General{{}, groupStart(rng, s.m, s.n, "fractions"), groupStart(rng, s.m, s.n, "specials")} {
					a, b := anyData(s.m, s.k, rng, true), anyData(s.k, s.n, rng, true)
					z := zeros(s.m, s.n)
					n := counted(func() { d.MultiplyAdd(a, b, c, z) })
					compareElements(t, d, a, b, c, z, everyNth(z, 1))
					if features.Bits > 0 && c.Data == nil && n[groupPath] == 0 {
						t.Errorf("%s: %v is not computed by vectors", d.Name, s)
					}
				}
			}
		}
	})
}

// FuzzGroups compares products of any codes and scales with DotScaled, at every
// level. The data are repeated as often as codes are wanted.
func FuzzGroups(f *testing.F) {
	f.Add(uint8(0), uint8(3), uint8(5), uint8(70), uint8(40), []byte{1, 2, 3, 0xf, 7}, []byte{127, 120, 130}, []byte{0x3f, 0x80, 0, 0})
	f.Add(uint8(2), uint8(0), uint8(8), uint8(200), uint8(3), []byte{8, 0, 0, 9}, []byte{0x38, 1, 0x7e}, []byte{})
	f.Add(uint8(1), uint8(255), uint8(1), uint8(64), uint8(33), []byte{5, 4, 0xc}, []byte{0, 255, 254}, []byte{0x7f, 0x80, 0, 0})
	devices := groupDevices()
	f.Fuzz(func(t *testing.T, which, width, m, k, n uint8, codes, scales, start []byte) {
		d := devices[int(which)%len(devices)]
		if m == 0 || k == 0 || n == 0 || len(codes) == 0 {
			return
		}
		m, n = (m-1)%9+1, (n-1)%40+1
		fill := func(count int, data []byte, shift int, of func(byte) byte) []uint8 {
			z := make([]uint8, count)
			for i := range z {
				if len(data) > 0 {
					z[i] = of(data[(i+i/len(data)*shift)%len(data)])
				}
			}
			return z
		}
		code := func(x byte) byte { return x & 15 }
		one := byte(d.Scale.Encode(1, ToNearestEven))
		scale := func(x byte) byte { return one + byte(int8(x)%int8(max(1, width/2))) }
		if width == 255 {
			scale = func(x byte) byte { return x }
		}
		blocks := (int(k) + d.ScaleBlock - 1) / d.ScaleBlock
		a := Codes{Rows: int(m), Cols: int(k), Data: fill(int(m)*int(k), codes, 1, code), Scales: fill(int(m)*blocks, scales, 1, scale)}
		b := Codes{Rows: int(k), Cols: int(n), Data: fill(int(k)*int(n), codes, 3, code), Scales: fill(int(n)*blocks, scales, 2, scale)}
		c := blas32.General{}
		if len(start) > 3 {
			c = zeros(int(m), int(n))
			for i := range c.Data {
				at := i * 4 % (len(start) - 3)
				c.Data[i] = math.Float32frombits(uint32(start[at])<<24 | uint32(start[at+1])<<16 | uint32(start[at+2])<<8 | uint32(start[at+3]))
			}
		}
		checkCodes(t, d, a, b, c)
	})
}

// The least term counts or is cut off where it lies just within or just beyond
// reach of terms, or of a sum, that cancel.
func TestGroupReach(t *testing.T) {
	for _, d := range groupDevices() {
		f := d.Core.(Fused)
		reach := f.FractionBits - 2*(d.Scale.Precision-1) - 2
		for far := reach - 11; far <= reach+4; far++ {
			if far > 2*(d.Scale.Emax-d.Scale.Emin) {
				continue
			}
			for _, sum := range []int{1, 16} { // products in the large terms
				// Two blocks: in the first a term, or terms that cancel and the least one, in
				// the second the rest.
				const k = 128
				a, b := Codes{Rows: 1, Cols: k, Data: make([]uint8, k), Scales: make([]uint8, k/d.ScaleBlock)}, Codes{Rows: k, Cols: 1, Data: make([]uint8, k), Scales: make([]uint8, k/d.ScaleBlock)}
				code := func(x float64) uint8 { return uint8(E2M1.Encode(x, ToNearestEven)) }
				scale := func(e int) uint8 {
					return uint8(d.Scale.Encode(exp2(e)*(2-exp2(1-d.Scale.Precision)), ToZero))
				}
				half := far / 2
				low, high := max(-far/4-1, d.Scale.Emin), 0
				for g := range a.Scales {
					high = min(low+half, d.Scale.Emax)
					a.Scales[g], b.Scales[g] = scale(high), scale(2*low+far-high)
				}
				least := k - 1
				a.Scales[least/d.ScaleBlock], b.Scales[least/d.ScaleBlock] = scale(low), scale(low)
				second := 16 // within the block, or in the next one
				if sum > 1 {
					second = 64
				}
				for l := range sum {
					a.Data[l], b.Data[l] = code(4), code(4)
					a.Data[second+l], b.Data[second+l] = code(-4), code(4)
				}
				at := 48 + 64*(second/64)
				a.Data[at], b.Data[at] = code(0.5), code(0.5)
				a.Scales[at/d.ScaleBlock], b.Scales[at/d.ScaleBlock] = scale(low), scale(low)
				checkCodes(t, d, a, b, blas32.General{})
			}
		}
	}
}

// A group with a scale of zero has no exponent: C is not cut off because of it,
// though other rows of its tile are cut.
func TestGroupScaleOfZero(t *testing.T) {
	for _, d := range groupDevices() {
		if d.Scale.Encode(0, ToNearestEven) != 0 || d.Scale.Decode(0) != 0 {
			continue // a format without zero
		}
		code := func(x float64) uint8 { return uint8(E2M1.Encode(x, ToNearestEven)) }
		scale := func(x float64) uint8 { return uint8(d.Scale.Encode(x, ToNearestEven)) }
		const k, columns = 64, 16
		a := Codes{Rows: 2, Cols: k, Data: make([]uint8, 2*k), Scales: make([]uint8, 2*k/d.ScaleBlock)}
		b := Codes{Rows: k, Cols: columns, Data: make([]uint8, k*columns), Scales: make([]uint8, k/d.ScaleBlock*columns)}
		for g := range k / d.ScaleBlock { // in row 0 the scale is 0, or the factors of B are
			a.Scales[g], a.Scales[k/d.ScaleBlock+g] = scale(256), scale(256)
			if g%2 == 0 {
				a.Scales[g] = 0
			}
			for j := range columns {
				b.Scales[g*columns+j] = scale(256)
			}
		}
		a.Scales[len(a.Scales)-1] = scale(0x1p-9) // of row 1, whose last terms are cut off
		for l := range k {
			a.Data[l], a.Data[k+l] = code(6), code(6)
			for j := range columns {
				switch {
				case l/d.ScaleBlock%2 == 0:
					b.Data[l*columns+j] = code(6)
				case l == k-1:
					b.Data[l*columns+j] = code(0.5)
					a.Data[l] = 0
				}
			}
		}
		c := zeros(2, columns)
		for i := range c.Data {
			c.Data[i] = 1 + 0x1p-23
		}
		for l, taken := range checkCodes(t, d, a, b, c) {
			if level := features.Levels()[l]; level.Bits > 0 && taken[groupCutPath] == 0 {
				t.Errorf("%s, %v: nothing is cut", d.Name, level)
			}
		}
	}
}
