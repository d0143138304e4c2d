/* smempipe edit: a pipeline that is edited in a browser, over one picture. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "cli/shipped.h"
#include "commands/edit/http.h"
#include "commands/edit/session.h"
#include "commands/outputs.h"
#include "commands/stages.h"
#include "io/decoder/worker.h"

enum {
    MOST_IDLE = 3600,  /* seconds without a request */
    TAB_SECONDS = 3000 /* ms between the last page's end and the program's: a page may be loaded anew */
};

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(smp_edit_settings, output), .argument = "OUT_DIR",
     .help =
         "the folder that the page's batch over a folder writes to; unless said the page asks for a name beside it"},
    {"no-open", 0, SMP_O_FLAG, offsetof(smp_edit_settings, no_open),
     .help = "print the page's address instead of opening it; who has the address may use the page"},
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

typedef struct question {
    smp_edit_session *session;
    smp_json_tree tree;
    smp_http_answer *answer;
} question;

static const char *text_of(const question *q, const char *key)
{
    return smp_json_text(&q->tree, q->tree.nodes, key);
}

/* A whole number; one beyond what a picture may be is the least or the greatest of those. */
static int64_t number_of(const question *q, const char *key)
{
    const double value = smp_json_value(&q->tree, q->tree.nodes, key);
    return value >= -1e15 && value <= 1e15 ? (int64_t)value : value > 0 ? (int64_t)1e15 : (int64_t)-1e15;
}

static void put_error(smp_json *json, const smp_error *err)
{
    smp_json_string(json, "message", err->message);
    smp_json_string(json, "where", err->where);
    smp_json_string(json, "hint", err->hint);
}

static void tell_picture(const question *q, smp_json *json)
{
    smp_edit_session *s = q->session;
    pthread_mutex_lock(&s->frames);
    const smp_view *before = &s->picture.shown[SMP_EDIT_BEFORE].view;
    const smp_shape *shape = &s->picture.input.shape;
    smp_json_string(json, "input", s->picture.path);
    smp_json_number(json, "rate", shape->rate); /* of a sound */
    smp_json_integer(json, "frames", shape->kind == SMP_AUDIO ? shape->height : 0);
    smp_json_integer(json, "channels", shape->channels);
    smp_json_integer(json, "at", (int64_t)s->at);
    smp_json_integer(json, "width", before->width);
    smp_json_integer(json, "height", before->height);
    pthread_mutex_unlock(&s->frames);
}

static void tell_state(const question *q, smp_json *json)
{
    const smp_edit_session *s = q->session;
    q->session->tabs++;
    q->session->tab_left = 0;
    smp_json_string(json, "text", s->text);
    smp_json_string(json, "name", s->name);
    smp_json_string(json, "pipe", s->named ? s->settings->pipe : NULL);
    smp_json_string(json, "saveTo", s->save_to);
    smp_json_bool(json, "exists", s->saved != NULL);
    tell_picture(q, json);
    if (!s->folder)
        return;
    char *output = smp_edit_batch_output(s, "NAME");
    smp_json_string(json, "folder", s->settings->in);
    smp_json_string(json, "output", output);
    smp_json_bool(json, "outputNamed", s->settings->output != NULL);
    smp_json_array(json, "files");
    for (size_t i = 0; i < s->files.count; i++)
        smp_json_string(json, NULL, smp_found_at(&s->files, i)->name);
    smp_json_end(json, ']');
    smp_free(output);
}

/* The index of a file of the folder; false: there is none. */
static bool asked_file(const question *q, size_t *index)
{
    const int64_t at = number_of(q, "at");
    *index = (size_t)at;
    return at >= 0 && (size_t)at < q->session->files.count;
}

static void open_file(const question *q, smp_json *json)
{
    smp_error err = {.code = SMP_OK};
    size_t index;
    const smp_code code = asked_file(q, &index) ? smp_edit_open(q->session, index, &err)
                                                : smp_fail(&err, SMP_E_USAGE, "there is no such file");
    if (code)
        put_error(json, &err);
    tell_picture(q, json);
}

static void run_batch(const question *q, smp_json *json)
{
    enum { MOST = 1 << 16 }; /* bytes */
    char *text = q->session->batch ? smp_alloc(MOST) : NULL;
    if (text && smp_json_member(&q->tree, q->tree.nodes, "name"))
        smp_edit_batch_run(q->session, text_of(q, "name"));
    if (text)
        smp_edit_batch_hear(q->session, text, MOST, false);
    smp_json_string(json, "told", text ? text : "");
    smp_json_bool(json, "runs", q->session->batch_runs);
    smp_free(text);
}

static void check_text(const question *q, smp_json *json)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_error err = {.code = SMP_OK};
    if (smp_edit_parse(q->session, text_of(q, "text"), &diags, &program, &err))
        put_error(json, &err);
    smp_edit_describe(json, &diags, program);
    smp_program_free(program);
    smp_diags_free(&diags);
}

static void save_text(const question *q, smp_json *json)
{
    smp_error err = {.code = SMP_OK};
    const smp_json_node *force = smp_json_member(&q->tree, q->tree.nodes, "force");
    const smp_code code = smp_edit_save(q->session, text_of(q, "text"), force && force->type == 't', &err);
    smp_json_bool(json, "saved", code == SMP_OK);
    if (code)
        put_error(json, &err);
}

static void leave(const question *q, smp_json *)
{
    if (--q->session->tabs <= 0)
        q->session->tab_left = (int64_t)(smp_now() * 1000) + 1;
}

static const struct {
    const char *name;
    void (*tell)(const question *q, smp_json *json);
} tellers[] = {{"state", tell_state}, {"check", check_text}, {"save", save_text},
               {"leave", leave},      {"open", open_file},   {"batch", run_batch}};

static smp_edit_part asked_part(const question *q)
{
    return (smp_edit_part){strcmp(text_of(q, "which"), "before") ? SMP_EDIT_AFTER : SMP_EDIT_BEFORE,
                           number_of(q, "x"),
                           number_of(q, "y"),
                           number_of(q, "width"),
                           number_of(q, "height"),
                           number_of(q, "outWidth"),
                           number_of(q, "outHeight")};
}

/* Pixels of a part of the picture. */
static void show_part(const question *q)
{
    const smp_edit_part part = asked_part(q);
    unsigned char *pixels;
    q->answer->status =
        smp_edit_show(q->session, &part, &pixels, &q->answer->size, &(smp_error){.code = SMP_OK}) ? 400 : 200;
    q->answer->type = "application/octet-stream";
    q->answer->data = pixels;
}

/* Runs that were asked for before `number` stop. */
static int64_t overtake(const question *q)
{
    const int64_t number = number_of(q, "number");
    int64_t latest = *q->session->wanted;
    while (latest < number && !atomic_compare_exchange_weak(q->session->wanted, &latest, number))
        ;
    return number;
}

static void preview_text(const question *q)
{
    const smp_edit_preview ask = {.text = text_of(q, "text"),
                                  .number = overtake(q),
                                  .step = number_of(q, "step"),
                                  .scale = smp_json_value(&q->tree, q->tree.nodes, "scale"),
                                  .part = asked_part(q)};
    unsigned char *pixels;
    smp_edit_preview_text(q->session, &ask, &pixels, &q->answer->size);
    q->answer->status = pixels ? 200 : 204;
    q->answer->type = "application/octet-stream";
    q->answer->data = pixels;
}

static void give_samples(const question *q)
{
    q->answer->data = smp_edit_samples(q->session, strcmp(text_of(q, "which"), "before") != 0, number_of(q, "from"),
                                       number_of(q, "frames"), &q->answer->size);
    q->answer->status = q->answer->data ? 200 : 400;
    q->answer->type = "application/octet-stream";
}

/* Pixels, or what is wrong. */
static void show_tile(const question *q)
{
    smp_error err = {.code = SMP_OK};
    smp_edit_tile_ask ask = {
        .text = text_of(q, "text"), .side = number_of(q, "side"), .number = number_of(q, "number")};
    unsigned char *pixels = NULL;
    size_t *size = &q->answer->size;
    smp_code code = SMP_E_USAGE;
    if (asked_file(q, &ask.index) && ask.side >= 16 && ask.side <= 2048)
        code = smp_edit_tile(q->session, &ask, &pixels, size, &err);
    if (code) {
        free(pixels);
        pixels = (unsigned char *)strdup(err.message);
        *size = pixels ? strlen(err.message) : 0;
    }
    q->answer->status = code == SMP_E_INTERRUPTED ? 409 : code ? 422 : 200;
    q->answer->type = code ? "text/plain; charset=utf-8" : "application/octet-stream";
    q->answer->data = pixels;
}

static void run_text(const question *q, FILE *to)
{
    smp_error err = {.code = SMP_OK};
    smp_edit_run run = {.text = text_of(q, "text"),
                        .number = overtake(q),
                        .which = SMP_EDIT_AFTER,
                        .step = number_of(q, "step"),
                        .held = number_of(q, "held")};
    const char *from = text_of(q, "from"); /* a sound, of which a picture is made */
    if (from[0] && !q->session->folder && q->session->picture.input.shape.kind == SMP_AUDIO) {
        run.drawn = true;
        run.which = strcmp(from, "before") ? SMP_EDIT_AFTER : SMP_EDIT_BEFORE;
        run.source = run.which == SMP_EDIT_AFTER ? &q->session->picture.heard : &q->session->picture.input;
    }
    smp_edit_run_text(q->session, &run, to, &err);
}

/* Writes the answer to a POST; false: there is no such thing. */
static bool tell(const question *q, const char *name, FILE *to)
{
    if (!strcmp(name, "stages"))
        smp_stages_json(to, NULL, false);
    else if (!strcmp(name, "run"))
        run_text(q, to);
    else {
        size_t at = 0;
        const size_t count = sizeof tellers / sizeof tellers[0];
        while (at < count && strcmp(tellers[at].name, name) != 0)
            at++;
        if (at == count)
            return false;
        smp_json json;
        smp_json_begin(&json, to, true);
        smp_json_object(&json, NULL);
        tellers[at].tell(q, &json);
        smp_json_end(&json, '}');
    }
    return true;
}

static void answer_post(smp_edit_session *session, const char *name, char *body, smp_http_answer *answer)
{
    question q = {.session = session, .answer = answer};
    if (smp_json_read(body, &q.tree, &(smp_error){.code = SMP_OK}) || !q.tree.count || q.tree.nodes[0].type != '{')
        answer->status = 400;
    else if (!strcmp(name, "show"))
        show_part(&q);
    else if (!strcmp(name, "preview"))
        preview_text(&q);
    else if (!strcmp(name, "tile"))
        show_tile(&q);
    else if (!strcmp(name, "samples"))
        give_samples(&q);
    else {
        char *text = NULL;
        FILE *to = open_memstream(&text, &answer->size);
        const bool told = to && tell(&q, name, to);
        const bool whole = to && fclose(to) == 0;
        answer->status = told ? whole ? 200 : 500 : to ? 404 : 500;
        answer->type = "application/json";
        answer->data = text;
    }
    smp_json_tree_free(&q.tree);
}

static void respond(void *context, const char *name, char *body, size_t, smp_http_answer *answer)
{
    if (body) {
        answer_post(context, name, body, answer);
        return;
    }
    for (const smp_edit_page_file *file = smp_edit_page_files; file->name; file++)
        if (!strcmp(file->name, name[0] ? name : "index.html")) {
            answer->status = 200;
            answer->type = file->type;
            answer->size = file->size;
            if ((answer->data = malloc(file->size)))
                memcpy(answer->data, file->data, file->size);
            else
                answer->status = 500, answer->size = 0;
        }
}

/* ------------------------------------------------------------------------------------------------ the program */

/* Has the desktop open an address; false: there is no xdg-open. */
static bool open_browser(const char *address)
{
    extern char **environ;
    char *const words[] = {(char *)(uintptr_t) "xdg-open", (char *)(uintptr_t)address, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t own;
    pid_t child;
    posix_spawnattr_init(&own);
    posix_spawnattr_setflags(&own, POSIX_SPAWN_SETSID); /* Ctrl-C here is not for the browser */
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const bool begun = posix_spawnp(&child, words[0], &actions, &own, words, environ) == 0;
    posix_spawnattr_destroy(&own);
    posix_spawn_file_actions_destroy(&actions);
    return begun;
}

static smp_code say_address(const smp_edit_settings *settings, const smp_http *http, smp_error *err)
{
    char address[128];
    smp_http_address(http, !settings->no_open, address, sizeof address);
    if (!settings->no_open && !open_browser(address)) {
        smp_fail(err, SMP_E_PROCESS, "xdg-open, which opens the page in a browser, cannot be started");
        return smp_hint(err, "write --no-open, and open the address that it prints");
    }
    if (settings->no_open)
        puts(address);
    else if (!settings->base.common.quiet)
        fprintf(stderr, "smempipe: %s opens in your browser, once; it ends with its tab, or with Ctrl-C here\n",
                address);
    fflush(stdout);
    return SMP_OK;
}

static bool ended(void *context, double idle)
{
    smp_edit_session *session = context;
    const int64_t left = session->tab_left;
    if (!smp_cli_stopped && idle < MOST_IDLE && !(left && (int64_t)(smp_now() * 1000) - left > TAB_SECONDS))
        return false;
    *session->wanted = INT64_MAX; /* a run that still goes on stops */
    return true;
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
    smp_cli_stop_gently();
    smp_code code = smp_http_open(&http, err);
    if (!code)
        code = say_address(session->settings, http, err);
    if (!code && !has_kernels(session))
        code = smp_cli_confine_edit(&session->settings->base.common, session->settings->in, session->name,
                                    session->save_to, err);
    if (!code)
        code = smp_http_serve(http, &(smp_http_use){respond, ended, session}, err);
    smp_free(http);
    return code;
}

static smp_code begin(smp_edit_session *session, smp_error *err)
{
    session->folder = smp_is_folder(session->settings->in);
    if (session->settings->output && !session->folder) {
        smp_fail(err, SMP_E_USAGE, "-o is for a folder's batch, and %s is a file", session->settings->in);
        return smp_hint(err, "leave it out; 'smempipe run' writes one picture");
    }
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
    if (!code)
        code = begin(&session, err);
    if (!code)
        code = read_first(&session, err);
    if (!code)
        code = serve(&session, err);
    smp_edit_batch_close(&session, smp_cli_stopped);
    smp_found_free(&session.files);
    smp_edit_free_picture(&session.picture);
    smp_device_close(session.device);
    smp_free_all(session.name, session.save_to, session.text, session.saved);
    return code || !smp_cli_stopped ? code : smp_cli_stopped == SIGINT ? SMP_E_INTERRUPTED : SMP_E_TERMINATED;
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
