/* The measurements and the cost of a run (run/result.h) as a table, JSON or CSV. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "report/json.h"
#include "run/result.h"

/* Whether a step of a picture clipped more than one sample in twenty: the result is then probably not what the user
 * wants. Sharpening clips one in a hundred. In a float picture a single one is too many: it may have been NaN. */
bool smp_report_clips_much(const smp_run_report *report, const smp_step_report *step);

/* Writes "'add 20' clipped 99.8 % of the samples to the range of its format" to text. */
void smp_report_clipping_text(const smp_run_report *report, const smp_step_report *step, char *text, size_t size);

/* The table of `run -v`: a line for each step with time, share, GB/s and Mpixel/s; totals; measurements. */
void smp_report_table(FILE *to, const smp_run_report *report, bool color);

/* The measurements of one step as the table shows them: a row for each value, a column for each channel, a line for
 * each list. */
void smp_report_measurements(FILE *to, const char *label, const smp_measurements *measurements, bool color);

/* The same as a member "measurements" of json's current object. */
void smp_report_measurements_json(smp_json *json, const smp_measurements *measurements);

/* Members "isa" or "compute_major" and "compute_minor" of json's current object, as the device has them. */
void smp_report_code_json(smp_json *json, const smp_device_info *device);

/* A member "drawn" of json's current object: what random values came to, a text a stage; nothing where none are drawn.
 * The same for people, a line a stage. */
void smp_report_drawn_json(smp_json *json, const char *drawn);
void smp_report_drawn(FILE *to, const char *drawn);

/* Members "input_notes" and "output_notes" of json's current object, where there are notes. */
void smp_report_notes_json(smp_json *json, const smp_run_report *report);

/* One line about a file among many (batch --report): a JSON object with input, output, status ("done", "failed",
 * "skipped"), error and hint (err may be null), size, device, milliseconds and measurements. */
void smp_report_line(FILE *to, const smp_run_report *report, const char *status, const smp_error *err);

/* One line about a picture of a stream: its number, milliseconds, and what was found in it. */
void smp_report_frame(FILE *to, int64_t number, const smp_run_report *report);

/* One JSON object (a line when compact). */
void smp_report_json(FILE *to, const smp_run_report *report, bool compact);
