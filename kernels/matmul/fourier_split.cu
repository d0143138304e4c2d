/* The rung `split` of fft, ifft and fftfilter (fourier.cu has the others). What it changes, by what counters of an H200
 * tell of the rungs before it at 8192 x 8192 (docs/study.md has the times):
 *
 *   occupancy  A block of columns holds whole columns. Two copies of 8192 numbers are 131 KB (tiled): a block of 256
 *              threads an SM, an occupancy of 12 %, and three quarters of a sector's bytes are another block's. Half of
 *              the warps' time goes into waiting for memory, and DRAM is 7 % busy. With one copy (register) a block has
 *              few columns still.
 *              Here a column is two launches (fourier_passes.cuh says why its passes come apart): 64 numbers deep, then
 *              128, by 32 columns. A tile is 16 or 32 KB, several blocks share an SM, and every load and store of a
 *              warp moves 256 bytes of a row, eight whole sectors.
 *   registers  A thread loads 16 numbers before it uses the first, and takes them through two passes of radix 4: a
 *              column of 8192 is exchanged once in each launch (once more for what is shown), not seven times.
 *   banks      Lanes of a column's block are neighbouring columns: neighbouring numbers of the tile in every pass,
 *              without pads. In rows a step of 16 stores 16 numbers apart at first; a number more after every 16 makes
 *              that 17, and all other accesses are side by side. What is left are the pairs of the spectrum's halves,
 *              of which one is read backwards across pads.
 *   memory     Each launch reads and writes its numbers once, in place: the first leaves row k + d p of d radices at
 *              p + n / d k, where it took its numbers from, and so does the second. What follows looks rows up
 *              (smp_fourier_left). fft writes what is shown, and its mirror image, from the second launch itself: the
 *              spectra are neither stored nor read again. Only where the output has strips a launch of its own does.
 *
 * The order of operations is that of fft.h: what changes is which launch and which thread has a butterfly. */
#include "matmul/fourier_passes.cuh"

/* ---------------------------------------------------------------------------------------------- rows */

/* A sample beside the picture. */
template <typename IN>
SMP_DEVICE_COLD float fourier_outside(const IN *row, int x, int inside, int width, int edge, int channels)
{
    const int64_t column = smp_fourier_place(x, inside, width, edge);
    return column < 0 ? 0.f : smp_value(row[column * channels]);
}

/* Two samples that are one load. */
template <typename IN> struct fourier_pairs {
    const smp_pack<IN, 2> *row;
    int last;
    SMP_DEVICE_MEMBER smp_number number(int i, int step, int j) const
    {
        const smp_pack<IN, 2> v = row[min(i + j * step, last)];
        return fourier_pair(smp_value(v.v[0]), smp_value(v.v[1]));
    }
};
/* Samples one by one. */
template <typename IN> struct fourier_singles {
    const IN *row;
    int last, channels, halves;
    SMP_DEVICE_MEMBER smp_number number(int i, int step, int j) const
    {
        const int x = (i + j * step) << halves;
        const float re = smp_value(row[min(x, last) * channels]);
        return fourier_pair(re, halves ? smp_value(row[min(x + 1, last) * channels]) : 0.f);
    }
};

/* Samples of a channel as numbers: two a number where p.halves, else one. All loads are made before the first is used;
 * places beside the picture, which get some sample first, are mended afterwards. `kept` is clear. */
template <typename IN> struct fourier_samples {
    const IN *row;
    int present; /* 0: zeros */
    int inside, width, channels, edge, halves;
    int paired; /* two samples are one load */
    template <int MOST, int R>
    SMP_DEVICE_MEMBER void fetch(fourier_numbers<MOST, R> &kept, int me, int threads, int others) const
    {
        if (!present)
            return;
        const fourier_pairs<IN> pairs = {reinterpret_cast<const smp_pack<IN, 2> *>(row), inside / 2 - 1};
        const fourier_singles<IN> singles = {row, inside - 1, channels, halves};
        if (paired)
            fourier_fetch(kept, pairs, me, threads, others);
        else
            fourier_fetch(kept, singles, me, threads, others);
        if (width > inside) {
#pragma unroll
            for (int t = 0; t < MOST; t++) {
                const int i = me + t * threads;
                if (i < others) {
#pragma unroll
                    for (int j = 0; j < R; j++) {
                        const int x = (i + j * others) << halves;
                        if (x + halves >= inside)
                            kept.re[t][j] = fourier_outside(row, x, inside, width, edge, channels);
                        if (halves && x + 1 >= inside) /* both: the pair was another */
                            kept.im[t][j] = fourier_outside(row, x + 1, inside, width, edge, channels);
                    }
                }
            }
        }
    }
};

/* A destination that stores nothing. */
struct fourier_nowhere {
    SMP_DEVICE_MEMBER void put(int, int, int, const smp_number &) const {}
};

SMP_DEVICE fourier_line fourier_across(const smp_io &io, const smp_fourier &p)
{
    return {p.across.radix, p.across.passes, p.across.n, p.across.n, 0, 1, smp_fourier_across(&io)};
}
SMP_DEVICE fourier_padded fourier_row_memory(const smp_fourier &p, smp_number *memory)
{
    return {memory + (int)threadIdx.y * (int)smp_fourier_numbers(SMP_FOURIER_PADDED, p.across.n)};
}

/* Rows of samples to rows of numbers. Geometry: a block for some lines, row by row, channel by channel (x); threads of
 * a line (x), lines (y). */
template <typename IN> SMP_DEVICE void fourier_rows(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *const roots = smp_fourier_across(&io) + smp_fft_twiddles(&p.across);
    const fourier_line f = fourier_across(io, p);
    const fourier_padded z = fourier_row_memory(p, memory);
    const int n = f.n, me = (int)threadIdx.x, threads = (int)blockDim.x, channels = io.in.channels;
    const int64_t lines = (int64_t)p.height * p.channels, begin = (int64_t)blockIdx.x * blockDim.y;
    for (int64_t first = begin; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = first + threadIdx.y, y = line / p.channels;
        const int c = (int)(line % p.channels);
        const int64_t row = line < lines ? smp_fourier_place(y, io.in.height, p.height, p.edge) : -1;
        const IN *const samples = smp_in<IN>(io.in, row < 0 ? 0 : row) + c;
        const int paired = p.halves && channels == 1 && io.in.width > 1 && (uintptr_t)samples % (2 * sizeof(IN)) == 0;
        const fourier_samples<IN> from = {samples,  row >= 0, (int)io.in.width, p.width,
                                          channels, p.edge,   p.halves,         paired};
        fourier_passes<false>(f, me, threads, z, first > begin, from, fourier_nowhere());
        if (line >= lines)
            continue;
        float *const to = smp_fourier_number(&io.out, &p, y, c, 0);
        for (int k = me; !p.halves && k < p.bins; k += threads) {
            smp_converge();
            const smp_number v = *z(k);
            fourier_put(to + 2 * k, v.v[0], v.v[1]);
        }
#pragma unroll 4
        for (int k = me; p.halves && k <= n - k; k += threads) {
            const int l = n - k;
            smp_converge();
            smp_number u = *z(k), v = *z(l == n ? 0 : l);
            const smp_number root = fourier_get(roots + 2 * k);
            smp_fft1_split(&u.v[0], &u.v[1], &v.v[0], &v.v[1], root.v[0], root.v[1]);
            if (k != l)
                fourier_put(to + 2 * l, v.v[0], v.v[1]);
            fourier_put(to + 2 * k, u.v[0], u.v[1]);
        }
    }
}

/* Samples of the output. */
template <typename OUT> struct fourier_samples_out {
    OUT *row;
    bool there; /* false: none */
    int width, channels, halves, paired;
    unsigned &clipped;
    SMP_DEVICE_MEMBER void put(int first, int step, int k, const smp_number &v) const
    {
        const int i = first + step * k;
        const float a = smp_one_nan(v.v[1]), b = smp_one_nan(v.v[0]);
        const int x = i << halves;
        if (!there || x >= width)
            return;
        clipped += smp_clipped<OUT>(a);
        const bool both = halves && x + 1 < width;
        if (both)
            clipped += smp_clipped<OUT>(b);
        if (both && paired) {
            smp_pack<OUT, 2> samples;
            samples.v[0] = smp_rounded<OUT>(a), samples.v[1] = smp_rounded<OUT>(b);
            reinterpret_cast<smp_pack<OUT, 2> *>(row)[i] = samples;
            return;
        }
        row[x * channels] = smp_rounded<OUT>(a);
        if (both)
            row[(x + 1) * channels] = smp_rounded<OUT>(b);
    }
};

/* Numbers that wait in memory. */
struct fourier_merged {
    const fourier_padded &z;
    template <int MOST, int R>
    SMP_DEVICE_MEMBER void fetch(fourier_numbers<MOST, R> &kept, int me, int threads, int others) const
    {
        const fourier_waiting<fourier_padded> waiting = {z};
        fourier_fetch(kept, waiting, me, threads, others);
    }
};

/* Rows of the output from rows of numbers, which lie where two transforms of columns left them: as fourier_rows. */
template <typename OUT> SMP_DEVICE void fourier_back(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const float *const roots = smp_fourier_across(&io) + smp_fft_twiddles(&p.across);
    const fourier_line f = fourier_across(io, p);
    const fourier_padded z = fourier_row_memory(p, memory);
    const int n = f.n, me = (int)threadIdx.x, threads = (int)blockDim.x, channels = io.out.channels;
    const int64_t lines = io.out.rows * p.channels;
    unsigned clipped = 0;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.y; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = first + threadIdx.y, at = min(line, lines - 1), y = io.out.y0 + at / p.channels;
        const int c = (int)(at % p.channels);
        const float *const from = smp_fourier_number(
            &io.in, &p, smp_fourier_left(p.early, p.height, smp_fourier_left(p.early, p.height, y)), c, 0);
        __syncthreads(); /* all threads are done with the lines before */
#pragma unroll 4
        for (int k = me; p.halves && k <= n - k; k += threads) {
            const int l = n - k;
            smp_number u = fourier_get(from + 2 * k), v = fourier_get(from + 2 * l);
            const smp_number root = fourier_get(roots + 2 * k);
            smp_fft1_merge(&u.v[0], &u.v[1], &v.v[0], &v.v[1], root.v[0], root.v[1]);
            smp_converge();
            if (k && k != l)
                *z(l) = fourier_pair(v.v[1], v.v[0]);
            *z(k) = fourier_pair(u.v[1], u.v[0]);
        }
        for (int k = me; !p.halves && k < p.bins; k += threads) {
            const smp_number u = fourier_get(from + 2 * k);
            smp_converge();
            if (k)
                *z(n - k) = fourier_pair(-u.v[1], u.v[0]);
            *z(k) = fourier_pair(u.v[1], u.v[0]);
        }
        __syncthreads();
        OUT *const row = smp_out<OUT>(io.out, y);
        const int paired = channels == 1 && (uintptr_t)row % (2 * sizeof(OUT)) == 0;
        const fourier_samples_out<OUT> to = {row + c, line < lines, (int)io.out.width, channels, p.halves,
                                             paired,  clipped};
        fourier_passes<true>(f, me, threads, z, true, fourier_merged{z}, to);
        for (int64_t x = me; line < lines && c == 0 && p.channels < channels && x < io.out.width; x += threads)
            row[x * channels + channels - 1] = smp_rounded<OUT>(
                smp_load(smp_row(&io.second, y), x * io.second.channels + channels - 1, io.second.format));
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* ifft: numbers, and what is shown of them. */
struct fourier_spectra_row {
    const float *row;
    SMP_DEVICE_MEMBER smp_number number(int i, int step, int j) const { return fourier_get(row + 2 * (i + step * j)); }
    template <int MOST, int R>
    SMP_DEVICE_MEMBER void fetch(fourier_numbers<MOST, R> &kept, int me, int threads, int others) const
    {
        fourier_fetch(kept, *this, me, threads, others);
    }
};

/* Rows of what ifft shows, of numbers with imaginary parts first. */
SMP_DEVICE void fourier_inverse(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    const fourier_line f = fourier_across(io, p);
    const fourier_padded z = fourier_row_memory(p, memory);
    const int n = f.n, me = (int)threadIdx.x, threads = (int)blockDim.x, channels = io.out.channels;
    const int64_t lines = io.out.rows * p.channels, begin = (int64_t)blockIdx.x * blockDim.y;
    for (int64_t first = begin; first < lines; first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t line = min(first + threadIdx.y, lines - 1), y = io.out.y0 + line / p.channels;
        const int c = (int)(line % p.channels);
        const fourier_spectra_row from = {smp_fourier_number(&io.in, &p, smp_fourier_left(p.early, p.height, y), c, 0)};
        fourier_passes<false>(f, me, threads, z, first > begin, from, fourier_nowhere());
        if (first + threadIdx.y >= lines)
            continue;
        float *const to = smp_out<float>(io.out, y);
        const bool pairs = (uintptr_t)to % sizeof(smp_number) == 0;
#pragma unroll 2
        for (int x = me; x < n; x += threads) {
            smp_converge();
            const smp_number v = *z(x);
            if (p.output == SMP_FOURIER_COMPLEX)
                fourier_put_complex(to + x * channels + 2 * c, pairs, v.v[1] * p.scale, v.v[0] * p.scale);
            else
                to[x * channels + c] = smp_fourier_shown(&p, v.v[1], v.v[0]);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- columns */

/* Lines of a tile side by side. */
struct fourier_tile {
    smp_number *at;
    int across;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + i * across; }
};

/* Numbers of a column in the spectra. LEFT: rows in the order that the transform before left. */
template <bool LEFT> struct fourier_column {
    const smp_fourier &p;
    char *data;      /* row 0; LEFT: and else: the column's number 0 */
    int64_t stride;  /* bytes from a row to the next; else: from a number to the next */
    int slot, apart; /* LEFT: row of number 0; rows from one to the next */
    SMP_DEVICE_MEMBER float *at(int i, int step, int j) const
    {
        if (LEFT)
            return reinterpret_cast<float *>(
                data + smp_fourier_left(p.early, p.height, slot + (int64_t)apart * (i + step * j)) * stride);
        return reinterpret_cast<float *>(data + i * stride + j * (step * stride));
    }
};
template <bool LEFT> struct fourier_column_from {
    const fourier_column<LEFT> &column;
    SMP_DEVICE_MEMBER smp_number number(int i, int step, int j) const { return fourier_get(column.at(i, step, j)); }
    template <int MOST, int R>
    SMP_DEVICE_MEMBER void fetch(fourier_numbers<MOST, R> &kept, int me, int threads, int others) const
    {
        fourier_fetch(kept, *this, me, threads, others);
    }
};
template <bool LEFT, bool TURNED> struct fourier_column_to {
    const fourier_column<LEFT> &column;
    bool there;
    SMP_DEVICE_MEMBER void put(int i, int step, int k, const smp_number &v) const
    {
        if (there)
            fourier_put(column.at(i, step, k), v.v[TURNED], v.v[!TURNED]);
    }
};

/* Number (v, k) of channel c as shown, and its mirror image, which is not in the spectra. */
SMP_DEVICE void fourier_show(const smp_io &io, const smp_fourier &p, int v, int k, int c, bool pairs,
                             const smp_number &n)
{
    const int channels = io.out.channels;
    const int x = (int)smp_fourier_unshift(&p, k, p.width), y = (int)smp_fourier_unshift(&p, v, p.height);
    const bool mirrored = k && p.width - k >= p.bins;
    float *const to = smp_out<float>(io.out, y) + (int64_t)x * channels;
    float *const beside = smp_out<float>(io.out, smp_fourier_unshift(&p, v ? p.height - v : 0, p.height)) +
                          smp_fourier_unshift(&p, p.width - k, p.width) * channels;
    if (p.output == SMP_FOURIER_COMPLEX) {
        fourier_put_complex(to + 2 * c, pairs, n.v[0] * p.scale, n.v[1] * p.scale);
        if (mirrored)
            fourier_put_complex(beside + 2 * c, pairs, n.v[0] * p.scale, -n.v[1] * p.scale);
        return;
    }
    const float shown = smp_fourier_shown(&p, n.v[0], n.v[1]);
    to[c] = shown;
    if (mirrored)
        beside[c] = p.output == SMP_FOURIER_PHASE ? smp_fourier_shown(&p, n.v[0], -n.v[1]) : shown;
}

enum { FOURIER_SPECTRA, FOURIER_FACTOR, FOURIER_SHOWN, FOURIER_AGAIN };

/* Columns of numbers in place. TO: what becomes of them; FOURIER_AGAIN: a second transform of the same columns.
 * Geometry: a block for some neighbouring columns of a channel (x) and one part of their transform (y); columns (x),
 * threads of a column (y). */
template <bool LATE, int TO> SMP_DEVICE void fourier_columns(const smp_io &io, const smp_fourier &p, smp_number *memory)
{
    constexpr bool LEFT = TO == FOURIER_AGAIN;
    constexpr bool DIRECT = TO == FOURIER_SPECTRA || LEFT;
    const float *const squares = static_cast<const float *>(io.table) + p.squares_at;
    const int early = p.early, late = p.height / early, depth = LATE ? late : early, parts = LATE ? early : late;
    const int across = (int)blockDim.x, groups = (p.bins + across - 1) / across, me = (int)threadIdx.y;
    const int threads = (int)blockDim.y, c = (int)blockIdx.x / groups;
    const int column = ((int)blockIdx.x - c * groups) * across + (int)threadIdx.x, k = min(column, p.bins - 1);
    const bool there = column < p.bins, pairs = ((uintptr_t)io.out.data | (uintptr_t)io.out.stride) % 8 == 0;
    const fourier_tile z = {memory + threadIdx.x, across};
    const smp_view &spectra = TO == FOURIER_SHOWN ? io.in : io.out;
    fourier_line f = {p.down.radix + (LATE ? p.early_passes : 0),
                      LATE ? p.down.passes - p.early_passes : p.early_passes,
                      depth,
                      LATE ? late : p.height,
                      0,
                      LATE ? 1 : late,
                      smp_fourier_down(&io, &p) + (LATE ? 2 * (p.height - late) : 0)};
    for (int part = (int)blockIdx.y; part < parts; part += (int)gridDim.y) {
        const bool again = part >= (int)gridDim.y;
        const int slot = LATE ? part * late : part, apart = LATE ? 1 : late;
        char *const row = static_cast<char *>(smp_row(&spectra, LEFT ? 0 : slot));
        const fourier_column<LEFT> lies = {p, row + (int64_t)(2 * sizeof(float)) * ((int64_t)c * p.bins + k),
                                           LEFT ? spectra.stride : apart * spectra.stride, slot, apart};
        const fourier_column_from<LEFT> from = {lies};
        const fourier_column_to<LEFT, LEFT &&LATE> to = {lies, there};
        if (!LATE)
            f.place = part;
        fourier_passes<DIRECT>(f, me, threads, z, again, from, to);
#pragma unroll 2
        for (int i = me; !DIRECT && i < depth; i += threads) {
            const int v = part + early * i;
            smp_converge();
            const smp_number n = *z(i);
            if (TO == FOURIER_FACTOR) {
                const float factor = smp_fourier_factor(&p, squares[k], squares[p.bins + v]);
                to.put(i, 0, 0, fourier_pair(n.v[1] * factor, n.v[0] * factor));
            } else if (there) {
                fourier_show(io, p, v, k, c, pairs, n);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- kernels */

#define FOURIER_SPLIT(threads, blocks, name, ...)                                                                      \
    SMP_KERNEL_BOUNDS(threads, blocks, name, smp_fourier, io, p)                                                       \
    {                                                                                                                  \
        SMP_SMEM_DYNAMIC(smp_number, s);                                                                               \
        __VA_ARGS__(io, p, s);                                                                                         \
    }
#define FOURIER_ROWS(name, ...)    FOURIER_SPLIT(SMP_FOURIER_THREADS, 1, name, __VA_ARGS__)
#define FOURIER_COLUMNS(name, ...) FOURIER_SPLIT(SMP_FOURIER_TILE_THREADS, 3, name, __VA_ARGS__)

FOURIER_ROWS(fourier_rows_split_u8_f32, fourier_rows<uint8_t>)
FOURIER_ROWS(fourier_rows_split_u16_f32, fourier_rows<uint16_t>)
FOURIER_ROWS(fourier_rows_split_f32_f32, fourier_rows<float>)
FOURIER_COLUMNS(fourier_early_split_f32_f32, fourier_columns<false, FOURIER_SPECTRA>)
FOURIER_COLUMNS(fourier_late_split_f32_f32, fourier_columns<true, FOURIER_SPECTRA>)
FOURIER_COLUMNS(fourier_late_shown_split_f32_f32, fourier_columns<true, FOURIER_SHOWN>)
FOURIER_COLUMNS(fourier_late_filtered_split_f32_f32, fourier_columns<true, FOURIER_FACTOR>)
FOURIER_COLUMNS(fourier_early_again_split_f32_f32, fourier_columns<false, FOURIER_AGAIN>)
FOURIER_COLUMNS(fourier_late_again_split_f32_f32, fourier_columns<true, FOURIER_AGAIN>)
FOURIER_ROWS(fourier_back_split_f32_u8, fourier_back<uint8_t>)
FOURIER_ROWS(fourier_back_split_f32_u16, fourier_back<uint16_t>)
FOURIER_ROWS(fourier_back_split_f32_f32, fourier_back<float>)
FOURIER_ROWS(fourier_inverse_split_f32_f32, fourier_inverse)
