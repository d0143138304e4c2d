/* Whether a file that FFmpeg reads is whole: its demuxers end without a word where a file was cut, and step over what
 * is damaged. What a format cannot tell is not found: a bare stream, or MPEG, that was cut between two packets. */
#pragma once

#include "io/files/source.h"

/* By the container alone. kind: FFmpeg's name. The source can seek; leaves it where it was. */
smp_code smp_av_check_container(smp_source *source, const char *kind, smp_error *err);

/* Elements of a Matroska file: each in its parent, checksums where there are some. */
smp_code smp_matroska_check(smp_source *source, smp_error *err);

/* Packets of an ASF: each is one, and the parts of its sounds follow one another. */
smp_code smp_asf_check(const smp_source *source, smp_error *err);

/* The frames of a stream without a container: one behind the other up to the end, or to tags. */
smp_code smp_av_check_frames(const smp_source *source, const char *kind, smp_error *err);

/* Findings of a decoding of the whole file. */
typedef struct smp_av_seen {
    const char *kind; /* FFmpeg's name */
    double said;      /* seconds that the header tells of; 0: it does not */
    double last;      /* seconds at which the last packet of any stream ends */
    double packet;    /* seconds of the longest packet: a header may count the last one as a whole */
    int64_t exact;    /* frames of sound that the header tells of exactly; 0: it does not */
    int64_t frames;   /* of sound */
    int rate;         /* Hz */
    bool cut;         /* a packet is not whole */
} smp_av_seen;

smp_code smp_av_check_length(const smp_source *source, const smp_av_seen *seen, smp_error *err);

/* Pictures, with zeros behind their data. */
bool smp_pcx_is_whole(const uint8_t *data, size_t size);
bool smp_sun_is_whole(const uint8_t *data, size_t size);
