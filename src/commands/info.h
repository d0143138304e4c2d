/* Shared by the files of smempipe info. */
#pragma once

#include "io/media.h"

/* Reads all rows of a file whose header was read, and draws a line for each channel. */
smp_code smp_info_levels(smp_reader *reader, smp_error *err);
