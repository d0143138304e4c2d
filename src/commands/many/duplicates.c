/* smempipe duplicates: pictures of a folder that look alike, by hashes of 64 bits of what they look like. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "commands/many/small_pictures.h"
#include "commands/outputs.h"
#include "report/json.h"
#include "report/text.h"
#include "stages/shared/reduce/perceptual_hash.h"

typedef struct duplicates_settings {
    smp_many_settings many;
    int method; /* an index into the words */
    int64_t threshold;
    bool csv, json, hashes;
} duplicates_settings;

enum { DHASH, PHASH };
static const char *const methods[] = {"dhash", "phash", NULL};

static const smp_option options[] = {
    {"method", 0, SMP_O_CHOICE, offsetof(duplicates_settings, method), .fallback = "dhash", .argument = "KIND",
     .choices = methods,
     .help = "what is compared, dhash or phash; dhash: where brightness rises; phash: the coarse frequencies, slower "
             "and subtler"},
    {"threshold", 0, SMP_O_INT, offsetof(duplicates_settings, threshold), .fallback = "5", .argument = "BITS", .min = 0,
     .max = 64, .help = "pictures whose hashes differ in at most so many of 64 bits are a pair"},
    {"hashes", 0, SMP_O_FLAG, offsetof(duplicates_settings, hashes), .help = "print every file's hash, and no pairs"},
    {"csv", 0, SMP_O_FLAG, offsetof(duplicates_settings, csv),
     .help = "a line a pair: distance,a,b,identical (yes: the same bytes)"},
    {"json", 0, SMP_O_FLAG, offsetof(duplicates_settings, json), .help = "machine-readable"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(duplicates_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "pictures, and folders of pictures"},
    {0},
};

typedef struct hashed {
    const char *path;
    uint64_t hash;
    bool known;
    enum { UNREAD, READ, UNREADABLE } bytes; /* `content` is that of its bytes: once a pair asks */
    smp_hash content;
    uint64_t size;
} hashed;

typedef struct pair {
    int distance;
    bool identical; /* byte by byte */
    size_t a, b;
} pair;

typedef struct duplicates_run {
    const duplicates_settings *settings;
    hashed *files;
    size_t count;
    pair *pairs;
    size_t pair_count, pair_capacity;
} duplicates_run;

/* ------------------------------------------------------------------------------------------------ hashes */

/* Gray as it looks on white. */
static int gray_of(const smp_small_picture *p, int64_t at)
{
    const uint8_t *v = p->samples + at * p->channels;
    return p->channels == 1 ? v[0] : (v[0] * v[1] + 255 * (255 - v[1]) + 127) / 255;
}

/* Returns the hash of the small gray picture that the pipeline made. */
static uint64_t hash_of(const smp_small_picture *p, int method)
{
    uint8_t gray[SMP_HASH_PIXELS];
    for (int64_t i = 0; i < p->width * p->height; i++)
        gray[i] = (uint8_t)gray_of(p, i);
    return method == DHASH ? smp_dhash(gray) : smp_phash(gray);
}

static void each(void *context, size_t index, const smp_small_picture *picture)
{
    duplicates_run *r = context;
    hashed *file = &r->files[index];
    file->known = picture->samples != NULL;
    if (file->known)
        file->hash = hash_of(picture, r->settings->method);
}

/* ------------------------------------------------------------------------------------------------ pairs */

static void read_bytes(hashed *file)
{
    enum { PIECE = 1 << 16 };
    struct stat status;
    const bool pipe = stat(file->path, &status) == 0 && !S_ISREG(status.st_mode); /* its bytes are gone */
    unsigned char *piece = smp_alloc_raw(PIECE);
    FILE *from = piece && !pipe ? fopen(file->path, "rb") : NULL;
    size_t got = 1;
    file->content = smp_hash_start();
    while (from && (got = fread(piece, 1, PIECE, from)) > 0) {
        smp_hash_add(&file->content, piece, got);
        file->size += got;
    }
    file->bytes = from && !ferror(from) ? READ : UNREADABLE;
    if (from)
        fclose(from);
    smp_free(piece);
}

/* Files of the same bytes: their size and a hash of 128 bits agree. */
static bool identical(hashed *a, hashed *b)
{
    if (a->bytes == UNREAD)
        read_bytes(a);
    if (b->bytes == UNREAD)
        read_bytes(b);
    return a->bytes == READ && b->bytes == READ && a->size == b->size && smp_hash_equal(&a->content, &b->content);
}

static int by_distance(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->distance != q->distance)
        return p->distance - q->distance;
    if (p->identical != q->identical)
        return p->identical ? -1 : 1;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

static smp_code find_pairs(duplicates_run *r, smp_error *err)
{
    for (size_t a = 0; a < r->count; a++)
        for (size_t b = a + 1; b < r->count && r->files[a].known; b++) {
            const int distance = __builtin_popcountll(r->files[a].hash ^ r->files[b].hash);
            if (!r->files[b].known || distance > r->settings->threshold)
                continue;
            SMP_NEED(smp_grow(&r->pairs, &r->pair_capacity, r->pair_count + 1, sizeof *r->pairs), "pairs",
                     r->pair_count * sizeof *r->pairs, err);
            const bool same = distance == 0 && identical(&r->files[a], &r->files[b]);
            r->pairs[r->pair_count++] = (pair){distance, same, a, b};
        }
    if (r->pair_count)
        qsort(r->pairs, r->pair_count, sizeof *r->pairs, by_distance);
    return SMP_OK;
}

static void put_json(const duplicates_run *r)
{
    smp_json writer, *json = &writer;
    char text[24];
    smp_json_begin(json, stdout, false);
    SMP_JSON_OPEN(json, NULL, ("method", methods[r->settings->method]), ("threshold", r->settings->threshold));
    smp_json_array(json, "files");
    for (size_t i = 0; i < r->count; i++) {
        if (!r->files[i].known)
            continue;
        snprintf(text, sizeof text, "%016llx", (unsigned long long)r->files[i].hash);
        SMP_JSON_OBJECT(json, NULL, ("file", r->files[i].path), ("hash", text));
    }
    smp_json_end(json, ']');
    smp_json_array(json, "pairs");
    for (size_t i = 0; i < r->pair_count; i++)
        SMP_JSON_OBJECT(json, NULL, ("distance", r->pairs[i].distance), ("a", r->files[r->pairs[i].a].path),
                        ("b", r->files[r->pairs[i].b].path), ("identical", r->pairs[i].identical));
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

static void put_name(const char *text, bool csv, const char *end)
{
    (csv ? smp_text_csv : smp_text_clean)(stdout, text);
    fputs(end, stdout);
}

static void put_text(const duplicates_run *r)
{
    const bool csv = r->settings->csv;
    if (r->settings->hashes) {
        if (csv)
            puts("hash,file");
        for (size_t i = 0; i < r->count; i++)
            if (r->files[i].known) {
                printf("%016llx%s", (unsigned long long)r->files[i].hash, csv ? "," : "  ");
                put_name(r->files[i].path, csv, "\n");
            }
        return;
    }
    if (csv)
        puts("distance,a,b,identical");
    for (size_t i = 0; i < r->pair_count; i++) {
        const pair *p = &r->pairs[i];
        if (p->identical && !csv)
            fputs(" =  ", stdout);
        else
            printf(csv ? "%d," : "%2d  ", p->distance);
        put_name(r->files[p->a].path, csv, csv ? "," : "  ");
        put_name(r->files[p->b].path, csv, !csv ? "\n" : p->identical ? ",yes\n" : ",no\n");
    }
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_code compare(void *given, const smp_program *program, smp_diags *, smp_error *err)
{
    const duplicates_settings *s = given;
    const smp_find_options walk = smp_many_walk(&s->many, program);
    duplicates_run r = {.settings = s};
    smp_found_list found = {.count = 0};
    smp_found **files = NULL;
    size_t failed = 0;
    smp_code code = smp_many_find(&s->many, &walk, &found, NULL, err);
    if (!code && (!(files = smp_alloc_array(found.count, sizeof *files)) ||
                  !(r.files = smp_alloc_array(found.count, sizeof *r.files))))
        code = smp_fail_memory(err, "the list of files", found.count);
    for (size_t i = 0; !code && i < found.count; i++) {
        files[i] = smp_found_at(&found, i);
        r.files[i].path = files[i]->path;
    }
    if (!code) {
        r.count = found.count;
        smp_cli_confine_many(&s->many, program, &found, NULL);
        code = smp_small_pictures(&s->many, program, "duplicates", files, r.count, each, &r, &failed, err);
    }
    if (!code && !s->hashes)
        code = find_pairs(&r, err);
    if (!code && s->json)
        put_json(&r);
    else if (!code)
        put_text(&r);
    if (!code && !s->hashes && !r.pair_count && !s->many.plan.base.common.quiet)
        fprintf(stderr, "smempipe: no pair among %zu picture%s differs in at most %d of 64 bits\n", r.count - failed,
                r.count - failed == 1 ? "" : "s", (int)s->threshold);
    smp_free_all(r.files, r.pairs, files);
    smp_found_free(&found);
    return code ? code : failed ? SMP_E_PROCESS : SMP_OK;
}

static smp_code duplicates(void *given, smp_error *err)
{
    static const char *const stages[][5] = {{"gray [0.299 0.587 0.114]", "alpha flatten",
                                             "resize width=9 height=8 fit=stretch filter=area", "depth 8bit", NULL},
                                            {"gray [0.299 0.587 0.114]", "alpha flatten", "depth 8bit",
                                             "resize width=32 height=32 fit=stretch filter=lanczos3 arithmetic=fixed",
                                             NULL}};
    duplicates_settings *s = given;
    smp_pipeline_settings *base = &s->many.plan.base;
    if (s->csv && s->json)
        return smp_fail(err, SMP_E_USAGE, "--csv and --json exclude each other"), smp_hint(err, "choose one");
    smp_code code = smp_many_open(&s->many, err);
    for (int i = 0; !code && stages[s->method][i]; i++) {
        if (!smp_grow(&base->stages.items, &base->stages.capacity, base->stages.count + 1, sizeof *base->stages.items))
            code = smp_fail_memory(err, "a stage", 1);
        else
            base->stages.items[base->stages.count++] = stages[s->method][i];
    }
    smp_cli_stop_gently();
    code = code ? code : smp_cli_with_program(base, NULL, compare, s, err);
    smp_free(base->stages.items);
    base->stages = (smp_strings){0};
    smp_many_close(&s->many);
    return code;
}

const smp_command smp_command_duplicates = {
    .name = "duplicates",
    .help = "pairs of pictures that look alike: copies, other sizes and formats",
    .about = "Every picture becomes 64 bits, on white where it is transparent. dhash: gray (ITU-R BT.601), 9 x 8 "
             "pixels by area, a bit where a pixel is brighter than its left neighbour. phash: 32 x 32 pixels by "
             "Lanczos, a bit for each of the 8 x 8 lowest frequencies of a cosine transform that is above their "
             "median. Prints pairs whose bits differ in at most --threshold places, the nearest first: how many differ "
             "(= where the files have the same bytes), and the two files. Turned or cropped pictures are not found, "
             "flat ones resemble each other. A file that cannot be read is listed at the end, and the exit status is "
             "1.",
    .settings_size = sizeof(duplicates_settings),
    .without = SMP_O_OUTPUTS,
    .groups = {{"options", options}, SMP_MANY_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe duplicates photos/ -r", "the nearest pairs first"},
                 {"smempipe duplicates photos/ -r --threshold 0 --csv", "the same picture in other files"}},
    .run = duplicates,
};
