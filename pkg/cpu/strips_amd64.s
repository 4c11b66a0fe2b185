// Products of whole tiles. The Go assembler has no mnemonics for AMX; its
// instructions stand here as bytes (Intel 2024). An address is a base and an
// index register, as the byte SIB says, and a displacement.

#include "textflag.h"

#define SIB_SI_BX $0x1e
#define SIB_DI_BX $0x1f
#define SIB_AX_CX $0x08
#define SIB_DX_CX $0x0a

// LDTILECFG (AX), TILERELEASE, TILEZERO TMMt
#define LDTILECFG_AX BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0x00
#define TILERELEASE BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0xc0
#define TILEZERO(t) BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x49; BYTE $(0xc0+8*t)

// TILELOADD, TILELOADDT1, which keeps what the first cache has of others, and
// TILESTORED of TMMt
#define TILELOAD(t, SIB, disp) BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x4b; BYTE $(0x84+8*t); BYTE SIB; LONG $disp
#define TILESTREAM(t, SIB, disp) BYTE $0xc4; BYTE $0xe2; BYTE $0x79; BYTE $0x4b; BYTE $(0x84+8*t); BYTE SIB; LONG $disp
#define TILESTORE(t, SIB, disp) BYTE $0xc4; BYTE $0xe2; BYTE $0x7a; BYTE $0x4b; BYTE $(0x84+8*t); BYTE SIB; LONG $disp

// TMMd += TMMa TMMb by the instruction of that prefix and opcode.
#define TILEDOT(prefix, opcode, d, a, b) BYTE $0xc4; BYTE $0xe2; BYTE $(prefix-8*b); BYTE $opcode; BYTE $(0xc0+8*d+a)

// All 8 tiles have 16 rows of 64 bytes.
DATA eight<>+0(SB)/8, $1
DATA eight<>+16(SB)/8, $0x0040004000400040
DATA eight<>+24(SB)/8, $0x0040004000400040
DATA eight<>+48(SB)/8, $0x1010101010101010
GLOBL eight<>(SB), RODATA|NOPTR, $64

// BLOCKS is the body of the routines below. Tiles 0 to 3 are the four quarters
// of a block of sums, 4 and 5 are of a, 6 and 7 of b.
#define BLOCKS(prefix, opcode) \
	LEAQ eight<>(SB), AX \
	LDTILECFG_AX \
	MOVQ from+0(FP), R12 \
	MOVQ to+8(FP), R13 \
	MOVQ ld+16(FP), R14 \
	MOVQ blocks+48(FP), R9 \
	MOVQ next+64(FP), R10 \
	MOVQ b+32(FP), DI \
	MOVQ $64, BX \
block: \
	MOVQ R13, AX \
	MOVQ $32, CX \
row: \
	PREFETCHT0 (AX) \
	PREFETCHT0 64(AX) \
	ADDQ R14, AX \
	DECQ CX \
	JNZ row \
	TESTQ R12, R12 \
	JZ zero \
	MOVQ $128, CX \
	MOVQ R12, AX \
	TILELOAD(0, SIB_AX_CX, 0) \
	TILELOAD(1, SIB_AX_CX, 64) \
	TILELOAD(2, SIB_AX_CX, 2048) \
	TILELOAD(3, SIB_AX_CX, 2112) \
	ADDQ $4096, R12 \
	JMP begin \
zero: \
	TILEZERO(0) \
	TILEZERO(1) \
	TILEZERO(2) \
	TILEZERO(3) \
begin: \
	MOVQ a+24(FP), SI \
	MOVQ tiles+40(FP), R8 \
tile: \
	TILELOAD(4, SIB_SI_BX, 0) \
	TILESTREAM(6, SIB_DI_BX, 0) \
	TILESTREAM(7, SIB_DI_BX, 1024) \
	TILEDOT(prefix, opcode, 0, 4, 6) \
	TILEDOT(prefix, opcode, 1, 4, 7) \
	TILELOAD(5, SIB_SI_BX, 1024) \
	TILEDOT(prefix, opcode, 2, 5, 6) \
	TILEDOT(prefix, opcode, 3, 5, 7) \
	PREFETCHT1 (R10) \
	PREFETCHT1 64(R10) \
	ADDQ $128, R10 \
	ADDQ $2048, SI \
	ADDQ $2048, DI \
	DECQ R8 \
	JNZ tile \
	MOVQ R14, CX \
	MOVQ R13, AX \
	TILESTORE(0, SIB_AX_CX, 0) \
	TILESTORE(1, SIB_AX_CX, 64) \
	MOVQ R14, DX \
	SHLQ $4, DX \
	ADDQ DX, AX \
	TILESTORE(2, SIB_AX_CX, 0) \
	TILESTORE(3, SIB_AX_CX, 64) \
	ADDQ nextTo+56(FP), R13 \
	DECQ R9 \
	JNZ block \
	TILERELEASE \
	RET

// func tdpbf16psBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·tdpbf16psBlocks(SB), NOSPLIT, $0-72
	BLOCKS(0x7a, 0x5c)

// func tdpbssdBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·tdpbssdBlocks(SB), NOSPLIT, $0-72
	BLOCKS(0x7b, 0x5e)

// func tdpbsudBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·tdpbsudBlocks(SB), NOSPLIT, $0-72
	BLOCKS(0x7a, 0x5e)

// func tdpbusdBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·tdpbusdBlocks(SB), NOSPLIT, $0-72
	BLOCKS(0x79, 0x5e)

// func tdpbuudBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
TEXT ·tdpbuudBlocks(SB), NOSPLIT, $0-72
	BLOCKS(0x78, 0x5e)
