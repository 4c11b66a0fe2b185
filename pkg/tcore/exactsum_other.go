//go:build !amd64

package tcore

type exactTile = func(c *float32, ldc int, a *float64, lda int, b *float64, k int) int

func exactTileFor(terms, columns int) (rows, width int, tile exactTile, ok bool) {
	return 0, 0, nil, false
}
