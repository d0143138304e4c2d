/* Names of the outputs of many inputs, and everything that can be wrong with them before the first byte is written. */
#ifndef SMP_BATCH_OUTPUTS_H
#define SMP_BATCH_OUTPUTS_H

#include "batch/find_files.h"
#include "pipe/program.h"

/* Is this a pattern for names: text with {stem} (the name without extension), {ext}, {name} (both) and {from} (the
 * input's own extension, where {ext} may be another)? */
smp_code smp_name_pattern_check(const char *pattern, smp_error *err);

/* outputs[i]: the file in `folder` that files->items[i] becomes: the folders under the one given are kept, the name is
 * the pattern filled in. {ext} is the input's where files of that extension can be written and the pipeline makes what
 * such files hold, else png (sound: wav); or `ext`, unless that is null. count entries from smp_alloc; freed by
 * smp_outputs_free. */
smp_code smp_outputs_make(const smp_found_list *files, const char *folder, const char *pattern, const char *ext,
                          const smp_program *program, char ***outputs, smp_error *err);
void smp_outputs_free(char **outputs, size_t count);

/* What is put before the names of files that the pipeline saves beside this output: "cat-" for out/cat.png. From
 * smp_alloc, null without memory. */
char *smp_target_prefix(const char *output);

/* The path of a file that the pipeline saves: beside the output and named after it. From smp_alloc. */
smp_code smp_saved_path(const char *output, const char *save, char **out, smp_error *err);

/* No two files may have one output, with the files that the pipeline saves; no output may be an input, whatever it is
 * called (device and inode); the folder may not lie in one of the folders given. */
smp_code smp_outputs_check(const smp_found_list *files, char *const *outputs, const smp_program *program,
                           const char *folder, const char *const *given, size_t given_count, smp_error *err);

/* Whether a file of this path could be made, as far as that shows without making it: the lengths of path and names, the
 * folders on the way, the right to write there. */
smp_code smp_target_check(const char *path, smp_error *err);

#endif
