package tcore

// groupKernel has the vector routines for products of e2m1 factors with scales,
// whose tiles have groupRows rows. run adds to the sums c of a tile if all of
// its operations but the roundings of c are exact in binary32, and wide if they
// are exact in binary64. Package vector describes all of them.
type groupKernel struct {
	columns     int // of a tile
	run         func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int, t, z *float32, stride int) uint64
	wide        func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int)
	cut         func(c, zero *float64, a *int8, as *uint32, b *uint8, bs *float32, blocks, fraction int)
	scale       func(z *float32, stride int, c, rows, columns *float32)
	packRows    func(dst *int8, first, sizes *uint32, src *uint8, stride, groups, parts int, p *uint8)
	encode      func(dst *uint8, src *float32, n int, greatest float32)
	packColumns func(dst *uint8, step int, sizes, src *uint8, stride, groups, quads int, p *uint8)
}

// The sizes of tiles and chunks. groupDepth blocks of a panel stay in the first
// cache while they are multiplied by rows of A, at most groupCache codes, that
// stay in the second one.
const (
	groupRows  = 4
	groupBlock = 64 // terms
	groupDepth = 8  // blocks in one call of run
	groupCache = 1 << 19
)

// groupOffset is added to twice a factor, which makes a byte without sign of
// it, and groupAnchor to an integer, which makes the significand of a binary32
// number of it.
const (
	groupOffset = 12
	groupAnchor = 0x1.8p23
)

// groupKernel returns the kernel for the sums of d. It returns false if there
// is none.
func (d *Device) groupKernel() (groupKernel, bool) {
	f, ok := d.Core.(Fused)
	ok = ok && f.Group == 16 && f.Terms == groupBlock && f.Rounding == ToZero && !f.NegativeTiny &&
		f.FractionBits <= groupMostBits && f.Result.Equal(Binary32) && d.C.Equal(Binary32) && f.ZeroExponent <= Binary32.Emin &&
		d.A.Equal(E2M1) && d.B.Equal(E2M1) && (d.Scale.Equal(E8M0) || d.Scale.Equal(UE4M3))
	if !ok {
		return groupKernel{}, false
	}
	return groupKernelFor(d.ScaleBlock)
}
