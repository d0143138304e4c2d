/* A hash of 128 bits for names, settings and files, and the shard that a name belongs to. Not against adversaries: it
 * differs where its inputs differ. Its values are part of journals and lists: they stay. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct smp_hash {
    uint64_t a, b;
} smp_hash;

smp_hash smp_hash_start(void);
void smp_hash_add(smp_hash *hash, const void *data, size_t size);
void smp_hash_text(smp_hash *hash, const char *text); /* with its end, so that texts do not run together */
bool smp_hash_equal(const smp_hash *one, const smp_hash *other);

/* Spreads what the last bytes of a text reach over all bits. */
uint64_t smp_hash_mix(uint64_t bits);

/* 64 well mixed bits of a name: the first half of its hash, mixed. */
uint64_t smp_hash_name(const char *name);

/* Returns the shard, 1 to `shards`, of the input with this name under the folder given. The name alone decides: files
 * that come or go between the shards' runs move no other file to another shard. */
int64_t smp_shard_of(const char *name, int64_t shards);
