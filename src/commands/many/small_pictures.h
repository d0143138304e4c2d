/* Many files through a pipeline that makes small pictures of them, which stay in memory: for commands that show or
 * compare what a folder holds. */
#pragma once

#include "commands/many/many.h"
#include "report/measure/thumbnail.h"

/* Gets every file's picture in the order of files, one call at a time; without samples where it could not be read,
 * which are freed afterwards. */
typedef void smp_small_each(void *context, size_t index, const smp_small_picture *picture);

/* Several files at once, as in a batch. Failures and notes are told at the end; *failed says how many failed. */
smp_code smp_small_pictures(const smp_many_settings *many, const smp_program *program, const char *command,
                            smp_found *const *files, size_t count, smp_small_each *each, void *context, size_t *failed,
                            smp_error *err);
