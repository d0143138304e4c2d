/* Options for tests and study that run and explain share: none of them changes results. */
#include <stdio.h>
#include <string.h>

#include "base/text/diag.h"
#include "cli/cli.h"

const char *const smp_isa_words[] = {"auto", "base", "v3", "v4", NULL};

const smp_option smp_plan_options[] = {
    {"variant", 0, SMP_O_STRING, offsetof(smp_plan_settings, variant), .argument = "VARIANT", .flags = SMP_O_ADVANCED,
     .help = "run this variant of every stage that has it (naive, tiled, ...); results do not depend on it"},
    {"isa", 0, SMP_O_CHOICE, offsetof(smp_plan_settings, isa), .fallback = "auto", .argument = "SET",
     .flags = SMP_O_ADVANCED, .help = "instruction set of the CPU kernels: auto, base, v3 (AVX2) or v4 (AVX-512)",
     .choices = smp_isa_words},
    {"strip-rows", 0, SMP_O_INT, offsetof(smp_plan_settings, strip_rows), .fallback = "0", .argument = "N", .min = 0,
     .max = 1e9, .flags = SMP_O_ADVANCED, .help = "rows of a strip; 0: chosen by size; results do not depend on it"},
    {"plain-storage", 0, SMP_O_FLAG, offsetof(smp_plan_settings, plain_storage), .flags = SMP_O_ADVANCED,
     .help = "store floats between all stages; results do not depend on it"},
    {"no-fuse", 0, SMP_O_FLAG, offsetof(smp_plan_settings, no_fuse), .flags = SMP_O_ADVANCED,
     .help =
         "run every stage by itself, also those that could be one step with their neighbours, because they work "
         "sample by sample or one GPU kernel does it all; results do not depend on it. --variant naive does so too"},
    {0},
};

const char *smp_cli_isa(const smp_plan_settings *settings)
{
    return settings->isa ? smp_isa_words[settings->isa] : NULL;
}

smp_code smp_cli_job_open(const smp_plan_settings *settings, const smp_program *program, smp_diags *diags,
                          const char *input, smp_cli_job *job, smp_error *err)
{
    const smp_common *common = &settings->base.common;
    *job = (smp_cli_job){.device = NULL};
    SMP_TRY(
        smp_cli_device(common, smp_cli_isa(settings), input, program, &job->device, job->note, sizeof job->note, err));
    job->request = (smp_run_request){
        .program = program,
        .diags = diags,
        .input = input,
        .read = common->read,
        .fast_decode = common->fast_decode,
        .gpu_jpeg = common->gpu_jpeg,
        .device = job->device,
        .draw = smp_cli_draw(&settings->base),
        .variant = settings->variant,
        .strip_rows = settings->strip_rows,
        .plain_storage = settings->plain_storage,
        .no_fuse = settings->no_fuse,
    };
    return SMP_OK;
}

void smp_cli_job_close(smp_cli_job *job)
{
    smp_device_close(job->device);
}

/* Adds the variants' names that are not yet in names; true when one of them is `wanted`. */
static bool collect(const smp_variant *variant, const char *wanted, const char **names, size_t *count, size_t most)
{
    for (; variant && variant->name; variant++) {
        size_t k = 0;
        if (!strcmp(variant->name, wanted))
            return true;
        while (k < *count && strcmp(names[k], variant->name) != 0)
            k++;
        if (k == *count && *count < most)
            names[(*count)++] = variant->name;
    }
    return false;
}

smp_code smp_cli_check_variant(const smp_plan_settings *settings, smp_error *err)
{
    enum { MAX_NAMES = 64 };
    const char *names[MAX_NAMES], *wanted = settings->variant;
    size_t count = 0;
    if (!wanted)
        return SMP_OK;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (collect(stage->variants, wanted, names, &count, MAX_NAMES) ||
            collect(smp_stage_reducers(stage), wanted, names, &count, MAX_NAMES))
            return SMP_OK;
    }
    const char *near = smp_nearest(wanted, strlen(wanted), names, count);
    char list[200] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    smp_fail(err, SMP_E_USAGE, "no stage has a variant '%s'", wanted);
    return near ? smp_hint(err, "did you mean '%s'? There are: %s", near, list)
                : smp_hint(err, "there are: %s (`smempipe stages NAME` lists a stage's)", list);
}
