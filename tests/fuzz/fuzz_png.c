/* libFuzzer entry: the PNG decoder. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_png, fuzz_media(data, size),
            fuzz_media_as(data, size, (smp_read_options){.frames = true, .no_verify = true}))
