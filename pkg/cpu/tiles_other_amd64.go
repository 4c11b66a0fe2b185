//go:build !linux

package cpu

// requestTiles returns that tiles are used on Linux alone.
func requestTiles() string { return "tiles are used on Linux alone" }
