/* loudness on GPUs: a thread has a segment and a channel, as in eq.cu.
 *   naive   every thread reads its own frames, those for the peaks twelve times.
 *   tiled   a warp brings 32 frames of each of its segments into shared memory, where the 32 before stay. Lanes walk
 *           down a column: with rows of 64 frames, the segments' frames lie in one bank.
 *   padded  a frame more in each row spreads a column over all banks. */
#include "audio/loudness.h"

#include "lib/gpu_kernel.h"

/* Output of a launch, and where its segments begin. */
struct loudness_work {
    int64_t first, end, each, last, segment, segments;
};

SMP_DEVICE loudness_work loudness_of(const smp_io &io, const smp_loudness &p)
{
    loudness_work w;
    w.first = smp_pieces_before(&p, io.out.y0, io.in.height);
    w.end = smp_pieces_before(&p, io.out.y0 + io.out.rows, io.in.height);
    w.each = p.segments.length / p.piece;
    w.last = smp_pieces_before(&p, io.in.height, io.in.height) - 1;
    w.segment = w.first / w.each;
    w.segments = w.first < w.end ? (w.end + w.each - 1) / w.each - w.segment : 0;
    return w;
}

/* The state of a lane: filters, and what it has of the piece at hand. */
struct loudness_lane {
    double z1, z2, z3, z4, energy, peak;
};

SMP_DEVICE void loudness_frame(loudness_lane &lane, const smp_loudness &p, double x)
{
    double v, o;
    SMP_BIQUAD_STEP(&p.shelf, x, lane.z1, lane.z2, v);
    SMP_BIQUAD_STEP(&p.high, v, lane.z3, lane.z4, o);
    lane.energy += o * o;
}

template <int PHASES> SMP_DEVICE void loudness_between(loudness_lane &lane, const float (&x)[SMP_PEAK_TAPS])
{
#pragma unroll
    for (int n = 0; n < PHASES; n++) {
        double s = 0;
#pragma unroll
        for (int k = 0; k < SMP_PEAK_TAPS; k++)
            s += smp_peak_tap(smp_peak_phase(n, PHASES), k) * (double)x[k];
        lane.peak = smp_larger(lane.peak, s);
    }
}

/* x: the frame and eleven before it, latest first. */
SMP_DEVICE void loudness_peak(loudness_lane &lane, const smp_loudness &p, const float (&x)[SMP_PEAK_TAPS])
{
    lane.peak = smp_larger(lane.peak, (double)x[0]);
    if (p.phases == SMP_PEAK_PHASES)
        loudness_between<SMP_PEAK_PHASES>(lane, x);
    else if (p.phases)
        loudness_between<SMP_PEAK_PHASES / 2>(lane, x);
}

SMP_DEVICE void loudness_peak_at(loudness_lane &lane, const smp_io &io, const smp_loudness &p, int64_t y, int channel)
{
    float x[SMP_PEAK_TAPS];
    for (int k = 0; k < SMP_PEAK_TAPS; k++)
        x[k] = smp_frame_at(&io.in, y - k, channel);
    loudness_peak(lane, p, x);
}

/* A piece is complete: writes its record if it belongs to the launch, and begins the next. */
SMP_DEVICE void loudness_put(loudness_lane &lane, const smp_io &io, const smp_loudness &p, const loudness_work &w,
                             int64_t piece, int channel)
{
    for (int64_t y = io.in.height; piece == w.last && p.phases && y < io.in.height + SMP_PEAK_TAPS - 1; y++)
        loudness_peak_at(lane, io, p, y, channel);
    smp_loudness_piece record = {lane.energy, lane.peak};
    if ((piece + 1) * p.piece > io.in.height)
        record.energy = smp_cut_energy(lane.energy);
    if (piece >= w.first && piece < w.end)
        static_cast<smp_loudness_piece *>(io.result)[piece * io.in.channels + channel] = record;
    lane.energy = lane.peak = 0;
}

/* Geometry: a thread a segment and channel. */
SMP_KERNEL(loudness_naive_f32_f32, smp_loudness, io, p)
{
    const loudness_work w = loudness_of(io, p);
    const int channels = io.in.channels;
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= w.segments * channels)
        return;
    const int channel = (int)(q % channels);
    const int64_t segment = w.segment + q / channels, start = segment * p.segments.length;
    loudness_lane lane = {};
    for (int64_t y = start - p.segments.warm; y < start; y++)
        loudness_frame(lane, p, smp_frame_at(&io.in, y, channel));
    lane.energy = 0;
    for (int64_t piece = segment * w.each; piece < min(w.end, (segment + 1) * w.each); piece++) {
        for (int64_t y = piece * p.piece; y < (piece + 1) * p.piece; y++) {
            loudness_frame(lane, p, smp_frame_at(&io.in, y, channel));
            loudness_peak_at(lane, io, p, y, channel);
        }
        loudness_put(lane, io, p, w, piece, channel);
    }
}

/* Geometry: a block of one warp takes 32 / channels segments. */
template <int PAD> SMP_DEVICE void loudness_blocks(const smp_io &io, const smp_loudness &p)
{
    enum { FRAMES = SMP_LOUDNESS_FRAMES, RING = 2 * FRAMES, ROW = RING + PAD };
    struct tile {
        float v[32 * ROW];
    };
    SMP_SHARED(tile, s);
    const loudness_work w = loudness_of(io, p);
    const int channels = io.in.channels, side = 32 / channels, me = (int)threadIdx.x;
    const int mine = me / channels, channel = me % channels;
    const int64_t before = (int64_t)blockIdx.x * side, segment = w.segment + before,
                  start = segment * p.segments.length;
    if (before >= w.segments) /* no piece begins in this strip */
        return;
    const int segments = (int)min((int64_t)side, w.segments - before);
    const int64_t stop =
        min(p.segments.length, w.end * p.piece - start); /* what the first segment needs is the longest */
    int64_t piece = (segment + mine) * w.each, left = p.piece;
    loudness_lane lane = {};
    for (int64_t at = -p.segments.warm; at < stop; at += FRAMES) {
        const int half = (int)(at & FRAMES); /* the ring's half that these frames take */
        for (int k = 0; k < segments; k++)
            for (int i = me; i < FRAMES * channels; i += 32)
                s.v[(k * ROW + half) * channels + i] =
                    smp_frame_at(&io.in, start + k * p.segments.length + at + i / channels, i % channels);
        __syncwarp();
        const float *const row = &s.v[mine * ROW * channels + channel];
        for (int i = 0; i < FRAMES && mine < segments; i++) {
            if (at + i == 0) /* what was added up while warming */
                lane.energy = 0;
            float x[SMP_PEAK_TAPS];
            x[0] = row[(half + i) * channels];
            loudness_frame(lane, p, (double)x[0]);
            if (at < 0)
                continue;
#pragma unroll
            for (int k = 1; k < SMP_PEAK_TAPS; k++)
                x[k] = row[((half + i - k) & (RING - 1)) * channels];
            loudness_peak(lane, p, x);
            if (--left == 0) {
                loudness_put(lane, io, p, w, piece++, channel);
                left = p.piece;
            }
        }
        __syncwarp();
    }
}

SMP_KERNEL(loudness_tiled_f32_f32, smp_loudness, io, p)
{
    loudness_blocks<0>(io, p);
}
SMP_KERNEL(loudness_padded_f32_f32, smp_loudness, io, p)
{
    loudness_blocks<1>(io, p);
}
