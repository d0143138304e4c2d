/* Strips of floats whose rows begin anywhere, by words: what strip.cuh does at multiples of 16 bytes.
 *
 * In: copies of 4 bytes, straight into place, so that nothing is moved afterwards; where a strip reaches over the
 * picture's end, of the samples that the border rule says. Out: results take the place of the row that was read for
 * the last time; at the end of their group they leave as words side by side (strip_flush_words). A copy of 16 bytes a
 * lane is four wavefronts of shared memory, as many as four of 4 bytes; moving it by words 16 bytes apart would be 16
 * more. */
#ifndef SMP_KERNELS_STRIP_ODD_FLOATS_CUH
#define SMP_KERNELS_STRIP_ODD_FLOATS_CUH

#include "strip.cuh"

/* Parameters, and what a march calls, as strip_loader's. */
template <int C, int ACROSS, int SIDE, int ROWS, int STAGES>
struct strip_words_loader : strip_loader<float, C, ACROSS, SIDE, ROWS, STAGES> {
    typedef strip_loader<float, C, ACROSS, SIDE, ROWS, STAGES> base;
    typedef typename base::rows_type rows_type;
    using base::edge, base::from, base::in, base::n, base::next, base::quick, base::reach, base::side_from,
        base::side_row, base::side_to, base::to, base::wanted, base::whole, base::x0;
    using base::PITCH;
    static constexpr bool ODD = true;
    static constexpr int WIDE = ACROSS + 2 * SIDE, REST = WIDE % 32; /* of a row's samples; those past whole warps' */
    static constexpr int REST_TURN = strip_halves(ROWS, 32 / (REST ? REST : 32)); /* rows whose rest is one copy */

    SMP_MEMBER strip_words_loader(rows_type &rows, const smp_view &view, int start, int far, int border)
        : base(rows, view, start, far, border)
    {
        const int lane = (int)threadIdx.x;
        whole = x0 >= SIDE && x0 + ACROSS + SIDE <= n; /* wherever rows begin */
        to = rows.first() + lane;
        side_row = lane / (32 / REST_TURN);
        side_to = to - lane + side_row * PITCH + rest();
    }
    /* Which sample of a row a lane brings of what is left past whole warps'. */
    SMP_MEMBER int rest() const { return WIDE - REST + (int)threadIdx.x % (32 / REST_TURN); }
    SMP_MEMBER void begin(int64_t top, int rows, int groups)
    {
        base::begin(top, rows, groups);
        from = smp_in<float>(in, top) + (x0 - SIDE + (int)threadIdx.x);
        side_from = smp_in<float>(in, top + side_row) + (x0 - SIDE + rest());
    }
    SMP_MEMBER void load(int offset)
    {
        if (!quick) {
            load_edge(offset);
            next += ROWS;
            wanted -= ROWS;
            return;
        }
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
#pragma unroll
            for (int i = 0; i + 32 <= WIDE; i += 32)
                smp_copy_async<4>(to + offset + q * PITCH + i, from + i);
            base::go_down(from, 1);
        }
        if (REST > 0 && rest() < WIDE)
#pragma unroll
            for (int q = 0; q < ROWS; q += REST_TURN) {
                smp_copy_async<4>(side_to + offset + q * PITCH, side_from);
                base::go_down(side_from, REST_TURN);
            }
    }
    /* load() of rows or columns that the border rule makes. */
    SMP_MEMBER void load_edge(int offset) const
    {
#pragma unroll 1
        for (int q = 0; q < ROWS; q++) {
            const float *const line = base::line_of(next + q, q < wanted);
#pragma unroll 1
            for (int i = (int)threadIdx.x; i < WIDE; i += 32) {
                smp_together();
                const int at = x0 - SIDE + i;
                const bool near = at >= -reach && at < n + reach; /* else only taps of weight zero read it */
                const int source = line && near ? strip_border(at, n, C, edge) : -1;
                float *const place = to + offset + q * PITCH + (i - (int)threadIdx.x);
                if (source >= 0)
                    smp_copy_async<4>(place, line + source);
                else
                    *place = 0.f;
            }
        }
    }
    SMP_MEMBER bool unsettled() const
    {
        return false;
    }
};

/* Stores rows first .. last - 1 of a group of ROWS results, of `count` samples each, ACROSS at most: row q lies at made
 * + (at + q * PITCH) modulo RING, if that is one, and goes to row q of out, at any address. A group that is there as a
 * whole, as most are, is stored without a question. */
template <int ACROSS, int ROWS, int PITCH, int RING>
SMP_DEVICE void strip_flush_words(const float *made, int at, float *out, int64_t stride, int first, int last, int count)
{
    const int lane = (int)threadIdx.x;
    made += lane;
    out += lane;
    if (!RING && first <= 0 && last >= ROWS && count >= ACROSS) {
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
#pragma unroll
            for (int i = 0; i < ACROSS; i += 32)
                out[i] = made[at + q * PITCH + i];
            out = reinterpret_cast<float *>(reinterpret_cast<char *>(out) + stride);
        }
        return;
    }
#pragma unroll 1
    for (int q = 0; q < ROWS; q++) {
        if (RING && at >= RING)
            at -= RING;
        if (q >= first && q < last)
#pragma unroll
            for (int i = 0; i < ACROSS; i += 32) {
                smp_together();
                if (i + lane < count)
                    out[i] = made[at + i];
            }
        out = reinterpret_cast<float *>(reinterpret_cast<char *>(out) + stride);
        at += PITCH;
    }
}

#endif
