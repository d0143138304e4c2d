/* loudness: how loud a sound is to the ear, by EBU R 128; the sound passes on. */
#include "stages/shared/sound/loudness.h"
#include "base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct params {
    double target;
    const char *name;
} params;

static const double TOLERANCE = 0.1; /* LU: of less nobody is told */

static const smp_param table[] = {
    SMP_PARAM_FLOAT(target, DB, -70, 0, "auto",
                    "the loudness that it should have, LUFS; a warning tells when it is 0.1 LU off; auto: any",
                    SMP_P_AUTO | SMP_P_LOUDNESS),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_loudness_plan(in, work, err);
}

/* ------------------------------------------------------------------------------------------------ over files */

/* The blocks of one file, or of several together: their gates are those of one sound that has all the blocks. Blocks
 * that the first gate keeps are sorted by energy, so that no order of files shows. More different energies than MOST
 * are rounded to the middle of steps of 2^-KEPT_BITS, 0.001 LU, which bounds their number; that depends on all of them
 * together, and not on how they were grouped. */
enum { MOST = 1 << 17, KEPT_BITS = 12, MOMENTARY = 0, SHORT = 1, LENGTHS = 2 };

typedef struct energy {
    double mean;
    uint64_t count;
} energy;

typedef struct partial {
    double peak, most[LENGTHS];
    int64_t spoiled; /* of one file, which alone is told of them */
    bool rounded[LENGTHS];
    size_t count[LENGTHS];
    energy energies[]; /* of MOMENTARY, then of SHORT, each ascending */
} partial;

static energy *energies(const partial *t, int length)
{
    return (energy *)(void *)((uintptr_t)t->energies + (length ? t->count[0] : 0) * sizeof(energy));
}

static double middle_of_step(double mean)
{
    int power;
    const double scale = ldexp(1, KEPT_BITS + 1), part = frexp(mean, &power);
    return ldexp((floor(part * scale) + 0.5) / scale, power);
}

/* Adds one that is not less than those before it. */
static void append(energy *list, size_t *count, energy one, bool rounded)
{
    if (rounded)
        one.mean = middle_of_step(one.mean);
    if (*count && list[*count - 1].mean == one.mean)
        list[*count - 1].count += one.count;
    else
        list[(*count)++] = one;
}

/* Rounds a list that is too long. */
static void bound(energy *list, size_t *count, bool *rounded)
{
    if (*rounded || *count <= MOST)
        return;
    const size_t had = *count;
    *rounded = true;
    *count = 0;
    for (size_t i = 0; i < had; i++)
        append(list, count, list[i], true);
}

static partial *make(size_t momentary, size_t shortterm, smp_error *err)
{
    const size_t size = sizeof(partial) + (momentary + shortterm) * sizeof(energy);
    partial *t = smp_alloc(size);
    if (!t)
        smp_fail_memory(err, "the loudness of a sound", size);
    return t;
}

static void add_blocks(partial *t, int length, double *means, int64_t count)
{
    energy *list = energies(t, length);
    qsort(means, (size_t)count, sizeof *means, smp_by_double);
    for (int64_t i = 0; i < count; i++)
        if (smp_lufs(means[i]) >= SMP_LOUDNESS_SILENCE)
            append(list, &t->count[length], (energy){means[i], 1}, false);
    bound(list, &t->count[length], &t->rounded[length]);
}

static smp_code make_partial(const void *, const smp_shape *in, const smp_node_plan *work, const void *result,
                             void **out, smp_error *err)
{
    smp_loudness_blocks found;
    *out = NULL;
    SMP_TRY(smp_loudness_blocks_of(in, work, result, &found, err));
    partial *t = make((size_t)found.momentary_count, (size_t)found.shortterm_count, err);
    if (t) {
        t->peak = found.peak;
        t->spoiled = found.spoiled;
        t->most[MOMENTARY] = found.most_momentary;
        t->most[SHORT] = found.most_shortterm;
        add_blocks(t, MOMENTARY, found.momentary, found.momentary_count);
        add_blocks(t, SHORT, found.shortterm, found.shortterm_count);
    }
    smp_free(found.momentary);
    *out = t;
    return t ? SMP_OK : SMP_E_MEMORY;
}

static void join_lists(partial *to, const partial *a, const partial *b, int length)
{
    const energy *x = energies(a, length), *y = energies(b, length);
    const energy *const x_end = x + a->count[length], *const y_end = y + b->count[length];
    energy *list = energies(to, length);
    to->rounded[length] = a->rounded[length] || b->rounded[length];
    while (x < x_end || y < y_end) {
        const bool first = y == y_end || (x < x_end && x->mean <= y->mean);
        append(list, &to->count[length], first ? *x++ : *y++, to->rounded[length]);
    }
    bound(list, &to->count[length], &to->rounded[length]);
}

static smp_code merge(void **total, const void *more_, bool *alike, smp_error *err)
{
    const partial *had = *total, *more = more_;
    partial *all = make(had->count[0] + more->count[0], had->count[1] + more->count[1], err);
    *alike = true;
    if (!all)
        return SMP_E_MEMORY;
    all->peak = fmax(had->peak, more->peak);
    for (int length = 0; length < LENGTHS; length++) {
        all->most[length] = fmax(had->most[length], more->most[length]);
        join_lists(all, had, more, length);
    }
    smp_free(*total);
    *total = all;
    return SMP_OK;
}

/* Mean of the blocks of at least so many LUFS; *from: the first of them, *blocks: how many there are. */
static double gated(const partial *t, int length, double least, size_t *from, double *blocks)
{
    const energy *list = energies(t, length);
    double sum = 0;
    *blocks = 0;
    for (*from = 0; *from < t->count[length] && smp_lufs(list[*from].mean) < least; ++*from)
        ;
    for (size_t i = *from; i < t->count[length]; i++) {
        sum += list[i].mean * (double)list[i].count;
        *blocks += (double)list[i].count;
    }
    return *blocks > 0 ? sum / *blocks : 0;
}

/* The block of this rank of those from `from` on. */
static double ranked(const partial *t, int length, size_t from, double rank)
{
    const energy *list = energies(t, length);
    size_t i = from;
    for (double below = (double)list[i].count; below <= rank && i + 1 < t->count[length];)
        below += (double)list[++i].count;
    return list[i].mean;
}

static double range_of(const partial *t)
{
    size_t from;
    double blocks, level = gated(t, SHORT, SMP_LOUDNESS_SILENCE, &from, &blocks);
    gated(t, SHORT, smp_lufs(level) - SMP_LOUDNESS_RANGE_GATE, &from, &blocks);
    if (!(blocks > 0))
        return 0;
    return smp_lufs(ranked(t, SHORT, from, floor((blocks - 1) * 0.95 + 0.5))) -
           smp_lufs(ranked(t, SHORT, from, floor((blocks - 1) * 0.1 + 0.5)));
}

static smp_code report(const void *partial_, smp_measurements *measurements, smp_error *err)
{
    const partial *t = partial_;
    size_t from;
    double blocks, level = gated(t, MOMENTARY, SMP_LOUDNESS_SILENCE, &from, &blocks);
    level = gated(t, MOMENTARY, smp_lufs(level) - SMP_LOUDNESS_GATE, &from, &blocks);
    const struct {
        const char *name;
        double value;
    } found[] = {{"lufs", smp_lufs(level)},
                 {"range", range_of(t)},
                 {"momentary", smp_lufs(t->most[MOMENTARY])},
                 {"shortterm", smp_lufs(t->most[SHORT])},
                 {"true_peak", 20 * log10(t->peak)}};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        SMP_TRY(smp_measurements_add(measurements, found[i].name, -1, found[i].value, err));
    return SMP_OK;
}

/* The loudness that the parameters ask for is of each file. */
static void warn(double lufs, double target, smp_measurements *measurements)
{
    const double off = lufs - target;
    if (isfinite(off) && fabs(off) > TOLERANCE)
        snprintf(measurements->warning, sizeof measurements->warning,
                 "its loudness is %.1f LUFS, %.1f LU %s than the %.1f asked for%s", lufs, fabs(off),
                 off < 0 ? "quieter" : "louder", target,
                 off < 0 ? ": `normalize lufs=..` reaches it, unless peaks meet its ceiling"
                         : ": `normalize lufs=..` lowers it");
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    void *t;
    const size_t before = measurements->count;
    smp_code code = make_partial(given, in, work, result, &t, err);
    code = code ? code : report(t, measurements, err);
    if (!code)
        warn(measurements->items[before].value, ((const params *)given)->target, measurements);
    if (!code)
        smp_loudness_tell_spoiled("loudness", in, work, ((const partial *)t)->spoiled, measurements);
    smp_free(t);
    return code;
}

/* ------------------------------------------------------------------------------------------------ bytes */

static void pack(const void *partial_, smp_packer *to)
{
    const partial *t = partial_;
    smp_pack_double(to, t->peak);
    for (int length = 0; length < LENGTHS; length++) {
        smp_pack_double(to, t->most[length]);
        smp_pack_uint(to, t->rounded[length]);
        smp_pack_uint(to, t->count[length]);
    }
    for (size_t i = 0; i < t->count[0] + t->count[1]; i++) {
        smp_pack_double(to, t->energies[i].mean);
        smp_pack_uint(to, t->energies[i].count);
    }
}

static double unpack_size(smp_unpacker *from)
{
    const double value = smp_unpack_double(from);
    from->failed |= !(value >= 0 && isfinite(value));
    return from->failed ? 0 : value;
}

static smp_code unpack(const smp_shape *, smp_unpacker *from, void **out, smp_error *err)
{
    enum { LEAST = 9 /* bytes of an energy */ };
    partial head = {.peak = unpack_size(from)};
    for (int length = 0; length < LENGTHS; length++) {
        head.most[length] = unpack_size(from);
        head.rounded[length] = smp_unpack_upto(from, 1);
        head.count[length] = smp_unpack_count(from, LEAST);
    }
    if (from->failed)
        head.count[0] = head.count[1] = 0;
    partial *t = make(head.count[0], head.count[1], err);
    *out = t;
    if (!t)
        return SMP_E_MEMORY;
    *t = head;
    for (size_t i = 0; i < t->count[0] + t->count[1] && !from->failed; i++) {
        energy *one = &t->energies[i];
        one->mean = unpack_size(from);
        one->count = smp_unpack_upto(from, UINT64_C(1) << 62);
        from->failed |= !one->count || !(one->mean > 0) || (i && i != t->count[0] && one->mean <= one[-1].mean);
    }
    return SMP_OK;
}

const smp_stage smp_stage_loudness = {
    .name = "loudness",
    .help = "measure how loud a sound is (EBU R 128)",
    .about =
        "By ITU-R BS.1770-4 and EBU Tech 3341 and 3342: lufs is the integrated loudness of all blocks of 0.4 s that "
        "are at least -70 LUFS and within 10 LU of their mean; range (LU) says how far blocks of 3 s lie apart; "
        "momentary and shortterm (LUFS) are the loudest 0.4 and 3 s; true_peak (dBTP) is the largest value at or "
        "between the samples, four times as many below 96 kHz, twice as many below 192 kHz. Rear and side speakers "
        "count 1.5 dB more, the one for low frequencies not at all; a mono sound counts once. Silence has no loudness "
        "(-inf). `normalize lufs=-16LUFS` brings a sound to a loudness. Several files together are one sound with the "
        "blocks of all (the loudness of an album); of more than three hours, blocks are rounded to 0.001 LU.",
    .example = "loudness",
    SMP_PLANNED(SMP_AUDIO, SMP_REDUCE, table, params, smp_loudness_variants),
    .reduction = SMP_REDUCTION(.finish = finish, .level = "lufs",
                               .partials = SMP_PARTIALS(.make = make_partial, .merge = merge, .report = report,
                                                        .pack = pack, .unpack = unpack)),
    SMP_ALSO({"ebur128 r128 lufs", "loudness"}),
};
