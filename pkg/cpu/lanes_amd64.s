// The Go assembler has no mnemonics for AVX512-FP16; its instruction stands here
// as bytes (Intel 2024).

#include "textflag.h"

// VFMADD231PH Z2, Z1, Z0
#define VFMADD231PH_2_1_0 BYTE $0x62; BYTE $0xf6; BYTE $0x75; BYTE $0x48; BYTE $0xb8; BYTE $0xc2

// func vfmadd231ph(c *uint16, x *uint16, y *uint16, n int)
TEXT ·vfmadd231ph(SB), NOSPLIT, $0-32
	MOVQ c+0(FP), AX
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DI
	MOVQ n+24(FP), CX
	VMOVUPS (AX), Z0

product:
	VMOVUPS (SI), Z1
	VMOVUPS (DI), Z2
	VFMADD231PH_2_1_0
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  product

	VMOVUPS Z0, (AX)
	VZEROUPPER
	RET
