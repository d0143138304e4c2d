/* Times a pipeline over a picture in memory, on one core, for tests/bench/peers_study.py and peers_pictures.py:
 * processor seconds, a line a run. steps: of its steps; all: of the whole run, with copies of the pictures and what is
 * computed between steps.
 *
 *   cpu_stage steps|all ISA P.pipe u8|u16|f32|u8x3 WIDTH HEIGHT FILE RUNS      FILE: the samples, row by row
 *
 * Linked with --wrap=clock_gettime: the clock by which the library times steps is the processor time of their thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "device/cpu.h"

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    return __real_clock_gettime(clock == CLOCK_MONOTONIC ? CLOCK_THREAD_CPUTIME_ID : clock, now);
}

static double processor_seconds(void)
{
    struct timespec now;
    __real_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the seconds of all steps, from the report of a run. */
static double seconds_of_steps(const char *json)
{
    const char *seconds = json ? strstr(json, "\"seconds\": {") : NULL;
    const char *steps = seconds ? strstr(seconds, "\"steps\": ") : NULL;
    return steps ? strtod(steps + strlen("\"steps\": "), NULL) : 0;
}

static int failed(smempipe_error *error)
{
    fprintf(stderr, "cpu_stage: %s",
            error ? smempipe_error_text(error) : "out of memory, or a file that is too short\n");
    return 1;
}

static void *samples_of(const char *name, size_t size)
{
    FILE *file = fopen(name, "rb");
    void *samples = malloc(size);
    if (file && samples && fread(samples, 1, size, file) == size) {
        fclose(file);
        return samples;
    }
    if (file)
        fclose(file);
    free(samples);
    return NULL;
}

int main(int argc, char **argv)
{
    const bool steps = argc > 1 && !strcmp(argv[1], "steps");
    static const char *const formats[] = {"u8", "u16", "f32"};
    smempipe_error *error = NULL;
    smempipe_pipeline *pipeline;
    smempipe_plan *plan;
    struct smempipe_device device;
    smp_error err = {.code = SMP_OK};
    if (argc != 9) {
        fprintf(stderr, "usage: cpu_stage steps|all ISA P.pipe u8|u16|f32|u8x3 WIDTH HEIGHT FILE RUNS\n");
        return 2;
    }
    smempipe_buffer in = {.shape = {.kind = SMEMPIPE_PICTURE, .channels = 1}};
    in.shape.format = !strcmp(argv[4], formats[1]) ? SMEMPIPE_U16 : !strcmp(argv[4], formats[2]) ? SMEMPIPE_F32 : 0;
    in.shape.channels = !strcmp(argv[4], "u8x3") ? 3 : 1;
    in.shape.width = atoll(argv[5]);
    in.shape.height = atoll(argv[6]);
    in.data = samples_of(argv[7], (size_t)(in.shape.width * in.shape.height * in.shape.channels << in.shape.format));
    if (!in.data || smempipe_compile_file(argv[3], NULL, &pipeline, &error) ||
        smempipe_plan_make(pipeline, &in.shape, 0, &plan, &error))
        return failed(error);
    if (smp_cpu_open(1, argv[2], &device.device, &err)) {
        fprintf(stderr, "cpu_stage: %s\n", err.message);
        return 1;
    }
    pthread_mutex_init(&device.lock, NULL);
    smempipe_buffer out = {.shape = smempipe_plan_output(plan)};
    out.data = calloc((size_t)(out.shape.width * out.shape.height * out.shape.channels), sizeof(float));
    for (int run = 0; run < atoi(argv[8]); run++) {
        smempipe_result *result = NULL;
        const double start = processor_seconds();
        if (!out.data || smempipe_plan_run(plan, &device, &in, &out, steps ? &result : NULL, &error))
            return failed(error);
        const double all = processor_seconds() - start;
        printf("%.9f\n", steps ? seconds_of_steps(smempipe_result_json(result)) : all);
        smempipe_result_free(result);
    }
    free(out.data);
    free(in.data);
    smempipe_plan_free(plan);
    smempipe_pipeline_free(pipeline);
    smp_device_close(device.device);
    return 0;
}
