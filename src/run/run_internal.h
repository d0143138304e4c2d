/* Shared by runs of one picture (run_file.c) and of many (frames.c). */
#pragma once

#include "run/prepass.h"
#include "run/run.h"
#include "run/strips/stream.h"

typedef struct smp_run_output { /* the file of one sink */
    char *path;                 /* owned; null for the main output */
    smp_beneath beneath;        /* of a saved one: the open folder that it lies in, and its name; both owned. No name:
                                   that folder is not there */
    int made;                   /* folders on the way to it, which go again if nothing is written there */
    smp_writer *writer;
    smp_stream *stream;
} smp_run_output;

/* The plan for an input; prepasses: what plans before it have found. */
smp_code smp_run_make_plan(const smp_run_request *request, const smp_media *media, const smp_prepasses *prepasses,
                           smp_plan **plan, smp_error *err);
/* A factor too many is a mistake as an input that claims too much is: refused before anything is allocated. */
smp_code smp_run_check_sizes(const smp_plan *plan, const smp_limits *limits, smp_error *err);
smp_code smp_run_plan(const smp_run_request *request, const smp_media *media, smp_plan **plan, smp_error *err);

/* Says in the report that JPEGs which the device could code are progressive, and coded by the CPU. */
void smp_run_note_coder(const smp_run_request *request, const smp_media *media, const smp_plan *plan,
                        smp_run_report *report);

/* The request's options with what the executor fills in. options->output.inputs is the caller's to free. */
smp_code smp_run_write_options(const smp_run_request *request, smp_run_report *report, smp_write_options *options,
                               smp_error *err);

/* Aborts what is not committed, closes and frees. */
void smp_run_outputs_close(smp_run_output *outputs, size_t count);

/* Sets the paths of what the pipeline saves, opens their folders, and refuses two outputs of one name. */
smp_code smp_run_name_outputs(const smp_run_request *request, const smp_plan *plan, smp_run_output *outputs,
                              smp_error *err);

/* Whether nothing is lost when what was written is dropped: a file, or none yet. */
bool smp_run_is_replaceable(const char *path);

/* Opens the files of all sinks. Puts them in place once all is written, the main output last. */
smp_code smp_run_open_outputs(const smp_run_request *request, const smp_plan *plan, const smp_media *media,
                              smp_run_output *outputs, smp_run_report *report, smp_error *err);
smp_code smp_run_commit(const smp_run_request *request, const smp_plan *plan, smp_run_output *outputs,
                        smp_run_report *report, smp_error *err);

/* Opens the file of a sink, with the input's metadata as the steps changed them. */
smp_code smp_run_open_output(const smp_plan *plan, const smp_sink *sink, const char *path, const smp_meta *meta,
                             const smp_write_options *options, smp_run_report *report, smp_writer **writer,
                             smp_error *err);

/* The same of a sound. */
smp_code smp_run_open_sound(const smp_plan *plan, const smp_sink *sink, const char *path, const smp_meta *meta,
                            const smp_write_options *options, smp_run_report *report, smp_writer **writer,
                            smp_error *err);

/* Whether the input may be a sound that is read while it comes: once, and for outputs. */
bool smp_run_may_be_live(const smp_run_request *request);

/* Whether rows go through the plan as they come. */
bool smp_run_is_live(const smp_plan *plan, const smp_media *media);

/* If a sound has an open end, and a step or an output needs its length, reads it to its end first, and says so. */
smp_code smp_run_settle(const smp_run_request *request, smp_reader **reader, smp_run_report *report, smp_error *err);

/* Whether a step only converts samples for the one behind it, or back; turned: or turns the picture upright. */
bool smp_run_is_form(const smp_step *step, bool turned);

/* Adds to a failure the place in the pipe text of the step that failed, if one did. */
void smp_run_blame(const smp_run_request *request, const smp_plan *plan, int failed, smp_code code, smp_error *err);

/* Adds places and names of the pipe text to the steps of a report. */
void smp_run_locate(const smp_run_request *request, smp_run_report *report);

/* A view of a whole picture of that shape; its data is null. False: too large to be counted. */
bool smp_run_view(const smp_shape *shape, smp_view *view, size_t *bytes);

/* Opens what is read, or what the pipeline makes in its place. */
smp_code smp_run_open_input(const smp_run_request *request, const smp_read_options *how, smp_reader **reader,
                            smp_error *err);

/* Opens the input again, to be decoded smaller, where that gives outputs of the same size. */
smp_code smp_run_shrink(const smp_run_request *request, smp_reader **reader, smp_error *err);

/* Writes the input's coded picture to the output, where no step changes it: *copied. The reader may be another one
 * afterwards. */
smp_code smp_run_copy(const smp_run_request *request, const smp_plan *plan, smp_reader **reader, smp_run_report *report,
                      bool *copied, smp_error *err);
