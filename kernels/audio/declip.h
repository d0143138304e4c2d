/* declip: samples that were cut off, as the sound around them goes on. Parameters, definition, kernels.
 *
 * The sound is cut into blocks of 256 frames, each of which has a window, itself and 256 frames on either side (0
 * outside the sound). Unknown are the window's samples that reach the level, up to 32 frames beside the block. Three
 * times: an autoregressive model of order 20 is made of the window's samples under a squared sine (autocorrelation,
 * Levinson and Durbin), and the unknown samples are those of the least sum of squares of its error (Janssen, Veldhuis
 * and Vries, 1986): LDL of a band matrix. A sample stays on its side and lies between once and four times the level.
 * All in double, sums in the order below. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_DECLIP_BLOCK = 256,
    SMP_DECLIP_SIDE = 256,  /* frames of the window on either side */
    SMP_DECLIP_MARGIN = 32, /* of these, frames whose samples may be unknown */
    SMP_DECLIP_ORDER = 20,
    SMP_DECLIP_PASSES = 3,
    SMP_DECLIP_SIZE = SMP_DECLIP_BLOCK + 2 * SMP_DECLIP_SIDE,
    SMP_DECLIP_UNKNOWN = SMP_DECLIP_BLOCK + 2 * SMP_DECLIP_MARGIN
};

typedef struct smp_declip {
    float level;
} smp_declip;

/* What a window is computed in: a CPU thread's scratch, a GPU block's shared memory. */
typedef struct smp_declip_work {
    double x[SMP_DECLIP_SIZE];
    union {
        double z[SMP_DECLIP_SIZE + SMP_DECLIP_ORDER];                             /* under the squared sine */
        double band[SMP_DECLIP_UNKNOWN + SMP_DECLIP_ORDER][SMP_DECLIP_ORDER + 1]; /* the diagonal, those beside it */
    } m;
    double to[SMP_DECLIP_UNKNOWN + SMP_DECLIP_ORDER]; /* the right-hand side, then the solution */
    double r[SMP_DECLIP_ORDER + 1], b[SMP_DECLIP_ORDER + 1];
    int16_t at[SMP_DECLIP_UNKNOWN];
    int32_t count, inside; /* unknown samples; those of the block */
} smp_declip_work;

SMP_HOST_DEVICE int smp_clipped(const smp_declip *p, float v)
{
    return smp_abs(v) >= p->level; /* infinite ones are, NaN is not */
}

/* A team's threads share out the loops: a warp, or one thread of a CPU. */
#ifdef SMP_DEVICE
#define SMP_TEAM            SMP_DEVICE
#define SMP_TEAM_TOGETHER() __syncwarp()
#else
#define SMP_TEAM            SMP_HOST_DEVICE
#define SMP_TEAM_TOGETHER() (void)0
#endif

/* a, of the model, from r; b: its autocorrelation. */
SMP_TEAM void smp_declip_model(smp_declip_work *w)
{
    enum { ORDER = SMP_DECLIP_ORDER };
    double a[ORDER + 1] = {1}, before[ORDER + 1], error = w->r[0] * (1 + 1e-9);
    const double least = error * 1e-12;
    for (int k = 1; k <= ORDER && error > least; k++) {
        double sum = w->r[k];
        for (int i = 1; i < k; i++)
            sum = sum + a[i] * w->r[k - i];
        const double turn = -sum / error;
        for (int i = 0; i < k; i++)
            before[i] = a[i];
        a[k] = turn;
        for (int i = 1; i < k; i++)
            a[i] = before[i] + turn * before[k - i];
        error = error * (1 - turn * turn);
    }
    for (int k = 0; k <= ORDER; k++) {
        double sum = 0;
        for (int i = 0; i + k <= ORDER; i++)
            sum = sum + a[i] * a[i + k];
        w->b[k] = sum;
    }
}

/* The unknown samples by the model. */
SMP_TEAM void smp_declip_solve(smp_declip_work *w, int me, int team)
{
    enum { ORDER = SMP_DECLIP_ORDER };
    for (int i = me; i < w->count; i += team)
        w->x[w->at[i]] = 0;
    SMP_TEAM_TOGETHER();
    for (int i = me; i < w->count + ORDER; i += team) {
        double sum = 0;
        for (int d = -ORDER; i < w->count && d <= ORDER; d++)
            sum = sum - w->b[d < 0 ? -d : d] * w->x[w->at[i] + d];
        w->to[i] = sum;
        for (int d = 0; d <= ORDER; d++) {
            const int apart = i + d < w->count ? w->at[i + d] - w->at[i] : ORDER + 1;
            w->m.band[i][d] = apart <= ORDER ? w->b[apart] : 0;
        }
    }
    SMP_TEAM_TOGETHER();
    const double least = w->b[0] * 1e-9;
    for (int j = 0; j < w->count; j++) {
        const double own = w->m.band[j][0], pivot = own > least ? own : least, to = w->to[j];
        for (int m = 1 + me; m <= ORDER; m += team) {
            const double part = w->m.band[j][m] / pivot;
            w->to[j + m] = w->to[j + m] - part * to;
            for (int k = m; k <= ORDER; k++)
                w->m.band[j + m][k - m] = w->m.band[j + m][k - m] - part * w->m.band[j][k];
        }
        SMP_TEAM_TOGETHER();
    }
    for (int j = w->count - 1; me == 0 && j >= 0; j--) {
        const double own = w->m.band[j][0], pivot = own > least ? own : least;
        double sum = w->to[j];
        for (int m = 1; m <= ORDER && j + m < w->count; m++)
            sum = sum - w->m.band[j][m] * w->to[j + m];
        w->to[j] = sum / pivot;
    }
    SMP_TEAM_TOGETHER();
}

/* Computes the window around frames y0 .. y0+255 of a channel. True: w->x has what the block's clipped samples become;
 * false: it has none. table: the squared sine. */
SMP_TEAM int smp_declip_window(smp_declip_work *w, const smp_declip *p, const smp_view *in, const double *table,
                               int64_t y0, int channel, int me, int team)
{
    enum { SIZE = SMP_DECLIP_SIZE, SIDE = SMP_DECLIP_SIDE, MARGIN = SMP_DECLIP_MARGIN, ORDER = SMP_DECLIP_ORDER };
    const int64_t first = y0 - SIDE;
    const double level = (double)p->level;
    for (int i = me; i < SIZE; i += team) {
        const float v = smp_frame_at(in, first + i, channel), finite = smp_abs(v) < INFINITY ? v : 0.f;
        w->x[i] = (double)finite;
    }
    if (me == 0)
        w->count = w->inside = 0;
    for (int i = SIDE - MARGIN; me == 0 && i < SIZE - SIDE + MARGIN; i++)
        if (smp_clipped(p, smp_frame_at(in, first + i, channel))) {
            w->inside += i >= SIDE && i < SIZE - SIDE;
            w->at[w->count++] = (int16_t)i;
        }
    SMP_TEAM_TOGETHER();
    for (int pass = 0; pass < SMP_DECLIP_PASSES && w->inside; pass++) {
        for (int i = me; i < SIZE + ORDER; i += team)
            w->m.z[i] = i < SIZE ? w->x[i] * table[i] : 0;
        for (int k = me; k <= ORDER; k += team)
            w->r[k] = 0;
        SMP_TEAM_TOGETHER();
        for (int i = 0; i < SIZE; i++)
            for (int k = me; k <= ORDER; k += team)
                w->r[k] = w->r[k] + w->m.z[i] * w->m.z[i + k];
        SMP_TEAM_TOGETHER();
        if (me == 0)
            smp_declip_model(w);
        SMP_TEAM_TOGETHER();
        smp_declip_solve(w, me, team);
        for (int i = me; i < w->count; i += team) {
            const int below = smp_frame_at(in, first + w->at[i], channel) < 0.f;
            double size = below ? -w->to[i] : w->to[i];
            size = size > level ? size : level;
            size = size < 4 * level ? size : 4 * level;
            w->x[w->at[i]] = below ? -size : size;
        }
        SMP_TEAM_TOGETHER();
    }
    return w->inside > 0;
}

SMP_CPU_DECLARE(declip_naive);
