// The Go assembler has no mnemonic for these instructions; they stand here as
// words (Arm 2024).

#include "textflag.h"

// BFDOT of V4 and V16 to V0
#define BFDOT_0 WORD $0x6e50fc80

// BFDOT of V4 and V17 to V1
#define BFDOT_1 WORD $0x6e51fc81

// BFDOT of V4 and V18 to V2
#define BFDOT_2 WORD $0x6e52fc82

// BFDOT of V4 and V19 to V3
#define BFDOT_3 WORD $0x6e53fc83

// BFMMLA of V4 and V16 to V0
#define BFMMLA_0 WORD $0x6e50ec80

// BFMMLA of V4 and V17 to V1
#define BFMMLA_1 WORD $0x6e51ec81

// Set further bits of FPCR, and then what it was.
#define CONTROL(bits) \
	MOVD bits, R14     \
	MRS  FPCR, R15     \
	ORR  R14, R15, R16 \
	MSR  R16, FPCR

#define RESTORE MSR R15, FPCR

// ID_AA64ISAR1_EL1 to R0
#define MRS_ISAR1_R0 WORD $0xd5380620

// func bfloat16Level() uint64
TEXT ·bfloat16Level(SB), NOSPLIT, $0-8
	MRS_ISAR1_R0
	UBFX $44, R0, $4, R0
	MOVD R0, ret+0(FP)
	RET

// func bfdot(c *float32, ldc int, a *uint16, b *uint16, pairs int, control uint64)
TEXT ·bfdot(SB), NOSPLIT, $0-48
	CONTROL(control+40(FP))
	MOVD c+0(FP), R0
	MOVD ldc+8(FP), R1
	MOVD a+16(FP), R2
	MOVD $16, R3

row:
	MOVD b+24(FP), R4
	MOVD pairs+32(FP), R5
	MOVD R2, R6
	VLD1 (R0), [V0.S4, V1.S4, V2.S4, V3.S4]

block:
	MOVD $16, R7

pair:
	VLD1R.P 4(R6), [V4.S4]
	VLD1.P  64(R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	BFDOT_0
	BFDOT_1
	BFDOT_2
	BFDOT_3
	SUBS    $1, R5
	BEQ     done
	SUBS    $1, R7
	BNE     pair
	ADD     $960, R6
	B       block

done:
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	ADD  R1, R0
	ADD  $64, R2
	SUBS $1, R3
	BNE  row
	RESTORE
	RET

// Two rows of four sums at a time: V0 has the left two columns of both, V1 the
// right ones.
//
// func bfmmla(c *float32, ldc int, a *uint16, b *uint16, pairs int, control uint64)
TEXT ·bfmmla(SB), NOSPLIT, $0-48
	CONTROL(control+40(FP))
	MOVD c+0(FP), R0
	MOVD ldc+8(FP), R1
	MOVD a+16(FP), R2
	MOVD $8, R3

rows:
	MOVD b+24(FP), R4
	MOVD R0, R8
	ADD  R1, R0, R9
	MOVD $4, R10

columns:
	MOVD  pairs+32(FP), R5
	MOVD  R2, R6
	ADD   $64, R2, R11
	MOVD  R4, R12
	VLD1  (R8), [V20.S4]
	VLD1  (R9), [V21.S4]
	VZIP1 V21.D2, V20.D2, V0.D2
	VZIP2 V21.D2, V20.D2, V1.D2

blocks:
	MOVD $8, R7

two:
	FMOVD.P 8(R6), F4
	FMOVD.P 8(R11), F5
	VZIP1   V5.D2, V4.D2, V4.D2
	ADD     $64, R12, R13
	VLD1    (R12), [V6.S4]
	VLD1    (R13), [V7.S4]
	ADD     $128, R12
	VZIP1   V7.S4, V6.S4, V16.S4
	VZIP2   V7.S4, V6.S4, V17.S4
	BFMMLA_0
	BFMMLA_1
	SUBS    $2, R5
	BEQ     stored
	SUBS    $1, R7
	BNE     two
	ADD     $960, R6
	ADD     $960, R11
	B       blocks

stored:
	VZIP1 V1.D2, V0.D2, V20.D2
	VZIP2 V1.D2, V0.D2, V21.D2
	VST1  [V20.S4], (R8)
	VST1  [V21.S4], (R9)
	ADD   $16, R8
	ADD   $16, R9
	ADD   $16, R4
	SUBS  $1, R10
	BNE   columns
	ADD   R1<<1, R0
	ADD   $128, R2
	SUBS  $1, R3
	BNE   rows
	RESTORE
	RET

// SMSTART and SMSTOP: streaming mode, and the tiles. The first clears them, and
// with them all vector registers.
#define SMSTART WORD $0xd503477f
#define SMSTOP WORD $0xd503467f

// All elements of P0 are active; of P1, R9 < 16 lanes of 32 bits, and of P2,
// R11 < 16. R8 is their number in a vector. The bound, 16, is in R10.
#define PTRUE_P0 WORD $0x2518e3e0
#define WHILELO_P1 WORD $0x25aa1d21
#define WHILELO_P2 WORD $0x25aa1d62
#define CNTW_R8 WORD $0x04a0e3e8

// The lanes P2 of row R12 of the tile, at R3; Z0 of the lanes P1 at R5, and Z1
// of P2 at R6. Lanes that are not active are zeros.
#define LD1W_ZA WORD $0xe09f0860
#define ST1W_ZA WORD $0xe0bf0860
#define LD1W_Z0 WORD $0xa540a4a0
#define LD1W_Z1 WORD $0xa540a8c1

// Outer products of pairs of Z0 and Z1 to the first tile
#define BFMOPA WORD $0x81810000
#define FMOPA WORD $0x81a10000

// A tile of SME has as many rows and columns as a vector has lanes, a number
// that is not known before. So 16 × 16 sums are parts of one tile or many, one
// after the other.
#define OUTER(MOPA) \
	CONTROL(control+40(FP)) \
	MOVD c+0(FP), R0 \
	MOVD ldc+8(FP), R1 \
	MOVD a+16(FP), R2 \
	MOVD b+24(FP), R4 \
	MOVD pairs+32(FP), R7 \
	MOVD $16, R10 \
	SMSTART \
	PTRUE_P0 \
	CNTW_R8 \
	MOVD $0, R9 \
row: \
	WHILELO_P1 \
	MOVD $0, R11 \
	SUB  R9, R10, R13 \
	CMP  R8, R13 \
	CSEL LO, R13, R8, R13 \
column: \
	WHILELO_P2 \
	MUL  R1, R9, R3 \
	ADD  R0, R3 \
	ADD  R11<<2, R3 \
	MOVD R3, R17 \
	MOVD $0, R12 \
load: \
	LD1W_ZA \
	ADD  R1, R3 \
	ADD  $1, R12 \
	CMP  R13, R12 \
	BLO  load \
	ADD  R9<<2, R2, R5 \
	ADD  R11<<2, R4, R6 \
	MOVD R7, R14 \
pair: \
	LD1W_Z0 \
	LD1W_Z1 \
	MOPA \
	ADD  $64, R5 \
	ADD  $64, R6 \
	SUBS $1, R14 \
	BNE  pair \
	MOVD R17, R3 \
	MOVD $0, R12 \
store: \
	ST1W_ZA \
	ADD  R1, R3 \
	ADD  $1, R12 \
	CMP  R13, R12 \
	BLO  store \
	ADD  R8, R11 \
	CMP  R10, R11 \
	BLO  column \
	ADD  R8, R9 \
	CMP  R10, R9 \
	BLO  row \
	SMSTOP \
	RESTORE \
	RET

// func bfmopa(c *float32, ldc int, a *uint32, b *uint16, pairs int, control uint64)
TEXT ·bfmopa(SB), NOSPLIT, $0-48
	OUTER(BFMOPA)

// func fmopa(c *float32, ldc int, a *uint32, b *uint16, pairs int, control uint64)
TEXT ·fmopa(SB), NOSPLIT, $0-48
	OUTER(FMOPA)
