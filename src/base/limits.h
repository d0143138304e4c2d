/* The limits that protect a run from hostile or mistaken input; limit_list.def declares each once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct smp_limits {
#define L(field, option, value, help) uint64_t field;
#include "base/limit_list.def"
#undef L
} smp_limits;

#define SMP_MEMORY_DEFAULT (UINT64_C(16) << 30) /* without asking the machine: see smp_default_memory() */
static inline smp_limits smp_limits_default(void)
{
    return (smp_limits){
#define L(field, option, value, help) .field = (value),
#include "base/limit_list.def"
#undef L
    };
}
#undef SMP_MEMORY_DEFAULT
