/* From file to file: makes a thumbnail of a picture, and says how sharp the picture is.
 *
 *     cc file.c -o file $(pkg-config --cflags --libs smempipe) && ./file in.jpg thumbnail.png */
#include <smempipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(smempipe_code code, smempipe_error **error)
{
    smempipe_problem problem;
    if (!code)
        return;
    for (size_t i = 0; !smempipe_error_get(*error, i, &problem); i++) {
        fprintf(stderr, "%s:", problem.file ? problem.file : "");
        if (problem.line) /* of a text; else it is about a file */
            fprintf(stderr, "%d:%d:", problem.line, problem.column);
        fprintf(stderr, " %s (%s)\n", problem.message, problem.hint ? problem.hint : "no hint");
    }
    smempipe_error_free(*error);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    static const char text[] = "param width = 100px\n"
                               "gray\n"
                               "laplacian\n"
                               "stats name=sharpness\n"
                               "from @input\n"
                               "resize width=$width\n";
    const char *const settings[] = {"width", argc > 3 ? argv[3] : "160px", NULL};
    smempipe_pipeline *pipeline;
    smempipe_device *device;
    smempipe_result *result;
    smempipe_error *error;
    smempipe_shape shape;
    smempipe_value value;
    if (argc < 3) {
        fputs("usage: file IN OUT [WIDTH]\n", stderr);
        return EXIT_FAILURE;
    }
    check(smempipe_compile(text, settings, &pipeline, &error), &error);
    check(smempipe_device_open("auto", 0, &device, &error), &error);
    check(smempipe_probe(argv[1], NULL, &shape, &error), &error);
    printf("%s: %lld x %lld, %d channels\n", argv[1], (long long)shape.width, (long long)shape.height, shape.channels);

    const smempipe_file_options options = {.force = 1};
    check(smempipe_run_file(pipeline, device, argv[1], argv[2], &options, &result, &error), &error);
    for (size_t i = 0; !smempipe_result_get(result, i, &value); i++)
        if (value.label && !strcmp(value.name, "deviation"))
            printf("%s %.3g\n", value.label, value.value);
    smempipe_result_free(result);
    smempipe_device_close(device);
    smempipe_pipeline_free(pipeline);
    return EXIT_SUCCESS;
}
