/* Stand-ins for cuBLAS' matrix products, as which calls of vectors are done, too: the host computes what they leave in
 * memory, and nothing is counted. Sums are of doubles in the order of k, and rounded once. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "lab/ptx/half.h"
#include "lab/runtime/runtime.h"

/* cublasStatus_t, cudaDataType, and of cublasComputeType_t those whose alpha is no float */
enum { DONE = 0, NO_HANDLE = 1, NO_MEMORY = 3, INVALID = 7, FAILED = 13, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };
enum { COMPUTE_16F = 64, COMPUTE_64F = 70 };

typedef void *stream;
typedef struct handle {
    stream on;
    int math, device_scalars; /* cublasMath_t, cublasPointerMode_t */
} handle;

LAB_API int cublasCreate_v2(handle **out)
{
    if (!out)
        return INVALID;
    *out = calloc(1, sizeof **out);
    return *out ? DONE : NO_MEMORY;
}
LAB_API int cublasDestroy_v2(handle *h)
{
    free(h);
    return h ? DONE : NO_HANDLE;
}
LAB_ALIAS(cublasLtCreate, (handle * *out), cublasCreate_v2(out))
LAB_ALIAS(cublasLtDestroy, (handle * h), cublasDestroy_v2(h))

/* A setting of the handle: set and told. */
#define SETTING(set, get, type, field)                                                                                 \
    LAB_API int set(handle *h, type value)                                                                             \
    {                                                                                                                  \
        if (h)                                                                                                         \
            h->field = value;                                                                                          \
        return h ? DONE : NO_HANDLE;                                                                                   \
    }                                                                                                                  \
    LAB_API int get(const handle *h, type *value)                                                                      \
    {                                                                                                                  \
        if (h && value)                                                                                                \
            *value = h->field;                                                                                         \
        return h && value ? DONE : NO_HANDLE;                                                                          \
    }
SETTING(cublasSetStream_v2, cublasGetStream_v2, stream, on)
SETTING(cublasSetMathMode, cublasGetMathMode, int, math)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, device_scalars)

/* ------------------------------------------------------------------------------------------------ elements */

static size_t bytes_of(int type)
{
    return type == R_32F ? 4 : type == R_64F ? 8 : type == R_16F || type == R_16BF ? 2 : 0;
}

static double element(const void *at, size_t index, int type)
{
    if (type == R_64F)
        return ((const double *)at)[index];
    if (type == R_32F)
        return (double)((const float *)at)[index];
    const uint16_t bits = ((const uint16_t *)at)[index];
    return (double)(type == R_16F ? warp_half_float(bits) : warp_bf16_float(bits));
}

static void put(void *at, size_t index, int type, double value)
{
    if (type == R_64F)
        ((double *)at)[index] = value;
    else if (type == R_32F)
        ((float *)at)[index] = (float)value;
    else
        ((uint16_t *)at)[index] = (uint16_t)(type == R_16F ? warp_half_of_double(value) : warp_bf16_bits((float)value));
}

/* ------------------------------------------------------------------------------------------------ the product */

/* Columns one after the other, `lead` elements apart; a batch's matrices `apart` elements, or by their addresses. */
typedef struct matrix {
    const void *at;
    int type, lead;
    long long apart;
    bool backwards; /* the last column is the first in memory */
} matrix;

typedef struct product {
    const char *call;
    int transpose[2]; /* of a and b */
    int m, n, k, batch, scalar_type;
    bool pointers, device_scalars;
    bool is_sum, is_root;   /* c is a result, which lies where scalars do, and factors are given; its root */
    bool scales;            /* a is the host's */
    const void *scalars[2]; /* alpha, beta */
    double factors[2];      /* unless they are on the device */
    matrix a, b, c;
    int status; /* -1: the stream has not come to it */
} product;

static char *place(const product *p, const matrix *m, int of)
{
    if (p->pointers)
        return ((char *const *)m->at)[of];
    return (char *)(uintptr_t)m->at + of * m->apart * (long long)bytes_of(m->type);
}

static bool reaches(const product *p, const matrix *m, int rows, int columns)
{
    const size_t elements = columns ? (size_t)(columns - 1) * (size_t)m->lead + (size_t)rows : 0;
    if (p->pointers && !lab_reaches(p->call, m->at, (size_t)p->batch * sizeof(char *)))
        return false;
    size_t bytes;
    for (int i = 0; i < p->batch; i++)
        if (!smp_mul_size(elements, bytes_of(m->type), &bytes) || !lab_reaches(p->call, place(p, m, i), bytes))
            return false;
    return true;
}

/* Doubles in columns of `rows`, transposed where that is asked for. */
static double *pack(const matrix *m, const char *at, int transpose, size_t rows, size_t columns)
{
    const size_t lead = (size_t)m->lead, last = (transpose ? rows : columns) - 1;
    double *to = smp_alloc_array(rows * columns + 1, sizeof *to);
    for (size_t j = 0; to && j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            const size_t column = transpose ? i : j, row = transpose ? j : i;
            to[j * rows + i] = element(at, (m->backwards ? last - column : column) * lead + row, m->type);
        }
    return to;
}

static int multiply(const product *p, int of)
{
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, size = bytes_of(p->c.type);
    char *c = place(p, &p->c, of);
    double *a = pack(&p->a, place(p, &p->a, of), p->transpose[0], m, k);
    double *b = pack(&p->b, place(p, &p->b, of), p->transpose[1], k, n);
    double *sums = smp_alloc_array(m + 1, sizeof *sums);
    const bool has_memory = a && b && sums;
    for (size_t j = 0; has_memory && j < n; j++) {
        char *column = c + (p->c.backwards ? n - 1 - j : j) * (size_t)p->c.lead * size;
        memset(sums, 0, m * sizeof *sums);
        for (size_t q = 0; q < k; q++)
            for (size_t i = 0; i < m; i++)
                sums[i] += a[q * m + i] * b[j * k + q];
        for (size_t i = 0; i < m; i++) /* with a beta of 0 C is not read */
            put(column, i, p->c.type,
                p->is_root ? sqrt(sums[i])
                           : p->factors[0] * sums[i] +
                                 (p->factors[1] != 0 ? p->factors[1] * element(column, i, p->c.type) : 0));
        smp_warp_memory_know(lab_memory(), column, m * size);
    }
    smp_free_all(a, b, sums);
    return has_memory ? DONE : NO_MEMORY;
}

static void run(void *data)
{
    product *p = data;
    LAB_ALONE;
    p->status = FAILED;
    if (lab_broken())
        return;
    lab_enter();
    for (int i = 0; i < 2 && p->device_scalars && !p->is_sum; i++)
        p->factors[i] = element(p->scalars[i], 0, p->scalar_type);
    if ((p->scales || reaches(p, &p->a, p->transpose[0] ? p->k : p->m, p->transpose[0] ? p->m : p->k)) &&
        reaches(p, &p->b, p->transpose[1] ? p->n : p->k, p->transpose[1] ? p->k : p->n) &&
        ((p->is_sum && !p->device_scalars) || reaches(p, &p->c, p->m, p->n)))
        p->status = DONE;
    for (int i = 0; i < p->batch && !p->status; i++)
        p->status = multiply(p, i);
    lab_leave();
}

/* At once, or as a node of the graph that the stream is captured into: then the copy lives as long as it. */
static int start(const handle *h, const product *given)
{
    if (!h)
        return NO_HANDLE;
    const int rows_a = given->transpose[0] ? given->k : given->m, rows_b = given->transpose[1] ? given->n : given->k;
    const bool vectors = given->is_sum || given->scales; /* of any step */
    if (given->m < 0 || given->n < 0 || given->k < 0 || given->batch < 0 ||
        (!vectors && (given->a.lead < rows_a || given->b.lead < rows_b || given->c.lead < given->m)) ||
        (given->is_sum ? !given->c.at : !given->scalars[0] || !given->scalars[1]))
        return INVALID;
    if (!bytes_of(given->a.type) || !bytes_of(given->b.type) || !bytes_of(given->c.type))
        return NOT_SUPPORTED;
    lab_stand_in("cuBLAS", "its products are right, rounded once");
    product *p = malloc(sizeof *p);
    if (!p)
        return NO_MEMORY;
    *p = *given;
    p->device_scalars = h->device_scalars;
    for (int i = 0; i < 2 && !p->device_scalars && !p->is_sum; i++)
        p->factors[i] = element(p->scalars[i], 0, p->scalar_type);
    p->status = -1;
    const int error = cudaLaunchHostFunc(h->on, run, p), status = error ? FAILED : p->status;
    if (status < 0)
        return DONE;
    free(p);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the calls */

#define SIZES int op_a, int op_b, int m, int n, int k
/* The body of a call, whose parameters have these names. */
#define PRODUCT(name, scalar, type_a, type_b, type_c, apart_a, apart_b, apart_c, count, by_address)                    \
    return start(h, &(product){.call = name,                                                                           \
                               .transpose = {op_a != 0, op_b != 0},                                                    \
                               .m = m,                                                                                 \
                               .n = n,                                                                                 \
                               .k = k,                                                                                 \
                               .batch = count,                                                                         \
                               .scalar_type = scalar,                                                                  \
                               .pointers = by_address,                                                                 \
                               .scalars = {alpha, beta},                                                               \
                               .a = {a, type_a, lda, apart_a},                                                         \
                               .b = {b, type_b, ldb, apart_b},                                                         \
                               .c = {c, type_c, ldc, apart_c}})

/* Those of one type: plain, matrices that follow each other, matrices by their addresses. */
#define PRODUCTS(letter, suffix, type)                                                                                 \
    LAB_API int cublas##letter##gemm##suffix(const handle *h, SIZES, const void *alpha, const void *a, int lda,        \
                                             const void *b, int ldb, const void *beta, void *c, int ldc)               \
    {                                                                                                                  \
        PRODUCT("cublas" #letter "gemm", type, type, type, type, 0, 0, 0, 1, false);                                   \
    }                                                                                                                  \
    LAB_API int cublas##letter##gemmStridedBatched(const handle *h, SIZES, const void *alpha, const void *a, int lda,  \
                                                   long long sa, const void *b, int ldb, long long sb,                 \
                                                   const void *beta, void *c, int ldc, long long sc, int batch)        \
    {                                                                                                                  \
        PRODUCT("cublas" #letter "gemmStridedBatched", type, type, type, type, sa, sb, sc, batch, false);              \
    }                                                                                                                  \
    LAB_API int cublas##letter##gemmBatched(const handle *h, SIZES, const void *alpha, const void *a, int lda,         \
                                            const void *b, int ldb, const void *beta, void *c, int ldc, int batch)     \
    {                                                                                                                  \
        PRODUCT("cublas" #letter "gemmBatched", type, type, type, type, 0, 0, 0, batch, true);                         \
    }
PRODUCTS(S, _v2, R_32F)
PRODUCTS(D, _v2, R_64F)
PRODUCTS(H, , R_16F)

static int scalar_of(int compute)
{
    const int base = compute & ~1; /* the pedantic one is the next */
    return base == COMPUTE_16F ? R_16F : base == COMPUTE_64F ? R_64F : R_32F;
}

LAB_API int cublasGemmEx(const handle *h, SIZES, const void *alpha, const void *a, int type_a, int lda, const void *b,
                         int type_b, int ldb, const void *beta, void *c, int type_c, int ldc, int compute, int)
{
    PRODUCT("cublasGemmEx", scalar_of(compute), type_a, type_b, type_c, 0, 0, 0, 1, false);
}
LAB_API int cublasGemmStridedBatchedEx(const handle *h, SIZES, const void *alpha, const void *a, int type_a, int lda,
                                       long long sa, const void *b, int type_b, int ldb, long long sb, const void *beta,
                                       void *c, int type_c, int ldc, long long sc, int batch, int compute, int)
{
    PRODUCT("cublasGemmStridedBatchedEx", scalar_of(compute), type_a, type_b, type_c, sa, sb, sc, batch, false);
}

/* Vectors are matrices of one row, whose elements lie a step apart; of a negative one the last is the first in memory.
 * Without elements there is nothing to do, and a sum is 0. */
static matrix vector(const void *at, int type, int step)
{
    return (matrix){at, type, step < 0 ? -(step + 1) + (step > INT_MIN) : step, 0, step < 0};
}
static int count_of(int n)
{
    return n < 0 ? 0 : n;
}
#define SUM(name, root, count, x, type_x, step_x, y, type_y, step_y, result, type)                                     \
    start(h, &(product){.call = name,                                                                                  \
                        .is_sum = true,                                                                                \
                        .is_root = root,                                                                               \
                        .transpose = {0, 1},                                                                           \
                        .m = 1,                                                                                        \
                        .n = 1,                                                                                        \
                        .k = count_of(count),                                                                          \
                        .batch = 1,                                                                                    \
                        .factors = {1, 0},                                                                             \
                        .a = vector(x, type_x, step_x),                                                                \
                        .b = vector(y, type_y, step_y),                                                                \
                        .c = {result, type, 1, 0}})
#define SCALED(name, depth, count, type, alpha, beta, x, step_x, y, step_y)                                            \
    start(h, &(product){.call = name,                                                                                  \
                        .scales = true,                                                                                \
                        .m = 1,                                                                                        \
                        .n = count_of(count),                                                                          \
                        .k = depth,                                                                                    \
                        .batch = 1,                                                                                    \
                        .scalar_type = type,                                                                           \
                        .scalars = {alpha, beta},                                                                      \
                        .a = {&one_##type, type, 1, 0},                                                                \
                        .b = vector(x, type, step_x),                                                                  \
                        .c = vector(y, type, step_y)})
static const float one_R_32F = 1;
static const double one_R_64F = 1;
#define VECTORS(letter, type)                                                                                          \
    LAB_ALIAS(cublas##letter##dot_v2,                                                                                  \
              (const handle *h, int n, const void *x, int step_x, const void *y, int step_y, void *result),            \
              SUM("cublas" #letter "dot", false, n, x, type, step_x, y, type, step_y, result, type))                   \
    LAB_ALIAS(cublas##letter##nrm2_v2, (const handle *h, int n, const void *x, int step, void *result),                \
              SUM("cublas" #letter "nrm2", true, step > 0 ? n : 0, x, type, step, x, type, step, result, type))        \
    LAB_ALIAS(cublas##letter##axpy_v2,                                                                                 \
              (const handle *h, int n, const void *alpha, const void *x, int step_x, void *y, int step_y),             \
              SCALED("cublas" #letter "axpy", 1, n, type, alpha, &one_##type, x, step_x, y, step_y))                   \
    LAB_ALIAS(cublas##letter##scal_v2, (const handle *h, int n, const void *alpha, void *x, int step),                 \
              SCALED("cublas" #letter "scal", 0, step > 0 ? n : 0, type, &one_##type, alpha, x, step, x, step))
VECTORS(S, R_32F)
VECTORS(D, R_64F)
LAB_ALIAS(cublasDotEx,
          (const handle *h, int n, const void *x, int type_x, int step_x, const void *y, int type_y, int step_y,
           void *result, int type, int),
          SUM("cublasDotEx", false, n, x, type_x, step_x, y, type_y, step_y, result, type))

static const char *name_of(int status)
{
    return status == DONE            ? "CUBLAS_STATUS_SUCCESS"
           : status == NO_HANDLE     ? "CUBLAS_STATUS_NOT_INITIALIZED"
           : status == NO_MEMORY     ? "CUBLAS_STATUS_ALLOC_FAILED"
           : status == INVALID       ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                     : "CUBLAS_STATUS_EXECUTION_FAILED";
}
LAB_API const char *cublasGetStatusName(int status)
{
    return name_of(status);
}
LAB_API const char *cublasGetStatusString(int status)
{
    return name_of(status) + sizeof "CUBLAS_STATUS";
}
