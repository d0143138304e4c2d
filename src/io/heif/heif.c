/* HEIC's and AVIF's rows of the table: the same boxes around pictures by H.265 and by AV1. Both need libheif. HEIC is
 * not written: its encoders are slow and its patents are not ours to use. */
#include "io/heif/heif_glue.h"

#include <string.h>

#ifdef SMP_HAVE_HEIF

/* Whether a file type box is there and has one of the brands. */
static bool has_brand(const uint8_t *head, size_t size, const char *const *brands)
{
    if (size < 16 || memcmp(head + 4, "ftyp", 4) != 0)
        return false;
    const size_t said = (size_t)head[2] << 8 | head[3], end = said < size ? said : size;
    for (size_t at = 8; at + 4 <= end && !head[0] && !head[1]; at += at == 8 ? 8 : 4) /* a version is after the first */
        for (const char *const *brand = brands; *brand; brand++)
            if (memcmp(head + at, *brand, 4) == 0)
                return true;
    return false;
}

static bool sniff_avif(const uint8_t *head, size_t size)
{
    static const char *const brands[] = {"avif", "avis", NULL};
    return has_brand(head, size, brands);
}

static bool sniff_heic(const uint8_t *head, size_t size)
{
    static const char *const brands[] = {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1",
                                         "mif2", "mif3", "msf1", "avci", "j2ki", "vvic", NULL};
    return has_brand(head, size, brands);
}

#endif

static const char *const heic_extensions[] = {"heic", "heif", "hif", NULL};
static const char *const avif_extensions[] = {"avif", NULL};

const smp_file_format smp_format_heic = {
    .name = "HEIC",
    .extensions = heic_extensions,
    .kind = SMP_IMAGE,
#ifdef SMP_HAVE_HEIF
    .library = SMP_LIBRARY_HEIF,
    .sniff = sniff_heic,
    SMP_READER(smp_heif, row),
#endif
};

const smp_file_format smp_format_avif = {
    .name = "AVIF",
    .extensions = avif_extensions,
    .kind = SMP_IMAGE,
    .texts = true,
    .takes = (const smp_write_takes[]){{&smp_write_quality}, {0}},
#ifdef SMP_HAVE_HEIF
    .library = SMP_LIBRARY_HEIF,
    .confined = true,
    .sniff = sniff_avif,
    SMP_READER(smp_heif, row),
    SMP_WRITER(smp_avif, row),
#endif
};
