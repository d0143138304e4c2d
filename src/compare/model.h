/* Counts of shared-memory accesses without a GPU: a step's GPU kernels run in the emulator's traced build on the step's
 * own input. Large pictures are counted on whole rows of them, launched as a run would launch a strip. */
#ifndef SMP_COMPARE_MODEL_H
#define SMP_COMPARE_MODEL_H

#include "counters/trace.h"
#include "run/step.h"

typedef struct smp_model smp_model;

/* How large the counted GPU is decides grids: `like` names a real one (kind cuda); null: an H100. threads: 0 for all.
 * *out null on failure. */
smp_code smp_model_open(const smp_device_info *like, int threads, smp_model **out, smp_error *err);
void smp_model_close(smp_model *model); /* null is allowed */

/* "cc 9.0, 132 SMs" into text. */
void smp_model_text(const smp_model *model, char *text, size_t size);

/* The step whose kernels are counted next: `in` and `by` (data null without one) are whole pictures on `device`. */
smp_code smp_model_load(smp_model *model, const smp_step *step, const smp_node_plan *work, smp_device *device,
                        const smp_view *in, const smp_view *second, smp_error *err);

/* Traces one variant over output rows from .. from+rows-1 (of a reduction: of its input) into *trace, which the caller
 * frees. SMP_E_DEVICE: the variant has no GPU kernels for this work. */
smp_code smp_model_count(smp_model *model, const smp_variant *variant, int64_t from, int64_t rows, smp_trace *trace,
                         smp_error *err);

/* Rows of a step that are counted at the least when not all are: whole blocks of kernels, whole strips (row_multiple).
 */
int64_t smp_model_unit(const smp_step *step, int64_t row_multiple);

/* Units in the middle of the output whose trace takes about `seconds` in all: tries the variants on one first. */
smp_code smp_model_rows(smp_model *model, const smp_variant *const *variants, size_t count, int64_t row_multiple,
                        double seconds, int64_t *from, int64_t *rows, smp_error *err);

#endif
