/* smempipe diff: do two files hold the same samples? Both are decoded strip by strip, so that size does not matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "cli/cli.h"
#include "io/meta/orientation.h"
#include "report/json.h"
#include "report/text.h"

typedef struct diff_settings {
    smp_common common;
    const char *a, *b;
    double max_abs;
    const char *psnr; /* null: not asked for; "": shown; else the least that passes, dB */
    const char *ssim; /* the same, 0 to 1 */
    bool json;
} diff_settings;

static const smp_option options[] = {
    {"max-abs", 0, SMP_O_NUMBER, offsetof(diff_settings, max_abs), .fallback = "0", .argument = "N", .min = 0,
     .max = INFINITY,
     .help = "samples that differ by at most N code values (of 255, 65535, or 1.0 for floats) are the same"},
    {"psnr", 0, SMP_O_STRING, offsetof(diff_settings, psnr), .argument = "DB", .flags = SMP_O_OPTIONAL,
     .help =
         "print the peak signal-to-noise ratio alone; with a value, the files are the same when it is at least that, "
         "without one there is no verdict: exit code 0"},
    {"ssim", 0, SMP_O_STRING, offsetof(diff_settings, ssim), .argument = "INDEX", .flags = SMP_O_OPTIONAL,
     .help = "print the structural similarity of two pictures alone, 1 where they are the same; with a value, they are "
             "the same when it is at least that, without one there is no verdict"},
    {"json", 0, SMP_O_FLAG, offsetof(diff_settings, json), .help = "machine-readable"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"A", offsetof(diff_settings, a), .help = "a picture or sound"},
    {"B", offsetof(diff_settings, b), .help = "what it is compared with; - is standard input"},
    {0},
};

#define SIMILARITY "quality by=\"%s\""

typedef struct place {
    int64_t x, y; /* of a sound, y is the frame */
    int channel;
    double a, b;
} place;

typedef struct difference {
    char mismatch[200];                  /* shapes that cannot be compared; else "" */
    uint64_t samples, differing, beyond; /* beyond: by more than --max-abs */
    double largest, squares, white;
    bool unbounded; /* a NaN or infinity on one side only */
    bool sound;
    bool as_floats; /* samples of a file have more bits than those that are compared */
    place first, worst;
} difference;

static bool is_wide(const smp_media *media)
{
    const int type = smp_coding_sound(&media->meta.coding)->type;
    return media->shape.kind == SMP_AUDIO && (type == SMP_SOUND_S32 || type == SMP_SOUND_F64);
}

/* Compares the shapes of pictures as they are seen. */
static void compare_shapes(const smp_media *a, const smp_media *b, difference *d)
{
    const smp_shape first = smp_orientation_shape(a), second = smp_orientation_shape(b), *s = &first, *t = &second;
    d->sound = s->kind == SMP_AUDIO;
    d->as_floats = is_wide(a) || is_wide(b);
    if (s->kind != t->kind)
        snprintf(d->mismatch, sizeof d->mismatch, "one is a picture, the other is sound");
    else if (d->sound && s->height != t->height)
        snprintf(d->mismatch, sizeof d->mismatch, "%lld frames against %lld", (long long)s->height,
                 (long long)t->height);
    else if (s->width != t->width || s->height != t->height)
        snprintf(d->mismatch, sizeof d->mismatch, "size %lldx%lld against %lldx%lld", (long long)s->width,
                 (long long)s->height, (long long)t->width, (long long)t->height);
    else if (s->channels != t->channels)
        snprintf(d->mismatch, sizeof d->mismatch, "%d channels against %d", s->channels, t->channels);
    else if (s->format != t->format)
        snprintf(d->mismatch, sizeof d->mismatch, "samples are %s against %s", smp_format_name(s->format),
                 smp_format_name(t->format));
    else if (s->rate != t->rate && s->rate > 0 && t->rate > 0)
        snprintf(d->mismatch, sizeof d->mismatch, "%.10g Hz against %.10g Hz", s->rate, t->rate);
}

/* In the order in which the picture is seen. */
static bool is_before(const place *a, const place *b)
{
    return a->y != b->y ? a->y < b->y : a->x < b->x;
}

/* orientation: of both rows, which are as stored. */
static void compare_row(const void *row_a, const void *row_b, const smp_shape *shape, int orientation, int64_t y,
                        double max_abs, difference *d)
{
    int64_t n = shape->width * shape->channels;
    double squares = 0;
    if (!memcmp(row_a, row_b, (size_t)(n * smp_sample_size((int)shape->format))))
        return;
    for (int64_t i = 0; i < n; i++) {
        double a = (double)smp_load(row_a, i, (int)shape->format), b = (double)smp_load(row_b, i, (int)shape->format);
        if (a == b || (isnan(a) && isnan(b)))
            continue;
        place at = {i / shape->channels, y, (int)(i % shape->channels), a, b};
        double size = fabs(a - b);
        bool unbounded = !isfinite(size);
        smp_orientation_place(orientation, shape->width, shape->height, &at.x, &at.y);
        if (d->differing++ == 0 || is_before(&at, &d->first))
            d->first = at;
        d->beyond += unbounded || size > max_abs;
        if (unbounded) {
            size = INFINITY;
            d->unbounded = true;
        }
        if (size > d->largest || (size == d->largest && is_before(&at, &d->worst))) {
            d->largest = size;
            d->worst = at;
        }
        squares += size * size;
    }
    d->squares += squares;
}

/* One of the two files: rows as stored, or the whole picture as it is seen. */
typedef struct side {
    const char *path;
    smp_reader *reader;
    void *upright;
} side;

static smp_code open_side(side *s, const smp_common *common, smp_error *err)
{
    smp_code code = smp_cli_check_stdin(s->path, err);
    if (!code && (code = smp_reader_open(s->path, &common->read, &s->reader, err)))
        smp_at(err, "%s", s->path);
    return code;
}

static void close_side(side *s)
{
    smp_free(s->upright);
    smp_reader_close(s->reader);
}

/* Pictures that are stored alike are compared as they are stored, others as they are seen. */
static smp_code turn_sides(side *sides, smp_error *err)
{
    if (smp_reader_media(sides[0].reader)->orientation == smp_reader_media(sides[1].reader)->orientation)
        return SMP_OK;
    smp_code code = SMP_OK;
    for (int i = 0; !code && i < 2; i++)
        if (smp_reader_media(sides[i].reader)->orientation > 1 &&
            (code = smp_orientation_read(sides[i].reader, &sides[i].upright, err)))
            smp_at(err, "%s", sides[i].path);
    return code;
}

static smp_code side_rows(side *s, void *strip, int64_t stride, int64_t y, int64_t rows, const void **at,
                          smp_error *err)
{
    *at = s->upright ? (const char *)s->upright + y * stride : strip;
    const smp_code code = s->upright ? SMP_OK : smp_reader_rows(s->reader, strip, stride, rows, err);
    return code ? smp_at(err, "%s", s->path) : SMP_OK;
}

static smp_code compare_rows(side *sides, const diff_settings *settings, difference *d, smp_error *err)
{
    enum { STRIP_BYTES = 1 << 20 };
    smp_alloc_limit(settings->common.read.limits.max_memory);
    SMP_TRY(turn_sides(sides, err));
    const smp_media *media = smp_reader_media(sides[0].reader);
    const bool turned = sides[0].upright || sides[1].upright;
    const smp_shape shape = turned ? smp_orientation_shape(media) : media->shape;
    const int orientation = turned ? 1 : media->orientation;
    int64_t stride = shape.width * shape.channels * smp_sample_size((int)shape.format);
    int64_t rows = smp_max_i64(1, smp_min_i64(shape.height, STRIP_BYTES / smp_max_i64(1, stride)));
    char *buffers[2] = {smp_alloc_array((size_t)rows, (size_t)stride), smp_alloc_array((size_t)rows, (size_t)stride)};
    smp_code code = buffers[0] && buffers[1] ? SMP_OK : smp_fail_memory(err, "strips", (uint64_t)(2 * rows * stride));
    smp_progress progress;
    smp_progress_begin(&progress, &settings->common, settings->a);
    for (int64_t y = 0; !code && y < shape.height; y += rows) {
        const int64_t count = smp_min_i64(rows, shape.height - y);
        const void *at[2];
        for (int i = 0; !code && i < 2; i++)
            code = side_rows(&sides[i], buffers[i], stride, y, count, &at[i], err);
        for (int64_t i = 0; !code && i < count; i++)
            compare_row((const char *)at[0] + i * stride, (const char *)at[1] + i * stride, &shape, orientation, y + i,
                        settings->max_abs, d);
        smp_progress_step(&progress, y + count, shape.height);
    }
    smp_progress_end(&progress);
    smp_free_all(buffers[0], buffers[1]);
    d->samples = (uint64_t)shape.width * (uint64_t)shape.height * (uint64_t)shape.channels;
    d->white = (double)smp_white(shape.format);
    return code;
}

/* dB; infinite when nothing differs, NaN when it has no meaning. */
static double psnr_of(const difference *d)
{
    if (d->mismatch[0] || d->unbounded)
        return NAN;
    return d->squares > 0 ? 10 * log10(d->white * d->white * (double)d->samples / d->squares) : INFINITY;
}

static void put_place_json(smp_json *json, const char *key, const place *at, bool sound)
{
    smp_json_object(json, key);
    if (!sound)
        smp_json_integer(json, "x", at->x);
    SMP_JSON(json, (sound ? "frame" : "y", at->y), ("channel", at->channel), ("a", at->a), ("b", at->b));
    smp_json_end(json, '}');
}

static void put_json(const diff_settings *settings, const difference *d, bool same)
{
    smp_json writer, *json = &writer;
    smp_json_begin(json, stdout, false);
    SMP_JSON_OPEN(json, NULL, ("a", settings->a), ("b", settings->b), ("same", same));
    if (d->mismatch[0])
        smp_json_string(json, "mismatch", d->mismatch);
    else {
        SMP_JSON(json, ("samples", d->samples), ("as_32_bit_floats", d->as_floats), ("differing", d->differing),
                 ("beyond_max_abs", d->beyond), ("max_abs", d->largest));
        smp_json_number(json, "psnr_db", psnr_of(d)); /* null: no difference, or none that can be measured */
        if (d->differing) {
            put_place_json(json, "first", &d->first, d->sound);
            put_place_json(json, "largest", &d->worst, d->sound);
        }
    }
    smp_json_end(json, '}');
}

static void put_place(const char *name, const place *at, bool sound)
{
    printf("  %-9s  %.9g and %.9g at ", name, at->a, at->b);
    if (sound)
        printf("frame %lld", (long long)at->y);
    else
        printf("x %lld, y %lld", (long long)at->x, (long long)at->y);
    printf(", channel %d\n", at->channel);
}

static void put_text(const diff_settings *settings, const difference *d, bool same)
{
    smp_text_clean(stdout, settings->a);
    fputs(same ? " and " : " differs from ", stdout);
    smp_text_clean(stdout, settings->b);
    fputs(same ? " are the same" : "", stdout);
    if (d->mismatch[0])
        printf(": %s\n", d->mismatch);
    else if (!d->differing)
        printf("%s (%llu samples)\n", d->as_floats ? " as 32-bit floats" : "", (unsigned long long)d->samples);
    else {
        double psnr = psnr_of(d);
        printf("%s\n  differing  %llu of %llu samples (%.3g %%)", same ? " within the limit" : "",
               (unsigned long long)d->differing, (unsigned long long)d->samples,
               (double)d->differing / (double)d->samples * 100);
        if (settings->max_abs > 0)
            printf(", %llu by more than %.9g", (unsigned long long)d->beyond, settings->max_abs);
        printf("\n  max-abs    %.9g\n", d->largest);
        put_place("largest", &d->worst, d->sound);
        put_place("first", &d->first, d->sound);
        if (isfinite(psnr))
            printf("  PSNR       %.2f dB\n", psnr);
    }
}

/* A number was asked for that these two do not have: said as an error, as standard output is for the number. */
static smp_code fail_without(const diff_settings *settings, const char *why, const char *number, smp_error *err)
{
    smp_fail(err, SMP_E_DIFFERENT, "differs from %s: %s; there is no %s", settings->b, why, number);
    smp_at(err, "%s", settings->a);
    if (settings->common.quiet)
        err->message[0] = '\0';
    return SMP_E_DIFFERENT;
}

/* ------------------------------------------------------------------------------------------------ --ssim */

typedef struct similarity {
    const diff_settings *settings;
    double ssim;
} similarity;

static smp_code measure_ssim(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    similarity *s = given;
    smp_plan_settings plan = {.base = {.common = s->settings->common}};
    smp_run_report report = {.input = NULL};
    smp_cli_job job;
    plan.base.common.device = "cpu";
    smp_code code = smp_cli_job_open(&plan, program, diags, s->settings->a, &job, err);
    code = code ? code : smp_run_file(&job.request, &report, err);
    smp_cli_job_close(&job);
    s->ssim = NAN;
    for (size_t i = 0; !code && i < report.step_count; i++)
        for (size_t k = 0; k < report.steps[i].measurements.count; k++) {
            const smp_measurement *f = &report.steps[i].measurements.items[k];
            if (f->channel < 0 && !strcmp(f->name, "ssim"))
                s->ssim = f->value;
        }
    if (!code && isnan(s->ssim))
        code = smp_fail(err, SMP_E_PIPE, "pictures less than 11 pixels wide or high have no structural similarity");
    smp_run_report_free(&report);
    return code;
}

/* Before anything is measured: pictures of other sizes or colours have no structural similarity. */
static smp_code check_similar(const diff_settings *settings, smp_error *err)
{
    side sides[2] = {{.path = settings->a}, {.path = settings->b}};
    difference d = {0};
    smp_code code = open_side(&sides[0], &settings->common, err);
    code = code ? code : open_side(&sides[1], &settings->common, err);
    if (!code) {
        const smp_media *a = smp_reader_media(sides[0].reader), *b = smp_reader_media(sides[1].reader);
        const smp_shape first = smp_orientation_shape(a), second = smp_orientation_shape(b);
        const bool fit = second.kind == SMP_IMAGE && first.width == second.width && first.height == second.height &&
                         first.channels - first.alpha == second.channels - second.alpha;
        compare_shapes(a, b, &d);
        if (first.kind == SMP_IMAGE && !fit && d.mismatch[0])
            code = fail_without(settings, d.mismatch, "structural similarity", err);
    }
    close_side(&sides[0]);
    close_side(&sides[1]);
    return code;
}

/* Measures by the stage, with the second file as its operand. */
static smp_code diff_ssim(const diff_settings *settings, smp_error *err)
{
    similarity s = {.settings = settings};
    char *end = NULL;
    const double least = settings->ssim[0] ? strtod(settings->ssim, &end) : 0;
    if (end && (*end || !(least >= -1 && least <= 1)))
        return smp_fail(err, SMP_E_USAGE, "'%s' is not a valid value for --ssim", settings->ssim),
               smp_hint(err, "it takes a number up to 1, like --ssim=0.98");
    if (!strcmp(settings->a, "-") || !strcmp(settings->b, "-") || strpbrk(settings->b, "\"\n\\"))
        return smp_fail(err, SMP_E_USAGE, "--ssim compares files whose names can stand in a pipeline, not '%s'",
                        strcmp(settings->a, "-") ? settings->b : "-");
    if (settings->psnr || settings->json || settings->max_abs > 0)
        return smp_fail(err, SMP_E_USAGE, "--ssim and --%s exclude each other",
                        settings->json   ? "json"
                        : settings->psnr ? "psnr"
                                         : "max-abs");
    SMP_TRY(check_similar(settings, err));
    char *text = smp_asprintf(SIMILARITY, settings->b);
    const char *items[] = {text};
    const smp_pipeline_settings pipeline = {.common = settings->common, .stages = {.items = items, .count = 1}};
    smp_code code = text ? smp_cli_with_program(&pipeline, NULL, measure_ssim, &s, err)
                         : smp_fail_memory(err, "a stage", strlen(settings->b));
    smp_free(text);
    if (!code && !settings->common.quiet)
        printf("%.6f\n", s.ssim);
    if (!code && end && !(s.ssim >= least)) {
        code = smp_fail(err, SMP_E_DIFFERENT, "the files differ");
        err->message[0] = '\0'; /* said on stdout */
    }
    return code;
}

static smp_code diff(void *given, smp_error *err)
{
    diff_settings *settings = given;
    if (settings->ssim)
        return diff_ssim(settings, err);
    side sides[2] = {{.path = settings->a}, {.path = settings->b}};
    difference d = {0};
    double least = 0;
    char *end = NULL;
    if (settings->psnr && settings->psnr[0]) {
        least = strtod(settings->psnr, &end);
        if (*end || !isfinite(least))
            return smp_fail(err, SMP_E_USAGE, "'%s' is not a valid value for --psnr", settings->psnr),
                   smp_hint(err, "it takes decibels, like --psnr=40");
    }
    if (!strcmp(settings->a, "-") && !strcmp(settings->b, "-"))
        return smp_fail(err, SMP_E_USAGE, "only one of the two can come from standard input"),
               smp_hint(err, "write a file's name for the other");
    smp_code code = open_side(&sides[0], &settings->common, err);
    code = code ? code : open_side(&sides[1], &settings->common, err);
    if (code)
        goto end;
    compare_shapes(smp_reader_media(sides[0].reader), smp_reader_media(sides[1].reader), &d);
    if (!d.mismatch[0] && (code = compare_rows(sides, settings, &d, err)))
        goto end;
    for (int i = 0; i < 2; i++)
        smp_cli_notes(&settings->common, sides[i].path, false, smp_reader_notes(sides[i].reader));
    const double psnr = psnr_of(&d);
    bool same = end ? psnr >= least && (settings->max_abs <= 0 || !d.beyond) /* beside --max-abs, both hold */
                    : !d.mismatch[0] && !d.beyond;
    if (settings->json)
        put_json(settings, &d, same);
    else if (settings->psnr) {
        if (isnan(psnr)) {
            code =
                fail_without(settings, d.mismatch[0] ? d.mismatch : "samples of one alone are not finite", "PSNR", err);
            goto end;
        }
        if (!settings->common.quiet)
            printf("%.4f\n", psnr);
        same = same || (!end && settings->max_abs <= 0); /* a number was asked for, and no verdict */
    } else if (!settings->common.quiet)
        put_text(settings, &d, same);
    if (!same) {
        code = smp_fail(err, SMP_E_DIFFERENT, "the files differ");
        err->message[0] = '\0'; /* said on stdout */
    }
end:
    close_side(&sides[0]);
    close_side(&sides[1]);
    return code;
}

const smp_command smp_command_diff = {
    .name = "diff",
    .help = "do two files hold the same samples?",
    .about = "Compares what is decoded, not bytes of files: a PNG and an NPY array of the same picture are the same. "
             "Sounds are compared as 32-bit floats, which is told where a file's samples have more bits. Exit code 0 "
             "when they are, 7 when they differ.",
    .settings_size = sizeof(diff_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe diff a.png b.png", "how many samples differ, by how much, where first"},
                 {"smempipe diff --max-abs 1 -q before.png after.npy && echo close enough", "for a script"}},
    .run = diff,
};
