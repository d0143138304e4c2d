/* The rows of the GPU benchmark: what work, on what data, how fast it shall be and beside which of NVIDIA's libraries.
 * Bars are shares of what the same run measured: a copy, a pure read, a library's call, the GPU's peak. */
#ifndef SMP_TESTS_BENCH_GPU_ROWS_H
#define SMP_TESTS_BENCH_GPU_ROWS_H

#include "stages/stage.h"

enum { GPU_LINES = 5, GPU_BARS = 2, GPU_PEERS = 3, GPU_ROWS_MOST = 128 };

typedef enum gpu_fill {               /* what the input holds */
                        GPU_RANDOM,   /* every code value equally often; f32: 0..1; sound: -1..1 */
                        GPU_CONSTANT, /* one value */
                        GPU_SKEWED,   /* nine of ten samples in sixteen values */
                        GPU_RUNS,     /* runs of 64 equal pixels */
                        GPU_PHOTO,    /* samples of a photograph when one is given, else slopes with noise */
                        GPU_FILLS
} gpu_fill;

typedef enum gpu_bar_kind {
    GPU_BAR_NONE,
    GPU_BAR_COPY, /* bytes a second, at least this share of the copy's */
    GPU_BAR_READ, /* the same of a pure read */
    GPU_BAR_PEER, /* at least so many times as fast as the named peer */
    GPU_BAR_FMA   /* operations a second, at least this share of the GPU's f32 peak */
} gpu_bar_kind;

typedef struct gpu_bar {
    gpu_bar_kind kind;
    double value;
    const char *peer; /* GPU_BAR_PEER: whose */
} gpu_bar;

typedef struct gpu_size {
    int64_t width, height; /* width 0: there is none */
} gpu_size;

typedef struct gpu_row {
    char name[48];                /* "transpose u8x3"; of a size of its own: "transpose f32x1 8192" */
    const char *group;            /* rows of one group stand together in the report */
    const char *lines[GPU_LINES]; /* statements, as with -e; the rest null */
    smp_kind kind;
    smp_format format;
    int channels;
    gpu_fill fill;
    gpu_size size;   /* that bars are about */
    gpu_size ragged; /* as many samples, nearly, as `round`, in an awkward size: its cost a sample may be 10 % higher */
    gpu_size round;
    gpu_size small; /* that the CPU checks */
    gpu_bar bars[GPU_BARS];
    const char *peers[GPU_PEERS]; /* names (gpu_libs.h); the rest null */
    int taps;                     /* gaussian, convolve (of a side), fir */
    int bins;                     /* histogram */
    bool reduces;                 /* nothing is written */
} gpu_row;

/* All rows, in the order in which they are measured; static storage. tiny: sizes for the emulator, a few thousand
 * samples. */
const gpu_row *gpu_rows(bool tiny, size_t *count);

/* "u8x3 16384x16384" of a row at a size; sound: "f32x2 268435456 frames". */
void gpu_size_text(const gpu_row *row, gpu_size size, char *text, size_t text_size);

/* "at least 0.94 of copy". */
void gpu_bar_text(const gpu_bar *bar, char *text, size_t size);

#endif
