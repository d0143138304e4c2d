/* libFuzzer entry: the NPY decoder. */
#include "fuzz_media.h"

FUZZ_FORMAT(smp_format_npy, fuzz_media(data, size))
