/* PTX on the warp machine: what instructions compute, how lanes part, and what is unknown. */
#include <string.h>

#include "suite.h"

#include "lab_case.h"

enum { LANES = 32 };

static const char frame[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry op(.param .u64 p0)\n{\n"
                            ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<12>; .reg .b64 %%d<8>;\n"
                            "ld.param.u64 %%d0, [p0]; mov.u32 %%r0, %%laneid; mul.wide.u32 %%d1, %%r0, 4;\n"
                            "add.s64 %%d1, %%d0, %%d1; ld.global.u32 %%r1, [%%d1]; ld.global.u32 %%r2, [%%d1+128];\n"
                            "ld.global.u32 %%r3, [%%d1+256];\n%s\nst.global.u32 [%%d1+384], %%r4;\nret;\n}\n";

/* Runs instructions on words a, b, c of every lane; the result of lane `lane`. */
static uint32_t compute(const char *instructions, uint32_t a, uint32_t b, uint32_t c, uint32_t lane)
{
    lab l;
    lab_open(&l, frame, instructions);
    return lab_compute(&l, instructions, a, b, c, lane);
}

/* As an H200 has them: floats have one NaN, doubles keep that of an operand. */
SMP_TEST(nans_have_the_bits_of_a_gpu)
{
#define DOUBLES "mov.b64 %d2, {0x5678, %r1}; mov.b64 %d3, {0, %r2}; mov.b64 %d4, {0, %r3};\n"
    static const calculation cases[] = {
        {"add.f32 %r4, %r1, %r2;", 0x7f800000, 0xff800000, 0, 0x7fffffff},
        {"add.f32 %r4, %r1, %r2;", 0xffc12345, 0x3f800000, 0, 0x7fffffff},
        {"sub.f32 %r4, %r1, %r2;", 0x7f800000, 0x7f800000, 0, 0x7fffffff},
        {"mul.f32 %r4, %r1, %r2;", 0x7f800000, 0, 0, 0x7fffffff},
        {"fma.rn.f32 %r4, %r1, %r2, %r3;", 0x7f800000, 0, 0x3f800000, 0x7fffffff},
        {"fma.rz.f32 %r4, %r1, %r2, %r3;", 0x7f800000, 0, 0x3f800000, 0x7fffffff},
        {"div.rn.f32 %r4, %r1, %r2;", 0, 0x80000000, 0, 0x7fffffff},
        {"div.approx.f32 %r4, %r1, %r2;", 0x3f800000, 0x7f7fffff, 0, 0},
        {"sqrt.rn.f32 %r4, %r1;", 0xbf800000, 0, 0, 0x7fffffff},
        {"rsqrt.approx.f32 %r4, %r1;", 0xff800000, 0, 0, 0x7fffffff},
        {"lg2.approx.f32 %r4, %r1;", 0xbf800000, 0, 0, 0x7fffffff},
        {"sin.approx.f32 %r4, %r1;", 0xff7fffff, 0, 0, 0x80000000},
        {"min.f32 %r4, %r1, %r2;", 0x7fc00000, 0xffc12345, 0, 0x7fffffff},
        {"max.NaN.f32 %r4, %r1, %r2;", 0x7fc00000, 0x3f800000, 0, 0x7fffffff},
        {"neg.f32 %r4, %r1;", 0x7fc00000, 0, 0, 0x7fffffff},
        {"abs.f32 %r4, %r1;", 0x7f812345, 0, 0, 0x7fffffff},
        {"copysign.f32 %r4, %r1, %r2;", 0x80000000, 0x7fc00000, 0, 0xffc00000},
        {"add.sat.f32 %r4, %r1, %r2;", 0x7fc00000, 0x3f800000, 0, 0},
        {"neg.f16x2 %r4, %r1;", 0x7e008000, 0, 0, 0x7fff0000},
        {"abs.bf16x2 %r4, %r1;", 0xff81bf80, 0, 0, 0x7fff3f80},
        {"max.f16x2 %r4, %r1, %r2;", 0x7e003c00, 0xfe004000, 0, 0x7fff4000},
        {"fma.rn.relu.f16x2 %r4, %r1, %r2, %r3;", 0x7e008000, 0x3c003c00, 0x80008000, 0x7fff0000},
        {"cvt.rna.tf32.f32 %r4, %r1;", 0x7f812345, 0, 0, 0x7f812000},
        {DOUBLES "add.f64 %d5, %d2, %d3; mov.b64 {%r5, %r4}, %d5;", 0x7ff40000, 0x3ff00000, 0, 0x7ffc0000},
        {DOUBLES "add.f64 %d5, %d2, %d3; mov.b64 {%r4, %r5}, %d5;", 0x7ff40000, 0x3ff00000, 0, 0x00005678},
        {DOUBLES "add.f64 %d5, %d2, %d3; mov.b64 {%r5, %r4}, %d5;", 0x7ff80001, 0xfff80002, 0, 0xfff80002},
        {DOUBLES "sub.f64 %d5, %d2, %d3; mov.b64 {%r5, %r4}, %d5;", 0x3ff00000, 0x7ff80002, 0, 0x7ff80002},
        {DOUBLES "add.f64 %d5, %d2, %d3; mov.b64 {%r5, %r4}, %d5;", 0x7ff00000, 0xfff80000, 0, 0xfff80000},
        {DOUBLES "mul.f64 %d5, %d3, %d4; mov.b64 {%r5, %r4}, %d5;", 0, 0x7ff00000, 0, 0xfff80000},
        {DOUBLES "fma.rn.f64 %d5, %d2, %d3, %d4; mov.b64 {%r5, %r4}, %d5;", 0x7ff80001, 0x3ff00000, 0xfff80003,
         0xfff80003},
        {DOUBLES "fma.rn.f64 %d5, %d2, %d3, %d4; mov.b64 {%r5, %r4}, %d5;", 0x7ff80001, 0x7ff80002, 0xfff80003,
         0x7ff80002},
        {DOUBLES "div.rn.f64 %d5, %d2, %d3; mov.b64 {%r5, %r4}, %d5;", 0x7ff80001, 0x7ff80002, 0, 0x7ff80001},
        {DOUBLES "neg.f64 %d5, %d2; mov.b64 {%r5, %r4}, %d5;", 0x7ff40000, 0, 0, 0x7ffc0000},
        {DOUBLES "rcp.approx.ftz.f64 %d5, %d2; mov.b64 {%r5, %r4}, %d5;", 0xfff80001, 0, 0, 0x7fffffff},
        {DOUBLES "cvt.rn.f32.f64 %r4, %d2;", 0xfff80001, 0, 0, 0xffc00008},
        {DOUBLES "cvt.rzi.s32.f64 %r4, %d2;", 0x7ff80001, 0, 0, 0x80000000},
        {DOUBLES "cvt.rzi.u64.f64 %d5, %d2; mov.b64 {%r5, %r4}, %d5;", 0x7ff80001, 0, 0, 0x80000000},
        {"cvt.rzi.s32.f32 %r4, %r1;", 0x7fc00000, 0, 0, 0},
    };
    lab_check(compute, cases, sizeof cases / sizeof cases[0]);
}

SMP_TEST(instructions_compute_as_the_isa_says)
{
    static const calculation cases[] = {
        {"add.s32 %r4, %r1, %r2;", 7, 0xffffffff, 0, 6},
        {"mul.hi.s32 %r4, %r1, %r2;", 0x80000000, 2, 0, 0xffffffff},
        {"mul.hi.u32 %r4, %r1, %r2;", 0x80000000, 2, 0, 1},
        {"mad.lo.s32 %r4, %r1, %r2, %r3;", 3, 5, 7, 22},
        {"div.u32 %r4, %r1, %r2;", 7, 0, 0, 0xffffffff},
        {"div.s32 %r4, %r1, %r2;", 0x80000000, 0xffffffff, 0, 0x80000000},
        {"rem.s32 %r4, %r1, %r2;", 0xfffffff9, 4, 0, 0xfffffffd},
        {"shl.b32 %r4, %r1, %r2;", 1, 32, 0, 0},
        {"shr.s32 %r4, %r1, %r2;", 0x80000000, 40, 0, 0xffffffff},
        {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", 0x80000000, 1, 1, 3},
        {"bfe.s32 %r4, %r1, %r2, %r3;", 0xf0, 4, 4, 0xffffffff},
        {"bfi.b32 %r4, %r1, %r2, 8, 4;", 5, 0xffffffff, 0, 0xfffff5ff},
        {"prmt.b32 %r4, %r1, %r2, %r3;", 0x44332211, 0x88776655, 0x7153, 0x88226644},
        {"lop3.b32 %r4, %r1, %r2, %r3, 0x96;", 1, 3, 7, 5},
        {"popc.b32 %r4, %r1;", 0xf0f0, 0, 0, 8},
        {"clz.b32 %r4, %r1;", 0, 0, 0, 32},
        {"brev.b32 %r4, %r1;", 1, 0, 0, 0x80000000},
        {"bfind.s32 %r4, %r1;", 0xffffff00, 0, 0, 7},
        {"fns.b32 %r4, %r1, %r2, %r3;", 0x11223344, 9, 2, 12},
        {"fns.b32 %r4, %r1, %r2, %r3;", 0x11223344, 9, 0xfffffffe, 8},
        {"fns.b32 %r4, %r1, %r2, %r3;", 0x11223344, 9, 0, 9},
        {"fns.b32 %r4, %r1, %r2, %r3;", 0x11223344, 10, 0, 0xffffffff},
        {"fns.b32 %r4, %r1, %r2, %r3;", 0xffffffff, 32, 1, 0xffffffff},
        {"add.f32 %r4, %r1, %r2;", 0x3f800000, 0x40000000, 0, 0x40400000},
        {"fma.rn.f32 %r4, %r1, %r2, %r3;", 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"add.ftz.f32 %r4, %r1, %r2;", 1, 1, 0, 0},
        {"add.sat.f32 %r4, %r1, %r2;", 0x40000000, 0x40000000, 0, 0x3f800000},
        {"min.f32 %r4, %r1, %r2;", 0x7fc00000, 0x40000000, 0, 0x40000000},
        {"setp.ltu.f32 %p1, %r1, %r2; selp.u32 %r4, 1, 0, %p1;", 0x7fc00000, 0, 0, 1},
        {"setp.lt.f32 %p1, %r1, %r2; selp.u32 %r4, 1, 0, %p1;", 0x7fc00000, 0, 0, 0},
        {"setp.lt.u32 %p1|%p2, %r1, %r2; setp.gt.and.s32 %p3, %r1, 0, !%p2; selp.u32 %r4, 1, 0, %p3;", 2, 3, 0, 1},
        {"fma.rm.f32 %r4, %r1, %r2, %r3;", 0x3f800001, 0x3f800001, 0, 0x3f800002},
        {"fma.rp.f32 %r4, %r1, %r2, %r3;", 0x3f800001, 0x3f800001, 0, 0x3f800003},
        {"add.rz.f32 %r4, %r1, %r2;", 0xbf800000, 0xb3000000, 0, 0xbf800000},
        {"add.rm.f32 %r4, %r1, %r2;", 0xbf800000, 0xb3000000, 0, 0xbf800001},
        {"div.rp.f32 %r4, %r1, %r2;", 0x3f800000, 0x40400000, 0, 0x3eaaaaab},
        {"div.rz.f32 %r4, %r1, %r2;", 0x3f800000, 0x40400000, 0, 0x3eaaaaaa},
        {"mov.b64 %d2, {0, %r1}; rcp.approx.ftz.f64 %d3, %d2; mov.b64 {%r5, %r4}, %d3; add.u32 %r4, %r4, %r5;",
         0x400a6666, 0, 0, 0x3fd364d9},
        {"bmsk.clamp.b32 %r4, %r1, %r2;", 4, 4, 0, 0xf0},
        {"bmsk.clamp.b32 %r4, %r1, %r2;", 30, 40, 0, 0xc0000000},
        {"bmsk.wrap.b32 %r4, %r1, %r2;", 33, 34, 0, 6},
        {"szext.clamp.s32 %r4, %r1, %r2;", 0xf8, 4, 0, 0xfffffff8},
        {"szext.wrap.u32 %r4, %r1, %r2;", 0xf8, 36, 0, 8},
        {"add.cc.u32 %r5, %r1, %r2; addc.u32 %r4, %r3, 0;", 0xffffffff, 1, 7, 8},
        {"sub.cc.u32 %r5, %r1, %r2; subc.cc.u32 %r5, 0, 0; subc.u32 %r4, %r3, 0;", 0, 1, 7, 6},
        {"sub.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 5, 5, 0, 1}, /* nothing is borrowed: a carry */
        {"sub.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 4, 5, 0, 0},
        {"mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, 5;", 0xffffffff, 0xffffffff, 0xffffffff, 4},
        {"setp.gt.bf16 %p1, %r1, %r2; selp.u32 %r4, 1, 0, %p1;", 0x3f80, 0xc000, 0, 1},
        {"setp.gt.f16x2 %p1|%p2, %r1, %r2; selp.u32 %r4, 1, 0, %p1; @%p2 add.u32 %r4, %r4, 2;", 0x3c000000, 0x00003c00,
         0, 2},
        {"set.gt.f16x2.f16x2 %r4, %r1, %r2;", 0x3c000000, 0x00003c00, 0, 0x3c000000},
        {"set.gt.u32.f16x2 %r4, %r1, %r2;", 0x3c003c00, 0x00003c00, 0, 0xffff0000},
        {"add.sat.f16x2 %r4, %r1, %r2;", 0x3c00bc00, 0x3c003800, 0, 0x3c000000},
        {"fma.rn.relu.f16x2 %r4, %r1, %r2, %r3;", 0x3c00bc00, 0x40004000, 0, 0x40000000},
        {"max.NaN.bf16x2 %r4, %r1, %r2;", 0x7fc03f80, 0x3f804000, 0, 0x7fff4000},
        {"mul.lo.u32 %r5, %r0, 0x10001; movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r5;", 0, 0, 0, 0x000c0008},
        {".shared .align 4 .b8 s[128]; mov.u32 %r5, s; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6;\n"
         "sub.u32 %r6, %r5, %r1; st.shared.u32 [%r6+32], %r2; ld.shared.u32 %r4, [%r5];",
         32, 9, 0, 9},
        {".shared .align 4 .b8 s[128]; mov.u32 %r5, s; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6;\n"
         "sub.u32 %r6, %r5, %r1; st.shared.u32 [%r5], %r2; cvt.u64.u32 %d3, %r6; ld.shared.u32 %r4, [%d3+32];",
         32, 9, 0, 9},
        {".shared .align 4 .b8 s[4]; mov.u16 %h1, 1; st.shared.u8 [s+1], %h1; mov.u32 %r4, 3;", 0, 0, 0, 3},
        {"{.reg.b32 %q; mov.b32 %q, %r1; mov.b32 %r4, %q;}", 5, 0, 0, 5},
        {"cvt.rzi.s32.f32 %r4, %r1;", 0xc0200000, 0, 0, 0xfffffffe},
        {"cvt.rzi.u32.f32 %r4, %r1;", 0xbf800000, 0, 0, 0},
        {"cvt.rni.s32.f32 %r4, %r1;", 0x40200000, 0, 0, 2},
        {"cvt.sat.s8.s32 %r4, %r1; and.b32 %r4, %r4, 255;", 1000, 0, 0, 127},
        {"cvt.s16.u32 %r4, %r1;", 0x1f82a, 0, 0, 0xfffff82a}, /* fills a register of 32 bits */
        {"cvt.u16.u32 %h1, %r1; cvt.s16.s8 %r4, %h1;", 0x193, 0, 0, 0xffffff93},
        {"cvt.s8.s32 %r4, %r1;", 0x193, 0, 0, 0xffffff93},
        {"cvt.u16.u32 %h1, %r1; mul.wide.u16 %r4, %h1, -32768;", 3, 0, 0, 0x18000},
        {"mov.u16 %h1, -2; setp.lt.s16 %p1, %h1, -1; cvt.u32.u16 %r4, %h1; @%p1 shl.b32 %r4, %r4, 8;", 0, 0, 0,
         0xfffe00},
        {"cvt.rz.f32.u32 %r4, %r1;", 0x01ffffff, 0, 0, 0x4bffffff},
        {"mov.b64 %d2, {%r1, %r1}; cvt.rz.f64.s64 %d5, %d2; mov.b64 {%r4, %r5}, %d5;", 0x7fffffff, 0, 0, 0xffdfffff},
        {"cvt.rn.f16.f32 %h1, %r1; cvt.u32.u16 %r4, %h1;", 0x3f801000, 0, 0, 0x3c00},
        {"mov.b32 {%h1, %h2}, %r1; mov.b32 %r4, {%h2, %h1};", 0x12345678, 0, 0, 0x56781234},
        {"add.f16x2 %r4, %r1, %r2;", 0x3c003c00, 0x40003c00, 0, 0x42004000},
        {"dp4a.s32.s32 %r4, %r1, %r2, %r3;", 0x01ff0102, 0x02020304, 10, 21},
        {"dp2a.lo.s32.s32 %r4, %r1, %r2, %r3;", 0xfffe0003, 0x050607ff, 10, 0xfffffff9},
        {"dp2a.hi.u32.u32 %r4, %r1, %r2, %r3;", 0xfffe0003, 0x0506ff08, 10, 0x50012},
        {"min.s32.relu %r4, %r1, %r2;", 5, 0xffffffff, 0, 0},
        {"max.s16x2 %r4, %r1, %r2;", 0xffff0001, 0x0002fffe, 0, 0x00020001},
        {"max.s16x2.relu %r4, %r1, %r2;", 0xfffe0001, 0xffff0003, 0, 3},
        {"cvt.rz.f16.f32 %h1, %r1; cvt.u32.u16 %r4, %h1;", 0x7f000000, 0, 0, 0x7bff},
        {"cvt.rp.f16.f32 %h1, %r1; cvt.u32.u16 %r4, %h1;", 0x3f801000, 0, 0, 0x3c01},
        {"cvt.rz.bf16.u32 %h1, %r1; cvt.u32.u16 %r4, %h1;", 0x1ffff, 0, 0, 0x47ff},
        {"cvt.rz.f16x2.f32 %r4, %r1, %r2;", 0xbf803fff, 0x33000000, 0, 0xbc010000},
        {"cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r4, %h1;", 0x7f800000, 0xffc00000, 0, 0x7e7f},
        {"cvt.rn.satfinite.relu.e5m2x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r4, %h1;", 0xbf800000, 0x3f900000, 0, 0x003c},
        {"mov.b32 {%h1, %h2}, %r1; cvt.rn.f16x2.e4m3x2 %r4, %h1;", 0x817f, 0, 0, 0x98007fff},
        {"vabsdiff4.u32.u32.u32.add %r4, %r1, %r2, %r3;", 0x01ff0102, 0x02020304, 10, 268},
        {"vabsdiff4.u32.u32.u32 %r4, %r1, %r2, %r3;", 0x01ff0102, 0x02020304, 10, 0x01fd0202},
        {"redux.sync.add.s32 %r4, %r1, -1;", 3, 0, 0, 96},
        {"setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r4, %p1, -1;", 0, 0, 0, 31},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.down.b32 %r4, %r5, 4, 31, -1;", 0, 0, 0, 28},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.bfly.b32 %r4|%p1, %r5, 16, 31, -1;", 0, 0, 0, 64},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.idx.b32 %r4, %r5, 9, 31, -1;", 0, 0, 0, 28},
        {"and.b32 %r5, %r0, 1; match.any.sync.b32 %r4, %r5, -1;", 0, 0, 0, 0xaaaaaaaa},
    };
    lab_check(compute, cases, sizeof cases / sizeof cases[0]);
}

/* a's row is 1 in column 0 and its own number in the last, b's columns are their number: every value is told apart. */
SMP_TEST(products_lie_as_the_isa_says)
{
    static const struct {
        const char *text;
        uint32_t expected[2]; /* lane 5: row 1, columns 2 and 3 */
    } cases[] = {
        /* lane 5 holds of a row 1, columns 4.. and of b column 1, rows 4..: all ones but b's bytes, which are lane / 4
         */
        {"shr.u32 %r5, %r0, 2; mul.lo.u32 %r5, %r5, 0x01010101; mov.u32 %r6, 0x01010101; mov.u32 %r7, 0;\n"
         "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%r8, %r9, %r10, %r11}, {%r6, %r6}, {%r5},\n"
         "{%r7, %r7, %r7, %r7};",
         {32, 48}},
        {"shr.u32 %r5, %r0, 2; cvt.rn.f32.u32 %r5, %r5; mov.u32 %r6, 0x3f800000; mov.u32 %r7, 0x3f800000;\n"
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r8, %r9, %r10, %r11}, {%r6, %r6, %r6, %r6}, {%r5, "
         "%r5},\n"
         "{%r7, %r7, %r7, %r7};",
         {0x41880000, 0x41c80000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < 2; k++) {
            char text[800];
            snprintf(text, sizeof text, "%s\nmov.u32 %%r4, %%r%d;", cases[i].text, 8 + k);
            const uint32_t got = compute(text, 0, 0, 0, 5);
            if (got != cases[i].expected[k])
                fail_msg("%s gives 0x%x, not 0x%x", text, got, cases[i].expected[k]);
        }
}

SMP_TEST(lanes_part_and_meet_again)
{
    /* lane n adds n+1 ones, by a loop; then all lanes take part in a ballot */
    assert_int_equal(compute("mov.u32 %r4, 0; mov.u32 %r5, %r0;\nL: add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r5, 0;\n"
                             "sub.u32 %r5, %r5, 1; @%p1 bra L;\nactivemask.b32 %r6; setp.eq.u32 %p2, %r6, -1;\n"
                             "@!%p2 mov.u32 %r4, 99;",
                             0, 0, 0, 7),
                     8);
}

SMP_TEST(an_unknown_instruction_is_named)
{
    static const struct {
        const char *text, *named;
    } cases[] = {{"frob.b32 %r4, %r1;", "frob.b32"},
                 {"add.rni.f32 %r4, %r1, %r2;", "add.rni.f32"},
                 {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 %r4, %r1, %r2, %r3;", "row.row"},
                 {"ld.global.strange.u32 %r4, [%d1];", ".strange"},
                 {"bra nowhere;", "nowhere"},
                 {"mbarrier.pending_count.b64 _, %d1;", "mbarrier.pending_count"},
                 {"add.u32 %r4, %r1, %r77;", "%r77"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        smp_warp_memory *memory;
        smp_warp_module *module;
        smp_error err = {0};
        snprintf(text, sizeof text, frame, cases[i].text);
        assert_int_equal(smp_warp_memory_open(&memory, &err), SMP_OK);
        assert_int_equal(smp_warp_load_ptx("test.ptx", text, strlen(text), memory, &module, &err), SMP_OK);
        const smp_error *problem = smp_warp_kernel_problem(smp_warp_kernel_at(module, 0));
        assert_non_null(problem);
        assert_non_null(strstr(problem->message, cases[i].named));
        assert_string_equal(problem->where, "test.ptx:10");
        smp_warp_module_free(module);
        smp_warp_memory_close(memory);
    }
}
