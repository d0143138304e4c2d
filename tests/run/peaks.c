/* Ceilings: the kernels move what they say, rates are medians with quartiles, devices without a bus have no rate of
 * one. */
#include <string.h>

#include "suite.h"

#include "bench/bench.h"
#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "run/peaks.h"

enum { DEVICES = 2, ROWS = 5, STRIDE = 3 * 16 * 37 }; /* a length that no block divides */

static smp_device *devices[DEVICES];

static int open_devices(void **state)
{
    (void)state;
    smp_error err;
    return smp_cpu_open(3, NULL, &devices[0], &err) || smp_cuda_open(smp_driver_simt(), 0, &devices[1], &err) ? -1 : 0;
}

static int close_devices(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++)
        smp_device_close(devices[i]);
    return 0;
}

static void two_blocks(const smp_io *io, const void *params, smp_grid *grid)
{
    (void)io, (void)params;
    grid->grid[0] = 2;
    grid->block[0] = 64;
}

static smp_view view_of(void *data)
{
    return (smp_view){.data = data,
                      .stride = STRIDE,
                      .width = STRIDE / 4,
                      .height = ROWS,
                      .rows = ROWS,
                      .channels = 1,
                      .format = SMP_F32,
                      .white = 1};
}

/* Runs one kernel over `in` and gives what `out` (zeros before) holds then. */
static void run(smp_device *device, const smp_launch *launch, const unsigned char *in, unsigned char *out)
{
    enum { SIZE = ROWS * STRIDE };
    static smp_node_plan plan;
    smp_error err;
    smp_cost cost = {0};
    smp_variant variant = {.name = "test"};
    void *from, *to;
    assert_int_equal(device->ops->alloc(device, SIZE, &from, &err), SMP_OK);
    assert_int_equal(device->ops->alloc(device, SIZE, &to, &err), SMP_OK);
    assert_int_equal(device->ops->copy_in(device, from, SIZE, in, SIZE, SIZE, 1, &err), SMP_OK);
    assert_int_equal(device->ops->zero(device, to, SIZE, &err), SMP_OK);
    smp_io io = {.in = view_of(from), .out = view_of(to)};
    assert_int_equal(device->ops->launch(device, &variant, launch, &io, &plan, &cost, &err), SMP_OK);
    assert_int_equal(device->ops->copy_out(device, out, SIZE, to, SIZE, SIZE, 1, &err), SMP_OK);
    assert_int_equal(device->ops->sync(device, &err), SMP_OK); /* writes cost, which is on this stack */
    device->ops->free(device, from);
    device->ops->free(device, to);
}

SMP_TEST(streams_move_every_byte)
{
    static unsigned char in[ROWS * STRIDE], out[ROWS * STRIDE];
    const smp_launch copy = {SMP_IN, SMP_OUT, SMP_CPU(bench_copy), "bench_copy", two_blocks};
    const smp_launch write = {SMP_IN, SMP_OUT, SMP_CPU(bench_write), "bench_write", two_blocks};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7 + i / 256);
    for (int d = 0; d < DEVICES; d++) {
        run(devices[d], &copy, in, out);
        assert_memory_equal(in, out, sizeof in);
        run(devices[d], &write, in, out);
        for (size_t i = 0; i < sizeof out; i++)
            assert_int_equal(out[i], 0x5a);
    }
}

SMP_TEST(reading_on_the_cpu_leaves_a_sum_a_row)
{
    static unsigned char in[ROWS * STRIDE], out[ROWS * STRIDE];
    const smp_launch read = {SMP_IN, SMP_OUT, SMP_CPU(bench_read), "bench_read", two_blocks};
    memset(in, 1, sizeof in);
    run(devices[0], &read, in, out);
    for (int y = 0; y < ROWS; y++) {
        uint32_t sum;
        memcpy(&sum, out + y * STRIDE, sizeof sum);
        assert_int_equal(sum, 0x01010101u * (STRIDE / 4));
    }
}

SMP_TEST(rates_are_measured_on_every_device)
{
    smp_error err;
    smp_rate rate;
    for (int d = 0; d < DEVICES; d++) {
        assert_int_equal(smp_peak_copy(devices[d], 1 << 17, &rate, &err), SMP_OK);
        assert_int_equal(rate.bytes, 2 << 17);
        assert_in_range(rate.count, 5, SMP_RATE_SAMPLES);
        assert_true(rate.gbs_low <= rate.gbs && rate.gbs <= rate.gbs_high);
        for (int op = 0; op < SMP_STREAM_OPS; op++) {
            assert_int_equal(smp_peak_stream(devices[d], (smp_stream_op)op, 1 << 17, &rate, &err), SMP_OK);
            assert_in_range(rate.count, 5, SMP_RATE_SAMPLES);
        }
        double each, waited;
        assert_int_equal(smp_peak_launch(devices[d], &each, &waited, &err), SMP_OK);
        assert_true(each > 0 && waited > 0);
        for (int i = 0; i < 2 * SMP_LINK_WAYS; i++) {
            const smp_link_way way = (smp_link_way)(i % SMP_LINK_WAYS);
            assert_int_equal(smp_peak_link(devices[d], way, i >= SMP_LINK_WAYS, 1 << 17, &rate, &err), SMP_OK);
            assert_int_equal(rate.bytes, d == 0 ? 0 : way == SMP_LINK_BOTH ? 2 << 17 : 1 << 17); /* a CPU has no bus */
        }
    }
}

SMP_TEST(a_rate_is_the_median_with_quartiles)
{
    smp_rate rate = {.bytes = 12e9, .seconds = {4, 1, 2, 3, 6}, .count = 5};
    smp_rate_settle(&rate);
    assert_true(rate.gbs == 12. / 3 && rate.gbs_low == 12. / 4 && rate.gbs_high == 12. / 2);
}

SMP_TESTS_AROUND(open_devices, close_devices)
