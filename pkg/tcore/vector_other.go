//go:build !amd64

package tcore

// There are no vector instructions and no stores past the caches.
var roundBits = 0

const pastCaches = 1 << 19

func vectorNearest(f Format, dst, src []float64) int { return 0 }

func vectorStochastic(f Format, s Stochastic, dst, src []float64, index uint64) int { return 0 }
