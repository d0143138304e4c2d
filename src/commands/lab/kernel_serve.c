/* --serve: the page of a report, live. It sends which array gets which pad, two numbers; the program changes a copy of
 * the source as --fix does, counts it again and tells the report of that. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/tool.h"
#include "commands/lab/kernel.h"
#include "commands/serve/serve.h"

enum { MOST_PAD = 64, MOST_SECONDS = 60 /* of a launch, unless --time-limit says */ };

typedef struct served {
    const smp_kernel_settings *settings;
    const smp_kernel_results *all;
    pthread_mutex_t counting; /* one recount at a time */
} served;

static void put_report(smp_json *json, const served *s, const smp_kernel_results *all)
{
    smp_lab_sources sources = {0};
    const smp_lab_report report = {.results = all->results,
                                   .entries = all->entries,
                                   .files = all->entries,
                                   .count = all->count,
                                   .code = all->sass ? "sass" : "ptx",
                                   .sources = &sources,
                                   .live = true,
                                   .compared = s->settings->compare};
    smp_json_key(json, "report");
    smp_lab_json(json->to, &report);
    smp_lab_sources_free(&sources);
}

/* Of an array of one dimension a pad stands behind as many elements as the banks hold. */
static smp_lab_layout layout_of(const smp_declared *declared, uint32_t pad)
{
    const uint32_t of_banks = SMP_BANKS * SMP_BANK_BYTES / (declared->element ? declared->element : 1);
    return (smp_lab_layout){.pad = pad, .divide = 1, .period = declared->dims > 1 ? 0 : of_banks ? of_banks : 1};
}

static void tell_arrays(smp_json *json, const served *s)
{
    char *text = NULL;
    size_t size = 0;
    if (smp_kernel_read(s->settings->file, &text, &size, &(smp_error){.code = SMP_OK}))
        text = NULL;
    smp_json_array(json, "arrays");
    for (size_t i = 0; i < s->all->tips.count; i++) {
        const smp_lab_tip *tip = &s->all->tips.items[i];
        const smp_declared *d = &tip->declared;
        SMP_JSON_OPEN(json, NULL, ("name", tip->name), ("line", d->line), ("period", layout_of(d, 1).period));
        smp_json_array(json, "sizes");
        for (int k = 0; text && tip->path && k < d->dims && d->to[k] <= size; k++) {
            char *part = smp_strndup(text + d->from[k], d->to[k] - d->from[k]);
            smp_json_string(json, NULL, part ? part : "");
            smp_free(part);
        }
        smp_json_end(json, ']');
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    smp_free(text);
}

static void tell_state(const smp_question *q, smp_json *json)
{
    const served *s = q->context;
    SMP_JSON(json, ("view", "kernel"), ("file", s->settings->file));
    put_report(json, s, s->all);
    tell_arrays(json, s);
}

static void tell_pad(const smp_question *q, smp_json *json)
{
    served *s = q->context;
    const int64_t array = smp_asked_number(q, "array"), pad = smp_asked_number(q, "pad");
    smp_kernel_results padded = {.count = 0};
    smp_error err = {.code = SMP_OK};
    if (array < 0 || (uint64_t)array >= s->all->tips.count || pad < 1 || pad > MOST_PAD)
        smp_fail(&err, SMP_E_USAGE, "there is no such array, or no such pad");
    else {
        smp_lab_tip tip = s->all->tips.items[array];
        tip.layout = layout_of(&tip.declared, (uint32_t)pad);
        pthread_mutex_lock(&s->counting);
        (void)smp_kernel_relayout(s->settings, &tip, &padded, &err);
        pthread_mutex_unlock(&s->counting);
    }
    if (err.code)
        smp_tell_error(json, &err);
    else
        put_report(json, s, &padded);
    smp_kernel_results_free(&padded);
}

smp_code smp_kernel_serve(const smp_kernel_settings *settings, const smp_kernel_results *all, smp_error *err)
{
    static const smp_teller tellers[] = {{"state", tell_state, NULL}, {"pad", tell_pad, NULL}, {0}};
    smp_kernel_settings own = *settings; /* a changed kernel may never end */
    own.time_limit = own.time_limit > 0 ? own.time_limit : MOST_SECONDS;
    served s = {.settings = &own, .all = all, .counting = PTHREAD_MUTEX_INITIALIZER};
    smp_http *http = NULL;
    /* Sources that go by are not kept; set before there are threads. */
    char *cache = smp_tool_folder();
    if (!cache || setenv("XDG_CACHE_HOME", cache, 1) != 0) {
        smp_tool_folder_remove(cache);
        smp_fail(err, SMP_E_WRITE, "cannot make a folder in /tmp: %s", strerror(errno));
        return smp_hint(err, "set TMPDIR to one that you may write, of letters and digits");
    }
    smp_code code = smp_serve_open(&settings->common, settings->no_open, &http, err);
    code = code ? code : smp_serve(http, &(smp_serve_use){"live.html", tellers, .context = &s}, err);
    smp_tool_folder_remove(cache);
    smp_free(http);
    return code;
}
