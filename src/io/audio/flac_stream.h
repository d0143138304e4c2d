/* What a FLAC says of itself beside its samples: STREAMINFO, how far its frames go, the MD5 of its samples. Source: RFC
 * 9639. */
#ifndef SMP_IO_AUDIO_FLAC_STREAM_H
#define SMP_IO_AUDIO_FLAC_STREAM_H

#include "base/md5.h"
#include "io/audio/sound.h"

enum {
    SMP_FLAC_INFO = 34 /* bytes of STREAMINFO */,
    SMP_FLAC_TOTAL_AT = 13 /* in it: 4 bits of this byte, and 4 bytes */
};

typedef struct smp_flac_info {
    int least_block, most_block; /* frames of a block */
    uint32_t rate;
    int channels, bits;
    int64_t frames; /* 0: not said */
    bool has_md5;
    uint8_t md5[16]; /* of the samples, interleaved, each in as few whole bytes as hold it, low byte first */
} smp_flac_info;

void smp_flac_info_take(smp_flac_info *info, const uint8_t bytes[SMP_FLAC_INFO]);

/* Sets the number of frames in STREAMINFO's bytes. */
void smp_flac_set_frames(uint8_t bytes[SMP_FLAC_INFO], int64_t frames);

/* The frames from the first block to the end of the last whole one, found from the file's end by its checksum; 0 when
 * there is none: then the file is cut, or something that is not known follows. SMP_E_DECODE: the metadata does not end.
 */
smp_code smp_flac_find_end(smp_source *source, const smp_flac_info *info, int64_t *frames, smp_error *err);

/* Adds samples to an MD5. codes: their bits at the top of 32. */
void smp_flac_md5_add(smp_md5 *hash, const int32_t *codes, int64_t count, int bits);

#endif
