package vector

//go:generate go -C ../asm run ./gemm -only convert -out ../vector/convert_amd64.s -stubs ../vector/convert_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only cpuid -out ../vector/cpuid_amd64.s -stubs ../vector/cpuid_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only dotadd -out ../vector/dotadd_amd64.s -stubs ../vector/dotadd_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only integers -out ../vector/integers_amd64.s -stubs ../vector/integers_amd64.go -pkg vector
//go:generate go -C ../asm run ./gemm -only sums -out ../vector/sums_amd64.s -stubs ../vector/sums_amd64.go -pkg vector
