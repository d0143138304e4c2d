/* libFuzzer entry: the decoders of pictures that need no library (BMP, ICO, QOI, TGA, PSD, HDR, PNM, PFM). */
#include "fuzz_media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const smp_file_format *format = smp_format_sniff(data, size);
    if (format && format->kind == SMP_IMAGE && format != &smp_format_png && format != &smp_format_jpeg &&
        format != &smp_format_tiff && format != &smp_format_webp && format != &smp_format_gif && !format->library)
        fuzz_media(data, size);
    return 0;
}
