/* Hashes that tell names, settings and texts apart, and the shard that a file belongs to by its name. Not against
 * adversaries: sha256.h is. The same on every machine, for shards of one work run on several. */
#ifndef SMP_BASE_HASH_H
#define SMP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct smp_hash {
    uint64_t a, b;
} smp_hash;

/* 128 bits that differ where inputs differ. Start with smp_hash_start. */
smp_hash smp_hash_start(void);
void smp_hash_add(smp_hash *hash, const void *data, size_t size);
void smp_hash_text(smp_hash *hash, const char *text); /* with its end, so that texts do not run together */

/* Which of `shards` shards, from 1 on, does the input of this name under the folder given. The name alone decides:
 * files that come or go between the shards' runs move no other file to another shard. */
int64_t smp_shard_of(const char *name, int64_t shards);

#endif
