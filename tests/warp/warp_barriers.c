/* Barriers of some warps of a block: what they order, and what they do not. */
#include <string.h>

#include "suite.h"

#include "lab_case.h"

enum { THREADS = 128 };

/* Four warps. %r0 is the thread, %r2 its word of s, %r4 that of thread 127 - t, %r8 the warp. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op()\n{\n.reg .b32 %%r<12>; .reg .pred %%p<8>;\n"
    ".shared .align 8 .b32 s[128];\nmov.u32 %%r0, %%tid.x; mov.u32 %%r3, s;\n"
    "shl.b32 %%r1, %%r0, 2; add.u32 %%r2, %%r1, %%r3; sub.u32 %%r4, %%r3, %%r1; add.u32 %%r4, %%r4, 508;\n"
    "shr.u32 %%r8, %%r0, 5; setp.lt.u32 %%p0, %%r8, 2; setp.lt.u32 %%p1, %%r8, 1; setp.eq.u32 %%p2, %%r8, 1;\n"
    "setp.eq.u32 %%p3, %%r8, 2; setp.eq.u32 %%p4, %%r8, 3; mov.u32 %%r9, 64; mov.u32 %%r10, 1;\n%s\nret;\n}\n";

/* The races of a body; its other findings, and a block that does not end, are failures. */
static uint64_t races_of(const char *body)
{
    lab l;
    uint64_t races = 0;
    lab_open(&l, frame, body);
    lab_must_run(&l, body, &(smp_warp_launch){.grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .params = ""});
    for (size_t i = 0; i < l.result.finding_count; i++) {
        if (l.result.findings[i].fault == SMP_WARP_RACE)
            races += l.result.findings[i].count;
        else if (l.result.findings[i].fault == SMP_WARP_BARRIER)
            fail_msg("%s: %s", body, l.result.findings[i].text);
    }
    lab_close(&l);
    return races;
}

typedef struct body {
    const char *what, *text;
} body;

/* A ring of one slot: warps 0 and 1 fill it, 2 and 3 read it; barrier 1 says full, and barrier 2 empty, at which `who`
 * of the readers arrive. */
#define RING(who, count)                                                                                               \
    "mov.u32 %r5, 0;\nand.b32 %r6, %r1, 255; add.u32 %r6, %r6, %r3;\n@%p0 bra fills;\n"                                \
    "next:\n" who "bar.arrive 2, " count ";\nbar.sync 1, 128; ld.shared.u32 %r7, [%r6];\n"                             \
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 4; @%p5 bra next;\nbra done;\n"                                        \
    "fills:\nbar.sync 2, " count "; add.u32 %r7, %r0, %r5; st.shared.u32 [%r2], %r7; bar.arrive 1, 128;\n"             \
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 4; @%p5 bra fills;\ndone:"

SMP_TEST(right_programs_have_no_race)
{
    static const body bodies[] = {
        {"halves of a block",
         "st.shared.u32 [%r2], %r0;\n@%p0 bar.sync 1, 64;\n@!%p0 bar.sync 2, 64;\nxor.b32 %r5, %r2, 128;\n"
         "ld.shared.u32 %r6, [%r5];"},
        {"halves whose barrier and count are registers",
         "st.shared.u32 [%r2], %r0;\nselp.u32 %r10, 1, 2, %p0;\nbarrier.cta.sync.aligned %r10, %r9;\n"
         "xor.b32 %r5, %r2, 128;\nld.shared.u32 %r6, [%r5];"},
        {"arrive and sync: a producer and a consumer",
         "@!%p0 bra reads;\nst.shared.u32 [%r2], %r0; bar.arrive 1, 128; bra done;\nreads:\nbar.sync 1, 128;\n"
         "ld.shared.u32 %r6, [%r4];\ndone:"},
        {"a ring between two roles", RING("", "128")},
        {"two hops: warp 0 tells warp 1, which tells warp 2",
         "@%p1 st.shared.u32 [s], 5;\n@%p1 bar.arrive 1, 64;\n@%p2 bar.sync 1, 64;\n@%p2 bar.arrive 2, 64;\n"
         "@%p3 bar.sync 2, 64;\n@%p3 ld.shared.u32 %r6, [s];"},
        {"a barrier of some, then one of all",
         "st.shared.u32 [%r2], %r0;\n@%p0 bar.sync 1, 64;\nbar.sync 0;\nld.shared.u32 %r6, [%r4];"},
        {"all threads by their number", "st.shared.u32 [%r2], %r0;\nbar.sync 3, 128;\nld.shared.u32 %r6, [%r4];"},
        {"a reduction of some",
         "st.shared.u32 [%r2], %r0;\n@!%p0 bra done;\nbarrier.cta.red.popc.aligned.u32 %r6, 1, 64, %p0;\n"
         "xor.b32 %r5, %r2, 128; ld.shared.u32 %r6, [%r5];\ndone:"},
        {"lanes that ended count with their warp",
         "and.b32 %r5, %r0, 31; setp.gt.u32 %p5, %r5, 15; @%p5 bra done;\nst.shared.u32 [%r2], %r0;\nbar.sync 1, 128;\n"
         "xor.b32 %r5, %r2, 128; ld.shared.u32 %r6, [%r5];\ndone:"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        if (races_of(bodies[i].text))
            fail_msg("%s: a race that is none", bodies[i].what);
}

SMP_TEST(barriers_order_no_other_warps)
{
    static const body bodies[] = {
        {"halves, and what the other half writes",
         "st.shared.u32 [%r2], %r0;\n@%p0 bar.sync 1, 64;\n@!%p0 bar.sync 2, 64;\nld.shared.u32 %r6, [%r4];"},
        {"a half, and what the other writes without a barrier",
         "st.shared.u32 [%r2], %r0;\n@%p0 bar.sync 1, 64;\n@%p0 ld.shared.u32 %r6, [%r4];"},
        {"what is written behind an arrival",
         "@!%p0 bra reads;\nst.shared.u32 [%r2], %r0; bar.arrive 1, 128; st.shared.u32 [%r2], 9; bra done;\nreads:\n"
         "bar.sync 1, 128;\nld.shared.u32 %r6, [%r4];\ndone:"},
        {"a ring that does not wait for the last to read it", RING("@%p3 ", "96")},
        {"one hop short",
         "@%p1 st.shared.u32 [s], 5;\n@%p1 bar.arrive 1, 64;\n@%p2 bar.sync 1, 64;\n@%p3 bar.sync 2, 64;\n"
         "@%p4 bar.arrive 2, 64;\n@%p3 ld.shared.u32 %r6, [s];"},
        {"who arrives alone learns nothing",
         "@%p1 st.shared.u32 [s], 5;\n@%p1 bar.sync 1, 64;\n@%p2 bar.arrive 1, 64;\n@%p2 ld.shared.u32 %r6, [s];"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        if (!races_of(bodies[i].text))
            fail_msg("%s: a race that is not found", bodies[i].what);
}

/* Rounds follow each other as on hardware: who completes a barrier may arrive at it again before others have run. */
SMP_TEST(a_complete_barrier_begins_anew_at_once)
{
    assert_int_equal(races_of("@%p1 bar.sync 1, 64;\n@%p1 bar.sync 1, 64;\n@%p2 bar.arrive 1, 64;\n"
                              "@%p2 bar.arrive 1, 64;\n"),
                     0);
}

/* Each lane's own mask counts, whatever the first lane's says. */
SMP_TEST(a_warp_operation_whose_mask_leaves_its_lane_out_is_found)
{
    static const struct {
        const char *masks;
        uint64_t lanes; /* of a warp, that their masks leave out */
    } cases[] = {
        {"selp.b32 %r6, 0xf0, -1, %p5; selp.b32 %r6, -1, %r6, %p6;", 3},
        {"selp.b32 %r6, 0xf0, -1, %p5;", 4},
        {"selp.b32 %r6, 0xf, 0xfffffff0, %p5;", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        char text[400];
        uint64_t found = 0;
        snprintf(text, sizeof text,
                 "and.b32 %%r5, %%r0, 31; setp.lt.u32 %%p5, %%r5, 4; setp.eq.u32 %%p6, %%r5, 0;\n%s\n"
                 "vote.sync.ballot.b32 %%r7, %%p0, %%r6;",
                 cases[i].masks);
        lab_open(&l, frame, text);
        lab_must_run(&l, text, &(smp_warp_launch){.block = {THREADS, 1, 1}, .params = ""});
        for (size_t k = 0; k < l.result.finding_count; k++)
            found += strstr(l.result.findings[k].text, "leaves out") ? l.result.findings[k].count : 0;
        lab_close(&l);
        if (found != cases[i].lanes * THREADS / 32)
            fail_msg("%s: %llu findings", text, (unsigned long long)found);
    }
}
