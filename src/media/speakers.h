/* Speakers of a sound's channels: bits of WAV's dwChannelMask, in the order of the channels. */
#pragma once

#include <stdint.h>

/* L R C LFE BL BR FLC FRC BC SL SR TC TFL TFC TFR TBL TBC TBR */
enum { SMP_SPEAKERS = 18 };

/* The places that so many channels usually have; 0: none are usual. */
static inline uint32_t smp_usual_speakers(int channels)
{
    static const uint32_t masks[] = {0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3F, 0x70F, 0x63F};
    return channels >= 0 && channels <= 8 ? masks[channels] : 0;
}
