/* The sound of an MP4 as it is coded: packets of AAC that another M4A takes as they are. An edit list tells players
 * where the sound begins and ends. Sources: ISO/IEC 14496-3, 1.6.2 (AudioSpecificConfig) and 4.4.1; 14496-12, 8.6.6. */
#pragma once

#include "io/av/av_library.h"
#include "io/format.h"

enum { SMP_AAC_PACKET = 1024 /* frames */ };

#ifdef SMP_HAVE_AV
/* Whether that may be: AAC-LC in packets of 1024 frames at the file's own rate. */
bool smp_m4a_copies(const AVStream *stream, const char *kind);

/* reader->media.coded becomes the sound from frame `begin` of all packets on, so many frames of it; where it lies
 * within one packet it stays empty, which is noted. The file stands at its beginning. */
smp_code smp_m4a_keep(AVFormatContext *file, int stream, AVPacket *packet, bool part, int64_t begin, int64_t frames,
                      smp_reader *reader, smp_error *err);
#endif

/* Writes a file of that: writer->options.coded. */
smp_code smp_m4a_put_coded(smp_writer *writer, const smp_meta *meta, smp_error *err);
