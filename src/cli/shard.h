/* --shard: which part of the files this process does. */
#pragma once

#include "cli/cli.h"

typedef struct smp_shard {
    int64_t number, count; /* 1..count of count; 0 of 0: all */
} smp_shard;

/* text: what --shard says, "K/N", "auto" or "auto/N"; null: nothing, which is SMP_E_USAGE for one of several ranks of
 * srun or mpirun, since each would do all of the work. One of an array is warned of that. shares: whoever comes takes
 * what is left, so that how many there are does not matter. Says what auto took. */
smp_code smp_cli_shard(const smp_common *common, const char *text, bool shares, smp_shard *out, smp_error *err);
