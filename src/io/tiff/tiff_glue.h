/* The functions of the TIFF format: in tiff_read.c and tiff_write.c; tiff.c puts them into the table. */
#pragma once

#include "io/format.h"

SMP_DECLARE_READER(smp_tiff, row);
SMP_DECLARE_WRITER(smp_tiff, row);
