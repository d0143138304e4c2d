/* Reads camera raw through LibRaw, developed as by dcraw to 16 bits: by the camera's white balance and orientation, to
 * sRGB, unless options (smp_read_camera) say otherwise.
 * EXIF and XMP come from the file's own directories where it is a TIFF. Source: libraw.h, "LibRaw: C API". */
#include "io/format.h"

#ifdef SMP_HAVE_RAW
#include <libraw/libraw.h>
#include <stdio.h>

#include "io/bytes.h"
#include "io/tiff/tiff_glue.h"

#define FUNCTIONS(M, with)                                                                                             \
    SMP_EACH(M, with, libraw_init, libraw_open_buffer, libraw_adjust_sizes_info_only, libraw_recycle, libraw_unpack,   \
             libraw_dcraw_process, libraw_dcraw_make_mem_image, libraw_dcraw_clear_mem, libraw_close, libraw_strerror, \
             libraw_set_dataerror_handler)

static struct {
    FUNCTIONS(SMP_LIBRARY_FIELD, )
    void (*omp_set_num_threads)(int threads);
} raw;

#define FILE_OF(number)  "libraw.so." #number
#define FILE_NOW(number) FILE_OF(number)

bool smp_raw_load(void)
{
    void *library = smp_library_open(FILE_NOW(LIBRAW_SHLIB_CURRENT));
    bool all = library != NULL;
#define TAKE(from, function) all = all && smp_library_function(from, #function, &raw.function);
    FUNCTIONS(TAKE, library)
    if (all)
        (void)smp_library_function(library, "omp_set_num_threads", &raw.omp_set_num_threads);
    return all;
}

typedef struct camera {
    libraw_data_t *raw;
    libraw_processed_image_t *picture;
    uint8_t *data;
    size_t size;
    bool damaged;
} camera;

#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
typedef INT64 offset;
#else
typedef int offset;
#endif

static void note_damage(void *state, const char *, const offset)
{
    ((camera *)state)->damaged = true;
}

static smp_code check(const camera *c, int failed, smp_error *err)
{
    SMP_NEED(failed != LIBRAW_UNSUFFICIENT_MEMORY, "a camera raw", c->size, err);
    if (!failed && !c->damaged)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the camera raw is damaged, truncated, or of a camera that LibRaw does not know (%s)",
             failed ? raw.libraw_strerror(failed) : "its samples end too early");
    return smp_hint_damaged(err);
}

static smp_code open_raw(camera *c, const smp_read_camera *o, smp_error *err)
{
    if (c->raw)
        raw.libraw_recycle(c->raw);
    else
        c->raw = raw.libraw_init(0);
    SMP_NEED(c->raw, "a camera raw", 0, err);
    libraw_output_params_t *how = &c->raw->params;
    how->use_camera_wb = o->white == SMP_WHITE_CAMERA;
    how->use_auto_wb = o->white == SMP_WHITE_AUTO;
    for (int i = 0; i < 4 && o->white == SMP_WHITE_NONE; i++)
        how->user_mul[i] = 1;
    how->half_size = o->half;
    how->no_auto_bright = o->linear;
    how->output_bps = 16;
    how->gamm[0] = o->linear ? 1 : 1 / 2.4; /* sRGB's curve */
    how->gamm[1] = o->linear ? 1 : 12.92;
    raw.libraw_set_dataerror_handler(c->raw, note_damage, c);
    return check(c, raw.libraw_open_buffer(c->raw, c->data, c->size), err);
}

/* LibRaw fills up samples that are missing, if they are not packed, and says nothing. */
static bool has_samples(const smp_tiff *tiff)
{
    const bool tiles = smp_tiff_find(tiff, TIFF_TILE_OFFSETS);
    const smp_tiff_entry *places = smp_tiff_find(tiff, tiles ? TIFF_TILE_OFFSETS : TIFF_STRIP_OFFSETS),
                         *sizes = smp_tiff_find(tiff, tiles ? TIFF_TILE_BYTES : TIFF_STRIP_BYTES);
    uint64_t at, size, last = tiff->source->size;
    for (uint64_t i = 0; smp_tiff_value(tiff, places, i, &at) && smp_tiff_value(tiff, sizes, i, &size); i++)
        if (at > last || size > last - at)
            return false;
    return true;
}

/* Of kinds that are a TIFF but for its mark. */
static smp_code keep_meta(smp_reader *reader, const camera *c, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_source source;
    smp_tiff tiff, below = {0};
    smp_error none;
    const bool whole = c->data[2] != '*' && c->data[3] != '*'; /* nobody knows */
    if (c->size < 8 || (memcmp(c->data, "II", 2) != 0 && memcmp(c->data, "MM", 2) != 0)) {
        smp_note(&reader->notes, "EXIF is left out, which is not looked for in this kind of camera raw");
        return SMP_OK;
    }
    memcpy(c->data + 2, c->data[0] == 'I' ? "*" : "\0*", 2);
    smp_source_memory(&source, c->data, c->size);
    const bool is_tiff = !smp_tiff_open(&tiff, &source, 1, &none);
    smp_code code = is_tiff ? smp_tiff_keep_meta(&tiff, reader, err) : SMP_OK;
    if (is_tiff && !code && !whole && !has_samples(smp_tiff_open_below(&below, &tiff) ? &below : &tiff)) {
        smp_fail(err, SMP_E_DECODE, "the camera raw is truncated: its samples reach past the end of the file");
        code = smp_hint_damaged(err);
    }
    smp_tiff_close(&below);
    smp_tiff_close(&tiff);
    smp_meta_apply_orientation(&media->meta, media->orientation);
    media->orientation = 1;
    smp_free(media->meta.icc.data); /* of no picture that is read */
    media->meta.icc = (smp_blob){0};
    return code;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    enum { HELD = 24 /* bytes a pixel that LibRaw holds, measured */ };
    camera *c = reader->state;
    smp_media *media = &reader->media;
    char mark[2];
    SMP_TRY(smp_library_need(SMP_LIBRARY_RAW, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, 1, &c->data, &c->size, err));
    SMP_TRY(open_raw(c, &reader->options.camera, err));
    SMP_TRY(check(c, raw.libraw_adjust_sizes_info_only(c->raw), err));
    media->shape.width = c->raw->sizes.iwidth;
    media->shape.height = c->raw->sizes.iheight;
    media->shape.channels = c->raw->idata.colors == 1 ? 1 : 3;
    media->shape.format = SMP_U16;
    media->bits = 16;
    media->meta.gamma = reader->options.camera.linear ? 1 : 0;
    snprintf(media->detail, sizeof media->detail, "%.40s %.40s", c->raw->idata.make, c->raw->idata.model);
    memcpy(mark, c->data + 2, sizeof mark);
    SMP_TRY(keep_meta(reader, c, err));
    memcpy(c->data + 2, mark, sizeof mark);
    return smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height,
                             (uint64_t)c->raw->sizes.raw_width * c->raw->sizes.raw_height * HELD + c->size, err);
}

static smp_code develop(smp_reader *reader, camera *c, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    int failed = 0;
    if (raw.omp_set_num_threads)
        raw.omp_set_num_threads(1);                     /* a confined process begins no threads */
    SMP_TRY(open_raw(c, &reader->options.camera, err)); /* what has told its sizes cannot be developed */
    SMP_TRY(check(c, raw.libraw_unpack(c->raw), err));
    SMP_TRY(check(c, raw.libraw_dcraw_process(c->raw), err));
    c->picture = raw.libraw_dcraw_make_mem_image(c->raw, &failed);
    SMP_TRY(check(c, c->picture ? 0 : failed, err));
    return c->picture->width == shape->width && c->picture->height == shape->height &&
                   c->picture->colors == shape->channels && c->picture->bits == 16
               ? SMP_OK
               : check(c, LIBRAW_DATA_ERROR, err);
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    camera *c = reader->state;
    const size_t bytes = (size_t)smp_row_bytes(&reader->media.shape);
    if (!c->picture)
        SMP_TRY(develop(reader, c, err));
    memcpy(to, c->picture->data + (size_t)y * bytes, bytes);
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    camera *c = reader->state;
    if (c->picture)
        raw.libraw_dcraw_clear_mem(c->picture);
    if (c->raw)
        raw.libraw_close(c->raw);
    smp_free_all(c->data, c);
}

/* A TIFF whose first directory is of DNG, or samples by colour filters, or the thumbnail of a camera's picture. */
static bool is_raw_tiff(const uint8_t *head, size_t size)
{
    enum { ENTRY = 12, FILTERS = 32803, LINEAR = 34892, NIKON = 34713, SONY = 32767, PENTAX = 65535 };
    const bool big = size >= 8 && !memcmp(head, "MM\0*", 4);
    if (size < 8 || (!big && memcmp(head, "II*\0", 4) != 0))
        return false;
    const uint64_t first = smp_get_bytes(head + 4, 4, big);
    const uint64_t count = first + 2 <= size ? smp_get_bytes(head + first, 2, big) : 0;
    bool small = false, make = false, inner = false;
    for (uint64_t i = 0, at = first + 2; i < count && at + ENTRY <= size; i++, at += ENTRY) {
        const uint64_t tag = smp_get_bytes(head + at, 2, big), value = smp_get_bytes(head + at + 8, 2, big);
        if (tag == TIFF_DNG || (tag == TIFF_PHOTOMETRIC && (value == FILTERS || value == LINEAR)) ||
            (tag == TIFF_COMPRESSION && (value == NIKON || value == SONY || value == PENTAX)))
            return true;
        small |= tag == TIFF_SUBFILE && smp_get_bytes(head + at + 8, 4, big) == 1;
        make |= tag == TIFF_MAKE;
        inner |= tag == TIFF_FOLDERS_BELOW;
    }
    return small && make && inner;
}

static bool sniff(const uint8_t *head, size_t size)
{
    static const struct {
        uint8_t at, size;
        const char *mark;
    } marks[] = {{8, 3, "CR\2"},     {4, 8, "ftypcrx "}, {0, 4, "IIRO"},
                 {0, 4, "IIRS"},     {0, 4, "MMOR"},     {0, 4, "IIU\0"},
                 {6, 8, "HEAPCCDR"}, {0, 4, "\0MRM"},    {0, 15, "FUJIFILMCCD-RAW"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= (size_t)marks[i].at + marks[i].size && !memcmp(head + marks[i].at, marks[i].mark, marks[i].size))
            return true;
    return is_raw_tiff(head, size);
}

#else

bool smp_raw_load(void)
{
    return false;
}

#endif

const smp_file_format smp_format_camera = {
    .name = "camera raw",
    .extensions = (const char *const[]){"dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "sr2", "raf", "orf", "rw2",
                                        "pef", "srw", "mrw", NULL},
    .kind = SMP_IMAGE,
    .library = SMP_LIBRARY_RAW,
#ifdef SMP_HAVE_RAW
    .sniff = sniff,
    .read_state = sizeof(camera),
    SMP_READS(row),
    .read_close = read_close,
#endif
};
