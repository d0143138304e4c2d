/* A text set in a font: see font.c. */
#pragma once

#include "io/format.h"
#include "stages/shared/drawing/letters.h"

enum { SMP_FONT_MOST = 256 << 20 /* bytes */ };

extern const smp_file_format smp_format_font; /* of smp_read_options.want.letters; in no list */
