/* Shared by stages of framed sound: windows, the table and the launches of kernels/audio/frames.h. */
#pragma once

#include "audio/frames.h"
#include "stages/stage.h"

/* The periodic windows, as spectral analysis has them (Harris 1978): sample n of n + 1 of a symmetric one. */
enum { SMP_HANN, SMP_HAMMING, SMP_BLACKMAN, SMP_RECTANGULAR };
extern const char *const smp_taper_names[];
double smp_taper_at(int window, int64_t n, int64_t size);

/* The mel scale as Slaney's toolbox and librosa have it, or as HTK has it; and back. */
double smp_mel_of(bool htk, double hz);
double smp_mel_hz(bool htk, double mel);

smp_frames smp_framing(int64_t size, int64_t hop, int edge);

/* smp_frames_floats(f) floats. */
void smp_framing_fill(const smp_frames *f, int window, float *table);

/* Makes work->table: the frames' own, and room for `more` floats behind it. */
smp_code smp_framing_table(const smp_frames *f, int window, size_t more, smp_node_plan *work, smp_error *err);

/* smp_variant.scratch of kernels whose parameters begin with smp_frames: smp_stft_scratch. */
size_t smp_framing_scratch(const smp_io *io, const void *kernel);

/* An output row for each frame of a sound, which streams: sets height, rows and reach. */
void smp_framing_rows(const smp_frames *f, const smp_shape *in, smp_node_plan *work);

/* Names of the variants, and how many frames a CPU thread computes side by side. */
#define SMP_FRAMING_NAIVE "frame by frame through the Fourier transform; on GPUs in shared memory, with conflicts"
#define SMP_FRAMING_PADDED                                                                                             \
    "several frames side by side in vectors; on GPUs a number more after every sixteen: fewer conflicts"
enum { SMP_FRAMING_BAND = 16 };

/* Refuses a size that is odd, or has no fast transform. */
smp_code smp_framing_check(int64_t size, smp_error *err);

/* A block of threads for each of `blocks` frames, whose memories hold `numbers` numbers each, and `more` floats. */
void smp_framing_grid(const smp_frames *f, int64_t blocks, int64_t numbers, int64_t more, smp_grid *grid);

/* Numbers of a memory with one more after every sixteen. */
static inline int64_t smp_framing_padded(const smp_frames *f)
{
    return f->bins + f->bins / 16 + 1;
}
