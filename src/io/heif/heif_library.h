/* libheif, opened while the program runs: see smp_library_load. */
#pragma once

#include "io/library.h"

#ifdef SMP_HAVE_HEIF
#include <libheif/heif.h>

#define SMP_HEIF_FUNCTIONS(M, with)                                                                                    \
    SMP_EACH(M, with, heif_context_add_XMP_metadata, heif_context_add_exif_metadata, heif_context_alloc,               \
             heif_context_encode_image, heif_context_free, heif_context_get_encoder_for_format,                        \
             heif_context_get_number_of_top_level_images, heif_context_get_primary_image_handle,                       \
             heif_context_read_from_reader, heif_context_set_max_decoding_threads,                                     \
             heif_context_set_maximum_image_size_limit, heif_context_write, heif_decode_image,                         \
             heif_decoding_options_alloc, heif_decoding_options_free, heif_encoder_release)                            \
    SMP_EACH(M, with, heif_encoder_set_lossy_quality, heif_encoder_set_parameter_integer,                              \
             heif_have_encoder_for_format, heif_image_add_plane, heif_image_create,                                    \
             heif_image_get_bits_per_pixel_range, heif_image_get_colorspace, heif_image_get_height,                    \
             heif_image_get_nclx_color_profile, heif_image_get_plane, heif_image_get_plane_readonly,                   \
             heif_image_get_width, heif_image_handle_get_height, heif_image_handle_get_list_of_metadata_block_IDs,     \
             heif_image_handle_get_luma_bits_per_pixel, heif_image_handle_get_metadata)                                \
        SMP_EACH(M, with, heif_image_handle_get_metadata_content_type, heif_image_handle_get_metadata_size,            \
                 heif_image_handle_get_metadata_type, heif_image_handle_get_nclx_color_profile,                        \
                 heif_image_handle_get_raw_color_profile, heif_image_handle_get_raw_color_profile_size,                \
                 heif_image_handle_get_width, heif_image_handle_has_alpha_channel,                                     \
                 heif_image_handle_is_premultiplied_alpha, heif_image_handle_release, heif_image_release,              \
                 heif_image_set_raw_color_profile, heif_init, heif_nclx_color_profile_free)

typedef struct smp_heif_functions {
    SMP_HEIF_FUNCTIONS(SMP_LIBRARY_FIELD, )
} smp_heif_functions;

/* Filled by smp_library_load. */
extern smp_heif_functions smp_heif_library;
#endif
