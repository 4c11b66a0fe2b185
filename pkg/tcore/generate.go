package tcore

//go:generate go -C ../../internal/asm run ./round -out ../../pkg/tcore/round_amd64.s -stubs ../../pkg/tcore/round_amd64.go -pkg tcore
//go:generate go -C ../../internal/asm run ./gemm -out ../../pkg/tcore/gemm_amd64.s -stubs ../../pkg/tcore/gemm_amd64.go -pkg tcore
//go:generate go -C ../../internal/asm run ./exact -out ../../pkg/tcore/exact/sums_amd64.s -stubs ../../pkg/tcore/exact/sums_amd64.go -pkg exact
