package tcore

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// sumsDevices returns devices of all cores whose sums are those of tiles:
// those of the catalogue, and some with other formats.
func sumsDevices() []Device {
	var list []Device
	for _, d := range Devices() {
		switch d.Core.(type) {
		case Chain, Pairwise, ExactSum, EvenOdd, OddFirst, FusedPairs, OddPairs:
			list = append(list, d)
		}
	}
	mixed := func(name string, a, b, c Format, core Core) Device {
		return Device{Name: name, A: a, B: b, C: c, Core: core}
	}
	saturating := E4M3
	saturating.Overflow = Saturate
	return append(list,
		mixed("chain of mixed factors", BFloat16, saturating, Binary32, Chain{}),
		mixed("chain of any factors", Binary64, TF32, Binary32, Chain{}),
		mixed("chain in binary64 of narrow factors", BFloat16, E5M2, Binary64, Chain{}),
		mixed("pairs of mixed factors", BFloat16, Binary16, Binary32, Pairwise{Terms: 4}),
		mixed("pairs of tf32", TF32, TF32, Binary32, Pairwise{Terms: 2}),
		mixed("exact sums of mixed factors", BFloat16, Binary16, Binary32, ExactSum{Terms: 4}),
		mixed("exact sums of tf32", TF32, TF32, Binary32, ExactSum{Terms: 2}),
		mixed("exact sums of fp8", E4M3FNUZ, E5M2, Binary32, ExactSum{Terms: 4}),
		mixed("even and odd terms of mixed factors", Binary32, E5M2, Binary32, EvenOdd{Terms: 8}),
		mixed("even and odd terms in blocks of another size", BFloat16, BFloat16, Binary32, EvenOdd{Terms: 6}),
		mixed("odd terms first of mixed factors", TF32, Binary16, Binary32, OddFirst{}))
}

// sumsMatrix returns a matrix of numbers that test the limits of sums of tiles:
// data of one distribution, with exceptional elements in the proportion rare.
func sumsMatrix(rng *rand.Rand, rows, cols int, f Format, kind int, rare float64) blas32.General {
	if kind == 0 {
		return fusedMatrix(rng, rows, cols, f, rare)
	}
	m := zeros(rows, cols)
	emin, emax := max(f.Emin, -149), min(f.Emax, 127)
	for i := range m.Data {
		x := 0.0
		switch kind {
		case 1: // near 1
			x = rng.NormFloat64()
		case 2: // a few bits: ties
			x = float64(rng.IntN(5)-2) * exp2(rng.IntN(26)-13)
		case 3: // any exponent
			x = (1 + rng.Float64()) * exp2(emin+rng.IntN(emax-emin+1))
		case 4: // products near the least normal number of binary32
			x = (1 + rng.Float64()) * exp2(max(emin-1, -64)+rng.IntN(4))
		case 5: // products near the greatest number of binary32
			x = (1 + rng.Float64()) * exp2(min(emax, 64)-rng.IntN(4))
		case 6: // zeros of both signs, and numbers that vanish
			x = f.MinSubnormal() * float64(rng.IntN(3)/2)
		}
		x = signed(math.Abs(x), rng.IntN(2) == 0)
		if rng.Float64() < rare {
			x = [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), f.Max(), -f.Max(), f.MinSubnormal(), math.Copysign(0, -1)}[rng.IntN(7)]
		}
		m.Data[i] = float32(x)
	}
	return m
}

const sumsKinds = 7

// The sums of tiles agree with Dot, for data of all kinds, in shapes around the
// sizes of tiles and blocks, with C and without.
func TestSums(t *testing.T) {
	trials := 6
	if testing.Short() {
		trials = 2
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range sumsDevices() {
			rng := rand.New(rand.NewPCG(43, 0))
			for trial := range trials * sumsKinds {
				s := shape{1 + rng.IntN(30), 1 + rng.IntN(40), 1 + rng.IntN(60)}
				switch trial % 5 {
				case 0:
					s.k = 1 + rng.IntN(300)
				case 1:
					s.n = 1 + rng.IntN(9)
				case 2:
					s.m = 1
				}
				kind, rare := trial%sumsKinds, [...]float64{0, 0, 0.001, 0.02}[rng.IntN(4)]
				if trial%5 == 3 { // one row less than whole tiles, with infinities that would spoil the next row
					s.m, s.n, rare = [...]int{5, 7, 11, 13}[rng.IntN(4)], 64, 0.02
				}
				c := blas32.General{}
				if rng.IntN(2) == 0 {
					c = sumsMatrix(rng, s.m, s.n, Binary32, rng.IntN(sumsKinds), rare)
				}
				other := kind
				if rng.IntN(4) == 0 {
					other = rng.IntN(sumsKinds)
				}
				compareProduct(t, rng, d, sumsMatrix(rng, s.m, s.k, d.A, kind, rare), sumsMatrix(rng, s.k, s.n, d.B, other, rare), c, 6)
			}
		}
	})
}

// C may be the result.
func TestSumsInPlace(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range sumsDevices() {
			rng := rand.New(rand.NewPCG(44, 0))
			a, b := sumsMatrix(rng, 17, 21, d.A, 1, 0), sumsMatrix(rng, 21, 35, d.B, 1, 0)
			c, z := sumsMatrix(rng, 17, 35, Binary32, 1, 0), zeros(17, 35)
			d.MultiplyAdd(a, b, c, z)
			d.MultiplyAdd(a, b, c, c)
			for i, v := range z.Data {
				if !same(float64(v), float64(c.Data[i])) {
					t.Fatalf("%s: element %d is %x in place, %x elsewhere", d.Name, i, c.Data[i], v)
				}
			}
		}
	})
}

// The result does not depend on the number of goroutines, which share rows or,
// of few rows, columns.
func TestSumsOnThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 0))
	for _, d := range sumsDevices() {
		for _, s := range []shape{{5, 9, 130}, {70, 9, 40}} {
			a, b := sumsMatrix(rng, s.m, s.k, d.A, 1, 0), sumsMatrix(rng, s.k, s.n, d.B, 1, 0)
			want := zeros(s.m, s.n)
			for _, threads := range []int{1, 2, 5} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				z := zeros(s.m, s.n)
				d.MultiplyAdd(a, b, blas32.General{}, z)
				if threads == 1 {
					want = z
				}
				for i, v := range z.Data {
					if !same(float64(v), float64(want.Data[i])) {
						t.Fatalf("%s, %v on %d threads: element %d is %x, want %x", d.Name, s, threads, i, v, want.Data[i])
					}
				}
			}
		}
	}
}

// Products on either side of the least normal number, and one of them among
// others that are normal.
func TestPairsNearUnderflow(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(48, 0))
		for _, d := range []Device{CDNA2BF16, CDNA2BF16Pairs, ArmBF16, ArmEBF16} {
			for trial := range 60 {
				a, b := zeros(9, 8), zeros(8, 40)
				for _, m := range []blas32.General{a, b} {
					for i := range m.Data {
						m.Data[i] = float32(BFloat16.Round((1+rng.Float64())*exp2(-63+rng.IntN(2))*float64(1-2*rng.IntN(2)), ToZero))
					}
				}
				a.Data[rng.IntN(len(a.Data))] *= float32(exp2(-trial % 5))
				compareProduct(t, rng, d, a, b, blas32.General{}, 40)
			}
		}
	})
}

// A sum of an ExactSum that is zero is +0, whatever the signs of its terms,
// also where one that was rounded to -0 goes before it.
func TestExactSumsOfZeros(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(49, 0))
		for _, d := range []Device{CDNA1F16, CDNA1BF16} {
			for _, first := range []float32{0, -0x1p-71, -0x1p-80} {
				a, b, c := zeros(3, 2*d.BlockTerms()), zeros(2*d.BlockTerms(), 20), zeros(3, 20)
				for i := range b.Data {
					b.Data[i] = 0x1p-80
				}
				for i := range a.Data {
					a.Data[i] = negativeZero
				}
				for i := range c.Data {
					c.Data[i] = negativeZero
				}
				a.Data[0] = first // rounded to zero in binary16
				compareProduct(t, rng, d, a, b, c, 20)
				compareProduct(t, rng, d, a, b, blas32.General{}, 20)
			}
		}
	})
}

// Sums of an ExactSum next to the greatest number, which some products exceed.
func TestExactSumsNearOverflow(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(51, 0))
		for range 60 {
			a, b, c := zeros(7, 6), zeros(6, 20), zeros(7, 20)
			e := 48 + rng.IntN(4)
			for _, m := range []blas32.General{a, b} {
				for i := range m.Data {
					m.Data[i] = float32((1 + float64(rng.IntN(8))/8) * exp2(e) * float64(1-2*rng.IntN(2)))
				}
			}
			for i := range c.Data {
				c.Data[i] = float32(1-2*rng.IntN(2)) * (math.MaxFloat32 - float32(rng.IntN(2))*0x1p104)
			}
			compareProduct(t, rng, CDNA1BF16, a, b, c, 20)
		}
	})
}

// The sums of an ExactSum in Go agree with the definition where what they round
// off is itself rounded, and next to ties.
func TestExactSumChain(t *testing.T) {
	d := CDNA1BF16.with(ExactSum{Terms: 4})
	core := ExactSum{Terms: 4}
	rng := rand.New(rand.NewPCG(50, 0))
	power := func(exponents ...int) float64 {
		return signed(exp2(exponents[rng.IntN(len(exponents))]), rng.IntN(2) == 0)
	}
	for range 100_000 {
		c := power(100) + power(100, 101, 77, 78)
		x, y := make([]float64, 4), []float64{1, 1, 1, 1}
		for i := range x {
			x[i] = power(76, 75, 20, 20, 20, -60, -60)
		}
		got, want := core.chain64(&d, x, y, c), d.chain(x, y, nil, nil, c, nil)
		if !same(got, want) {
			t.Fatalf("%x + %x = %x, want %x", c, x, got, want)
		}
	}
}

// FuzzSums compares sums of tiles with Dot, on data of a kind and a seed, in
// any shape, on every device and level.
func FuzzSums(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), uint16(17), uint16(40), uint16(33), uint8(0), uint8(1), false)
	f.Add(uint64(2), uint8(9), uint8(2), uint16(14), uint16(513), uint16(8), uint8(3), uint8(0), true)
	devices, levels := sumsDevices(), features.Levels()
	f.Fuzz(func(t *testing.T, seed uint64, device, level uint8, m, k, n uint16, kinds, rare uint8, started bool) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := devices[int(device)%len(devices)]
		s := shape{1 + int(m)%40, 1 + int(k)%600, 1 + int(n)%50}
		kind, other, exceptions := int(kinds)%sumsKinds, int(kinds)/sumsKinds%sumsKinds, float64(rare%8)*0.002
		a, b := sumsMatrix(rng, s.m, s.k, d.A, kind, exceptions), sumsMatrix(rng, s.k, s.n, d.B, other, exceptions)
		c := blas32.General{}
		if started {
			c = sumsMatrix(rng, s.m, s.n, Binary32, rng.IntN(sumsKinds), exceptions)
		}
		with(levels[int(level)%len(levels)], func() { compareProduct(t, rng, d, a, b, c, 3) })
	})
}

// Products take the path that is meant for their device and data.
func TestPathsOfSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 0))
	near1 := func(rows, cols int) blas32.General { return sumsMatrix(rng, rows, cols, Binary32, 1, 0) }
	small := func(rows, cols int) blas32.General { // products below the least normal number
		m := near1(rows, cols)
		for i := range m.Data {
			m.Data[i] *= 0x1p-65
		}
		return m
	}
	large := func(rows, cols int) blas32.General { // products beyond the greatest number
		m := near1(rows, cols)
		m.Data[0] = 0x1p64
		return m
	}
	thin := func(rows, cols int) blas32.General { return near1(rows, 8) }
	cases := []struct {
		device Device
		data   func(rows, cols int) blas32.General
		path   *path // nil for none
	}{
		{IEEEF64, near1, chainPath},
		{IEEEF32, near1, chainPath},
		{CDNA2F16, near1, pairsPath},
		{CDNA2BF16, near1, pairsPath},
		{CDNA2BF16, small, anyPairsPath},
		{CDNA2BF16, large, anyPairsPath},
		{CDNA2BF16Pairs, near1, pairsPath},
		{CDNA2BF16, thin, anyPairsPath},
		{CDNA1F16, near1, exactPath},
		{CDNA1BF16, near1, exactPath},
		{AMXBF16, near1, evenOddPath},
		{AMXBF16, thin, evenOddPath},
		{AVX512BF16, near1, oddFirstPath},
		{AVX512BF16, thin, oddFirstPath},
		{ArmMOPAF16, near1, fusedPairsPath},
		{ArmMOPAF16, thin, fusedPairsPath},
		{ArmEBF16, near1, fusedPairsPath},
		{ArmEBF16, small, nil},
		{ArmEBF16, large, nil},
		{ArmBF16, near1, oddPairsPath},
		{ArmBF16, thin, oddPairsPath},
		{ArmBF16, small, oddPairsPath},
		{ArmMMLABF16, near1, oddPairsPath},
		{ArmBF16, large, nil},
	}
	onEveryLevel(t, func(t *testing.T) {
		for i, c := range cases {
			a, b := c.data(20, 48), c.data(48, 48)
			if a.Cols != b.Rows {
				a = near1(20, 48)
			}
			z := zeros(20, b.Cols)
			n := counted(func() { c.device.MultiplyAdd(a, b, blas32.General{}, z) })
			if c.path == nil {
				for p, n := range n {
					if n > 0 {
						t.Errorf("case %d, %s: %q computed %d multiply-adds, want none", i, c.device.Name, p.name, n)
					}
				}
				continue
			}
			got, want := n[c.path], int64(0)
			amd64Only := c.path == exactPath || c.path == evenOddPath || c.path == oddFirstPath || c.path == fusedPairsPath
			switch {
			case c.path == oddPairsPath && features.Bits < 512:
			case features.Bits > 0 || features.ASIMD && !amd64Only:
				want = int64(20 * 48 * b.Cols)
			}
			if got != want {
				t.Errorf("case %d, %s: %q computed %d multiply-adds, want %d", i, c.device.Name, c.path.name, got, want)
			}
		}
		// One great sum amid small ones: no block before its own is computed again.
		a, b, z := near1(14, 256), near1(256, 16), zeros(14, 16)
		for i := range a.Data {
			a.Data[i] = float32(Binary16.Round(float64(a.Data[i]), ToNearestEven))
		}
		if n := counted(func() { CDNA1F16.MultiplyAdd(a, b, blas32.General{}, z) })[redonePath]; n != 0 {
			t.Errorf("%d multiply-adds of ordinary data were computed again", n)
		}
		a.Data[9*256+101], b.Data[101*16+3] = 0x1p15, 0x1p15
		a.Data[9*256+102], b.Data[102*16+3] = 0x1p-24, 0x1p-24
		n := counted(func() { CDNA1F16.MultiplyAdd(a, b, blas32.General{}, z) })[redonePath]
		if vectors := features.Bits > 0; vectors && (n == 0 || n > 18*16*(256-100)) || !vectors && n != 0 {
			t.Errorf("%d multiply-adds were computed again", n)
		}
	})
}

// The routines for sums in pairs flush subnormal numbers, but for fused pairs,
// and Go code after them does not.
func TestPairsRestoreControl(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		normal, normalOK := pairsKernelFor(4, true, 64)
		anyPairs, anyOK := pairsKernelFor(4, false, 64)
		fused, fusedOK := fusedPairsKernelFor(4, 64)
		odd, oddOK := oddPairsKernelFor(4)
		for _, of := range []struct {
			name   string
			kernel sumsKernel[float32, float32]
			ok     bool
			want   float32
		}{{"normal", normal, normalOK, 0}, {"any", anyPairs, anyOK, 0}, {"fused", fused, fusedOK, 0x1p-128}, {"odd", odd, oddOK, 0}} {
			kernel := of.kernel
			if !of.ok {
				continue
			}
			c := make([]float32, kernel.rows*kernel.columns)
			a, b := make([]float32, 4*kernel.rows), make([]float32, 4*kernel.columns)
			a[0], b[0] = 0x1p-64, 0x1p-64
			kernel.run(c, kernel.columns, a, 4, b, 4)
			if c[0] != of.want {
				t.Errorf("%s: a subnormal sum is %x, want %x", of.name, c[0], of.want)
			}
			if z := a[0] * b[0]; z != 0x1p-128 {
				t.Errorf("%s: afterwards 2^-64 × 2^-64 = %x", of.name, z)
			}
		}
	})
}

// The rows of factors of sums in pairs have no subnormal numbers, and zeros
// keep their signs.
func TestFlushRow(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(46, 0))
		for _, f := range []Format{Binary16, BFloat16, Binary32, E5M2} {
			normal := float32(exp2(f.Emin))
			x := []float32{0, float32(math.Copysign(0, -1)), normal, -normal, math.Nextafter32(normal, 0), -math.Nextafter32(normal, 0),
				0x1p-149, -0x1p-149, 1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -float32(math.NaN())}
			for range 1000 {
				x = append(x, math.Float32frombits(rng.Uint32()), normal*(rng.Float32()*4-2))
			}
			z := append([]float32(nil), x...)
			flushRow(z, normal)
			for i, v := range x {
				if want := flushInput(f, float64(v)); !same(float64(z[i]), want) {
					t.Fatalf("%s: %x becomes %x, want %x", f.Name, v, z[i], want)
				}
			}
		}
	})
}

// The magnitudes of a matrix are those of its nonzero elements.
func TestMagnitudes(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(47, 0))
		for trial := range 200 {
			m := sumsMatrix(rng, 1+rng.IntN(5), 1+rng.IntN(40), Binary32, 1+rng.IntN(sumsKinds-1), 0)
			least, greatest := math.Inf(1), 0.0
			for _, x := range m.Data {
				if x != 0 {
					least, greatest = min(least, math.Abs(float64(x))), max(greatest, math.Abs(float64(x)))
				}
			}
			if greatest == 0 {
				least = 1
			}
			if l, g := magnitudesOf(m); l != least || g != greatest {
				t.Fatalf("trial %d: magnitudes %x to %x, want %x to %x", trial, l, g, least, greatest)
			}
			m.Data[rng.IntN(len(m.Data))] = float32(math.NaN())
			if _, g := magnitudesOf(m); !math.IsNaN(g) {
				t.Fatalf("trial %d: the greatest magnitude is %x, want NaN", trial, g)
			}
		}
	})
}
