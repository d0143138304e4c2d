/* The list of origins, and what several share. See origin.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/origins/origin.h"

static const smp_origin *const all[] = {&smp_origin_canvas,  &smp_origin_gradient, &smp_origin_checker,
                                        &smp_origin_noise,   &smp_origin_tone,     &smp_origin_sweep,
                                        &smp_origin_silence, &smp_origin_impulse,  NULL};

const smp_origin *smp_origin_at(size_t index)
{
    return all[index];
}

const smp_origin *smp_origin_find(const char *name)
{
    for (const smp_origin *const *origin = all; *origin; origin++)
        if (!strcmp((*origin)->words.name, name))
            return *origin;
    return NULL;
}

bool smp_origin_begins(const char *statement)
{
    char name[16];
    const char *from = statement + strspn(statement, " \t");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(from, " \t"), from);
    return smp_origin_find(name) != NULL;
}

const char *const smp_origin_depths[] = {[SMP_U8] = "8bit", [SMP_U16] = "16bit", [SMP_F32] = "float", NULL};

void smp_origin_shape(const smp_origin_picture *p, bool alpha, smp_shape *shape)
{
    *shape = (smp_shape){.kind = SMP_IMAGE,
                         .width = p->width,
                         .height = p->height,
                         .channels = 3 + alpha,
                         .alpha = alpha,
                         .format = (smp_format)p->depth};
}

void smp_origin_store(const smp_shape *shape, const double *values, void *row, int64_t x)
{
    for (int c = 0; c < shape->channels; c++) {
        const int64_t at = x * shape->channels + c;
        if (shape->format == SMP_F32)
            ((float *)row)[at] = (float)values[c];
        else if (shape->format == SMP_U16)
            ((uint16_t *)row)[at] = (uint16_t)lrint(values[c] * UINT16_MAX);
        else
            ((uint8_t *)row)[at] = (uint8_t)lrint(values[c] * UINT8_MAX);
    }
}

void smp_origin_frames(const smp_origin_sound *p, smp_shape *shape)
{
    const double frames = isnan(p->length) ? 0 : fmax(1, floor(p->length * p->rate + 0.5));
    *shape = (smp_shape){.kind = SMP_AUDIO,
                         .width = 1,
                         .height = (int64_t)frames,
                         .channels = (int)p->channels,
                         .format = SMP_F32,
                         .rate = p->rate};
}

double smp_origin_amplitude(double level)
{
    return pow(10, level / 20);
}
