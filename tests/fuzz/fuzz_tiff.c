/* libFuzzer entry: TIFF, and libtiff behind it. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_tiff, fuzz_media(data, size))
