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

const smp_file_format smp_format_tiff = {
    .name = "TIFF",
    .extensions = (const char *const[]){"tif", "tiff", NULL},
    .kind = SMP_IMAGE,
    .iptc = true,
#ifdef SMP_HAVE_TIFF
    .sniff = sniff,
    .read_open = smp_tiff_read_open,
    .read_rows = smp_tiff_read_rows,
    .read_close = smp_tiff_read_close,
    .pages = true,
#endif
    .write_shape = smp_tiff_write_shape,
    .write_open = smp_tiff_write_open,
    .write_rows = smp_tiff_write_rows,
    .write_end = smp_tiff_write_end,
    .write_close = smp_tiff_write_close,
};
