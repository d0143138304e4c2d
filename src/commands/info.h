/* Shared by the files of smempipe info. */
#pragma once

#include "io/media.h"

/* Reads all rows of a file whose header was read, and draws a line for each channel. */
smp_code smp_info_levels(smp_reader *reader, smp_error *err);

/* Reads all rows of a picture, and tells the mean of its colours' samples, as "43.7%", and its mean colour, "#947057".
 */
smp_code smp_info_means(smp_reader *reader, char mean[16], char color[16], smp_error *err);
