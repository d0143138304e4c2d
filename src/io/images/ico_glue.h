/* Shared by the reader and the writer of icons; ico.c puts the writer into the table. */
#pragma once

#include "io/format.h"

enum { SMP_ICO_HEAD = 6, SMP_ICO_ENTRY = 16 /* bytes */ };

SMP_DECLARE_WRITER(smp_ico, row);
smp_code smp_ico_write_next(smp_writer *writer, const smp_meta *meta, smp_error *err);
