/* Counts shared-memory accesses without a GPU: the emulator runs a step's GPU kernels on the step's own input, by their
 * SASS where the build has it, else traced as the host's compiler made them.
 * Of large pictures only some whole rows are counted, launched as a run would launch a strip. */
#pragma once

#include "banks/trace.h"
#include "run/strips/step.h"

typedef struct smp_model smp_model;

/* The size of the counted GPU decides grids. like: a real one (kind cuda); null: an H100. threads: 0 for all. *out is
 * null on failure. */
smp_code smp_model_open(const smp_device_info *like, int threads, smp_model **out, smp_error *err);
void smp_model_close(smp_model *model); /* null is allowed */

/* Writes "a GPU of compute capability 9.0 with 132 SMs" to text. */
void smp_model_text(const smp_model *model, char *text, size_t size);

/* Sets the step whose kernels are counted next. `in` and `second` (data null without one) are whole pictures on
 * `device`. */
smp_code smp_model_load(smp_model *model, const smp_step *step, const smp_node_plan *work, smp_device *device,
                        const smp_view *in, const smp_view *second, smp_error *err);

/* Traces one variant over output rows from .. from+rows-1 (a reduction: input rows). The caller frees *trace.
 * SMP_E_DEVICE: the variant has no GPU kernels for this work. */
smp_code smp_model_count(smp_model *model, const smp_variant *variant, int64_t from, int64_t rows, smp_trace *trace,
                         smp_error *err);

/* The fewest rows that are counted when not all are: whole blocks of kernels, multiples of row_multiple. */
int64_t smp_model_unit(const smp_step *step, int64_t row_multiple);

/* Rows in the middle of the output whose trace takes about `seconds` in all. Traces the variants on one unit first to
 * learn their speed. */
smp_code smp_model_rows(smp_model *model, const smp_variant *const *variants, size_t count, int64_t row_multiple,
                        double seconds, int64_t *from, int64_t *rows, smp_error *err);

/* Rows first .. first+count-1 of a whole picture; an empty view of an empty view. */
smp_view smp_view_rows(const smp_view *whole, int64_t first, int64_t count);
