/* One pipeline that is edited over one picture, or those of a folder: what the files of this room share. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "batch/find_files.h"
#include "cli/cli.h"
#include "report/json.h"

typedef struct smp_edit_settings {
    smp_pipeline_settings base;
    const char *in, *pipe, *output;
    bool no_open;
} smp_edit_settings;

/* What a run reads. */
typedef struct smp_edit_source {
    smp_view view;
    smp_shape shape; /* its profile is the session's */
    int orientation;
} smp_edit_source;

/* Rows of a whole picture in memory. */
typedef struct smp_edit_frame {
    smp_view view; /* data: owned, but of the input that is shown as it is */
    bool borrowed;
} smp_edit_frame;

/* The picture in front of a step. */
typedef struct smp_edit_kept {
    char *text; /* of the pipeline up to that step; null: none is kept */
    int node;   /* that made it: what follows may have another in front of the cut */
    bool premultiplied, linear;
    smp_view view;
} smp_edit_kept;

/* Pictures; of a sound what is drawn of it, and beside that what a text made of it. */
enum { SMP_EDIT_BEFORE, SMP_EDIT_AFTER, SMP_EDIT_HEARD, SMP_EDIT_FRAMES };

/* A file that was read, and what was made of it. */
typedef struct smp_edit_picture {
    const char *path;
    uint64_t index;               /* what random values are drawn for, as a batch has it */
    smp_edit_source input, small; /* as decoded; a smaller copy, upright, by who holds `run` */
    double scale;                 /* of that */
    smp_shape made;               /* by the last run, by who holds `run` */
    smp_edit_source heard;        /* of a sound: shown[SMP_EDIT_HEARD], the same */
    smp_meta meta;
    smp_blob profile, profile_made;
    smp_edit_frame shown[SMP_EDIT_FRAMES];
    smp_edit_kept kept; /* by who holds `run` */
} smp_edit_picture;

typedef struct smp_edit_session {
    const smp_edit_settings *settings;
    bool folder;             /* that is `in` */
    smp_found_list files;    /* of it */
    size_t at;               /* the one that is shown */
    pid_t batch;             /* the process that runs batches; 0: there is none */
    int batch_channel;       /* to it */
    _Atomic bool batch_runs; /* it has not told the end of one yet */
    char *name;              /* of the text in messages; its folder is what the text may read */
    char *save_to;           /* a path */
    bool named;              /* save_to was named on the command line, and has or had the text `saved` */
    char *text;              /* that the page begins with */
    char *saved;             /* the last text that is known to lie at save_to; null: none */
    smp_device *device;      /* opened by the first run */
    smp_edit_picture picture;
    pthread_mutex_t run, frames, save; /* one run at a time; what is shown; files */
    _Atomic int64_t *wanted;           /* the number of the latest run that was asked for: older ones stop */
} smp_edit_session;

/* A text as the pipeline that `run` would make of it. *program is null after a mistake, which diags then has. Both are
 * the caller's to free, as after smp_program_parse. */
smp_code smp_edit_parse(const smp_edit_session *session, const char *text, smp_diags *diags, smp_program **program,
                        smp_error *err);

/* describe.c: members "statements" and "diagnostics" of json's object. program may be null. */
void smp_edit_describe(smp_json *json, const smp_diags *diags, const smp_program *program);

/* The program's node whose picture a text shows behind its statement `at` (from 0); SMP_NODE_INPUT: none yet. */
int smp_edit_node_behind(const smp_diags *diags, const smp_program *program, int64_t at);

/* picture.c */
/* number: as of a run. */
smp_code smp_edit_read_input(smp_edit_session *session, int64_t number, smp_error *err);
void smp_edit_free_picture(smp_edit_picture *picture);

typedef struct smp_edit_run {
    const char *text;
    int64_t number;
    int which;                     /* of shown */
    int64_t step;                  /* the statement whose output is wanted; -1: the last */
    int64_t held;                  /* that is being changed: what is in front of it is kept; -1: none */
    const smp_edit_source *source; /* null: the input */
    bool drawn;                    /* the source is a sound, of which a picture is made */
    bool pointwise;                /* only if each pixel comes of one: the source is a part of the input */
} smp_edit_run;

/* Has a program end behind a statement, without saving; and brings it back, as it must be when it is freed. */
typedef struct smp_edit_cut {
    int output;
    size_t nodes, saves;
} smp_edit_cut;
smp_edit_cut smp_edit_cut_off(smp_program *program, const smp_diags *diags, int64_t step);
void smp_edit_join(smp_program *program, const smp_edit_cut *cut);

/* Plans and runs a program; the caller holds the lock of runs. out->data: the caller's. */
smp_code smp_edit_run_program(smp_edit_session *session, const smp_edit_run *run, const smp_program *program,
                              smp_diags *diags, smp_view *out, smp_run_report *report, smp_error *err);

/* Runs a text, keeps its picture in shown[which], and writes members "report" and "told"; json may be null. */
smp_code smp_edit_run_text(smp_edit_session *session, const smp_edit_run *run, smp_json *json, smp_error *err);

smp_code smp_edit_make_frame(const smp_shape *shape, smp_view *view, smp_error *err);

/* keep.c: has a plan, which is not joined yet, begin at the picture in front of node `from`, if that is kept; else has
 * it written to kept->view by a second sink (*fresh). Joins its steps. text: of the program. */
smp_code smp_edit_keep(smp_edit_kept *kept, const smp_program *program, const char *text, int from, smp_plan *plan,
                       bool *fresh, smp_error *err);
void smp_edit_forget(smp_edit_kept *kept);

/* A part of a picture, width x height pixels from x, y, as out_width x out_height pixels of RGBA (means of boxes); from
 * malloc. */
typedef struct smp_edit_part {
    int which;
    int64_t x, y, width, height, out_width, out_height;
} smp_edit_part;
smp_code smp_edit_show(smp_edit_session *session, const smp_edit_part *part, unsigned char **pixels, size_t *size,
                       smp_error *err);

/* Samples of a sound, f32, channel by channel of each frame: of the input, or of what a text made of it. Null: there
 * are no such. */
float *smp_edit_samples(smp_edit_session *session, bool after, int64_t from, int64_t frames, size_t *size);

/* Pixels of such a part of any picture. */
smp_code smp_edit_pixels(const smp_view *view, const smp_edit_part *part, unsigned char *to, smp_error *err);

/* preview.c: about what a run will show, sooner: from a smaller copy of the input, where scale is well below 1; else,
 * of the part that is seen, exactly. Width and height, those of the whole in the picture's own pixels (32 bits each),
 * and RGBA. *pixels null: the text's stages do not allow it, or the text is wrong. */
typedef struct smp_edit_preview {
    const char *text;
    int64_t number, step;
    double scale;
    smp_edit_part part;
} smp_edit_preview;
void smp_edit_preview_text(smp_edit_session *session, const smp_edit_preview *ask, unsigned char **pixels,
                           size_t *size);

/* Makes picture.small, of a size; the caller holds the lock of runs. number: as of a run. */
smp_code smp_edit_make_small(smp_edit_session *session, int64_t number, int64_t width, int64_t height, smp_error *err);

/* Runs a text; by: lengths in px become smaller so, 0: it is run as it is. SMP_E_USAGE without a message: that cannot
 * be. out->data: the caller's, also on failure. */
smp_code smp_edit_run_on(smp_edit_session *session, const smp_edit_run *run, double by, smp_view *out, smp_error *err);

/* Width and height as they are sent, those of the whole, and a picture's pixels in that size. */
smp_code smp_edit_pack(const smp_view *view, int64_t width, int64_t height, const uint32_t whole[2],
                       unsigned char **pixels, size_t *size, smp_error *err);

/* folder.c */
/* Sets which file of the folder a picture is. */
void smp_edit_name_picture(const smp_edit_session *session, size_t index, smp_edit_picture *picture);
smp_code smp_edit_find(smp_edit_session *session, smp_error *err);
smp_code smp_edit_open(smp_edit_session *session, size_t index, smp_error *err);
/* What a text makes of a file, at most `side` pixels wide and high, packed; of a smaller copy where the text allows. */
typedef struct smp_edit_tile_ask {
    size_t index;
    const char *text;
    int64_t side, number; /* number: as of a run */
} smp_edit_tile_ask;
smp_code smp_edit_tile(smp_edit_session *session, const smp_edit_tile_ask *ask, unsigned char **pixels, size_t *size,
                       smp_error *err);

/* batch.c: starts the process that runs batches of the saved pipeline over the folder, as they would be typed; before
 * the program has threads and is confined. */
smp_code smp_edit_batch_open(smp_edit_session *session, smp_error *err);
/* The folder that it writes: as the command line says, or of that name, beside the one that is read. From smp_alloc;
 * null: no memory, or no such name. */
char *smp_edit_batch_output(const smp_edit_session *session, const char *name);
/* Begins one, unless one runs. */
void smp_edit_batch_run(smp_edit_session *session, const char *name);
/* More of what it tells: lines of `batch --report -`, messages, and {"ended": its exit status}. False: its process is
 * gone. */
bool smp_edit_batch_hear(smp_edit_session *session, char *text, size_t size, bool wait);
void smp_edit_batch_close(smp_edit_session *session, bool stopped);

/* save.c: where the text comes from and goes to. */
smp_code smp_edit_begin_text(smp_edit_session *session, smp_error *err);
/* was: the text that the page took for the file's, "": none; another there is not replaced, unless by force. */
smp_code smp_edit_save(smp_edit_session *session, const char *text, const char *was, bool force, smp_error *err);
