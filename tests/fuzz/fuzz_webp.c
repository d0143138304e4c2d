/* libFuzzer entry: WebP, and libwebp behind it. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_webp, fuzz_media(data, size), fuzz_frames(data, size))
