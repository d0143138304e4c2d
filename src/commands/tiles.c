/* smempipe tiles: a picture cut into files. Rows are read once, and gathered until a row of tiles is complete: its
 * tiles are then written one after another. Where that is too much memory they are open at once, and written in
 * portions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/paths.h"
#include "base/pool.h"
#include "batch/outputs.h"
#include "commands/outputs.h"
#include "io/files/output.h"
#include "io/library.h"
#include "io/meta/orientation.h"
#include "report/text.h"

typedef struct tiles_settings {
    smp_common common;
    const char *in, *folder, *pattern, *to, *size;
    int64_t overlap;
    smp_write_settings write;
} tiles_settings;

#define TILE_NAMES "{stem}-{x}-{y}.{ext}"

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(tiles_settings, folder), .argument = "DIR",
     .help = "the folder to write to, which is made"},
    {"size", 0, SMP_O_STRING, offsetof(tiles_settings, size), .fallback = "512", .argument = "PX",
     .help = "sides of a tile, as in 512 or 640x480; at the right and lower edges tiles are smaller"},
    {"overlap", 0, SMP_O_INT, offsetof(tiles_settings, overlap), .fallback = "0", .argument = "PX", .min = 0,
     .max = 1000000, .help = "pixels that a tile shares with the one before it, less than a side"},
    {"name", 0, SMP_O_STRING, offsetof(tiles_settings, pattern), .fallback = TILE_NAMES, .argument = "PATTERN",
     .help = "names of tiles: {x} and {y} are the tile's column and row, from 0 on, {stem} the input's name without "
             "extension, {ext} its extension"},
    {"to", 0, SMP_O_STRING, offsetof(tiles_settings, to), .argument = "EXT",
     .help = "the format of tiles, by its extension: png, tif; the input's own unless said"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(tiles_settings, in), .help = "the picture to read"},
    {0},
};

enum {
    MOST_OPEN = 300,     /* files that are open at once, where they are no processes too */
    GATHERED = 64 << 20, /* bytes of rows, */
    SHARE_OF_MEMORY = 8  /* and this part of --max-memory */
};

/* A row of tiles that is being written. */
typedef struct band {
    smp_writer **writers;     /* across of them; null: not begun */
    int64_t number, from, to; /* of its rows: from .. to-1 */
    int64_t done;             /* rows before this one are written */
} band;

typedef struct tiling {
    const tiles_settings *settings;
    smp_reader *reader;
    const smp_media *media;
    smp_shape shape, held; /* of the upright picture, and as tiles hold it */
    void *whole;           /* all of a picture that its EXIF turns, upright; else null */
    int64_t width, height; /* of a tile */
    int64_t step, fall;    /* from one to the next */
    int64_t across, down, digits;
    char *stem;
    const char *ext;
    uint8_t *row;  /* upright, where tiles hold it otherwise; else null */
    uint8_t *kept; /* rows as tiles hold them: row y is at y % portion */
    int64_t portion;
    band *bands; /* that share rows, */
    int64_t band_count;
} tiling;

static int64_t row_bytes(const tiling *t)
{
    return t->shape.width * t->shape.channels * smp_sample_size((int)t->shape.format);
}

/* Returns how many tiles cover a side. */
static int64_t count_of(int64_t length, int64_t size, int64_t step)
{
    return length <= size ? 1 : (length - size + step - 1) / step + 1;
}

/* Null: no memory. */
static char *replace(char *text, const char *field, const char *value)
{
    for (char *at = text; text && (at = strstr(at, field));) {
        const size_t before = (size_t)(at - text);
        char *next = smp_asprintf("%.*s%s%s", (int)before, text, value, at + strlen(field));
        smp_free(text);
        text = next;
        at = text ? text + before + strlen(value) : NULL;
    }
    return text;
}

static char *tile_path(const tiling *t, int64_t x, int64_t y)
{
    char column[32], row[32];
    const char *folder = t->settings->folder;
    snprintf(column, sizeof column, "%0*lld", (int)t->digits, (long long)x);
    snprintf(row, sizeof row, "%0*lld", (int)t->digits, (long long)y);
    char *name = smp_strdup(t->settings->pattern);
    name = replace(name, "{x}", column);
    name = replace(name, "{y}", row);
    name = replace(name, "{ext}", t->ext);
    name = replace(name, "{stem}", t->stem);
    char *path = name ? smp_asprintf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name) : NULL;
    smp_free(name);
    return path;
}

/* Before anything is written: every tile's file could be made, and none is there. */
static smp_code check_names(const tiling *t, smp_error *err)
{
    smp_code code = SMP_OK;
    for (int64_t i = 0; !code && i < t->across * t->down; i++) {
        char *path = tile_path(t, i % t->across, i / t->across);
        SMP_NEED(path, "a path", 100, err);
        code = i ? SMP_OK : smp_target_check(path, err);
        if (!code && !t->settings->common.force && access(path, F_OK) == 0) {
            smp_fail(err, SMP_E_WRITE, "the file exists already");
            smp_hint(err, "nothing was written; replace it with --force, or give another folder");
            code = smp_at(err, "%s", path);
        }
        smp_free(path);
    }
    return code;
}

/* Finds the shape in the tiles' format; *held differs from the picture in alpha at most. */
static smp_code check_format(tiling *t, smp_error *err)
{
    char *path = tile_path(t, 0, 0);
    smp_shape shape = t->shape;
    shape.width = smp_min_i64(t->width, shape.width);
    shape.height = smp_min_i64(t->height, shape.height);
    smp_code code = path ? smp_writer_shape(path, &shape, &t->held, err) : smp_fail_memory(err, "a path", 100);
    const int lost = shape.alpha && !t->held.alpha;
    if (!code && (t->held.format != shape.format || t->held.channels != shape.channels - lost)) {
        const bool bits = t->held.format != shape.format;
        smp_fail(err, SMP_E_WRITE, "the picture has %s, and the format of the tiles holds %s",
                 !bits                     ? "channels of its own kind"
                 : shape.format == SMP_F32 ? "floats"
                                           : "16 bits a sample",
                 !bits                       ? "others"
                 : t->held.format == SMP_U16 ? "16 bits a sample"
                                             : "8");
        smp_hint(err, bits ? "--to tif holds them; smempipe convert IN 8.png -e 'depth 8bit' makes a picture of 8 bits"
                           : "--to npy holds them");
        code = smp_at(err, "%s", path);
    }
    if (!code)
        smp_cli_idle_options(&t->settings->common, &t->settings->write, path, NULL, NULL);
    smp_free(path);
    return code;
}

static smp_code open_tile(tiling *t, band *b, int64_t x, smp_error *err)
{
    const char *const inputs[] = {t->settings->in, NULL};
    smp_write_options write = {0};
    smp_shape shape = t->held;
    smp_meta meta;
    shape.width = smp_min_i64(t->width, t->shape.width - x * t->step);
    shape.height = b->to - b->from;
    const smp_change change = {.changed = true, .width = shape.width, .height = shape.height};
    char *path = tile_path(t, x, b->number);
    if (!path || !smp_meta_copy(&meta, &t->media->meta)) {
        smp_free(path);
        return smp_fail_memory(err, "a tile", t->media->meta.icc.size);
    }
    smp_meta_apply_change(&meta, &change, NULL);
    if (meta.coding.kind == SMP_CODING_RAW)
        meta.coding.raw.big = false; /* tiles without a header have the lowest byte first */
    smp_cli_write_options(&t->settings->write, &write);
    write.output.force = t->settings->common.force;
    write.output.inputs = inputs;
    write.threads = 1;
    smp_code code = smp_writer_open(path, &shape, &meta, &write, &b->writers[x], err);
    smp_meta_free(&meta);
    smp_free(path);
    return code;
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Colour on black: the stage premultiply, rounded to nearest, ties to even. */
#define LAY_ON_BLACK(type, full)                                                                                       \
    do {                                                                                                               \
        const type *from = (const type *)(const void *)t->row;                                                         \
        type *to = (type *)(void *)kept;                                                                               \
        for (int64_t x = 0; x < t->shape.width; x++, from += n, to += n - 1)                                           \
            for (int c = 0; c < n - 1; c++)                                                                            \
                to[c] = (type)lrintf((float)from[c] * (float)from[n - 1] / (full));                                    \
    } while (0)

static void flatten(const tiling *t, uint8_t *kept)
{
    const int n = t->shape.channels;
    if (t->shape.format == SMP_U8)
        LAY_ON_BLACK(uint8_t, UINT8_MAX);
    else
        LAY_ON_BLACK(uint16_t, UINT16_MAX);
}

static smp_code next_row(tiling *t, int64_t y, smp_error *err)
{
    const int64_t stride = row_bytes(t);
    uint8_t *kept = t->kept + y % t->portion * stride, *to = t->row ? t->row : kept;
    if (t->whole)
        memcpy(to, (const uint8_t *)t->whole + (size_t)(y * stride), (size_t)stride);
    else
        SMP_TRY(smp_reader_rows(t->reader, to, stride, 1, err));
    if (t->row)
        flatten(t, kept);
    return SMP_OK;
}

/* Memory for rows; of a picture that is turned, all of it. */
static smp_code begin_rows(tiling *t, smp_error *err)
{
    const int64_t stride = row_bytes(t), all = t->portion * stride;
    if (t->held.channels != t->shape.channels)
        SMP_NEED(t->row = smp_alloc((size_t)stride), "a row", (uint64_t)stride, err);
    SMP_NEED(t->kept = smp_alloc_raw((size_t)all), "rows", (uint64_t)all, err);
    return t->media->orientation > 1 ? smp_orientation_read(t->reader, &t->whole, err) : SMP_OK;
}

/* Rows up to row `to` of a tile; where they begin again at the front of the memory, in two parts. */
static smp_code write_tile(const tiling *t, const band *b, int64_t x, int64_t to, smp_error *err)
{
    const int64_t stride = row_bytes(t), pixel = t->held.channels * smp_sample_size((int)t->held.format);
    smp_code code = SMP_OK;
    for (int64_t y = b->done, n; !code && y < to; y += n) {
        const int64_t at = y % t->portion;
        n = smp_min_i64(to - y, t->portion - at);
        code = smp_writer_rows(b->writers[x], t->kept + at * stride + x * t->step * pixel, stride, n, err);
    }
    return code;
}

/* Row y of the picture, which a band has, was kept: begins, goes on with and ends its tiles when it is time. */
static smp_code feed(tiling *t, band *b, int64_t y, smp_error *err)
{
    const bool last = y + 1 == b->to;
    smp_code code = SMP_OK;
    if (!last && y + 1 - b->done < t->portion)
        return SMP_OK;
    for (int64_t x = 0; !code && x < t->across; x++) {
        if (b->done == b->from)
            code = open_tile(t, b, x, err);
        code = code ? code : write_tile(t, b, x, y + 1, err);
        if (!code && last) {
            smp_writer *done = b->writers[x];
            b->writers[x] = NULL;
            code = x || b->number ? smp_writer_commit(done, err) /* what is told holds for all tiles alike */
                                  : smp_cli_commit(&t->settings->common, t->settings->folder, done, err);
        }
    }
    b->done = y + 1;
    if (!code && last) {
        b->number += t->band_count;
        b->done = b->from = b->number * t->fall;
        b->to = b->number < t->down ? smp_min_i64(b->from + t->height, t->shape.height) : 0;
    }
    return code;
}

static smp_code cut(tiling *t, smp_error *err)
{
    const smp_shape *shape = &t->shape;
    smp_progress progress;
    smp_code code = begin_rows(t, err);
    if (!code && !(t->bands = smp_alloc_array((size_t)t->band_count, sizeof *t->bands)))
        code = smp_fail_memory(err, "tiles", (uint64_t)t->band_count);
    for (int64_t i = 0; !code && i < t->band_count; i++) {
        band *b = &t->bands[i];
        *b = (band){.writers = smp_alloc_array((size_t)t->across, sizeof *b->writers), .number = i};
        b->done = b->from = i * t->fall;
        b->to = i < t->down ? smp_min_i64(b->from + t->height, shape->height) : 0;
        if (!b->writers)
            code = smp_fail_memory(err, "tiles", (uint64_t)t->across);
    }
    smp_progress_begin(&progress, &t->settings->common, t->settings->in);
    for (int64_t y = 0; !code && y < shape->height; y++) {
        code = next_row(t, y, err);
        for (int64_t i = 0; !code && i < t->band_count; i++)
            if (y >= t->bands[i].from && y < t->bands[i].to)
                code = feed(t, &t->bands[i], y, err);
        smp_progress_step(&progress, y + 1, shape->height);
    }
    smp_progress_end(&progress);
    for (int64_t i = 0; t->bands && i < t->band_count; i++) {
        for (int64_t x = 0; t->bands[i].writers && x < t->across; x++)
            smp_writer_abort(t->bands[i].writers[x]);
        smp_free(t->bands[i].writers);
    }
    smp_free(t->bands);
    smp_free_all(t->row, t->kept, t->whole);
    return code;
}

/* How many rows are gathered: all of a tile's where that takes little, or spares processes. */
static int64_t find_portion(const tiling *t, bool elsewhere)
{
    const uint64_t limit = smp_alloc_limited(), most = limit ? limit / SHARE_OF_MEMORY : INT64_MAX;
    const int64_t rows = (int64_t)smp_min_u64(most, elsewhere ? INT64_MAX : GATHERED) / row_bytes(t);
    return smp_min_i64(smp_max_i64(rows, 1), smp_min_i64(t->height, t->shape.height));
}

static smp_code plan_tiles(tiling *t, smp_error *err)
{
    const tiles_settings *s = t->settings;
    const smp_shape *shape = &t->shape;
    t->shape = smp_orientation_shape(t->media);
    if (shape->kind != SMP_IMAGE)
        return smp_fail(err, SMP_E_USAGE, "tiles are of pictures, and this is sound");
    t->step = t->width - s->overlap;
    t->fall = t->height - s->overlap;
    t->across = count_of(shape->width, t->width, t->step);
    t->down = count_of(shape->height, t->height, t->fall);
    t->band_count = smp_min_i64(t->down, (t->height - 1) / t->fall + 1);
    t->digits = 1;
    for (int64_t most = 9; most < smp_max_i64(t->across, t->down) - 1; most = 10 * most + 9)
        t->digits++;
    const char *last = smp_base_name(s->in);
    const size_t stem = smp_stem(last);
    t->ext = s->to                                               ? s->to + (s->to[0] == '.')
             : last[stem] && (smp_writer_kind(last) & SMP_IMAGE) ? last + stem + 1
                                                                 : "png";
    const bool elsewhere = smp_libraries_of_name(t->ext) & SMP_LIBRARY_ENCODERS;
    const int open = elsewhere ? smp_pool_cores() : MOST_OPEN;
    t->portion = find_portion(t, elsewhere);
    if (t->portion < smp_min_i64(t->height, shape->height) && t->across > open / t->band_count)
        return smp_fail(err, SMP_E_LIMIT, "%lld files would be open at once, more than %d%s",
                        (long long)(t->across * t->band_count), open,
                        elsewhere ? ", a process for each of the processors" : ""),
               smp_hint(err, "larger tiles, a smaller overlap%s",
                        elsewhere ? ", more memory (--max-memory), or tiles of another format (--to png)" : "");
    t->stem = strcmp(s->in, "-") ? smp_strndup(last, stem) : smp_strdup("tile");
    SMP_TRY(t->stem ? check_format(t, err) : smp_fail_memory(err, "a name", stem));
    return check_names(t, err);
}

static smp_code check_settings(const tiles_settings *s, smp_error *err)
{
    SMP_TRY(smp_cli_check_stdin(s->in, err));
    if (s->to)
        SMP_TRY(smp_cli_check_extension("to", s->to, err));
    if (!s->folder || !s->folder[0])
        return smp_fail(err, SMP_E_USAGE, "the folder of the tiles is missing"),
               smp_hint(err, "write smempipe tiles %.200s -o DIR", s->in);
    if (!strchr(s->pattern, '/') && strstr(s->pattern, "{x}") && strstr(s->pattern, "{y}"))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "'%.200s' does not name a file for each tile", s->pattern);
    return smp_hint(err, "put {x} and {y}, the tile's column and row, into it, as in '%s'", TILE_NAMES);
}

/* "512", "640x480" */
static smp_code take_size(tiling *t, smp_error *err)
{
    const char *text = t->settings->size;
    const int64_t most = 1000000, overlap = t->settings->overlap;
    char *end;
    t->width = t->height = strtoll(text, &end, 10);
    if (*end == 'x' && end[1] >= '0' && end[1] <= '9')
        t->height = strtoll(end + 1, &end, 10);
    if (*end || text[0] < '0' || text[0] > '9' || t->width < 1 || t->height < 1 || t->width > most || t->height > most)
        return smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid value for --size", text),
               smp_hint(err, "it takes pixels, as in 512, or 640x480");
    if (overlap < smp_min_i64(t->width, t->height))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "tiles of %.40s pixels cannot share %lld", text, (long long)overlap);
    return smp_hint(err, "--overlap takes less than --size");
}

static smp_code tiles(void *given, smp_error *err)
{
    const tiles_settings *s = given;
    tiling t = {.settings = s};
    smp_code code = check_settings(s, err);
    code = code ? code : take_size(&t, err);
    if (!code && (code = smp_reader_open(s->in, &s->common.read, &t.reader, err)))
        return smp_at(err, "%s", s->in);
    if (!code) {
        t.media = smp_reader_media(t.reader);
        code = plan_tiles(&t, err);
    }
    char *first = code ? NULL : tile_path(&t, 0, 0);
    if (!code)
        code = first ? smp_make_folders(first, err) : smp_fail_memory(err, "a path", 100);
    code = code ? code : cut(&t, err);
    if (!code) {
        smp_cli_notes(&s->common, s->in, false, smp_reader_notes(t.reader));
        smp_notes said = {.count = 0};
        if (t.held.channels != t.shape.channels)
            smp_note(&said,
                     "the tiles' format has no transparency: colour is laid on black (--to png, tif or webp keeps it)");
        smp_cli_notes(&s->common, s->folder, false, &said);
        if (!s->common.quiet)
            smp_text_line(stdout, "%lld x %lld tiles in %s", (long long)t.across, (long long)t.down, s->folder);
    }
    smp_free_all(first, t.stem);
    smp_reader_close(t.reader);
    return code;
}

const smp_command smp_command_tiles = {
    .name = "tiles",
    .help = "a picture cut into files of equal size",
    .about = "For networks, viewers and machines that take no large pictures. Samples stay as they are. The picture is "
             "read once, in memory for a row of tiles (all of it where its EXIF turns it). Tiles that were complete "
             "when an error came are left.",
    .settings_size = sizeof(tiles_settings),
    .one_input = true,
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_VERBOSE | SMP_O_SOUNDS,
    .groups = {{"options", options}, SMP_WRITE_GROUP(tiles_settings, write), SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe tiles scan.tif -o tiles/", "tiles/scan-0-0.tif, tiles/scan-1-0.tif, ..."},
                 {"smempipe tiles photo.jpg -o t/ --size 640x480", "tiles that are not square"},
                 {"smempipe tiles map.png -o t/ --size 256 --overlap 32 --to webp --lossless",
                  "tiles that share 32 pixels with their neighbours"}},
    .run = tiles,
};
