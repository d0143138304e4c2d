/* A batch's files measured by how loud they are, before the first one is done: for --album and --skip-level. */
#pragma once

#include "commands/outputs.h"

typedef struct smp_batch_meter {
    const smp_batch_settings *settings;
    /* Called for every file, in their order; report->status tells of failures. */
    void (*each)(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err);
    void *context;
    bool partials; /* reports have results that add up */
    size_t files;  /* set: how many there are */
    smp_progress progress;
} smp_batch_meter;

/* The stage that tells a level; its tells_level is the name of what it finds. */
const smp_stage *smp_batch_meter_stage(void);

smp_code smp_batch_meter_run(smp_batch_meter *meter, smp_error *err);

/* The loudness in LUFS that an option is given. */
smp_code smp_batch_meter_level(const char *option, const char *text, double *level, smp_error *err);
