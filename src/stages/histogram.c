/* histogram: counts of every value, per channel; the picture passes on. */
#include "reduce/histogram.h"
#include "base/alloc.h"
#include "stages/shared/reduce/counting.h"
#include "stages/stage.h"
#include <string.h>

typedef struct params {
    const char *name;
    int64_t bins;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(bins, NONE, 1, SMP_MAX_BINS, "256", "bins over the full scale; 256 is exact for 8 bits, 65536 for 16",
                  SMP_P_MAIN),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = params_;
    smp_histogram_params *k = SMP_PLAN_KERNEL(work, smp_histogram_params);
    *k = smp_histogram_over((int32_t)p->bins, in->kind == SMP_AUDIO);
    work->reduction.kind = SMP_RESULT_COUNTS;
    work->reduction.size = (size_t)in->channels * (size_t)(p->bins + 1) * sizeof(uint64_t);
    work->values.exactness = SMP_INTEGER;
    work->ops = 1;
    return SMP_OK;
}

/* The counts of one file, or of several that were joined. */
typedef struct partial {
    int32_t channels, bins;
    smp_format format;
    uint64_t counts[];
} partial;

static size_t slots(const partial *t)
{
    return (size_t)t->channels * (size_t)(t->bins + 1);
}

static smp_code make(const partial *head, void **out, smp_error *err)
{
    const size_t bytes = sizeof *head + slots(head) * sizeof(uint64_t);
    partial *t = smp_alloc(bytes);
    *out = t;
    SMP_NEED(t, "histogram", bytes, err);
    *t = *head;
    return SMP_OK;
}

static smp_code make_partial(const void *params_, const smp_shape *in, const smp_node_plan *, const void *result,
                             void **out, smp_error *err)
{
    const params *p = params_;
    const partial head = {.channels = in->channels, .bins = (int32_t)p->bins, .format = in->format};
    SMP_TRY(make(&head, out, err));
    memcpy(((partial *)*out)->counts, result, slots(&head) * sizeof(uint64_t));
    return SMP_OK;
}

static smp_code merge(void **total_, const void *more_, bool *alike, smp_error *)
{
    partial *total = *total_;
    const partial *more = more_;
    *alike = total->channels == more->channels && total->bins == more->bins && total->format == more->format;
    for (size_t i = 0; *alike && i < slots(total); i++)
        total->counts[i] += more->counts[i];
    return SMP_OK;
}

static void pack(const void *partial_, smp_packer *to)
{
    const partial *t = partial_;
    smp_pack_uint(to, (uint64_t)t->bins);
    for (size_t i = 0; i < slots(t); i++)
        smp_pack_uint(to, t->counts[i]);
}

static smp_code unpack(const smp_shape *in, smp_unpacker *from, void **out, smp_error *err)
{
    const partial head = {
        .channels = in->channels, .bins = (int32_t)smp_unpack_upto(from, SMP_MAX_BINS), .format = in->format};
    const smp_code code = make(&head, out, err);
    from->failed |= !head.bins;
    for (size_t i = 0; !code && i < slots(&head); i++)
        ((partial *)*out)->counts[i] = smp_unpack_uint(from);
    return code;
}

static smp_code report(const void *partial_, smp_measurements *measurements, smp_error *err)
{
    const partial *t = partial_;
    double *list = smp_alloc_array((size_t)t->bins, sizeof *list);
    SMP_NEED(list, "histogram", (uint64_t)t->bins * sizeof *list, err);
    smp_code code = SMP_OK;
    for (int c = 0; c < t->channels && !code; c++) {
        for (int32_t i = 0; i < t->bins; i++)
            list[i] = (double)t->counts[smp_histogram_slot(t->bins, c, i)];
        code = smp_measurements_add_list(measurements, "counts", c, list, (size_t)t->bins, err);
        if (!code && t->format == SMP_F32)
            code = smp_measurements_add(measurements, "nan", c,
                                        (double)t->counts[smp_histogram_slot(t->bins, c, t->bins)], err);
    }
    smp_free(list);
    return code;
}

static smp_code finish(const void *params_, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    void *t;
    smp_code code = make_partial(params_, in, work, result, &t, err);
    code = code ? code : report(t, measurements, err);
    smp_free(t);
    return code;
}

const smp_stage smp_stage_histogram = {
    .name = "histogram",
    .help = "counts how often each value occurs, per channel; passes data on",
    .about = "Bin i of n counts the code values c with floor(c * n / 2^bits) = i: every value of 8 bits with 256 bins, "
             "of 16 bits with 65536. Fractions between stages are rounded as a file would store them. Float pictures: "
             "floor(v * n); sound: floor((v + 1) * n / 2). What lies outside counts in the first or last bin, NaN "
             "apart. Alpha is a channel like the others.",
    .example = "histogram bins=64",
    SMP_PLANNED(SMP_BOTH, SMP_REDUCE, table, params, smp_count_variants),
    .reduction =
        SMP_REDUCTION(.finish = finish, .partials = SMP_PARTIALS(.make = make_partial, .merge = merge, .report = report,
                                                                 .pack = pack, .unpack = unpack)),
    SMP_ALSO({"hist histo", "histogram"}),
};
