/* JPEGs whose scan a device codes: see jpeg_by_device.h. */
#include "io/jpeg/jpeg_by_device.h"

#include <string.h>

#include "base/checked.h"
#include "io/jpeg/jpeg_glue.h"

#ifdef LIBJPEG_TURBO_VERSION
typedef struct asked {
    smp_jpeg base;
    struct jpeg_compress_struct jpeg;
    const smp_write_options *options;
    const smp_shape *shape;
    const smp_jpeg_coding *coding;
    smp_jpeg_params *params;
    bool created, serves;
} asked;

/* False for a table of more symbols than a picture of 8 bits has. */
static bool take_codes(const JHUFF_TBL *from, smp_jpeg_huffman *to)
{
    int count = 0;
    for (int length = 1; length <= 16; length++)
        count += to->counts[length - 1] = from->bits[length];
    if (count > (int)sizeof to->symbols)
        return false;
    memcpy(to->symbols, from->huffval, (size_t)count);
    return true;
}

/* Lets libjpeg set itself up as for writing, and takes what it would do. */
static void ask(void *context)
{
    asked *a = context;
    struct jpeg_compress_struct *jpeg = &a->jpeg;
    smp_jpeg_params *p = a->params;
    jpeg->err = smp_jpeg_errors(&a->base, SMP_E_WRITE);
    jpeg_create_compress(jpeg);
    a->created = true;
    jpeg->image_width = (JDIMENSION)a->shape->width;
    jpeg->image_height = (JDIMENSION)a->shape->height;
    jpeg->input_components = a->shape->channels;
    jpeg->in_color_space = a->shape->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    smp_jpeg_set_coding(jpeg, a->options, a->coding);
    if (jpeg->scan_info || jpeg->optimize_coding || jpeg->arith_code || jpeg->smoothing_factor ||
        jpeg->restart_in_rows || jpeg->data_precision != 8)
        return;
    *p = (smp_jpeg_params){.quality = 1, .own = true, .restart = jpeg->restart_interval};
    const jpeg_component_info *first = &jpeg->comp_info[0];
    if (jpeg->num_components == 3)
        p->sampling = first->h_samp_factor == 1
                          ? (first->v_samp_factor == 1 ? SMP_JPEG_FULL : SMP_JPEG_HALF_DOWN)
                          : (first->v_samp_factor == 1 ? SMP_JPEG_HALF_ACROSS : SMP_JPEG_HALF_BOTH);
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *component = &jpeg->comp_info[c];
        const JQUANT_TBL *table = jpeg->quant_tbl_ptrs[component->quant_tbl_no];
        if (component->dc_tbl_no != (c > 0) || component->ac_tbl_no != (c > 0) ||
            component->h_samp_factor > (c ? 1 : 2) || component->v_samp_factor > (c ? 1 : 2))
            return;
        for (int i = 0; i < DCTSIZE2; i++) {
            if (table->quantval[i] < 1 || table->quantval[i] > UINT8_MAX)
                return;
            p->steps[c][i] = (uint8_t)table->quantval[i];
        }
    }
    for (int i = 0; i < 2; i++)
        if (!take_codes(jpeg->dc_huff_tbl_ptrs[i], &p->dc[i]) || !take_codes(jpeg->ac_huff_tbl_ptrs[i], &p->ac[i]))
            return;
    for (int c = jpeg->num_components; c < 3; c++)
        memset(p->steps[c], 1, sizeof p->steps[c]);
    a->serves = true;
}
#endif

bool smp_jpeg_scan_serves(const char *path, const smp_write_options *options, const smp_shape *shape,
                          const smp_jpeg_coding *coding, smp_jpeg_params *params)
{
#ifdef LIBJPEG_TURBO_VERSION /* other libraries of that name transform and sample in other ways */
    const smp_jpeg_coding none = {.components = 0};
    smp_error err = {0};
    if (!smp_writer_is(path, options->format, smp_format_jpeg.name) || options->coded.picture ||
        smp_write_value(&options->values, &smp_write_lossless) || shape->format != SMP_U8 || shape->alpha ||
        (shape->channels != 1 && shape->channels != 3) || shape->width > JPEG_MAX_DIMENSION ||
        shape->height > JPEG_MAX_DIMENSION)
        return false;
    asked a = {.options = options, .shape = shape, .coding = coding ? coding : &none, .params = params};
    const smp_code code = smp_jpeg_guard(&a.base, ask, &a, &err);
    if (a.created)
        jpeg_destroy_compress(&a.jpeg);
    return code == SMP_OK && a.serves;
#else
    (void)path, (void)options, (void)shape, (void)coding, (void)params;
    return false;
#endif
}

bool smp_jpeg_scan_is_progressive(const char *path, const smp_write_options *options, const smp_shape *shape,
                                  const smp_jpeg_coding *coding)
{
    smp_jpeg_params params;
    smp_write_options baseline = *options;
    smp_write_set(&baseline.values, &smp_jpeg_progressive, SMP_JPEG_BASELINE);
    return smp_jpeg_scan_serves(path, &baseline, shape, coding, &params) && smp_jpeg_wants_progressive(options, coding);
}

static smp_code begin(smp_jpeg_scan_rows *scan, const smp_writer *writer, const void *from, smp_error *err)
{
    const smp_shape *shape = &writer->options.coded.scan;
    smp_jpeg_coded head;
    if (shape->width < SMP_JPEG_HEAD || shape->channels != 1 || shape->format != SMP_U8)
        return smp_fail(err, SMP_E_PROCESS, "rows of a scan are bytes, at least %d of them", SMP_JPEG_HEAD);
    memcpy(&head, from, sizeof head);
    if (!smp_jpeg_scan_fits(from) || head.length > (uint64_t)(shape->width * shape->height - SMP_JPEG_HEAD))
        return smp_fail(err, SMP_E_PROCESS, "the scan of this JPEG is longer than its room");
    scan->begun = true;
    scan->left = head.length;
    return SMP_OK;
}

smp_code smp_jpeg_scan_write(smp_jpeg_scan_rows *scan, smp_writer *writer, const void *from, int64_t stride,
                             int64_t rows, smp_error *err)
{
    const int64_t width = writer->options.coded.scan.width;
    for (int64_t y = 0; y < rows; y++) {
        const char *row = (const char *)from + y * stride;
        int64_t skip = 0;
        smp_code code = SMP_OK;
        if (!scan->begun) {
            code = begin(scan, writer, row, err);
            skip = SMP_JPEG_HEAD;
        }
        const size_t size = (size_t)smp_min_i64((int64_t)scan->left, width - skip);
        if (!code && size)
            code = smp_output_write(writer->output, row + skip, size, err);
        if (code)
            return code;
        scan->left -= size;
    }
    return SMP_OK;
}

smp_code smp_jpeg_scan_end(const smp_jpeg_scan_rows *scan, smp_writer *writer, smp_error *err)
{
    static const uint8_t end[] = {0xff, JPEG_EOI};
    if (!scan->begun || scan->left)
        return smp_fail(err, SMP_E_PROCESS, "the scan of this JPEG ends early");
    return smp_output_write(writer->output, end, sizeof end, err);
}
