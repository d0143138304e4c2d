/* The JPEG format's row of the table, and what its reader and writer share: libjpeg's errors and warnings as ours. */
#include "base/alloc.h"
#include "io/jpeg/jpeg_glue.h"
#include "io/jpeg/jpeg_lossless.h"

#include <jerror.h>

const smp_write_option smp_jpeg_quality = {
    .name = "jpeg-quality",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 100,
    .argument = "N",
    .help = "quality of JPEGs alone",
    .flags = SMP_WRITE_RARE,
};

static const char *const sampling_words[] = {"auto", "4:4:4", "4:2:2", "4:2:0", NULL}; /* smp_jpeg_sampling */

const smp_write_option smp_jpeg_subsampling = {
    .name = "jpeg-subsampling",
    .type = SMP_WRITE_CHOICE,
    .choices = sampling_words,
    .argument = "KIND",
    .help = "resolution of colour in JPEGs: 4:4:4, 4:2:2, 4:2:0; auto: the input's, else full from quality 90 on",
    .flags = SMP_WRITE_SAID,
};

static const char *const scan_words[] = {"auto", "on", "off", NULL}; /* smp_jpeg_scans */

const smp_write_option smp_jpeg_progressive = {
    .name = "jpeg-progressive",
    .type = SMP_WRITE_CHOICE,
    .choices = scan_words,
    .argument = "WHEN",
    .help = "write JPEGs that appear coarse at first (alone: on; off; auto: as the input), in memory as a whole",
    .flags = SMP_WRITE_ALONE,
};

/* Whether the input is coded as the options ask. */
static bool keeps_coded(const smp_write_options *options, const smp_media *media)
{
    const smp_write_values *values = &options->values;
    const int scans = smp_write_value(values, &smp_jpeg_progressive);
    return !strcmp(media->file_format, smp_format_jpeg.name) && !smp_write_value(values, &smp_write_quality) &&
           !smp_write_value(values, &smp_jpeg_quality) && !smp_write_value(values, &smp_jpeg_subsampling) &&
           !smp_write_value(values, &smp_write_lossless) &&
           (scans == SMP_JPEG_KEPT ||
            (scans == SMP_JPEG_PROGRESSIVE) == (smp_coding_jpeg(&media->meta.coding)->progressive != 0));
}

static const smp_file_format *instead(const smp_source *source)
{
    return smp_format_ljpeg.read_open && smp_jpeg_is_lossless(source) ? &smp_format_ljpeg : NULL;
}

const smp_file_format smp_format_jpeg = {
    .name = "JPEG",
    .extensions = (const char *const[]){"jpg", "jpeg", "jpe", "jfif", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .text_most = 65531, /* and a sign more, in a marker */
    .takes =
        (const smp_write_takes[]){
            {&smp_write_quality}, {&smp_jpeg_quality}, {&smp_jpeg_subsampling}, {&smp_jpeg_progressive}, {0}},
    .iptc = true,
    .dpi = true,
    .sniff = smp_jpeg_sniff,
    .instead = instead,
    SMP_READER(smp_jpeg, rows),
    .read_end = smp_jpeg_read_end,
    SMP_WRITER(smp_jpeg, rows),
    .keeps_coded = keeps_coded,
};

enum {
    LOSSLESS = 3,    /* SOF3 */
    STRAY_BYTES = 16 /* some cameras write a few extra bytes after the coded picture or between markers */
};

_Noreturn void smp_jpeg_stop(smp_jpeg *state, smp_code code)
{
    state->code = code;
    longjmp(state->jump, 1);
}

static smp_code describe(smp_jpeg *state, j_common_ptr cinfo)
{
    smp_error *err = state->err;
    if (state->memory.over_cap) {
        smp_fail(err, SMP_E_LIMIT, "the JPEG needs more than the %llu bytes it may take",
                 (unsigned long long)state->memory.cap);
        smp_hint(err, "raise the limit with --max-memory");
        return SMP_E_LIMIT;
    }
    if (state->memory.refused) {
        smp_fail_memory(err, "JPEG", state->memory.refused);
        if (!cinfo->is_decompressor && ((j_compress_ptr)cinfo)->scan_info)
            smp_hint(err, "a progressive JPEG is held whole: --jpeg-progressive=off, or raise --max-memory");
        return err->code;
    }
    switch (state->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return smp_fail_memory(err, "JPEG", 0);
    case JERR_BAD_PRECISION:
        smp_fail(err, state->fault, "the JPEG has samples of %d bits; only 8 are read", state->errors.msg_parm.i[0]);
        return smp_hint(err, "save it as a PNG of 16 bits with a program that reads such files");
#if JPEG_LIB_VERSION < 70 /* later ones (Ubuntu's) read them */
    case JERR_ARITH_NOTIMPL:
        smp_fail(err, state->fault, "the JPEG is coded arithmetically, which this libjpeg does not read");
        return smp_hint(err, "recode it without loss where there is another: jpegtran in.jpg > out.jpg");
#endif
    case JERR_SOF_UNSUPPORTED:
        smp_fail(err, state->fault, "the JPEG is of an unsupported kind (lossless or hierarchical: SOF%d)",
                 state->errors.msg_parm.i[0] & 15);
        if (state->piped && (state->errors.msg_parm.i[0] & 15) == LOSSLESS)
            return smp_hint(err, "with more than 512 bytes before its frame it is read from a file, not a pipe");
        return smp_hint(err, "save it as a baseline JPEG with a program that reads such files");
    default: {
        char message[JMSG_LENGTH_MAX];
        state->errors.format_message(cinfo, message);
        if (state->fault != SMP_E_DECODE)
            return smp_fail(err, state->fault, "the JPEG cannot be written (libjpeg: %.200s)", message);
        smp_fail(err, state->fault, "the JPEG is damaged (libjpeg: %.200s)", message);
        return smp_hint_damaged(err);
    }
    }
}

static void failed(j_common_ptr cinfo)
{
    smp_jpeg *state = (smp_jpeg *)(void *)cinfo->err;
    smp_jpeg_stop(state, describe(state, cinfo));
}

static void note_warning(smp_jpeg *state, j_common_ptr cinfo)
{
    char message[JMSG_LENGTH_MAX];
    state->errors.format_message(cinfo, message);
    if (state->notes)
        smp_note(state->notes, "the picture may be damaged (libjpeg: %.150s)", message);
}

void smp_jpeg_lacks(smp_jpeg *state, j_decompress_ptr jpeg)
{
    if (state->cut.lacking)
        return;
    state->cut.lacking = true;
    state->cut.scan = jpeg->input_scan_number;
    state->cut.row = jpeg->input_iMCU_row;
}

/* After most warnings (level -1) libjpeg continues with invented samples: those are errors. After the following ones
 * every sample was in the file. */
static void message(j_common_ptr cinfo, int level)
{
    smp_jpeg *state = (smp_jpeg *)(void *)cinfo->err;
    if (level >= 0)
        return;
    if (state->cut.reached) {
        if (state->errors.msg_code == JWRN_HIT_MARKER)
            smp_jpeg_lacks(state, (j_decompress_ptr)cinfo);
        return;
    }
    switch (state->errors.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_NOT_SEQUENTIAL: /* a field without meaning in a baseline file has a wrong value */
        return;
    case JWRN_EXTRANEOUS_DATA: {
        int marker = state->errors.msg_parm.i[1]; /* before a restart marker: coded samples were lost */
        if (marker >= 0xD0 && marker <= 0xD7)
            break;
        if (state->errors.msg_parm.i[0] > STRAY_BYTES)
            note_warning(state, cinfo);
        return;
    }
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_BOGUS_ICC:
        note_warning(state, cinfo);
        return;
    default:
        break;
    }
    failed(cinfo);
}

static void print_nothing(j_common_ptr) {}

struct jpeg_error_mgr *smp_jpeg_errors(smp_jpeg *state, smp_code fault)
{
    jpeg_std_error(&state->errors);
    state->errors.error_exit = failed;
    state->errors.emit_message = message;
    state->errors.output_message = print_nothing;
    state->fault = fault;
    return &state->errors;
}

smp_code smp_jpeg_guard(smp_jpeg *state, void (*body)(void *context), void *context, smp_error *err)
{
    state->err = err;
    state->code = SMP_OK;
    if (setjmp(state->jump))
        return state->code;
    body(context);
    return SMP_OK;
}
