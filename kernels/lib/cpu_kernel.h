/* Shared by CPU kernel files (kernels/ROOM/NAME.c). Each is compiled once for every instruction set of SMP_ISA; the
 * device picks one at start. A kernel is a function SMP_CPU_KERNEL(name) of type smp_cpu_fn; its header declares it
 * with SMP_CPU_DECLARE(name), and the stage's descriptor names it with SMP_CPU(name).
 *
 * A kernel computes rows y0 .. y1-1 of io->out. It neither allocates, locks nor does I/O, and shares no state: the
 * device runs it on several threads for different rows. Arithmetic is compiled with -ffp-contract=off: write fmaf where
 * a fused operation is meant. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "lib/view.h"

/* params: the stage's kernel parameter struct. scratch: smp_variant.scratch() bytes of this thread, aligned to 64. */
typedef void smp_cpu_fn(const smp_io *io, const void *params, void *scratch, int64_t y0, int64_t y1);

typedef enum smp_isa { SMP_ISA_BASE, SMP_ISA_V3, SMP_ISA_V4, SMP_ISAS } smp_isa;

typedef struct smp_cpu_kernel {
    smp_cpu_fn *fn[SMP_ISAS];
} smp_cpu_kernel;

#define SMP_PASTE_(a, b) a##_##b
#define SMP_PASTE(a, b)  SMP_PASTE_(a, b)

#ifdef __cplusplus
#define SMP_EXTERN_C extern "C"
#else
#define SMP_EXTERN_C
#endif

#if defined(__x86_64__)
#define SMP_CPU_DECLARE(name) SMP_EXTERN_C smp_cpu_fn name##_base, name##_v3, name##_v4
#define SMP_CPU(name)                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            name##_base, name##_v3, name##_v4                                                                          \
        }                                                                                                              \
    }
#else
#define SMP_CPU_DECLARE(name) SMP_EXTERN_C smp_cpu_fn name##_base
#define SMP_CPU(name)                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            name##_base, name##_base, name##_base                                                                      \
        }                                                                                                              \
    }
#endif

#ifdef SMP_ISA /* set while compiling a CPU kernel file: base, v3 or v4 */
#define SMP_UNUSED __attribute__((unused))
#define SMP_CPU_KERNEL(name)                                                                                           \
    void SMP_PASTE(name, SMP_ISA)(const smp_io *io, SMP_UNUSED const void *params, SMP_UNUSED void *scratch,           \
                                  int64_t y0, int64_t y1)
/* Not inlined under a sanitizer, which would instrument every copy: gcc would take long. */
#ifdef __SANITIZE_ADDRESS__
#define SMP_INLINE static inline __attribute__((unused))
#else
#define SMP_INLINE static inline __attribute__((always_inline, unused))
#endif
/* Loops over a block or a row that say nothing of the stage: compiled once a file, not in each place that calls them.
 */
#define SMP_APART static __attribute__((noinline, unused))

/* Calls fn(to, OUT, from, IN, ...) with the two formats as constants: one always-inline function becomes a loop for
 * each pair of the planner: X to X, X to f32, f32 to X. */
#define SMP_BY_FORMATS(out_format, in_format, fn, to, from, ...)                                                       \
    do {                                                                                                               \
        switch ((out_format)*SMP_FORMATS + (in_format)) {                                                              \
        case SMP_U8 *SMP_FORMATS + SMP_U8:                                                                             \
            fn(to, SMP_U8, from, SMP_U8, __VA_ARGS__);                                                                 \
            break;                                                                                                     \
        case SMP_U16 *SMP_FORMATS + SMP_U16:                                                                           \
            fn(to, SMP_U16, from, SMP_U16, __VA_ARGS__);                                                               \
            break;                                                                                                     \
        case SMP_F32 *SMP_FORMATS + SMP_U8:                                                                            \
            fn(to, SMP_F32, from, SMP_U8, __VA_ARGS__);                                                                \
            break;                                                                                                     \
        case SMP_F32 *SMP_FORMATS + SMP_U16:                                                                           \
            fn(to, SMP_F32, from, SMP_U16, __VA_ARGS__);                                                               \
            break;                                                                                                     \
        case SMP_U8 *SMP_FORMATS + SMP_F32:                                                                            \
            fn(to, SMP_U8, from, SMP_F32, __VA_ARGS__);                                                                \
            break;                                                                                                     \
        case SMP_U16 *SMP_FORMATS + SMP_F32:                                                                           \
            fn(to, SMP_U16, from, SMP_F32, __VA_ARGS__);                                                               \
            break;                                                                                                     \
        default:                                                                                                       \
            fn(to, SMP_F32, from, SMP_F32, __VA_ARGS__);                                                               \
            break;                                                                                                     \
        }                                                                                                              \
    } while (0)

SMP_INLINE void smp_load_row_as(float *restrict to, const void *restrict from, int format, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = smp_load(from, i, format);
}

/* u8: one instruction widens to 32 bits; the compiler's loop goes through 16 and takes twice as long. */
SMP_INLINE void smp_load_bytes(float *restrict to, const uint8_t *restrict from, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(
                                     _mm_loadu_si128((const __m128i_u *)(const void *)(from + i)))));
#elif defined(__AVX2__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(
                                     _mm_loadl_epi64((const __m128i_u *)(const void *)(from + i)))));
#endif
    for (; i < n; i++)
        to[i] = (float)from[i];
}

/* n samples as code values; `from` points at the first. */
SMP_APART void smp_load_row(float *restrict to, const void *restrict from, int format, int64_t n)
{
    if (format == SMP_U8)
        smp_load_bytes(to, from, n);
    else if (format == SMP_U16)
        smp_load_row_as(to, from, SMP_U16, n);
    else
        smp_load_row_as(to, from, SMP_F32, n);
}

SMP_INLINE void smp_store_row_as(void *restrict to, int format, const float *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        smp_store(to, i, format, from[i]);
}

/* Stores n code values with the one rounding. clipped (may be null) counts samples that integer formats clamp. */
SMP_APART void smp_store_row(void *restrict to, int format, const float *restrict from, int64_t n, uint64_t *clipped)
{
    if (format == SMP_U8)
        smp_store_row_as(to, SMP_U8, from, n);
    else if (format == SMP_U16)
        smp_store_row_as(to, SMP_U16, from, n);
    else
        smp_store_row_as(to, SMP_F32, from, n);
    if (clipped && format != SMP_F32) {
        const float white = format == SMP_U8 ? 255.f : 65535.f;
        uint64_t count = 0;
        for (int64_t block = 0; block < n; block += 4096) {
            int64_t end = block + 4096 < n ? block + 4096 : n;
            int some = 0;
            for (int64_t i = block; i < end; i++)
                some += smp_clips(from[i], white);
            count += (uint64_t)some;
        }
        *clipped += count;
    }
}
#endif

#ifdef SMP_WITHOUT_V4 /* a build that compiles kernels for two instruction sets alone */
#undef SMP_CPU_DECLARE
#undef SMP_CPU
#define SMP_CPU_DECLARE(name) SMP_EXTERN_C smp_cpu_fn name##_base, name##_v3
#define SMP_CPU(name)                                                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            name##_base, name##_v3, name##_v3                                                                          \
        }                                                                                                              \
    }
#endif
