/* --args of `smempipe kernel`: "out=f32[1024x1024] w=1024" becomes the parameters of a launch, in their order. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/kernel.h"

static const struct {
    const char *name;
    uint32_t size;
    char kind; /* f float, h half, b bfloat16, i integer */
} types[] = {
    {"f32", 4, 'f'},  {"float", 4, 'f'}, {"f64", 8, 'f'}, {"double", 8, 'f'}, {"f16", 2, 'h'},
    {"half", 2, 'h'}, {"bf16", 2, 'b'},  {"i8", 1, 'i'},  {"s8", 1, 'i'},     {"u8", 1, 'i'},
    {"i16", 2, 'i'},  {"s16", 2, 'i'},   {"u16", 2, 'i'}, {"i32", 4, 'i'},    {"s32", 4, 'i'},
    {"u32", 4, 'i'},  {"int", 4, 'i'},   {"i64", 8, 'i'}, {"s64", 8, 'i'},    {"u64", 8, 'i'},
};

static int type_of(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == size && !memcmp(types[i].name, word, size))
            return (int)i;
    return -1;
}

void smp_kernel_array_word(const char *args, size_t n, smp_kernel_array *array)
{
    size_t size = 0;
    for (args = args ? args : ""; *(args += strspn(args, " \t,")); args += size, n--) {
        size = strcspn(args, " \t");
        if (n)
            continue;
        const char *open = memchr(args, '[', size), *equals = memchr(args, '=', size);
        const char *word = equals && open && equals < open ? equals + 1 : args;
        const int type = open ? type_of(word, (size_t)(open - word)) : -1;
        snprintf(array->name, sizeof array->name, "%.*s", word > args ? (int)(word - args) - 1 : 5,
                 word > args ? args : "array");
        if (type >= 0) {
            array->element = types[type].size;
            array->kind = types[type].kind;
            array->is_float = types[type].kind == 'f' && types[type].size >= 4;
        }
        return;
    }
}

double smp_kernel_element(const smp_kernel_array *array, uint64_t index, char *text, size_t size)
{
    const unsigned char *at = array->bytes + index * (array->element ? array->element : 1);
    float narrow = 0;
    double wide = 0;
    uint64_t whole = 0;
    memcpy(&whole, at, array->element ? array->element : 1);
    if (!array->is_float) {
        snprintf(text, size, array->kind == 'i' ? "%llu" : "0x%llx", (unsigned long long)whole);
        return (double)whole;
    }
    memcpy(&narrow, at, sizeof narrow);
    if (array->element == sizeof wide)
        memcpy(&wide, at, sizeof wide);
    else
        wide = (double)narrow;
    snprintf(text, size, "%.9g", wide);
    return wide;
}

static uint16_t half_of(double value, char kind)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    if (kind == 'b')
        return (uint16_t)(bits >> 16);
    const double size = fabs(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)rint(size * 0x1p24));
    int exponent;
    const double fraction = frexp(size, &exponent); /* 0.5 .. 1 */
    const double steps = rint(fraction * 2048) + (exponent + 13) * 1024.0;
    return (uint16_t)(sign | (steps >= 0x7c00 ? 0x7c00 : (uint16_t)steps));
}

static void put_value(unsigned char *at, int type, double value)
{
    const float narrow = (float)value;
    const int64_t whole = (int64_t)value;
    const uint16_t half = half_of(value, types[type].kind);
    if (types[type].kind == 'h' || types[type].kind == 'b')
        memcpy(at, &half, 2);
    else if (types[type].kind == 'i')
        memcpy(at, &whole, types[type].size);
    else if (types[type].size == 4)
        memcpy(at, &narrow, 4);
    else
        memcpy(at, &value, 8);
}

static smp_code wrong(smp_error *err, const char *word, size_t size, const char *what)
{
    smp_fail(err, SMP_E_USAGE, "--args: '%.*s': %s", (int)size, word, what);
    return smp_hint(
        err,
        "write arrays as out=f32[1024x1024], in=i32[256]=random, x=f32[64]=0.5 or x=f32[64]=@FILE, numbers as w=1024");
}

/* An integer of so many bytes. type: "u8", "i32"; any: with or without a sign, as nvcc's u32 is of int too. */
static smp_code read_integer(const char *text, const char *type, uint32_t bytes, bool any, uint64_t *bits,
                             smp_error *err)
{
    char *end;
    const bool negative = text[strspn(text, " ")] == '-';
    const uint64_t whole = UINT64_MAX >> (64 - 8 * bytes), half = whole / 2;
    errno = 0;
    *bits = negative ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (end == text || *end)
        return wrong(err, text, strlen(text), "this is not a whole number");
    const bool has_sign = type[0] != 'u';
    const uint64_t top = any || !has_sign ? whole : half, bottom = any || has_sign ? half + 1 : 0;
    if (!errno && (negative ? 0 - *bits <= bottom : *bits <= top))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--args: %s is out of range", text);
    return smp_hint(err, "%s takes %s%llu to %llu", type, bottom ? "-" : "", (unsigned long long)bottom,
                    (unsigned long long)top);
}

static const char forms[] = "after the array may stand =NUMBER, =ramp, =random or =@FILE";

/* Fills an array with the bytes of a file, as numpy.ndarray.tofile() writes them. */
static smp_code fill_from(unsigned char *buffer, uint64_t bytes, const char *name, size_t name_size, smp_error *err)
{
    char *path = smp_asprintf("%.*s", (int)name_size, name), *text = NULL;
    size_t size = 0;
    SMP_NEED(path, "--args", name_size, err);
    smp_code code = smp_kernel_read(path, &text, &size, err);
    if (!code && size != bytes) {
        code = smp_fail(err, SMP_E_USAGE, "--args: %s holds %zu bytes, and the array takes %llu", path, size,
                        (unsigned long long)bytes);
        smp_hint(err, "the file holds the elements alone, row by row, lowest byte first: numpy.ndarray.tofile");
    }
    if (!code)
        memcpy(buffer, text, size);
    smp_free_all(text, path);
    return code;
}

/* Fills an array: a ramp of small numbers, or the value behind '='. */
static smp_code fill(unsigned char *buffer, uint64_t elements, int type, const char *how, size_t how_size,
                     smp_error *err)
{
    enum { RAMP = 251 };
    if (how_size && *how == '@')
        return fill_from(buffer, elements * types[type].size, how + 1, how_size - 1, err);
    uint64_t state = 0x9e3779b97f4a7c15, bits = 0;
    char text[64], *end;
    if (how_size >= sizeof text)
        return wrong(err, how, how_size, forms);
    snprintf(text, sizeof text, "%.*s", (int)how_size, how);
    const bool ramp = !how_size || !strcmp(text, "ramp"), random = !strcmp(text, "random");
    const double constant = ramp || random ? 0 : strtod(text, &end);
    if (!ramp && !random && (end == text || *end))
        return wrong(err, how, how_size, forms);
    const bool whole = !ramp && !random && types[type].kind == 'i';
    if (whole && read_integer(text, types[type].name, types[type].size, false, &bits, err))
        return err->code;
    const uint64_t period = types[type].size == 1 ? 127 : RAMP;
    for (uint64_t i = 0; i < elements; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const double value = ramp ? (double)(i % period) : random ? (double)(state >> 40 & 127) : constant;
        if (whole)
            memcpy(buffer + i * types[type].size, &bits, types[type].size);
        else
            put_value(buffer + i * types[type].size, type, value);
    }
    return SMP_OK;
}

/* f32[32x32]=random */
static smp_code read_array(const char *name, size_t name_size, const char *value, size_t size, smp_warp_memory *memory,
                           uint64_t *address, smp_error *err)
{
    const char *open = memchr(value, '[', size), *close = memchr(value, ']', size);
    const int type = open ? type_of(value, (size_t)(open - value)) : -1;
    uint64_t elements = 1, bytes;
    char label[48];
    if (type < 0)
        return wrong(err, value, size, "an array begins with its type: f32, f64, f16, bf16, i8..i64, u8..u64");
    if (!close || close < open)
        return wrong(err, value, size, "a ']' is missing");
    for (const char *at = open; at < close;) {
        char *end;
        errno = 0;
        const unsigned long long dimension = isdigit((unsigned char)at[1]) ? strtoull(at + 1, &end, 10) : 0;
        if (!dimension || errno || (end != close && *end != 'x' && *end != '*' && *end != ',') ||
            __builtin_mul_overflow(elements, dimension, &elements))
            return wrong(err, value, size, "sizes are written as [1024] or [32x32]");
        at = end;
    }
    if (__builtin_mul_overflow(elements, (uint64_t)types[type].size, &bytes) || bytes > UINT64_C(1) << 40)
        return wrong(err, value, size, "this array is too large");
    snprintf(label, sizeof label, "%.*s", (int)name_size, name);
    unsigned char *buffer = smp_warp_buffer(memory, (size_t)bytes, label);
    SMP_NEED(buffer, label, bytes, err);
    const char *how = close + 1, *end = value + size;
    if (how < end && *how != '=')
        return wrong(err, value, size, forms);
    if (fill(buffer, elements, type, how + (how < end), how < end ? (size_t)(end - how) - 1 : 0, err))
        return err->code;
    *address = (uint64_t)(uintptr_t)buffer;
    return SMP_OK;
}

static smp_code read_number(const char *value, size_t size, const smp_warp_param *param, unsigned char *to,
                            smp_error *err)
{
    char text[64], *end;
    uint64_t bits;
    const bool is_float = param->type[0] == 'f', is_bytes = !strcmp(param->type, "b8") && param->size > 2;
    if (!size || size >= sizeof text)
        return wrong(err, value, size, "this is not a number");
    snprintf(text, sizeof text, "%.*s", (int)size, value);
    if (!param->size)
        return wrong(err, value, size, "this parameter has 0 bytes, which hold no number");
    if (is_float || param->size > 8 || is_bytes) {
        if (!is_float)
            return wrong(err, value, size, "this parameter is a structure, which --args cannot write");
        const double number = strtod(text, &end);
        if (end == text || *end)
            return wrong(err, value, size, "this is not a number");
        put_value(to, param->size == 8 ? 2 : param->size == 4 ? 0 : 4, number);
        return SMP_OK;
    }
    if (read_integer(text, param->type, param->size, true, &bits, err))
        return err->code;
    memcpy(to, &bits, param->size);
    return SMP_OK;
}

/* "u64 u64 u32": what the kernel takes. */
static void signature(const smp_warp_param *params, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 params[i].size == 8 && params[i].type[0] == 'u' ? "an array or u64" : params[i].type);
}

smp_code smp_kernel_arguments(const smp_warp_kernel *kernel, const char *text, smp_warp_memory *memory, void **out,
                              smp_error *err)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params);
    char takes[200];
    size_t at = 0;
    *out = NULL;
    unsigned char *bytes = smp_alloc(smp_warp_kernel_param_bytes(kernel) + 16);
    SMP_NEED(bytes, "parameters", smp_warp_kernel_param_bytes(kernel), err);
    signature(params, count, takes, sizeof takes);
    smp_code code = SMP_OK;
    for (text = text ? text : ""; !code; at++) {
        text += strspn(text, " \t,");
        const size_t size = strcspn(text, " \t");
        if (!size)
            break;
        const char *equals = memchr(text, '=', size), *open = memchr(text, '[', size);
        equals = open && equals > open ? NULL : equals; /* f32[64]=0.5 has no name */
        const char *value = equals ? equals + 1 : text;
        const size_t value_size = size - (size_t)(value - text);
        const bool is_array = memchr(value, '[', value_size) != NULL;
        if (at < count && params[at].offset + sizeof(uint64_t) > smp_warp_kernel_param_bytes(kernel) + 16) {
            code = smp_fail(err, SMP_E_DECODE, "parameter %zu of '%s' lies outside of its parameters", at + 1,
                            smp_warp_kernel_name(kernel));
        } else if (at >= count) {
            smp_fail(err, SMP_E_USAGE, "--args names more than the %zu parameters of '%s'", count,
                     smp_warp_kernel_name(kernel));
            code = smp_hint(err, "it takes: %s", takes);
        } else if (is_array && params[at].size == 8) {
            uint64_t address = 0;
            code = read_array(text, equals ? (size_t)(equals - text) : 0, value, value_size, memory, &address, err);
            memcpy(bytes + params[at].offset, &address, 8);
        } else if (is_array)
            code = wrong(err, text, size, "this parameter is not a pointer");
        else
            code = read_number(value, value_size, &params[at], bytes + params[at].offset, err);
        text += size;
    }
    if (!code && at < count) {
        smp_fail(err, SMP_E_USAGE, "--args gives %zu of the %zu parameters of '%s'", at, count,
                 smp_warp_kernel_name(kernel));
        code = smp_hint(err, "it takes: %s; write them in this order, as in --args 'out=f32[1024] n=1024'", takes);
    }
    if (code)
        smp_free(bytes);
    else
        *out = bytes;
    return code;
}
