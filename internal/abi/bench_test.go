package abi

import "testing"

// The product that python/tests/bench.py times from Python, without Python.
func BenchmarkGEMM(b *testing.B) {
	const n = 512
	x, y, z := drawn(n*n, 1), drawn(n*n, 2), make([]float32, n*n)
	for _, device := range []string{"hopper-wgmma-binary16-binary32", "blackwell-tcgen05-e4m3-binary32"} {
		b.Run(device, func(b *testing.B) {
			for b.Loop() {
				if _, err := GEMM(`{"device":"`+device+`"}`, of("binary32", x, n, n), of("binary32", y, n, n), nil, of("binary32", z, n, n), never); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
