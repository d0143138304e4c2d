/* key: a colour, and what is near it, becomes transparent. */
#include "stages/shared/samples/near_color.h"

typedef struct params {
    smp_near_params near;
} params;

static const smp_param table[] = {SMP_NEAR_ROWS(params), {0}};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_near_color_plan(&((const params *)given)->near, true, NULL, in, work, err);
}

const smp_stage smp_stage_key = {
    .name = "key",
    .help = "make a colour transparent, and what is near it",
    .about = SMP_NEAR_ABOUT
    "Within `tolerance` alpha becomes 0; over the next `soft` it grows to what it was, in proportion to the distance. "
    "Colours stay as they are, so that `alpha drop` brings them back. A picture without alpha gets it.",
    .example = "key [0.5] tolerance=20% soft=10%",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_near_color_variants),
    .traits = SMP_TRAIT_ENCODED,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("@C $T", "color=@C tolerance=$T")),
                       .aliases = SMP_ALIASES(
                           {"transparent make_transparent color_to_alpha remove_background", "key white tolerance=10%"},
                           {"colorkey chromakey chroma_key greenscreen green_screen hsvkey",
                            "key lime tolerance=30% soft=10%"})),
};
