package tcore

//go:generate go -C ../../internal/asm run ./round -out ../../pkg/tcore/round_amd64.s -stubs ../../pkg/tcore/round_amd64.go -pkg tcore
//go:generate go -C ../../internal/asm run ./gemm -only exact -out ../../pkg/tcore/exact/sums_amd64.s -stubs ../../pkg/tcore/exact/sums_amd64.go -pkg exact
