/* Tone curves on GPUs: gamma and the sRGB transfer function.
 *   naive  one sample a thread, always computed.
 *   tiled  16 bytes a thread and access. Bytes are looked up in a table in shared memory that each block makes: the
 * curve's 45 operations a byte would take twice the time of moving it. Wider samples are computed. */
#include "elementwise/tone_curve.h"
#include "lib/elementwise.cuh"

struct tone_curve_op {
    static constexpr bool by_channel = false, with_alpha = false;
    int32_t kind;
    float exponent, white;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return smp_tone_curve_value(kind, exponent, v, white); }
};

template <typename IN, typename OUT> SMP_DEVICE void tone_curve_naive(const smp_io &io, const smp_tone_curve &p)
{
    smp_point_each<IN, OUT>(io, tone_curve_op{p.kind, p.exponent, io.in.white});
}
SMP_KERNEL_FORMATS(tone_curve_naive, smp_tone_curve)

template <typename IN, typename OUT> SMP_DEVICE void tone_curve_tiled(const smp_io &io, const smp_tone_curve &p)
{
    smp_point_tables<IN, OUT>(io, tone_curve_op{p.kind, p.exponent, io.in.white});
}
SMP_KERNEL_FORMATS(tone_curve_tiled, smp_tone_curve)
