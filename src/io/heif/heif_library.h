/* libheif, opened while the program runs: see io/library.h. */
#pragma once

#include "base/error.h"
#include "io/library.h"

/* Opens it once. False: it is not there, or this build is without. */
bool smp_heif_load(void);
bool smp_heif_loaded(void);

#ifdef SMP_HAVE_HEIF
#include <libheif/heif.h>

/* Opens it, or says why it cannot be had, with SMP_E_READ or SMP_E_WRITE. */
smp_code smp_heif_need(smp_code failure, smp_error *err);

#define SMP_HEIF_FUNCTIONS(X)                                                                                          \
    X(heif_context_add_XMP_metadata)                                                                                   \
    X(heif_context_add_exif_metadata)                                                                                  \
    X(heif_context_alloc)                                                                                              \
    X(heif_context_encode_image)                                                                                       \
    X(heif_context_free)                                                                                               \
    X(heif_context_get_encoder_for_format)                                                                             \
    X(heif_context_get_number_of_top_level_images)                                                                     \
    X(heif_context_get_primary_image_handle)                                                                           \
    X(heif_context_read_from_reader)                                                                                   \
    X(heif_context_set_max_decoding_threads)                                                                           \
    X(heif_context_set_maximum_image_size_limit)                                                                       \
    X(heif_context_write)                                                                                              \
    X(heif_decode_image)                                                                                               \
    X(heif_decoding_options_alloc)                                                                                     \
    X(heif_decoding_options_free)                                                                                      \
    X(heif_encoder_release)                                                                                            \
    X(heif_encoder_set_lossy_quality)                                                                                  \
    X(heif_encoder_set_parameter_integer)                                                                              \
    X(heif_have_encoder_for_format)                                                                                    \
    X(heif_image_add_plane)                                                                                            \
    X(heif_image_create)                                                                                               \
    X(heif_image_get_bits_per_pixel_range)                                                                             \
    X(heif_image_get_colorspace)                                                                                       \
    X(heif_image_get_height)                                                                                           \
    X(heif_image_get_nclx_color_profile)                                                                               \
    X(heif_image_get_plane)                                                                                            \
    X(heif_image_get_plane_readonly)                                                                                   \
    X(heif_image_get_width)                                                                                            \
    X(heif_image_handle_get_height)                                                                                    \
    X(heif_image_handle_get_list_of_metadata_block_IDs)                                                                \
    X(heif_image_handle_get_luma_bits_per_pixel)                                                                       \
    X(heif_image_handle_get_metadata)                                                                                  \
    X(heif_image_handle_get_metadata_content_type)                                                                     \
    X(heif_image_handle_get_metadata_size)                                                                             \
    X(heif_image_handle_get_metadata_type)                                                                             \
    X(heif_image_handle_get_nclx_color_profile)                                                                        \
    X(heif_image_handle_get_raw_color_profile)                                                                         \
    X(heif_image_handle_get_raw_color_profile_size)                                                                    \
    X(heif_image_handle_get_width)                                                                                     \
    X(heif_image_handle_has_alpha_channel)                                                                             \
    X(heif_image_handle_is_premultiplied_alpha)                                                                        \
    X(heif_image_handle_release)                                                                                       \
    X(heif_image_release)                                                                                              \
    X(heif_image_set_raw_color_profile)                                                                                \
    X(heif_init)                                                                                                       \
    X(heif_nclx_color_profile_free)

typedef struct smp_heif_functions {
#define FIELD(function) __typeof__(function) *function;
    SMP_HEIF_FUNCTIONS(FIELD)
#undef FIELD
} smp_heif_functions;

/* Filled by smp_heif_load. */
extern smp_heif_functions smp_heif_library;
#endif
