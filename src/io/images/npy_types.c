/* Sample types of NumPy arrays: see npy_types.h. Booleans become 0 and full scale, like a mask. All other numbers keep
 * their value: types without a format of their own become float32. Integers do so where that is exact, and
 * float64 is rounded: a label must not become its neighbour, and a float is nearly always a measured value. */
#include "io/images/npy_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t convert_b1(const void *from, void *to, size_t count)
{
    const uint8_t *in = from;
    uint8_t *out = to;
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] ? UINT8_MAX : 0;
    return count;
}

/* Integers that a float always holds exactly. */
#define CONVERT_SMALL(name, type)                                                                                      \
    static size_t name(const void *from, void *to, size_t count)                                                       \
    {                                                                                                                  \
        const type *in = from;                                                                                         \
        float *out = to;                                                                                               \
        for (size_t i = 0; i < count; i++)                                                                             \
            out[i] = in[i];                                                                                            \
        return count;                                                                                                  \
    }

/* Integers up to 2^24 in size are exact in a float. Larger ones are exact only by chance, so they are refused. */
#define CONVERT_LARGE(name, type, smallest)                                                                            \
    static size_t name(const void *from, void *to, size_t count)                                                       \
    {                                                                                                                  \
        const type *in = from, least = smallest, most = (type)1 << 24;                                                 \
        float *out = to;                                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            if (in[i] < least || in[i] > most)                                                                         \
                return i;                                                                                              \
            out[i] = (float)in[i];                                                                                     \
        }                                                                                                              \
        return count;                                                                                                  \
    }

CONVERT_SMALL(convert_i1, int8_t)
CONVERT_SMALL(convert_i2, int16_t)
CONVERT_LARGE(convert_i4, int32_t, -((int32_t)1 << 24))
CONVERT_LARGE(convert_i8, int64_t, -((int64_t)1 << 24))
CONVERT_LARGE(convert_u4, uint32_t, 0)
CONVERT_LARGE(convert_u8, uint64_t, 0)

/* IEEE 754 binary16. */
static float from_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(fraction + 1024), exponent - 25);
    return half >> 15 ? -size : size;
}

static size_t convert_f2(const void *from, void *to, size_t count)
{
    const uint16_t *in = from;
    float *out = to;
    for (size_t i = 0; i < count; i++)
        out[i] = from_half(in[i]);
    return count;
}

static size_t convert_f8(const void *from, void *to, size_t count)
{
    const double *in = from;
    float *out = to;
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)in[i];
        if (isinf(out[i]) && !isinf(in[i]))
            return i;
    }
    return count;
}

/* Without a branch in the loop: it is asked of every row until the first that is. */
bool smp_npy_rounded(const smp_npy_type *type, const void *from, const void *to, size_t count)
{
    const double *in = from;
    const float *out = to;
    bool rounded = false;
    for (size_t i = 0; type->convert == convert_f8 && i < count; i++)
        rounded |= (double)out[i] != in[i] && in[i] == in[i]; /* NaN is no number to round */
    return rounded;
}

static const char BEYOND[] = "float32 goes up to 3.4e38: divide the values, then save a.astype(numpy.float32)";
static const char WIDE[] = "save values up to 65535 as a.astype(numpy.uint16), which is exact, or divide them first";

static const smp_npy_type types[] = {
    {"u1", "uint8", 1, SMP_U8, NULL, NULL},          {"u2", "uint16", 2, SMP_U16, NULL, NULL},
    {"f4", "float32", 4, SMP_F32, NULL, NULL},       {"b1", "bool", 1, SMP_U8, convert_b1, NULL},
    {"i1", "int8", 1, SMP_F32, convert_i1, NULL},    {"i2", "int16", 2, SMP_F32, convert_i2, NULL},
    {"i4", "int32", 4, SMP_F32, convert_i4, WIDE},   {"i8", "int64", 8, SMP_F32, convert_i8, WIDE},
    {"u4", "uint32", 4, SMP_F32, convert_u4, WIDE},  {"u8", "uint64", 8, SMP_F32, convert_u8, WIDE},
    {"f2", "float16", 2, SMP_F32, convert_f2, NULL}, {"f8", "float64", 8, SMP_F32, convert_f8, BEYOND},
};

/* Other types that NumPy writes, with advice how to convert them. */
static const struct {
    const char *code, *name, *advice;
} others[] = {
    {"f16", "longdouble", "save a.astype(numpy.float32), which rounds"},
    {"c8", "complex64", "save a.real and a.imag as two channels: numpy.stack([a.real, a.imag], -1)"},
    {"c16", "complex128", "save a.real and a.imag as two channels: numpy.stack([a.real, a.imag], -1)"},
    {"O", "object", "save numbers: a.astype(numpy.float32)"},
};

static const smp_npy_type *fail_type(const char *text, const char *code, smp_error *err)
{
    const char *name = text[0] == '[' ? "a structure of fields" : "unknown";
    const char *advice = text[0] == '[' ? "save one field, as in a['red']" : "save numbers: a.astype(numpy.float32)";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(code, others[i].code) == 0) {
            name = others[i].name;
            advice = others[i].advice;
        }
    smp_fail(err, SMP_E_DECODE, "the array's type is %s (%s), which is not supported", name, text);
    smp_hint(err, "%s", advice);
    return NULL;
}

const smp_npy_type *smp_npy_find_type(const char *text, bool *swap, smp_error *err)
{
    const char first = text[0], *code = first && strchr("<>|=", first) ? text + 1 : text;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (code != text && strcmp(code, types[i].code) == 0 && (first != '|' || types[i].bytes == 1)) {
            *swap = types[i].bytes > 1 && first == (little ? '>' : '<');
            return &types[i];
        }
    return fail_type(text, code, err);
}

void smp_npy_swap(void *samples, size_t count, int bytes)
{
    for (size_t i = 0; i < count; i++)
        if (bytes == 2)
            ((uint16_t *)samples)[i] = __builtin_bswap16(((uint16_t *)samples)[i]);
        else if (bytes == 4)
            ((uint32_t *)samples)[i] = __builtin_bswap32(((uint32_t *)samples)[i]);
        else if (bytes == 8)
            ((uint64_t *)samples)[i] = __builtin_bswap64(((uint64_t *)samples)[i]);
}

void smp_npy_print(const smp_npy_type *type, const void *sample, char *text, size_t size)
{
    if (strcmp(type->code, "f8") == 0)
        snprintf(text, size, "%.17g", *(const double *)sample);
    else if (strcmp(type->code, "i8") == 0)
        snprintf(text, size, "%" PRId64, *(const int64_t *)sample);
    else if (strcmp(type->code, "u8") == 0)
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)sample);
    else if (strcmp(type->code, "i4") == 0)
        snprintf(text, size, "%" PRId32, *(const int32_t *)sample);
    else
        snprintf(text, size, "%" PRIu32, *(const uint32_t *)sample);
}
