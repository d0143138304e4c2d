/* transpose's CPU kernel on results that are written past the caches: kernels/geometry/transpose.c,
 * kernels/lib/streaming_store.h. Bands of a picture of 34 MB, so that it need not be made whole. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "device/cpu.h"
#include "geometry/transpose.h"
#include "stages/stage.h"

enum { BYTES = 34 << 20, POISON = 0xA5 };

static const struct {
    int pixel, channels;
    smp_format format;
    int64_t width, height;
} shapes[] = {{4, 1, SMP_F32, 2903, 3001},
              {8, 4, SMP_U16, 2049, 2111},
              {12, 3, SMP_F32, 1687, 1709},
              {16, 4, SMP_F32, 1447, 1489}};

static smp_view view_of(char *data, int shape, int64_t width, int64_t height)
{
    return (smp_view){.data = data,
                      .stride = width * shapes[shape].pixel,
                      .width = width,
                      .height = height,
                      .rows = height,
                      .channels = shapes[shape].channels,
                      .format = (int32_t)shapes[shape].format,
                      .white = 1};
}

/* Rows y0 .. y1-1 are as the definition says; those beside them were left alone. */
static void assert_band(smp_cpu_fn *fn, int shape, const smp_io *io, const smp_orientation *turn, int64_t y0,
                        int64_t y1)
{
    const smp_view *in = &io->in, *out = &io->out;
    const int64_t from = y0 > 0 ? y0 - 1 : y0, to = y1 < out->height ? y1 + 1 : y1;
    memset((char *)smp_row(out, from), POISON, (size_t)((to - from) * out->stride));
    fn(io, turn, NULL, y0, y1);
    for (int64_t y = from; y < to; y++)
        for (int64_t x = 0; x < out->width; x++) {
            const size_t pixel = (size_t)shapes[shape].pixel;
            const char *got = (const char *)smp_row(out, y) + x * (int64_t)pixel;
            char poison[16];
            int64_t sx, sy;
            memset(poison, POISON, sizeof poison);
            smp_transpose_source(turn->orientation, in->width, in->height, x, y, &sx, &sy);
            const char *wanted = (const char *)smp_row(in, sy) + sx * (int64_t)pixel;
            if (memcmp(got, y >= y0 && y < y1 ? wanted : poison, pixel))
                fail_msg("%d bytes a pixel, turn %d, rows %lld to %lld: pixel %lld, %lld", (int)pixel,
                         turn->orientation, (long long)y0, (long long)y1, (long long)x, (long long)y);
        }
}

SMP_TEST(large_results_are_turned_alike_by_every_instruction_set)
{
    static const char *const sets[] = {"base", "v3", "v4"};
    const smp_stage *stage = smp_stage_find("transpose", strlen("transpose"));
    const smp_variant *tiled = smp_variant_find(stage->variants, "tiled");
    assert_non_null(tiled);
    char *from = malloc(BYTES), *to = malloc(BYTES);
    assert_true(from && to);
    for (uint32_t i = 0; i < BYTES / 4; i++)
        memcpy(from + 4 * (size_t)i, &(uint32_t){i * 2654435761u}, 4);
    int tried = 0;
    for (int set = 0; set < 3; set++) {
        smp_device *device;
        smp_error err;
        if (smp_cpu_open(1, sets[set], &device, &err) != SMP_OK)
            continue; /* this processor has not got it */
        smp_device_close(device);
        tried++;
        smp_cpu_fn *fn = tiled->launches[0].cpu.fn[set];
        assert_non_null(fn);
        for (int shape = 0; shape < 4; shape++)
            for (int orientation = 0; orientation < 8; orientation++) {
                const smp_orientation turn = {.orientation = orientation};
                const int64_t w = shapes[shape].width, h = shapes[shape].height;
                const bool swap = orientation & SMP_ORIENT_SWAP;
                smp_io io = {.in = view_of(from, shape, w, h), .out = view_of(to, shape, swap ? h : w, swap ? w : h)};
                assert_in_range(io.in.stride * h, 1 << 25, BYTES); /* else it would not be written past the caches */
                assert_band(fn, shape, &io, &turn, 0, 17);
                assert_band(fn, shape, &io, &turn, 701, 750);
                assert_band(fn, shape, &io, &turn, io.out.height - 13, io.out.height);
            }
    }
    assert_true(tried > 0);
    free(from);
    free(to);
}
