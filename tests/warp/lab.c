/* The warp machine on PTX: instructions, divergence, calls, counts and findings. */
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "lab/machine/warp.h"

enum { LANES = 32 };

/* ------------------------------------------------------------------------------------------------ running */

typedef struct lab {
    smp_warp_memory *memory;
    smp_warp_module *module;
    smp_warp_result result;
    smp_error err;
    smp_code code;
} lab;

static void open_lab(lab *l, const char *text)
{
    memset(l, 0, sizeof *l);
    assert_int_equal(smp_warp_memory_open(&l->memory, &l->err), SMP_OK);
    l->code = smp_warp_load_ptx("test.ptx", text, strlen(text), l->memory, &l->module, &l->err);
}

static void open_file(lab *l, const char *name)
{
    char path[512];
    static char text[1 << 18];
    snprintf(path, sizeof path, "%s/tests/lab/%s", SMP_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    open_lab(l, text);
    assert_int_equal(l->code, SMP_OK);
}

static void close_lab(lab *l)
{
    smp_warp_result_free(&l->result);
    smp_warp_module_free(l->module);
    smp_warp_memory_close(l->memory);
}

static void run(lab *l, const char *name, uint32_t grid, uint32_t block, const void *params)
{
    bool many;
    const smp_warp_launch launch = {.kernel = smp_warp_kernel_find(l->module, name, &many),
                                    .grid = {grid, grid, 1},
                                    .block = {block, block == 32 ? 8 : 1, 1},
                                    .params = params,
                                    .memory = l->memory};
    assert_non_null(launch.kernel);
    smp_warp_launch flat = launch;
    if (block != 32)
        flat.grid[1] = 1;
    smp_warp_result_free(&l->result);
    l->code = smp_warp_run(&flat, &l->result, &l->err);
}

static const smp_warp_row *row(const lab *l, uint32_t line, smp_warp_space space, smp_warp_op op)
{
    for (size_t i = 0; i < l->result.row_count; i++) {
        const smp_warp_row *r = &l->result.rows[i];
        if (r->line == line && r->space == space && r->op == op)
            return r;
    }
    fail_msg("no row for line %u", line);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ instructions */

static const char frame[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry op(.param .u64 p0)\n{\n"
                            ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<12>; .reg .b64 %%d<8>;\n"
                            "ld.param.u64 %%d0, [p0]; mov.u32 %%r0, %%laneid; mul.wide.u32 %%d1, %%r0, 4;\n"
                            "add.s64 %%d1, %%d0, %%d1; ld.global.u32 %%r1, [%%d1]; ld.global.u32 %%r2, [%%d1+128];\n"
                            "ld.global.u32 %%r3, [%%d1+256];\n%s\nst.global.u32 [%%d1+384], %%r4;\nret;\n}\n";

/* Runs instructions on words a, b, c of every lane; the result of lane `lane`. */
static uint32_t compute(const char *instructions, uint32_t a, uint32_t b, uint32_t c, uint32_t lane)
{
    char text[2048];
    lab l;
    snprintf(text, sizeof text, frame, instructions);
    open_lab(&l, text);
    if (l.code)
        fail_msg("%s: %s", instructions, l.err.message);
    uint32_t *words = smp_warp_buffer(l.memory, 4 * LANES * sizeof *words, "words");
    for (uint32_t i = 0; i < LANES; i++) {
        words[i] = a;
        words[LANES + i] = b;
        words[2 * LANES + i] = c;
    }
    const uint64_t address = (uint64_t)(uintptr_t)words;
    bool many;
    const smp_warp_launch launch = {.kernel = smp_warp_kernel_find(l.module, "op", &many),
                                    .grid = {1, 1, 1},
                                    .block = {LANES, 1, 1},
                                    .params = &address,
                                    .memory = l.memory};
    if (smp_warp_run(&launch, &l.result, &l.err))
        fail_msg("%s: %s", instructions, l.err.message);
    assert_int_equal(l.result.finding_count, 0);
    const uint32_t result = words[3 * LANES + lane];
    close_lab(&l);
    return result;
}

/* As an H200 has them: floats have one NaN, doubles keep that of an operand. */
static void nans_have_the_bits_of_a_gpu(void **state)
{
    (void)state;
#define DOUBLES "mov.b64 %d2, {0x5678, %r1}; mov.b64 %d3, {0, %r2}; mov.b64 %d4, {0, %r3};\n"
    static const struct {
        const char *text;
        uint32_t a, b, c, expected;
    } cases[] = {
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t got = compute(cases[i].text, cases[i].a, cases[i].b, cases[i].c, 5);
        if (got != cases[i].expected)
            fail_msg("%s of %08x %08x %08x: %08x, not %08x", cases[i].text, cases[i].a, cases[i].b, cases[i].c, got,
                     cases[i].expected);
    }
}

static void instructions_compute_as_the_isa_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t a, b, c, expected;
    } cases[] = {
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
        {"cvt.rn.f16.f32 %h1, %r1; cvt.u32.u16 %r4, %h1;", 0x3f801000, 0, 0, 0x3c00},
        {"mov.b32 {%h1, %h2}, %r1; mov.b32 %r4, {%h2, %h1};", 0x12345678, 0, 0, 0x56781234},
        {"add.f16x2 %r4, %r1, %r2;", 0x3c003c00, 0x40003c00, 0, 0x42004000},
        {"dp4a.s32.s32 %r4, %r1, %r2, %r3;", 0x01ff0102, 0x02020304, 10, 21},
        {"redux.sync.add.s32 %r4, %r1, -1;", 3, 0, 0, 96},
        {"setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r4, %p1, -1;", 0, 0, 0, 31},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.down.b32 %r4, %r5, 4, 31, -1;", 0, 0, 0, 28},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.bfly.b32 %r4|%p1, %r5, 16, 31, -1;", 0, 0, 0, 64},
        {"mad.lo.s32 %r5, %r0, 3, 1; shfl.sync.idx.b32 %r4, %r5, 9, 31, -1;", 0, 0, 0, 28},
        {"and.b32 %r5, %r0, 1; match.any.sync.b32 %r4, %r5, -1;", 0, 0, 0, 0xaaaaaaaa},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t got = compute(cases[i].text, cases[i].a, cases[i].b, cases[i].c, 5);
        if (got != cases[i].expected)
            fail_msg("%s gives 0x%x, not 0x%x", cases[i].text, got, cases[i].expected);
    }
}

/* a's row is 1 in column 0 and its own number in the last, b's columns are their number: every value is told apart. */
static void products_lie_as_the_isa_says(void **state)
{
    (void)state;
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

static const char pointers[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .align 8 .u64 table[2] = {less, more};\n" /* functions that come later */
    ".func (.param .b32 r) less(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "sub.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) more(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "add.u32 %r2, %r1, 100;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry f(.param .u64 p0, .param .u32 p1)\n{\n.reg .b32 %r<5>;\n.reg .b64 %d<6>;\n"
    "ld.param.u64 %d0, [p0];\nld.param.u32 %r3, [p1];\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 1;\n"
    "mul.wide.u32 %d1, %r1, 8;\nmov.u64 %d2, table;\nadd.u64 %d2, %d2, %d1;\nld.global.u64 %d3, [%d2];\n"
    "cvt.u64.u32 %d5, %r3;\nadd.u64 %d3, %d3, %d5;\n{\n.param .b32 x;\nst.param.b32 [x], %r0;\n.param .b32 y;\n"
    "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (y), %d3, (x), prototype;\n"
    "ld.param.b32 %r2, [y];\n}\nmul.wide.u32 %d4, %r0, 4;\nadd.u64 %d4, %d0, %d4;\n"
    "st.global.u32 [%d4], %r2;\nret;\n}\n";

static void functions_are_called_through_pointers(void **state)
{
    (void)state;
    lab l;
    open_lab(&l, pointers);
    assert_int_equal(l.code, SMP_OK);
    uint32_t *out = smp_warp_buffer(l.memory, 64 * sizeof *out, "out");
    struct {
        uint64_t out;
        uint32_t off;
    } params = {(uint64_t)(uintptr_t)out, 0};
    run(&l, "f", 1, 64, &params);
    assert_int_equal(l.code, SMP_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 2 ? i + 100 : i - 1);
    params.off = 8; /* no function is there */
    run(&l, "f", 1, 64, &params);
    assert_int_equal(l.code, SMP_E_PROCESS);
    assert_non_null(strstr(l.err.message, "thread 0 calls a function at 0x"));
    close_lab(&l);
    char broken[sizeof pointers];
    snprintf(broken, sizeof broken, "%s", pointers);
    memcpy(strstr(broken, "{less"), "{lass", 5);
    open_lab(&l, broken);
    assert_int_equal(l.code, SMP_E_DECODE);
    assert_non_null(strstr(l.err.message, "'lass' is no variable and no function"));
    close_lab(&l);
}

static void lanes_part_and_meet_again(void **state)
{
    (void)state;
    /* lane n adds n+1 ones, by a loop; then all lanes take part in a ballot */
    assert_int_equal(compute("mov.u32 %r4, 0; mov.u32 %r5, %r0;\nL: add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r5, 0;\n"
                             "sub.u32 %r5, %r5, 1; @%p1 bra L;\nactivemask.b32 %r6; setp.eq.u32 %p2, %r6, -1;\n"
                             "@!%p2 mov.u32 %r4, 99;",
                             0, 0, 0, 7),
                     8);
}

static void an_unknown_instruction_is_named(void **state)
{
    (void)state;
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
        lab l;
        snprintf(text, sizeof text, frame, cases[i].text);
        open_lab(&l, text);
        assert_int_equal(l.code, SMP_OK);
        const smp_error *problem = smp_warp_kernel_problem(smp_warp_kernel_at(l.module, 0));
        assert_non_null(problem);
        assert_non_null(strstr(problem->message, cases[i].named));
        assert_string_equal(problem->where, "test.ptx:10");
        close_lab(&l);
    }
}

static void what_is_no_ptx_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "int main() {}",
                                        ".version 8.0\n.entry f(",
                                        ".version 8.0\n.frob x;",
                                        ".version 8.0\n.global .u32 x[99999999999];",
                                        ".version 8.0\n.visible .entry f()\n{\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lab l;
        open_lab(&l, texts[i]);
        assert_int_equal(l.code, SMP_E_DECODE);
        assert_null(l.module);
        close_lab(&l);
    }
}

static void functions_are_called(void **state)
{
    (void)state;
    lab l;
    open_file(&l, "calls.ptx");
    int32_t *out = smp_warp_buffer(l.memory, 64 * sizeof *out, "out");
    struct {
        uint64_t out;
        int32_t n;
    } params = {(uint64_t)(uintptr_t)out, 5};
    run(&l, "calls", 1, 64, &params);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(out[63], 0 + 1 + 4 + 9);
    assert_int_equal(out[4], 30);
    close_lab(&l);
}

/* A function that is given the address of the caller's local variable changes that one. */
static void a_function_writes_to_its_callers_variable(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func add(.param .u64 a, .param .u32 b)\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
        ".local .align 4 .b8 own[16];\nld.param.u64 %d0, [a]; ld.param.u32 %r0, [b]; mov.u32 %r2, 9;\n"
        "st.local.u32 [own], %r2; ld.u32 %r1, [%d0]; add.s32 %r1, %r1, %r0; st.u32 [%d0], %r1; ret;\n}\n"
        ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<4>; .reg .b64 %d<6>;\n.local .align 4 .b8 mine[16];\n"
        "ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; st.local.u32 [mine+4], %r0; mov.u64 %d1, mine;\n"
        "add.u64 %d2, %d1, 4; cvta.local.u64 %d3, %d2; mov.u32 %r1, 100;\n"
        "{\n.param .b64 x; st.param.b64 [x], %d3; .param .b32 y; st.param.b32 [y], %r1; call.uni add, (x, y);\n}\n"
        "ld.local.u32 %r2, [mine+4]; mul.wide.u32 %d4, %r0, 4; add.u64 %d4, %d0, %d4; st.global.u32 [%d4], %r2;\n"
        "ret;\n}\n";
    lab l;
    open_lab(&l, text);
    if (l.code)
        fail_msg("%s", l.err.message);
    uint32_t *out = smp_warp_buffer(l.memory, 32 * sizeof *out, "out");
    const uint64_t address = (uint64_t)(uintptr_t)out;
    run(&l, "op", 1, 16, &address);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(out[7], 107);
    close_lab(&l);
}

/* ------------------------------------------------------------------------------------------------ counts */

static void transpose(lab *l, const char *name)
{
    enum { SIDE = 64 };
    float *out = smp_warp_buffer(l->memory, SIDE * SIDE * sizeof *out, "out");
    float *in = smp_warp_buffer(l->memory, SIDE * SIDE * sizeof *in, "in");
    for (int i = 0; i < SIDE * SIDE; i++)
        in[i] = (float)i;
    struct {
        uint64_t out, in;
        int32_t width, height;
    } params = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in, SIDE, SIDE};
    run(l, name, 2, 32, &params);
    assert_int_equal(l->code, SMP_OK);
    assert_int_equal(l->result.finding_count, 0);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(out[i % SIDE * SIDE + i / SIDE] == in[i]);
}

static void a_column_conflicts_and_a_pad_helps(void **state)
{
    (void)state;
    lab l;
    open_file(&l, "transpose.ptx");
    transpose(&l, "transposeTiled");
    const smp_warp_row *load = row(&l, 24, SMP_WARP_SHARED, SMP_WARP_LOAD);
    assert_int_equal(load->instructions, 128);
    assert_int_equal(load->wavefronts, 128 * 32);
    assert_int_equal(load->conflicts, 128 * 31);
    assert_int_equal(load->worst_wavefronts, 32);
    assert_string_equal(load->array, "tile");
    assert_int_equal(row(&l, 19, SMP_WARP_SHARED, SMP_WARP_STORE)->conflicts, 0);
    transpose(&l, "transposePadded");
    assert_int_equal(row(&l, 38, SMP_WARP_SHARED, SMP_WARP_LOAD)->conflicts, 0);
    transpose(&l, "transposeNaive");
    const smp_warp_row *store = row(&l, 10, SMP_WARP_GLOBAL, SMP_WARP_STORE);
    assert_int_equal(store->sectors, 128 * 32);
    assert_int_equal(store->sectors_ideal, 128 * 4);
    close_lab(&l);
}

/* A function of a header that is inlined into itself: what it loads is the line's that calls it from outside. */
static void lines_of_headers_are_the_callers(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".file 1 \"a.cu\"\n.file 2 \"/opt/cuda/include/cub/scan.cuh\"\n"
                               ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<3>; .reg .b64 %d<4>;\n.loc 1 3 1\n"
                               "ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
                               "add.u64 %d1, %d0, %d1;\nL0:\n.loc 1 7 5\n"
                               ".loc 2 50 9, function_name L0, inlined_at 1 7 5\n"
                               ".loc 2 60 9, function_name L0, inlined_at 2 50 9\n"
                               ".loc 2 60 9, function_name L0, inlined_at 2 60 9\n"
                               ".loc 2 59 9, function_name L0, inlined_at 2 60 9\n"
                               "ld.global.u32 %r1, [%d1];\n.loc 1 8 1\nst.global.u32 [%d1], %r1;\nret;\n}\n";
    lab l;
    open_lab(&l, text);
    assert_int_equal(l.code, SMP_OK);
    const uint64_t words = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "words");
    run(&l, "op", 1, 64, &words);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(row(&l, 7, SMP_WARP_GLOBAL, SMP_WARP_LOAD)->instructions, 2);
    close_lab(&l);
}

static void some_blocks_are_enough(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t count, last;
    } cases[] = {{"first,middle,last", 3, 99}, {"5", 5, 99}, {"1", 1, 0}, {"last,first,last", 2, 99}};
    smp_error err;
    uint64_t *list, count;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(smp_warp_choose_blocks(cases[i].text, 100, &list, &count, &err), SMP_OK);
        assert_int_equal(count, cases[i].count);
        assert_int_equal(list[count - 1], cases[i].last);
        smp_free(list);
    }
    assert_int_equal(smp_warp_choose_blocks("some", 100, &list, &count, &err), SMP_E_USAGE);
    smp_free(list);
}

/* ------------------------------------------------------------------------------------------------ findings */

static void planted_mistakes_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t grid, block;
        int32_t n;
        smp_warp_fault fault;
        uint32_t line;
        const char *text;
    } cases[] = {{"raceNoSync", 1, 256, 0, SMP_WARP_RACE, 6, "without a barrier"},
                 {"uninit", 1, 256, 0, SMP_WARP_UNINITIALISED, 16, "byte 800 of 's'"},
                 {"outside", 1, 80, 0, SMP_WARP_BOUNDS, 22, "byte 256 of shared memory"},
                 {"outsideGlobal", 2, 256, 256, SMP_WARP_BOUNDS, 30, "past the end of 'b'"},
                 {"divergent", 1, 128, 40, SMP_WARP_BARRIER, 38, "different barriers"},
                 {"leaves", 1, 128, 100, SMP_WARP_BARRIER, 51, "28 of the block's 128 threads"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        open_file(&l, "bugs.ptx");
        const uint64_t a = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a");
        const uint64_t b = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "b");
        const uint64_t two[] = {a, b}, one[] = {b, (uint64_t)cases[i].n};
        run(&l, cases[i].kernel, cases[i].grid, cases[i].block, i ? one : two);
        assert_int_equal(l.code, SMP_OK);
        bool found = false;
        for (size_t k = 0; k < l.result.finding_count; k++) {
            const smp_warp_finding *f = &l.result.findings[k];
            found = found ||
                    (f->fault == cases[i].fault && (f->here.line == cases[i].line || f->other.line == cases[i].line) &&
                     strstr(f->text, cases[i].text));
        }
        if (!found)
            fail_msg("%s: its mistake was not found", cases[i].kernel);
        close_lab(&l);
    }
}

/* Lanes write 1.0 and 2.0, whose lower words are alike, to one place. */
static void doubles_that_differ_in_one_word_race(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>;\n"
                               ".shared .align 8 .b8 s[8];\nmov.u32 %r0, %tid.x; and.b32 %r0, %r0, 1;\n"
                               "add.u32 %r0, %r0, 1; cvt.rn.f64.u32 %d1, %r0; st.shared.f64 [s], %d1;\nret;\n}\n";
    lab l;
    open_lab(&l, text);
    assert_int_equal(l.code, SMP_OK);
    const uint64_t none = 0;
    run(&l, "op", 1, 32, &none);
    assert_int_equal(l.code, SMP_OK);
    assert_int_not_equal(l.result.finding_count, 0);
    assert_int_equal(l.result.findings[0].fault, SMP_WARP_RACE);
    close_lab(&l);
}

static void a_race_names_both_threads(void **state)
{
    (void)state;
    lab l;
    open_file(&l, "bugs.ptx");
    const uint64_t buffer = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a"), params[] = {buffer, buffer};
    run(&l, "raceNoSync", 1, 256, params);
    int races = 0;
    for (size_t k = 0; k < l.result.finding_count; k++) {
        const smp_warp_finding *f = &l.result.findings[k];
        if (f->fault != SMP_WARP_RACE)
            continue;
        races++;
        assert_int_equal(f->here.thread[0] + f->other.thread[0], 255); /* s[t] and s[255 - t] */
        assert_int_equal(f->here.line + f->other.line, 6 + 7);
    }
    assert_int_not_equal(races, 0);
    close_lab(&l);
}

static void results_cross_a_pipe(void **state)
{
    (void)state;
    lab l;
    smp_warp_result copy, none;
    smp_error err;
    bool end;
    open_file(&l, "bugs.ptx");
    const uint64_t buffer = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a"), params[] = {buffer, buffer};
    run(&l, "raceNoSync", 1, 256, params);
    FILE *file = tmpfile();
    assert_non_null(file);
    smp_warp_result_write(file, &l.result);
    rewind(file);
    assert_int_equal(smp_warp_result_read(file, &copy, &end, &err), SMP_OK);
    assert_false(end);
    assert_int_equal(smp_warp_result_read(file, &none, &end, &err), SMP_OK);
    assert_true(end);
    fclose(file);
    assert_int_equal(copy.row_count, l.result.row_count);
    assert_memory_equal(copy.rows, l.result.rows, copy.row_count * sizeof *copy.rows);
    assert_int_equal(copy.finding_count, l.result.finding_count);
    assert_memory_equal(copy.findings, l.result.findings, copy.finding_count * sizeof *copy.findings);
    assert_int_equal(copy.lane_instructions, l.result.lane_instructions);
    assert_true(smp_warp_result_add(&copy, &l.result));
    assert_int_equal(copy.launches, 2);
    assert_int_equal(copy.row_count, l.result.row_count);
    assert_int_equal(copy.rows[0].lanes, 2 * l.result.rows[0].lanes);
    smp_warp_result_free(&copy);
    close_lab(&l);
}

SMP_SUITE(lab)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_compute_as_the_isa_says),
        cmocka_unit_test(nans_have_the_bits_of_a_gpu),
        cmocka_unit_test(products_lie_as_the_isa_says),
        cmocka_unit_test(functions_are_called_through_pointers),
        cmocka_unit_test(lanes_part_and_meet_again),
        cmocka_unit_test(an_unknown_instruction_is_named),
        cmocka_unit_test(what_is_no_ptx_is_refused),
        cmocka_unit_test(functions_are_called),
        cmocka_unit_test(a_function_writes_to_its_callers_variable),
        cmocka_unit_test(a_column_conflicts_and_a_pad_helps),
        cmocka_unit_test(lines_of_headers_are_the_callers),
        cmocka_unit_test(some_blocks_are_enough),
        cmocka_unit_test(planted_mistakes_are_found),
        cmocka_unit_test(doubles_that_differ_in_one_word_race),
        cmocka_unit_test(a_race_names_both_threads),
        cmocka_unit_test(results_cross_a_pipe),
    };
    return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
