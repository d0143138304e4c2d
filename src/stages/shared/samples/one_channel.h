/* For stages that work on one channel, besides alpha. */
#pragma once

#include "stages/stage.h"

/* For plan(): refuses a picture of several colours. stage: its name; hint: what to write before it. */
static inline smp_code smp_one_channel(const smp_shape *in, const char *stage, const char *hint, smp_error *err)
{
    if (in->channels - in->alpha == 1)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "'%s' works on one channel, and this picture has %d", stage, in->channels - in->alpha);
    return smp_hint(err, "%s", hint);
}
