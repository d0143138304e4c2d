/* --time of `smempipe kernel`, and --fail-on slower=. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/kernel.h"
#include "lab/report/lab.h"
#include "lab/time/time.h"

smp_code smp_kernel_choose_time(smp_kernel_settings *settings, smp_error *err)
{
    static char arch[12];
    smp_time_gpu gpu;
    if (!settings->time)
        return SMP_OK;
    const char *name = settings->time[0] ? settings->time : "h100";
    if (!smp_time_gpu_find(name, &gpu)) {
        smp_fail(err, SMP_E_USAGE, "--time %s is not a GPU that is known", name);
        return smp_hint(err, "%s", smp_time_gpu_names());
    }
    if (settings->code && !strcmp(settings->code, "ptx")) {
        smp_fail(err, SMP_E_USAGE, "--time is predicted from SASS, and --code ptx asks for PTX");
        return smp_hint(err, "leave --code ptx out");
    }
    snprintf(settings->time_text, sizeof settings->time_text, "%s%s%s%s", name, settings->each ? ",each" : "",
             settings->html ? ",listing" : "", settings->what_if ? ",what-if" : "");
    settings->time_wanted = settings->time_text;
    if (!settings->arch) {
        snprintf(arch, sizeof arch, "sm_%d", gpu.arch);
        settings->arch = arch;
    } else if (atoi(smp_compile_arch(settings->arch)) != gpu.arch) {
        smp_fail(err, SMP_E_USAGE, "--time %s is predicted from its own SASS, and --arch is %s", name, settings->arch);
        return smp_hint(err, "--arch sm_%d, or leave --arch out", gpu.arch);
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ slower */

/* The sum of a kernel's predicted times in what --json wrote. */
static bool base_of(const char *json, const char *kernel, double *us)
{
    static const char name[] = "\"kernel\": \"", time[] = "\"us\": ";
    const size_t size = strlen(kernel);
    const char *at = strstr(json, "\"launches\": [");
    bool any = false;
    *us = 0;
    while (at && (at = strstr(at, name))) {
        at += strlen(name);
        const char *next = strstr(at, name), *value = strstr(at, time);
        if (strncmp(at, kernel, size) != 0 || at[size] != '"' || !value || (next && value > next))
            continue;
        *us += strtod(value + strlen(time), NULL);
        any = true;
    }
    return any;
}

/* "slower=BASE.json:10%" among the words of --fail-on. */
static smp_code read_base(const char *text, char **path, double *share, smp_error *err)
{
    const double percent = 100;
    const char *at = strstr(text, "slower=") + strlen("slower=");
    const size_t size = strcspn(at, ",");
    char *word = smp_asprintf("%.*s", (int)size, at), *colon = word ? strrchr(word, ':') : NULL, *end = NULL;
    *path = word;
    if (!word)
        return smp_fail_memory(err, "--fail-on", size);
    *share = colon ? strtod(colon + 1, &end) / percent : 0;
    if (!colon || end == colon + 1 || *share < 0 || (*end && strcmp(end, "%") != 0)) {
        smp_fail(err, SMP_E_USAGE, "--fail-on slower=%.80s is not a file and a percentage", word);
        return smp_hint(err, "slower=BASE.json:10%%, where BASE.json is what --time --json wrote");
    }
    *colon = 0;
    return SMP_OK;
}

smp_code smp_kernel_find_slower(const smp_kernel_settings *settings, const smp_kernel_results *all, bool *slower,
                                smp_error *err)
{
    const smp_lab_report report = {.results = all->results, .count = all->count};
    char *path = NULL, *json = NULL;
    double share = 0;
    size_t size, compared = 0;
    smp_code code = settings->time ? SMP_OK : smp_fail(err, SMP_E_USAGE, "--fail-on slower= needs --time");
    if (!code)
        code = read_base(settings->fail_on, &path, &share, err);
    if (!code)
        code = smp_kernel_read(path, &json, &size, err);
    for (size_t i = 0; i < all->count && !code; i++) {
        const char *kernel = all->results[i].kernel;
        double now = 0, before = 0;
        bool had = false;
        for (size_t k = 0; k < i; k++)
            had = had || !strcmp(all->results[k].kernel, kernel);
        if (had || !smp_lab_time_sum(&report, kernel, &now) || !base_of(json, kernel, &before))
            continue;
        compared++;
        if (now <= before * (1 + share))
            continue;
        fprintf(stderr, "slower: %s takes %.4g us, %.1f %% more than the %.4g us in %s\n", kernel, now,
                100 * (now / before - 1), before, path);
        *slower = true;
    }
    if (!code && !compared) {
        smp_fail(err, SMP_E_USAGE, "--fail-on slower=: no kernel has a predicted time both here and in %.200s", path);
        code = smp_hint(err, "BASE.json is what --time --json wrote of the same kernels");
    }
    smp_free(json);
    smp_free(path);
    return code;
}
