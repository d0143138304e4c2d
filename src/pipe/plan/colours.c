/* Colours of pictures in a plan: see colours.h. */
#include "pipe/plan/planner.h"

#include <stdio.h>
#include <string.h>

#include "media/icc.h"
#include "pipe/catalog.h"

enum { NAME = 64 };

/* A profile of a picture's colours; false: nobody knows them. */
static bool profile_of(const smp_shape *shape, smp_icc *icc, char name[NAME])
{
    const bool gray = shape->channels - shape->alpha == 1;
    if (shape->icc) {
        smp_icc_name(shape->icc, shape->icc_size, name);
        if (!name[0])
            snprintf(name, NAME, "an ICC profile without a name");
        return !smp_icc_read(shape->icc, shape->icc_size, icc) && icc->gray == gray;
    }
    *icc = smp_icc_srgb;
    icc->gray = gray;
    snprintf(name, NAME, "sRGB");
    for (int c = 0; c < 3 && shape->curve > 0; c++)
        icc->curves[c] = (smp_icc_curve){.kind = 0, .values = {shape->curve}};
    if (shape->curve > 0)
        snprintf(name, NAME, shape->curve == 1 ? "linear light" : "gamma %.4g", shape->curve);
    return shape->curve >= 0;
}

bool smp_colours_differ(const smp_shape *a, const smp_shape *b, char a_name[NAME], char b_name[NAME])
{
    smp_icc of_a, of_b;
    const int colours = a->channels - a->alpha;
    if (a->kind != SMP_IMAGE || b->kind != SMP_IMAGE || (colours != 1 && colours != 3) ||
        b->channels - b->alpha != colours)
        return false;
    if (a->icc && b->icc && a->icc_size == b->icc_size && !memcmp(a->icc, b->icc, a->icc_size))
        return false;
    return profile_of(a, &of_a, a_name) && profile_of(b, &of_b, b_name) && !smp_icc_same(&of_a, &of_b);
}

bool smp_step_is_light(const smp_plan *plan, const smp_shape *input, int step)
{
    const smp_shape *out = &plan->steps[step].out;
    if (input->kind != SMP_IMAGE || input->format != SMP_F32 || input->icc || input->curve != 1 ||
        out->kind != SMP_IMAGE || out->curve != 1)
        return false;
    for (; plan->steps[step].job != SMP_JOB_SOURCE; step = plan->steps[step].input)
        if (plan->steps[step].work.values.no_light)
            return false;
    return !plan->steps[step].file;
}

smp_code smp_check_kind(const smp_node *node, const smp_shape *in, smp_error *err)
{
    if (smp_stage_is(node->stage, SMP_TRAIT_ENCODED) && node->light == SMP_LIGHT_LINEAR) {
        smp_fail(err, SMP_E_PIPE, "stage '%s' works on encoded values, and here is linear light", node->stage->name);
        return smp_hint(err, "write 'light encoded' before it");
    }
    if (node->stage->domain & in->kind)
        return SMP_OK;
    const char *other = smp_meant_for(in->kind, node->stage->name);
    smp_fail(err, SMP_E_PIPE, "stage '%s' works on %s, but its input is %s", node->stage->name,
             node->stage->domain == SMP_IMAGE ? "pictures" : "sound", in->kind == SMP_IMAGE ? "a picture" : "sound");
    return smp_hint(err, "for %s: %s", in->kind == SMP_IMAGE ? "pictures" : "sound",
                    other ? other : "`smempipe stages` lists them");
}
