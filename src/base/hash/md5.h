/* MD5 (RFC 1321): FLAC stores the MD5 of its samples. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct smp_md5 {
    uint32_t state[4];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} smp_md5;

void smp_md5_begin(smp_md5 *hash);
void smp_md5_add(smp_md5 *hash, const void *data, size_t size);
void smp_md5_end(smp_md5 *hash, unsigned char digest[16]);
