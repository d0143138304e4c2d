/* libFuzzer entry: JPEGs whose coded scan is taken for a device instead of decoded. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_jpeg, fuzz_media_from(data, size, 1))
