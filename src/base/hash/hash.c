/* FNV-1a (Fowler, Noll, Vo) from two beginnings, the second over bytes with the high bit turned: see hash.h. */
#include "base/hash/hash.h"

#include <string.h>

static const uint64_t fnv_prime = UINT64_C(0x100000001b3);

smp_hash smp_hash_start(void)
{
    return (smp_hash){UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4)};
}

void smp_hash_add(smp_hash *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash->a = (hash->a ^ bytes[i]) * fnv_prime;
        hash->b = ((hash->b ^ bytes[i] ^ 0x80) * fnv_prime) ^ (hash->b >> 29);
    }
}

void smp_hash_text(smp_hash *hash, const char *text)
{
    smp_hash_add(hash, text, strlen(text) + 1);
}

bool smp_hash_equal(const smp_hash *one, const smp_hash *other)
{
    return one->a == other->a && one->b == other->b;
}

uint64_t smp_hash_mix(uint64_t bits) /* MurmurHash3's finalizer: the last bytes of a text reach few bits of FNV */
{
    bits = (bits ^ (bits >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    bits = (bits ^ (bits >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return bits ^ (bits >> 33);
}

uint64_t smp_hash_name(const char *name)
{
    uint64_t a = smp_hash_start().a; /* half of the work of smp_hash_text */
    do
        a = (a ^ (unsigned char)*name) * fnv_prime;
    while (*name++);
    return smp_hash_mix(a);
}

int64_t smp_shard_of(const char *name, int64_t shards)
{
    return (int64_t)(smp_hash_name(name) % (uint64_t)shards) + 1;
}
