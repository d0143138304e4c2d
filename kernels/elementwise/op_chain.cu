/* op_chain on GPUs.
 *   naive  one sample a thread, always computed.
 *   tiled  16 bytes a thread and access. Bytes are looked up in a table in shared memory that each block makes, so that
 *          the length of the chain costs nothing; wider samples, and bytes whose clipping is counted, are computed, an
 *          operation at a time behind a branch that all threads take alike. Memory bandwidth is the bound. */
#include "elementwise/op_chain.h"
#include "lib/elementwise.cuh"

/* The LONG operations, called: written out for each sample, they would take most of the code. */
SMP_DEVICE_COLD float op_chain_long(smp_sample_op op, float v)
{
    return smp_sample_op_apply(&op, v);
}

/* The chain on N samples, an operation after the other. alpha: a bit for each sample that is one of alpha. */
template <int N> SMP_DEVICE void op_chain_each(const smp_op_chain &chain, float (&v)[N], unsigned alpha)
{
#pragma unroll 1
    for (int k = 0; k < chain.count; k++) {
        const smp_sample_op &op = chain.op[k];
        const unsigned kept = op.with_alpha ? 0 : alpha;
        float becomes[N];
        switch (op.kind) {
#define LONG(NAME)
#define SHORT(NAME)                                                                                                    \
    case SMP_OP_##NAME: {                                                                                              \
        smp_##NAME p;                                                                                                  \
        memcpy(&p, op.params, sizeof p);                                                                               \
        _Pragma("unroll") for (int j = 0; j < N; j++) becomes[j] = smp_##NAME##_sample(v[j], 0, &p);                   \
        break;                                                                                                         \
    }
#define OP(NAME, KINDS, GPU) GPU(NAME)
#include "elementwise/op_list.def"
#undef OP
#undef SHORT
#undef LONG
        default:
#pragma unroll
            for (int j = 0; j < N; j++)
                becomes[j] = op_chain_long(op, v[j]);
        }
#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] = kept >> j & 1 ? v[j] : becomes[j];
    }
}

/* For tables. ALPHA: whether there is one; without it the channel of a sample does not matter. */
template <bool ALPHA> struct op_chain_op {
    static constexpr bool by_channel = ALPHA, with_alpha = true;
    const smp_op_chain &chain;
    int alpha; /* the channel that it is */
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const
    {
        float one[1] = {v};
        op_chain_each(chain, one, ALPHA && channel == alpha);
        return one[0];
    }
};

/* Computed in runs (smp_point_runs). */
template <typename IN, typename OUT> struct op_chain_run {
    const smp_io &io;
    const smp_op_chain &chain;
    unsigned &clipped;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t, int64_t i) const
    {
        float v[N];
        unsigned alpha = 0;
        if (io.in.alpha)
            for (int j = 0, channel = smp_point_channel(io, i); j < N; j++) {
                alpha |= (unsigned)(channel == io.in.channels - 1) << j;
                channel = channel + 1 < io.in.channels ? channel + 1 : 0;
            }
#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] = smp_value(from[j]);
        op_chain_each(chain, v, alpha);
#pragma unroll
        for (int j = 0; j < N; j++)
            to[j] = smp_point_rounded<OUT>(io, v[j], &clipped);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void op_chain_naive(const smp_io &io, const smp_op_chain &p)
{
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, op_chain_run<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(op_chain_naive, smp_op_chain)

template <typename IN, typename OUT> SMP_DEVICE void op_chain_tiled(const smp_io &io, const smp_op_chain &p)
{
    if constexpr (sizeof(IN) == 1)
        if (!io.clipped) {
            if (io.in.alpha)
                smp_point_tables<IN, OUT>(io, op_chain_op<true>{p, io.in.channels - 1});
            else
                smp_point_tables<IN, OUT>(io, op_chain_op<false>{p, -1});
            return;
        }
    unsigned clipped = 0;
    smp_point_runs<IN, OUT>(io, smp_span_of<IN, OUT>(io), op_chain_run<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(op_chain_tiled, smp_op_chain)
