package main

// Offsets of the constants in dotAddConstants.
const (
	offQuads    = 4 * iota // terms of a block, divided by 4
	offLeast               // biased exponent of the least E* allowed, in all four bytes
	offScale               // sum of the exponent fields of 2^F and of 1
	offInverse             // sum of the exponent fields of 2^x and of 2^-x
	offInfinity            // mask of the exponent field
	offKeep                // mask of the bits of a result that are kept
	offTiny                // bits of the least magnitude of a c that is not 0
	_
	offNormal // bits of 2^Emin of the output; binary16 only
	_
	_
	offBelow // mask of the bits of binary64 that binary32 does not have, in 64 bits
)

// Offsets of the fields of dotAddState.
const (
	offRare = 0  // a word: bit j is set if sum j is not to be used
	offOld  = 16 // the sums before the call
)

// dotAddVectors is the number of vectors of columns in a panel: a byte of each
// word of exponents belongs to each. dotAddStep is the number of bytes of a row
// of a panel, its elements and its exponents.
const (
	dotAddVectors = 4
	dotAddStep    = 16*dotAddVectors + 16
)

// dotAdd is a kind of the truncated fused dot-product-add of blocks of terms,
// for the sums of one row and 16 columns in place:
//
//	for each block:
//	  E = max over k of the exponents of a[k]b[k]       # bytes: UQSUB, UMAX
//	  E = max(E, exponent of c); scale = 2^(F-E)
//	  s = trunc(c × scale)
//	  for k: s += trunc(a[k] × b[k] × scale)            # FMUL, FMUL, FCVTZS, ADD
//	  c = trunc(s) × 2^(E-F), in the precision of the result
//
// A product is exact in binary32, because its factors have 24 bits together,
// and so is its product with a power of two unless it falls below the range of
// binary32 and is truncated to zero anyway. Conversion to an integer is the
// truncation of a term. The terms of even k, with c, and those of odd k are
// added in 32 bits each, their sums in 64 bits. That sum is exact in binary64,
// too; what binary32 does not have of it is cut off there.
//
// The exponents of b are bytes, their distances below the greatest; those of a
// are biased so that the difference of the two is the biased exponent of the
// product, and 0 for a zero. Byte v of word l belongs to lane l of vector v:
// shifted to the place of an exponent and masked it is a power of two. For each
// k there are the element of a and its exponent, four times in a word.
//
// Results are rounded to binary16 by way of rounding to odd in binary32, which
// FCVTXN does and which has more than two bits more. No sum in binary32
// overflows, since products are cut off next to its greatest number. A sum in
// binary16 that does stays infinite: converted to an integer it is the greatest
// of its sign, whose power of two is beyond all numbers, and all terms are zero
// beside it. With split, sums of two blocks begin with zero, and c = c + sum is
// rounded to nearest even; for binary16 rounding twice equals rounding once
// (Figueroa 1995).
type dotAdd struct {
	half  bool // results are rounded to binary16, to nearest even
	split bool // sums of two blocks begin with zero and are added to c
}

// dotAdd emits the routine of one kind.
func (f *file) dotAdd(name string, d dotAdd) {
	r, p := f.routine(name, "c *float32, stride int, a *uint32, b *float32, blocks int, p *uint32, state *uint64",
		"1 row × 16 columns of blocks > 0 blocks. A bit of the state is set for every sum that left the range of the routine and is not to be used.")
	c, a, b, blocks, constants, state := p[0], p[2], p[3], p[4], p[5], p[6]
	g := r.generals(5)
	ea, eb, eight, quads, two := g[0], g[1], g[2], g[3], g[4]
	r.emit("ADD $4, %v, %v", a, ea)
	r.emit("ADD $%d, %v, %v", 16*dotAddVectors, b, eb)
	r.emit("MOVD $8, %v", eight)

	sum, high, scale := r.vectors(dotAddVectors), r.vectors(dotAddVectors), r.vectors(dotAddVectors)
	y, near, x := r.vectors(dotAddVectors), r.vectors(1)[0], r.vectors(1)[0]
	r.emit("VLD1 (%v), %s", c, single.list(sum))
	r.emit("ADD $%d, %v, %v", offOld, state, two)
	r.emit("VST1 %s, (%v)", single.list(sum), two)
	if !d.split { // which never aligns c
		r.flag(state, func(v int) { r.outOfRange(constants, sum[v], y[v], scale, high[0]) }, y, near)
	}

	infinity := r.constant(constants, offInfinity)
	bias, inverse := r.constant(constants, offScale), r.constant(constants, offInverse)
	var normal, keep, above vector
	if d.half {
		normal = r.constant(constants, offNormal)
	} else {
		keep, above = r.constant(constants, offKeep), r.vectors(1)[0]
		r.emit("ADD $%d, %v, %v", offBelow, constants, two)
		r.emit("MOVD (%v), %v", two, two)
		r.emit("MVN %v, %v", two, two)
		r.emit("VDUP %v, %v.D2", two, above)
	}

	block := func() {
		// The greatest exponents of the products, in bytes.
		r.broadcast(constants, offLeast, near)
		r.emit("MOVWU %d(%v), %v", offQuads, constants, quads)
		r.loop("exponents", quads, func() {
			for k := range 4 {
				r.emit("VLD1R.P (%v)(%v), [%v.S4]", ea, eight, x)
				r.emit("FMOVQ %d(%v), %s", k*dotAddStep, eb, y[0].scalar())
				r.three(0x6e202c00, "uqsub", x, "16b", x, y[0], "16b")
				r.emit("VUMAX %v.B16, %v.B16, %v.B16", x, near, near)
			}
			r.emit("ADD $%d, %v", 4*dotAddStep, eb)
		})

		// The greatest exponent of all terms, the power of two that scales a term to a
		// multiple of F bits below it, and c truncated there.
		for v, e := range scale {
			z, t := sum[v], x
			if v < 3 {
				r.emit("VSHL $%d, %v.S4, %v.S4", 23-8*v, near, e)
			} else {
				r.emit("VUSHR $1, %v.S4, %v.S4", near, e)
			}
			r.bitwise("VAND", infinity, e, e)
			r.bitwise("VAND", infinity, z, t)
			r.greater(t, e, e)
			if d.half { // at least 2^Emin unless c is zero
				r.emit("VCMTST %v.S4, %v.S4, %v.S4", t, t, t)
				r.bitwise("VAND", normal, t, t)
				r.greater(t, e, e)
			}
			r.emit("VSUB %v.S4, %v.S4, %v.S4", e, bias, e)
			r.product(z, z, e)
			r.truncate(z, z)
			r.zero(high[v])
		}

		// The exact products, each truncated there, and their sums.
		r.emit("MOVWU %d(%v), %v", offQuads, constants, quads)
		r.loop("products", quads, func() {
			for k := range 4 {
				r.emit("FMOVS.P 8(%v), %s", a, x.scalar())
				r.emit("VLD1 (%v), %s", b, single.list(y))
				r.emit("ADD $%d, %v", dotAddStep, b)
				part := [][]vector{sum, high}[k%2]
				for v, y := range y {
					r.multiply(single, y, y, x)
					r.product(y, y, scale[v])
					r.truncate(y, y)
					r.emit("VADD %v.S4, %v.S4, %v.S4", y, part[v], part[v])
				}
			}
		})

		// The sum in the precision of the result.
		for v, z := range sum {
			low, up := y[0], y[1]
			r.three(0x0ea00000, "saddl", low, "2d", z, high[v], "2s")
			r.three(0x4ea00000, "saddl2", up, "2d", z, high[v], "4s")
			r.unary(0x4e61d800, "scvtf", low, "2d", low, "2d")
			r.unary(0x4e61d800, "scvtf", up, "2d", up, "2d")
			if d.half {
				r.unary(0x2e616800, "fcvtxn", z, "2s", low, "2d")
				r.unary(0x6e616800, "fcvtxn2", z, "4s", up, "2d")
			} else {
				r.bitwise("VAND", above, low, low)
				r.bitwise("VAND", above, up, up)
				r.unary(0x0e616800, "fcvtn", z, "2s", low, "2d")
				r.unary(0x4e616800, "fcvtn2", z, "4s", up, "2d")
			}
			r.emit("VSUB %v.S4, %v.S4, %v.S4", scale[v], inverse, scale[v])
			r.product(z, z, scale[v])
			if d.half {
				r.roundedHalf(z)
			} else {
				r.bitwise("VAND", keep, z, z)
			}
		}
	}
	if d.split {
		r.loop("next", blocks, func() {
			for _, z := range sum {
				r.zero(z)
			}
			r.emit("MOVD $2, %v", two)
			r.loop("block", two, block)
			d.positive(r, sum, x)
			r.emit("VLD1 (%v), %s", c, single.list(y))
			for v, z := range sum {
				r.add(y[v], y[v], z)
				if d.half {
					r.roundedHalf(y[v])
				}
			}
			r.emit("VST1 %s, (%v)", single.list(y), c)
		})
	} else {
		r.loop("next", blocks, block)
		d.positive(r, sum, x)
		r.emit("VST1 %s, (%v)", single.list(sum), c)
	}
	r.ret()
}

// flag sets the bit of a sum in the state if its lane of a vector of masks is
// set, which set stores in mask. It uses t.
func (r *routine) flag(state general, set func(v int), mask []vector, t vector) {
	g := r.generals(2)
	bits, rare := g[0], g[1]
	for v := range mask {
		set(v)
	}
	r.emit("VUZP1 %v.H8, %v.H8, %v.H8", mask[1], mask[0], mask[0])
	r.emit("VUZP1 %v.H8, %v.H8, %v.H8", mask[3], mask[2], mask[2])
	r.emit("VUZP1 %v.B16, %v.B16, %v.B16", mask[2], mask[0], mask[0])
	r.emit("MOVD $0x8040201008040201, %v", bits)
	r.emit("VDUP %v, %v.D2", bits, t)
	r.bitwise("VAND", t, mask[0], mask[0])
	for range 3 {
		r.emit("VADDP %[1]v.B16, %[1]v.B16, %[1]v.B16", mask[0])
	}
	r.emit("VMOV %v.H[0], %v", mask[0], bits)
	r.emit("MOVD %d(%v), %v", offRare, state, rare)
	r.emit("ORR %v, %v", bits, rare)
	r.emit("MOVD %v, %d(%v)", rare, offRare, state)
	r.general -= 2 // they are not used any more
}

// outOfRange sets the lanes of mask in which c is an infinity, a NaN, or a
// nonzero number that is less than the least. It uses t and infinity. It
// compares magnitudes, twice their bits, as integers.
func (r *routine) outOfRange(constants general, c, mask vector, t []vector, infinity vector) {
	m, tiny, small, one := t[0], t[1], t[2], t[3]
	r.emit("VSHL $1, %v.S4, %v.S4", c, m)
	r.broadcast(constants, offInfinity, infinity)
	r.broadcast(constants, offTiny, tiny)
	r.emit("VSHL $1, %[1]v.S4, %[1]v.S4", infinity)
	r.emit("VSHL $1, %[1]v.S4, %[1]v.S4", tiny)
	r.atLeast(m, infinity, mask)
	r.atLeast(m, tiny, small)
	r.zero(one)
	r.emit("VCMEQ %v.S4, %v.S4, %v.S4", one, m, one)
	r.bitwise("VORR", one, small, small) // zero, or at least the least
	r.emit("VCMEQ %[1]v.B16, %[1]v.B16, %[2]v.B16", one, one)
	r.bitwise("VEOR", one, small, small)
	r.bitwise("VORR", small, mask, mask)
}

// atLeast sets the lanes of mask in which x is at least y.
func (r *routine) atLeast(x, y, mask vector) {
	r.greater(x, y, mask)
	r.emit("VCMEQ %v.S4, %v.S4, %v.S4", x, mask, mask)
}

// constant returns a new register with a constant in all lanes.
func (r *routine) constant(constants general, offset int) vector {
	v := r.vectors(1)[0]
	r.broadcast(constants, offset, v)
	return v
}

// broadcast stores a constant in all lanes of v.
func (r *routine) broadcast(constants general, offset int, v vector) {
	address := r.generals(1)[0]
	r.emit("ADD $%d, %v, %v", offset, constants, address)
	r.emit("VLD1R (%v), [%v.S4]", address, v)
	r.general-- // the address is not used any more
}

// positive makes +0 of sums that were rounded to -0, which only those in
// binary16 are. Without half it does nothing. It uses t.
func (d dotAdd) positive(r *routine, sum []vector, t vector) {
	if !d.half {
		return
	}
	r.zero(t)
	for _, z := range sum {
		r.add(z, z, t)
	}
}

// roundedHalf rounds x to binary16, to nearest even.
func (r *routine) roundedHalf(x vector) {
	r.unary(0x0e216800, "fcvtn", x, "4h", x, "4s")
	r.unary(0x0e217800, "fcvtl", x, "4s", x, "4h")
}

// zero emits v = 0.
func (r *routine) zero(v vector) { r.bitwise("VEOR", v, v, v) }

// bitwise emits a bitwise instruction.
func (r *routine) bitwise(name string, x, y, z vector) {
	r.emit("%s %v.B16, %v.B16, %v.B16", name, x, y, z)
}

// greater emits z = max(x, y) of integers without sign.
func (r *routine) greater(x, y, z vector) { r.emit("VUMAX %v.S4, %v.S4, %v.S4", x, y, z) }

// product emits z = xy in binary32.
func (r *routine) product(z, x, y vector) { r.three(0x6e20dc00, "fmul", z, "4s", x, y, "4s") }

// truncate emits the conversion of binary32 numbers to integers, toward zero.
func (r *routine) truncate(z, x vector) { r.unary(0x4ea1b800, "fcvtzs", z, "4s", x, "4s") }
