/* Each picture of an animated WebP, on a canvas that holds what those before it left there: see webp_glue.h. Colours
 * are not multiplied by alpha; a picture is laid on the canvas as RFC 9649 says, rounded to nearest. */
#include "io/webp/webp_glue.h"

#ifdef SMP_HAVE_WEBP

#include <string.h>

#include <webp/decode.h>

#include "base/alloc.h"

struct smp_webp_movie {
    smp_webp webp; /* of the file */
    smp_webp_frame frame;
    uint64_t at;     /* behind the frame */
    uint8_t *canvas; /* RGBA */
    uint8_t *data, *pixels;
    int64_t drawn; /* pictures so far */
};

uint64_t smp_webp_movie_bytes(const smp_webp *webp)
{
    const uint64_t pixels = (uint64_t)webp->width * (uint64_t)webp->height; /* no frame is larger */
    return (4 + 4 + 5) * pixels + webp->most_coded + 256 * (uint64_t)webp->width;
}

smp_code smp_webp_movie_open(const smp_webp *webp, smp_webp_movie **out, smp_error *err)
{
    smp_webp_movie *movie = *out = smp_alloc(sizeof *movie);
    const size_t all = (size_t)webp->width * (size_t)webp->height;
    if (movie) {
        movie->webp = *webp;
        movie->canvas = smp_alloc_array(all, 4);
        movie->pixels = smp_alloc_array(all, 4);
        movie->data = smp_alloc_raw((size_t)webp->most_coded);
    }
    return movie && movie->canvas && movie->pixels && movie->data
               ? SMP_OK
               : smp_fail_memory(err, "pictures of a WebP", smp_webp_movie_bytes(webp));
}

void smp_webp_movie_close(smp_webp_movie *movie)
{
    if (movie)
        smp_free_all(movie->canvas, movie->pixels, movie->data);
    smp_free(movie);
}

static smp_code decode(smp_webp_movie *movie, const smp_source *source, smp_error *err)
{
    const smp_webp *one = &movie->frame.webp;
    const size_t size = (size_t)one->coded.size, stride = 4 * (size_t)one->inner_width;
    WebPDecoderConfig config;
    if (!smp_source_look(source, one->coded.at, movie->data, size))
        return smp_fail(err, SMP_E_READ, "cannot read a picture of the WebP");
    if (!WebPInitDecoderConfig(&config))
        return smp_fail(err, SMP_E_PROCESS, "this libwebp is older than the one that smempipe was built with");
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){movie->pixels, (int)stride, stride * (size_t)one->inner_height};
    return smp_webp_status((int)WebPDecode(movie->data, size, &config), err);
}

/* Colours weigh what is seen of them: `over` alpha of them, `under` of what shows through. */
static void lay(const uint8_t *from, uint8_t *to)
{
    const unsigned over = 255u * from[3], under = to[3] * (255u - from[3]), all = over + under; /* of 255 x 255 */
    if (from[3] == 255 || !to[3]) {
        if (from[3])
            memcpy(to, from, 4);
        return;
    }
    for (int c = 0; c < 3; c++)
        to[c] = (uint8_t)((from[c] * over + to[c] * under + all / 2) / all);
    to[3] = (uint8_t)((all + 127) / 255);
}

static uint8_t *on_canvas(const smp_webp_movie *movie, int64_t y)
{
    const smp_webp *one = &movie->frame.webp;
    return movie->canvas + ((one->y + y) * movie->webp.width + one->x) * 4;
}

static void paint(smp_webp_movie *movie)
{
    const smp_webp *one = &movie->frame.webp;
    const size_t row = 4 * (size_t)one->inner_width;
    for (int64_t y = 0; y < one->inner_height; y++) {
        const uint8_t *from = movie->pixels + (size_t)y * row;
        uint8_t *to = on_canvas(movie, y);
        if (!movie->frame.blends) {
            memcpy(to, from, row);
            continue;
        }
        for (int64_t x = 0; x < one->inner_width; x++)
            lay(from + 4 * x, to + 4 * x);
    }
}

static void clear_up(smp_webp_movie *movie)
{
    const smp_webp *one = &movie->frame.webp;
    for (int64_t y = 0; movie->frame.clears && y < one->inner_height; y++)
        memset(on_canvas(movie, y), 0, 4 * (size_t)one->inner_width);
}

smp_code smp_webp_movie_draw(smp_webp_movie *movie, const smp_source *source, const uint8_t **canvas, uint32_t *delay,
                             smp_error *err)
{
    if (movie->drawn)
        clear_up(movie);
    *canvas = movie->canvas;
    SMP_TRY(smp_webp_next(source, &movie->webp, &movie->at, movie->drawn + 1, &movie->frame, err));
    SMP_TRY(decode(movie, source, err));
    paint(movie);
    *delay = movie->frame.delay;
    movie->drawn++;
    return SMP_OK;
}

#endif
