/* Instructions that compute lane by lane: tables from a spelling to a function over 32-lane rows. The files lanes_*.c
 * are compiled once for each instruction set, as CPU kernels are; the results are the same. */
#pragma once

#include "lab/machine/machine.h"

/* names: spellings with blanks between them. operands: the classes of destination and sources: 'w' a row of 32-bit
 * words (narrower integers are extended with zeros), 'd' of 64 bits, 'p' a predicate, which is a mask. */
typedef struct warp_lane_row {
    const char *names, *operands;
    warp_alu *alu;
} warp_lane_row;

#ifndef SMP_ISA
#define SMP_ISA base
#endif
#define WARP_JOIN_(a, b) a##_##b
#define WARP_JOIN(a, b)  WARP_JOIN_(a, b)
#define WARP_ROWS(name)  WARP_JOIN(warp_rows_##name, SMP_ISA)
#define WARP_LANE        WARP_JOIN(lane, __LINE__) /* the function of a line of lanes_*.def */

/* Tables end with a null name. */
extern const warp_lane_row warp_rows_integer_base[], warp_rows_float_base[], warp_rows_convert_base[];
extern const warp_lane_row warp_rows_integer_v3[], warp_rows_float_v3[], warp_rows_convert_v3[];

/* The row of a spelling, for this machine; null: there is none. */
const warp_lane_row *warp_lane_row_find(const char *name);

#define WARP_FN(name) static void name(void *to, const void *p, const void *q, const void *r)
/* d[l] of type D from a[l], b[l], c[l] of the types A, B, C. A source that an instruction does not have is the first.
 */
#define WARP_LANES_OF(name, D, A, B, C, expression)                                                                    \
    WARP_FN(name)                                                                                                      \
    {                                                                                                                  \
        D *d = to;                                                                                                     \
        const A *a = p;                                                                                                \
        const void *const second = q ? q : p, *const third = r ? r : p;                                                \
        const B *b = second;                                                                                           \
        const C *c = third;                                                                                            \
        (void)a, (void)b, (void)c;                                                                                     \
        WARP_EACH_LANE d[l] = (expression);                                                                            \
    }
/* A mask of the lanes where the condition holds. */
#define WARP_TEST(name, A, condition)                                                                                  \
    WARP_FN(name)                                                                                                      \
    {                                                                                                                  \
        uint32_t mask = 0, *d = to;                                                                                    \
        const A *a = p, *b = q;                                                                                        \
        (void)r;                                                                                                       \
        for (uint32_t l = 0; l < WARP_LANES; l++)                                                                      \
            mask |= (uint32_t)(condition) << l;                                                                        \
        *d = mask;                                                                                                     \
    }
/* F(name, operator, ...) of the comparisons that hold for no NaN. */
#define WARP_ORDERS(F, ...)                                                                                            \
    F(eq, ==, __VA_ARGS__) F(lt, <, __VA_ARGS__) F(le, <=, __VA_ARGS__) F(gt, >, __VA_ARGS__) F(ge, >=, __VA_ARGS__)
