/* kernel: a CUDA kernel of the user's, from a file beside the pipe file. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/foreign.h"
#include "stages/stage.h"

enum { MOST_VARIANTS = 12, NAME = 64 };

typedef struct params {
    const char *file, *name, *variants, *block, *tile, *grid, *args;
    int over;
    int64_t shared, reach, width, height, channels; /* INT64_MIN: auto */
} params;

#define TEXT(name, fallback, help, flags)                                                                              \
#name, offsetof(params, name), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, fallback, help, NULL, flags
#define COUNT(name, unit, least, most, fallback, help)                                                                 \
#name, offsetof(params, name), SMP_T_INT, unit, least, most, fallback, help, NULL, SMP_P_AUTO
static const smp_param table[] = {
    {TEXT(file, NULL, "a .cu, which is compiled by nvcc, or a .ptx of any compiler; below the pipe file's folder",
          SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_FILE)},
    {TEXT(name, NULL, "the kernel, by its name in the source; needed where the file has several", 0)},
    {TEXT(variants, NULL, "several kernels of the file, a,b,c: the last one runs, compare holds all against the first",
          0)},
    {TEXT(block, "16x16", "threads of a block", 0)},
    {TEXT(tile, NULL,
          "what a block covers: pixels across x down, or with one number samples in a row; without it, a thread each",
          0)},
    {TEXT(grid, NULL, "blocks, instead of as many as cover the output", 0)},
    {TEXT(args, "\"(in, out, width, height)\"", "what the kernel's parameters are given: pictures, sizes, numbers", 0)},
    SMP_PARAM_ENUM(over, "output", "which picture the tiles of all blocks cover", 0, "output", "input"),
    SMP_PARAM_INT(shared, NONE, 0, 232448, "0", "dynamic shared memory of a block, bytes", 0),
    {COUNT(reach, SMP_UNIT_PX, 0, 65536, "auto",
           "rows above and below that an output row needs: the picture then streams by strips; auto: it is one piece")},
    {COUNT(width, SMP_UNIT_PX, 1, 1e6, "auto", "of the output; auto: the input's")},
    {COUNT(height, SMP_UNIT_PX, 1, 1e6, "auto", "of the output; auto: the input's")},
    {COUNT(channels, SMP_UNIT_NONE, 1, SMP_MAX_CHANNELS, "auto", "of the output; auto: the input's")},
    {0},
};

static bool given(int64_t v)
{
    return v != INT64_MIN;
}

static smp_code read_shape(const char *name, const char *text, smp_foreign_dims *dims, smp_error *err)
{
    if (!text || smp_foreign_read_dims(text, dims))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "%s=%.40s is not a shape", name, text);
    return smp_hint(err, "write %s=256, %s=32x8 or %s=8x8x4", name, name, name);
}

/* Reads the parameters that are texts. */
static smp_code read_texts(const params *p, smp_foreign *to, smp_error *err)
{
    smp_code code = read_shape("block", p->block, &to->block, err);
    code = code ? code : read_shape("grid", p->grid, &to->grid, err);
    to->tile = to->block;
    code = code ? code : read_shape("tile", p->tile, &to->tile, err);
    if (!code && (uint64_t)to->block.n[0] * to->block.n[1] * to->block.n[2] > SMP_FOREIGN_THREADS)
        code = smp_fail(err, SMP_E_PIPE, "block=%s has more than %d threads", p->block, SMP_FOREIGN_THREADS);
    to->over_input = p->over == 1;
    to->shared = (uint32_t)p->shared;
    to->reach = given(p->reach) ? p->reach : -1;
    return code ? code : smp_foreign_read_args(p->args, NULL, to, err);
}

static smp_code check(const void *given_params, smp_error *err)
{
    const params *p = given_params;
    smp_foreign texts = {.reach = 0};
    if (p->name && p->variants)
        return smp_fail(err, SMP_E_PIPE, "name and variants both name kernels: one of them is enough");
    if (given(p->reach) && given(p->height))
        return smp_fail(err, SMP_E_PIPE, "with reach the output is as high as the input: leave out height");
    return read_texts(p, &texts, err);
}

/* ------------------------------------------------------------------------------------------------ kernels */

static smp_code find_entry(const smp_foreign_file *file, const char *name, const smp_foreign_entry **out,
                           smp_error *err)
{
    char names[300] = "";
    size_t used = 0, found = 0;
    for (size_t i = 0; i < file->count; i++) {
        const smp_foreign_entry *e = &file->entries[i];
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", e->name);
        if (!name || !strcmp(name, e->name) || !strcmp(name, e->symbol)) {
            *out = e;
            found++;
        }
    }
    if (found == 1)
        return SMP_OK;
    if (!file->count)
        smp_fail(err, SMP_E_PIPE, "'%s' has no kernel", file->path);
    else if (!found)
        smp_fail(err, SMP_E_PIPE, "'%s' has no kernel '%s'", file->path, name);
    else
        smp_fail(err, SMP_E_PIPE, "'%s' has several kernels%s%s", file->path, name ? " called " : "", name ? name : "");
    return file->count ? smp_hint(err, "write name=NAME; it has: %.250s", names) : SMP_E_PIPE;
}

/* Up to the next comma that is not between the brackets of template arguments or parameters. */
static size_t name_size(const char *names)
{
    size_t at = 0;
    for (int depth = 0; names[at] && (names[at] != ',' || depth > 0); at++)
        depth += (names[at] == '<' || names[at] == '(') - (names[at] == '>' || names[at] == ')');
    return at;
}

/* The n-th of "a,b,c"; false: there are fewer. */
static bool nth_name(const char *names, size_t n, char name[NAME])
{
    for (; names && *names; names += names[0] == ',') {
        const size_t size = name_size(names);
        if (!n--) {
            snprintf(name, NAME, "%.*s", (int)(size < NAME ? size : NAME - 1), names);
            return true;
        }
        names += size;
    }
    return false;
}

/* The launches of the variants, which lie in the plan's table, since they must live as long as it. */
typedef struct made {
    smp_variant variants[MOST_VARIANTS + 1];
    smp_foreign kernels[MOST_VARIANTS], copy;
    char names[MOST_VARIANTS][NAME];
} made;

static smp_code make_variants(const params *p, const smp_foreign_file *file, const smp_shape *in, const smp_shape *out,
                              made *m, smp_error *err)
{
    size_t count = 0;
    smp_foreign texts = {.in = in->format, .out = out->format, .file = file};
    smp_code code = read_texts(p, &texts, err);
    m->copy = (smp_foreign){.copies = true, .reach = -1, .block = {{1, 1, 1}, 1}};
    while (!code &&
           (p->variants ? nth_name(p->variants, count, m->names[count < MOST_VARIANTS ? count : 0]) : !count)) {
        if (count == MOST_VARIANTS)
            return smp_fail(err, SMP_E_PIPE, "variants names more than %d kernels", MOST_VARIANTS);
        smp_foreign *k = &m->kernels[count];
        *k = texts;
        code = find_entry(file, p->variants ? m->names[count] : p->name, &k->entry, err);
        code = code ? code : smp_foreign_read_args(p->args, k->entry, k, err);
        if (!p->variants && !code)
            snprintf(m->names[0], NAME, "%s", k->entry->name);
        smp_variant *v = &m->variants[count];
        *v = (smp_variant){.name = m->names[count], .help = "a kernel of the file"};
        v->launches[0] = (smp_launch){.from = SMP_IN, .to = k->reach < 0 ? SMP_SCRATCH : SMP_OUT, .foreign = k};
        if (k->reach < 0) {
            v->launches[0].once = true;
            v->launches[1] = (smp_launch){.from = SMP_SCRATCH, .to = SMP_OUT, .foreign = &m->copy};
        }
        count++;
    }
    return code || count ? code : smp_fail(err, SMP_E_PIPE, "variants names no kernel");
}

/* Opens the kernel's file. Errors in it are reported at the stage that names it. */
static smp_code open_file(const params *p, const smp_foreign_file **file, smp_error *err)
{
    const smp_code code = smp_foreign_open(p->file, file, err);
    if (!code || code == SMP_E_MEMORY || !err)
        return code;
    const smp_error was = *err;
    smp_fail(err, SMP_E_PIPE, "%s%s%s", was.where, was.where[0] ? ": " : "", was.message);
    if (was.hint[0])
        smp_hint(err, "%s", was.hint);
    return SMP_E_PIPE;
}

static smp_code examine(const void *given_params, smp_error *err)
{
    static const smp_shape any = {.kind = SMP_IMAGE, .width = 1, .height = 1, .channels = 1};
    const params *p = given_params;
    const smp_foreign_file *file;
    smp_code code = smp_foreign_open(p->file, &file, err);
    if (code == SMP_E_DEVICE)
        return code;
    if (code)
        code = open_file(p, &file, err); /* in the words of a plan */
    made *m = code ? NULL : smp_alloc(sizeof *m);
    if (!code)
        code = m ? make_variants(p, file, &any, &any, m, err) : smp_fail_memory(err, "kernels", sizeof *m);
    smp_free(m);
    return code;
}

static smp_code plan(const void *given_params, const smp_shape *in, const smp_shape *, smp_node_plan *work,
                     smp_error *err)
{
    const params *p = given_params;
    const smp_foreign_file *file;
    SMP_TRY(open_file(p, &file, err));
    work->out.width = given(p->width) ? p->width : in->width;
    work->out.height = given(p->height) ? p->height : in->height;
    if (given(p->channels)) {
        work->out.channels = (int)p->channels;
        work->out.alpha = in->alpha && p->channels == in->channels;
    }
    if (smp_max_i64(in->width * in->channels, work->out.width * work->out.channels) *
            smp_max_i64(in->height, work->out.height) >
        INT32_MAX)
        return smp_fail(err, SMP_E_PIPE, "the picture has more samples than an int of a kernel can count");
    made *m = smp_alloc(sizeof *m);
    SMP_NEED(m, "kernels", sizeof *m, err);
    smp_code code = make_variants(p, file, in, &work->out, m, err);
    if (code) {
        smp_free(m);
        return code;
    }
    work->table.data = m;
    work->table.size = sizeof *m;
    work->variants = m->variants;
    work->values.exactness = SMP_INTEGER;
    work->values.stored = true;
    if (given(p->reach)) {
        work->access = SMP_STENCIL;
        work->rows.up = work->rows.down = p->reach;
    } else
        work->between = work->out;
    work->ops = 1;
    return SMP_OK;
}

/* Variants of the stage while it has no file. */
static const smp_variant variants[] = {
    {.name = "naive", .help = "the kernel that the pipeline names; variants=a,b,c gives it a ladder"},
    {0},
};

const smp_stage smp_stage_kernel = {
    .name = "kernel",
    .help = "run a CUDA kernel from a .cu or .ptx file",
    .about =
        "The kernel gets `in` and `out` as arrays of samples without gaps, channel by channel, pixel by pixel, row by "
        "row, of the picture's type: unsigned char (0..255), unsigned short or float (0..1); `depth float` before it "
        "makes floats. args gives its parameters in their order: in, out, width, height, channels, pixels (width * "
        "height), samples (times channels), stride (samples of a row), out_width, out_height, out_channels, "
        "out_pixels, out_samples, or a number.\n"
        "A GPU runs it as it is. Without a GPU the kernel lab executes it, instruction by instruction, to the same "
        "bytes: slow (some 100 million instructions a second), and a race, an access outside the pictures or "
        "uninitialised shared memory is an error that names the line. Only device code is compiled and run, never code "
        "of the host. A .cu needs nvcc; a .ptx needs nothing.\n"
        "Without reach the kernel gets the whole picture and runs once. With reach=N it gets strips with N more rows "
        "above and below where the picture has them; height is then that of the strip, y the picture's row that it "
        "begins with, whole_height the picture's height.",
    .example = "kernel \"blur3.ptx\" name=blur3 block=32x8 args=(in, out, width, height, 3.5)",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, variants),
    .check = check,
    .examine = examine,
    .hints = SMP_HINTS(.aliases =
                           SMP_ALIASES({"cuda", "kernel \"my.cu\" name=NAME"}, {"ptx", "kernel \"my.ptx\" name=NAME"})),
};
