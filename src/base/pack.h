/* Bytes that mean the same on every machine: whole numbers in 7 bits a byte, the lowest first (LEB128), doubles in the
 * 8 bytes of IEEE 754, the lowest first. Equal values are equal bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Zeroed: no bytes. Without memory it is marked as failed, and nothing more is added. */
typedef struct smp_packer {
    uint8_t *data; /* smp_free it */
    size_t size, capacity;
    bool failed;
} smp_packer;

void smp_pack_uint(smp_packer *to, uint64_t value);
void smp_pack_int(smp_packer *to, int64_t value); /* small numbers of both signs are short */
void smp_pack_double(smp_packer *to, double value);
void smp_pack_text(smp_packer *to, const char *text);
void smp_pack_bytes(smp_packer *to, const void *bytes, size_t size);

/* Reads what a packer wrote, from bytes that may be anybody's: what does not fit marks it as failed and gives 0. */
typedef struct smp_unpacker {
    const uint8_t *data;
    size_t size, at;
    bool failed;
    bool no_memory; /* that is why it failed */
} smp_unpacker;

uint64_t smp_unpack_uint(smp_unpacker *from);
int64_t smp_unpack_int(smp_unpacker *from);
double smp_unpack_double(smp_unpacker *from);

/* A number of 0..most. */
uint64_t smp_unpack_upto(smp_unpacker *from, uint64_t most);

/* A count of things that take at least `bytes` each, of which as many must be left. */
size_t smp_unpack_count(smp_unpacker *from, size_t bytes);

/* A text without zero bytes, at most size - 1 of them, or one of any length as a copy (smp_free; null when it failed,
 * also without memory). */
void smp_unpack_text(smp_unpacker *from, char *text, size_t size);
char *smp_unpack_copy(smp_unpacker *from);
