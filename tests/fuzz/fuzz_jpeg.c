/* libFuzzer entry: the JPEG decoder. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_jpeg, fuzz_media(data, size))
