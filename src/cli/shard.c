/* Which part of the files this process works on: see shard.h. */
#include "cli/shard.h"

#include <stdio.h>

smp_code smp_cli_shard(const char *text, int64_t *shard, int64_t *shards, smp_error *err)
{
    long long k = 0, n = 0;
    int end = 0;
    if (!text)
        return SMP_OK;
    if (sscanf(text, "%6lld/%6lld%n", &k, &n, &end) != 2 || text[end] || k < 1 || n < 1 || k > n) {
        smp_fail(err, SMP_E_USAGE, "'%s' is no value for --shard", text);
        return smp_hint(err, "it takes K/N, as in 1/4, 2/4, 3/4 and 4/4 for four machines");
    }
    *shard = k;
    *shards = n;
    return SMP_OK;
}
