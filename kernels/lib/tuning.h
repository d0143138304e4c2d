/* Tile sizes, warps and band heights of the GPU launches, for the kernels and for src/stages/, which sizes their grids.
 * Each has its unit and what it trades. They were found by timing on an H100 (docs/why.md); other values give the same
 * bytes, in another time. What a definition fixes (SMP_CHUNK, SMP_FIR_BLOCK) stands in its family's header.
 *
 *   tile  what a block makes at a time: `across` samples of a row (pixels times channels), `down` rows
 *   strip columns that one warp owns in a `warp` or `mma` kernel; it walks down them, band by band
 *   band  output rows of a strip that one block makes; its halo is read and filtered again by the bands beside it
 *   warps (or blocks) an SM: the least that must fit, which caps the registers of a thread */
#pragma once

/* ---------------------------------------------------------------------------------------------- elementwise, pixels */

enum {
    SMP_BLOCK_THREADS = 256, /* threads a block: fewer give an SM too few loads under way, more end unevenly */
    SMP_BLOCKS_TABLES = 32,  /* blocks an SM, of kernels that make a table first: more balance better, but make more */
    SMP_GRAY_PIECE = 512, /* gray of bytes: pixels of a row that a warp takes at a time, three 16-byte loads a lane */
    SMP_GRAY_WARPS = 8,   /* the same: warps a block */
    SMP_GRAY_BLOCKS = 6,  /* the same: blocks an SM */
    SMP_PIXEL_TILE = 8 * 1024 /* bytes of shared memory for either side of a tile: eight blocks an SM with as much under
                                 way; larger ones leave fewer blocks */
};

/* ---------------------------------------------------------------------------------------------- gaussian, sharpen */

enum {
    /* tiled, row pass */
    SMP_GAUSSIAN_ACROSS = 512, /* samples: longer lines load less halo a result, shorter ones waste less at row ends */
    SMP_GAUSSIAN_LINES = 8,    /* rows, as many as the block has warps: each warp loads one */
    SMP_GAUSSIAN_LANES = 128,  /* threads a row: four samples each, whose window stays in registers */
    SMP_GAUSSIAN_ROWS = 2,     /* rows of threads: a block of 256 */
    SMP_GAUSSIAN_HALO = 512, /* samples of halo that fit, of both sides together or of one; wider filters take parts */
    /* tiled, column pass */
    SMP_GAUSSIAN_COLUMNS = 64, /* samples, four a thread: 256 bytes a row of loads, and shared memory for `down` rows */
    SMP_GAUSSIAN_DOWN = 64,    /* rows: taller tiles load less halo, lower ones leave room for more blocks */
    SMP_GAUSSIAN_EACH = 8,     /* rows a thread: one shared read serves as many sums, each in four registers */
    SMP_GAUSSIAN_BATCH = 128,  /* rows in shared memory at a time: all that a tile needs, up to a radius of 32 px */
    SMP_GAUSSIAN_TILED_BLOCKS = 6, /* blocks an SM, column pass: more would spill the sums */
    /* mma: one warp a strip */
    SMP_BANDED_TILE = 16,                    /* bytes that a product makes of a row */
    SMP_BANDED_ROWS = 8,                     /* rows that a product takes, and that arrive together */
    SMP_BANDED_ACROSS = 8 * SMP_BANDED_TILE, /* bytes of a strip: wider ones need more registers for their sums */
    SMP_BANDED_LEAST = 4                     /* px: below this radius the warp kernels are faster */
};

/* warp: samples a lane makes of a row. More reuse the window, but their 2r sums must stay in registers. */
#define SMP_GAUSSIAN_LANE(f32, r) ((f32) || (r) > 10 ? 4 : 8)

/* warp: warps an SM by radius and channels. More hide more latency, with fewer registers: these do not spill, or spill
 * less than they win. */
#define SMP_GAUSSIAN_WARPS_U8(r, c)  ((r) <= 2 ? 24 : (r) <= 3 ? 14 : 8)
#define SMP_GAUSSIAN_WARPS_U16(r, c) ((r) <= 2 ? 24 : (r) <= 4 ? 12 : (r) <= 8 ? 11 : 8)
#define SMP_GAUSSIAN_WARPS_F32(r, c)                                                                                   \
    ((r) <= 2 ? 28 : (r) <= 4 ? 20 : (r) <= 8 ? 14 : (r) <= ((c) == 1 ? 15 : 12) ? 10 : 8)
#define SMP_GAUSSIAN_WARPS_MIXED(r, c) ((r) <= 2 ? 28 : 20)
#define SMP_SHARPEN_WARPS_U8(r)        ((r) <= 3 ? 14 : (r) <= 6 ? 12 : 11)
#define SMP_SHARPEN_WARPS_F32(r)       ((r) <= 2 ? 28 : (r) <= 4 ? 20 : 14)
/* mma: 168 registers a thread leave 12 warps, 128 leave 16, of which long windows spill. */
#define SMP_BANDED_WARPS(r, steps) ((r) <= 6 || ((r) <= 8 && (steps) == 1) ? 16 : 12)

/* warp: rows of a band with its halo, by radius; 0: the tall bands below. Where memory binds, low bands: the L2 keeps
 * what a band reads and writes until the next one has read it too. Where instructions bind, tall ones: fewer rows of
 * halo are filtered twice. */
#define SMP_GAUSSIAN_BAND_INTEGER(r) ((r) <= 2 ? 32 : (r) == 3 ? 64 : (r) == 4 ? 96 : 0) /* u8 or u16, in and out */
#define SMP_GAUSSIAN_BAND_F32(r)     ((r) == 2 ? 12 : (r) <= 3 ? 16 : (r) <= 8 ? 4 * (r) + 4 : 0)
#define SMP_GAUSSIAN_BAND_U8_F32(r)  ((r) <= 2 ? 16 : 32)
#define SMP_GAUSSIAN_BAND_F32_U8(r)  16

/* Tall bands: the most rows, and the warps that an SM should have in all, for which small pictures get lower bands. */
enum {
    SMP_GAUSSIAN_TALL_INTEGER = 320, /* rows */
    SMP_GAUSSIAN_BUSY_INTEGER = 17,  /* warps */
    SMP_GAUSSIAN_TALL_F32 = 400,     /* rows */
    SMP_GAUSSIAN_BUSY_F32 = 28,      /* warps */
    SMP_BANDED_TALL = 320,           /* rows */
    SMP_BANDED_BUSY = 48             /* warps */
};

/* ---------------------------------------------------------------------------------------------- stencils */

enum {
    SMP_STRIP_BYTES = 512, /* of a row, the strip of a warp kernel: 16 a lane, one vector load */

    /* tiled */
    SMP_SOBEL_ACROSS = 128, /* samples, four a thread: a warp is one row of the tile */
    SMP_SOBEL_DOWN = 32,    /* rows, four a thread: taller tiles load less halo, lower ones end more evenly */
    /* warp */
    SMP_SOBEL_WARP_ROWS = 4,   /* rows that arrive together: more hide more latency, in more shared memory */
    SMP_SOBEL_BYTES_BAND = 14, /* rows, u8; low, as memory binds. With the halo whole groups of SMP_SOBEL_WARP_ROWS */
    SMP_SOBEL_REALS_BAND = 30, /* rows, f32; the same */
    SMP_SOBEL_WARPS_U8 = 20,   /* warps an SM */
    SMP_SOBEL_WARPS_F32 = 24,  /* warps an SM */

    /* tiled */
    SMP_CONVOLVE_ACROSS = 128,       /* samples, four a thread, 32 apart */
    SMP_CONVOLVE_DOWN = 32,          /* rows, four a thread: each row that is read serves four sums */
    SMP_CONVOLVE_SHARED = 48 * 1024, /* bytes for a batch of rows: larger kernels take more batches */
    /* warp */
    SMP_CONVOLVE_WARP_ROWS = 4,   /* rows that arrive together, as sobel's */
    SMP_CONVOLVE_BAND = 64,       /* rows; memory binds */
    SMP_CONVOLVE_BAND_TALL = 160, /* rows, u8 and 7 x 7; instructions bind, fewer rows of halo are filtered twice */
    SMP_CONVOLVE_BUSY = 17,       /* warps that an SM should have of those: small pictures get lower bands */

    /* tiled */
    SMP_BOX_ACROSS = 1024,      /* row pass, samples, four a thread: a line is doubled log2(size) times by one block */
    SMP_BOX_COLUMNS = 32,       /* column pass, samples, four a thread: narrow, since tall windows must fit */
    SMP_BOX_DOWN = 64,          /* column pass, rows, two a thread: taller tiles load less halo */
    SMP_BOX_SHARED = 48 * 1024, /* bytes for two copies of a window; larger boxes are added sample by sample */
    /* warp */
    SMP_BOX_WARP_ROWS = 4, /* rows that arrive together, as sobel's */
    SMP_BOX_WARPS = 16,    /* warps an SM: more leave a thread fewer registers for its sums */

    /* tiled, stages on windows (median) */
    SMP_WINDOW_ACROSS = 128, /* samples, four a thread, 32 apart */
    SMP_WINDOW_DOWN = 32,    /* rows: taller tiles load less halo, lower ones end more evenly */
    SMP_WINDOW_EACH = 4      /* rows a thread: more reuse what it reads, but their windows must stay in registers */
};

/* convolve, warp: warps an SM by the kernel's side; the weights of more taps take registers. */
#define SMP_CONVOLVE_WARPS_U8(side) ((side) == 3 ? 16 : 12)
#define SMP_CONVOLVE_WARPS_F32      16

/* box, warp: rows of a band with its halo, whole groups of SMP_BOX_WARP_ROWS; larger boxes have more halo to share. */
#define SMP_BOX_BAND(size) ((size) <= 5 ? 32 : (size) <= 9 ? 64 : 96)

/* Bands that share out a picture (src/stages/shared/stencil/warp_strip_launch.c). */
enum {
    SMP_BAND_BUSY = 12,  /* warps that an SM should have, where a kernel does not say: fewer leave SMs idle */
    SMP_BAND_LEAST = 8,  /* rows: lower bands would be mostly halo */
    SMP_BAND_USUAL = 64, /* rows, plus twice the halo: no band is made lower than that for a kernel's own wish */
    SMP_BAND_CUT = 48,   /* rows from which on the slow and the last bands are half as tall, so that none ends late */
    SMP_BAND_GROUP = 8   /* rows, or a divisor of them, that arrive together: a band and its halo are whole groups */
};

/* ---------------------------------------------------------------------------------------------- resize */

/* tiled and padded */
enum {
    SMP_RESIZE_ACROSS = 128, /* row pass, samples, one a thread: more load less halo, fewer waste less at row ends */
    SMP_RESIZE_LINES = 4,    /* row pass, rows: as many sums a thread for each weight that it loads */
    SMP_RESIZE_MOST_WORDS = 12 * 1024 / SMP_RESIZE_LINES, /* of a row in shared memory: 48 KB, that all GPUs have */
    /* fused */
    SMP_RESIZE_FUSED_ACROSS = 256, /* pixels, eight a lane: more read a sample less often, but fill the registers */
    SMP_RESIZE_FUSED_DOWN = 64,    /* output rows of a block; the first `lobes - 1` rows of sums are computed twice */
    SMP_RESIZE_FUSED_LEAST = 8,    /* and the fewest, where a picture is too small to keep all SMs busy */
    SMP_RESIZE_FUSED_WARPS = 12    /* that an SM should have */
};

/* ---------------------------------------------------------------------------------------------- transpose, flip */

/* tiled and padded */
enum {
    SMP_TRANSPOSE_SIDE = 32, /* pixels of a square tile, both ways: a warp moves one row or one column */
    SMP_TRANSPOSE_ROWS = 8   /* rows of threads in a block: each moves SIDE / ROWS pixels */
};

/* swizzled: X(bytes of a pixel, side, across, down, threads, blocks). A cell is side x side pixels whose rows are 16
 * bytes, or 12 where a pixel has three parts; a tile is `across` cells along the input's rows and `down` cells along
 * its columns. Long rows of a tile on both sides decide over speed, 256 to 1024 bytes, and that a warp's load is of few
 * rows; a cell of 16 bytes a row so lies beside its neighbours for as many lanes as there are. `blocks` of so many
 * threads are to fit an SM's registers, so that some load while others store: more of them than here are slower. */
#define SMP_TRANSPOSE_SHAPES(X)                                                                                        \
    X(1, 16, 16, 16, 256, 2)                                                                                           \
    X(2, 8, 32, 16, 256, 2)                                                                                            \
    X(3, 4, 32, 32, 256, 2)                                                                                            \
    X(4, 4, 16, 16, 256, 4)                                                                                            \
    X(6, 2, 64, 64, 512, 1)                                                                                            \
    X(8, 2, 32, 32, 512, 2)                                                                                            \
    X(12, 1, 64, 64, 512, 2)                                                                                           \
    X(16, 1, 64, 64, 512, 2)

/* For kernels that keep rows as rows (flip). */
enum {
    SMP_TRANSPOSE_THREADS = 256, /* threads a block, over the 16-byte words of a row */
    SMP_TRANSPOSE_BLOCKS = 8     /* blocks an SM: all that it can hold */
};

/* ---------------------------------------------------------------------------------------------- matmul, spectrogram */

enum {
    /* tiled and padded */
    SMP_MATMUL_SIDE = 32, /* samples of a tile, both ways, and inner samples a step: each is read SIDE times */
    SMP_MATMUL_ROWS = 8,  /* rows of threads: each has SIDE / ROWS output samples */
    /* register */
    SMP_MATMUL_BLOCK = 128,   /* samples of a tile, both ways: larger ones read less, but fill the registers of an SM */
    SMP_MATMUL_DEPTH = 16,    /* inner samples a step: deeper steps need fewer barriers and more shared memory */
    SMP_MATMUL_THREADS = 256, /* threads a block: 8 x 8 output samples each */
    SMP_MATMUL_BLOCKS = 2,    /* blocks an SM: one loads while the other multiplies; caps a thread at 128 registers */
    SMP_MATMUL_STAGES = 2,    /* tiles of each operand that are loading or in use */
    SMP_MATMUL_PITCH = SMP_MATMUL_BLOCK + 4, /* samples from a row of L's tile to the next: off each other's banks */
    SMP_MATMUL_GROUP = 8 /* rows of blocks that run side by side, so that they share R's tiles in L2 */
};

/* ---------------------------------------------------------------------------------------------- histogram, stats */

enum {
    SMP_HISTOGRAM_TILED = 256,      /* tiled: threads a block; all add to one histogram */
    SMP_HISTOGRAM_TILED_BLOCKS = 8, /* tiled: blocks an SM at most: more count faster, but add more up at the end */
    SMP_HISTOGRAM_THREADS = 1024,   /* private: threads a block, .. */
    SMP_HISTOGRAM_THREES = 960,     /* .. with three channels, a multiple of three */
    SMP_HISTOGRAM_BLOCKS = 2,       /* private: blocks an SM; they share its memory for copies */
    SMP_HISTOGRAM_COPIES = 32,      /* private: the most that are worth having, one a bank */

    SMP_STATS_NAIVE = 64,    /* naive: threads a block, one a chunk */
    SMP_STATS_THREADS = 256, /* interleaved and tiled: threads a block, where a warp has a chunk */
    SMP_STATS_SHUFFLE = 32,  /* shuffle: threads a block, one warp, so that none waits for another */
    SMP_STATS_RESIDENT = 24, /* shuffle, u8 and u16: blocks an SM */
    SMP_STATS_FLOATS = 16,   /* shuffle, f32: blocks an SM; sums in double take registers */
    SMP_STATS_TOGETHER = 4   /* shuffle: channels that a warp takes together, at most */
};

/* ---------------------------------------------------------------------------------------------- fir */

enum {
    SMP_FIR_TILE = 256, /* tiled: frames, and threads, of a block */
    SMP_FIR_EACH = 32,  /* register: frames of a thread, quads 32 apart: a sample read serves eight of them */
    SMP_FIR_WARPS = 4,  /* register: warps of a block */
    SMP_FIR_BLOCKS = 3, /* register: blocks an SM */
    SMP_FIR_REGISTER = SMP_FIR_WARPS * 32 * SMP_FIR_EACH /* register: frames of a block */
};
