/* smempipe stages: the list of stages, one stage's reference, all of it as JSON or Markdown. */
#include "commands/stages.h"

#include <string.h>
#include <unistd.h>

#include "base/text/diag.h"
#include "report/text.h"
#include "stages/origins/origin.h"

typedef struct stages_settings {
    smp_common common;
    const char *name;
    bool json, markdown, all;
} stages_settings;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(stages_settings, json), .help = "everything, machine-readable"},
    {"markdown", 0, SMP_O_FLAG, offsetof(stages_settings, markdown), .help = "the whole reference as a Markdown page"},
    {"all", 0, SMP_O_FLAG, offsetof(stages_settings, all), .help = "also the stages that the planner inserts"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"STAGE", offsetof(stages_settings, name), .optional = true,
     .help = "one stage: what it does, its parameters and variants"},
    {0},
};

static smp_code fail_name(const char *name, smp_error *err)
{
    enum { MAX_NAMES = 256 };
    const char *names[MAX_NAMES];
    size_t count = 0;
    smp_fail(err, SMP_E_USAGE, "unknown stage '%s'", name);
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        for (smp_other_name other = smp_other_names(stage); smp_next_name(&other);)
            if (!strcmp(other.name, name))
                return smp_hint(err, "smempipe calls this: %s", other.say);
        if (count < MAX_NAMES)
            names[count++] = stage->name;
    }
    const char *near = smp_nearest(name, strlen(name), names, count);
    return near ? smp_hint(err, "did you mean '%s'?", near) : smp_hint(err, "smempipe stages lists them");
}

static void put_list(const stages_settings *settings)
{
    enum { NAME_COLUMNS = 14, DOMAIN_COLUMNS = 7, AT = NAME_COLUMNS + DOMAIN_COLUMNS + 4 };
    smp_paint paint = smp_paint_for(smp_cli_color(&settings->common, STDOUT_FILENO));
    printf("%s%-*s  %-*s  what it does%s\n", paint.bold, NAME_COLUMNS, "stage", DOMAIN_COLUMNS, "for", paint.off);
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (smp_stage_is(stage, SMP_TRAIT_INTERNAL) && !settings->all)
            continue;
        printf("%s%-*s%s  %-*s  ", paint.bold, NAME_COLUMNS, stage->name, paint.off, DOMAIN_COLUMNS,
               smp_domain_name(stage->domain));
        smp_text_wrap(stdout, stage->help ? stage->help : "", AT, AT);
    }
    printf("\n%smade from nothing, by the first statement of a pipeline: smempipe run -e 'tone 440Hz 1s' OUT%s\n",
           paint.bold, paint.off);
    for (size_t i = 0; smp_origin_at(i); i++) {
        const smp_stage *words = &smp_origin_at(i)->words;
        printf("%s%-*s%s  %-*s  ", paint.bold, NAME_COLUMNS, words->name, paint.off, DOMAIN_COLUMNS,
               smp_domain_name(words->domain));
        smp_text_wrap(stdout, words->help, AT, AT);
    }
    if (!settings->common.quiet)
        puts("\nsmempipe stages STAGE tells its parameters and shows an example.");
}

static smp_code stages(void *given, smp_error *err)
{
    stages_settings *settings = given;
    const smp_stage *one = settings->name ? smp_stage_find(settings->name, strlen(settings->name)) : NULL;
    const smp_origin *origin = settings->name ? smp_origin_find(settings->name) : NULL;
    if (settings->name && !one && !origin)
        return fail_name(settings->name, err);
    if (settings->json && settings->markdown)
        return smp_fail(err, SMP_E_USAGE, "--json and --markdown exclude each other");
    if (settings->json)
        smp_stages_json(stdout, one, settings->all);
    else if (settings->markdown)
        smp_stages_markdown(stdout, one, settings->all);
    else if (one || origin) {
        if (one)
            smp_stage_reference(stdout, one, smp_cli_color(&settings->common, STDOUT_FILENO));
        if (one && origin)
            putchar('\n');
        if (origin)
            smp_stage_reference(stdout, &origin->words, smp_cli_color(&settings->common, STDOUT_FILENO));
    } else
        put_list(settings);
    return SMP_OK;
}

const smp_command smp_command_stages = {
    .name = "stages",
    .help = "list the stages, or explain one",
    .settings_size = sizeof(stages_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe stages", "all stages, a line each"},
                 {"smempipe stages --json | jq -r '.[].name'", "their names for a script"}},
    .run = stages,
};
