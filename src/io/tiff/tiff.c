/* The TIFF format's row of the table. Reading needs libtiff, writing nothing. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

#ifdef SMP_HAVE_TIFF

/* Canon's raw files are TIFFs that say "CR" behind the header; what they show first is a thumbnail. */
static bool sniff(const uint8_t *head, size_t size)
{
    if (size < 8 || (size >= 10 && memcmp(head + 8, "CR", 2) == 0))
        return false;
    return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "II+\0\10\0\0\0", 8) == 0 ||
           memcmp(head, "MM\0+\0\10\0\0", 8) == 0;
}

#endif

static const char *const packing_words[] = {"deflate", "lzw", "none", "zstd", NULL}; /* smp_tiff_compression */

const smp_write_option smp_tiff_packing = {
    .name = "tiff-compression",
    .type = SMP_WRITE_CHOICE,
    .choices = packing_words,
    .argument = "KIND",
    .help = "compression of TIFFs: deflate, lzw, zstd or none",
    .flags = SMP_WRITE_RARE | SMP_WRITE_SAID,
};

const smp_write_option smp_tiff_tile = {
    .name = "tiff-tile",
    .type = SMP_WRITE_NUMBER,
    .min = 16,
    .max = 4096,
    .argument = "PX",
    .help = "write TIFFs in square tiles with sides of so many pixels, a multiple of 16; in strips unless said",
    .flags = SMP_WRITE_RARE,
};

const smp_file_format smp_format_tiff = {
    .name = "TIFF",
    .extensions = (const char *const[]){"tif", "tiff", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .text_most = INT32_MAX,
    .text_keys = "Title Comment Software Artist Copyright",
    .takes = (const smp_write_takes[]){{&smp_tiff_packing}, {&smp_tiff_tile}, {0}},
    .iptc = true,
    .dpi = true,
#ifdef SMP_HAVE_TIFF
    .sniff = sniff,
    SMP_READER(smp_tiff, row),
    .pages = true,
#endif
    SMP_WRITER(smp_tiff, row),
    .write_next = smp_tiff_write_next,
    .shapes = true,
};
