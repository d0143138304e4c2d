/* Reads what a FLAC stores besides its samples: STREAMINFO, the extent of its frames, the MD5 of its samples. Source:
 * RFC 9639. */
#pragma once

#include "base/hash/md5.h"
#include "io/audio/sound.h"

enum {
    SMP_FLAC_INFO = 34 /* bytes of STREAMINFO */,
    SMP_FLAC_TOTAL_AT = 13 /* offset in it: 4 bits of this byte, and 4 bytes */
};

typedef struct smp_flac_info {
    int least_block, most_block; /* frames of a block */
    uint32_t rate;
    int channels, bits;
    int64_t frames; /* 0: unknown */
    bool has_md5;
    uint8_t md5[16]; /* of the samples, interleaved, each in the fewest whole bytes, little-endian */
} smp_flac_info;

void smp_flac_info_take(smp_flac_info *info, const uint8_t bytes[SMP_FLAC_INFO]);

/* Sets the number of frames in the bytes of STREAMINFO. */
void smp_flac_set_frames(uint8_t bytes[SMP_FLAC_INFO], int64_t frames);

/* The frames from the first block to the end of the last whole one, which is found from the end of the file by its
 * checksum. 0: none; the file is cut off, or something unknown follows. SMP_E_DECODE: the metadata does not end. */
smp_code smp_flac_find_end(smp_source *source, const smp_flac_info *info, int64_t *frames, smp_error *err);

/* Adds samples to an MD5. codes: 32-bit integers whose high bits are the sample. */
void smp_flac_md5_add(smp_md5 *hash, const int32_t *codes, int64_t count, int bits);
