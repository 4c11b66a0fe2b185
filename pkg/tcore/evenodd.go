package tcore

// EvenOdd adds the products of even index of a block by a chain of FMAs from
// zero, and those of odd index by another; then their sum, and that to c. All
// is in binary32, rounded to nearest even, and flushes subnormal operands and
// results to zeros of their sign: TDPBF16PS, the bfloat16 instruction of the
// matrix unit AMX of Intel processors (Intel 2024).
type EvenOdd struct {
	Terms int // number of products in a block, even
}

func (e EvenOdd) width() int { return e.Terms }

func (e EvenOdd) sum(d *Device, b block, _ *TraceBlock) float64 { return e.observed(d, b, nil) }

// observed is sum. It records the sums in z, unless z is nil.
func (e EvenOdd) observed(d *Device, b block, z *RoundedSums) float64 {
	even, odd := 0.0, 0.0
	for k := 0; k < e.Terms; k += 2 {
		even = z.flushedFMA(d, b.x[k], b.y[k], even)
		odd = z.flushedFMA(d, b.x[k+1], b.y[k+1], odd)
	}
	return z.flushedFMA(d, b.c, 1, z.flushedFMA(d, even, 1, odd))
}

func (e EvenOdd) check(d *Device) { checkFlushed(d, "EvenOdd", e.Terms) }
