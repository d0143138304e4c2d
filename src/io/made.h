/* Readers of what is no file: made from nothing (made.c), or of several files (stacked.c). */
#pragma once

#include "io/format.h"

/* A reader with this state, which it takes over, also on failure; the media is the caller's to fill in. The name is for
 * messages. */
smp_code smp_reader_begin(const smp_file_format *format, void *state, const char *name, const smp_read_options *options,
                          smp_reader **out, smp_error *err);
