/* cuRAND's host API: numbers of the distributions that are asked for, the same for the same seed, though not those of
 * cuRAND's generators. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "lab/runtime/runtime.h"
#include "lab/stage/toolkit.h"

/* curandStatus_t */
enum { DONE = 0, NO_GENERATOR = 101, NO_MEMORY = 102, NOT_SUPPORTED = 103, ODD_LENGTH = 105, LAUNCH_FAILED = 201 };
enum { QUASI = 200 /* curandRngType from here on */ };

typedef struct generator {
    uint64_t seed, place; /* place: of the next number */
} generator;

LAB_API int curandCreateGenerator(generator **out, int type)
{
    if (!out || type >= QUASI)
        return out ? NOT_SUPPORTED : NO_GENERATOR;
    *out = calloc(1, sizeof **out);
    return *out ? DONE : NO_MEMORY;
}
LAB_API int curandDestroyGenerator(generator *g)
{
    free(g);
    return g ? DONE : NO_GENERATOR;
}
LAB_ALIAS(curandSetStream, (const generator *g, const void *), g ? DONE : NO_GENERATOR)
LAB_API int curandSetPseudoRandomGeneratorSeed(generator *g, unsigned long long seed)
{
    if (g)
        *g = (generator){.seed = seed};
    return g ? DONE : NO_GENERATOR;
}
/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) of a seed and a place. */
static uint64_t bits_at(uint64_t seed, uint64_t place)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In (0, 1], also as a float. */
static double uniform(uint64_t bits)
{
    return ((double)(bits >> 32) + 1) * 0x1p-32;
}

/* Box and Muller's of two numbers. */
static double normal(uint64_t bits)
{
    static const double turn = 6.28318530717958647692;
    return sqrt(-2 * log(uniform(bits))) * cos(turn * uniform(bits_at(bits, 0)));
}

static int generate(generator *g, const char *call, bool is_normal, void *out, size_t count, size_t size, double mean,
                    double deviation)
{
    LAB_ALONE;
    if (!g)
        return NO_GENERATOR;
    if (is_normal && count % 2)
        return ODD_LENGTH;
    size_t bytes;
    if (lab_broken() || !smp_mul_size(count, size, &bytes) || !lab_reaches(call, out, bytes))
        return LAUNCH_FAILED;
    lab_stand_in("cuRAND", "its numbers have the distributions asked for, and are others than a GPU's");
    lab_enter();
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = bits_at(g->seed, g->place + i);
        const double value = is_normal ? mean + deviation * normal(bits) : uniform(bits);
        if (size == sizeof(float))
            ((float *)out)[i] = (float)value;
        else
            ((double *)out)[i] = value;
    }
    smp_warp_memory_know(lab_memory(), out, bytes);
    g->place += count;
    lab_leave();
    return DONE;
}

#define FLOATS(suffix, type)                                                                                           \
    LAB_API int curandGenerateUniform##suffix(generator *g, type *out, size_t n)                                       \
    {                                                                                                                  \
        return generate(g, "curandGenerateUniform" #suffix, false, out, n, sizeof *out, 0, 0);                         \
    }                                                                                                                  \
    LAB_API int curandGenerateNormal##suffix(generator *g, type *out, size_t n, type mean, type deviation)             \
    {                                                                                                                  \
        return generate(g, "curandGenerateNormal" #suffix, true, out, n, sizeof *out, (double)mean,                    \
                        (double)deviation);                                                                            \
    }
FLOATS(, float)
FLOATS(Double, double)

/* Tables for kernels that make Sobol' numbers are those of CUDA's own library, which has them without a GPU. */
static int table_of(const char *name, void *out, int set)
{
    LAB_ALONE;
    static void *library;
    int (*get)(void *, int);
    char *path = library ? NULL : smp_toolkit_library("curand");
    library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : library;
    smp_free(path);
    *(void **)&get = library ? dlsym(library, name) : NULL;
    if (get)
        return get(out, set);
    (void)lab_missing(name);
    return NOT_SUPPORTED;
}
LAB_ALIAS(curandGetDirectionVectors32, (void *out, int set), table_of("curandGetDirectionVectors32", out, set))
LAB_ALIAS(curandGetDirectionVectors64, (void *out, int set), table_of("curandGetDirectionVectors64", out, set))
LAB_ALIAS(curandGetScrambleConstants32, (void *out), table_of("curandGetScrambleConstants32", out, 0))
LAB_ALIAS(curandGetScrambleConstants64, (void *out), table_of("curandGetScrambleConstants64", out, 0))
