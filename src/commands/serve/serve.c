/* A page in the user's own browser: see serve.h. */
#include "commands/serve/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    MOST_IDLE = 3600,  /* seconds without a request */
    TAB_SECONDS = 3000 /* ms between the last page's end and the program's: a page may be loaded anew */
};

const char *smp_asked_text(const smp_question *question, const char *key)
{
    return smp_json_text(&question->tree, question->tree.nodes, key);
}

int64_t smp_asked_number(const smp_question *question, const char *key)
{
    const double value = smp_json_value(&question->tree, question->tree.nodes, key);
    return value >= -1e15 && value <= 1e15 ? (int64_t)value : value > 0 ? (int64_t)1e15 : (int64_t)-1e15;
}

void smp_tell_error(smp_json *json, const smp_error *err)
{
    SMP_JSON(json, ("message", err->message), ("where", err->where), ("hint", err->hint));
}

void smp_give(const smp_question *question, void *data, size_t size, unsigned status_of_none)
{
    *question->answer = (smp_http_answer){data ? 200 : status_of_none, "application/octet-stream", data, size};
}

typedef struct serving {
    const smp_serve_use *use;
    _Atomic int64_t tabs, tab_left; /* pages that are open; when the last one went, ms of smp_now, 0: never */
} serving;

static void tell_nothing(const smp_question *, smp_json *) {}

static const smp_teller *find_teller(serving *s, const char *name)
{
    static const smp_teller none = {"leave", tell_nothing, NULL};
    const smp_teller *teller = s->use->tellers;
    if (!strcmp(name, "leave")) {
        if (--s->tabs <= 0)
            s->tab_left = (int64_t)(smp_now() * 1000) + 1;
        return &none;
    }
    while (teller->name && strcmp(teller->name, name) != 0)
        teller++;
    if (!strcmp(name, "state")) {
        s->tabs++;
        s->tab_left = 0;
    }
    return teller->name ? teller : NULL;
}

static void answer_post(serving *s, const char *name, char *body, smp_http_answer *answer)
{
    smp_question q = {.context = s->use->context, .answer = answer};
    const smp_teller *teller;
    if (smp_json_read(body, &q.tree, &(smp_error){.code = SMP_OK}) || !q.tree.count || q.tree.nodes[0].type != '{')
        answer->status = 400;
    else if (!(teller = find_teller(s, name)))
        answer->status = 404;
    else if (!teller->tell)
        teller->give(&q);
    else {
        char *text = NULL;
        smp_json json;
        FILE *to = open_memstream(&text, &answer->size);
        if (to) {
            smp_json_begin(&json, to, true);
            smp_json_object(&json, NULL);
            teller->tell(&q, &json);
            smp_json_end(&json, '}');
        }
        answer->status = to && !fclose(to) ? 200 : 500;
        answer->type = "application/json";
        answer->data = text;
    }
    smp_json_tree_free(&q.tree);
}

static void respond(void *context, const char *name, char *body, size_t, smp_http_answer *answer)
{
    serving *s = context;
    if (body) {
        answer_post(s, name, body, answer);
        return;
    }
    for (const smp_served_file *file = smp_served_files; file->name; file++)
        if (!strcmp(file->name, name[0] ? name : s->use->index)) {
            answer->status = 200;
            answer->type = file->type;
            answer->size = file->size;
            if ((answer->data = malloc(file->size)))
                memcpy(answer->data, file->data, file->size);
            else
                answer->status = 500, answer->size = 0;
        }
}

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

static smp_code say_address(const smp_common *common, bool no_open, const smp_http *http, smp_error *err)
{
    char address[128];
    smp_http_address(http, !no_open, address, sizeof address);
    if (!no_open && !open_browser(address))
        return smp_fail(err, SMP_E_PROCESS, "xdg-open, which opens the page in a browser, cannot be started"),
               smp_hint(err, "write --no-open, and open the address that it prints");
    if (no_open)
        puts(address);
    else if (!common->quiet)
        fprintf(stderr, "smempipe: %s opens in your browser, once; it ends with its tab, or with Ctrl-C here\n",
                address);
    fflush(stdout);
    return SMP_OK;
}

smp_code smp_serve_open(const smp_common *common, bool no_open, smp_http **http, smp_error *err)
{
    smp_cli_stop_gently();
    SMP_TRY(smp_http_open(http, err));
    return say_address(common, no_open, *http, err);
}

static bool ended(void *context, double idle)
{
    serving *s = context;
    const int64_t left = s->tab_left;
    if (!smp_cli_stopped && idle < MOST_IDLE && !(left && (int64_t)(smp_now() * 1000) - left > TAB_SECONDS))
        return false;
    if (s->use->stop)
        s->use->stop(s->use->context);
    return true;
}

smp_code smp_serve(smp_http *http, const smp_serve_use *use, smp_error *err)
{
    serving s = {.use = use};
    SMP_TRY(smp_http_serve(http, &(smp_http_use){respond, ended, &s}, err));
    return !smp_cli_stopped ? SMP_OK : smp_cli_stopped == SIGINT ? SMP_E_INTERRUPTED : SMP_E_TERMINATED;
}
