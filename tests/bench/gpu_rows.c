/* The table of rows: see gpu_rows.h. */
#include "gpu_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const gpu_size full = {16384, 16384}, half = {16384, 8192}, ragged = {16381, 8191}, small = {517, 389};
static const gpu_size tiny_full = {80, 64}, tiny_half = {80, 32}, tiny_ragged = {77, 31}, tiny_small = {83, 61};

typedef struct table {
    gpu_row rows[GPU_ROWS_MOST];
    size_t count;
    bool tiny;
} table;

static const smp_format formats[] = {SMP_U8, SMP_U16, SMP_F32};
static const int few_channels[] = {1, 3, 4};

/* ------------------------------------------------------------------------------------------------ making rows */

static gpu_bar of_copy(double value)
{
    return (gpu_bar){GPU_BAR_COPY, value, NULL};
}

static gpu_bar of_read(double value)
{
    return (gpu_bar){GPU_BAR_READ, value, NULL};
}

static gpu_bar times_peer(double value, const char *peer)
{
    return (gpu_bar){GPU_BAR_PEER, value, peer};
}

/* A row over pictures, named "NAME u8x3"; the caller adds what differs. Past the end it is the last one, again. */
static gpu_row *add(table *t, const char *group, const char *name, const char *line, smp_format format, int channels)
{
    gpu_row *row = &t->rows[t->count < GPU_ROWS_MOST ? t->count++ : GPU_ROWS_MOST - 1];
    *row = (gpu_row){
        .group = group,
        .lines = {line},
        .kind = SMP_IMAGE,
        .format = format,
        .channels = channels,
        .size = t->tiny ? tiny_full : full,
        .round = t->tiny ? tiny_half : half,
        .ragged = t->tiny ? tiny_ragged : ragged,
        .small = t->tiny ? tiny_small : small,
    };
    snprintf(row->name, sizeof row->name, "%s %sx%d", name, smp_format_name(format), channels);
    return row;
}

static void append(gpu_row *row, const char *text)
{
    size_t length = strlen(row->name);
    snprintf(row->name + length, sizeof row->name - length, " %s", text);
}

/* ------------------------------------------------------------------------------------------------ moves */

static void add_moves(table *t)
{
    static const struct {
        const char *name, *peer;
        double bar;
    } moves[] = {
        {"transpose", "NPP transpose", 0.94},  {"rotate 90", NULL, 0.94},
        {"rotate 180", "NPP mirror", 0.98},    {"flip horizontal", "NPP mirror", 0.98},
        {"flip vertical", "NPP mirror", 0.98},
    };
    for (size_t m = 0; m < sizeof moves / sizeof moves[0]; m++)
        for (size_t f = 0; f < 3; f++)
            for (size_t c = 0; c < 3; c++) {
                const char *group = m < 2 ? "transpose, rotate 90" : "rotate 180, flip";
                gpu_row *row = add(t, group, moves[m].name, moves[m].name, formats[f], few_channels[c]);
                row->bars[0] = of_copy(moves[m].bar);
                row->peers[0] = moves[m].peer;
                if (m == 0 && formats[f] == SMP_F32 && few_channels[c] == 1)
                    row->peers[1] = "cuBLAS sgeam";
            }
    gpu_row *row = add(t, "transpose, rotate 90", "transpose", "transpose", SMP_F32, 1);
    append(row, "8192");
    if (!t->tiny)
        row->size = (gpu_size){8192, 8192};
    row->ragged = row->round = (gpu_size){0, 0};
    row->bars[0] = of_copy(0.97);
    row->peers[0] = "NPP transpose";
    row->peers[1] = "cuBLAS sgeam";
}

/* ------------------------------------------------------------------------------------------------ stencils */

static void add_stencils(table *t)
{
    static const struct {
        const char *name, *line;
        int taps;
        smp_format format;
        int channels;
        double bar;
        const char *peer;
    } blurs[] = {
        {"gaussian 5 taps", "gaussian 0.5px", 5, SMP_U8, 1, 0.85, "NPP gauss"},
        {"gaussian 5 taps", "gaussian 0.5px", 5, SMP_U8, 3, 0.87, "NPP gauss"},
        {"gaussian 5 taps", "gaussian 0.5px", 5, SMP_F32, 1, 0.82, "NPP gauss"},
        {"gaussian 15 taps", "gaussian 1.75px", 15, SMP_U8, 1, 0.55, "NPP gauss"},
        {"gaussian 15 taps", "gaussian 1.75px", 15, SMP_U8, 3, 0.55, "NPP gauss"},
        {"gaussian 15 taps", "gaussian 1.75px", 15, SMP_F32, 1, 0.75, "NPP gauss"},
        {"gaussian 31 taps", "gaussian 3.75px", 31, SMP_F32, 1, 0.60, "NPP gauss advanced"},
        /* no bars: what else people blur by, and in which formats */
        {"gaussian 15 taps", "gaussian 1.75px", 15, SMP_U16, 1, 0, "NPP gauss"},
        {"gaussian 15 taps", "gaussian 1.75px", 15, SMP_U16, 3, 0, "NPP gauss"},
        {"gaussian 21 taps", "gaussian 2.5px", 21, SMP_U8, 1, 0, "NPP gauss advanced"},
        {"gaussian 33 taps", "gaussian 4px", 33, SMP_U8, 1, 0, "NPP gauss advanced"},
        {"gaussian 33 taps", "gaussian 4px", 33, SMP_U8, 3, 0, "NPP gauss advanced"},
        {"gaussian 33 taps", "gaussian 4px", 33, SMP_F32, 3, 0, "NPP gauss advanced"},
        {"gaussian 65 taps", "gaussian 8px", 65, SMP_U8, 1, 0, "NPP gauss advanced"},
        {"gaussian 65 taps", "gaussian 8px", 65, SMP_F32, 1, 0, "NPP gauss advanced"},
    };
    for (size_t i = 0; i < sizeof blurs / sizeof blurs[0]; i++) {
        gpu_row *row = add(t, "gaussian", blurs[i].name, blurs[i].line, blurs[i].format, blurs[i].channels);
        if (blurs[i].bar > 0)
            row->bars[0] = of_copy(blurs[i].bar);
        row->peers[0] = blurs[i].peer;
        row->taps = blurs[i].taps;
    }
    /* neither symmetric nor separable */
    static const char general[] =
        "convolve [0.011 0.023 0.005 0.031 0.017 0.002 0.029; 0.019 0.007 0.013 0.037 0.003 "
        "0.041 0.006; 0.021 0.043 0.009 0.047 0.014 0.008 0.012; 0.016 0.004 0.053 0.059 0.018 "
        "0.022 0.001; 0.024 0.015 0.026 0.061 0.028 0.027 0.033; 0.010 0.034 0.032 0.020 0.025 "
        "0.030 0.012; 0.006 0.011 0.017 0.009 0.005 0.008 0.007]";
    static const struct {
        smp_format format;
        int channels;
    } kinds[] = {{SMP_U8, 1}, {SMP_U8, 3}, {SMP_F32, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        gpu_row *row = add(t, "convolve 7x7", "convolve 7x7", general, kinds[i].format, kinds[i].channels);
        row->bars[0] = times_peer(4, "NPP filter");
        row->peers[0] = "NPP filter";
        row->taps = 7;
    }
    for (int channels = 1; channels <= 3; channels += 2) {
        gpu_row *row = add(t, "sobel", "sobel magnitude", "sobel", SMP_U8, channels);
        row->bars[0] = of_copy(0.85);
        row->peers[0] = channels == 1 ? "NPP sobel vectors" : NULL;
    }
}

/* ------------------------------------------------------------------------------------------------ reductions */

static const char *const fill_names[GPU_FILLS] = {"random", "constant", "skewed", "runs", "photo"};

static gpu_row *add_histogram(table *t, const char *line, int bins, smp_format format, int channels, gpu_fill fill)
{
    char name[32] = "histogram";
    if (format != SMP_U8)
        snprintf(name, sizeof name, "histogram %d bins", bins);
    gpu_row *row = add(t, "histogram", name, line, format, channels);
    append(row, fill_names[fill]);
    row->fill = fill;
    row->bins = bins;
    row->reduces = true;
    row->peers[0] = "CUB histogram";
    return row;
}

static void add_reductions(table *t)
{
    for (int channels = 1; channels <= 3; channels += 2)
        for (int fill = 0; fill < GPU_FILLS; fill++) {
            gpu_row *row = add_histogram(t, "histogram", 256, SMP_U8, channels, (gpu_fill)fill);
            row->bars[0] = of_read(0.95);
            row->peers[1] = channels == 1 ? "NPP histogram" : NULL;
        }
    static const struct {
        const char *line;
        int bins;
    } many[] = {{"histogram 256", 256},
                {"histogram 1024", 1024},
                {"histogram 4096", 4096},
                {"histogram 16384", 16384},
                {"histogram 65536", 65536}};
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        for (int fill = GPU_RANDOM; fill <= (i == 0 ? GPU_RANDOM : GPU_SKEWED); fill++) {
            gpu_row *row = add_histogram(t, many[i].line, many[i].bins, SMP_U16, 1, (gpu_fill)fill);
            row->bars[0] = i == 0 ? of_read(0.95) : times_peer(1, "CUB histogram");
        }
    for (size_t f = 0; f < 3; f++) {
        gpu_row *row = add(t, "stats", "stats", "stats", formats[f], 1);
        row->reduces = true;
        row->bars[0] = of_read(0.97);
        row->peers[0] = "CUB sum";
        row->peers[1] = "NPP mean and deviation";
        if (formats[f] == SMP_F32)
            row->bars[1] = times_peer(1, "CUB sum");
    }
}

/* ------------------------------------------------------------------------------------------------ arithmetic */

enum { FIR_TAPS = 255 };

/* A low-pass of 255 taps: no two neighbours are equal, and none is zero. */
static const char *fir_line(void)
{
    static char line[FIR_TAPS * 14 + 16];
    size_t at = (size_t)snprintf(line, sizeof line, "fir [");
    for (int i = 0; i < FIR_TAPS; i++) {
        double t = (i - FIR_TAPS / 2) * 0.31, window = 0.54 + 0.46 * cos(3.14159265358979 * (i - FIR_TAPS / 2) / 128);
        double tap = (t == 0 ? 1 : sin(t) / t) * window * 0.1;
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%.7f", i ? " " : "", tap);
    }
    snprintf(line + at, sizeof line - at, "]");
    return line;
}

static void add_arithmetic(table *t)
{
    for (int64_t side = 4096; side <= 8192; side *= 2) {
        gpu_row *row = add(t, "matmul", "matmul", "matmul with=@input", SMP_F32, 1);
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)side);
        append(row, text);
        int64_t n = t->tiny ? side / 64 : side;
        row->size = (gpu_size){n, n};
        row->round = side == 4096 ? row->size : (gpu_size){0, 0};
        row->ragged = side == 4096 ? (gpu_size){n - 3, n - 3} : (gpu_size){0, 0};
        row->small = t->tiny ? (gpu_size){37, 37} : (gpu_size){389, 389};
        row->bars[0] = times_peer(0.92, "cuBLAS sgemm");
        row->peers[0] = "cuBLAS sgemm";
    }
    for (int channels = 1; channels <= 2; channels++) {
        gpu_row *row = add(t, "fir", "fir 255 taps", fir_line(), SMP_F32, channels);
        row->kind = SMP_AUDIO;
        row->taps = FIR_TAPS;
        row->size = (gpu_size){1, t->tiny ? 3000 : INT64_C(1) << 28};
        row->round = (gpu_size){1, t->tiny ? 2048 : INT64_C(1) << 27};
        row->ragged = (gpu_size){1, row->round.height - 13};
        row->small = (gpu_size){1, t->tiny ? 1777 : 100003};
        row->bars[0] = (gpu_bar){GPU_BAR_FMA, 0.70, NULL};
    }
}

/* ------------------------------------------------------------------------------------------------ the table */

const gpu_row *gpu_rows(bool tiny, size_t *count)
{
    static table tables[2];
    table *t = &tables[tiny];
    if (!t->count) {
        t->tiny = tiny;
        add_stencils(t);
        add_reductions(t);
        add_arithmetic(t);
        add_moves(t);
    }
    *count = t->count;
    return t->rows;
}

void gpu_size_text(const gpu_row *row, gpu_size size, char *text, size_t text_size)
{
    const char *format = smp_format_name(row->format);
    if (row->kind == SMP_AUDIO)
        snprintf(text, text_size, "%sx%d %lld frames", format, row->channels, (long long)size.height);
    else
        snprintf(text, text_size, "%sx%d %lldx%lld", format, row->channels, (long long)size.width,
                 (long long)size.height);
}

void gpu_bar_text(const gpu_bar *bar, char *text, size_t size)
{
    switch (bar->kind) {
    case GPU_BAR_COPY:
        snprintf(text, size, "at least %g of copy", bar->value);
        return;
    case GPU_BAR_READ:
        snprintf(text, size, "at least %g of read", bar->value);
        return;
    case GPU_BAR_PEER:
        snprintf(text, size, "at least %g x %s", bar->value, bar->peer);
        return;
    case GPU_BAR_FMA:
        snprintf(text, size, "at least %g of the f32 peak", bar->value);
        return;
    default:
        snprintf(text, size, "none");
    }
}
