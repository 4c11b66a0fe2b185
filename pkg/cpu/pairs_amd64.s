// Products of whole tiles by VDPBF16PS, for which the Go assembler has no
// mnemonic; it stands here as bytes (Intel 2024).

#include "textflag.h"

// DOT is VDPBF16PS Zb, Z18, Zd: for d below 16 and b of 16 and 17.
#define DOT(d, b) BYTE $0x62; BYTE $(0xb2-128*(d/8)); BYTE $0x6e; BYTE $0x40; BYTE $0x52; BYTE $(0xb0+8*(d&7)+b)

// ROW continues the two vectors of sums of a row, Z(d) and Z(d+1), by the pair
// of a at disp(SI), times those of b in Z16 and Z17.
#define ROW(d, disp) \
	VPBROADCASTD disp(SI), Z18 \
	DOT(d, 16) \
	DOT((d+1), 17)

// PAIR continues 8 rows of 32 sums, Z0 to Z15, by pair p of a tile.
#define PAIR(p) \
	VMOVUPS (64*p)(DI), Z16 \
	VMOVUPS (1024+64*p)(DI), Z17 \
	ROW(0, (4*p)) \
	ROW(2, (64+4*p)) \
	ROW(4, (128+4*p)) \
	ROW(6, (192+4*p)) \
	ROW(8, (256+4*p)) \
	ROW(10, (320+4*p)) \
	ROW(12, (384+4*p)) \
	ROW(14, (448+4*p))

// LOAD and STORE move a row of sums.
#define LOAD(disp, y, z) \
	VMOVUPS disp(R12), y \
	VMOVUPS (disp+64)(R12), z

#define STORE(y, z) \
	VMOVUPS y, (R13) \
	VMOVUPS z, 64(R13) \
	ADDQ R14, R13

#define ZERO(z) VPXORD z, z, z

// func vdpbf16psBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·vdpbf16psBlocks(SB), NOSPLIT, $0-72
	MOVQ from+0(FP), R12
	MOVQ to+8(FP), R13
	MOVQ ld+16(FP), R14
	MOVQ blocks+48(FP), R9
	MOVQ next+64(FP), R10

block:
	MOVQ a+24(FP), AX
	MOVQ R13, BX
	MOVQ $4, DX

group: // 8 rows of the strip
	MOVQ AX, SI
	MOVQ b+32(FP), DI
	MOVQ tiles+40(FP), R8
	TESTQ R12, R12
	JZ zero
	LOAD(0, Z0, Z1)
	LOAD(128, Z2, Z3)
	LOAD(256, Z4, Z5)
	LOAD(384, Z6, Z7)
	LOAD(512, Z8, Z9)
	LOAD(640, Z10, Z11)
	LOAD(768, Z12, Z13)
	LOAD(896, Z14, Z15)
	ADDQ $1024, R12
	JMP tile

zero:
	ZERO(Z0)
	ZERO(Z1)
	ZERO(Z2)
	ZERO(Z3)
	ZERO(Z4)
	ZERO(Z5)
	ZERO(Z6)
	ZERO(Z7)
	ZERO(Z8)
	ZERO(Z9)
	ZERO(Z10)
	ZERO(Z11)
	ZERO(Z12)
	ZERO(Z13)
	ZERO(Z14)
	ZERO(Z15)

tile:
	PREFETCHT1 (R10)
	ADDQ $64, R10
	MOVQ $4, CX

four:
	PAIR(0)
	PAIR(1)
	PAIR(2)
	PAIR(3)
	ADDQ $16, SI
	ADDQ $256, DI
	DECQ CX
	JNZ four
	ADDQ $1984, SI
	ADDQ $1024, DI
	DECQ R8
	JNZ tile

	STORE(Z0, Z1)
	STORE(Z2, Z3)
	STORE(Z4, Z5)
	STORE(Z6, Z7)
	STORE(Z8, Z9)
	STORE(Z10, Z11)
	STORE(Z12, Z13)
	STORE(Z14, Z15)
	ADDQ $512, AX
	DECQ DX
	JNZ group
	MOVQ DI, b+32(FP)
	MOVQ BX, R13
	ADDQ nextTo+56(FP), R13
	DECQ R9
	JNZ block
	VZEROUPPER
	RET
