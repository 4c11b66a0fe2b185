package tcore

import "github.com/roundofflab/roundoff/internal/vector"

var hasVector = vector.Bits() > 0

// The vector routines compute the leading elements, a multiple of 8 of them,
// and return their number.

func vectorMAC(d, a, b, c []float32) int {
	n := vectorLength(len(d))
	if n > 0 {
		streamMAC(&d[0], &a[0], &b[0], &c[0], n)
	}
	return n
}

func vectorFMA(d, a, b, c []float32) int {
	n := vectorLength(len(d))
	if n > 0 {
		streamFMA(&d[0], &a[0], &b[0], &c[0], n)
	}
	return n
}

func vectorMPFMA(d []float32, a, b []uint16, c []float32) int {
	n := vectorLength(len(d))
	if n > 0 {
		streamMPFMA(&d[0], &a[0], &b[0], &c[0], n)
	}
	return n
}

func vectorLength(n int) int {
	if !hasVector {
		return 0
	}
	return n &^ 7
}

// In stream_amd64.s; n is a positive multiple of 8.

//go:noescape
func streamMAC(d, a, b, c *float32, n int)

//go:noescape
func streamFMA(d, a, b, c *float32, n int)

//go:noescape
func streamMPFMA(d *float32, a, b *uint16, c *float32, n int)
