package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// roundTable contains the constants of the vector code for rounding, each four
// times, for the four lanes of a vector. internal/asm/round names the rows.
type roundTable = [36][4]uint64

// shortestVector is the least number of elements for which the vector code is
// faster in spite of its table.
const shortestVector = 64

// vectorizable reports whether the vector code can round to f: its powers of
// two, quanta and their inverses are far from the ends of the range of
// binary64.
func (f *Format) vectorizable() bool {
	return f.Precision <= 32 && f.minQuantum() >= -900 && f.Emax <= 900 &&
		f.Sign == Signed && f.Subnormals != NoZero
}

// newRoundTable returns the constants for a vectorizable format.
func (f Format) newRoundTable(s Stochastic) *roundTable {
	const magnitude, exponent = 1<<63 - 1, 0x7ff << 52
	p, number := uint64(f.Precision), math.Float64bits
	rows := [16]uint64{
		number(math.Inf(1)),
		magnitude,
		exponent,
		number(f.MinNormal()),
		(p - 1) << 52,
		(53 - p) << 52,
		(53-p)<<52 + 1, // one unit in the last place of 2^(q+52) is 2^q
		number(f.overflowThreshold()),
		number(exp2(f.Emax + 1)),
		number(f.Max()),
		number(f.infinity(false)),
		number(f.least()),
		number(f.zero(true)),
		(1<<s.Bits - 1) << (52 - s.Bits),
		philoxMultiplier0,
		philoxMultiplier1,
	}

	var t roundTable
	for i, row := range rows {
		t[i] = [4]uint64{row, row, row, row}
	}
	k0, k1 := uint32(s.Seed), uint32(s.Seed>>32)
	for i := len(rows); i < len(t); i += 2 {
		t[i] = [4]uint64{uint64(k0), uint64(k0), uint64(k0), uint64(k0)}
		t[i+1] = [4]uint64{uint64(k1), uint64(k1), uint64(k1), uint64(k1)}
		k0 += philoxWeyl0
		k1 += philoxWeyl1
	}
	return &t
}

// least returns the least magnitude of a rounded number that is not replaced by
// zero.
func (f *Format) least() float64 {
	if f.Subnormals == Flushed {
		return exp2(f.Emin)
	}
	return 0
}

// overflowThreshold returns the least binary64 magnitude that overflows when
// rounded to nearest even: the midpoint of Max and the number that would follow
// it, or the binary64 number after the midpoint if the midpoint is rounded to
// an even Max.
func (f *Format) overflowThreshold() float64 {
	n := f.maxSignificand()
	middle := (float64(n) + 0.5) * exp2(f.maxQuantum())
	if n%2 == 0 {
		return math.Nextafter(middle, math.Inf(1))
	}
	return middle
}

// eachPart calls work for parts of [0, n), on GOMAXPROCS goroutines if n is
// large enough.
func eachPart(n int, work func(lo, hi int)) {
	const part = 1 << 14
	if n <= part {
		work(0, n)
		return
	}
	parallel.Ranges((n+part-1)/part, func(lo, hi int) { work(lo*part, min(hi*part, n)) })
}
