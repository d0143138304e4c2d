/* SASS on the warp machine: instructions, convergence, calls, matrices, and what cannot be executed. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "lab_case.h"

enum { LANES = 32 };

static const char twin[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry op(.param .u64 p0)\n{\n.shared .align 16 .b8 s[65536];\nret;\n}\n";

/* R1, R2, R3 are words of the lane, R4 is its result; UR4 holds the buffer's address. */
static const char frame[] = "\t.target\tsm_90\n\t.section\t.text.op,\"ax\",@progbits\nop:\n"
                            "/**/ S2R R0, SR_LANEID ;\n/**/ LDC.64 R8, c[0x0][0x210] ;\n"
                            "/**/ IMAD.WIDE.U32 R8, R0, 0x4, R8 ;\n"
                            "/**/ LDG.E R1, desc[UR6][R8.64] ;\n/**/ LDG.E R2, desc[UR6][R8.64+0x80] ;\n"
                            "/**/ LDG.E R3, desc[UR6][R8.64+0x100] ;\n%s\n"
                            "/**/ STG.E desc[UR6][R8.64+0x180], R4 ;\n/**/ EXIT ;\n";

static void run(lab *l)
{
    lab_run(l, &(smp_warp_launch){.block = {LANES, 1, 1}, .params = &l->words});
}

/* Runs instructions (";" ends each) on words a, b, c of every lane; the result of lane `lane`. */
static uint32_t compute(const char *instructions, uint32_t a, uint32_t b, uint32_t c, uint32_t lane)
{
    char text[4096] = "";
    lab l;
    for (const char *at = instructions; *at;) {
        const size_t size = strcspn(at, ";\n"), used = strlen(text);
        const bool label = size && at[size - 1] == ':';
        if (size)
            snprintf(text + used, sizeof text - used, "%s%.*s%s\n", label ? "" : "/**/ ", (int)size, at,
                     label ? "" : ";");
        at += size + (at[size] != 0);
    }
    lab_open_sass(&l, twin, frame, text);
    return lab_compute(&l, instructions, a, b, c, lane);
}

/* As an H200 has them: floats have one NaN, doubles keep that of an operand. */
SMP_TEST(nans_have_the_bits_of_a_gpu)
{
    static const calculation cases[] = {
        {"FADD R4, R1, R2", 0x7f800000, 0xff800000, 0, 0x7fffffff},
        {"FADD R4, -R1, -RZ", 0x7fc00000, 0, 0, 0x7fffffff},
        {"FMUL.RM R4, R1, R2", 0, 0x3f800000, 0, 0},
        {"FFMA R4, R1, R2, R3", 0x7f800000, 0, 0xffc00001, 0x7fffffff},
        {"FMNMX R4, R1, R2, PT", 0xffc00001, 0x7fa00000, 0, 0x7fffffff},
        {"MUFU.RSQ R4, R1", 0xbf800000, 0, 0, 0x7fffffff},
        {"MUFU.RCP R4, R1", 0x7f7fffff, 0, 0, 0},
        {"MUFU.RSQ R4, R1", 0x80000001, 0, 0, 0xff800000},
        {"MUFU.SIN R4, R1", 0xff7fffff, 0, 0, 0x80000000},
        {"MUFU.RCP64H R4, R1", 0xfff80001, 0, 0, 0x7fffffff},
        {"HMNMX2 R4, R1, R2, PT", 0x7e003c00, 0xfe004000, 0, 0x7fff3c00},
        {"HADD2.F32 R4, -RZ, R1.H0_H0", 0x00007e55, 0, 0, 0x7fffffff},
        {"MOV R10, 0x5678;MOV R11, R1;MOV R12, RZ;MOV R13, R2;DADD R10, R10, R12;MOV R4, R11", 0x7ff80001, 0xfff80002,
         0, 0xfff80002},
        {"MOV R10, 0x5678;MOV R11, R1;MOV R12, RZ;MOV R13, R2;DADD R10, R10, -R12;MOV R4, R11", 0x3ff00000, 0x7ff40002,
         0, 0x7ffc0002},
        {"MOV R10, 0x5678;MOV R11, R1;MOV R12, RZ;MOV R13, R2;MOV R14, RZ;MOV R15, R3;DFMA R10, R10, R12, R14;MOV R4, "
         "R11",
         0x7ff80001, 0x3ff00000, 0xfff80003, 0xfff80003},
        {"MOV R10, 0x5678;MOV R11, R1;F2F.F32.F64 R4, R10", 0xfff80001, 0, 0, 0xffc00008},
        {"MOV R10, 0x5678;MOV R11, R1;F2I.F64.TRUNC R4, R10", 0x7ff80001, 0, 0, 0x80000000},
    };
    lab_check(compute, cases, sizeof cases / sizeof cases[0]);
}

SMP_TEST(instructions_compute)
{
    static const calculation cases[] = {
        {"IADD3 R4, R1, -R2, R3", 10, 3, 1, 8},
        {"IADD3 R5, P0, R1, R2, RZ;IADD3.X R4, R3, RZ, RZ, P0, !PT", 0xffffffff, 1, 7, 8},
        {"IADD3 R5, P0, R1, -R2, RZ;IADD3.X R4, RZ, ~R3, RZ, P0, !PT", 0, 0, 0, 0},
        {"IADD3 R5, P0, P1, R1, R2, R3;IADD3.X R4, RZ, RZ, RZ, P0, P1", 0xffffffff, 0xffffffff, 0xffffffff, 2},
        {"VIADD R4, R1, 0xfffffffe", 5, 0, 0, 3},
        {"MOV R10, R1;MOV R11, R2;IADD.64 R10, R10, 0x1;MOV R4, R11", 0xffffffff, 6, 0, 7},
        {"MOV R10, R1;MOV R11, R2;IADD.64 R10, R10, -0x1;MOV R4, R11", 0, 6, 0, 5},
        {"MOV R10, R1;MOV R11, R2;IADD.64 R12, RZ, -R10;MOV R4, R13", 1, 0, 0, 0xffffffff},
        {"UMOV.64 UR4, 0x300000002;UIADD3.64 UR4, UPT, UPT, UR4, 0xfffffffe, URZ;MOV R4, UR5", 0, 0, 0, 4},
        {"MOV R10, R1;MOV R11, R2;MOV.64 R12, R10;MOV R4, R13", 1, 9, 0, 9},
        {"LDCU.128 UR4, c[0x0][0x0];MOV R4, UR4", 0, 0, 0, 32},
        {"LDCU UR4, c[0x0][0x0];MOV R4, UR4", 0, 0, 0, 32},
        {"UMOV UR4, 0x5;UI2F.U32.RP UR4, UR4;MOV R4, UR4", 0, 0, 0, 0x40a00000},
        {"F2FP.PACK_AB R4, R1, R2", 0x3f800000, 0x40000000, 0, 0x3c004000},
        {"BRA.DIV ~URZ, `(.L_0);MOV R4, R1;.L_0:;NOP", 3, 0, 0, 3},
        {"IMAD R4, R1, R2, R3", 3, 0xffffffff, 10, 7},
        {"IMAD.SHL.U32 R4, R1, 0x8, RZ", 3, 0, 0, 24},
        {"MOV R10, R3;MOV R11, RZ;IMAD.WIDE R4, R1, R2, R10;MOV R4, R5", 0xffffffff, 2, 1, 0xffffffff},
        {"IMAD.HI.U32 R4, R1, R2, RZ", 0x80000000, 6, 0, 3},
        {"MOV R10, R3;MOV R11, R3;IMAD.WIDE.U32 R4, P0, R1, R2, R10;SEL R4, R5, RZ, P0", 0xffffffff, 0xffffffff,
         0xffffffff, 0xfffffffe},
        {"ISETP.EQ.AND P1, PT, R1, R1, PT;IMAD.WIDE.U32.X R4, R1, R2, RZ, P1;MOV R4, R5", 0xffffffff, 1, 0, 1},
        {"LEA R4, R1, R2, 0x2", 3, 100, 0, 112},
        {"LEA R5, P0, R1, R2, 0x1;LEA.HI.X R4, R1, R3, RZ, 0x1, P0", 0x80000000, 0, 7, 8},
        {"LEA R5, P0, -R1, R2, 0x3;IADD3.X R4, ~R3, RZ, RZ, P0, !PT", 0, 5, 0, 0},
        {"LEA R5, P0, -R1, R2, 0x3;IADD3.X R4, ~R3, RZ, RZ, P0, !PT", 1, 5, 0, 0xffffffff},
        {"LEA.HI.X.SX32 R4, R1, R2, 0x2, !PT", 0x80000000, 1, 0, 0xffffffff},
        {"LOP3.LUT R4, R1, R2, R3, 0x96, !PT", 1, 3, 7, 5},
        {"LOP3.LUT R4, R1, R2, RZ, 0xc0, !PT", 0xf0, 0x3c, 0, 0x30},
        {"LOP3.LUT P0, RZ, R1, R2, RZ, 0xc0, !PT;SEL R4, R1, R3, P0", 4, 3, 9, 9},
        {"SHF.L.U32 R4, R1, R2, RZ", 1, 32, 0, 0},
        {"SHF.R.S32.HI R4, RZ, R2, R1", 0x80000000, 40, 0, 0xffffffff},
        {"SHF.L.U64.HI R4, R1, 0x4, R2", 0xf0000000, 1, 0, 0x1f},
        {"SHF.R.U64 R4, R1, 0x4, R2", 0x10, 3, 0, 0x30000001},
        {"SHF.L.U64.HI R4, R1, R3, R2", 0xffffffff, 0xffffffff, 64, 0},
        {"SHF.R.U64 R4, R1, R3, R2", 0xffffffff, 0xffffffff, 64, 0},
        {"SHF.R.S64 R4, R1, R3, R2", 1, 0x80000000, 64, 0xffffffff},
        {"SHF.L.U64.HI R4, R1, R3, R2", 0xffffffff, 0, 63, 0x80000000},
        {"SHF.L.W.U32.HI R4, R1, R3, R1", 0x80000001, 0, 33, 3},
        {"ISETP.GT.AND P0, P1, R1, R2, PT;SEL R4, R1, R3, P1", 0xffffffff, 0, 5, 0xffffffff},
        {"ISETP.GE.U32.AND P0, PT, R1, R2, PT;ISETP.GE.EX.AND P0, PT, R3, RZ, PT, P0;SEL R4, R1, RZ, P0", 1, 2, 0, 0},
        {"PRMT R4, R1, 0x5410, R2", 0x44332211, 0x88776655, 0, 0x66552211},
        {"PRMT R4, R1, 0x8888, RZ", 0x80, 0, 0, 0xffffffff},
        {"VIMNMX R4, R1, R2, PT", 0xffffffff, 3, 0, 0xffffffff},
        {"VIMNMX R4, PT, PT, R1, R2, !PT", 0xffffffff, 3, 0, 3},
        {"VIMNMX.U32 R4, R1, R2, PT", 0xffffffff, 3, 0, 3},
        {"VIMNMX3 R4, R1, R2, R3, PT", 7, 0xffffffff, 5, 0xffffffff},
        {"VIMNMX3 R4, R1, R2, R3, !PT", 7, 0xffffffff, 9, 9},
        {"VIMNMX3.U32 R4, R1, R2, R3, !PT", 7, 0xffffffff, 9, 0xffffffff},
        {"VIMNMX3.U16x2 R4, R1, R2, R3, PT", 0x0001ffff, 0xffff0002, 0x00030003, 0x00010002},
        {"VIMNMX.RELU R4, R1, 0xff, PT", 0xfffffffb, 0, 0, 0},
        {"VIMNMX.RELU R4, R1, 0xff, PT", 0x100, 0, 0, 0xff},
        {"VIMNMX.S16x2.RELU R4, R1, 0xff00ff, PT", 0x8000012c, 0, 0, 0xff},
        {"VIADDMNMX.U16x2 R4, R1, 0xff01ff01, R2, PT", 0x01000005, 0x00020003, 0, 0x00010003},
        {"POPC R4, R1", 0xf0f0, 0, 0, 8},
        {"FLO.U32 R4, R1", 0x100, 0, 0, 8},
        {"BREV R4, R1", 1, 0, 0, 0x80000000},
        {"IABS R4, R1", 0xfffffff0, 0, 0, 16},
        {"SGXT R4, R1, 0x8", 0xf0, 0, 0, 0xfffffff0},
        {"BMSK R4, R1, R2", 4, 4, 0, 0xf0},
        {"FADD R4, R1, -R2", 0x3f800000, 0x40000000, 0, 0xbf800000},
        {"FFMA R4, R1, R2, R3", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"FFMA.RP R4, R1, R2, RZ", 0x3f800001, 0x3f800001, 0, 0x3f800003},
        {"FMUL.SAT R4, R1, R2", 0x40000000, 0x40000000, 0, 0x3f800000},
        {"FADD.FTZ R4, R1, RZ", 1, 0, 0, 0},
        {"FMNMX R4, R1, R2, PT", 0x7fc00000, 0x40000000, 0, 0x40000000},
        {"FMNMX3 R4, R1, -R2, R3, PT", 0x40000000, 0x3f800000, 0x7fc00000, 0xbf800000},
        {"FMNMX3 R4, R1, R2, R3, !PT", 0x7fc00000, 0x3f800000, 0x40400000, 0x40400000},
        {"FMNMX3.NAN R4, R1, R2, R3, !PT", 0x7fc00000, 0x3f800000, 0x40400000, 0x7fffffff},
        {"CREDUX.MAX.S32 UR8, R0;MOV R4, UR8", 0, 0, 0, 31},
        {"FSETP.LTU.AND P0, PT, R1, R2, PT;SEL R4, 0x1, RZ, P0", 0x7fc00000, 0, 0, 1},
        {"FSEL R4, -|R1|, R2, !P0", 0x3f800000, 0, 0, 0xbf800000},
        {"I2F.U32.RP R4, R1", 0x01000001, 0, 0, 0x4b800001},
        {"I2FP.F32.S32 R4, R1", 0xffffffff, 0, 0, 0xbf800000},
        {"I2F.U8 R4, R1.B3", 0x05000000, 0, 0, 0x40a00000},
        {"F2I.TRUNC.NTZ R4, R1", 0xc0200000, 0, 0, 0xfffffffe},
        {"F2I.FTZ.U32.TRUNC.NTZ R4, R1", 0xbf800000, 0, 0, 0},
        {"FRND.FLOOR R4, R1", 0xbfc00000, 0, 0, 0xc0000000},
        {"F2F.FTZ.F64.F32 R10, R1;MOV R4, R11", 0x00400000, 0, 0, 0},
        {"MUFU.RCP R4, R1", 0x40800000, 0, 0, 0x3e800000},
        {"MUFU.RCP64H R4, 3.299999237060546875", 0, 0, 0, 0x3fd364d9},
        {"MUFU.RCP64H R4, R1", 0x40100000, 0, 0, 0x3fd00000},
        {"HADD2 R4, R1, R2.H0_H0", 0x40003c00, 0x3c00, 0, 0x42004000},
        {"HFMA2.MMA R4, -RZ, RZ, 1.875, 2", 0, 0, 0, 0x3f804000},
        {"HADD2.F32 R4, -RZ, R1.H1_H1", 0x3c000000, 0, 0, 0x3f800000},
        {"HADD2.F32 R4, -RZ, |R1|.H0_H0", 0xbc00, 0, 0, 0x3f800000},
        {"HADD2.F32 R4, -RZ, -R1.H0_H0", 0xbc00, 0, 0, 0x3f800000},
        {"ATOM.E.ADD.STRONG.GPU P1, RZ, desc[UR6][R8.64+0x180], R2;LDG.E R4, desc[UR6][R8.64+0x180];SEL R4, R4, R3, P1",
         0, 6, 9, 6},
        {"S2R R11, SR_SWINHI;MOV R10, 0x400;QSPC.E.S P1, RZ, [R10];SEL R4, R1, R2, P1", 5, 6, 0, 5},
        {"QSPC.E.S P1, RZ, [R8];SEL R4, R1, R2, P1", 5, 6, 0, 6},
        {"FMUL.D4 R4, R1, -6", 0x40000000, 0, 0, 0xc0400000},
        {"F2I.F16.NTZ R4, -R1.H1", 0x42800000, 0, 0, 0xfffffffd},
        {"F2I.U32.F16.CEIL.NTZ R4, R1", 0x4080, 0, 0, 3},
        {"R2UR P1, URZ, R0;SEL R4, R1, R2, P1", 7, 9, 0, 9},
        {"F2FP.F16.F32.PACK_AB R4, R1, R2", 0x3f800000, 0x40000000, 0, 0x3c004000},
        {"MOV R10, RZ;MOV R11, R1;DADD R4, R10, 1.5;MOV R4, R5", 0x3ff00000, 0, 0, 0x40040000},
        {"MOV R10, RZ;MOV R11, R1;DFMA R4, R10, R10, -R10;F2F.F32.F64 R4, R4", 0x40000000, 0, 0, 0x40000000},
        {"ISETP.NE.AND P2, PT, R1, RZ, PT;P2R R4, PR, RZ, 0x4", 1, 0, 0, 4},
        {"UISETP.EQ.AND UP2, UPT, URZ, URZ, UPT;UP2UR UR8, UPR, URZ, 0x4;MOV R4, UR8", 0, 0, 0, 4},
        {"MOV R4, R1;ISETP.GE.AND P0, PT, R0, RZ, PT;STG.E desc[UR6][R8.64+0x180], R2;@P0 EXIT !P0", 5, 6, 0, 5},
        {"MOV R4, R1;ISETP.GE.AND P0, PT, R0, RZ, PT;STG.E desc[UR6][R8.64+0x180], R2;@P0 EXIT P0", 5, 6, 0, 6},
        {"MOV R10, R1;MOV R11, R1;MOV R12, R1;MOV R13, R1;MOV R14, R2;MOV R15, R2;MOV R16, R3;MOV R17, R3;"
         "MOV R18, R3;MOV R19, R3;IMMA.16832.U8.U8 R4, R10.ROW, R14.reuse.COL, R16",
         0x01010101, 0x02020202, 5, 69},
        {"R2P PR, R1, 0x7f;SEL R4, R2, R3, P3", 8, 5, 6, 5},
        {"PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0;SEL R4, R1, R2, P0", 5, 6, 0, 6},
        {"ULDC UR8, c[0x0][0x0];UIADD3 UR8, UR8, 0x1, URZ;IMAD.U32 R4, RZ, RZ, UR8", 0, 0, 0, 33},
        {"R2UR UR8, R1;USHF.L.U32 UR8, UR8, 0x2, URZ;MOV R4, UR8", 5, 0, 0, 20},
        {"VOTE.ANY R4, PT, PT", 0, 0, 0, 0xffffffff},
        {"REDUX.SUM UR8, R1;MOV R4, UR8", 3, 0, 0, 96},
        {"STS [R0.X4+0x400], R1;LDS R4, [R0.X4+0x400]", 77, 0, 0, 77},
        {"MOV R5, 0x400;ATOMS.POPC.INC.32 RZ, [R5];ATOMS.ADD R4, [R5], R1;MOV R4, 0x9", 1, 0, 0, 9},
        {"MOV R10, R3;MOV R11, RZ;IMAD.WIDE.U32 R4, R1, R2, -R10", 3, 5, 7, 8},
        {"VABSDIFF R4, R1, R2, R3", 0xfffffffe, 3, 10, 15},
        {"VABSDIFF4.U8.ACC R4, R1, R2, R3", 0x01ff0102, 0x02020304, 10, 268},
        {"VABSDIFF4.U8 R4, R1, R2, RZ", 0x01ff0102, 0x02020304, 0, 0x01fd0202},
        {"MOV R5, 0x90;BRX R5 -0x80 (*\"BRANCH_TARGETS .L_a\"*);MOV R4, 0x1;MOV R4, 0x2", 0, 0, 0, 2},
        {"LDG.E R10, desc[UR6][R8.64];VIADD R11, R10, 0x5;ATOMG.E.CAS.STRONG.GPU PT, R12, [R8], R10, R11;"
         "LDG.E R4, desc[UR6][R8.64]",
         7, 0, 0, 12},
        {"IDP.4A.S8.U8 R4, R1, R2, R3", 0x01ff0203, 0x02030405, 100, 122},
        {"IDP.2A.HI.U16.U8 R4, R1, R2, RZ", 0x00020003, 0x04050000, 0, 23},
        {"FSET.BF.GT.AND R4, R1, R2, PT", 0x40000000, 0x3f800000, 0, 0x3f800000},
        {"MOV R10, RZ;MOV R11, R1;DSETP.MAX.AND P0, P1, R10, 1.5, PT;SEL R4, 0x1, RZ, P0", 0x40000000, 0, 0, 1},
        {"MOV R10, RZ;MOV R11, R1;DSETP.MIN.AND P0, P1, R10, 1.5, PT;SEL R4, 0x1, RZ, P0", 0x40000000, 0, 0, 0},
        {"I2F.F16 R4, R1", 3, 0, 0, 0x4200},
        {"BRA.CONV ~URZ, `(.L_a);MOV R4, 0x1;EXIT;.L_a:;MOV R4, 0x2", 0, 0, 0, 2},
        {"IMMA.16816.S8.S8 R4, RZ, RZ, RZ", 0, 0, 0, 0},
        {"LEPC R4, `(.L_a)\n.L_a:\n", 0, 0, 0, 0x70},
    };
    lab_check(compute, cases, sizeof cases / sizeof cases[0]);
}

/* Lanes part at a branch and come together at BSYNC: the vote sees all of them. */
SMP_TEST(lanes_converge)
{
    static const char text[] = "ISETP.GE.U32.AND P0, PT, R0, 0x10, PT;MOV R4, RZ;BSSY B0, `(.L_end);\n"
                               "@P0 BRA `(.L_else);MOV R4, 0x1;BRA `(.L_end);\n.L_else:\nMOV R4, 0x2;\n.L_end:\n"
                               "BSYNC B0;VOTE.ANY R5, PT, PT;IMAD R4, R5, 0x10, R4";
    assert_int_equal(compute(text, 0, 0, 0, 0), 0xfffffff1);
    assert_int_equal(compute(text, 0, 0, 0, 31), 0xfffffff2);
}

/* BRA.U is for whole warps: lanes that differ go on together, so that what is uniform is counted once. The slow way
 * lies behind the end, as a division's does. */
SMP_TEST(lanes_that_differ_pass_a_uniform_branch_together)
{
    static const char text[] = "UMOV UR4, URZ;ISETP.GE.U32.AND P0, PT, R0, %s, PT;MOV R4, RZ;\n"
                               "@P0 BRA.U `(.L_over);BSSY B0, `(.L_over);@P0 BRA `(.L_join);BRA `(.L_slow);\n.L_join:\n"
                               "BSYNC B0;\n.L_over:\nUIADD3 UR4, UR4, 0x1, URZ;IADD3 R4, R4, UR4, RZ;BRA `(.L_end);\n"
                               ".L_slow:\nMOV R4, 0x10;BRA `(.L_join);\n.L_end:\nNOP";
    static const struct {
        const char *first; /* lane that jumps */
        uint32_t low, high;
    } cases[] = {{"0x10", 0x11, 1}, {"0x0", 1, 1}, {"0x20", 0x11, 0x11}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char own[1000];
        snprintf(own, sizeof own, text, cases[i].first);
        assert_int_equal(compute(own, 0, 0, 0, 3), cases[i].low);
        assert_int_equal(compute(own, 0, 0, 0, 20), cases[i].high);
    }
}

/* Half a warp each sums its lanes alone. */
SMP_TEST(lanes_of_other_masks_reduce_apart)
{
    static const char masks[] = "ISETP.GE.U32.AND P1, PT, R0, 0x10, PT;MOV R5, 0xffff0000;SEL R5, R5, 0xffff, P1;";
    static const char exclusive[] = "%sBSSY B0, `(.L_0);WARPSYNC.EXCLUSIVE R5;REDUX.SUM UR4, R0;MOV R4, UR4;"
                                    "BSYNC B0;.L_0:;NOP";
    static const char guarded[] = "%sREDUX.OR UR4, R5;R2UR P2, URZ, R5;@!P2 BRA.DIV UR4, `(.L_0);"
                                  "REDUX.SUM UR4, R0;MOV R4, UR4;.L_0:;NOP";
    static const char later[] = "%sREDUX.OR UR4, R5;R2UR P2, URZ, R5;@!P2 BRA.DIV UR4, `(.L_0);"
                                "REDUX.SUM UR4, R0;REDUX.SUM UR4, R0;MOV R4, UR4;.L_0:;NOP";
    const struct {
        const char *text;
        uint32_t low, high;
    } cases[] = {{exclusive, 120, 376}, {guarded, 120, 376}, {later, 496, 496}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, cases[i].text, masks);
        assert_int_equal(compute(text, 0, 0, 0, 3), cases[i].low);
        assert_int_equal(compute(text, 0, 0, 0, 20), cases[i].high);
    }
}

/* A function's code: the call returns to where the register says. */
SMP_TEST(calls_return)
{
    /* instructions 6 to 8; the function is at 10 */
    static const char text[] = "MOV R6, 0x80;CALL.REL.NOINC `(f);IADD3 R4, R4, 0x1, RZ;BRA `(.L_end);\nf:\n"
                               "IADD3 R4, R1, R1, RZ;RET.REL.NODEC R6 `(op);\n.L_end:\nNOP";
    assert_int_equal(compute(text, 21, 0, 0, 3), 43);
}

/* 32 threads arrive at a barrier for 32 and wait for its phase; one of 64 bytes of a copy's does so, too. */
SMP_TEST(barriers_in_shared_memory_are_waited_for)
{
    static const char all[] = "UMOV UR8, 0x400;UMOV UR4, 0x1fffc0;UMOV UR5, 0x7fff0000;SYNCS.EXCH.64 URZ, [UR8], UR4;\n"
                              "SYNCS.ARRIVE.TRANS64.A1T0 R10, [UR8], RZ;\n.L_w:\n"
                              "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R11;@!P0 BRA `(.L_w);MOV R4, 0x7";
    assert_int_equal(compute(all, 0, 0, 0, 5), 7);
    /* R8 is the address of words that are a and b; they go to shared memory by the bulk engine */
    static const char copy[] =
        "UMOV UR8, 0x400;UMOV UR4, 0x1ffffe;UMOV UR5, 0x7ffff800;SYNCS.EXCH.64 URZ, [UR8], UR4;\n"
        "R2UR UR10, R8;R2UR UR11, R9;UMOV UR12, 0x500;UMOV UR13, 0x400;UMOV UR14, 0x8;\n"
        "ISETP.EQ.AND P1, PT, R0, RZ, PT;MOV R12, 0x80;@P1 SYNCS.ARRIVE.TRANS64 RZ, [UR8], R12;\n"
        "UBLKCP.S.G [UR12], [UR10], UR14;MOV R11, RZ;\n.L_w:\n"
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R11;@!P0 BRA `(.L_w);LDS R4, [0x514]";
    assert_int_equal(compute(copy, 21, 0, 0, 5), 21);
}

SMP_TEST(what_is_unknown_is_told)
{
    static const char *const texts[][2] = {{"/**/ FROB R4, R1 ;", "unknown operation"},
                                           {"/**/ IADD3.FROB R4, R1, R2, R3 ;", "'.FROB' is unknown"},
                                           {"/**/ HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;", "unknown operation"},
                                           {"/**/ MOV R4, cx[UR4][0x10] ;", "unknown form"},
                                           {"/**/ IDP.4A.HI.U8.U8 R4, R1, R2, R3 ;", "this form"},
                                           {"/**/ BRA `(.L_nowhere) ;", "another function"},
                                           {"/**/ CALL.REL.NOINC R8 `(op) ;", "this call"},
                                           {"/**/ CALL.REL.NOINC `(f) ;\n/**/ EXIT ;\nf:\n/**/ CALL.REL.NOINC `(f) ;\n"
                                            "/**/ RET.REL.NODEC R6 `(op) ;",
                                            "calls itself"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lab l;
        lab_open_sass(&l, twin, frame, texts[i][0]);
        const smp_error *problem = smp_warp_kernel_problem(smp_warp_kernel_at(l.sass, 0));
        assert_non_null(problem);
        assert_non_null(strstr(problem->message, texts[i][1]));
        assert_string_equal(problem->where, "a.sass:10");
        run(&l);
        assert_int_equal(l.code, SMP_E_PROCESS);
        lab_close(&l);
    }
}

/* Counts are of SASS, and memory that differs from the PTX's is told: this PTX writes nothing. */
SMP_TEST(both_are_compared)
{
    lab l;
    lab_open_sass(&l, twin, frame, "/**/ MOV R4, 0x1 ;");
    const smp_warp_launch launch = {.kernel = smp_warp_kernel_at(l.ptx, 0),
                                    .grid = {1, 1, 1},
                                    .block = {LANES, 1, 1},
                                    .params = &l.words,
                                    .memory = l.memory};
    assert_int_equal(smp_warp_run_both(&launch, smp_warp_kernel_at(l.sass, 0), &l.result, &l.err), SMP_OK);
    assert_string_equal(l.result.code, "sass");
    assert_int_equal(l.result.differing_bytes, LANES);
    assert_non_null(strstr(l.result.notes, "32 bytes of memory that differ, first byte 384 of 'words' (512 bytes)"));
    smp_warp_result_free(&l.result);
    assert_int_equal(smp_warp_run_both(&launch, NULL, &l.result, &l.err), SMP_OK);
    assert_string_equal(l.result.code, "ptx");
    lab_close(&l);
    lab_open_sass(&l, twin, frame, "/**/ HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;"); /* wgmma: not there */
    smp_warp_launch other = launch;
    other.kernel = smp_warp_kernel_at(l.ptx, 0);
    other.memory = l.memory;
    assert_int_equal(smp_warp_run_both(&other, smp_warp_kernel_at(l.sass, 0), &l.result, &l.err), SMP_OK);
    assert_string_equal(l.result.code, "ptx");
    assert_non_null(strstr(l.result.notes, "counted from PTX: kernel 'op' has SASS that cannot be executed: 'HGMMA"));
    lab_close(&l);
}

/* a (8 x 4) holds its row's number, b (4 x 8) its column's: a sum is 4 row column + c. Lane 4g + t has row g, columns
 * 2t and 2t + 1. */
SMP_TEST(doubles_are_multiplied)
{
    static const char code[] =
        "/**/ SHF.R.U32.HI R5, RZ, 0x2, R0 ;\n/**/ I2F.F64.U32 R10, R5 ;\n" /* a, and b: lane / 4 */
        "/**/ I2F.F64.U32 R12, R0 ;\n/**/ I2F.F64.U32 R14, R0 ;\n"          /* c: the lane, twice */
        "/**/ DMMA.8x8x4 R16, R10, R10, R12 ;\n/**/ F2F.F32.F64 R4, R18 ;";
    lab l;
    lab_open_sass(&l, twin, frame, code);
    run(&l);
    assert_int_equal(l.code, SMP_OK);
    for (uint32_t i = 0; i < LANES; i++) {
        float sum;
        memcpy(&sum, &l.words[3 * LANES + i], sizeof sum);
        assert_true(sum == (float)(4 * (i / 4) * (i % 4 * 2 + 1) + i));
    }
    lab_close(&l);
}

/* ------------------------------------------------------------------------------------------------ matrices */

typedef struct pattern {
    char op[16], name[80];
    int matrices, transposed, wavefronts, ideal, conflicts;
    uint32_t offset[LANES];
} pattern;

static bool read_pattern(char *line, pattern *p)
{
    char offsets[400];
    if (sscanf(line, "%15[^,],%d,%d,%79[^,],%399[^,],%d,%d,%d", p->op, &p->matrices, &p->transposed, p->name, offsets,
               &p->wavefronts, &p->ideal, &p->conflicts) != 8)
        return false;
    char *at = offsets;
    for (int l = 0; l < LANES; l++)
        p->offset[l] = (uint32_t)strtoul(at, &at, 10);
    return true;
}

SMP_TEST(matrices_cost_what_an_h100_counted)
{
    char path[512], line[1024], text[256];
    pattern p;
    size_t rows = 0;
    snprintf(path, sizeof path, "%s/tests/data/h100_matrix_patterns.csv", SMP_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        lab l;
        if (!read_pattern(line, &p))
            continue;
        const char *size = p.matrices == 4 ? ".4" : p.matrices == 2 ? ".2" : "", *m = p.transposed ? "MT88" : "M88";
        const bool load = p.op[0] == 'l';
        snprintf(text, sizeof text, load ? "/**/ LDSM.16.%s%s R4, [R1+0x400] ;" : "/**/ STSM.16.%s%s [R1+0x400], R4 ;",
                 m, size);
        lab_open_sass(&l, twin, frame, text);
        memcpy(l.words, p.offset, sizeof p.offset);
        run(&l);
        assert_int_equal(l.code, SMP_OK);
        const smp_warp_row *found = NULL;
        for (size_t i = 0; i < l.result.row_count; i++)
            if (l.result.rows[i].space == SMP_WARP_SHARED)
                found = &l.result.rows[i];
        assert_non_null(found);
        if (found->wavefronts != (uint64_t)p.wavefronts || found->conflicts != (uint64_t)p.conflicts ||
            found->instructions != 1)
            fail_msg("%s: %d wavefronts, not %d", line, (int)found->wavefronts, p.wavefronts);
        lab_close(&l);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 296);
}

/* LDSM reads what STSM wrote, transposed twice. */
SMP_TEST(matrices_hold_their_values)
{
    static const char text[] = "IMAD.SHL.U32 R5, R0, 0x10, RZ;IADD3 R5, R5, 0x400, RZ;IMAD R6, R0, 0x10001, R1;\n"
                               "STSM.16.MT88 [R5], R6;LDSM.16.MT88 R4, [R5]";
    assert_int_equal(compute(text, 9, 0, 0, 31), 31 * 0x10001 + 9);
    static const char turned[] = "IMAD.SHL.U32 R5, R0, 0x10, RZ;IADD3 R5, R5, 0x400, RZ;MOV R6, R0;\n"
                                 "STSM.16.M88 [R5], R6;LDSM.16.MT88 R4, [R5]";
    /* row l % 4 * 2 of the other: lane 5 has column 1 of rows 2 and 3, of which odd columns are 0 */
    assert_int_equal(compute(turned, 0, 0, 0, 5), 0);
    assert_int_equal(compute(turned, 0, 0, 0, 9), 9 | 13 << 16);
}

SMP_TEST(conditional_copies_store_zeros)
{
    lab l;
    lab_open_sass(&l, twin, frame,
                  "/**/ IMAD.SHL.U32 R20, R0, 0x4, RZ ;\n/**/ VIADD R20, R20, 0x400 ;\n"
                  "/**/ ISETP.GE.AND P3, PT, R0, 0x10, PT ;\n/**/ LDGSTS.E [R20], desc[UR6][R8.64], !P3 ;\n"
                  "/**/ LDGDEPBAR ;\n/**/ LDS R4, [R20] ;");
    for (uint32_t i = 0; i < LANES; i++)
        l.words[i] = i + 1;
    run(&l);
    assert_int_equal(l.code, SMP_OK);
    for (uint32_t i = 0; i < LANES; i++)
        assert_int_equal(l.words[3 * LANES + i], i < 16 ? i + 1 : 0);
    lab_close(&l);
}

/* Each block writes a column of shared memory of its own stride, and its sum of lanes to memory. */
SMP_TEST(threads_of_the_host_change_nothing)
{
    enum { BLOCKS = 11 };
    smp_warp_result first = {.launches = 0};
    for (int threads = 1; threads <= 4; threads++) {
        lab l;
        lab_open_sass(&l, twin, frame,
                      "/**/ S2R R10, SR_CTAID.X ;\n/**/ VIADD R11, R10, 0x1 ;\n/**/ IMAD R12, R0, R11, RZ ;\n"
                      "/**/ IMAD.SHL.U32 R12, R12, 0x4, RZ ;\n/**/ STS [R12+0x400], R0 ;\n/**/ LDS R4, [R12+0x400] ;\n"
                      "/**/ IMAD.WIDE.U32 R8, R10, 0x200, R8 ;");
        uint32_t *words = smp_warp_buffer(l.memory, BLOCKS * 4 * LANES * sizeof *words, "many");
        const uint64_t address = (uint64_t)(uintptr_t)words;
        const smp_warp_launch launch = {.kernel = smp_warp_kernel_at(l.sass, 0),
                                        .grid = {BLOCKS, 1, 1},
                                        .block = {LANES, 1, 1},
                                        .params = &address,
                                        .memory = l.memory,
                                        .threads = threads};
        smp_warp_result result;
        assert_int_equal(smp_warp_run(&launch, &result, &l.err), SMP_OK);
        for (uint32_t i = 0; i < BLOCKS * LANES; i++)
            assert_int_equal(words[i / LANES * 4 * LANES + 3 * LANES + i % LANES], i % LANES);
        assert_int_equal(result.blocks_run, BLOCKS);
        if (threads == 1) {
            first = result;
            memset(&result, 0, sizeof result);
        } else {
            assert_int_equal(result.row_count, first.row_count);
            assert_memory_equal(result.rows, first.rows, first.row_count * sizeof *first.rows);
            assert_int_equal(result.instructions, first.instructions);
        }
        smp_warp_result_free(&result);
        lab_close(&l);
    }
    smp_warp_result_free(&first);
}
