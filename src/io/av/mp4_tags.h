/* The tags of MP4 files: see mp4_tags.c. */
#pragma once

#include "io/format.h"

/* Takes them, where there are such. The source can seek; it stays where it is. False: out of memory. */
bool smp_mp4_take_tags(smp_reader *reader, bool *found);
