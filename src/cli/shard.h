/* --shard K/N of batch and measure. */
#ifndef SMP_CLI_SHARD_H
#define SMP_CLI_SHARD_H

#include <stdint.h>

#include "base/error.h"

/* Reads "2/4" into *shard and *shards, 1 <= shard <= shards. text null: both stay as they are. */
smp_code smp_cli_shard(const char *text, int64_t *shard, int64_t *shards, smp_error *err);

#endif
