//go:build !amd64

package tcore

func vectorNearest(f Format, dst, src []float64) int { return 0 }

func vectorStochastic(f Format, s Stochastic, dst, src []float64, index uint64) int { return 0 }
