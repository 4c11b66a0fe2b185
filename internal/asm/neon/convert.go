package main

// roundHalf emits the rounding of binary32 numbers to binary16, by conversion
// and back.
func (f *file) roundHalf() {
	r, p := f.routine("RoundHalf", "dst *float32, src *float32, n int", "dst = fl16(src), to nearest even; n is a positive multiple of 8.")
	dst, src, n := p[0], p[1], p[2]
	x, half := r.vectors(2), r.vectors(1)[0]
	pair := [2]vector{x[0], x[1]}
	r.emit("LSR $3, %v", n)
	r.loop("next", n, func() {
		r.emit("VLD1.P 32(%v), %s", src, single.list(x))
		r.narrowHalf(half, pair)
		r.widenHalf(pair, half)
		r.emit("VST1.P %s, 32(%v)", single.list(x), dst)
	})
	r.ret()
}
