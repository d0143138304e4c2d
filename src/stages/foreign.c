/* Launches of foreign kernels, common to all devices: see foreign.h. */
#include "stages/foreign.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

const char *const smp_foreign_words[] = {
    "in", "out",          NULL,        "width",      "height",       "channels",   "pixels",      "samples", "stride",
    "y",  "whole_height", "out_width", "out_height", "out_channels", "out_pixels", "out_samples", NULL};

void smp_foreign_prepare(const char *path, const smp_kernel_reach *reach)
{
    if (&smp_foreign_lab)
        smp_foreign_lab.prepare(path, reach);
}

smp_code smp_foreign_open(const char *path, const smp_foreign_file **out, smp_error *err)
{
    *out = NULL;
    return &smp_foreign_lab ? smp_foreign_lab.open(path, out, err)
                            : smp_fail(err, SMP_E_DEVICE, "this program cannot run kernels of files");
}

/* ------------------------------------------------------------------------------------------------ texts */

bool smp_foreign_read_dims(const char *text, smp_foreign_dims *dims)
{
    *dims = (smp_foreign_dims){{1, 1, 1}, 0};
    for (const char *at = text; dims->count < 3; at++) {
        char *end;
        const unsigned long value = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (!value || value > INT32_MAX)
            return false;
        dims->n[dims->count++] = (uint32_t)value;
        at = end;
        if (!*at)
            return true;
        if (*at != 'x')
            return false;
    }
    return false;
}

static bool is_float(const smp_foreign_param *param, const char *text)
{
    if (param->type[0] == 'b' && param->size >= 4) /* a compiler that does not tell: as it is written */
        return strpbrk(text, ".eE") != NULL;
    return param->type[0] == 'f';
}

static smp_code read_word(const char *text, const smp_foreign_param *param, size_t n, smp_foreign *to, smp_error *err)
{
    char *end;
    for (int w = 0; w < SMP_FOREIGN_WORDS; w++)
        if (smp_foreign_words[w] && !strcmp(smp_foreign_words[w], text)) {
            const bool picture = w == SMP_FOREIGN_IN || w == SMP_FOREIGN_OUT;
            to->words[n] = (smp_foreign_word)w;
            if (!param || (picture ? param->size == 8 && param->type[0] != 'f' : param->size >= 2 && param->size <= 8))
                return SMP_OK;
            return smp_fail(err, SMP_E_PIPE, "'%s' is %s, but parameter %zu of the kernel is %s (%s)", text,
                            picture ? "a picture" : "a number", n + 1, picture ? "not a pointer" : "not a number",
                            param->type);
        }
    to->words[n] = SMP_FOREIGN_NUMBER;
    to->numbers[n] = strtod(text, &end);
    if (end == text || *end || !isfinite(to->numbers[n]))
        return smp_fail(err, SMP_E_PIPE, "'%.40s' in args is nothing that a kernel can be given", text),
               smp_hint(err, "in, out, width, height, channels, pixels, samples, stride, y, whole_height, out_width, "
                             "out_height, out_channels, out_pixels, out_samples, or a number");
    if (!param)
        return SMP_OK;
    if (param->size > 8 || (param->type[0] == 'f' && param->size < 4))
        return smp_fail(err, SMP_E_PIPE,
                        "parameter %zu of the kernel is a structure or half float (%u bytes), which args cannot give",
                        n + 1, param->size);
    to->real[n] = is_float(param, text);
    if (to->real[n])
        return SMP_OK;
    if (to->numbers[n] != floor(to->numbers[n]))
        return smp_fail(err, SMP_E_PIPE, "parameter %zu of the kernel is an integer (%s), but args give %.40s", n + 1,
                        param->type, text);
    const double most = ldexp(1, 8 * (int)param->size); /* either sign's numbers of so many bits */
    if (to->numbers[n] < -most / 2 || to->numbers[n] >= (param->size == 8 ? most / 2 : most))
        return smp_fail(err, SMP_E_PIPE,
                        "parameter %zu of the kernel is an integer of %u bytes, which %.40s does not fit", n + 1,
                        param->size, text);
    if (param->size == 8 && param->type[0] == 'u' && to->numbers[n] != 0) {
        smp_fail(err, SMP_E_PIPE, "parameter %zu of the kernel is a pointer or a 64-bit number, but args give %.40s",
                 n + 1, text);
        return smp_hint(err, "in or out for a pointer; a kernel with numbers of 64 bits takes words such as pixels");
    }
    return SMP_OK;
}

/* Counts the words between commas. */
static size_t count_words(const char *at, const char *end)
{
    size_t count = at < end;
    for (; at < end; at++)
        count += *at == ',';
    return count;
}

/* "u64, u32, f32": what the kernel takes. */
static void signature(const smp_foreign_entry *entry, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < entry->param_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 entry->params[i].size == 8 && entry->params[i].type[0] != 'f' ? "pointer or u64"
                                                                                               : entry->params[i].type);
}

smp_code smp_foreign_read_args(const char *text, const smp_foreign_entry *entry, smp_foreign *to, smp_error *err)
{
    size_t length = strlen(text), count = 0;
    const bool closed = length >= 2 && text[0] == '(' && text[length - 1] == ')';
    const char *at = text + closed, *end = text + length - closed;
    char takes[200];
    if (entry && (entry->param_count > SMP_FOREIGN_PARAMS || entry->param_bytes > SMP_FOREIGN_PARAM_BYTES))
        return smp_fail(err, SMP_E_PIPE, "kernel '%s' has more parameters than a stage can give", entry->name);
    if (entry && count_words(at, end) != entry->param_count) {
        signature(entry, takes, sizeof takes);
        smp_fail(err, SMP_E_PIPE, "kernel '%s' has %zu parameters, but args give %zu", entry->name, entry->param_count,
                 count_words(at, end));
        return smp_hint(err, "it takes: %s", takes);
    }
    for (; at < end; at++, count++) {
        char word[64];
        at += strspn(at, " \t");
        size_t size = 0;
        while (at + size < end && at[size] != ',')
            size++;
        size_t used = size;
        while (used && isspace((unsigned char)at[used - 1]))
            used--;
        if (!used || used >= sizeof word || count == SMP_FOREIGN_PARAMS)
            return smp_fail(err, SMP_E_PIPE, "args cannot be read at '%.20s'", at),
                   smp_hint(err, "write args=(in, out, width, height, 3.5)");
        snprintf(word, sizeof word, "%.*s", (int)used, at);
        const smp_foreign_param *param = entry && count < entry->param_count ? &entry->params[count] : NULL;
        SMP_TRY(read_word(word, param, count, to, err));
        at += size;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ a launch */

smp_foreign_rows smp_foreign_rows_of(const smp_foreign *k, const smp_io *io)
{
    smp_foreign_rows r = {io->in.y0, io->in.rows, io->out.y0, io->out.rows};
    if (k->reach < 0)
        return r;
    const int64_t first = smp_max_i64(io->out.y0 - k->reach, io->in.y0),
                  end = smp_min_i64(io->out.y0 + io->out.rows + k->reach, io->in.y0 + io->in.rows);
    return (smp_foreign_rows){first, end - first, first, end - first};
}

static int64_t number_of(const smp_foreign *k, const smp_io *io, size_t n)
{
    const smp_foreign_rows r = smp_foreign_rows_of(k, io);
    const int64_t in = io->in.width, out = io->out.width, c = io->in.channels, d = io->out.channels;
    switch (k->words[n]) {
    case SMP_FOREIGN_WIDTH:
        return in;
    case SMP_FOREIGN_HEIGHT:
        return r.in_count;
    case SMP_FOREIGN_CHANNELS:
        return c;
    case SMP_FOREIGN_PIXELS:
        return in * r.in_count;
    case SMP_FOREIGN_SAMPLES:
        return in * r.in_count * c;
    case SMP_FOREIGN_STRIDE:
        return in * c;
    case SMP_FOREIGN_Y:
        return r.in_first;
    case SMP_FOREIGN_WHOLE_HEIGHT:
        return io->in.height;
    case SMP_FOREIGN_OUT_WIDTH:
        return out;
    case SMP_FOREIGN_OUT_HEIGHT:
        return r.out_count;
    case SMP_FOREIGN_OUT_CHANNELS:
        return d;
    case SMP_FOREIGN_OUT_PIXELS:
        return out * r.out_count;
    case SMP_FOREIGN_OUT_SAMPLES:
        return out * r.out_count * d;
    default:
        return 0;
    }
}

bool smp_foreign_grid(const smp_foreign *k, const smp_io *io, uint32_t grid[3])
{
    enum { MOST_YZ = 65535 };
    const smp_foreign_rows r = smp_foreign_rows_of(k, io);
    const smp_view *over = k->over_input ? &io->in : &io->out;
    const int64_t width = over->width, channels = over->channels, rows = k->over_input ? r.in_count : r.out_count;
    const int64_t wanted[3] = {k->tile.count == 1 ? width * rows * channels : width, k->tile.count == 1 ? 1 : rows,
                               k->tile.count < 3 ? 1 : channels};
    for (int i = 0; i < 3; i++) {
        const int64_t blocks = k->grid.count ? k->grid.n[i] : (wanted[i] + k->tile.n[i] - 1) / k->tile.n[i];
        if (blocks > (i ? MOST_YZ : INT32_MAX))
            return false;
        grid[i] = (uint32_t)blocks;
    }
    return true;
}

void smp_foreign_fill(const smp_foreign *k, const smp_io *io, uint64_t in, uint64_t out,
                      unsigned char bytes[SMP_FOREIGN_PARAM_BYTES])
{
    memset(bytes, 0, SMP_FOREIGN_PARAM_BYTES);
    for (size_t i = 0; i < k->entry->param_count; i++) {
        const smp_foreign_param *p = &k->entry->params[i];
        unsigned char *to = bytes + p->offset;
        const bool number = k->words[i] == SMP_FOREIGN_NUMBER;
        const uint64_t whole = k->words[i] == SMP_FOREIGN_IN    ? in
                               : k->words[i] == SMP_FOREIGN_OUT ? out
                               : number                         ? (k->real[i] ? 0 : (uint64_t)(int64_t)k->numbers[i])
                                                                : (uint64_t)number_of(k, io, i);
        const double value = number ? k->numbers[i] : (double)(int64_t)whole;
        const float narrow = (float)value;
        const bool real = number ? k->real[i] : p->type[0] == 'f';
        if (real && p->size == 8)
            memcpy(to, &value, 8);
        else if (real)
            memcpy(to, &narrow, 4);
        else
            memcpy(to, &whole, p->size);
    }
}

/* ------------------------------------------------------------------------------------------------ rows */

static void convert(void *to, int to_format, const void *from, int from_format, int64_t samples)
{
    if (to_format == from_format)
        memcpy(to, from, (size_t)(samples * smp_sample_size(to_format)));
    else
        for (int64_t i = 0; i < samples; i++)
            smp_store(to, i, to_format, smp_load(from, i, from_format));
}

void smp_foreign_pack(const smp_view *view, int64_t first, int64_t count, smp_format format, void *to)
{
    const int64_t samples = view->width * view->channels, bytes = samples * smp_sample_size((int)format);
    for (int64_t y = 0; y < count; y++)
        convert((char *)to + y * bytes, (int)format, smp_row(view, first + y), view->format, samples);
}

void smp_foreign_unpack(const smp_view *view, int64_t first, int64_t count, smp_format format, const void *from)
{
    const int64_t samples = view->width * view->channels, bytes = samples * smp_sample_size((int)format);
    for (int64_t y = 0; y < count; y++)
        convert(smp_row(view, first + y), view->format, (const char *)from + y * bytes, (int)format, samples);
}

smp_code smp_foreign_run(const smp_foreign *k, const smp_io *io, smp_error *err)
{
    if (!k->copies)
        return &smp_foreign_lab ? smp_foreign_lab.run(k, io, err)
                                : smp_fail(err, SMP_E_DEVICE, "this program cannot run kernels of files");
    const int64_t samples = io->out.width * io->out.channels;
    for (int64_t y = io->out.y0; y < io->out.y0 + io->out.rows; y++)
        convert(smp_row(&io->out, y), io->out.format, smp_row(&io->in, y), io->in.format, samples);
    return SMP_OK;
}
