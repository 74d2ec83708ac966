//go:build !purego

#include "textflag.h"

// func scanBlocks(t *masks, content *byte, n int, found *[32]byte) (at int, ok bool)
//
// Y0-Y7 hold the masks of the low and the high halves of the four bytes of a gram, Y8 the
// half mask, Y9 the result of the block.
TEXT ·scanBlocks(SB), NOSPLIT, $0-41
	MOVQ t+0(FP), DI
	MOVQ content+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ found+24(FP), DX
	XORQ AX, AX
	SUBQ $35, CX // the last block begins here: its last gram ends 35 bytes on
	JLT  none

	VBROADCASTI128 0(DI), Y0
	VBROADCASTI128 16(DI), Y1
	VBROADCASTI128 32(DI), Y2
	VBROADCASTI128 48(DI), Y3
	VBROADCASTI128 64(DI), Y4
	VBROADCASTI128 80(DI), Y5
	VBROADCASTI128 96(DI), Y6
	VBROADCASTI128 112(DI), Y7
	MOVL           $0x0f0f0f0f, BX
	VMOVD          BX, X8
	VPBROADCASTD   X8, Y8

loop:
	VMOVDQU (SI)(AX*1), Y10
	VMOVDQU 1(SI)(AX*1), Y11
	VMOVDQU 2(SI)(AX*1), Y12
	VMOVDQU 3(SI)(AX*1), Y13

	VPAND   Y8, Y10, Y14
	VPSRLW  $4, Y10, Y10
	VPAND   Y8, Y10, Y10
	VPSHUFB Y14, Y0, Y14
	VPSHUFB Y10, Y1, Y10
	VPAND   Y14, Y10, Y9

	VPAND   Y8, Y11, Y14
	VPSRLW  $4, Y11, Y11
	VPAND   Y8, Y11, Y11
	VPSHUFB Y14, Y2, Y14
	VPSHUFB Y11, Y3, Y11
	VPAND   Y14, Y11, Y11
	VPAND   Y11, Y9, Y9

	VPAND   Y8, Y12, Y14
	VPSRLW  $4, Y12, Y12
	VPAND   Y8, Y12, Y12
	VPSHUFB Y14, Y4, Y14
	VPSHUFB Y12, Y5, Y12
	VPAND   Y14, Y12, Y12
	VPAND   Y12, Y9, Y9

	VPAND   Y8, Y13, Y14
	VPSRLW  $4, Y13, Y13
	VPAND   Y8, Y13, Y13
	VPSHUFB Y14, Y6, Y14
	VPSHUFB Y13, Y7, Y13
	VPAND   Y14, Y13, Y13
	VPAND   Y13, Y9, Y9

	VPTEST Y9, Y9
	JNZ    hit
	ADDQ   $32, AX
	CMPQ   AX, CX
	JLE    loop

none:
	VZEROUPPER
	MOVQ AX, at+32(FP)
	MOVB $0, ok+40(FP)
	RET

hit:
	VMOVDQU Y9, (DX)
	VZEROUPPER
	MOVQ AX, at+32(FP)
	MOVB $1, ok+40(FP)
	RET
