//go:build !amd64

package tcore

func vectorMAC(d, a, b, c []float32) int { return 0 }

func vectorFMA(d, a, b, c []float32) int { return 0 }

func vectorMPFMA(d []float32, a, b []uint16, c []float32) int { return 0 }
