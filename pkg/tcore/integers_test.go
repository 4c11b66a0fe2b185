package tcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// integerKind is a kind of data, which vector stores in x.
type integerKind struct {
	name   string
	vector func(x []float64, f Format, rng *rand.Rand)
}

// integerData are kinds of data for products of integers: numbers for a row of
// A or a column of B, the i-th of them, of K terms.
var integerData = []integerKind{
	{"normal", func(x []float64, _ Format, rng *rand.Rand) {
		for k := range x {
			x[k] = rng.NormFloat64()
		}
	}},
	{"amax", func(x []float64, f Format, rng *rand.Rand) {
		for k := range x {
			x[k] = min(max(rng.NormFloat64()*f.Max()/4, -f.Max()), f.Max())
		}
	}},
	{"outliers", func(x []float64, f Format, rng *rand.Rand) {
		for k := range x {
			x[k] = rng.NormFloat64()
			if rng.IntN(1000) == 0 {
				x[k] *= f.Max() / 8
			}
		}
	}},
	{"positive", func(x []float64, f Format, rng *rand.Rand) { // c grows
		e := rng.IntN(4)
		for k := range x {
			x[k] = math.Ldexp(1+rng.Float64(), e)
			if rng.IntN(64) == 0 {
				x[k] = math.Ldexp(f.MinSubnormal(), rng.IntN(4))
			}
		}
	}},
	{"steps", func(x []float64, f Format, rng *rand.Rand) { // exponents at their distance where bits are cut
		e, span := rng.IntN(f.Emax+4)-4, 8+rng.IntN(8)
		for k := range x {
			x[k] = math.Ldexp(float64(1-2*rng.IntN(2)), e)
			if rng.IntN(20) == 0 {
				x[k] = math.Ldexp(1+rng.Float64(), e-span+f.Precision-1)
			}
		}
	}},
	{"falling", func(x []float64, f Format, rng *rand.Rand) { // great sums first, small products later
		for k := range x {
			e := float64(f.Emax) + float64(k)/float64(len(x))*float64(f.minQuantum()-f.Emax)
			x[k] = math.Ldexp(rng.Float64(), int(e))
		}
	}},
	{"rising", func(x []float64, f Format, rng *rand.Rand) { // a great c that products cancel, with small products before
		e := rng.IntN(f.Emax + 1)
		for k := range x {
			x[k] = math.Ldexp(1, e)
			if k < 32 {
				x[k] = f.MinSubnormal() * float64(rng.IntN(9)-4)
			} else if rng.IntN(3) > 0 {
				x[k] = -x[k]
			}
		}
	}},
	{"heavy", func(x []float64, f Format, rng *rand.Rand) { // odd sums beyond 2^24 units
		for k := range x {
			x[k] = (1 + rng.Float64()) * exp2(4)
			if k%32 == 7 {
				x[k] = (2 - exp2(1-f.Precision)) * exp2(4-9+rng.IntN(2)+f.Precision-1)
			}
		}
	}},
	{"bytes", func(x []float64, f Format, rng *rand.Rand) { // integers around the greatest of a byte
		span := 14 + 16*(rng.IntN(20)/19)
		for k := range x {
			x[k] = f.MinSubnormal() * float64(105+rng.IntN(span))
			if k%50 == 3 {
				x[k] = f.MinSubnormal() * float64(1+2*rng.IntN(3))
			}
		}
	}},
	{"beyond", func(x []float64, f Format, rng *rand.Rand) { // numbers that become infinities or NaNs
		for k := range x {
			x[k] = f.Max() * (0.3 + 0.7*rng.Float64())
			if rng.IntN(200) == 0 {
				x[k] = f.Max() * 1.08
			}
		}
	}},
	{"zeros", func(x []float64, f Format, rng *rand.Rand) {
		for k := range x {
			x[k] = math.Copysign(0, float64(1-2*rng.IntN(2)))
			if k/40%2 == 1 && rng.IntN(3) == 0 {
				x[k] = f.MinSubnormal() * float64(rng.IntN(9)-4)
			}
		}
	}},
	{"awkward", func(x []float64, f Format, rng *rand.Rand) {
		for k := range x {
			x[k] = awkward(f, rng)
		}
	}},
}

// integerMatrix returns rows × cols numbers of binary32, not yet rounded to f,
// of one kind, or of any kind for each vector: a column if vertical, a row if
// not.
func integerMatrix(rng *rand.Rand, rows, cols int, f Format, kind int, vertical bool) blas32.General {
	m := zeros(rows, cols)
	n, k := rows, cols
	if vertical {
		n, k = k, n
	}
	x := make([]float64, k)
	for i := range n {
		which := kind
		if kind == len(integerData) {
			which = rng.IntN(kind)
		}
		integerData[which].vector(x, f, rng)
		if kind == len(integerData) && rng.IntN(40) == 0 {
			x[rng.IntN(k)] = [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), f.Max() * 2, -1e30}[rng.IntN(5)]
		}
		for l, v := range x {
			if vertical {
				m.Data[l*cols+i] = float32(v)
			} else {
				m.Data[i*cols+l] = float32(v)
			}
		}
	}
	return m
}

// integerStart returns c of one of several kinds: none, small multiples of the
// units, any numbers, great numbers, zeros with a NaN, numbers with one last
// bit.
func integerStart(rng *rand.Rand, d Device, rows, cols, kind int) blas32.General {
	c, last := zeros(rows, cols), -12-rng.IntN(16)
	for i := range c.Data {
		v := 0.0
		switch kind {
		case 0:
			return blas32.General{}
		case 1:
			v = math.Ldexp(float64(rng.IntN(1<<12)-1<<11), d.A.Emin+d.B.Emin+4)
		case 2:
			v = rng.NormFloat64()
		case 3:
			v = math.Ldexp(1+math.Trunc(8*rng.Float64())/8, rng.IntN(40)-10)
		case 4:
			if rng.IntN(500) == 0 {
				v = [...]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}[rng.IntN(3)]
			}
		case 5:
			v = math.Ldexp(float64(2*rng.IntN(8)+1), last)
		}
		c.Data[i] = float32(v)
	}
	return c
}

// integerDevices returns the devices of the catalogue that compute by integers,
// and some with factors of two formats.
func integerDevices() []Device {
	var devices []Device
	for _, d := range Devices() {
		if _, ok := d.integerCore(); ok {
			devices = append(devices, d)
		}
	}
	for _, f := range [][2]Format{{E4M3, E5M2}, {E2M1, E4M3}, {E3M2, E2M3}, {E2M3, E2M1}} {
		d := BlackwellE5M2
		d.Name = fmt.Sprintf("%s × %s", f[0].Name, f[1].Name)
		d.A, d.B = f[0], f[1]
		devices = append(devices, d)
	}
	return devices
}

// Products by integers are the sums of Dot, for data for which nothing is cut,
// for data for which it nearly is or is, and for both in one tile.
func TestIntegerProducts(t *testing.T) {
	trials := 3
	if testing.Short() {
		trials = 1
	}
	shapes := []shape{{1, 1, 1}, {1, 64, 1}, {2, 97, 3}, {2, 1500, 3}, {13, 97, 33}, {12, 320, 32}, {25, 600, 70}, {3, 31, 100}, {30, 64, 5}}
	onEveryLevel(t, func(t *testing.T) {
		if _, ok := integerKernelFor(); !ok {
			return
		}
		rng := rand.New(rand.NewPCG(51, uint64(features.Bits)))
		for _, d := range integerDevices() {
			for trial := range trials * (len(integerData) + 1) {
				kind := trial % (len(integerData) + 1)
				s := shapes[rng.IntN(len(shapes))]
				other := kind
				if rng.IntN(4) == 0 {
					other = rng.IntN(len(integerData) + 1)
				}
				a, b := integerMatrix(rng, s.m, s.k, d.A, kind, false), integerMatrix(rng, s.k, s.n, d.B, other, true)
				c, z := integerStart(rng, d, s.m, s.n, rng.IntN(6)), zeros(s.m, s.n)
				if c.Data != nil && rng.IntN(2) == 0 {
					copy(z.Data, c.Data) // c and z are one matrix
					d.MultiplyAdd(a, b, z, z)
				} else {
					d.MultiplyAdd(a, b, c, z)
				}
				compareElements(t, d, a, b, c, z, ofEachRow(rng, z, 6))
			}
		}
	})
}

// FuzzIntegers compares products by integers, of numbers and of codes, with
// Dot. The data are the shape and the codes of the factors, repeated, the
// scales and c.
func FuzzIntegers(f *testing.F) {
	rng := rand.New(rand.NewPCG(55, 0))
	for i := range integerDevices() {
		data := make([]byte, 300)
		for l := range data {
			data[l] = byte(rng.IntN(256))
		}
		f.Add(uint8(i), uint8(i), uint8(2), uint8(3), float32(0), data[:1+rng.IntN(300)])
	}
	f.Fuzz(func(t *testing.T, which, k, m, n uint8, start float32, data []byte) {
		if len(data) == 0 {
			return
		}
		devices := integerDevices()
		d := devices[int(which)%len(devices)]
		s := shape{1 + int(m)%14, 1 + int(k)%130, 1 + int(n)%34}
		at := 0
		next := func() uint8 {
			at++
			return data[(at-1)%len(data)] + byte((at-1)/len(data))*37
		}
		codes := func(rows, cols, scales int, f Format) (z Codes, x blas32.General) {
			z, x = Codes{Rows: rows, Cols: cols}, zeros(rows, cols)
			for i := range x.Data {
				code := next() >> (8 - f.Bits())
				z.Data = append(z.Data, code)
				x.Data[i] = float32(f.Decode(uint64(code)))
			}
			for range scales {
				z.Scales = append(z.Scales, 120+next()%16)
			}
			return z, x
		}
		blocks := 0
		if d.ScaleBlock > 0 {
			blocks = (s.k + d.ScaleBlock - 1) / d.ScaleBlock
		}
		a, x := codes(s.m, s.k, s.m*blocks, d.A)
		b, y := codes(s.k, s.n, s.n*blocks, d.B)
		c, z := blas32.General{}, zeros(s.m, s.n)
		if start != 0 {
			c = zeros(s.m, s.n)
			for i := range c.Data {
				c.Data[i] = start * float32(i%3)
			}
		}
		ends := where(z, func(i, _ int) bool { return i == 0 || i == s.m-1 })
		d.MultiplyAdd(x, y, c, z)
		compareElements(t, d, x, y, c, z, ends)
		d.MultiplyAddCodes(a, b, c, z)
		compareCodes(t, d, a, b, c, z, ends)
	})
}

// Kind data take the paths of integers, and only they do.
func TestIntegerPaths(t *testing.T) {
	s := shape{40, 256, 70}
	total := int64(s.m * s.k * s.n)
	named := map[string]Device{}
	for _, d := range integerDevices() {
		named[d.Name] = d
	}
	for _, test := range []struct {
		device       string
		kind         int
		c            int
		sums, blocks int64 // on integerSumPath, integerBlocksPath
	}{
		{"blackwell-tcgen05-e2m1-binary32", 0, 0, total, 0},
		{"blackwell-tcgen05-e2m3-binary32", 1, 0, total, 0},
		{"blackwell-tcgen05-e3m2-binary32", 0, 0, total, 0},
		{"blackwell-tcgen05-e3m2-binary32", 1, 0, 0, total},
		{"blackwell-tcgen05-e2m3-binary32", 1, 1, 0, total},
		{"blackwell-tcgen05-e4m3-binary32", 0, 0, 0, total},
		{"blackwell-tcgen05-e4m3-binary32", 0, 1, 0, total},
		{"blackwell-tcgen05-e4m3-binary32", 0, 2, 0, 0},
	} {
		onEveryLevel(t, func(t *testing.T) {
			if _, ok := integerKernelFor(); !ok {
				return
			}
			d, ok := named[test.device]
			if !ok {
				t.Fatalf("no device %s", test.device)
			}
			rng := rand.New(rand.NewPCG(52, 0))
			a, b := integerMatrix(rng, s.m, s.k, d.A, test.kind, false), integerMatrix(rng, s.k, s.n, d.B, test.kind, true)
			c := integerStart(rng, d, s.m, s.n, test.c)
			n := counted(func() { d.MultiplyAdd(a, b, c, zeros(s.m, s.n)) })
			if n[integerSumPath] != test.sums || n[integerBlocksPath] != test.blocks {
				t.Errorf("%s, %s, c %d: %d multiply-adds by sums and %d by blocks of integers, want %d and %d",
					d.Name, integerData[test.kind].name, test.c, n[integerSumPath], n[integerBlocksPath], test.sums, test.blocks)
			}
		})
	}
}

// Products of codes by integers, scaled or not, are the sums of DotScaled.
func TestIntegerCodes(t *testing.T) {
	trials := 3
	if testing.Short() {
		trials = 1
	}
	shapes := []shape{{1, 64, 1}, {13, 97, 33}, {12, 160, 32}, {3, 31, 100}}
	onEveryLevel(t, func(t *testing.T) {
		if _, ok := integerKernelFor(); !ok {
			return
		}
		rng := rand.New(rand.NewPCG(53, uint64(features.Bits)))
		for _, d := range integerDevices() {
			for trial := range trials * (len(integerData) + 1) {
				kind := trial % (len(integerData) + 1)
				s := shapes[rng.IntN(len(shapes))]
				blocks := 0
				if d.ScaleBlock > 0 {
					blocks = (s.k + d.ScaleBlock - 1) / d.ScaleBlock
				}
				scale := rng.IntN(8)
				scaleB := min(scale, 5)
				if scale > 5 { // small scales beside great ones, and zeros beside very great ones
					scaleB = scale + 1
				}
				a := scaledCodes(rng, integerMatrix(rng, s.m, s.k, d.A, kind, false), d.A, s.m*blocks, scale)
				b := scaledCodes(rng, integerMatrix(rng, s.k, s.n, d.B, kind, true), d.B, s.n*blocks, scaleB)
				if scale == 7 {
					clear(a.Data)
				}
				c, z := integerStart(rng, d, s.m, s.n, rng.IntN(6)), zeros(s.m, s.n)
				d.MultiplyAddCodes(a, b, c, z)
				compareCodes(t, d, a, b, c, z, ofEachRow(rng, z, 4))
			}
		}
	})
}

// Codes with kind scales take the path of integers.
func TestIntegerCodesPath(t *testing.T) {
	s := shape{40, 256, 70}
	onEveryLevel(t, func(t *testing.T) {
		if _, ok := integerKernelFor(); !ok {
			return
		}
		for _, d := range integerDevices() {
			if d.ScaleBlock == 0 || d.A.Emax-d.A.Emin > 4 { // those of more bits have too many exponents
				continue
			}
			rng := rand.New(rand.NewPCG(54, 0))
			a := scaledCodes(rng, integerMatrix(rng, s.m, s.k, d.A, 1, false), d.A, s.m*s.k/d.ScaleBlock, 1)
			b := scaledCodes(rng, integerMatrix(rng, s.k, s.n, d.B, 1, true), d.B, s.n*s.k/d.ScaleBlock, 1)
			n := counted(func() { d.MultiplyAddCodes(a, b, blas32.General{}, zeros(s.m, s.n)) })
			if got := n[integerBlocksPath]; got != int64(s.m*s.k*s.n) {
				t.Errorf("%s: %d multiply-adds by blocks of integers, want all of %v", d.Name, got, s)
			}
		}
	})
}

// Integers around the greatest of a byte, and sums around 2^24, which only some
// of the paths may take, are the sums of Dot.
func TestIntegerSumLimits(t *testing.T) {
	kind := slices.IndexFunc(integerData, func(d integerKind) bool { return d.name == "bytes" })
	d := BlackwellE5M2
	d.Name, d.A, d.B = "e3m2", E3M2, E3M2
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(56, 0))
		for trial := range 24 {
			s := shape{2, [...]int{256, 1500}[trial%2], 3}
			other := [...]int{kind, 0, kind}[trial%3]
			a, b, z := integerMatrix(rng, s.m, s.k, d.A, kind, false), integerMatrix(rng, s.k, s.n, d.B, other, true), zeros(s.m, s.n)
			if trial%3 == 2 { // a number beyond a byte in B alone
				b.Data[0] = 10
			}
			d.MultiplyAdd(a, b, blas32.General{}, z)
			compareElements(t, d, a, b, blas32.General{}, z, everyNth(z, 1))
		}
	})
}

// Blocks whose sum is just below and just beyond 2^31 units, and sums of which
// a block just leaves and just cuts off the last bit, are those of Dot.
func TestIntegerBlockLimits(t *testing.T) {
	const large, other, k = 448, 240, 2 * integerTerms
	list := integerDevices()
	d := list[slices.IndexFunc(list, func(d Device) bool { return d.Name == "blackwell-tcgen05-e4m3-binary32" })]
	onEveryLevel(t, func(t *testing.T) {
		_, vectors := integerKernelFor()
		n := int64(0)
		for ea := -6; ea <= 2; ea++ {
			for eb := -6; eb <= 2; eb++ {
				low, high := float32(1.125*exp2(ea)), float32(1.125*exp2(eb))
				sum, x := zeros(1, integerTerms), zeros(integerTerms, 1)
				for l := range integerTerms {
					sum.Data[l], x.Data[l] = large, other
				}
				sum.Data[0], x.Data[1] = low, high
				cut, y := zeros(1, k), zeros(k, 1)
				cut.Data[0], y.Data[0] = low, high
				cut.Data[integerTerms], cut.Data[k-1] = large, -large
				y.Data[integerTerms], y.Data[k-1] = other, other
				for _, factors := range [][2]blas32.General{{sum, x}, {cut, y}} {
					a, b, z := factors[0], factors[1], zeros(1, 1)
					n += counted(func() { d.MultiplyAdd(a, b, blas32.General{}, z) })[integerBlocksPath]
					compareElements(t, d, a, b, blas32.General{}, z, everyNth(z, 1))
				}
			}
		}
		if vectors && n < 10*k {
			t.Errorf("%d multiply-adds by blocks of integers", n)
		}
	})
}
