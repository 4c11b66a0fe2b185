// Factors in tiles. A tile of A has 64 bytes of each of 16 rows; a row of a tile
// of B has 4 bytes, of consecutive elements, of each of 16 columns. Numbers of
// binary32 are rounded to bfloat16 as integers, to nearest even; a NaN keeps its
// leading bits and becomes quiet. Codes of bfloat16 stay as they are.

#include "textflag.h"

DATA odd<>+0(SB)/8, $0x0007000500030001
DATA odd<>+8(SB)/8, $0x000f000d000b0009
DATA odd<>+16(SB)/8, $0x0017001500130011
DATA odd<>+24(SB)/8, $0x001f001d001b0019
DATA odd<>+32(SB)/8, $0x0027002500230021
DATA odd<>+40(SB)/8, $0x002f002d002b0029
DATA odd<>+48(SB)/8, $0x0037003500330031
DATA odd<>+56(SB)/8, $0x003f003d003b0039
GLOBL odd<>(SB), RODATA|NOPTR, $64

// CONSTANTS sets Z16 to 1, Z17 to 0x7fff, Z18 to the quiet bit and Z20 to the
// upper halves.
#define CONSTANTS \
	MOVL $1, AX \
	VPBROADCASTD AX, Z16 \
	MOVL $0x7fff, AX \
	VPBROADCASTD AX, Z17 \
	MOVL $0x400000, AX \
	VPBROADCASTD AX, Z18 \
	MOVL $0xffff0000, AX \
	VPBROADCASTD AX, Z20

// QUIET makes what is a NaN in x quiet, and clears its lower half, which could
// be carried otherwise.
#define QUIET(x) \
	VCMPPS $3, x, x, K1 \
	VPORD Z18, x, K1, x \
	VPANDD Z20, x, K1, x

// ROUND replaces elements of x by numbers whose upper halves are bfloat16: it
// adds 0x7fff after it has set the last bit of those whose upper half is odd,
// so that ties go to the even one. It uses y.
#define ROUND(x, y) \
	VPSRLD $16, x, y \
	VPTERNLOGD $0xf8, Z16, y, x \
	VPADDD Z17, x, x

// func packLeft32(dst *byte, src *float32, tiles int)
TEXT ·packLeft32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ tiles+16(FP), CX
	CONSTANTS
	VMOVDQU16 odd<>(SB), Z19

left:
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	PREFETCHT0 1024(SI)
	PREFETCHT0 1088(SI)
	VCMPPS $3, Z0, Z1, K1
	KORTESTW K1, K1
	JNZ  quietLeft

roundLeft:
	ROUND(Z0, Z2)
	ROUND(Z1, Z3)
	VPERMT2W Z1, Z19, Z0
	VMOVDQU16 Z0, (DI)
	ADDQ $128, SI
	ADDQ $2048, DI
	DECQ CX
	JNZ  left
	VZEROUPPER
	RET

quietLeft:
	QUIET(Z0)
	QUIET(Z1)
	JMP roundLeft

// func packRight32(dst *byte, src *float32, ld int, tiles int)
TEXT ·packRight32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), DX
	MOVQ tiles+24(FP), CX
	LEAQ (SI)(DX*8), R8
	CONSTANTS
	MOVL $0xaaaaaaaa, AX
	KMOVD AX, K5

tile:
	MOVQ $16, BX

pair:
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS (SI)(DX*1), Z2
	VMOVUPS 64(SI)(DX*1), Z3
	PREFETCHT0 (R8)
	PREFETCHT0 64(R8)
	PREFETCHT0 (R8)(DX*1)
	PREFETCHT0 64(R8)(DX*1)
	LEAQ (SI)(DX*2), SI
	LEAQ (R8)(DX*2), R8
	VCMPPS $3, Z0, Z1, K1
	VCMPPS $3, Z2, Z3, K2
	KORTESTW K1, K2
	JNZ  quietRight

roundRight:
	ROUND(Z0, Z4)
	ROUND(Z1, Z5)
	ROUND(Z2, Z6)
	ROUND(Z3, Z7)
	VPSRLD $16, Z0, Z0
	VPSRLD $16, Z1, Z1
	VMOVDQU16 Z2, K5, Z0
	VMOVDQU16 Z3, K5, Z1
	VMOVDQU16 Z0, (DI)
	VMOVDQU16 Z1, 1024(DI)
	ADDQ $64, DI
	DECQ BX
	JNZ  pair
	ADDQ $1024, DI
	DECQ CX
	JNZ  tile
	VZEROUPPER
	RET

quietRight:
	QUIET(Z0)
	QUIET(Z1)
	QUIET(Z2)
	QUIET(Z3)
	JMP roundRight

// func packLeft16(dst *byte, src *uint16, tiles int)
TEXT ·packLeft16(SB), NOSPLIT, $0-24
	JMP ·packLeft8(SB)

// func packRight16(dst *byte, src *uint16, ld int, tiles int)
TEXT ·packRight16(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), DX
	MOVQ tiles+24(FP), CX
	LEAQ (SI)(DX*8), R8

tile16:
	MOVQ $16, BX

pair16:
	VPMOVZXWD (SI), Z0
	VPMOVZXWD 32(SI), Z1
	VPMOVZXWD (SI)(DX*1), Z2
	VPMOVZXWD 32(SI)(DX*1), Z3
	PREFETCHT0 (R8)
	PREFETCHT0 (R8)(DX*1)
	LEAQ (SI)(DX*2), SI
	LEAQ (R8)(DX*2), R8
	VPSLLD $16, Z2, Z2
	VPSLLD $16, Z3, Z3
	VPORD Z2, Z0, Z0
	VPORD Z3, Z1, Z1
	VMOVDQU16 Z0, (DI)
	VMOVDQU16 Z1, 1024(DI)
	ADDQ $64, DI
	DECQ BX
	JNZ  pair16
	ADDQ $1024, DI
	DECQ CX
	JNZ  tile16
	VZEROUPPER
	RET

// func packLeft8(dst, src *byte, tiles int)
TEXT ·packLeft8(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ tiles+16(FP), CX

left:
	VMOVDQU8 (SI), Z0
	VMOVDQU8 Z0, (DI)
	ADDQ $64, SI
	ADDQ $2048, DI
	DECQ CX
	JNZ  left
	VZEROUPPER
	RET

// func packRight8(dst, src *byte, ld int, tiles int)
TEXT ·packRight8(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ ld+16(FP), DX
	MOVQ tiles+24(FP), CX
	LEAQ (DX)(DX*2), R8

tile:
	MOVQ $16, BX

four:
	VMOVDQU8 (SI), Y0
	VMOVDQU8 (SI)(DX*1), Y1
	VMOVDQU8 (SI)(DX*2), Y2
	VMOVDQU8 (SI)(R8*1), Y3
	LEAQ (SI)(DX*4), SI
	VPUNPCKLBW Y1, Y0, Y4
	VPUNPCKHBW Y1, Y0, Y5
	VPUNPCKLBW Y3, Y2, Y6
	VPUNPCKHBW Y3, Y2, Y7
	VPUNPCKLWD Y6, Y4, Y0
	VPUNPCKHWD Y6, Y4, Y1
	VPUNPCKLWD Y7, Y5, Y2
	VPUNPCKHWD Y7, Y5, Y3
	VMOVDQU8 X0, (DI)
	VMOVDQU8 X1, 16(DI)
	VMOVDQU8 X2, 32(DI)
	VMOVDQU8 X3, 48(DI)
	VEXTRACTI32X4 $1, Y0, 1024(DI)
	VEXTRACTI32X4 $1, Y1, 1040(DI)
	VEXTRACTI32X4 $1, Y2, 1056(DI)
	VEXTRACTI32X4 $1, Y3, 1072(DI)
	ADDQ $64, DI
	DECQ BX
	JNZ  four
	ADDQ $1024, DI
	DECQ CX
	JNZ  tile
	VZEROUPPER
	RET
