//go:build !purego

#include "textflag.h"

// HALVES looks up the 32 bytes that begin at a pointer, which then moves to the next block: a and b become the
// buckets whose gram has these bytes. low and high are the masks of the two halves of a byte. An index of VTBL is
// below 16, since a shift of bytes lets no bit in from the byte next to it.
#define HALVES(pointer, low, high, a, b) \
	VLD1.P 32(pointer), [a.B16, b.B16]; \
	VAND   V8.B16, a.B16, V24.B16; \
	VAND   V8.B16, b.B16, V25.B16; \
	VUSHR  $4, a.B16, a.B16; \
	VUSHR  $4, b.B16, b.B16; \
	VTBL   V24.B16, [low.B16], V24.B16; \
	VTBL   V25.B16, [low.B16], V25.B16; \
	VTBL   a.B16, [high.B16], a.B16; \
	VTBL   b.B16, [high.B16], b.B16; \
	VAND   V24.B16, a.B16, a.B16; \
	VAND   V25.B16, b.B16, b.B16

// func scanBlocks(t *masks, content *byte, n int, found *[32]byte) (at int, ok bool)
//
// V0-V7 hold the masks of the low and the high halves of the four bytes of a gram, V8 the
// half mask, V16 and V17 the result of the block. R1-R4 point to the four bytes.
TEXT ·scanBlocks(SB), NOSPLIT, $0-41
	MOVD t+0(FP), R0
	MOVD content+8(FP), R1
	MOVD n+16(FP), R5
	MOVD found+24(FP), R6
	MOVD $0, R7
	SUBS $35, R5, R5 // the last block begins here: its last gram ends 35 bytes on
	BLT  none

	VLD1.P 64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1   (R0), [V4.B16, V5.B16, V6.B16, V7.B16]
	VMOVI  $15, V8.B16
	ADD    $1, R1, R2
	ADD    $2, R1, R3
	ADD    $3, R1, R4

loop:
	HALVES(R1, V0, V1, V16, V17)
	HALVES(R2, V2, V3, V18, V19)
	HALVES(R3, V4, V5, V20, V21)
	HALVES(R4, V6, V7, V22, V23)
	VAND V18.B16, V16.B16, V16.B16
	VAND V19.B16, V17.B16, V17.B16
	VAND V22.B16, V20.B16, V20.B16
	VAND V23.B16, V21.B16, V21.B16
	VAND V20.B16, V16.B16, V16.B16
	VAND V21.B16, V17.B16, V17.B16

	VORR V16.B16, V17.B16, V18.B16
	VMOV V18.D[0], R8
	VMOV V18.D[1], R9
	ORR  R8, R9, R8
	CBNZ R8, hit
	ADD  $32, R7, R7
	CMP  R5, R7
	BLE  loop

none:
	MOVD R7, at+32(FP)
	MOVB ZR, ok+40(FP)
	RET

hit:
	VST1 [V16.B16, V17.B16], (R6)
	MOVD R7, at+32(FP)
	MOVD $1, R8
	MOVB R8, ok+40(FP)
	RET
