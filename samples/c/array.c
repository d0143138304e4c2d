/* A picture in memory: makes a gradient with a bright square, blurs and measures it, and prints both.
 *
 *     cc array.c -o array $(pkg-config --cflags --libs smempipe) && ./array */
#include <smempipe.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 64, HEIGHT = 16 };

static void check(smempipe_code code, smempipe_error **error)
{
    if (!code)
        return;
    fputs(smempipe_error_text(*error), stderr);
    smempipe_error_free(*error);
    exit(EXIT_FAILURE);
}

int main(void)
{
    static unsigned char picture[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            picture[y][x] = (unsigned char)(x > 20 && x < 32 && y > 3 && y < 12 ? 255 : 2 * x);

    smempipe_pipeline *pipeline;
    smempipe_device *device;
    smempipe_result *result;
    smempipe_error *error;
    check(smempipe_compile("gaussian 2px\nstats", NULL, &pipeline, &error), &error);
    check(smempipe_device_open("cpu", 0, &device, &error), &error);

    smempipe_buffer out, in = {.data = picture, .stride = WIDTH};
    in.shape = (smempipe_shape){
        .kind = SMEMPIPE_PICTURE, .format = SMEMPIPE_U8, .width = WIDTH, .height = HEIGHT, .channels = 1};
    check(smempipe_run(pipeline, device, &in, &out, &result, &error), &error);

    for (int y = 0; y < HEIGHT; y += 2) {
        const unsigned char *row = (unsigned char *)out.data + y * out.stride;
        for (int x = 0; x < WIDTH; x++)
            putchar(" .:-=+*#%@"[row[x] / 26]);
        putchar('\n');
    }
    for (size_t i = 0; i < smempipe_result_count(result); i++) {
        smempipe_value value;
        smempipe_result_get(result, i, &value);
        if (!value.list)
            printf("%s %g\n", value.name, value.value);
    }
    smempipe_free(out.data);
    smempipe_result_free(result);
    smempipe_device_close(device);
    smempipe_pipeline_free(pipeline);
    return EXIT_SUCCESS;
}
