/* Reads a page of a PDF, and SVG: drawn by poppler and librsvg through cairo, whole, at a resolution (--dpi) or a width
 * (--draw-width). Nothing that a file names is opened but fonts of the system. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/text/utf8.h"
#include "io/alpha.h"
#include "io/bytes.h"
#include "io/drawn/draw_library.h"
#include "io/format.h"

static const smp_draw_library *const draw = &smp_draw_functions;

/* A few lines can ask for hours of drawing. A page of a map, 1 MB of paths, takes a quarter of a second. */
static const smp_decode_time time_to_draw = {.spare = 2, .unknown = 60, .out = 10000000 /* of A4 at 300 dpi 26 MB */};

enum { ARGB32 = 0 /* CAIRO_FORMAT: premultiplied, a word a pixel */, MOST_SIDE = 32767, PDF_DPI = 150, POINTS = 72 };
enum { CSS_DPI = 96, HEAD = 1 << 16 /* bytes among which <svg is looked for */ };
enum { ENCRYPTED = 1 /* POPPLER_ERROR */, UNLIMITED = 1 /* RSVG_HANDLE_FLAG */ };
enum { LIBXML = 10000000 /* bytes of a text, unless unlimited */, GZIP = 16 + MAX_WBITS };

typedef struct drawn {
    uint8_t *data; /* the file */
    size_t size;
    uint64_t inside;               /* bytes of a PDF's largest picture, unpacked; of all of an SVG's */
    void *document, *page, *bytes; /* of a PDF; document: of SVG its handle */
    double scale;                  /* pixels for each of its units */
    double width, height;          /* in pixels, before rounding */
    smp_rsvg_rectangle view;       /* of SVG: what librsvg fits it into, in its units from the picture's corner */
    uint32_t *pixels;
} drawn;

/* ------------------------------------------------------------------------------------------------ opening */

/* Fails, by what a library says. */
static smp_code fail_library(smp_g_error *why, const char *format, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the %s is damaged, or cannot be drawn (%.150s)", format,
             why && why->message ? why->message : "no reason is told");
    if (why)
        draw->g_error_free(why);
    return smp_hint_damaged(err);
}

/* The size in pixels of what is wide and high in units, of which `inch` are an inch. */
static smp_code set_size(smp_reader *reader, double wide, double high, double inch, double dpi, smp_error *err)
{
    drawn *d = reader->state;
    smp_media *media = &reader->media;
    const smp_read_options *o = &reader->options;
    if (!(wide > 0 && high > 0))
        return smp_fail(err, SMP_E_DECODE, "the %s has no size (%.6g x %.6g)", media->file_format, wide, high);
    d->scale = o->draw_width ? (double)o->draw_width / wide : (o->dpi > 0 ? o->dpi : dpi) / inch;
    d->width = wide * d->scale;
    d->height = high * d->scale;
    if (!(d->width <= 1e9 && d->height <= 1e9))
        return smp_fail(err, SMP_E_LIMIT, "the picture is too large: %.6g x %.6g pixels", d->width, d->height);
    static const double slack = 1e-6;
    media->shape.width = smp_max_i64((int64_t)ceil(d->width - slack), 1);
    media->shape.height = smp_max_i64((int64_t)ceil(d->height - slack), 1);
    media->bits = 8;
    const uint64_t bytes = (uint64_t)media->shape.width * (uint64_t)media->shape.height * sizeof(uint32_t);
    SMP_TRY(smp_check_picture(&o->limits, media->shape.width, media->shape.height, bytes + d->size + d->inside, err));
    if (media->shape.width <= MOST_SIDE && media->shape.height <= MOST_SIDE)
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT, "the picture would have %lld x %lld pixels, and cairo draws %d a side",
             (long long)media->shape.width, (long long)media->shape.height, MOST_SIDE);
    return smp_hint(err, "choose a lower --dpi or --draw-width");
}

static bool keep_text(smp_meta *meta, const char *key, char *text)
{
    const bool kept = !text || !text[0] || smp_meta_add_text(meta, key, text, strlen(text));
    draw->g_free(text);
    return kept;
}

static smp_code open_document(drawn *d, smp_error *err)
{
    smp_g_error *why = NULL;
    SMP_NEED(d->bytes = draw->g_bytes_new_static(d->data, d->size), "a PDF", d->size, err);
    d->document = draw->poppler_document_new_from_bytes(d->bytes, NULL, &why);
    if (d->document)
        return SMP_OK;
    if (!why || why->code != ENCRYPTED)
        return fail_library(why, "PDF", err);
    draw->g_error_free(why);
    smp_fail(err, SMP_E_DECODE, "the PDF is locked by a password");
    return smp_hint(err, "unlock it first: qpdf --decrypt --password=WORD IN.pdf OUT.pdf");
}

/* poppler draws what there is of a file that is cut, and says nothing. */
static smp_code check_end(smp_reader *reader, const drawn *d, smp_error *err)
{
    enum { TAIL = 1024 /* bytes, as in Adobe's readers */ };
    const size_t tail = d->size < TAIL ? d->size : TAIL;
    if (memmem(d->data + d->size - tail, tail, "%%EOF", 5))
        return SMP_OK;
    if (reader->options.no_verify) {
        smp_note(&reader->notes, "the PDF is cut short: what there is of it is drawn");
        return SMP_OK;
    }
    smp_fail(err, SMP_E_DECODE, "the PDF is truncated: its end is missing");
    return smp_hint_no_verify(err);
}

/* Of the largest picture, as cairo holds it, by the dictionaries of the file, which are never packed. */
static uint64_t bytes_inside(const char *data, size_t size)
{
    enum { WIDTH, HEIGHT, SIDES, DICTIONARY = 2048 /* bytes at most */, MOST = 1 << 24, FREE = 256 << 20 };
    const char *at = data, *found[SIDES] = {NULL};
    uint64_t pixels[SIDES], largest = 0;
    for (; (at = memchr(at, '/', size - (size_t)(at - data))); at++) {
        const bool high = !strncmp(at, "/Height", 7);
        if (!high && strncmp(at, "/Width", 6) != 0)
            continue;
        pixels[high] = smp_min_u64(strtoull(at + 6 + high, NULL, 10), MOST);
        found[high] = at;
        if (found[!high] && at - found[!high] < DICTIONARY)
            largest = smp_max_u64(largest, pixels[WIDTH] * pixels[HEIGHT] * sizeof(uint32_t));
    }
    return largest > FREE ? largest - FREE : 0;
}

static smp_code pdf_read_open(smp_reader *reader, smp_error *err)
{
    drawn *d = reader->state;
    smp_media *media = &reader->media;
    double wide, high;
    SMP_TRY(smp_library_need(SMP_LIBRARY_PDF, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, 1, &d->data, &d->size, err));
    d->inside = bytes_inside((const char *)d->data, d->size);
    SMP_TRY(open_document(d, err));
    const int64_t pages = draw->poppler_document_get_n_pages(d->document), page = smp_max_i64(reader->options.page, 1);
    SMP_TRY(pages ? check_end(reader, d, err) : fail_library(NULL, "PDF", err));
    if (page > pages)
        return smp_fail(err, SMP_E_DECODE, "there is no page %lld: the PDF holds %lld", (long long)page,
                        (long long)pages);
    if (!(d->page = draw->poppler_document_get_page(d->document, (int)page - 1)))
        return fail_library(NULL, "PDF", err);
    draw->poppler_page_get_size(d->page, &wide, &high);
    media->shape.channels = 3;
    media->shape.format = SMP_U8;
    media->pages = pages;
    SMP_TRY(set_size(reader, wide, high, POINTS, PDF_DPI, err));
    media->meta.x_density = media->meta.y_density = d->scale * POINTS / 0.0254;
    snprintf(media->detail, sizeof media->detail, "page %lld of %lld, %.5g x %.5g mm", (long long)page,
             (long long)pages, wide * 25.4 / POINTS, high * 25.4 / POINTS);
    if (pages > 1 && !reader->options.page)
        smp_note(&reader->notes, "the file holds %lld pages; the first is read (--page N reads another)",
                 (long long)pages);
    const struct {
        const char *key;
        char *(*get)(void *document);
    } texts[] = {{"Title", draw->poppler_document_get_title},
                 {"Author", draw->poppler_document_get_author},
                 {"Description", draw->poppler_document_get_subject},
                 {"Keywords", draw->poppler_document_get_keywords},
                 {"Software", draw->poppler_document_get_creator}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        SMP_NEED(keep_text(&media->meta, texts[i].key, texts[i].get(d->document)), "texts", 0, err);
    return SMP_OK;
}

/* What is named here by href (but for links), url() or @import, when it is another file; null: nothing. */
static const char *name_outside(const char *at, const char *end, bool link)
{
    enum { HREF, URL, IMPORT, KINDS };
    static const char *const before[KINDS] = {"href", "url(", "@import"};
    size_t i = 0;
    while (i < KINDS && ((size_t)(end - at) < strlen(before[i]) || memcmp(at, before[i], strlen(before[i]))))
        i++;
    if (i == KINDS || (i == HREF && link))
        return NULL;
    for (at += strlen(before[i]); at < end && strchr(" \t\r\n=", *at);)
        at++;
    if (at < end && (*at == '"' || *at == '\''))
        at++;
    else if (i != URL)
        return NULL;
    return end - at > 5 && !strchr("#&\"'", *at) && memcmp(at, "data:", 5) ? at : NULL;
}

/* Notes the first that an SVG names. */
static void note_outside(smp_reader *reader, const drawn *d)
{
    enum { MOST = 100 };
    const char *end = (const char *)d->data + d->size, *name = NULL;
    bool link = false;
    for (const char *at = (const char *)d->data; at < end && !name; at++) {
        if (*at == '<')
            link = end - at > 2 && at[1] == 'a' && strchr(" \t\r\n", at[2]);
        if (strchr("hu@", *at))
            name = name_outside(at, end, link);
    }
    int length = 0;
    while (name && length < MOST && name + length < end && !strchr("\"')>", name[length]))
        length++;
    if (name)
        smp_note(&reader->notes, "it shows other files, which are not opened: %.*s", length, name);
}

/* Pixels of CSS; 0: it depends on where the drawing stands. */
static double pixels_of(smp_rsvg_length length)
{
    static const double each[] = {0, 1, 0, 0, CSS_DPI, CSS_DPI / 2.54, CSS_DPI / 25.4, CSS_DPI / 72., CSS_DPI / 6};
    return (size_t)length.unit < sizeof each / sizeof *each ? length.length * each[length.unit] : 0;
}

/* Where a side is not told, it follows from the other by the box. Without one the picture is all that is drawn, as far
 * as librsvg tells, whose program takes that size, too. */
static smp_code size_of_svg(smp_reader *reader, double *wide, double *high, smp_error *err)
{
    drawn *d = reader->state;
    smp_rsvg_rectangle *view = &d->view, ink;
    smp_g_error *why = NULL;
    int has_width, has_height, has_box;
    smp_rsvg_length width, height;
    smp_rsvg_rectangle box = {.width = 0};
    if (draw->rsvg_handle_get_intrinsic_size_in_pixels(d->document, wide, high)) {
        *view = (smp_rsvg_rectangle){.width = *wide, .height = *high};
        return SMP_OK;
    }
    draw->rsvg_handle_get_intrinsic_dimensions(d->document, &has_width, &width, &has_height, &height, &has_box, &box);
    *wide = has_width ? pixels_of(width) : 0;
    *high = has_height ? pixels_of(height) : 0;
    const double ratio = has_box ? box.width / box.height : 0;
    if (ratio > 0 && *wide <= 0)
        *wide = *high > 0 ? *high * ratio : box.width;
    if (ratio > 0 && *high <= 0)
        *high = *wide / ratio;
    const bool told = *wide > 0 && *high > 0;
    *view = (smp_rsvg_rectangle){.width = *wide > 0 ? *wide : 300, .height = *high > 0 ? *high : 150}; /* as browsers */
    if (told)
        return SMP_OK;
    if (!draw->rsvg_handle_get_geometry_for_layer(d->document, NULL, view, &ink, NULL, &why))
        return fail_library(why, "SVG", err);
    view->x = -floor(ink.x);
    view->y = -floor(ink.y);
    *wide = ink.x + ink.width + view->x;
    *high = ink.y + ink.height + view->y;
    smp_note(&reader->notes, "it gives no valid width and height: the picture is as large as its shapes, %.6g x %.6g",
             ceil(*wide), ceil(*high));
    return SMP_OK;
}

/* librsvg refuses more elements than that, but first takes memory for so many. */
static smp_code check_elements(smp_reader *reader, const drawn *d, smp_error *err)
{
    enum { MOST = 1000000, BYTES = 2500 /* of an element with its style */ };
    const char *at = (const char *)d->data, *end = at + d->size;
    uint64_t count = 0;
    for (; at && (at = memchr(at, '<', (size_t)(end - at))); at = at ? at + 1 : NULL) {
        count += end - at > 1 && !strchr("/!?", at[1]);
        if (end - at > 4 && !memcmp(at, "<!--", 4))
            at = memmem(at, (size_t)(end - at), "-->", 3);
    }
    if (count > MOST)
        return smp_fail(err, SMP_E_LIMIT, "the SVG has %llu elements, and librsvg draws %d", (unsigned long long)count,
                        MOST);
    return smp_check_picture(&reader->options.limits, 1, 1, d->size + count * BYTES, err);
}

/* Adds a picture inside, which librsvg keeps unpacked, or leaves out where it is damaged; file: in base64. */
static smp_code count_picture(smp_reader *reader, uint8_t *file, size_t size, smp_error *err)
{
    const smp_read_options options = {.limits = reader->options.limits};
    smp_reader *inside = NULL;
    smp_error why = {0};
    size = smp_from_base64(file, (const char *)file, size);
    if (size < 4 || (memcmp(file, "\x89PNG", 4) && memcmp(file, "\xFF\xD8\xFF", 3)))
        return SMP_OK;
    if (smp_reader_open_memory(file, size, &options, &inside, &why) == SMP_E_LIMIT)
        return smp_fail(err, SMP_E_LIMIT, "a picture in it: %s", why.message), smp_hint(err, "%s", why.hint);
    if (inside) {
        static const uint64_t most = UINT64_C(1) << 32; /* sums have room */
        const smp_shape *shape = &smp_reader_media(inside)->shape;
        const uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
        ((drawn *)reader->state)->inside += smp_min_u64(pixels, most) * sizeof(uint32_t);
    }
    smp_reader_close(inside);
    return SMP_OK;
}

/* The ASCII character of &#10; or &#x41;, at whose end *at then is; else a space, and *at stays. */
static uint8_t character(const char **at, const char *end)
{
    char number[12], *stop;
    snprintf(number, sizeof number, "%.*s", (int)smp_min_u64((uint64_t)(end - *at - 1), sizeof number - 1), *at + 1);
    const bool hex = number[0] == '#' && number[1] == 'x';
    const unsigned long code = number[0] == '#' ? strtoul(number + 1 + hex, &stop, hex ? 16 : 10) : 0;
    if (!code || *stop != ';' || code > 0x7F)
        return ' ';
    *at += 1 + (stop - number);
    return (uint8_t)code;
}

static smp_code count_pictures(smp_reader *reader, const drawn *d, smp_error *err)
{
    static const char before[] = "base64";
    char *text = smp_alloc_raw(d->size), *end = text; /* with characters in place of their numbers */
    uint8_t *file = smp_alloc_raw(d->size);
    smp_code code = text && file ? SMP_OK : smp_fail_memory(err, "an SVG's pictures", d->size);
    const char *last = (const char *)d->data + d->size;
    for (const char *from = (const char *)d->data; !code && from < last; from++)
        *end++ = *from == '&' ? (char)character(&from, last) : *from;
    const char *at = text;
    while (!code && (at = memchr(at, ',', (size_t)(end - at)))) {
        size_t size = 0;
        const char *word = at++;
        while (word > text && isspace((unsigned char)word[-1]))
            word--;
        if (word - text < (ptrdiff_t)sizeof before || strncasecmp(word - 6, before, 6) != 0)
            continue;
        for (; at < end && !strchr("\"'<>,", *at); at++)
            if (!isspace((unsigned char)*at))
                file[size++] = (uint8_t)*at;
        code = count_picture(reader, file, size, err);
    }
    smp_free_all(text, file);
    return code;
}

/* UTF-16, which begins with a mark, becomes UTF-8, without the line that says how it is coded. */
static smp_code make_utf8(drawn *d, smp_error *err)
{
    enum { GROWS = 3 };
    const bool big = d->size > 1 && d->data[0] == 0xFE && d->data[1] == 0xFF;
    if (!big && (d->size < 2 || d->data[0] != 0xFF || d->data[1] != 0xFE))
        return SMP_OK;
    uint8_t *text = smp_alloc(d->size / 2 * GROWS + 1), *to = text;
    SMP_NEED(text, "an SVG", d->size / 2 * GROWS, err);
    uint32_t code;
    for (size_t at = 2; at + 1 < d->size; to += smp_utf8_encode((char *)to, code))
        at += smp_utf16_decode(d->data + at, d->size - at, big, &code);
    smp_free(d->data);
    d->data = text;
    d->size = (size_t)(to - text);
    uint8_t *close = memmem(text, d->size, "?>", 2);
    if (close && !memcmp(text, "<?xml", 5))
        memset(text, ' ', (size_t)(close + 2 - text));
    return SMP_OK;
}

/* What an XML declaration, which is a text's first bytes, says its coding is. Null: nothing. */
static const char *find_coding(const drawn *d, size_t *length)
{
    static const char begin[] = "<?xml", key[] = "encoding", blanks[] = " \t\r\n";
    const size_t mark = d->size > 3 && !memcmp(d->data, "\xEF\xBB\xBF", 3) ? 3 : 0;
    const char *at = (const char *)d->data + mark, *end = memmem(at, d->size - mark, "?>", 2);
    if (!end || end - at < (ptrdiff_t)sizeof begin || memcmp(at, begin, sizeof begin - 1) != 0 ||
        !at[sizeof begin - 1] || !strchr(blanks, at[sizeof begin - 1])) /* <?xml-stylesheet is another */
        return NULL;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1))) {
        const bool begins = at[-1] && strchr(" \t\r\n'\"", at[-1]);
        at += sizeof key - 1;
        const char *sign = at + strspn(at, blanks);
        if (!begins || *sign != '=')
            continue;
        sign += 1 + strspn(sign + 1, blanks);
        sign += *sign == '"' || *sign == '\'';
        *length = strcspn(sign, " \t\r\n'\"?>");
        return sign;
    }
    return NULL;
}

/* Whether the bytes are what a parser sees: in other codings than these, all of which are ASCII's below 128, pictures
 * and entities can hide. A number may follow. */
static smp_code check_coding(const drawn *d, smp_error *err)
{
    static const char *const known[] = {"UTF-8",     "UTF8",        "ASCII", "US-ASCII",
                                        "ISO-8859-", "windows-125", "latin", "latin-"};
    size_t length = 0;
    const char *text = (const char *)d->data, *named = find_coding(d, &length);
    bool good = !named;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i]);
        good |= length >= n && !strncasecmp(named, known[i], n) && strspn(named + n, "0123456789") == length - n;
    }
    if (good && strchr("<\xEF \t\r\n", *text) && !memchr(text, 0, d->size))
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the SVG's text is coded as %.*s, which is not read", good ? 40 : (int)length,
             good ? "UTF-16 or UTF-32 without a mark" : named);
    return smp_hint(err, "save it as UTF-8: iconv -f CODING -t UTF-8 IN.svg, and leave CODING out of its first line");
}

static bool is_gzip(const uint8_t *data, size_t size)
{
    return size > 2 && data[0] == 0x1F && data[1] == 0x8B;
}

/* SVGZ. A few bytes can unpack to any size. */
static smp_code unpack(drawn *d, smp_error *err)
{
    enum { FIRST = 1 << 18, MOST = 64 << 20 };
    z_stream z = {.next_in = d->data, .avail_in = (uInt)d->size};
    uint8_t *text = NULL;
    size_t room = 0, size = 0;
    int state = inflateInit2(&z, GZIP);
    while (state == Z_OK && size < MOST && smp_grow(&text, &room, smp_max_u64(2 * room, FIRST), 1)) {
        z.next_out = text + size;
        z.avail_out = (uInt)(room - size);
        state = inflate(&z, Z_NO_FLUSH);
        size = room - z.avail_out;
        if (state == Z_STREAM_END && is_gzip(z.next_in, z.avail_in)) /* several, one behind another */
            state = inflateReset(&z);
    }
    const bool whole = state == Z_STREAM_END && !z.avail_in;
    inflateEnd(&z);
    smp_free(d->data);
    d->data = text;
    d->size = size;
    if (whole)
        return SMP_OK;
    if (size >= MOST)
        return smp_fail(err, SMP_E_LIMIT, "the SVG, which is packed, has more than %d MB", MOST >> 20);
    SMP_NEED(state != Z_MEM_ERROR && (state != Z_OK || size < room), "an SVG", room, err);
    smp_fail(err, SMP_E_DECODE, "the SVG, which is packed, is damaged or truncated");
    return smp_hint_damaged(err);
}

static smp_code svg_read_open(smp_reader *reader, smp_error *err)
{
    drawn *d = reader->state;
    smp_g_error *why = NULL;
    double wide, high;
    SMP_TRY(smp_library_need(SMP_LIBRARY_SVG, SMP_E_READ, err));
    SMP_TRY(smp_read_whole(reader, 0, &d->data, &d->size, err));
    if (is_gzip(d->data, d->size))
        SMP_TRY(unpack(d, err));
    SMP_TRY(make_utf8(d, err));
    SMP_TRY(check_coding(d, err));
    SMP_TRY(count_pictures(reader, d, err)); /* first: what a reader checks is forgotten when another opens */
    SMP_TRY(check_elements(reader, d, err));
    const bool unlimited = d->size > LIBXML && !memmem(d->data, d->size, "<!ENTITY", 8); /* bombs are of entities */
    void *stream = draw->g_memory_input_stream_new_from_data(d->data, (ptrdiff_t)d->size, NULL);
    d->document = draw->rsvg_handle_new_from_stream_sync(stream, NULL, unlimited ? UNLIMITED : 0, NULL, &why);
    draw->g_object_unref(stream);
    if (!d->document)
        return fail_library(why, "SVG", err);
    draw->rsvg_handle_set_dpi(d->document, CSS_DPI);
    SMP_TRY(size_of_svg(reader, &wide, &high, err));
    reader->media.shape.channels = 4;
    reader->media.shape.alpha = true;
    reader->media.shape.format = SMP_U8;
    note_outside(reader, d);
    return set_size(reader, wide, high, CSS_DPI, CSS_DPI, err);
}

/* ------------------------------------------------------------------------------------------------ drawing */

static smp_code draw_on(smp_reader *reader, drawn *d, void *cairo, smp_error *err)
{
    smp_g_error *why = NULL;
    bool whole = true;
    errno = 0;
    draw->cairo_scale(cairo, d->scale, d->scale);
    if (d->page) {
        smp_draw_notes = &reader->notes;
        draw->poppler_page_render(d->page, cairo);
        smp_draw_notes = NULL;
    } else {
        whole = draw->rsvg_handle_render_document(d->document, cairo, &d->view, &why);
    }
    if (errno == ENOMEM) /* both leave out what they have no memory for, and say nothing */
        return smp_fail_memory(err, "what is drawn", 0);
    return !whole || draw->cairo_status(cairo) ? fail_library(why, reader->media.file_format, err) : SMP_OK;
}

static smp_code draw_picture(smp_reader *reader, drawn *d, smp_error *err)
{
    const int width = (int)reader->media.shape.width, height = (int)reader->media.shape.height;
    const size_t bytes = (size_t)width * (size_t)height * sizeof(uint32_t);
    SMP_NEED(d->pixels = smp_alloc_raw(bytes), "a picture", bytes, err);
    memset(d->pixels, d->page ? 0xFF : 0, bytes); /* paper is white */
    void *surface = draw->cairo_image_surface_create_for_data((uint8_t *)d->pixels, ARGB32, width, height,
                                                              width * (int)sizeof(uint32_t));
    void *cairo = draw->cairo_create(surface);
    const smp_code code = draw_on(reader, d, cairo, err);
    draw->cairo_destroy(cairo);
    draw->cairo_surface_destroy(surface);
    return code;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    drawn *d = reader->state;
    const int channels = reader->media.shape.channels;
    uint8_t *out = to;
    if (!d->pixels)
        SMP_TRY(draw_picture(reader, d, err));
    const uint32_t *row = d->pixels + y * reader->media.shape.width;
    for (int64_t x = 0; x < reader->media.shape.width; x++, out += channels) {
        const uint32_t alpha = row[x] >> 24;
        for (int c = 0; c < 3; c++) {
            const uint32_t value = row[x] >> (16 - 8 * c) & 0xFF;
            out[c] = (uint8_t)(channels == 3 ? value : smp_divide_alpha(value, alpha, UINT8_MAX));
        }
        if (channels == 4)
            out[3] = (uint8_t)alpha;
    }
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    drawn *d = reader->state;
    if (d->page)
        draw->g_object_unref(d->page);
    if (d->document)
        draw->g_object_unref(d->document);
    if (d->bytes)
        draw->g_bytes_unref(d->bytes);
    smp_free_all(d->pixels, d->data, d);
}

/* ------------------------------------------------------------------------------------------------ formats */

static bool sniff_pdf(const uint8_t *head, size_t size)
{
    return memmem(head, size, "%PDF-", 5) != NULL; /* readers look for it among the first 1024 bytes */
}

/* XML whose first element is in sight and is svg; comments may stand in front. */
static bool sniff_svg(const uint8_t *head, size_t size)
{
    enum { SEEN = 4096 };
    uint8_t text[SEEN];
    if (is_gzip(head, size)) {
        z_stream z = {
            .next_in = (uint8_t *)(uintptr_t)head, .avail_in = (uInt)size, .next_out = text, .avail_out = SEEN};
        if (inflateInit2(&z, GZIP) == Z_OK)
            (void)inflate(&z, Z_SYNC_FLUSH);
        inflateEnd(&z);
        head = text;
        size = SEEN - z.avail_out;
    }
    if (size >= 2 &&
        (!memcmp(head, "\xFF\xFE", 2) || !memcmp(head, "\xFE\xFF", 2))) { /* UTF-16, as far as it is ASCII */
        const size_t low = 2 + (head[0] == 0xFE), count = smp_min_u64((size - 2) / 2, SEEN);
        for (size_t i = 0; i < count; i++)
            text[i] = head[2 * i + low];
        head = text;
        size = count;
    }
    size_t at = size >= 3 && !memcmp(head, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (at < size && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    return at < size && head[at] == '<' &&
           (memmem(head + at, size - at, "<svg", 4) || memmem(head + at, size - at, ":svg ", 5));
}

static bool find_svg(smp_source *source)
{
    const uint8_t *head;
    return sniff_svg(head, smp_source_peek(source, &head, HEAD));
}

const smp_file_format smp_format_pdf = {
    .name = "PDF",
    .extensions = (const char *const[]){"pdf", NULL},
    .kind = SMP_IMAGE,
    .library = SMP_LIBRARY_PDF,
    .time = &time_to_draw,
    .pages = true,
    .sniff = sniff_pdf,
    .read_state = sizeof(drawn),
    .read_open = pdf_read_open,
    .read_row = read_row,
    .read_close = read_close,
};

const smp_file_format smp_format_svg = {
    .name = "SVG",
    .extensions = (const char *const[]){"svg", "svgz", NULL},
    .kind = SMP_IMAGE,
    .library = SMP_LIBRARY_SVG,
    .time = &time_to_draw,
    .sniff = sniff_svg,
    .find = find_svg,
    .read_state = sizeof(drawn),
    .read_open = svg_read_open,
    .read_row = read_row,
    .read_close = read_close,
};
