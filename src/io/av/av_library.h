/* FFmpeg's libraries, opened while the program runs: see smp_library_load. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/library.h"

/* Endings of names of files that may need them. */
extern const char *const smp_av_extensions[];

/* Whether a file that begins so needs them. */
bool smp_av_sniff(const uint8_t *head, size_t size);

/* FFmpeg's name for the kind of file that begins so; null: none that is read with them. */
const char *smp_av_kind(const uint8_t *head, size_t size);

#ifdef SMP_HAVE_AV
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>

#define SMP_AVFORMAT_FUNCTIONS(M, with)                                                                                \
    SMP_EACH(M, with, avformat_alloc_context, avio_alloc_context, avio_context_free, av_find_input_format,             \
             avformat_open_input, avformat_find_stream_info, av_find_best_stream, av_read_frame, avformat_close_input)
#define SMP_AVCODEC_FUNCTIONS(M, with)                                                                                 \
    SMP_EACH(M, with, avcodec_find_decoder_by_name, avcodec_find_encoder_by_name, avcodec_send_frame,                  \
             avcodec_receive_packet, avcodec_alloc_context3, avcodec_parameters_to_context, avcodec_open2,             \
             avcodec_send_packet, avcodec_receive_frame, avcodec_free_context, av_packet_alloc, av_packet_unref,       \
             av_packet_free)
#define SMP_AVUTIL_FUNCTIONS(M, with)                                                                                  \
    SMP_EACH(M, with, av_frame_alloc, av_frame_free, av_malloc, av_free, av_channel_layout_from_mask,                  \
             av_frame_get_side_data, av_pix_fmt_desc_get, av_dict_get, av_log_set_callback, av_get_packed_sample_fmt)

typedef struct smp_av {
    SMP_AVFORMAT_FUNCTIONS(SMP_LIBRARY_FIELD, )
    SMP_AVCODEC_FUNCTIONS(SMP_LIBRARY_FIELD, )
    SMP_AVUTIL_FUNCTIONS(SMP_LIBRARY_FIELD, )
} smp_av;

/* Filled by smp_library_load. */
extern smp_av smp_av_functions;

/* Width and height of the picture that FFmpeg last found too large, in this thread. */
extern _Thread_local unsigned smp_av_too_large[2];
#endif
