/* See coding.h. */
#include "media/coding.h"

void smp_coding_begin(smp_coding *coding, smp_coding_kind kind)
{
    if (coding->kind != kind)
        *coding = (smp_coding){.kind = kind,
                               .rate = {coding->rate[0], coding->rate[1]},
                               .plays = coding->plays,
                               .uneven = coding->uneven};
}

static const smp_coding unknown;

#define PART(type, name, wanted)                                                                                       \
    const type *smp_coding_##name(const smp_coding *coding)                                                            \
    {                                                                                                                  \
        return coding->kind == (wanted) ? &coding->name : &unknown.name;                                               \
    }
PART(smp_sound, sound, SMP_CODING_SOUND)
PART(smp_jpeg_coding, jpeg, SMP_CODING_JPEG)
PART(smp_png_coding, png, SMP_CODING_PNG)
PART(smp_webp_coding, webp, SMP_CODING_WEBP)
PART(smp_raw_coding, raw, SMP_CODING_RAW)
PART(smp_video, video, SMP_CODING_VIDEO)
