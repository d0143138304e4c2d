/* The limits that protect a run from hostile or mistaken input; limit_list.def declares each once. */
#ifndef SMP_BASE_LIMITS_H
#define SMP_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct smp_limits {
#define L(field, option, value, help) uint64_t field;
#include "base/limit_list.def"
#undef L
    double time_limit; /* seconds that decoding a file may take, where decoders are processes; 0: by its size */
    bool no_verify;    /* checksums of what was decoded are not checked */
} smp_limits;

static inline smp_limits smp_limits_default(void)
{
    smp_limits limits = {
#define L(field, option, value, help) .field = (value),
#include "base/limit_list.def"
#undef L
    };
    return limits;
}

#endif
