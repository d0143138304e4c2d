/* Many files through a pipeline that makes small pictures of them, which stay in memory: for commands that show or
 * compare what a folder holds. */
#ifndef SMP_CLI_SMALL_PICTURES_H
#define SMP_CLI_SMALL_PICTURES_H

#include "cli/many.h"

/* 8 bits a sample: gray or RGB, with alpha or without. */
typedef struct smp_small_picture {
    uint8_t *samples; /* without gaps; null: the file could not be read */
    int64_t width, height;
    int channels;
} smp_small_picture;

/* Gets every file's picture in the order of files, one call at a time; the samples are freed afterwards. */
typedef void smp_small_each(void *context, size_t index, const smp_small_picture *picture);

/* Several files at once, as in a batch. Failures and notes are told at the end; *failed says how many failed. */
smp_code smp_small_pictures(const smp_many_settings *many, const smp_program *program, smp_diags *diags,
                            const char *command, smp_found *const *files, size_t count, smp_small_each *each,
                            void *context, size_t *failed, smp_error *err);

#endif
