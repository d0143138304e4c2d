/* Each picture of an animated WebP, on a canvas that holds what those before it left there: see webp_glue.h. Colours
 * are not multiplied by alpha; a picture is laid on the canvas as RFC 9649 says. */
#include "io/webp/webp_glue.h"

#ifdef SMP_HAVE_WEBP

#include <webp/decode.h>

#include "base/alloc.h"
#include "io/canvas.h"

struct smp_webp_movie {
    smp_webp webp; /* of the file */
    smp_webp_frame frame;
    uint64_t at; /* behind the frame */
    smp_canvas canvas;
    uint8_t *data, *pixels;
    int64_t drawn; /* pictures so far */
};

uint64_t smp_webp_movie_bytes(const smp_webp *webp)
{
    const uint64_t pixels = (uint64_t)webp->width * (uint64_t)webp->height; /* no frame is larger */
    return (2 * 4 + 4 + 5) * pixels + webp->most_coded + 256 * (uint64_t)webp->width;
}

smp_code smp_webp_movie_open(const smp_webp *webp, const smp_shape *shape, smp_webp_movie **out, smp_error *err)
{
    smp_webp_movie *movie = *out = smp_alloc(sizeof *movie);
    const size_t all = (size_t)webp->width * (size_t)webp->height;
    if (movie) {
        movie->webp = *webp;
        movie->pixels = smp_alloc_array(all, 4);
        movie->data = smp_alloc_raw((size_t)webp->most_coded);
    }
    return movie && movie->pixels && movie->data
               ? smp_canvas_open(&movie->canvas, shape, err)
               : smp_fail_memory(err, "pictures of a WebP", smp_webp_movie_bytes(webp));
}

void smp_webp_movie_close(smp_webp_movie *movie)
{
    if (!movie)
        return;
    smp_canvas_close(&movie->canvas);
    smp_free_all(movie->pixels, movie->data, movie);
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

smp_code smp_webp_movie_draw(smp_webp_movie *movie, const smp_source *source, uint32_t *delay, smp_error *err)
{
    const smp_webp *one = &movie->frame.webp;
    SMP_TRY(smp_webp_next(source, &movie->webp, &movie->at, ++movie->drawn, &movie->frame, err));
    SMP_TRY(decode(movie, source, err));
    smp_canvas_begin(&movie->canvas, one->x, one->y, one->inner_width, one->inner_height,
                     movie->frame.clears ? SMP_CANVAS_CLEAR : 0);
    for (int64_t y = 0; y < one->inner_height; y++)
        smp_canvas_lay(&movie->canvas, y, movie->pixels + 4 * y * one->inner_width, true, movie->frame.blends);
    *delay = movie->frame.delay;
    return SMP_OK;
}

void smp_webp_movie_row(const smp_webp_movie *movie, int64_t y, void *to)
{
    smp_canvas_row(&movie->canvas, y, to);
}

#endif
