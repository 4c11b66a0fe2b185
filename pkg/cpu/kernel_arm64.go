package cpu

import "github.com/roundofflab/roundoff/pkg/tcore/devices"

// kernels are those of arm64.
var kernels = []kernel{{device: devices.ArmBF16(), pairs: 1, run: bfdot, missing: bfloat16Missing}}

// bfdot continues sums by one BFDOT for every pair and four sums.
//
//go:noescape
func bfdot(c *float32, ldc int, a, b *uint16, pairs int)
