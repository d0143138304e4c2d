/* What GPU kernels share that read every sample of a picture and write none: samples in groups of 16-byte words that
 * hold whole pixels, so that the channel of each sample is known where the code is compiled, and a walk over such
 * groups without divisions. */
#ifndef SMP_KERNELS_GROUP_CUH
#define SMP_KERNELS_GROUP_CUH

#include "smp_kernel.h"

/* The smallest number of 16-byte words that hold whole pixels of C samples of T: three for three channels, else one. */
template <typename T, int C> struct smp_group {
    static constexpr int word = 16 / (int)sizeof(T); /* samples */
    static constexpr int words = C == 3 ? 3 : 1;
    static constexpr int pixels = words * word / C;
    static_assert(C <= 4, "1 to 4 channels");
    smp_pack<uint32_t, 4> v[words]; /* as they came: compilers keep bytes apart in a register each */

    SMP_MEMBER void load(const T *at)
    {
#pragma unroll
        for (int i = 0; i < words; i++)
            v[i] = reinterpret_cast<const smp_pack<uint32_t, 4> *>(at)[i];
    }
    /* 32 bits of it, and one sample. Indices are constants where loops are unrolled. */
    SMP_MEMBER uint32_t bits(int i) const
    {
        return v[i / 4].v[i % 4];
    }
    SMP_MEMBER T sample(int pixel, int channel) const
    {
        constexpr int each = 4 / (int)sizeof(T);
        const int i = pixel * C + channel;
        return from_bits(bits(i / each) >> 32 / each * (i % each), static_cast<const T *>(nullptr));
    }

  private:
    static SMP_MEMBER uint8_t from_bits(uint32_t v, const uint8_t *)
    {
        return (uint8_t)v;
    }
    static SMP_MEMBER uint16_t from_bits(uint32_t v, const uint16_t *)
    {
        return (uint16_t)v;
    }
    static SMP_MEMBER float from_bits(uint32_t v, const float *)
    {
        return __uint_as_float(v);
    }
};

/* Rows of `across` places each, visited from place `first` on in steps of `step`; y and k are the row and the place in
 * it. Fewer than 2^32 rows, and places in a row (smp_walk_fits): 32-bit numbers take half the registers. */
SMP_DEVICE bool smp_walk_fits(int64_t n)
{
    return n < UINT32_MAX / 2;
}
struct smp_walk {
    uint32_t y, k, rows, across, step_y, step_k;

    SMP_MEMBER void start(int64_t first, int64_t step, int64_t across_, int64_t rows_)
    {
        across = (uint32_t)across_;
        rows = (uint32_t)rows_;
        y = (uint32_t)(first / across_);
        k = (uint32_t)(first % across_);
        step_y = (uint32_t)(step / across_);
        step_k = (uint32_t)(step % across_);
    }
    /* The same by 32-bit divisions, which are quicker. */
    SMP_MEMBER void start32(uint32_t first, uint32_t step, uint32_t across_, uint32_t rows_)
    {
        across = across_;
        rows = rows_;
        y = first / across;
        k = first % across;
        step_y = step / across;
        step_k = step % across;
    }
    SMP_MEMBER bool more() const { return y < rows; }
    SMP_MEMBER void next()
    {
        y += step_y;
        k += step_k;
        if (k >= across) {
            k -= across;
            y++;
        }
    }
};

#endif
