package vector

//go:generate go -C ../asm run ./gemm -only chain64 -out ../vector/chain64_amd64.s -stubs ../vector/chain64_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only convert -out ../vector/convert_amd64.s -stubs ../vector/convert_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only cpuid -out ../vector/cpuid_amd64.s -stubs ../vector/cpuid_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only dotadd -out ../vector/dotadd_amd64.s -stubs ../vector/dotadd_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only exactsum -out ../vector/exactsum_amd64.s -stubs ../vector/exactsum_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only floorcount -out ../vector/floorcount_amd64.s -stubs ../vector/floorcount_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only flushed -out ../vector/flushed_amd64.s -stubs ../vector/flushed_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only groups -out ../vector/groups_amd64.s -stubs ../vector/groups_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only half -out ../vector/half_amd64.s -stubs ../vector/half_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only integers -out ../vector/integers_amd64.s -stubs ../vector/integers_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only pairs -out ../vector/pairs_amd64.s -stubs ../vector/pairs_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only stages -out ../vector/stages_amd64.s -stubs ../vector/stages_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only sums -out ../vector/sums_amd64.s -stubs ../vector/sums_amd64.go -pkg vector
//go:generate go -C ../asm run ./neon -only chain64 -out ../vector/chain64_arm64.s -stubs ../vector/chain64_arm64.go -pkg vector
//go:generate go -C ../asm run ./neon -only convert -out ../vector/convert_arm64.s -stubs ../vector/convert_arm64.go -pkg vector
//go:generate go -C ../asm run ./neon -only dotadd -out ../vector/dotadd_arm64.s -stubs ../vector/dotadd_arm64.go -pkg vector
//go:generate go -C ../asm run ./neon -only pairs -out ../vector/pairs_arm64.s -stubs ../vector/pairs_arm64.go -pkg vector
//go:generate go -C ../asm run ./neon -only sums -out ../vector/sums_arm64.s -stubs ../vector/sums_arm64.go -pkg vector
