// The Go assembler has no mnemonic for BFDOT; it stands here as words (Arm
// 2024).

#include "textflag.h"

// BFDOT of V4 and V16 to V0
#define BFDOT_0 WORD $0x6e50fc80

// BFDOT of V4 and V17 to V1
#define BFDOT_1 WORD $0x6e51fc81

// BFDOT of V4 and V18 to V2
#define BFDOT_2 WORD $0x6e52fc82

// BFDOT of V4 and V19 to V3
#define BFDOT_3 WORD $0x6e53fc83

// func bfdot(c *float32, ldc int, a *uint16, b *uint16, pairs int)
TEXT ·bfdot(SB), NOSPLIT, $0-40
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
	RET
