/* A strip at a time: a picture that is made while it is read, of any height in the same memory. Writes it as a PGM to
 * standard output.
 *
 *     cc strips.c -o strips $(pkg-config --cflags --libs smempipe) && ./strips 100000 > rings.pgm */
#include <smempipe.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256 };

/* Rings, one below the other. */
static int read_rows(void *context, void *rows, int64_t stride, int64_t y, int64_t count)
{
    (void)context;
    for (int64_t row = y; row < y + count; row++) {
        unsigned char *to = (unsigned char *)rows + (row - y) * stride;
        for (int64_t x = 0; x < WIDTH; x++) {
            const int64_t dx = x - WIDTH / 2, dy = row % WIDTH - WIDTH / 2;
            to[x] = (unsigned char)((dx * dx + dy * dy) >> 6);
        }
    }
    return 0;
}

static int write_rows(void *context, const void *rows, int64_t stride, int64_t y, int64_t count)
{
    (void)y;
    for (int64_t row = 0; row < count; row++)
        if (fwrite((const unsigned char *)rows + row * stride, 1, WIDTH, context) != WIDTH)
            return 1; /* stops the run */
    return 0;
}

int main(int argc, char **argv)
{
    const long long height = argc > 1 ? atoll(argv[1]) : 1024;
    const smempipe_shape shape = {
        .kind = SMEMPIPE_PICTURE, .format = SMEMPIPE_U8, .width = WIDTH, .height = height, .channels = 1};
    smempipe_pipeline *pipeline = NULL;
    smempipe_device *device = NULL;
    smempipe_plan *plan = NULL;
    smempipe_error *error = NULL;
    if (smempipe_compile("median 3px\ngaussian 1px", NULL, &pipeline, &error) ||
        smempipe_device_open("cpu", 0, &device, &error) || smempipe_plan_make(pipeline, &shape, 0, &plan, &error)) {
        fputs(smempipe_error_text(error), stderr);
    } else {
        printf("P5\n%d %lld\n255\n", WIDTH, height);
        if (smempipe_run_strips(plan, device, read_rows, write_rows, stdout, NULL, &error))
            fputs(smempipe_error_text(error), stderr);
    }
    const smempipe_code code = smempipe_error_code(error);
    smempipe_error_free(error);
    smempipe_plan_free(plan);
    smempipe_device_close(device);
    smempipe_pipeline_free(pipeline);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
