/* FFmpeg's libraries, opened while the program runs: see io/library.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Endings of names of files that may need them. */
extern const char *const smp_av_extensions[];

/* Whether a file that begins so needs them. */
bool smp_av_sniff(const uint8_t *head, size_t size);

/* FFmpeg's name for the kind of file that begins so; null: none that is read with them. */
const char *smp_av_kind(const uint8_t *head, size_t size);

/* Opens them once. False: they are not there, or this build is without. */
bool smp_av_load(void);
bool smp_av_loaded(void);
/* The same with an error, of this code, that says what to install. */
smp_code smp_av_need(smp_code failure, smp_error *err);

#ifdef SMP_HAVE_AV
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>

/* X(library, function) */
#define SMP_AV_FUNCTIONS(X)                                                                                            \
    X(avformat, avformat_alloc_context)                                                                                \
    X(avformat, avio_alloc_context)                                                                                    \
    X(avformat, avio_context_free)                                                                                     \
    X(avformat, av_find_input_format)                                                                                  \
    X(avformat, avformat_open_input)                                                                                   \
    X(avformat, avformat_find_stream_info)                                                                             \
    X(avformat, av_find_best_stream)                                                                                   \
    X(avformat, av_read_frame)                                                                                         \
    X(avformat, avformat_close_input)                                                                                  \
    X(avcodec, avcodec_find_decoder_by_name)                                                                           \
    X(avcodec, avcodec_find_encoder_by_name)                                                                           \
    X(avcodec, avcodec_send_frame)                                                                                     \
    X(avcodec, avcodec_receive_packet)                                                                                 \
    X(avcodec, avcodec_alloc_context3)                                                                                 \
    X(avcodec, avcodec_parameters_to_context)                                                                          \
    X(avcodec, avcodec_open2)                                                                                          \
    X(avcodec, avcodec_send_packet)                                                                                    \
    X(avcodec, avcodec_receive_frame)                                                                                  \
    X(avcodec, avcodec_free_context)                                                                                   \
    X(avcodec, av_packet_alloc)                                                                                        \
    X(avcodec, av_packet_unref)                                                                                        \
    X(avcodec, av_packet_free)                                                                                         \
    X(avutil, av_frame_alloc)                                                                                          \
    X(avutil, av_frame_free)                                                                                           \
    X(avutil, av_malloc)                                                                                               \
    X(avutil, av_free)                                                                                                 \
    X(avutil, av_channel_layout_from_mask)                                                                             \
    X(avutil, av_frame_get_side_data)                                                                                  \
    X(avutil, av_pix_fmt_desc_get)                                                                                     \
    X(avutil, av_dict_get)                                                                                             \
    X(avutil, av_log_set_level)                                                                                        \
    X(avutil, av_get_packed_sample_fmt)

typedef struct smp_av {
#define FIELD(library, function) __typeof__(function) *function;
    SMP_AV_FUNCTIONS(FIELD)
#undef FIELD
} smp_av;

/* Filled by smp_av_load. */
extern smp_av smp_av_functions;
#endif
