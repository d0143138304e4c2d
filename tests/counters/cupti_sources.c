/* The sass and hw sources against a stand-in for CUPTI (fake/cupti.c) that refuses calls out of order, on the emulator
 * passing for a GPU: what is counted, that sources take turns, and what is said when counting is not allowed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "suite.h"

#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "lab/counters/source.h"

#ifdef SMP_FAKE_CUPTI
static smp_driver driver;
static smp_device *device;

static int open_device(void **state)
{
    (void)state;
    smp_error err;
    setenv("SMP_CUPTI", SMP_FAKE_CUPTI, 1);
    driver = *smp_driver_simt();
    driver.name = "cuda";
    return smp_cuda_open(&driver, 0, &device, &err) ? -1 : 0;
}

static int close_device(void **state)
{
    (void)state;
    smp_device_close(device);
    return 0;
}

static smp_code count_calls(void *context, smp_error *err)
{
    (void)err;
    ++*(int *)context;
    return SMP_OK;
}

static smp_code fail_at_once(void *context, smp_error *err)
{
    (void)context;
    return smp_fail(err, SMP_E_PROCESS, "the work failed");
}

static smp_count_source *open_source(smp_count_kind kind)
{
    smp_count_source *source;
    smp_error err;
    if (smp_count_open(kind, device, &source, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return source;
}

static void measure(smp_count_source *source, int *calls, smp_counts *counts)
{
    smp_error err;
    *calls = 0;
    if (smp_count_measure(source, count_calls, calls, counts, &err))
        fail_msg("%s (%s)", err.message, err.hint);
}

static void check_sass(smp_count_source *source)
{
    smp_counts counts;
    int calls;
    measure(source, &calls, &counts);
    assert_int_equal(calls, 1);
    assert_int_equal(counts.kind, SMP_COUNT_SASS);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].instructions, 64);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].wavefronts, 192);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].ideal, 64);
    assert_int_equal(counts.ops[SMP_SHARED_STORE].wavefronts, 10);
    assert_int_equal(counts.ops[SMP_SHARED_ATOMIC].instructions, 5);
    assert_int_equal(counts.ops[SMP_SHARED_ATOMIC].wavefronts, 7);
    assert_int_equal(counts.ops[SMP_SHARED_ATOMIC].ideal, 6);
    assert_int_equal(counts.total.wavefronts, 209);
}

static void check_hw(smp_count_source *source)
{
    smp_counts counts;
    int calls;
    measure(source, &calls, &counts);
    assert_int_equal(calls, 2); /* a pass each */
    assert_int_equal(counts.kind, SMP_COUNT_HW);
    /* instructions, wavefronts, conflicts of loads are the first three metrics; conflicts exceed wavefronts here */
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].instructions, 1000);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].wavefronts, 2000);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].ideal, 0);
    assert_int_equal(counts.ops[SMP_SHARED_ATOMIC].instructions, 7000);
    assert_int_equal(counts.ops[SMP_SHARED_ATOMIC].wavefronts, 8000);
}

SMP_TEST(each_source_counts_again_and_again)
{
    smp_count_source *sass = open_source(SMP_COUNT_SASS);
    check_sass(sass);
    check_sass(sass);
    smp_count_close(sass);
    smp_count_source *hw = open_source(SMP_COUNT_HW);
    check_hw(hw);
    check_hw(hw);
    smp_count_close(hw);
}

SMP_TEST(open_sources_take_turns)
{
    smp_count_source *sass = open_source(SMP_COUNT_SASS), *hw = open_source(SMP_COUNT_HW);
    for (int i = 0; i < 2; i++) {
        check_sass(sass);
        check_hw(hw);
    }
    smp_count_close(sass);
    check_hw(hw);
    smp_count_close(hw);
}

/* Whether another process would have to wait, whatever its program. */
static bool library_is_locked(void)
{
    const int fd = open(SMP_FAKE_CUPTI "/libcupti.so", O_RDONLY);
    assert_true(fd >= 0);
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return locked;
}

static smp_code look_at_lock(void *context, smp_error *err)
{
    (void)err;
    *(bool *)context = library_is_locked();
    return SMP_OK;
}

SMP_TEST(who_counts_locks_the_library_for_other_programs)
{
    bool locked = false;
    smp_counts counts = {0};
    smp_error err;
    smp_count_source *hw = open_source(SMP_COUNT_HW);
    assert_int_equal(smp_count_measure(hw, look_at_lock, &locked, &counts, &err), SMP_OK);
    assert_true(locked);
    smp_count_close(hw);
    assert_false(library_is_locked());
}

SMP_TEST(failing_work_leaves_the_sources_usable)
{
    for (int kind = SMP_COUNT_SASS; kind <= SMP_COUNT_HW; kind++) {
        smp_count_source *source = open_source((smp_count_kind)kind);
        smp_counts counts;
        smp_error err;
        assert_int_equal(smp_count_measure(source, fail_at_once, NULL, &counts, &err), SMP_E_PROCESS);
        assert_string_equal(err.message, "the work failed");
        if (kind == SMP_COUNT_SASS)
            check_sass(source);
        else
            check_hw(source);
        smp_count_close(source);
    }
}

SMP_TEST(missing_rights_are_one_line_with_the_remedy)
{
    smp_count_source *source;
    smp_error err;
    setenv("FAKE_CUPTI", "rights", 1);
    assert_int_equal(smp_count_open(SMP_COUNT_HW, device, &source, &err), SMP_E_DEVICE);
    assert_null(source);
    assert_non_null(strstr(err.message, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
    assert_non_null(strstr(err.hint, "CAP_PERFMON"));
    setenv("FAKE_CUPTI", "unsupported", 1);
    assert_int_equal(smp_count_open(SMP_COUNT_SASS, device, &source, &err), SMP_E_DEVICE);
    assert_string_equal(err.message, "counters cannot be read: a virtual GPU is switched off by CUPTI");
    unsetenv("FAKE_CUPTI");
    for (int kind = SMP_COUNT_SASS; kind <= SMP_COUNT_HW; kind++) { /* refused late, then allowed */
        smp_counts counts;
        int calls = 0;
        source = open_source((smp_count_kind)kind);
        setenv("FAKE_CUPTI", "start", 1);
        assert_int_equal(smp_count_measure(source, count_calls, &calls, &counts, &err), SMP_E_DEVICE);
        assert_int_equal(calls, 0);
        assert_non_null(strstr(err.hint, "CAP_PERFMON"));
        unsetenv("FAKE_CUPTI");
        if (kind == SMP_COUNT_SASS)
            check_sass(source);
        else
            check_hw(source);
        smp_count_close(source);
    }
}

/* The last: what SASS metrics gave up is gone for the process. */
SMP_TEST(hardware_counters_come_before_sass_metrics)
{
    smp_count_source *sass = open_source(SMP_COUNT_SASS), *again;
    smp_error err;
    check_sass(sass);
    setenv("FAKE_CUPTI", "beside", 1);
    smp_count_source *hw = open_source(SMP_COUNT_HW);
    check_hw(hw);
    smp_count_close(hw);
    smp_count_close(sass);
    unsetenv("FAKE_CUPTI");
    assert_int_equal(smp_count_open(SMP_COUNT_SASS, device, &again, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "once in a process"));
}

SMP_TESTS_AROUND(open_device, close_device)
#else
SMP_SUITE(cupti_sources)
{
    puts("skipped: this build has no CUPTI headers");
    return 77;
}
#endif
