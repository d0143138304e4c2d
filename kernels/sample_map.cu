/* sample_map on GPUs: a program of operations on single samples.
 *   naive  one sample a thread, always computed.
 *   tiled  16 bytes a thread and access. Bytes are looked up in a table in shared memory that each block makes, so that
 *          the length of the program costs nothing; wider samples, and bytes whose clipping is counted, are computed,
 *          an operation at a time behind a branch that all threads take alike. Memory bandwidth is the bound. */
#include "sample_map.h"
#include "smp_point.cuh"

/* Without alpha the channel of a sample does not matter. */
struct sample_map_op {
    static constexpr bool by_channel = false, with_alpha = true;
    const smp_map &map;
    SMP_MEMBER float operator()(float v, int) const { return smp_map_sample(&map, v, 0); }
};

struct sample_map_alpha_op {
    static constexpr bool by_channel = true, with_alpha = true;
    const smp_map &map;
    int alpha;
    SMP_MEMBER float operator()(float v, int channel) const { return smp_map_sample(&map, v, channel == alpha); }
};

template <typename IN, typename OUT> SMP_DEVICE void sample_map_naive(const smp_io &io, const smp_map &p)
{
    if (io.in.alpha)
        smp_point_each<IN, OUT>(io, sample_map_alpha_op{p, io.in.channels - 1});
    else
        smp_point_each<IN, OUT>(io, sample_map_op{p});
}
SMP_KERNEL_FORMATS(sample_map_naive, smp_map)

template <typename IN, typename OUT, typename OP> SMP_DEVICE void sample_map_by(const smp_io &io, const OP &op)
{
    if (io.clipped)
        smp_point_packs<IN, OUT>(io, op);
    else
        smp_point_tables<IN, OUT>(io, op);
}

template <typename IN, typename OUT> SMP_DEVICE void sample_map_tiled(const smp_io &io, const smp_map &p)
{
    if (io.in.alpha)
        sample_map_by<IN, OUT>(io, sample_map_alpha_op{p, io.in.channels - 1});
    else
        sample_map_by<IN, OUT>(io, sample_map_op{p});
}
SMP_KERNEL_FORMATS(sample_map_tiled, smp_map)
