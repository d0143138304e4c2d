/* Passes of a transform in registers, for fourier_split.cu. A thread keeps SMP_FOURIER_KEPT numbers. Two passes of
 * radix 4, or one of 4 and one of 2, are one step: a thread has all numbers that its butterflies of the second pass
 * take, so that nothing is exchanged between them. Numbers come from where they lie into registers (FROM), wait in
 * memory of the block (MEMORY) between steps, and go from registers to where they belong (TO).
 *
 * A line may be a part of a longer transform. In Stockham's order (lib/fft.h) a pass takes the highest digit off an
 * index and puts a digit of the frequency above those that it has made: the passes with factors that multiply to d
 * work, for each place p < n / d, on the d numbers p + n / d i, and leave number k of them at k + d p; those that
 * follow work on each d neighbours of one k alone. So a line of d numbers goes through the first passes with factors of
 * index p + n / d i (`place`, `apart`), and a line of n / d numbers through the rest with its own. */
#pragma once

#include "matmul/fourier.cuh"

struct fourier_line {
    const uint8_t *radix; /* of its passes */
    int passes;
    int n;     /* numbers */
    int whole; /* numbers of the transform over the radices of the passes before */
    int place, apart;
    const float *w; /* of its first pass */
};

/* All numbers of a thread: of butterflies me, me + threads, .., whose numbers are `others` apart. */
template <int MOST, int R> struct fourier_numbers {
    float re[MOST][R], im[MOST][R];
};

/* Else a thread without a butterfly would have what it had in the step before, in registers through all other steps. */
template <int MOST, int R> SMP_DEVICE void fourier_clear(fourier_numbers<MOST, R> &kept)
{
#pragma unroll
    for (int t = 0; t < MOST; t++) {
#pragma unroll
        for (int j = 0; j < R; j++)
            kept.re[t][j] = kept.im[t][j] = 0.f;
    }
}

template <int MOST, int R, typename FROM>
SMP_DEVICE void fourier_fetch(fourier_numbers<MOST, R> &kept, const FROM &from, int me, int threads, int others)
{
#pragma unroll
    for (int t = 0; t < MOST; t++) {
        const int i = me + t * threads;
        smp_converge();
        if (i < others) {
#pragma unroll
            for (int j = 0; j < R; j++) {
                const smp_number v = from.number(i, others, j);
                kept.re[t][j] = v.v[0], kept.im[t][j] = v.v[1];
            }
        }
    }
}

/* Numbers in a block's memory. number() and put() of all that has them: number j, k of some that begin with number i
 * and are `step` apart. */
template <typename MEMORY> struct fourier_waiting {
    const MEMORY &at;
    SMP_DEVICE_MEMBER smp_number number(int i, int step, int j) const { return *at(i + step * j); }
    SMP_DEVICE_MEMBER void put(int i, int step, int k, const smp_number &v) const { *at(i + step * k) = v; }
};

/* i / s. Passes of radix 2 and 4 come first, so that s is a power of two before each of them. */
template <int R> SMP_DEVICE int fourier_over(int i, int s)
{
    return R == 4 || R == 2 ? i >> (__ffs(s) - 1) : (int)((unsigned)i / (unsigned)s);
}

template <int MOST, int R1, int R2, typename TO>
SMP_DEVICE void fourier_leave(const fourier_numbers<MOST, R1 * R2> &kept, const TO &to, int me, int threads, int others,
                              int s)
{
    constexpr int R = R1 * R2;
#pragma unroll
    for (int t = 0; t < MOST; t++) {
        const int i = me + t * threads, p = fourier_over<R1>(i, s), q = i - p * s;
        smp_converge();
        if (i < others) {
#pragma unroll
            for (int at = 0; at < R; at++) { /* number k + R1 l of the step is kept at l + R2 k */
                const int k = at % R1, l = at / R1;
                to.put(q + s * R * p, s, at, fourier_pair(kept.re[t][l + R2 * k], kept.im[t][l + R2 * k]));
            }
        }
    }
}

/* A butterfly of numbers every STEP of re and im; w: its factors. */
template <int R, int STEP> SMP_DEVICE void fourier_butterfly(float *re, float *im, bool turns, const float *w)
{
    float a[R], b[R];
#pragma unroll
    for (int j = 0; j < R; j++)
        a[j] = re[STEP * j], b[j] = im[STEP * j];
    smp_fft1_points(a, b, R);
    if (turns) {
#pragma unroll
        for (int k = 1; k < R; k++) {
            const smp_number by = fourier_get(w + 2 * (k - 1));
            smp_fft1_turn(&a[k], &b[k], by.v[0], by.v[1]);
        }
    }
#pragma unroll
    for (int j = 0; j < R; j++)
        re[STEP * j] = a[j], im[STEP * j] = b[j];
}

/* Progress of a line through its passes. */
struct fourier_progress {
    const float *w;     /* factors of the next pass */
    int s, rest, whole; /* product of the line's radices before it; the line's and the transform's numbers over all
                           radices before it */
};

/* A pass of radix R1 and, where R2 > 1, the next one of radix R2. Number j of a butterfly of the first is kept at place
 * R2 j, of one of the second at 0 .. R2-1. */
template <int R1, int R2, bool DIRECT, typename MEMORY, typename FROM, typename TO>
SMP_DEVICE void fourier_step(const fourier_line &f, fourier_progress &at, int me, int threads, const MEMORY &memory,
                             bool again, const FROM &from, const TO &to)
{
    constexpr int R = R1 * R2, MOST = (SMP_FOURIER_KEPT + R - 1) / R;
    unsigned n = (unsigned)f.n;
    smp_opaque(n); /* else nvcc computes addresses of all steps before the first, more than there are registers */
    const int others = (int)(n / R), s = at.s, m = (int)((unsigned)at.rest / R);
    const bool first = s == 1, last = m == 1, turns = at.whole > R;
    const fourier_waiting<MEMORY> waiting = {memory};
    fourier_numbers<MOST, R> kept;
    fourier_clear(kept);
    if (first)
        from.fetch(kept, me, threads, others);
    else
        fourier_fetch(kept, waiting, me, threads, others);
    const float *const w = at.w, *const next = w + 2 * (R1 - 1) * (int)((unsigned)at.whole / R1);
#pragma unroll
    for (int t = 0; t < MOST; t++) {
        const int i = me + t * threads, p = fourier_over<R1>(i, s);
        if (i < others) {
#pragma unroll
            for (int l = 0; l < R2; l++)
                fourier_butterfly<R1, R2>(&kept.re[t][l], &kept.im[t][l], R2 > 1 || turns,
                                          w + 2 * (R1 - 1) * (f.place + f.apart * (p + m * l)));
            if (R2 > 1) {
#pragma unroll
                for (int k = 0; k < R1; k++)
                    fourier_butterfly<R2, 1>(&kept.re[t][R2 * k], &kept.im[t][R2 * k], turns,
                                             next + 2 * (R2 - 1) * (f.place + f.apart * p));
            }
        }
    }
    at.w = R2 > 1 ? next + 2 * (R2 - 1) * (int)((unsigned)at.whole / R) : next;
    at.s = s * R, at.rest = m, at.whole = (int)((unsigned)at.whole / R);
    if (DIRECT && last) {
        fourier_leave<MOST, R1, R2>(kept, to, me, threads, others, s);
        return;
    }
    if (!first || again)
        __syncthreads(); /* all threads have read what is overwritten now */
    fourier_leave<MOST, R1, R2>(kept, waiting, me, threads, others, s);
    __syncthreads();
}

/* A line of one number, which the thread that puts it there takes again. */
template <bool DIRECT, typename MEMORY, typename FROM, typename TO>
SMP_DEVICE void fourier_single(int me, const MEMORY &memory, const FROM &from, const TO &to)
{
    const fourier_waiting<MEMORY> waiting = {memory};
    fourier_numbers<1, 1> kept;
    fourier_clear(kept);
    from.fetch(kept, me, 1, 1);
    if (DIRECT)
        fourier_leave<1, 1, 1>(kept, to, me, 1, 1, 1);
    else
        fourier_leave<1, 1, 1>(kept, waiting, me, 1, 1, 1);
}

/* All passes of a line of f.n numbers, of which a thread has at most SMP_FOURIER_KEPT: f.n / SMP_FOURIER_KEPT
 * threads or more. again: the block's memory was in use before. DIRECT: the result goes `to`; else it waits in memory,
 * and a barrier has passed where there is more than one number. */
template <bool DIRECT, typename MEMORY, typename FROM, typename TO>
SMP_DEVICE void fourier_passes(const fourier_line &f, int me, int threads, const MEMORY &memory, bool again,
                               const FROM &from, const TO &to)
{
    fourier_progress at = {f.w, 1, f.n, f.whole};
    if (f.n == 1)
        fourier_single<DIRECT>(me, memory, from, to);
#pragma unroll 1
    for (int pass = 0; pass < f.passes;) {
        const int r = f.radix[pass], next = r == 4 && pass + 1 < f.passes ? f.radix[pass + 1] : 1;
        pass += next == 4 || next == 2 ? 2 : 1;
        if (next == 4)
            fourier_step<4, 4, DIRECT>(f, at, me, threads, memory, again, from, to);
        else if (next == 2)
            fourier_step<4, 2, DIRECT>(f, at, me, threads, memory, again, from, to);
        else if (r == 4)
            fourier_step<4, 1, DIRECT>(f, at, me, threads, memory, again, from, to);
        else if (r == 2)
            fourier_step<2, 1, DIRECT>(f, at, me, threads, memory, again, from, to);
        else if (r == 3)
            fourier_step<3, 1, DIRECT>(f, at, me, threads, memory, again, from, to);
        else if (r == 5)
            fourier_step<5, 1, DIRECT>(f, at, me, threads, memory, again, from, to);
        else
            fourier_step<7, 1, DIRECT>(f, at, me, threads, memory, again, from, to);
    }
}
