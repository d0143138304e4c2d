/* Accesses that lie as the instruction's last one did: each is looked at as the first one is. */
#include <string.h>

#include "suite.h"

#include "lab_case.h"

/* Four rounds (%r6) of `body`, by threads of which each has written its word of s, %r2, before a barrier; %rd3 is the
 * thread's word of a buffer of 64. Then what is said behind it. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n"
    ".reg .b64 %%rd<5>; .reg .pred %%p<3>; .reg .f32 %%f<5>;\n.shared .align 16 .b32 s[128];\n"
    "mov.u32 %%r0, %%tid.x; mov.u32 %%r8, %%ctaid.x; mov.u32 %%r1, 0;\n"
    "shl.b32 %%r2, %%r0, 2; mov.u32 %%r3, s; add.u32 %%r2, %%r2, %%r3; st.shared.u32 [%%r2], %%r0; bar.sync 0;\n"
    "ld.param.u64 %%rd1, [p]; cvta.to.global.u64 %%rd2, %%rd1; mul.wide.u32 %%rd3, %%r0, 4;\n"
    "add.u64 %%rd3, %%rd2, %%rd3; mov.u32 %%r6, 0;\nround:\n%s\n"
    "add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p0, %%r6, 4; @%%p0 bra round;\n%s\nret;\n}\n";

typedef struct run {
    const char *body, *behind;
    uint32_t blocks, threads;
    uint32_t first[64]; /* of the buffer */
    char found[400];    /* kinds and counts of findings, in their order */
} run;

static void run_rounds(run *r, bool watch)
{
    lab l;
    lab_open(&l, frame, r->body, r->behind ? r->behind : "");
    uint32_t *words = smp_warp_buffer(l.memory, sizeof r->first, "words");
    assert_non_null(words);
    lab_must_run(
        &l, r->body,
        &(smp_warp_launch){.grid = {r->blocks, 1, 1}, .block = {r->threads, 1, 1}, .params = &words, .watch = watch});
    r->found[0] = 0;
    for (size_t i = 0; i < l.result.finding_count; i++) {
        const size_t used = strlen(r->found);
        snprintf(r->found + used, sizeof r->found - used, "%s%s %llu", i ? ", " : "",
                 smp_warp_fault_name(l.result.findings[i].fault), (unsigned long long)l.result.findings[i].count);
    }
    memcpy(r->first, words, sizeof r->first);
    lab_close(&l);
}

static void expect(const char *body, const char *behind, uint32_t blocks, uint32_t threads, const char *found)
{
    run r = {.body = body, .behind = behind, .blocks = blocks, .threads = threads};
    run_rounds(&r, true);
    if (strcmp(r.found, found) != 0)
        fail_msg("%s finds %s, not %s", body, r.found, found);
}

#define NEXT    "shl.b32 %r4, %r6, 7; add.u32 %r4, %r2, %r4; "
#define ANOTHER "xor.b32 %r5, %r2, 128; "

SMP_TEST(later_rounds_find_what_the_first_would)
{
    /* s[64] and on is not written; s[128] is outside */
    expect(NEXT "ld.shared.u32 %r5, [%r4];", NULL, 1, 64, "uninitialised 128, bounds 32");
    expect(NEXT "st.shared.u32 [%r4], %r0;", NULL, 1, 64, "race 96, bounds 32");
    expect(ANOTHER "st.shared.u32 [%r2], %r6; bar.sync 0; ld.shared.u32 %r4, [%r5]; bar.sync 0;", NULL, 1, 64, "");
    expect(ANOTHER "st.shared.u32 [%r2], %r6; bar.sync 0; ld.shared.u32 %r4, [%r5];", NULL, 1, 64, "race 192");
    expect(ANOTHER "bar.sync 0; ld.shared.u32 %r4, [%r5]; ld.shared.u32 %r5, [s];", "st.shared.u32 [s], %r1;", 1, 64,
           "race 64, race 33");
    expect("shl.b32 %r4, %r6, 1; add.u32 %r4, %r2, %r4; ld.shared.u32 %r5, [%r4];", NULL, 1, 32,
           "misaligned 64, uninitialised 1");
}

#define FAR "shl.b32 %r4, %r6, 7; cvt.u64.u32 %rd4, %r4; add.u64 %rd4, %rd3, %rd4; "

SMP_TEST(global_memory_is_looked_at_in_each_round)
{
    expect(FAR "ld.global.u32 %r5, [%rd4];", NULL, 1, 32, "bounds 64");
    expect("ld.global.u32 %r5, [%rd3];", NULL, 6, 32, "");
    /* settled reads, then a write by the last block but one */
    expect("ld.global.u32 %r5, [%rd3];", "setp.ne.u32 %p1, %r8, 4; @%p1 ret; st.global.u32 [%rd3], %r6;", 6, 32,
           "race 32, race 128");
    expect("st.global.u32 [%rd3], %r8;", NULL, 3, 32, "race 64");
    expect("setp.eq.u32 %p1, %r8, 0; @%p1 st.global.u32 [%rd3], %r6; ld.global.u32 %r5, [%rd3];", NULL, 5, 32,
           "race 512");
}

/* Lanes side by side, at one place, in halves, apart, and in vectors: each word of the buffer is the sum of what its
 * thread has read. */
SMP_TEST(words_are_those_of_their_places)
{
    static const struct {
        const char *place; /* %r4 of the lane %r0 */
        uint32_t mask, times;
    } cases[] = {{"mov.u32 %r4, %r0;", 63, 1},
                 {"mov.u32 %r4, 0;", 0, 1},
                 {"and.b32 %r4, %r0, 15;", 15, 1},
                 {"and.b32 %r4, %r0, 7;", 7, 1},
                 {"mul.lo.u32 %r4, %r0, 2;", 63, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[500];
        snprintf(body, sizeof body,
                 "%s shl.b32 %%r4, %%r4, 2; add.u32 %%r4, %%r4, %%r3; ld.shared.u32 %%r5, [%%r4];\n"
                 "add.u32 %%r1, %%r1, %%r5;",
                 cases[i].place);
        run r = {.body = body, .behind = "st.global.u32 [%rd3], %r1;", .blocks = 1, .threads = 64};
        run_rounds(&r, true);
        assert_string_equal(r.found, cases[i].times == 2 ? "uninitialised 128" : "");
        for (uint32_t l = 0; l < 64; l++) /* of words beyond the 64 that are written: what shared memory holds then */
            assert_int_equal(r.first[l], l * cases[i].times < 64 ? 4 * cases[i].times * (l & cases[i].mask)
                                                                 : 4 * UINT32_C(0xa5a5a5a5));
    }
    run r = {.body = "and.b32 %r4, %r0, 12; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r3;\n"
                     "ld.shared.v4.u32 {%r4, %r5, %r7, %r8}, [%r4]; add.u32 %r1, %r1, %r7;",
             .behind = "st.global.u32 [%rd3], %r1;",
             .blocks = 1,
             .threads = 64};
    run_rounds(&r, true);
    assert_string_equal(r.found, "");
    for (uint32_t l = 0; l < 64; l++)
        assert_int_equal(r.first[l], 4 * ((l & 12) + 2));
}
