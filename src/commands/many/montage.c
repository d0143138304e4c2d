/* smempipe montage: contact sheets. Small pictures of the files come in order, and a page is written when its last cell
 * is drawn. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/paths.h"
#include "batch/outputs.h"
#include "commands/many/montage_page.h"
#include "commands/outputs.h"
#include "io/files/output.h"
#include "report/text.h"

typedef struct montage_settings {
    smp_many_settings many;
    const char *out, *cell, *background;
    int64_t columns, rows, gap;
    int labels; /* an index into the words */
    smp_write_settings write;
} montage_settings;

enum { LABEL_NAME, LABEL_STEM, LABEL_NONE };
static const char *const label_words[] = {"name", "stem", "none", NULL};

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(montage_settings, out), .argument = "OUT",
     .help = "the picture to write; where one page does not do: OUT-1, OUT-2 and so on, before the extension"},
    {"columns", 0, SMP_O_INT, offsetof(montage_settings, columns), .fallback = "5", .argument = "N", .min = 1,
     .max = 1000, .help = "pictures side by side"},
    {"rows", 0, SMP_O_INT, offsetof(montage_settings, rows), .fallback = "6", .argument = "N", .min = 0, .max = 1000000,
     .help = "rows of a full page; 0: all on one page"},
    {"cell", 0, SMP_O_STRING, offsetof(montage_settings, cell), .fallback = "200x200", .argument = "WxH",
     .help = "the pixels that a picture gets; it fits in, and is not enlarged; auto: as the largest picture has"},
    {"gap", 0, SMP_O_INT, offsetof(montage_settings, gap), .fallback = "10", .argument = "PX", .min = 0, .max = 10000,
     .help = "between pictures, and round them"},
    {"labels", 0, SMP_O_CHOICE, offsetof(montage_settings, labels), .fallback = "name", .argument = "KIND",
     .choices = label_words, .help = "below each picture: the file's name, its stem (without extension), or none"},
    {"background", 0, SMP_O_STRING, offsetof(montage_settings, background), .fallback = "white", .argument = "COLOUR",
     .help = "a colour: white, gray, navy, ..., or in hexadecimal #rrggbb; also behind what is transparent; none: "
             "transparent"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(montage_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "pictures, and folders of pictures, in the order of their names"},
    {0},
};

typedef struct montage_run {
    const montage_settings *settings;
    smp_montage look;
    smp_found_list found;
    smp_found **files;
    size_t count, pages, per_page;
    char **paths; /* of pages */
    const char **inputs;
    smp_montage_page page;
    size_t drawn; /* pictures on the page */
    size_t written;
    smp_error broken; /* the first page that could not be written */
} montage_run;

/* ------------------------------------------------------------------------------------------------ pages */

/* The path of page `number` of `count`. Null: no memory. */
static char *page_path(const char *out, size_t number, size_t count)
{
    if (count == 1)
        return smp_strdup(out);
    int digits = 1;
    for (size_t most = 9; most < count; most = 10 * most + 9)
        digits++;
    const char *dot = strrchr(smp_base_name(out), '.');
    const int stem = dot ? (int)(dot - out) : (int)strlen(out);
    return smp_asprintf("%.*s-%0*zu%s", stem, out, digits, number, dot ? dot : "");
}

static smp_code name_pages(montage_run *r, smp_error *err)
{
    const montage_settings *s = r->settings;
    for (size_t i = 0; r->paths && r->paths[i]; i++)
        smp_free(r->paths[i]);
    smp_free(r->paths);
    r->per_page = s->rows ? (size_t)(s->columns * s->rows) : r->count;
    r->pages = r->count ? (r->count - 1) / r->per_page + 1 : 0;
    SMP_NEED(r->paths = smp_alloc_array(r->pages + 1, sizeof *r->paths), "the pages", r->pages, err);
    for (size_t i = 0; i < r->pages; i++)
        SMP_NEED(r->paths[i] = page_path(s->out, i + 1, r->pages), "a path", strlen(s->out), err);
    if (r->pages < 2 || strcmp(s->out, "-") != 0)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "there are %zu pages, and standard output takes one", r->pages);
    return smp_hint(err, "--rows 0 puts all on one page");
}

static smp_code check_pages(const montage_run *r, smp_error *err)
{
    const int channels = r->look.channels;
    const smp_shape shape = {
        .kind = SMP_IMAGE, .width = 1, .height = 1, .channels = channels, .alpha = channels == 4, .format = SMP_U8};
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < r->pages; i++) {
        smp_shape held;
        const char *path = r->paths[i];
        code = smp_writer_shape(path, &shape, &held, err);
        if (!code && (held.channels != channels || held.format != SMP_U8)) {
            smp_fail(err, SMP_E_WRITE, "the format holds no colours of 8 bits%s", channels == 4 ? " with alpha" : "");
            code = smp_at(err, "%s", path);
        }
        if (!code && strcmp(path, "-") != 0)
            code = smp_target_check(path, err);
        if (!code && !r->settings->many.plan.base.common.force && access(path, F_OK) == 0) {
            smp_fail(err, SMP_E_WRITE, "the file exists already");
            smp_hint(err, "nothing was written; replace it with --force, or give another name");
            code = smp_at(err, "%s", path);
        }
    }
    return code;
}

static smp_code write_page(montage_run *r, const char *path, smp_error *err)
{
    const smp_shape shape = {.kind = SMP_IMAGE,
                             .width = r->page.width,
                             .height = r->page.height,
                             .channels = r->look.channels,
                             .alpha = r->look.channels == 4,
                             .format = SMP_U8};
    smp_write_options write = {0};
    smp_writer *writer = NULL;
    smp_cli_write_options(&r->settings->write, &write);
    write.output.force = r->settings->many.plan.base.common.force;
    write.output.inputs = r->inputs;
    smp_code code = smp_writer_open(path, &shape, NULL, &write, &writer, err);
    code = code ? code : smp_writer_rows(writer, r->page.samples, r->page.stride, r->page.height, err);
    if (code) {
        smp_writer_abort(writer);
        return code;
    }
    return smp_cli_commit(&r->settings->many.plan.base.common, path, writer, err);
}

/* ------------------------------------------------------------------------------------------------ files */

static void draw(void *context, size_t index, const smp_small_picture *picture)
{
    montage_run *r = context;
    const size_t at = index % r->per_page, left = r->count - index;
    if (!at && !r->broken.code) {
        const size_t cells = left < r->per_page ? left : r->per_page;
        const int64_t rows = ((int64_t)cells - 1) / r->look.columns + 1;
        r->drawn = 0;
        smp_montage_page_make(&r->look, rows, r->settings->many.plan.base.common.read.limits.max_pixels, &r->page,
                              &r->broken);
    }
    if (r->broken.code)
        return;
    const char *name = smp_base_name(r->files[index]->path), *dot = strrchr(name, '.');
    char *stem =
        r->settings->labels == LABEL_STEM && dot && dot > name ? smp_strndup(name, (size_t)(dot - name)) : NULL;
    smp_montage_draw(&r->look, &r->page, (int64_t)at, picture, stem ? stem : name);
    smp_free(stem);
    r->drawn += picture->samples != NULL;
    if (at + 1 < r->per_page && left > 1)
        return;
    if (r->drawn && !write_page(r, r->paths[index / r->per_page], &r->broken))
        r->written++;
    smp_montage_page_free(&r->page);
}

/* A page must not take the place of a file of the folder: nobody knows whether an earlier run made it. */
static smp_code keep_file(const montage_run *r, const smp_found *file, smp_error *err)
{
    struct stat status;
    for (size_t i = 0; i < r->pages; i++)
        if (stat(r->paths[i], &status) == 0 && status.st_ino == file->inode &&
            (uint32_t)status.st_dev == file->device) {
            smp_fail(err, SMP_E_WRITE, "the output lies among the inputs");
            smp_hint(err, "remove it where it is an earlier page, or write it elsewhere");
            return smp_at(err, "%s", r->paths[i]);
        }
    return SMP_OK;
}

static smp_code find_files(montage_run *r, const smp_program *program, smp_error *err)
{
    const smp_many_settings *many = &r->settings->many;
    const smp_find_options walk = smp_many_walk(many, program);
    SMP_TRY(smp_many_find(many, &walk, &r->found, NULL, err));
    r->count = r->found.count;
    SMP_NEED(r->files = smp_alloc_array(r->count, sizeof *r->files), "the list of files", r->count, err);
    smp_code code = name_pages(r, err);
    for (size_t i = 0; !code && i < r->found.count; i++) {
        r->files[i] = smp_found_at(&r->found, i);
        code = keep_file(r, r->files[i], err);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_code run_files(montage_run *r, const smp_program *program, smp_error *err)
{
    const smp_common *common = &r->settings->many.plan.base.common;
    size_t failed = 0;
    SMP_NEED(r->inputs = smp_alloc_array(r->count + 1, sizeof *r->inputs), "the files", r->count, err);
    for (size_t i = 0; i < r->count; i++)
        r->inputs[i] = r->files[i]->path;
    smp_code code =
        smp_small_pictures(&r->settings->many, program, "montage", r->files, r->count, draw, r, &failed, err);
    if (!code && (code = r->broken.code))
        *err = r->broken;
    if (!code && !common->quiet)
        for (size_t i = 0; i < r->pages && r->written; i++)
            if (strcmp(r->paths[i], "-") != 0 && access(r->paths[i], F_OK) == 0)
                smp_text_line(stdout, "%s", r->paths[i]);
    return code ? code : failed ? SMP_E_PROCESS : SMP_OK;
}

static void free_run(montage_run *r)
{
    for (size_t i = 0; r->paths && r->paths[i]; i++)
        smp_free(r->paths[i]);
    smp_free_all(r->paths, r->inputs, r->files);
    smp_montage_page_free(&r->page);
    smp_found_free(&r->found);
}

/* The cell that the largest pictures fit in, by their headers; who cannot be read is told later. */
static void fit_cell(montage_run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        smp_reader *reader = NULL;
        if (!smp_reader_open(r->files[i]->path, &r->settings->many.plan.base.common.read, &reader, NULL)) {
            const smp_media *media = smp_reader_media(reader);
            const bool turned = media->orientation >= 5, picture = media->shape.kind == SMP_IMAGE;
            const int64_t across = picture ? media->shape.width : 1, down = picture ? media->shape.height : 1;
            r->look.cell_width = smp_max_i64(r->look.cell_width, turned ? down : across);
            r->look.cell_height = smp_max_i64(r->look.cell_height, turned ? across : down);
        }
        smp_reader_close(reader);
    }
}

static smp_code make(void *given, const smp_program *program, smp_diags *, smp_error *err)
{
    montage_run *r = given;
    smp_code code = find_files(r, program, err);
    if (!code && !r->look.cell_width)
        fit_cell(r);
    smp_montage_ink(&r->look);
    r->look.columns = smp_min_i64(r->settings->columns, smp_max_i64(1, (int64_t)r->count));
    code = code ? code : check_pages(r, err);
    if (!code) { /* whether a full page is possible, before files are read */
        const int64_t cells = smp_min_i64((int64_t)r->per_page, (int64_t)r->count);
        code = smp_montage_page_make(&r->look, (cells - 1) / r->look.columns + 1,
                                     r->settings->many.plan.base.common.read.limits.max_pixels, &r->page, err);
        smp_montage_page_free(&r->page);
    }
    if (!code && strcmp(r->settings->out, "-") != 0)
        code = smp_make_folders(r->settings->out, err);
    if (!code) {
        smp_cli_confine_many(&r->settings->many, program, &r->found, r->settings->out);
        code = run_files(r, program, err);
    }
    free_run(r);
    return code;
}

/* "200x150"; a number alone is both sides; auto: not known yet, 0. */
static bool parse_cell(const char *text, smp_montage *look)
{
    enum { MOST = 10000 };
    char *end;
    if (!strcmp(text, "auto"))
        return true;
    look->cell_width = look->cell_height = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : 0;
    if (!look->cell_width)
        return false;
    if (*end == 'x' && end[1] >= '0' && end[1] <= '9')
        look->cell_height = strtoll(end + 1, &end, 10);
    return !*end && look->cell_width >= 8 && look->cell_width <= MOST && look->cell_height >= 8 &&
           look->cell_height <= MOST;
}

static smp_code check_settings(const montage_settings *s, smp_montage *look, smp_error *err)
{
    if (!s->out) {
        const smp_strings *in = &s->many.inputs;
        const char *last = in->count ? in->items[in->count - 1] : "";
        const bool named = in->count > 1 && smp_writer_kind(last) == SMP_IMAGE && access(last, F_OK) != 0;
        smp_fail(err, SMP_E_USAGE, "the output is missing");
        return smp_hint(err, "write -o %.200s", named ? last : "sheet.png");
    }
    if (!parse_cell(s->cell, look))
        return smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid value for --cell", s->cell),
               smp_hint(err, "it takes width x height in pixels, 8 to 10000, as in 200x150, or auto");
    if (!smp_montage_ground(look, s->background)) {
        smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid value for --background", s->background);
        return smp_hint(
            err, "it takes white, black, gray, red, navy and other names of CSS, a colour as '#ffeedd', or none");
    }
    look->gap = s->gap;
    look->labels = s->labels != LABEL_NONE;
    smp_cli_idle_options(&s->many.plan.base.common, &s->write, s->out, NULL, NULL);
    return smp_cli_check_stdout(s->out, err);
}

static smp_code montage(void *given, smp_error *err)
{
    montage_settings *s = given;
    smp_pipeline_settings *base = &s->many.plan.base;
    montage_run run = {.settings = s};
    smp_code code = check_settings(s, &run.look, err);
    code = code ? code : smp_many_open(&s->many, err);
    if (code) {
        smp_many_close(&s->many);
        return code;
    }
    char *text = run.look.cell_width ? smp_asprintf("resize width=%lld height=%lld enlarge=no",
                                                    (long long)run.look.cell_width, (long long)run.look.cell_height)
                                     : smp_strdup("depth 8bit");
    if (!text || !smp_grow(&base->stages.items, &base->stages.capacity, 3, sizeof *base->stages.items))
        code = smp_fail_memory(err, "a stage", 100);
    else {
        base->stages.items[base->stages.count++] = "profile srgb unusable=srgb";
        base->stages.items[base->stages.count++] = text;
        base->stages.items[base->stages.count++] = "depth 8bit";
        smp_cli_stop_gently();
        code = smp_cli_with_program(base, NULL, make, &run, err);
    }
    smp_free(base->stages.items);
    base->stages = (smp_strings){0};
    smp_free(text);
    smp_many_close(&s->many);
    return code;
}

const smp_command smp_command_montage = {
    .name = "montage",
    .help = "contact sheets: many pictures on a page, with their names",
    .about =
        "Every picture is made to fit its cell, turned upright as its EXIF says, and laid in the middle of it, row by "
        "row in the order of names; its file's name stands below. A file that cannot be read keeps its cell, crossed "
        "out, is listed at the end, and the exit status is 1. A full page is followed by another. Pages are 8-bit "
        "sRGB, to which colours are brought by their profiles, without metadata. Prints the names of the pages.",
    .meant = (const smp_alias[]){{"geometry size thumbnail resize", "--cell 200x200, or --cell auto --gap 0 for +0+0"},
                                 {"tile", "--columns 5 --rows 6"},
                                 {"label", "--labels name"},
                                 {"frames bordercolor border padding spacing", "--gap 10"},
                                 {0}},
    .settings_size = sizeof(montage_settings),
    .without = SMP_O_SOUNDS,
    .groups = {{"options", options}, SMP_WRITE_GROUP(montage_settings, write), SMP_MANY_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe montage photos/ -o sheet.jpg", "30 pictures a page, 5 side by side"},
                 {"smempipe montage icons/ -o sprites.png --cell auto --gap 0 --labels none --background none --rows 0",
                  "icons as large as they are, on a transparent ground"},
                 {"smempipe montage scans/ -r -o all.png --columns 10 --rows 0 --cell 120x160 --labels none",
                  "all on one page, without names"}},
    .run = montage,
};
