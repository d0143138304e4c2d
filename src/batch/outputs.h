/* Names of the outputs of many inputs, and everything that can be wrong with them before the first byte is written. */
#pragma once

#include "io/media.h"
#include "pipe/program.h"

/* Is this a pattern for names: text with {stem} (the name without extension), {ext}, {name} (both) and {from} (the
 * input's own extension, where {ext} may be another)? */
smp_code smp_name_pattern_check(const char *pattern, smp_error *err);

/* Whether it has fields that the inputs' headers fill in: {date}, {time}, {camera}, {title}, {width}, {height}. */
bool smp_name_pattern_reads(const char *pattern);

/* The same for names of the parts of one input: with {part}, their number, which must be there. */
smp_code smp_part_pattern_check(const char *pattern, smp_error *err);

/* Names the outputs of inputs, one after the other. */
typedef struct smp_namer {
    const char *folder, *pattern, *ext;
    const smp_media *media; /* of the input, for fields of its header; null: there are none */
    const char *part;       /* what {part} is; null: nothing is called so */
    smp_kind kind;          /* what the pipeline makes; none: what the input is */
    char *text;
    size_t used, capacity;
    bool asked;        /* what files of this extension become: */
    char from[16];     /* the extension */
    const char *other; /* null: the same */
} smp_namer;

/* An output lies in `folder`: the folders under the one given are kept, the name is the pattern filled in. {ext} is the
 * input's where files of that extension can be written and the pipeline makes what such files hold, else png (sound:
 * wav); or `ext`, unless that is null. The texts must outlive the namer. */
smp_namer smp_namer_for(const char *folder, const char *pattern, const char *ext, const smp_program *program);
void smp_namer_free(smp_namer *namer);

/* The output of the input of this name under the folder given; valid until the next one. Null without memory. */
const char *smp_namer_output(smp_namer *namer, const char *name);

/* Returns the prefix for names of files that the pipeline saves beside this output: "cat-" for out/cat.png. From
 * smp_alloc, null without memory. */
char *smp_target_prefix(const char *output);

/* Calls fn for the output and for each file that the pipeline saves beside it, until one fails. */
typedef smp_code smp_target_fn(void *context, const char *path, smp_error *err);
smp_code smp_each_target(const char *output, const smp_program *program, smp_target_fn *fn, void *context,
                         smp_error *err);

/* Hint for files that differ in the extension alone. */
#define SMP_OUTPUTS_APART_HINT "--name '{stem}-{from}.{ext}' has the input's extension in the name"

/* Two inputs, by their paths, would have one output. */
smp_code smp_fail_collision(const char *one, const char *other, const char *output, smp_error *err);

/* The output folder may be no file, and may not lie in one of the folders given. */
smp_code smp_output_folder_check(const char *folder, const char *const *given, size_t count, smp_error *err);

/* Whether a file of this path could be made, as far as that shows without making it: the lengths of path and names, the
 * folders on the way, the right to write there. */
smp_code smp_target_check(const char *path, smp_error *err);
