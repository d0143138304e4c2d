/* Shapes as text: see shape.h. */
#include "media/shape.h"

#include <stdio.h>

const char *smp_format_name(smp_format format)
{
    static const char *const names[] = {"u8", "u16", "f32"};
    return (unsigned)format < SMP_FORMATS ? names[format] : "?";
}

void smp_shape_text(const smp_shape *shape, smp_format storage, char *text, size_t size)
{
    const char *gap = storage == shape->format ? "" : " in ",
               *stored = storage == shape->format ? "" : smp_format_name(storage);
    if (shape->kind == SMP_AUDIO)
        snprintf(text, size, "%s %dch %lld frames%s%s", smp_format_name(shape->format), shape->channels,
                 (long long)shape->height, gap, stored);
    else
        snprintf(text, size, "%sx%d %lldx%lld%s%s", smp_format_name(shape->format), shape->channels,
                 (long long)shape->width, (long long)shape->height, gap, stored);
}
