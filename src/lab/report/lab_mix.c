/* What a kernel's instructions are: by pipe, by source line, and one by one. */
#include <string.h>

#include "lab/report/lab.h"
#include "lab/time/time.h"

enum { MOST = 6, PIPES = 16 }; /* MOST: pipes that a line tells */

typedef struct pipe_share {
    const char *name;
    uint64_t runs;
} pipe_share;

/* The operations of a result by pipe, the most frequent first; of PTX, operations. */
static size_t share_out(const smp_warp_result *r, pipe_share shares[PIPES], uint64_t *all)
{
    const smp_warp_steps *mix = &r->steps[SMP_WARP_MIX];
    const bool sass = !strcmp(r->code, "sass");
    size_t count = 0;
    *all = 0;
    for (size_t i = 0; i < mix->count; i++) {
        const char *name = sass ? smp_time_pipe(mix->items[i].text) : mix->items[i].text;
        size_t at = 0;
        *all += mix->items[i].runs;
        while (at < count && strcmp(shares[at].name, name) != 0)
            at++;
        if (at == PIPES)
            continue;
        if (at == count)
            shares[count++] = (pipe_share){.name = name};
        shares[at].runs += mix->items[i].runs;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k && shares[k].runs > shares[k - 1].runs; k--) {
            const pipe_share other = shares[k];
            shares[k] = shares[k - 1];
            shares[k - 1] = other;
        }
    return count;
}

void smp_lab_mix_text(FILE *to, const smp_warp_result *r)
{
    const double percent = 100, least = 1;
    pipe_share shares[PIPES];
    uint64_t all, splits = 0, branches = 0;
    const size_t count = share_out(r, shares, &all);
    for (size_t i = 0; i < r->steps[SMP_WARP_MIX].count; i++) {
        const smp_warp_step *s = &r->steps[SMP_WARP_MIX].items[i];
        splits += s->splits;
        branches += !strcmp(s->text, "BRA") || !strcmp(s->text, "bra") ? s->runs : 0;
    }
    if (!all)
        return;
    fputs(!strcmp(r->code, "sass") ? "  by pipe:" : "  by operation:", to);
    for (size_t i = 0; i < count && i < MOST; i++) {
        const double share = percent * (double)shares[i].runs / (double)all;
        if (share >= least)
            fprintf(to, "%s %s %.0f %%", i ? "," : "", shares[i].name, share);
    }
    if (branches)
        fprintf(to, "; %llu of %llu branches split their warp", (unsigned long long)splits,
                (unsigned long long)branches);
    fputc('\n', to);
}

static void put_step(smp_json *json, const smp_warp_result *r, const smp_warp_step *s, const char *key)
{
    smp_json_object(json, NULL);
    if (s->line)
        SMP_JSON(json, ("file", smp_lab_path(r, s->file)), ("line", s->line));
    if (s->place)
        smp_json_integer(json, "place", s->place - 1);
    if (key)
        smp_json_string(json, key, s->text);
    SMP_JSON(json, ("executed", s->runs), ("lanes", s->lanes));
    if (s->splits)
        smp_json_integer(json, "splits", (int64_t)s->splits);
}

void smp_lab_steps_json(smp_json *json, const smp_warp_result *r)
{
    static const char *const names[SMP_WARP_STEPS] = {"lines", "mix", "instructions", "ptx_instructions"};
    static const char *const keys[SMP_WARP_STEPS] = {NULL, "operation", "instruction", "instruction"};
    for (int which = 0; which < SMP_WARP_STEPS; which++) {
        const smp_warp_steps *steps = &r->steps[which];
        if (!steps->count)
            continue;
        smp_json_array(json, names[which]);
        for (size_t i = 0; i < steps->count; i++) {
            put_step(json, r, &steps->items[i], keys[which]);
            if (which == SMP_WARP_MIX && !strcmp(r->code, "sass"))
                smp_json_string(json, "pipe", smp_time_pipe(steps->items[i].text));
            smp_json_end(json, '}');
        }
        smp_json_end(json, ']');
    }
}
