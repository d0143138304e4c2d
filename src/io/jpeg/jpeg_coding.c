/* Quantisation, sampling and layout of a JPEG: kept from the input, so that a JPEG made of it loses little more and is
 * no larger. A picture that is quantised again by the same steps hardly changes; at another quality both roundings add
 * up. */
#include <string.h>

#include "io/jpeg/jpeg_glue.h"

enum {
    DEFAULT_QUALITY = 90,
    FULL_COLOUR = 90 /* from this quality on colour has full resolution (4:4:4), as in vips */
};

void smp_jpeg_keep_coding(const struct jpeg_decompress_struct *jpeg, smp_jpeg_coding *coding)
{
    *coding =
        (smp_jpeg_coding){.inks = jpeg->out_color_space == JCS_CMYK, .progressive = jpeg->progressive_mode ? 1 : 0};
    const int components = jpeg->num_components;
    const bool usual = (components == 1 && jpeg->jpeg_color_space == JCS_GRAYSCALE) ||
                       (components == 3 && jpeg->jpeg_color_space == JCS_YCbCr);
    for (int i = 0; usual && i < components; i++) {
        const jpeg_component_info *component = &jpeg->comp_info[i];
        const int number = component->quant_tbl_no;
        const JQUANT_TBL *table = number >= 0 && number < NUM_QUANT_TBLS ? jpeg->quant_tbl_ptrs[number] : NULL;
        if (!table) /* it comes later in the file */
            return;
        for (int k = 0; k < DCTSIZE2; k++) {
            if (table->quantval[k] < 1 || table->quantval[k] > UINT8_MAX) /* more than baseline JPEG holds */
                return;
            coding->steps[i][k] = (uint8_t)table->quantval[k];
        }
        coding->across[i] = (uint8_t)component->h_samp_factor;
        coding->down[i] = (uint8_t)component->v_samp_factor;
    }
    coding->components = usual ? components : 0;
    smp_jpeg_keep_codes(jpeg, coding);
}

/* Both chroma planes at full, half or a quarter of the resolution; others are made by cameras and rarely read well. */
static bool sampling_is_usual(const smp_jpeg_coding *coding)
{
    if (coding->components == 1)
        return true;
    for (int i = 1; i < 3; i++)
        if (coding->across[i] != 1 || coding->down[i] != 1)
            return false;
    return coding->across[0] >= 1 && coding->across[0] <= 2 && coding->down[0] >= 1 && coding->down[0] <= 2;
}

/* After jpeg_set_defaults. False when the coding is for another kind of picture. */
static bool put_coding(struct jpeg_compress_struct *jpeg, const smp_jpeg_coding *coding)
{
    const int components = jpeg->num_components;
    if (coding->components < components || !sampling_is_usual(coding))
        return false;
    for (int i = 0; i < components; i++) {
        const int number = i > 1 && memcmp(coding->steps[1], coding->steps[2], DCTSIZE2) == 0 ? 1 : i;
        JQUANT_TBL **table = &jpeg->quant_tbl_ptrs[number];
        if (!*table)
            *table = jpeg_alloc_quant_table((j_common_ptr)jpeg);
        for (int k = 0; k < DCTSIZE2; k++)
            (*table)->quantval[k] = coding->steps[i][k];
        (*table)->sent_table = FALSE;
        jpeg->comp_info[i].quant_tbl_no = number;
        jpeg->comp_info[i].h_samp_factor = components == 1 ? 1 : coding->across[i];
        jpeg->comp_info[i].v_samp_factor = components == 1 ? 1 : coding->down[i];
    }
    return true;
}

static void set_sampling(struct jpeg_compress_struct *jpeg, int across, int down)
{
    if (jpeg->num_components != 3)
        return;
    jpeg->comp_info[0].h_samp_factor = across;
    jpeg->comp_info[0].v_samp_factor = down;
    for (int i = 1; i < 3; i++)
        jpeg->comp_info[i].h_samp_factor = jpeg->comp_info[i].v_samp_factor = 1;
}

bool smp_jpeg_wants_progressive(const smp_write_options *options, const smp_jpeg_coding *coding)
{
    const int asked = smp_write_value(&options->values, &smp_jpeg_progressive);
    return asked == SMP_JPEG_KEPT ? coding->progressive != 0 : asked == SMP_JPEG_PROGRESSIVE;
}

void smp_jpeg_set_coding(struct jpeg_compress_struct *jpeg, const smp_write_options *options,
                         const smp_jpeg_coding *coding)
{
    const int own = smp_write_value(&options->values, &smp_jpeg_quality);
    const int asked = own ? own : smp_write_value(&options->values, &smp_write_quality);
    const int quality = asked >= 1 && asked <= 100 ? asked : DEFAULT_QUALITY;
    const bool again = !asked && put_coding(jpeg, coding);
    if (!again)
        jpeg_set_quality(jpeg, quality, TRUE);
    switch (smp_write_value(&options->values, &smp_jpeg_subsampling)) {
    case SMP_JPEG_444:
        set_sampling(jpeg, 1, 1);
        break;
    case SMP_JPEG_422:
        set_sampling(jpeg, 2, 1);
        break;
    case SMP_JPEG_420:
        set_sampling(jpeg, 2, 2);
        break;
    default:
        if (!again && quality >= FULL_COLOUR)
            set_sampling(jpeg, 1, 1);
        break;
    }
    if (smp_jpeg_wants_progressive(options, coding))
        jpeg_simple_progression(jpeg); /* makes its codes for the picture */
    else if (again)
        smp_jpeg_put_codes(jpeg, coding);
}
