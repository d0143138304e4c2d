/* Checked arithmetic for sizes that come from files. Each function returns false on overflow and then leaves *out
 * unspecified. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool smp_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool smp_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool smp_add_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool smp_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool smp_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline uint64_t smp_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
static inline uint64_t smp_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}
static inline int64_t smp_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t smp_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t smp_clamp_i64(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
