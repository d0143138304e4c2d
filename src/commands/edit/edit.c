/* smempipe edit: a pipeline that is edited in a browser, over one picture. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "cli/shipped.h"
#include "commands/edit/session.h"
#include "commands/outputs.h"
#include "commands/serve/serve.h"
#include "commands/stages.h"
#include "io/decoder/worker.h"

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(smp_edit_settings, output), .argument = "OUT_DIR",
     .help =
         "the folder that the page's batch over a folder writes to; unless said the page asks for a name beside it"},
    {"no-open", 0, SMP_O_FLAG, offsetof(smp_edit_settings, no_open), .help = SMP_NO_OPEN_HELP},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN|DIR", offsetof(smp_edit_settings, in),
     .help = "the picture or sound that the pipeline is tried on, or a folder of pictures"},
    {"P.pipe", offsetof(smp_edit_settings, pipe), .optional = true, .refuse = smp_shipped_refuse,
     .help = "the pipeline, which the page saves: a file, or a new one, NAME.pipe; or the name of one that "
             "'smempipe pipelines' lists. Without it a new one is saved beside IN"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ answers */

static smp_edit_session *session_of(const smp_question *q)
{
    return q->context;
}

static void tell_picture(const smp_question *q, smp_json *json)
{
    smp_edit_session *s = session_of(q);
    pthread_mutex_lock(&s->frames);
    const smp_view *before = &s->picture.shown[SMP_EDIT_BEFORE].view;
    const smp_shape *shape = &s->picture.input.shape;
    SMP_JSON(json, ("input", s->picture.path), ("rate", shape->rate),
             ("frames", shape->kind == SMP_AUDIO ? shape->height : 0), ("channels", shape->channels), ("at", s->at),
             ("width", before->width), ("height", before->height)); /* rate: of a sound */
    pthread_mutex_unlock(&s->frames);
}

static void tell_state(const smp_question *q, smp_json *json)
{
    smp_edit_session *s = session_of(q);
    pthread_mutex_lock(&s->save);
    SMP_JSON(json, ("text", s->saved ? s->saved : s->text), ("name", s->name),
             ("pipe", s->named ? s->settings->pipe : NULL), ("saveTo", s->save_to),
             ("exists", (bool)(s->saved != NULL)));
    pthread_mutex_unlock(&s->save);
    tell_picture(q, json);
    if (!s->folder)
        return;
    char *output = smp_edit_batch_output(s, "NAME");
    SMP_JSON(json, ("folder", s->settings->in), ("output", output),
             ("outputNamed", (bool)(s->settings->output != NULL)));
    smp_json_array(json, "files");
    for (size_t i = 0; i < s->files.count; i++)
        smp_json_string(json, NULL, smp_found_at(&s->files, i)->name);
    smp_json_end(json, ']');
    smp_free(output);
}

/* The index of a file of the folder; false: there is none. */
static bool asked_file(const smp_question *q, size_t *index)
{
    const int64_t at = smp_asked_number(q, "at");
    *index = (size_t)at;
    return at >= 0 && (size_t)at < session_of(q)->files.count;
}

/* Runs and tiles that were asked for before `number` stop. */
static int64_t overtake(const smp_question *q)
{
    const int64_t number = smp_asked_number(q, "number");
    int64_t latest = *session_of(q)->wanted;
    while (latest < number && !atomic_compare_exchange_weak(session_of(q)->wanted, &latest, number))
        ;
    if (latest < number)
        smp_wishes_ask();
    return number;
}

static void open_file(const smp_question *q, smp_json *json)
{
    smp_error err = {.code = SMP_OK};
    size_t index;
    (void)overtake(q);
    const smp_code code = asked_file(q, &index) ? smp_edit_open(session_of(q), index, &err)
                                                : smp_fail(&err, SMP_E_USAGE, "there is no such file");
    if (code)
        smp_tell_error(json, &err);
    tell_picture(q, json);
}

static void run_batch(const smp_question *q, smp_json *json)
{
    enum { MOST = 1 << 16 }; /* bytes */
    char *text = session_of(q)->batch ? smp_alloc(MOST) : NULL;
    if (text && smp_json_member(&q->tree, q->tree.nodes, "name"))
        smp_edit_batch_run(session_of(q), smp_asked_text(q, "name"));
    if (text)
        smp_edit_batch_hear(session_of(q), text, MOST, false);
    SMP_JSON(json, ("told", text ? text : ""), ("runs", session_of(q)->batch_runs));
    smp_free(text);
}

static void check_text(const smp_question *q, smp_json *json)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_error err = {.code = SMP_OK};
    if (smp_edit_parse(session_of(q), smp_asked_text(q, "text"), &diags, &program, &err))
        smp_tell_error(json, &err);
    smp_edit_describe(json, &diags, program);
    smp_program_free(program);
    smp_diags_free(&diags);
}

static void save_text(const smp_question *q, smp_json *json)
{
    smp_error err = {.code = SMP_OK};
    const smp_json_node *force = smp_json_member(&q->tree, q->tree.nodes, "force");
    const smp_code code = smp_edit_save(session_of(q), smp_asked_text(q, "text"), smp_asked_text(q, "was"),
                                        force && force->type == 't', &err);
    smp_json_bool(json, "saved", code == SMP_OK);
    if (code)
        smp_tell_error(json, &err);
}

static smp_edit_part asked_part(const smp_question *q)
{
    return (smp_edit_part){strcmp(smp_asked_text(q, "which"), "before") ? SMP_EDIT_AFTER : SMP_EDIT_BEFORE,
                           smp_asked_number(q, "x"),
                           smp_asked_number(q, "y"),
                           smp_asked_number(q, "width"),
                           smp_asked_number(q, "height"),
                           smp_asked_number(q, "outWidth"),
                           smp_asked_number(q, "outHeight")};
}

/* Pixels of a part of the picture. */
static void show_part(const smp_question *q)
{
    const smp_edit_part part = asked_part(q);
    unsigned char *pixels;
    size_t size;
    if (smp_edit_show(session_of(q), &part, &pixels, &size, &(smp_error){.code = SMP_OK})) {
        free(pixels);
        pixels = NULL;
    }
    smp_give(q, pixels, size, 400);
}

static void preview_text(const smp_question *q)
{
    const smp_edit_preview ask = {.text = smp_asked_text(q, "text"),
                                  .number = overtake(q),
                                  .step = smp_asked_number(q, "step"),
                                  .scale = smp_json_value(&q->tree, q->tree.nodes, "scale"),
                                  .part = asked_part(q)};
    unsigned char *pixels;
    size_t size;
    smp_edit_preview_text(session_of(q), &ask, &pixels, &size);
    smp_give(q, pixels, size, 204);
}

static void give_samples(const smp_question *q)
{
    size_t size = 0;
    float *samples = smp_edit_samples(session_of(q), strcmp(smp_asked_text(q, "which"), "before") != 0,
                                      smp_asked_number(q, "from"), smp_asked_number(q, "frames"), &size);
    smp_give(q, samples, size, 400);
}

/* Pixels, or what is wrong. */
static void show_tile(const smp_question *q)
{
    smp_error err = {.code = SMP_OK};
    smp_edit_tile_ask ask = {.text = smp_asked_text(q, "text"),
                             .side = smp_asked_number(q, "side"),
                             .number = smp_asked_number(q, "number")};
    unsigned char *pixels = NULL;
    size_t *size = &q->answer->size;
    smp_code code = SMP_E_USAGE;
    if (asked_file(q, &ask.index) && ask.side >= 16 && ask.side <= 2048)
        code = smp_edit_tile(session_of(q), &ask, &pixels, size, &err);
    if (code) {
        free(pixels);
        pixels = (unsigned char *)strdup(err.message);
        *size = pixels ? strlen(err.message) : 0;
    }
    q->answer->status = code == SMP_E_INTERRUPTED ? 409 : code ? 422 : 200;
    q->answer->type = code ? "text/plain; charset=utf-8" : "application/octet-stream";
    q->answer->data = pixels;
}

static void run_text(const smp_question *q, smp_json *json)
{
    smp_error err = {.code = SMP_OK};
    smp_edit_run run = {.text = smp_asked_text(q, "text"),
                        .number = overtake(q),
                        .which = SMP_EDIT_AFTER,
                        .step = smp_asked_number(q, "step"),
                        .held = smp_asked_number(q, "held")};
    const char *from = smp_asked_text(q, "from"); /* a sound, of which a picture is made */
    if (from[0] && !session_of(q)->folder && session_of(q)->picture.input.shape.kind == SMP_AUDIO) {
        run.drawn = true;
        run.which = strcmp(from, "before") ? SMP_EDIT_AFTER : SMP_EDIT_BEFORE;
        run.source = run.which == SMP_EDIT_AFTER ? &session_of(q)->picture.heard : &session_of(q)->picture.input;
    }
    smp_edit_run_text(session_of(q), &run, json, &err);
}

static void tell_stages(const smp_question *, smp_json *json)
{
    smp_json_key(json, "stages");
    smp_stages_json(json->to, NULL, false);
}

static const smp_teller tellers[] = {
    {"state", tell_state, NULL}, {"stages", tell_stages, NULL},   {"check", check_text, NULL},
    {"run", run_text, NULL},     {"save", save_text, NULL},       {"open", open_file, NULL},
    {"batch", run_batch, NULL},  {"show", NULL, show_part},       {"preview", NULL, preview_text},
    {"tile", NULL, show_tile},   {"samples", NULL, give_samples}, {0}};

/* ------------------------------------------------------------------------------------------------ the program */

static void stop(void *context)
{
    smp_edit_session *session = context;
    *session->wanted = INT64_MAX; /* a run that still goes on stops */
    smp_wishes_ask();
}

/* Kernels of files are compiled whenever they change, in a cage of their own, which a confined program cannot build. */
static bool has_kernels(const smp_edit_session *session)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    bool any = false;
    smp_edit_parse(session, session->text, &diags, &program, &(smp_error){.code = SMP_OK});
    for (size_t i = 0; program && i < program->file_count; i++)
        any = any || program->files[i].foreign;
    smp_program_free(program);
    smp_diags_free(&diags);
    return any;
}

static smp_code serve(smp_edit_session *session, smp_error *err)
{
    smp_http *http = NULL;
    smp_code code = smp_serve_open(&session->settings->base.common, session->settings->no_open, &http, err);
    if (!code && !has_kernels(session))
        code = smp_cli_confine_edit(&session->settings->base.common, session->settings->in, session->name,
                                    session->save_to, err);
    code = code ? code : smp_serve(http, &(smp_serve_use){"index.html", tellers, stop, session}, err);
    smp_free(http);
    return code;
}

static smp_code begin(smp_edit_session *session, smp_error *err)
{
    session->folder = smp_is_folder(session->settings->in);
    if (session->settings->output && !session->folder)
        return smp_fail(err, SMP_E_USAGE, "-o is for a folder's batch, and %s is a file", session->settings->in),
               smp_hint(err, "leave it out; 'smempipe run' writes one picture");
    session->picture.path = session->settings->in;
    if (session->folder) {
        SMP_TRY(smp_edit_find(session, err));
        smp_edit_name_picture(session, 0, &session->picture);
    }
    SMP_TRY(smp_edit_begin_text(session, err));
    if (session->folder)
        SMP_TRY(smp_edit_batch_open(session, err));
    return smp_worker_more(err);
}

/* The picture that the page begins with: of a folder the first that can be read. */
static smp_code read_first(smp_edit_session *session, smp_error *err)
{
    smp_code code = smp_edit_read_input(session, INT64_MAX, err);
    while (session->folder && (code || session->picture.input.shape.kind != SMP_IMAGE) &&
           session->at + 1 < session->files.count) {
        fprintf(stderr, "smempipe: %s is passed over: %s\n", session->picture.path, code ? err->message : "a sound");
        smp_edit_free_picture(&session->picture);
        smp_edit_name_picture(session, ++session->at, &session->picture);
        *err = (smp_error){.code = SMP_OK};
        code = smp_edit_read_input(session, INT64_MAX, err);
    }
    return code;
}

static smp_code edit(void *given, smp_error *err)
{
    const smp_edit_settings *settings = given;
    _Atomic int64_t wanted = 0;
    smp_edit_session session = {.settings = settings, .wanted = &wanted};
    pthread_mutex_init(&session.run, NULL);
    pthread_mutex_init(&session.frames, NULL);
    pthread_mutex_init(&session.save, NULL);
    smp_code code = SMP_OK;
    if (!strcmp(settings->in, "-"))
        code = smp_fail(err, SMP_E_USAGE, "edit takes a file, and not standard input");
    code = code ? code : begin(&session, err);
    code = code ? code : read_first(&session, err);
    code = code ? code : serve(&session, err);
    smp_edit_batch_close(&session, smp_cli_stopped);
    smp_found_free(&session.files);
    smp_edit_free_picture(&session.picture);
    smp_device_close(session.device);
    smp_free_all(session.name, session.save_to, session.text, session.saved);
    return code;
}

const smp_command smp_command_edit = {
    .name = "edit",
    .help = "tune a pipeline in the browser, over a picture, a folder or a sound",
    .about = "Serves one page on 127.0.0.1 and opens it in the browser: the steps, the picture before and after, the "
             "parameters of a step, and the text, which is what is saved. What the page shows has the bytes that run "
             "would write.\n\n"
             "Of a sound it shows and plays what is before and after. Over a folder it goes from one picture to the "
             "next, shows what becomes of nine at once, and runs the batch over all, which it shows, by a button: into "
             "OUT_DIR, or into a folder beside DIR that the page asks for.\n\n"
             "Only who has the page's address can ask for anything. Files are read from IN and the pipeline's folder, "
             "and nothing is written but the pipeline and the batch's outputs, each by its button. It ends with the "
             "tab, with Ctrl-C, or after an hour of silence. A pipeline that gets its first stage `kernel` on the page "
             "must be saved, and edit begun again: what compiles kernels is started before the program confines "
             "itself. With such a pipeline it does not.",
    .settings_size = sizeof(smp_edit_settings),
    .without = SMP_O_OUTPUTS | SMP_O_VERBOSE | SMP_O_SOUNDS,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe edit photo.jpg", "a new pipeline, saved as photo.pipe"},
                 {"smempipe edit page.jpg scan-clean", "begin with one that comes with the program"},
                 {"smempipe edit photos/ look.pipe -o out/", "all pictures of a folder"},
                 {"smempipe edit in.png my.pipe --no-open", "print the address, for a browser that is open"}},
    .run = edit,
};
