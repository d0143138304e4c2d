/* SHA-256 (FIPS 180-4): identifies the input of a measurement. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct smp_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} smp_sha256;

void smp_sha256_begin(smp_sha256 *hash);
void smp_sha256_add(smp_sha256 *hash, const void *data, size_t size);
void smp_sha256_end(smp_sha256 *hash, char text[65]); /* 64 hexadecimal digits and a zero */
