package main

import "fmt"

// sums emits the routine that adds to the sums of a tile, rows × vectors, in
// place:
//
//	for k = 0, 1, …, in this order:
//		y = row k of b
//		for every row i: c_i = c_i + a_ik y
//
// fused says that this is one fused multiply-add, otherwise it is a product and
// a sum, each rounded. Both are the operations of IEEE 754, for each lane.
//
// An element of a is loaded as one number, and the multiplication takes it for
// all lanes, so that copies of it cost no instruction. With 24 sums in
// registers each of them waits for 24 others, longer than for its own last
// term.
func (f *file) sums(name string, l lane, fused bool, rows, vectors int) {
	columns := vectors * l.count()
	r, p := f.routine(fmt.Sprintf("%s%dx%d", name, rows, columns),
		fmt.Sprintf("c *%[1]s, ldc int, a *%[1]s, lda int, b *%[1]s, k int", l.goType), sumsDoc(fused, rows, columns))
	c, ldc, a, lda, b, k := p[0], p[1], p[2], p[3], p[4], p[5]
	index := r.generals(1)[0]
	row := r.rowPointers(a, lda, rows)
	s, y := r.vectors(rows*vectors), r.vectors(vectors)
	var product []vector
	if !fused {
		product = r.vectors(2) // in turn
	}
	x := r.vectors(4) // of rows at a time

	r.load(l, c, ldc, s, vectors)
	r.emit("MOVD $0, %v", index)
	r.loop("next", k, func() {
		r.emit("VLD1.P %d(%v), %s", 16*vectors, b, l.list(y))
		for i := 0; i < rows; i += len(x) {
			for j, x := range x {
				r.emit("%s (%v)(%v<<%d), %s", l.move, row[i+j], index, l.bytes/4+1, x.scalar())
			}
			for j, x := range x {
				for v, y := range y {
					sum := s[(i+j)*vectors+v]
					if fused {
						r.multiplyAdd(l, sum, y, x)
					} else {
						z := product[(j*vectors+v)%len(product)]
						r.multiply(l, z, y, x)
						r.add(sum, sum, z)
					}
				}
			}
		}
		r.emit("ADD $1, %v", index)
	})
	r.store(l, c, ldc, s, vectors)
	r.ret()
}

// sumsDoc returns the documentation of a routine of sums.
func sumsDoc(fused bool, rows, columns int) string {
	what := "c = fl(c + fl(ab))"
	if fused {
		what = "c = fl(c + ab)"
	}
	return fmt.Sprintf("%d rows × %d columns: %s for k > 0 terms in order, strides in bytes.", rows, columns, what)
}

// rowPointers returns the addresses of rows that are a stride in bytes apart,
// of which base is the first.
func (r *routine) rowPointers(base, stride general, rows int) []general {
	p := append([]general{base}, r.generals(rows-1)...)
	for i := 1; i < rows; i++ {
		r.emit("ADD %v, %v, %v", stride, p[i-1], p[i])
	}
	return p
}

// load emits the loads of a tile whose rows, of the given number of vectors,
// are a stride in bytes apart.
func (r *routine) load(l lane, base, stride general, s []vector, vectors int) {
	r.eachRow(base, stride, s, vectors, func(address general, row []vector) {
		r.emit("VLD1 (%v), %s", address, l.list(row))
	})
}

// store emits the stores of such a tile.
func (r *routine) store(l lane, base, stride general, s []vector, vectors int) {
	r.eachRow(base, stride, s, vectors, func(address general, row []vector) {
		r.emit("VST1 %s, (%v)", l.list(row), address)
	})
}

// eachRow calls emit with the address and the registers of each row of a tile.
func (r *routine) eachRow(base, stride general, s []vector, vectors int, emit func(address general, row []vector)) {
	address := r.generals(1)[0]
	r.emit("MOVD %v, %v", base, address)
	for i := 0; i < len(s); i += vectors {
		emit(address, s[i:][:vectors])
		r.emit("ADD %v, %v", stride, address)
	}
	r.general-- // the address is not used any more
}

// widen emits the conversion of binary32 numbers to binary64.
func (f *file) widen() {
	r, p := f.routine("Widen", "dst *float64, src *float32, n int", "dst = src; n is a positive multiple of 8.")
	dst, src, n := p[0], p[1], p[2]
	x, z := r.vectors(2), r.vectors(4)
	r.emit("LSR $3, %v", n)
	r.loop("next", n, func() {
		r.emit("VLD1.P 32(%v), %s", src, single.list(x))
		r.widenSingle([2]vector{z[0], z[1]}, x[0])
		r.widenSingle([2]vector{z[2], z[3]}, x[1])
		r.emit("VST1.P %s, 64(%v)", double.list(z), dst)
	})
	r.ret()
}
