/* The CPU device shares rows out to its threads: every row once, in whole units, and those of large launches in many
 * bands, so that nobody waits for a slow thread. */
#include "suite.h"

#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "device/cpu.h"
#include "stages/stage.h"

enum { THREADS = 3, UNIT = 16, FIRST = 100, ROWS = 1000 };
enum { LARGE = 1 << 16, SMALL = 1 << 8 }; /* bytes a row */

static _Atomic int given[ROWS], bands, misplaced, first;

static void notes_its_rows(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    (void)params, (void)scratch;
    bands++;
    misplaced += y0 % UNIT != 0 && y0 != io->out.y0;
    misplaced += y1 % UNIT != 0 && y1 != io->out.y0 + io->out.rows;
    for (int64_t y = y0; y < y1; y++)
        given[y - FIRST]++;
    if (y0 == FIRST)
        first = (int)(y1 - y0);
}

static smp_code launch_for(const smp_wish *wish, smp_cpu_fn *fn, int64_t stride)
{
    static char sample; /* kernels here do not look at samples */
    const smp_view view = {.data = &sample,
                           .stride = stride,
                           .width = stride,
                           .height = FIRST + ROWS,
                           .y0 = FIRST,
                           .rows = ROWS,
                           .channels = 1,
                           .white = 255};
    const smp_io io = {.out = view, .in = view};
    const smp_variant variant = {.name = "a test's", .band = UNIT};
    const smp_node_plan plan = {.reduction.kind = SMP_RESULT_NONE};
    const smp_launch launch = {.cpu = {{fn, fn, fn}}};
    smp_device *device;
    smp_error err;
    smp_cost cost = {0};
    assert_int_equal(smp_cpu_open(THREADS, NULL, &device, &err), SMP_OK);
    device->wish = wish;
    const smp_code code = device->ops->launch(device, &variant, &launch, &io, &plan, &cost, &err);
    smp_device_close(device);
    return code;
}

static void launch(smp_cpu_fn *fn, int64_t stride)
{
    for (int i = 0; i < ROWS; i++)
        given[i] = 0;
    bands = misplaced = first = 0;
    assert_int_equal(launch_for(NULL, fn, stride), SMP_OK);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(given[i], 1);
    assert_int_equal(misplaced, 0);
}

SMP_TEST(small_launches_are_a_band_a_thread)
{
    launch(notes_its_rows, SMALL);
    assert_int_equal(bands, THREADS);
}

SMP_TEST(large_launches_are_many_bands)
{
    launch(notes_its_rows, LARGE);
    assert_in_range(bands, 4 * THREADS, ROWS / UNIT);
    assert_in_range(first, 1, ROWS / (2 * THREADS) + UNIT);
}

static _Atomic int begun, ended, overtaken, inner_overtaken, outer_ended;

static void takes_long(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1)
{
    (void)io, (void)params, (void)scratch, (void)y0, (void)y1;
    begun++;
    for (const double start = smp_now(); smp_now() < start + 20;)
        ;
    ended++;
}

static bool is_overtaken(void *context)
{
    (void)context;
    return overtaken;
}

static void *overtakes(void *context)
{
    while (begun < THREADS)
        ;
    smp_wishes_ask(); /* nothing is gone yet */
    overtaken = 1;
    smp_wishes_ask();
    return context;
}

SMP_TEST(launches_that_nobody_wants_end_in_their_midst)
{
    const smp_wish wish = {is_overtaken, NULL};
    pthread_t thread;
    begun = ended = overtaken = 0;
    pthread_create(&thread, NULL, overtakes, NULL);
    assert_int_equal(launch_for(&wish, takes_long, LARGE), SMP_E_INTERRUPTED);
    pthread_join(thread, NULL);
    assert_int_equal(begun, THREADS); /* and no more begin */
    assert_int_equal(ended, 0);
}

static bool is_inner_overtaken(void *context)
{
    (void)context;
    return inner_overtaken;
}

static void asks_for_inner(void *context, int part)
{
    (void)context, (void)part;
    inner_overtaken = 1;
    raise(SIGURG); /* as another thread's smp_wishes_ask() does */
    ended++;
}

static void has_a_part(void *context, int part)
{
    const smp_wish inner = {is_inner_overtaken, NULL};
    smp_while_wished(&inner, asks_for_inner, context, part);
    overtaken = part;
    raise(SIGURG);
    outer_ended++;
}

SMP_TEST(work_within_work_is_left_alone_and_with_it)
{
    const smp_wish outer = {is_overtaken, NULL};
    smp_wishes_ask(); /* from now on the signal is heard */
    for (int gone = 0; gone <= 1; gone++) {
        overtaken = inner_overtaken = ended = outer_ended = 0;
        smp_while_wished(&outer, has_a_part, NULL, gone);
        assert_int_equal(ended, 0);
        assert_int_equal(outer_ended, !gone);
    }
}
