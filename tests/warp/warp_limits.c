/* The warp machine's limits: whose results are one, and the launches that a GPU refuses. */
#include <string.h>

#include "suite.h"

#include "base/clock.h"
#include "lab_case.h"

/* A kernel of that name, with directives before its body, that does nothing. */
static void open_empty(lab *l, const char *symbol, const char *directives)
{
    lab_open(l, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s()%s\n{\nret;\n}\n", symbol,
             directives);
    assert_int_equal(l->code, SMP_OK);
}

static smp_code run(lab *l, uint32_t threads)
{
    return lab_run(l, &(smp_warp_launch){.block = {threads, 1, 1}});
}

/* Runs `body`, %rd1 being a buffer of 8 words of 0, %r0 the thread, %r9 the block; wait() waits until a word is not 0.
 * Returns what stopped it, or "". */
static const char *stop_of(lab *l, const char *body, uint32_t blocks, uint32_t threads, bool together)
{
    lab_open(l,
             ".version 8.0\n.target sm_90\n.address_size 64\n.func wait(.param .b64 q)\n{\n.reg .b32 %%r;\n"
             ".reg .b64 %%rd; .reg .pred %%p;\nld.param.u64 %%rd, [q];\n"
             "again: ld.volatile.global.u32 %%r, [%%rd]; setp.eq.u32 %%p, %%r, 0; @%%p bra again; ret;\n}\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<10>;\n"
             ".reg .b64 %%rd<4>; .reg .pred %%p<4>;\n.shared .align 4 .b32 s[4];\nld.param.u64 %%rd1, [p];\n"
             "mov.u32 %%r0, %%tid.x; mov.u32 %%r9, %%ctaid.x; mov.u32 %%r1, 0; setp.eq.u32 %%p1, %%r0, 0;\n"
             "%s\nret;\n}\n",
             body);
    assert_int_equal(l->code, SMP_OK);
    l->words = smp_warp_buffer(l->memory, 8 * sizeof *l->words, "words");
    const smp_warp_launch launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .together = together, .params = &l->words};
    return lab_run(l, &launch) ? l->err.message : "";
}

SMP_TEST(kernels_whose_symbols_share_their_beginning_stay_apart)
{
    enum { LENGTH = 1500 };
    lab one, other;
    char symbol[LENGTH + 1];
    smp_warp_result back;
    smp_error err = {0};
    bool end;
    size_t open = 0;
    memset(symbol, 'k', LENGTH);
    symbol[LENGTH] = 0;
    open_empty(&one, symbol, "");
    symbol[LENGTH - 1] = 'x';
    open_empty(&other, symbol, "");
    assert_int_equal(run(&one, 32), SMP_OK);
    assert_int_equal(run(&other, 32), SMP_OK);
    FILE *file = tmpfile();
    assert_non_null(file);
    smp_warp_result_write(file, &other.result);
    rewind(file);
    assert_int_equal(smp_warp_result_read(file, &back, &open, &end, &err), SMP_OK);
    fclose(file);
    assert_string_equal(back.symbol, symbol);
    assert_false(smp_warp_result_add(&one.result, &back));
    assert_true(smp_warp_result_add(&other.result, &back));
    smp_warp_result_free(&back);
    lab_close(&one);
    lab_close(&other);
}

/* Some lanes wait, or all at a lock, or a block at its barrier; and a block for one that comes later. */
SMP_TEST(a_block_that_waits_for_ever_is_stopped)
{
    static const struct {
        const char *body, *told, *finding;
        uint32_t blocks;
        bool together;
    } cases[] = {
        {"@!%p1 bra on;\nagain: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again;\n"
         "on: bar.sync 0;",
         "block 0,0,0: it waits here for ever for a value that no block writes",
         "waits for ever for a value that no block writes", 1, false},
        {"again: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again;",
         "block 0,0,0: it waits here for ever for a value that no block writes", NULL, 1, false},
        {"again: @%p1 ld.volatile.global.u32 %r2, [%rd1]; @%p1 st.shared.u32 [s], %r2; bar.sync 0;\n"
         "ld.shared.u32 %r3, [s]; bar.sync 0; setp.eq.u32 %p2, %r3, 0; @%p2 bra again;",
         "block 0,0,0: it waits here for ever for a value that no block writes", NULL, 1, false},
        {"setp.ne.u32 %p3, %r9, 0; @%p3 bra write;\n"
         "again: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again; ret;\n"
         "write: st.volatile.global.u32 [%rd1], %r9;",
         "block 0,0,0: it waits here for ever for a value that no block before it writes", NULL, 2, false},
        {"again: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again;",
         "for ever for another block: its blocks wait for each other, and none goes on", NULL, 2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        const char *told = stop_of(&l, cases[i].body, cases[i].blocks, 64, cases[i].together);
        if (!strstr(told, cases[i].told))
            fail_msg("case %zu: '%s'", i, told);
        if (cases[i].finding) {
            assert_int_equal(l.result.finding_count, 1);
            assert_int_equal(l.result.findings[0].fault, SMP_WARP_BARRIER);
            assert_string_equal(l.result.findings[0].text, cases[i].finding);
        }
        lab_close(&l);
    }
}

/* Beside others, too, whatever they write meanwhile: that it waits is a meeting, and the launch, which is to be done
 * again in one thread, has no time to lose. Block 0 writes a word 30 million times, and at its end what others wait
 * for; of one thread the launch's own blocks all end. */
SMP_TEST(a_block_that_waits_beside_others_ends_the_launch)
{
    lab l;
    _Atomic bool met = false;
    lab_open(&l,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<4>;\n.reg .b64 %%rd; .reg .pred %%p;\nld.param.u64 %%rd, [p]; mov.u32 %%r0, %%ctaid.x;\n"
             "mov.u32 %%r1, 0; setp.ne.u32 %%p, %%r0, 0; @%%p bra again;\n"
             "more: st.global.u32 [%%rd+4], %%r1; add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, 30000000;\n"
             "@%%p bra more; st.global.u32 [%%rd], 1; ret;\n"
             "again: ld.global.u32 %%r2, [%%rd]; setp.eq.u32 %%p, %%r2, 0; @%%p bra again;\nret;\n}\n");
    assert_int_equal(l.code, SMP_OK);
    l.words = smp_warp_buffer(l.memory, 8 * sizeof *l.words, "words");
    (void)lab_run(
        &l, &(smp_warp_launch){
                .grid = {2, 1, 1}, .block = {1, 1, 1}, .params = &l.words, .threads = 2, .watch = true, .met = &met});
    assert_true(met);
    assert_int_equal(l.words[0], 0);
    lab_close(&l);
}

/* Of two threads of which nothing tells what they write: block 0 takes its time before it writes what block 1 waits for
 * in a function. That one's warp waits for its other one, too, which has its turn. */
SMP_TEST(a_warp_that_waits_in_a_function_beside_others_goes_on)
{
    lab l;
    lab_open(&l, ".version 8.0\n.target sm_90\n.address_size 64\n.func wait(.param .b64 p)\n{\n"
                 ".reg .b32 %%r; .reg .b64 %%rd; .reg .pred %%p;\nld.param.u64 %%rd, [p];\n"
                 "again: ld.volatile.global.u32 %%r, [%%rd]; setp.eq.u32 %%p, %%r, 0; @%%p bra again;\nret;\n}\n"
                 ".visible .entry k(.param .u64 p)\n{\n"
                 ".reg .b32 %%r<4>;\n.reg .b64 %%rd<2>; .reg .pred %%p;\nld.param.u64 %%rd0, [p];\n"
                 "mov.u32 %%r0, %%ctaid.x; add.u64 %%rd1, %%rd0, 4; mov.u32 %%r2, %%tid.x;\n"
                 "mov.u32 %%r1, 0; setp.ne.u32 %%p, %%r0, 0; @%%p bra waits;\n"
                 "more: add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, 10000000;\n"
                 "@%%p bra more; st.volatile.global.u32 [%%rd0], 1; ret;\n"
                 "waits: setp.ge.u32 %%p, %%r2, 32; @%%p bra second;\n"
                 "{.param .b64 q; st.param.b64 [q], %%rd1; call.uni wait, (q);}\n"
                 "{.param .b64 q; st.param.b64 [q], %%rd0; call.uni wait, (q);}\n"
                 "st.volatile.global.u32 [%%rd0+8], 1; ret;\n"
                 "second: st.volatile.global.u32 [%%rd1], 1;\nret;\n}\n");
    assert_int_equal(l.code, SMP_OK);
    l.words = smp_warp_buffer(l.memory, 8 * sizeof *l.words, "words");
    (void)lab_run(&l, &(smp_warp_launch){.grid = {2, 1, 1}, .block = {64, 1, 1}, .params = &l.words, .threads = 2});
    if (l.code)
        fail_msg("%s", l.err.message);
    assert_int_equal(l.words[2], 1);
    lab_close(&l);
}

/* Of two warps both; or one for what the other writes, and then none waits. Lanes outside the function could write, and
 * a warp that waits in one below. */
SMP_TEST(a_warp_that_waits_in_a_function_is_stopped)
{
#define WAIT(place) "{.param .b64 q; st.param.b64 [q], " place "; call.uni wait, (q);}\n"
    static const struct {
        const char *body, *told;
        uint32_t threads;
    } cases[] = {
        {WAIT("%rd1"), "it waits here for ever for a value that no block writes", 32},
        {WAIT("%rd1"), "it waits here for ever for a value that no block writes", 64},
        {"setp.ge.u32 %p3, %r0, 32; @%p3 bra write;\n" WAIT("%rd1") "ret;\nwrite: st.volatile.global.u32 [%rd1], 1;",
         "", 64},
        {"@%p1 bra write;\n" WAIT("%rd1") "ret;\nwrite: st.volatile.global.u32 [%rd1], 1;",
         "in a function that is called, not inlined, for other threads, which is not supported", 32},
        {"add.s64 %rd2, %rd1, 4; setp.ge.u32 %p3, %r0, 32; @%p3 bra write;\n" WAIT(
             "%rd1") "st.volatile.global.u32 [%rd2], 1; ret;\nwrite: st.volatile.global.u32 [%rd1], 1;\n" WAIT("%rd2"),
         "in a function that is called, not inlined, for other threads, which is not supported", 64},
    };
#undef WAIT
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        const char *told = stop_of(&l, cases[i].body, 1, cases[i].threads, false);
        if (cases[i].told[0] ? !strstr(told, cases[i].told) : told[0] != 0)
            fail_msg("case %zu: '%s'", i, told);
        lab_close(&l);
    }
}

/* A register counts; the clock goes on; memory counts, while registers come again; a block sees those before it. */
SMP_TEST(a_block_that_waits_long_is_not_stopped)
{
    static const char *const cases[] = {
        "again: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3000000;\n"
        "@%p2 bra again;",
        "again: mov.u32 %r2, %clock; shr.u32 %r2, %r2, 24; setp.eq.u32 %p2, %r2, 0; @%p2 bra again;",
        "again: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1], %r2;\n"
        "setp.lt.u32 %p2, %r2, 3000000; mov.u32 %r2, 0; @%p2 bra again;",
        "setp.eq.u32 %p3, %r9, 0; @%p3 bra write;\n"
        "again: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again; ret;\n"
        "write: st.volatile.global.u32 [%rd1], 1;",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        const char *told = stop_of(&l, cases[i], 2, 1, false);
        if (told[0])
            fail_msg("case %zu: '%s'", i, told);
        lab_close(&l);
    }
}

SMP_TEST(results_of_unlike_arrays_stay_apart)
{
    static char name[] = "k";
    smp_warp_array few[1] = {{.bytes = 4}}, many[40] = {{.mixed = true}};
    smp_warp_result one = {.kernel = name, .symbol = name, .arrays = few, .array_count = 1};
    smp_warp_result other = {.kernel = name, .symbol = name, .arrays = many, .array_count = 40};
    assert_false(smp_warp_result_add(&one, &other)); /* a program may leave such */
    assert_false(smp_warp_result_add(&other, &one));
}

SMP_TEST(patterns_of_many_launches_stay_few)
{
    enum { MANY = 20000, FEW = 5000 };
    smp_warp_patterns all = {.count = 0};
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(
            smp_warp_patterns_add(&all, &(smp_warp_pattern){.active = 1, .width = 4, .offset = {4 * i}, .count = 1}));
    assert_in_range(all.count, 1, FEW);
    smp_warp_patterns_free(&all);
}

SMP_TEST(static_kernels_of_two_files_stay_apart)
{
    lab one, other;
    open_empty(&one, "k", "");
    open_empty(&other, "k", "");
    assert_int_equal(run(&one, 32), SMP_OK);
    assert_int_equal(run(&other, 32), SMP_OK);
    assert_false(smp_warp_result_add(&one.result, &other.result));
    lab_close(&one);
    lab_close(&other);
}

SMP_TEST(blocks_beyond_launch_bounds_are_refused)
{
    lab l;
    open_empty(&l, "k", ".maxntid 32, 2, 1");
    assert_int_equal(smp_warp_kernel_threads(smp_warp_kernel_at(l.ptx, 0), 0), 64);
    assert_int_equal(run(&l, 65), SMP_E_USAGE);
    assert_string_equal(l.err.message, "a block of 65 threads cannot be launched: k may have 64");
    assert_int_equal(run(&l, 64), SMP_OK);
    lab_close(&l);
    open_empty(&l, "k", ".reqntid 64");
    assert_int_equal(run(&l, 32), SMP_E_USAGE);
    assert_int_equal(run(&l, 64), SMP_OK);
    lab_close(&l);
}

SMP_TEST(launch_bounds_of_more_threads_than_32_bits_count_bound_nothing)
{
    static const char *const bounds[] = {".maxntid 1, 1, 4294967295", ".maxntid 65536, 65536, 1",
                                         ".maxntid 4294967295, 4294967295, 4294967295", ".reqntid 65536, 65536, 1",
                                         ".reqntid 65537, 65536, 1"};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        lab l;
        open_empty(&l, "k", bounds[i]);
        assert_int_equal(smp_warp_kernel_threads(smp_warp_kernel_at(l.ptx, 0), 0), 1024);
        assert_int_equal(run(&l, 1024), bounds[i][1] == 'm' ? SMP_OK : SMP_E_USAGE);
        lab_close(&l);
    }
}

SMP_TEST(a_pragma_before_the_body_hides_no_bounds)
{
    lab l;
    open_empty(&l, "k", ".pragma \"nounroll\"; .maxntid 64, 1, 1");
    assert_int_equal(smp_warp_kernel_threads(smp_warp_kernel_at(l.ptx, 0), 0), 64);
    assert_int_equal(run(&l, 64), SMP_OK);
    lab_close(&l);
}

SMP_TEST(blocks_beyond_the_registers_are_refused)
{
    lab l;
    open_empty(&l, "k", "");
    smp_warp_launch launch = {
        .kernel = smp_warp_kernel_at(l.ptx, 0), .grid = {1, 1, 1}, .block = {1024, 1, 1}, .registers = 64};
    assert_int_equal(smp_warp_room_of(&launch, &l.err), SMP_WARP_FITS);
    launch.registers = 71; /* 72 in steps of 8: 28 warps */
    assert_int_equal(smp_warp_room_of(&launch, &l.err), SMP_WARP_OUT_OF_REGISTERS);
    assert_int_equal(smp_warp_kernel_threads(launch.kernel, 71), 896);
    launch.block[0] = 896;
    assert_int_equal(smp_warp_room_of(&launch, &l.err), SMP_WARP_FITS);
    lab_close(&l);
}

SMP_TEST(a_shuffle_from_outside_of_its_mask_is_a_mistake)
{
    static const struct {
        const char *shuffle;
        uint64_t count;
    } cases[] = {
        {"idx.b32 %r1, %r0, 20, 31, 0xffff", 16},
        {"idx.b32 %r1, %r0, 15, 31, 0xffff", 0},
        {"bfly.b32 %r1, %r0, 16, 31, 0xffff", 16},
        {"down.b32 %r1, %r0, 8, 31, 0xffff", 0},   /* of lanes 8 to 15, which do not use it */
        {"idx.b32 %r1, %r0, 20, 4127, 0xffff", 0}, /* in segments of 16 lanes: 4 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        lab_open(&l,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<2>;\n"
                 "mov.u32 %%r0, %%laneid;\nshfl.sync.%s;\nret;\n}\n",
                 cases[i].shuffle);
        assert_int_equal(l.code, SMP_OK);
        assert_int_equal(run(&l, 16), SMP_OK);
        assert_int_equal(l.result.finding_count, cases[i].count != 0);
        if (cases[i].count)
            assert_int_equal(l.result.findings[0].count, cases[i].count);
        lab_close(&l);
    }
}

/* Loops whose turns are short, that make findings, that split the warp, and blocks that are no work. They count: those
 * that come to the same state again are stopped for that. */
SMP_TEST(a_time_limit_holds_whatever_the_time_goes_into)
{
    static const double limit = 0.2, late = 1.2; /* seconds; the second is generous for a busy machine */
    static const char *const bodies[] = {
        "again: add.u32 %r1, %r1, 1; bra again;",
        "again: st.shared.u32 [s], %r0; ld.shared.u32 %r1, [s]; add.u32 %r0, %r0, 1; bra again;",
        "again: st.global.u32 [%d0], %r0; add.u32 %r0, %r0, 1; bra again;",
        "again: st.global.u32 [%d0+1], %r0; add.u32 %r0, %r0, 1; bra again;",
        ("again: and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra even; add.u32 %r0, %r0, 2; bra again;\n"
         "even: add.u32 %r0, %r0, 4; bra again;"),
        "again: bar.sync 0; add.u32 %r1, %r1, 1; bra again;",
        "",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        lab l;
        lab_open(&l,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<2>;\n"
                 ".reg .pred %%p<1>; .reg .b64 %%d<1>;\n.shared .align 4 .b32 s[4];\nmov.u32 %%r0, %%tid.x;\n"
                 "mov.b64 %%d0, -4;\n%s\nret;\n}\n",
                 bodies[i]);
        assert_int_equal(l.code, SMP_OK);
        const smp_warp_launch launch = {.grid = {INT32_MAX, 1, 1}, .block = {256, 1, 1}, .seconds = limit};
        const double began = smp_now();
        assert_int_equal(lab_run(&l, &launch), SMP_E_LIMIT);
        if (smp_now() - began > late)
            fail_msg("%s took %g s", bodies[i], smp_now() - began);
        lab_close(&l);
    }
}
