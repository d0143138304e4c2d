/* What the tests of tuning share: a cache folder of their own, and a device with threads to choose from. */
#ifndef SMP_TESTS_TUNE_FIXTURE_H
#define SMP_TESTS_TUNE_FIXTURE_H

#include "gpu_matrix.h"

#include <stdlib.h>

static char folder[64]; /* the cache folder of these tests */

CASE_FN int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/smp tune XXXXXX");
    return mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1) ? 0 : -1;
}

CASE_FN int close_folder(void **state)
{
    (void)state;
    char path[128];
    static const char *const names[] = {"smempipe/tuned.json", "smempipe", "file", "in.pgm", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return 0;
}

CASE_FN smp_device *three_threads(void)
{
    static smp_device *device;
    smp_error err = {0};
    smp_device_request ask = {.spec = "cpu", .threads = 3};
    if (!device && smp_device_open(&ask, &device, NULL, 0, &err))
        fail_msg("%s", err.message);
    return device;
}

#endif
