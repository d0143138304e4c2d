/* libFuzzer entry: GIF, and giflib behind it. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_gif, fuzz_media(data, size), fuzz_frames(data, size))
