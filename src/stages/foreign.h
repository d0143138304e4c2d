/* Kernels that are not this program's: those of a file that a pipeline names. A launch of one is an smp_foreign in
 * place of functions of this program (smp_launch.foreign). The lab defines the operations (src/lab/stage), and devices
 * ask for them: an emulated device and the CPU have them executed by the lab's machine, a GPU gets their PTX. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "lib/view.h"

typedef struct smp_foreign_param {
    char type[8]; /* of PTX: "u64", "f32" */
    uint32_t offset, size;
} smp_foreign_param;

/* A kernel of a file. */
typedef struct smp_foreign_entry {
    const char *name, *symbol; /* in the source; in PTX */
    const smp_foreign_param *params;
    size_t param_count;
    uint32_t param_bytes, shared; /* shared: bytes that it declares */
    const char *problem;          /* why the warp machine cannot run it; null: it can */
} smp_foreign_entry;

typedef struct smp_foreign_file {
    const char *path, *ptx; /* ptx: null-terminated */
    const smp_foreign_entry *entries;
    size_t count;
    bool has_variables; /* of the device's memory, which kernels may change */
    const void *cubin;  /* what its counts are of, once it was counted; null: it was not, or in PTX */
    int cubin_arch;     /* 90 */
} smp_foreign_file;

/* Values that a parameter can be given. Sizes are of the rows that the kernel gets. */
typedef enum smp_foreign_word {
    SMP_FOREIGN_IN,
    SMP_FOREIGN_OUT,
    SMP_FOREIGN_NUMBER,
    SMP_FOREIGN_WIDTH,
    SMP_FOREIGN_HEIGHT,
    SMP_FOREIGN_CHANNELS,
    SMP_FOREIGN_PIXELS,  /* width * height */
    SMP_FOREIGN_SAMPLES, /* times channels */
    SMP_FOREIGN_STRIDE,  /* samples from a row to the next: width * channels */
    SMP_FOREIGN_Y,       /* where the first of its rows lies in the picture */
    SMP_FOREIGN_WHOLE_HEIGHT,
    SMP_FOREIGN_OUT_WIDTH,
    SMP_FOREIGN_OUT_HEIGHT,
    SMP_FOREIGN_OUT_CHANNELS,
    SMP_FOREIGN_OUT_PIXELS,
    SMP_FOREIGN_OUT_SAMPLES,
    SMP_FOREIGN_WORDS
} smp_foreign_word;
extern const char *const smp_foreign_words[]; /* "in", "out", null (a number), "width", ... */

enum { SMP_FOREIGN_PARAMS = 32, SMP_FOREIGN_PARAM_BYTES = 1024, SMP_FOREIGN_THREADS = 1024 };

/* A shape with so many of its numbers given; the others are 1. */
typedef struct smp_foreign_dims {
    uint32_t n[3];
    int count;
} smp_foreign_dims;

/* One launch. Pictures are given without gaps between rows and pixels. */
typedef struct smp_foreign {
    const smp_foreign_file *file;
    const smp_foreign_entry *entry;
    smp_foreign_word words[SMP_FOREIGN_PARAMS];
    double numbers[SMP_FOREIGN_PARAMS];
    bool real[SMP_FOREIGN_PARAMS];      /* the number is given as a float */
    smp_foreign_dims block, tile, grid; /* grid.count 0: as many blocks as tiles cover the output */
    bool over_input;                    /* tiles cover the input instead */
    uint32_t shared;                    /* dynamic shared memory, bytes */
    int64_t reach;                      /* rows that it needs above and below; -1: it gets whole pictures */
    smp_format in, out;                 /* of the samples */
    bool copies;                        /* no kernel: moves the rows of the output from the input */
} smp_foreign;

/* "32x8" */
bool smp_foreign_read_dims(const char *text, smp_foreign_dims *dims);

/* Reads "(in, out, width, 3.5)" for a kernel, and checks it against its parameters; entry null: words alone. */
smp_code smp_foreign_read_args(const char *text, const smp_foreign_entry *entry, smp_foreign *to, smp_error *err);

/* The rows of the input that a launch gives its kernel, and as many of an output. */
typedef struct smp_foreign_rows {
    int64_t in_first, in_count, out_first, out_count;
} smp_foreign_rows;
smp_foreign_rows smp_foreign_rows_of(const smp_foreign *k, const smp_io *io);

/* False: more blocks than a GPU takes. */
bool smp_foreign_grid(const smp_foreign *k, const smp_io *io, uint32_t grid[3]);

/* The bytes of its parameters, with pictures at these addresses. */
void smp_foreign_fill(const smp_foreign *k, const smp_io *io, uint64_t in, uint64_t out,
                      unsigned char bytes[SMP_FOREIGN_PARAM_BYTES]);

/* Copies rows of a view to memory without gaps, samples as `format`; and back. */
void smp_foreign_pack(const smp_view *view, int64_t first, int64_t count, smp_format format, void *to);
void smp_foreign_unpack(const smp_view *view, int64_t first, int64_t count, smp_format format, const void *from);

/* Limits of a pipeline's kernels: what they may read, and how long their compiler may take. Null stands for the user's
 * own kernels, which may read all that the user may. */
typedef struct smp_kernel_reach {
    const char *const *folders; /* null-terminated, from smp_real_path: that of the pipe file, and others allowed */
    double seconds;             /* of a compiler; 0: a minute */
    bool trusted;               /* as the user's own */
} smp_kernel_reach;

typedef struct smp_foreign_ops {
    /* The kernels of a .ptx file, or of a .cu, which is compiled. *out lives until the program ends. */
    smp_code (*open)(const char *path, const smp_foreign_file **out, smp_error *err);
    /* Runs a launch over views of host memory. A mistake of the kernel (a race, say) is an error. */
    smp_code (*run)(const smp_foreign *k, const smp_io *io, smp_error *err);
    void (*prepare)(const char *path, const smp_kernel_reach *reach);
} smp_foreign_ops;

/* Defined by the lab. A program that is linked without it has none: its address is null. */
extern const smp_foreign_ops smp_foreign_lab __attribute__((weak));

/* Opens a file ahead, so that it is at hand when a plan is made: a run that shut itself off from the file system could
 * not compile it any more. What is wrong with it is said when the plan is made. reach: what it may read, then, too; is
 * copied. A file that was not prepared may read its folder. */
void smp_foreign_prepare(const char *path, const smp_kernel_reach *reach);

/* The lab's; an error where there is none. `run` also copies. */
smp_code smp_foreign_open(const char *path, const smp_foreign_file **out, smp_error *err);
smp_code smp_foreign_run(const smp_foreign *k, const smp_io *io, smp_error *err);
