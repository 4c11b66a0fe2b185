package tcore

import "golang.org/x/sys/cpu"

var hasVectorRound = cpu.X86.HasAVX2

// vectorNearest rounds the leading elements of src to nearest even, a multiple
// of 8 of them, and returns their number.
func vectorNearest(f Format, dst, src []float64) int {
	n := vectorRoundLength(f, len(src), 8)
	switch {
	case n == 0:
	case f.Specials == FiniteOnly:
		roundNearestFinite(&dst[0], &src[0], n, f.newRoundTable(Stochastic{}))
	case f.Specials == FNUZ || f.Subnormals == Flushed:
		roundNearestZeros(&dst[0], &src[0], n, f.newRoundTable(Stochastic{}))
	default:
		roundNearest(&dst[0], &src[0], n, f.newRoundTable(Stochastic{}))
	}
	return n
}

// vectorStochastic is Stochastic.RoundSlice for the leading elements of src, a
// multiple of 16 of them, and returns their number. The index is a multiple of
// 16.
func vectorStochastic(f Format, s Stochastic, dst, src []float64, index uint64) int {
	n := vectorRoundLength(f, len(src), 16)
	c := index / 4
	counters := [4]uint64{c, c + 1, c + 2, c + 3}
	switch {
	case n == 0:
	case f.Specials == FiniteOnly:
		roundStochasticFinite(&dst[0], &src[0], n, f.newRoundTable(s), &counters)
	case f.Specials == FNUZ || f.Subnormals == Flushed:
		roundStochasticZeros(&dst[0], &src[0], n, f.newRoundTable(s), &counters)
	default:
		roundStochastic(&dst[0], &src[0], n, f.newRoundTable(s), &counters)
	}
	return n
}

func vectorRoundLength(f Format, n, step int) int {
	if !hasVectorRound || n < shortestVector || !f.vectorizable() {
		return 0
	}
	return n &^ (step - 1)
}
