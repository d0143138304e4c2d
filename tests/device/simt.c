/* The emulator: what kernels do together works, what they do wrong is found, and what their shared accesses cost is
 * what an H100 counted. The kernels are in simt.cu. */
#include "suite.h"

#include "bank_patterns.h"
#include "simt_fixture.h"

#if defined(__SANITIZE_ADDRESS__)
#define CASE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CASE_ASAN 1
#endif
#endif

extern const smp_kernel_file simt_kernels[];

static int use_own_kernels(void **state)
{
    (void)state;
    smp_kernel_files_extra(simt_kernels);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ conflicts */

SMP_TEST(bank_conflicts_are_those_of_an_h100)
{
    FILE *file = bank_patterns_open();
    bank_pattern row;
    smp_simt_set_threads(1);
    while (bank_patterns_next(file, &row)) {
        float out[32] = {0};
        simt_run run = simt_run_of("bank_probe", 0, 1, 32, out, sizeof out);
        run.params = (simt_case){.active = row.access.active, .width = row.access.width};
        run.table = row.access.offset, run.table_size = sizeof row.access.offset;
        run.traced = true;
        run.params.mode = strcmp(row.op, "atom_add_ret") == 0 ? 10 : (int)row.access.op;
        smp_error err;
        assert_int_equal(simt_run_it(&run, &err), SMP_OK);
        smp_shared_op op = row.access.op == SMP_BANK_LOAD    ? SMP_SHARED_LOAD
                           : row.access.op == SMP_BANK_STORE ? SMP_SHARED_STORE
                                                             : SMP_SHARED_ATOMIC;
        const smp_shared_count *count = &run.trace.launches[0].ops[op];
        if (count->instructions != 1 || count->wavefronts != (uint64_t)row.wavefronts)
            print_error("%s %d %s: %d instructions, %d wavefronts; measured %d\n", row.op, row.access.width,
                        row.pattern, (int)count->instructions, (int)count->wavefronts, row.wavefronts);
        assert_int_equal(count->instructions, 1);
        assert_int_equal(count->wavefronts, row.wavefronts);
        assert_int_equal(count->ideal, smp_bank_cost_of(&row.access).packed);
        if (row.access.op != SMP_BANK_ATOMIC_FLOAT)
            assert_int_equal(run.trace.launches[0].sites[0].conflicts, row.conflicts);
        assert_int_equal(smp_trace_total(&run.trace).instructions, 1); /* and nothing else was counted */
        simt_run_free(&run);
    }
    fclose(file);
    smp_simt_set_threads(0);
}

static void trace_column(int padded, simt_run *run)
{
    static float in[1024], out[1024];
    for (int i = 0; i < 1024; i++)
        in[i] = (float)i;
    memset(out, 0, sizeof out);
    *run = simt_run_of("column", padded, 1, 32, out, sizeof out);
    run->in = in, run->in_size = sizeof in;
    run->threads_y = 32;
    run->traced = true;
    smp_error err;
    assert_int_equal(simt_run_it(run, &err), SMP_OK);
    for (int i = 0; i < 1024; i++)
        assert_true(out[i] == (float)(i % 32 * 32 + i / 32));
}

SMP_TEST(a_dropped_pad_shows_as_conflicts_at_its_line)
{
    simt_run run;
    trace_column(1, &run);
    smp_shared_count total = smp_trace_total(&run.trace);
    assert_int_equal(total.instructions, 64);
    assert_int_equal(total.wavefronts, 64);
    simt_run_free(&run);

    trace_column(0, &run);
    const smp_trace_launch *launch = &run.trace.launches[0];
    assert_string_equal(launch->kernel, "column_f32_f32");
    assert_int_equal(launch->static_shared, 32 * 32 * 4);
    assert_int_equal(launch->ops[SMP_SHARED_STORE].wavefronts, 32);
    assert_int_equal(launch->ops[SMP_SHARED_LOAD].instructions, 32);
    assert_int_equal(launch->ops[SMP_SHARED_LOAD].wavefronts, 32 * 32);
    for (size_t i = 0; i < launch->site_count; i++)
        if (launch->sites[i].op == SMP_SHARED_LOAD) {
            char where[64];
            assert_int_equal(launch->sites[i].count.wavefronts, 32 * 32);
            assert_int_equal(launch->sites[i].width, 4);
            assert_int_equal(launch->sites[i].example.active, 0xffffffffu); /* a warp that reads a column */
            assert_int_equal(launch->sites[i].example_conflicts, 31);
            assert_int_equal(launch->sites[i].example.offset[1] - launch->sites[i].example.offset[0], 32 * 4);
            if (smp_trace_where(&launch->sites[i], where, sizeof where)) /* needs addr2line */
                assert_ptr_equal(strstr(where, "simt.cu:"), where);
        }
    simt_run_free(&run);
}

/* ------------------------------------------------------------------------------------------------ mistakes */

static smp_trace_faults faults_of(const char *kernel, int mode)
{
    unsigned out[256];
    memset(out, 0xff, sizeof out);
    simt_run run = simt_run_of(kernel, mode, 2, 128, out, sizeof out);
    run.traced = true;
    smp_error err;
    assert_int_equal(simt_run_it(&run, &err), SMP_OK);
    smp_trace_faults faults = smp_trace_all_faults(&run.trace);
    simt_run_free(&run);
    return faults;
}

SMP_TEST(clean_kernels_have_no_faults)
{
    static const int clean[] = {0, 2, 8};
    for (size_t i = 0; i < sizeof clean / sizeof clean[0]; i++) {
        smp_trace_faults faults = faults_of("neighbour", clean[i]);
        assert_int_equal(smp_trace_fault_count(&faults), 0);
    }
}

SMP_TEST(a_missing_barrier_is_a_race)
{
    assert_true(faults_of("neighbour", 1).races >= 2 * 127);
    assert_true(faults_of("neighbour", 3).races >= 2 * 124); /* lanes of one warp too */
    assert_true(faults_of("neighbour", 9).races >= 2 * 127); /* a plain read beside atomics */
}

SMP_TEST(reading_what_nobody_wrote_is_found)
{
    smp_trace_faults faults = faults_of("neighbour", 4);
    assert_int_equal(faults.uninitialised, 2 * (128 - 5));
    assert_int_equal(faults.races, 0);
}

SMP_TEST(divergent_barriers_are_found)
{
    assert_int_equal(faults_of("neighbour", 5).divergent, 2); /* one a block: half had left */
    assert_int_equal(faults_of("neighbour", 6).divergent, 2); /* two places */
}

SMP_TEST(accesses_outside_are_found)
{
    assert_int_equal(faults_of("neighbour", 7).outside, 2);
    assert_int_equal(faults_of("past_the_end", 1).outside, 2);
}

SMP_TEST(a_plain_run_refuses_what_would_hang_or_corrupt)
{
    unsigned out[256] = {0};
    smp_error err;
    simt_run run = simt_run_of("neighbour", 5, 2, 128, out, sizeof out);
    assert_int_equal(simt_run_it(&run, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "divergent barrier"));
    assert_non_null(strstr(err.message, "neighbour_f32_f32"));
#ifndef CASE_ASAN /* which stops the program at that store */
    run = (simt_run){.kernel = "past_the_end", .blocks = 1, .threads = 32, .out = out, .out_size = 40};
    assert_int_equal(simt_run_it(&run, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
#endif
    assert_int_equal(smp_alloc_live(), 0);
}

/* ------------------------------------------------------------------------------------------------ orders */

SMP_TEST(five_orders_agree_unless_there_is_a_race)
{
    for (int mode = 0; mode < 2; mode++) {
        unsigned first[256];
        int different = 0;
        for (int order = 0; order < 5; order++) {
            unsigned out[256] = {0};
            simt_run run = simt_run_of("neighbour", mode, 2, 128, out, sizeof out);
            smp_error err;
            smp_simt_set_order(order);
            assert_int_equal(simt_run_it(&run, &err), SMP_OK);
            if (order == 0)
                memcpy(first, out, sizeof first);
            different += memcmp(first, out, sizeof first) != 0;
        }
        assert_int_equal(different, mode ? 4 : 0);
    }
    smp_simt_set_order(0);
}

/* ------------------------------------------------------------------------------------------------ what threads share
 */

SMP_TEST(shuffles_and_votes_follow_the_guide)
{
    for (int traced = 0; traced < 2; traced++)
        for (int order = 0; order < 5; order++) {
            unsigned out[64 * 12];
            simt_run run = {
                .kernel = "exchange", .blocks = 1, .threads = 64, .out = out, .out_size = sizeof out, .traced = traced};
            smp_error err;
            smp_simt_set_order(order);
            assert_int_equal(simt_run_it(&run, &err), SMP_OK);
            simt_run_free(&run);
            for (unsigned t = 0; t < 64; t++) {
                unsigned lane = t % 32, base = 100 + t - lane;
                const unsigned want[12] = {
                    base + 5,
                    base + (lane & ~7u) + 2,
                    base + (lane >= 3 ? lane - 3 : lane),
                    base + (lane + 3 < 32 ? lane + 3 : lane),
                    base + ((lane & 7) + 3 < 8 ? lane + 3 : lane),
                    base + (lane ^ 16),
                    0x49249249u,
                    1,
                    0,
                    base + (lane ^ 1),
                    lane < 16 ? base + (lane + 1 < 16 ? lane + 1 : lane) : 0,
                    32 * base + 31 * 16,
                };
                for (int i = 0; i < 12; i++)
                    assert_int_equal(out[t * 12 + (unsigned)i], want[i]);
            }
        }
    smp_simt_set_order(0);
}

SMP_TEST(atomics_of_many_blocks_add_up)
{
    for (int traced = 0; traced < 2; traced++) {
        uint64_t result[35] = {0}, want[32] = {0}, all = 0;
        unsigned out[1] = {0};
        result[33] = UINT64_MAX;
        simt_run run = simt_run_of("count", 0, 40, 96, out, sizeof out);
        run.result = result, run.result_size = sizeof result;
        run.traced = traced;
        smp_error err;
        smp_simt_set_threads(4);
        assert_int_equal(simt_run_it(&run, &err), SMP_OK);
        smp_simt_set_threads(0);
        for (uint32_t i = 0; i < 40 * 96; i++)
            want[i * 2654435761u >> 27]++;
        for (int i = 0; i < 32; i++) {
            assert_int_equal(result[i], want[i]);
            all += result[i];
        }
        assert_int_equal(result[32], 39);
        assert_int_equal(result[33], 0);
        assert_int_equal(result[34], all);
        smp_trace_faults faults = smp_trace_all_faults(&run.trace);
        assert_int_equal(smp_trace_fault_count(&faults), 0);
        simt_run_free(&run);
    }
}

SMP_TEST(asynchronous_copies_land_at_the_wait)
{
    float in[256], out[256];
    for (int i = 0; i < 256; i++)
        in[i] = (float)(i + 1);
    for (int mode = 0; mode < 2; mode++) {
        memset(out, 0, sizeof out);
        simt_run run = simt_run_of("async", mode, 1, 64, out, sizeof out);
        run.in = in, run.in_size = sizeof in;
        run.shared_bytes = 1024;
        run.traced = true;
        smp_error err;
        assert_int_equal(simt_run_it(&run, &err), SMP_OK);
        smp_trace_faults faults = smp_trace_all_faults(&run.trace);
        if (mode == 0) {
            for (int i = 0; i < 256; i++) /* the last four were not present: zeros */
                assert_true(out[i] == (i < 4 ? 0.f : in[255 - 3 - (i / 4 * 4) + i % 4]));
            assert_int_equal(smp_trace_fault_count(&faults), 0);
        } else {
            assert_int_equal(faults.uninitialised, 64);
        }
        const smp_shared_count *copies = &run.trace.launches[0].ops[SMP_SHARED_ASYNC];
        assert_int_equal(copies->instructions, 2);
        assert_int_equal(copies->wavefronts, 8);
        assert_int_equal(copies->ideal, 8);
        simt_run_free(&run);
    }
}

SMP_TEST(dynamic_shared_memory_is_opted_into_up_to_the_limit)
{
    static const struct {
        int bytes;
        smp_code code;
    } cases[] = {{48 * 1024, SMP_OK}, {100 * 1024, SMP_OK}, {227 * 1024, SMP_OK}, {228 * 1024, SMP_E_DEVICE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float out[32] = {0};
        simt_run run = simt_run_of("dynamic", 0, 1, 32, out, sizeof out);
        run.params = (simt_case){.width = cases[i].bytes};
        run.shared_bytes = (unsigned)cases[i].bytes;
        smp_error err;
        assert_int_equal(simt_run_it(&run, &err), cases[i].code);
        for (int k = 0; k < 32; k++)
            assert_true(out[k] == (cases[i].code ? 0.f : 3.f));
    }
}

SMP_TEST(bit_functions_give_what_a_gpu_gives)
{
    unsigned out[12] = {0};
    simt_run run = {.kernel = "bits", .blocks = 1, .threads = 32, .out = out, .out_size = sizeof out};
    smp_error err;
    assert_int_equal(simt_run_it(&run, &err), SMP_OK);
    const unsigned want[12] = {0x77552200u, 0x00009999u, 8, 31, 4, 0x80000000u, 3, 0x3f800000u, 3, 5, 15, 0x36000004u};
    for (int i = 0; i < 12; i++)
        assert_int_equal(out[i], want[i]);
}

/* ------------------------------------------------------------------------------------------------ a real one */

SMP_TEST(a_gpu_agrees_where_there_is_one)
{
    static const struct {
        const char *kernel;
        simt_case params;
        unsigned blocks, threads, threads_y, shared_bytes;
    } cases[] = {
        {"column", {.mode = 0}, 1, 32, 32, 0},
        {"column", {.mode = 1}, 1, 32, 32, 0},
        {"neighbour", {.mode = 0}, 8, 128, 0, 0},
        {"neighbour", {.mode = 2}, 8, 128, 0, 0},
        {"neighbour", {.mode = 8}, 8, 128, 0, 0},
        {"exchange", {.mode = 0}, 1, 64, 0, 0},
        {"count", {.mode = 0}, 40, 96, 0, 0},
        {"async", {.mode = 0}, 1, 64, 0, 1024},
        {"dynamic", {.width = 100 * 1024}, 1, 32, 0, 100 * 1024},
        {"bits", {.mode = 0}, 1, 32, 0, 0},
    };
    smp_driver *gpu;
    smp_error err;
    if (smp_driver_cuda(&gpu, &err) || smp_cuda_built(&err)) {
        print_message("no GPU: %s\n", err.message);
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static float in[1024];
        static unsigned out[2][1024];
        uint64_t result[2][35];
        for (int k = 0; k < 1024; k++)
            in[k] = (float)(k * 31 % 257);
        for (int which = 0; which < 2; which++) {
            memset(out[which], 0, sizeof out[which]);
            memset(result[which], 0, sizeof result[which]);
            result[which][33] = UINT64_MAX;
            simt_run run =
                simt_run_of(cases[i].kernel, 0, cases[i].blocks, cases[i].threads, out[which], sizeof out[which]);
            run.params = cases[i].params;
            run.in = in, run.in_size = sizeof in;
            run.result = result[which], run.result_size = sizeof result[which];
            run.threads_y = cases[i].threads_y;
            run.shared_bytes = cases[i].shared_bytes;
            smp_code code = simt_run_on(which ? gpu : smp_driver_simt(), &run, &err);
            if (code)
                print_error("%s: %s\n", cases[i].kernel, err.message);
            assert_int_equal(code, SMP_OK);
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_memory_equal(result[0], result[1], sizeof result[0]);
    }
}

SMP_TESTS_AROUND(use_own_kernels, NULL)
