/* Global memory: races of threads and of blocks, and reads of what nobody wrote. */
#include <string.h>

#include "suite.h"

#include "lab_case.h"

enum { THREADS = 64, BLOCKS = 4, BYTES = 4096 };

/* %rd0 is the buffer, %rd1 the thread's word of the whole grid's, %rd2 that of the block, %rd3 that of thread 63 - t;
 * %p0: thread 0. The words from byte 2048 on are for flags, and are 0. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 x)\n{\n"
    ".reg .b32 %%r<12>; .reg .b64 %%rd<8>; .reg .pred %%p<8>;\nld.param.u64 %%rd0, [x]; mov.u32 %%r0, %%tid.x;\n"
    "mov.u32 %%r1, %%ctaid.x; mad.lo.u32 %%r2, %%r1, 64, %%r0; mul.wide.u32 %%rd1, %%r2, 4; add.s64 %%rd1, %%rd1, "
    "%%rd0;\n"
    "mul.wide.u32 %%rd2, %%r0, 4; add.s64 %%rd2, %%rd2, %%rd0; sub.u32 %%r3, 63, %%r0; mul.wide.u32 %%rd3, %%r3, 4;\n"
    "add.s64 %%rd3, %%rd3, %%rd0; setp.eq.u32 %%p0, %%r0, 0; add.u32 %%r4, %%r2, 1;\n%s\nret;\n}\n";

/* met: blocks run in two threads, which is told what became of it; null: one after another. */
static uint64_t run(const char *body, uint32_t blocks, bool known, smp_warp_fault fault, _Atomic bool *met)
{
    lab l;
    uint64_t count = 0;
    lab_open(&l, frame, body);
    smp_warp_memory_open_to_host(l.memory, true);
    void *buffer = smp_warp_device_buffer(l.memory, BYTES);
    assert_non_null(buffer);
    memset(buffer, 0, BYTES);
    if (known)
        smp_warp_memory_know(l.memory, buffer, BYTES);
    lab_must_run(&l, body,
                 &(smp_warp_launch){.grid = {blocks, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .params = &buffer,
                                    .threads = met ? 2 : 1,
                                    .met = met,
                                    .watch = true});
    for (size_t i = 0; i < l.result.finding_count; i++)
        count += l.result.findings[i].fault == fault ? l.result.findings[i].count : 0;
    lab_close(&l);
    return count;
}

/* Blocks that did not meet find the same. */
static uint64_t found(const char *body, uint32_t blocks, bool known, smp_warp_fault fault)
{
    _Atomic bool met = false;
    const uint64_t count = run(body, blocks, known, fault, NULL), apart = run(body, blocks, known, fault, &met);
    if (!met && apart != count)
        fail_msg("%s: in two threads %llu, in one %llu", body, (unsigned long long)apart, (unsigned long long)count);
    return count;
}

typedef struct body {
    const char *what, *text;
    bool races;
} body;

static void check(const body *cases, size_t count, uint32_t blocks)
{
    for (size_t i = 0; i < count; i++)
        if ((found(cases[i].text, blocks, true, SMP_WARP_RACE) != 0) != cases[i].races)
            fail_msg("%s %s", cases[i].what, cases[i].races ? "is a race" : "is no race");
}

SMP_TEST(barriers_order_threads_of_a_block)
{
    static const body cases[] = {
        {"what another thread wrote", "st.global.u32 [%rd2], %r4; ld.global.u32 %r5, [%rd3];", true},
        {"that behind a barrier", "st.global.u32 [%rd2], %r4; bar.sync 0; ld.global.u32 %r5, [%rd3];", false},
        {"that behind a fence", "st.global.u32 [%rd2], %r4; membar.gl; ld.global.u32 %r5, [%rd3];", true},
        {"a write of what was read", "ld.global.u32 %r5, [%rd3]; st.global.u32 [%rd2], %r4;", true},
        {"one place, other values", "st.global.u32 [%rd0], %r4;", true},
        {"one place, one value", "st.global.u32 [%rd0], 7;", false},
        {"updates", "atom.global.add.u32 %r5, [%rd0], 1;", false},
        {"a read behind updates", "atom.global.add.u32 %r5, [%rd0], 1; ld.global.u32 %r5, [%rd0];", true},
        {"a test before an update", "ld.global.u32 %r5, [%rd0]; atom.global.max.u32 %r5, [%rd0], %r0;", false},
        {"bytes side by side", "cvt.u64.u32 %rd4, %r0; add.s64 %rd4, %rd4, %rd0; st.global.u8 [%rd4], %r4;", false},
    };
    check(cases, sizeof cases / sizeof cases[0], 1);
}

/* Each block writes a word and counts itself; the last one reads all words. */
#define LAST_BLOCK(fence, counts)                                                                                      \
    "@!%p0 bra out;\nst.global.u32 [%rd1], %r4;\n" fence " " counts " setp.ne.u32 %p1, %r5, 3; @%p1 bra out;\n"        \
    "ld.global.u32 %r6, [%rd0]; ld.global.u32 %r7, [%rd0+256];\nout:"

SMP_TEST(fences_and_atomics_order_blocks)
{
    static const char add[] = LAST_BLOCK("membar.gl;", "atom.global.add.u32 %r5, [%rd0+2048], 1;");
    static const body cases[] = {
        {"each its own", "st.global.u32 [%rd1], %r4; ld.global.u32 %r5, [%rd1];", false},
        {"all the same place", "ld.global.u32 %r5, [%rd2]; bar.sync 0; st.global.u32 [%rd2], %r4;", true},
        {"what all read", "ld.global.u32 %r5, [%rd2];", false},
        {"a last block", add, false},
        {"one without a fence", LAST_BLOCK("", "atom.global.add.u32 %r5, [%rd0+2048], 1;"), true},
        {"one with the block's fence", LAST_BLOCK("membar.cta;", "atom.global.add.u32 %r5, [%rd0+2048], 1;"), true},
        {"one by release", LAST_BLOCK("", "atom.acq_rel.gpu.global.add.u32 %r5, [%rd0+2048], 1;"), false},
        {"one that counts elsewhere",
         LAST_BLOCK("membar.gl;", "atom.global.add.u32 %r5, [%rd1+2048], 1; mov.u32 %r5, %r1;"), true},
        {"a plain write, then updates",
         "setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%rd0], 5; bar.sync 0;\n"
         "@%p0 red.global.add.u32 [%rd0], 1;",
         true},
    };
    check(cases, sizeof cases / sizeof cases[0], BLOCKS);
}

/* Blocks 0 to 2 read a word, and block 3 updates it: it races with the plain reader, in whichever order they came. */
SMP_TEST(strong_readers_hide_no_plain_one)
{
    static const char reads[] = "setp.eq.u32 %%p1, %%r2, 0; @%%p1 ld%s.global.u32 %%r5, [%%rd0];\n"
                                "setp.eq.u32 %%p1, %%r2, 64; @%%p1 ld%s.global.u32 %%r5, [%%rd0];\n"
                                "setp.eq.u32 %%p1, %%r2, 128; @%%p1 ld%s.global.u32 %%r5, [%%rd0];\n"
                                "setp.eq.u32 %%p1, %%r2, 192; @%%p1 atom.global.add.u32 %%r6, [%%rd1+-768], 1;";
    for (int plain = 0; plain <= 3; plain++) {
        const char *kind[3] = {".volatile", ".relaxed.gpu", ".volatile"};
        char text[600];
        if (plain < 3)
            kind[plain] = "";
        snprintf(text, sizeof text, reads, kind[0], kind[1], kind[2]);
        if (found(text, BLOCKS, true, SMP_WARP_RACE) != (plain < 3))
            fail_msg("plain reader %d: %llu races", plain,
                     (unsigned long long)found(text, BLOCKS, true, SMP_WARP_RACE));
    }
}

SMP_TEST(blocks_of_two_threads_meet_where_one_writes)
{
    static const body cases[] = {
        {"each its own", "st.global.u32 [%rd1], %r4; ld.global.u32 %r5, [%rd1];", false},
        {"what all read", "ld.global.u32 %r5, [%rd2];", false},
        {"what all write", "st.global.u32 [%rd2], 7;", true},
        {"what one writes", "ld.global.u32 %r5, [%rd2]; setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd2], 7;", true},
        {"what one reads", "setp.eq.u32 %p1, %r1, 0; @%p1 ld.global.u32 %r5, [%rd2+768]; st.global.u32 [%rd1], 7;",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        _Atomic bool met = false;
        run(cases[i].text, BLOCKS, true, SMP_WARP_RACE, &met);
        if (met != cases[i].races)
            fail_msg("%s: blocks %s", cases[i].what, met ? "met" : "did not meet");
    }
}

SMP_TEST(bytes_that_nobody_wrote_are_told_once_read)
{
    static const char reads[] = "ld.global.u32 %r5, [%rd2];",
                      own[] = "st.global.u32 [%rd2], 1; ld.global.u32 %r5, [%rd2];",
                      half[] = "st.global.u32 [%rd2], 1; bar.sync 0; ld.global.u32 %r5, [%rd2+128];";
    assert_int_equal(found(reads, 1, false, SMP_WARP_UNINITIALISED), THREADS);
    assert_int_equal(found(reads, 1, true, SMP_WARP_UNINITIALISED), 0);
    assert_int_equal(found(own, 1, false, SMP_WARP_UNINITIALISED), 0);
    assert_int_equal(found(half, 1, false, SMP_WARP_UNINITIALISED), THREADS / 2);
    assert_int_equal(found("red.global.add.u32 [%rd2], 1;", 1, false, SMP_WARP_UNINITIALISED), THREADS);
    assert_int_equal(found("ld.global.v2.u32 {%r5, %r6}, [%rd0+8];", 1, false, SMP_WARP_UNINITIALISED), THREADS);
}
