/* canvas, gradient, checker: pictures of one colour, and of two. */
#include <math.h>

#include "stages/origins/origin.h"

typedef struct params {
    smp_origin_picture picture;
    smp_matrix from, to; /* of a canvas from alone */
    int direction;
    int64_t size;
} params;

enum { DOWN, RIGHT, RADIAL };
#define COLOR(name, field, fallback, help, flags)                                                                      \
    SMP_PARAM_OF(params, name, field, MATRIX, FRACTION, 0, 1, fallback, help, NULL, SMP_P_LEVEL | (flags))
#define PICTURE(table, form, more, names, say)                                                                         \
    .domain = SMP_IMAGE, SMP_PARAMS(table, params),                                                                    \
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$Wx$H", "width=$W height=$H"),                                    \
                                          SMP_MEANS("$Wx$H " form, "width=$W height=$H " more)),                       \
                       .aliases = SMP_ALIASES({names, say}))

static smp_code shape_of(const void *given, smp_shape *shape, smp_error *err)
{
    const params *p = given;
    const smp_matrix *colors[] = {&p->from, &p->to};
    bool alpha = false;
    for (int i = 0; i < 2; i++) {
        const smp_matrix *color = colors[i];
        if (color->values && (color->rows != 1 || color->cols > 4 || color->cols == 2))
            return smp_fail(err, SMP_E_PIPE, "a colour has one value, three, or four with alpha, or a name");
        alpha |= color->cols == 4;
    }
    smp_origin_shape(&p->picture, alpha, shape);
    return SMP_OK;
}

/* Four values, with alpha 1 where it has none. */
static void values_of(const smp_matrix *color, double to[4])
{
    for (int c = 0; color->values && c < 4; c++)
        to[c] = c < 3 ? color->values[color->cols >= 3 ? c : 0] : color->cols == 4 ? color->values[3] : 1;
}

typedef double share(const params *p, const smp_shape *shape, int64_t x, int64_t y);

/* Each pixel is from + (to - from) t. */
static void blend(const params *p, const smp_shape *shape, share *t_of, int64_t y, int64_t rows, void *to,
                  int64_t stride)
{
    double from[4] = {0}, end[4] = {0}, color[4];
    values_of(&p->from, from);
    values_of(&p->to, end);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t x = 0; x < shape->width; x++) {
            const double t = t_of(p, shape, x, y + i);
            for (int c = 0; c < 4; c++)
                color[c] = from[c] + (end[c] - from[c]) * t;
            smp_origin_store(shape, color, (char *)to + i * stride, x);
        }
}

#define ROWS(name)                                                                                                     \
    static void name##_rows(const void *p, const smp_shape *s, int64_t y, int64_t rows, void *to, int64_t stride)      \
    {                                                                                                                  \
        blend(p, s, name##_share, y, rows, to, stride);                                                                \
    }

static const smp_param canvas_table[] = {
    SMP_ORIGIN_PICTURE(SMP_P_REQUIRED), COLOR("color", from, "white", "of every pixel", SMP_P_MAIN), {0}};

static double canvas_share(const params *, const smp_shape *, int64_t, int64_t)
{
    return 0;
}
ROWS(canvas)

const smp_origin smp_origin_canvas = {
    .words = {.name = "canvas",
              .help = "a picture of one colour",
              .example = "canvas 640x480 color=navy",
              PICTURE(canvas_table, "@C", "color=@C", "xc solid", "canvas 640x480 navy")},
    .shape = shape_of,
    .rows = canvas_rows};

static const smp_param gradient_table[] = {
    SMP_ORIGIN_PICTURE(SMP_P_REQUIRED),
    COLOR("from", from, "white", "the colour that it begins with", 0),
    COLOR("to", to, "black", "the colour that it ends with", 0),
    SMP_PARAM_ENUM(direction, "down", "down, right: to that side; radial: from the middle to the corners", 0, "down",
                   "right", "radial"),
    {0},
};

static double gradient_share(const params *p, const smp_shape *shape, int64_t x, int64_t y)
{
    const double w = (double)(shape->width - 1), h = (double)(shape->height - 1), dx = 2 * (double)x - w,
                 dy = 2 * (double)y - h,
                 whole = p->direction == DOWN    ? h
                         : p->direction == RIGHT ? w
                                                 : sqrt(w * w + h * h);
    const double part = p->direction == DOWN ? (double)y : p->direction == RIGHT ? (double)x : sqrt(dx * dx + dy * dy);
    return whole > 0 ? part / whole : 0;
}
ROWS(gradient)

const smp_origin smp_origin_gradient = {
    .words = {.name = "gradient",
              .help = "a picture that goes from one colour to another",
              .about = "from + (to - from) t of encoded values, t = y/(h - 1), x/(w - 1), or the distance from the "
                       "middle by that of the corners; rounded once.",
              .example = "gradient 640x480 from=navy to=white",
              PICTURE(gradient_table, "@A @B", "from=@A to=@B", "radial-gradient", "gradient 640x480 radial")},
    .shape = shape_of,
    .rows = gradient_rows};

static const smp_param checker_table[] = {
    SMP_ORIGIN_PICTURE(SMP_P_REQUIRED),
    SMP_PARAM_INT(size, PX, 1, 1e6, "16", "side of a square", 0),
    COLOR("from", from, "black", "of the square at the upper left", 0),
    COLOR("to", to, "white", "of its neighbours", 0),
    {0},
};

static double checker_share(const params *p, const smp_shape *, int64_t x, int64_t y)
{
    return (double)((x / p->size + y / p->size) & 1);
}
ROWS(checker)

const smp_origin smp_origin_checker = {
    .words = {.name = "checker",
              .help = "a picture of squares of two colours",
              .example = "checker 640x480 size=32px",
              PICTURE(checker_table, "$S", "size=$S", "checkerboard", "checker 640x480")},
    .shape = shape_of,
    .rows = checker_rows};
