#include "textflag.h"

// Registers: DI, SI, DX, CX point to d, a, b, c; BX is n; AX counts elements.
// Operands are in Go order, the destination last.

// func streamMAC(d, a, b, c *float32, n int)
TEXT ·streamMAC(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), CX
	MOVQ n+32(FP), BX
	XORQ AX, AX

mac:
	VMOVUPS (SI)(AX*4), Y0
	VMULPS  (DX)(AX*4), Y0, Y0 // ab, rounded
	VADDPS  (CX)(AX*4), Y0, Y0 // + c, rounded
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, BX
	JLT     mac
	VZEROUPPER
	RET

// func streamFMA(d, a, b, c *float32, n int)
TEXT ·streamFMA(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), CX
	MOVQ n+32(FP), BX
	XORQ AX, AX

fma:
	VMOVUPS     (SI)(AX*4), Y0
	VMOVUPS     (DX)(AX*4), Y1
	VFMADD213PS (CX)(AX*4), Y1, Y0 // ab + c, rounded once
	VMOVUPS     Y0, (DI)(AX*4)
	ADDQ        $8, AX
	CMPQ        AX, BX
	JLT         fma
	VZEROUPPER
	RET

// func streamMPFMA(d *float32, a, b *uint16, c *float32, n int)
TEXT ·streamMPFMA(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), CX
	MOVQ n+32(FP), BX
	XORQ AX, AX

mpfma:
	VCVTPH2PS   (SI)(AX*2), Y0     // binary16 codes to binary32, exact
	VCVTPH2PS   (DX)(AX*2), Y1
	VFMADD213PS (CX)(AX*4), Y1, Y0 // ab + c, rounded once
	VMOVUPS     Y0, (DI)(AX*4)
	ADDQ        $8, AX
	CMPQ        AX, BX
	JLT         mpfma
	VZEROUPPER
	RET
