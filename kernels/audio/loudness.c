/* loudness on the CPU.
 *   naive  segment after segment, channel after channel: the definition.
 *   tiled  eight segments or channels side by side in vectors of doubles, filters, energies and peaks in one walk. The
 *          values between frames are four fifths of the arithmetic. */
#include "audio/loudness.h"

#include "audio/lanes.h"

SMP_INLINE double peak_at(const smp_view *in, int64_t y, int channel, int phases, double most)
{
    for (int n = 0; n < phases; n++) {
        double s = 0;
        for (int k = 0; k < SMP_PEAK_TAPS; k++)
            s += smp_peak_tap(smp_peak_phase(n, phases), k) * (double)smp_frame_at(in, y - k, channel);
        most = smp_larger(most, s);
    }
    return smp_larger(most, (double)smp_frame_at(in, y, channel));
}

/* Returns the larger of `most` and the peaks of the sound's last block behind its end. */
SMP_INLINE double peak_behind(const smp_view *in, int channel, int phases, double most)
{
    for (int64_t y = in->height; phases && y < in->height + SMP_PEAK_TAPS - 1; y++)
        most = peak_at(in, y, channel, phases, most);
    return most;
}

SMP_CPU_KERNEL(loudness_naive)
{
    const smp_loudness *p = params;
    const smp_view *in = &io->in;
    const int channels = in->channels;
    const int64_t first = smp_pieces_before(p, y0, in->height), end = smp_pieces_before(p, y1, in->height),
                  each = p->segments.length / p->piece, last = smp_pieces_before(p, in->height, in->height) - 1;
    smp_loudness_piece *result = io->result;
    for (int64_t segment = first / each; segment * each < end; segment++)
        for (int c = 0; c < channels; c++) {
            double z1 = 0, z2 = 0, z3 = 0, z4 = 0, o, v;
            int64_t y = segment * p->segments.length - p->segments.warm;
            for (int64_t piece = segment * each; piece < end && piece < (segment + 1) * each; piece++) {
                double energy = 0, peak = 0;
                for (; y < (piece + 1) * p->piece && y < in->height; y++) {
                    const double x = (double)smp_frame_at(in, y, c);
                    SMP_BIQUAD_STEP(&p->shelf, x, z1, z2, v);
                    SMP_BIQUAD_STEP(&p->high, v, z3, z4, o);
                    if (y < piece * p->piece || piece < first)
                        continue;
                    energy += o * o;
                    peak = peak_at(in, y, c, p->phases, peak);
                }
                if (piece < first)
                    continue;
                const int whole = (piece + 1) * p->piece <= in->height;
                result[piece * channels + c].energy = whole ? energy : smp_cut_energy(energy);
                result[piece * channels + c].peak = piece == last ? peak_behind(in, c, p->phases, peak) : peak;
            }
        }
}

enum { LANES = 8, VECTORS = LANES / SMP_LANE_VECTOR, TILE = SMP_LOUDNESS_TILE, BEFORE = SMP_PEAK_TAPS - 1 };
typedef int64_t lane_bits __attribute__((vector_size(SMP_LANE_VECTOR * 8)));

typedef struct tile {
    float (*from)[LANES];    /* frames as they come */
    smp_lanes (*x)[VECTORS]; /* BEFORE earlier ones, then the same in double */
} tile;

SMP_INLINE void raise_to(smp_lanes *most, const smp_lanes *v)
{
    const lane_bits size = (lane_bits)*v & INT64_MAX;
    const lane_bits larger = ((smp_lanes)size > *most) & ((smp_lanes)size < (double)INFINITY);
    *most = (smp_lanes)((size & larger) | ((lane_bits)*most & ~larger));
}

SMP_INLINE void load(const tile *t, const smp_view *in, const smp_lane *lanes, int count, int64_t at, int n)
{
    for (int k = 0; k < count; k++)
        smp_lane_load(&t->from[0][k], in, lanes[k].from + at, lanes[k].channel, n, LANES);
    for (int i = 0; i < n; i++)
        for (int v = 0; v < VECTORS; v++) {
            smp_lanes_f32 frame;
            __builtin_memcpy(&frame, t->from[i] + v * SMP_LANE_VECTOR, sizeof frame);
            t->x[BEFORE + i][v] = __builtin_convertvector(frame, smp_lanes);
        }
}

/* n frames through both filters, whose four states lie in z; what they add to the energy. */
SMP_INLINE void filter(const tile *t, const smp_loudness *p, smp_lanes (*z)[VECTORS], smp_lanes *energy, int n)
{
    smp_lanes z1[VECTORS], z2[VECTORS], z3[VECTORS], z4[VECTORS], sum[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        z1[v] = z[0][v], z2[v] = z[1][v], z3[v] = z[2][v], z4[v] = z[3][v], sum[v] = energy[v];
    for (int i = 0; i < n; i++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) {
            smp_lanes between, o;
            SMP_BIQUAD_STEP(&p->shelf, t->x[BEFORE + i][v], z1[v], z2[v], between);
            SMP_BIQUAD_STEP(&p->high, between, z3[v], z4[v], o);
            sum[v] += o * o;
        }
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        z[0][v] = z1[v], z[1][v] = z2[v], z[2][v] = z3[v], z[3][v] = z4[v], energy[v] = sum[v];
}

/* phases is a constant after inlining. */
SMP_INLINE void peaks(const tile *t, smp_lanes *peak, int n, const int phases)
{
    for (int v = 0; v < VECTORS; v++) {
        smp_lanes most = peak[v];
        for (int i = 0; i < n; i++) {
            smp_lanes s[SMP_PEAK_PHASES] = {{0}};
            raise_to(&most, &t->x[BEFORE + i][v]);
#pragma GCC unroll 12
            for (int k = 0; k < SMP_PEAK_TAPS; k++)
#pragma GCC unroll 4
                for (int m = 0; m < phases; m++)
                    s[m] = SMP_LANES_EXACT(t->x[BEFORE + i - k][v],
                                           (smp_lanes){0} + smp_peak_tap(smp_peak_phase(m, phases), k), s[m]);
#pragma GCC unroll 4
            for (int m = 0; m < phases; m++)
                raise_to(&most, &s[m]);
        }
        peak[v] = most;
    }
}

SMP_INLINE void keep_last(const tile *t, int n)
{
    for (int i = 0; i < BEFORE; i++)
        for (int v = 0; v < VECTORS; v++)
            t->x[i][v] = t->x[n + i][v];
}

/* A piece of all lanes, from frame `at` of them on. */
SMP_INLINE void one_piece(const tile *t, const smp_io *io, const smp_loudness *p, const smp_lane *lanes, int count,
                          int64_t at, smp_lanes (*z)[VECTORS], smp_lanes *energy, smp_lanes *peak)
{
    for (int64_t i = 0; i < p->piece; i += TILE) {
        const int n = (int)(p->piece - i < TILE ? p->piece - i : TILE);
        load(t, &io->in, lanes, count, at + i, n);
        filter(t, p, z, energy, n);
        if (p->phases == SMP_PEAK_PHASES)
            peaks(t, peak, n, SMP_PEAK_PHASES);
        else if (p->phases)
            peaks(t, peak, n, SMP_PEAK_PHASES / 2);
        else
            peaks(t, peak, n, 0);
        keep_last(t, n);
    }
}

SMP_CPU_KERNEL(loudness_tiled)
{
    const smp_loudness *p = params;
    const smp_view *in = &io->in;
    const int channels = in->channels;
    const int64_t first = smp_pieces_before(p, y0, in->height), end = smp_pieces_before(p, y1, in->height),
                  each = p->segments.length / p->piece, last = smp_pieces_before(p, in->height, in->height) - 1,
                  segments = first < end ? (end + each - 1) / each - first / each : 0;
    const tile t = {scratch, (smp_lanes(*)[VECTORS])(void *)((char *)scratch + sizeof(float[TILE][LANES]))};
    smp_loudness_piece *result = io->result;
    for (int64_t q = 0; q < segments * channels; q += LANES) {
        const int count = (int)(segments * channels - q < LANES ? segments * channels - q : LANES);
        const int64_t longest = end - (first / each + q / channels) * each;
        smp_lane lanes[LANES];
        smp_lanes z[4][VECTORS] = {{{0}}}, warming[VECTORS] = {{0}};
        for (int k = 0; k < count; k++) {
            lanes[k].channel = (int)((q + k) % channels);
            lanes[k].from = (first / each + (q + k) / channels) * p->segments.length - p->segments.warm;
        }
        __builtin_memset(scratch, 0, smp_loudness_scratch());
        for (int64_t at = 0; at < p->segments.warm; at += TILE) {
            load(&t, in, lanes, count, at, TILE);
            filter(&t, p, z, warming, TILE);
            keep_last(&t, TILE);
        }
        for (int64_t j = 0; j < each && j < longest; j++) {
            smp_lanes energy[VECTORS] = {{0}}, peak[VECTORS] = {{0}};
            one_piece(&t, io, p, lanes, count, p->segments.warm + j * p->piece, z, energy, peak);
            for (int k = 0; k < count; k++) {
                const int64_t piece = (first / each + (q + k) / channels) * each + j;
                if (piece < first || piece >= end)
                    continue;
                const double sum = energy[k / SMP_LANE_VECTOR][k % SMP_LANE_VECTOR],
                             most = peak[k / SMP_LANE_VECTOR][k % SMP_LANE_VECTOR];
                const int c = lanes[k].channel, whole = (piece + 1) * p->piece <= in->height;
                result[piece * channels + c].energy = whole ? sum : smp_cut_energy(sum);
                result[piece * channels + c].peak = piece == last ? peak_behind(in, c, p->phases, most) : most;
            }
        }
    }
}
