/* Where the text of `smempipe edit` comes from, and the only file that it writes. */
#include <string.h>
#include <unistd.h>

#include "api/pipe_text.h"
#include "base/alloc.h"
#include "base/paths.h"
#include "cli/mistakes.h"
#include "cli/shipped.h"
#include "commands/edit/session.h"
#include "io/files/output.h"

smp_code smp_edit_parse(const smp_edit_session *session, const char *text, smp_diags *diags, smp_program **program,
                        smp_error *err)
{
    SMP_TRY(smp_cli_parse_text(&session->settings->base, session->name, text, diags, program, err));
    if ((*program)->origin)
        return smp_cli_fail_made((*program)->made_label, err);
    return SMP_OK;
}

/* "cat.pipe" beside "cat.png", or the next name that no file has. */
static char *new_name(const char *in, const char *stem)
{
    const int folder = (int)(smp_base_name(in) - in), length = (int)smp_stem(stem);
    char *path = smp_asprintf("%.*s%.*s.pipe", folder, in, length, stem);
    for (int i = 2; path && access(path, F_OK) == 0; i++) {
        smp_free(path);
        path = smp_asprintf("%.*s%.*s-%d.pipe", folder, in, length, stem, i);
    }
    return path;
}

smp_code smp_edit_begin_text(smp_edit_session *session, smp_error *err)
{
    const char *pipe = session->settings->pipe,
               *in = session->folder ? "edit" : session->settings->in; /* of a folder: here */
    size_t length;
    char *shipped = pipe && (smp_is_folder(pipe) || access(pipe, F_OK) != 0) ? smp_shipped_find(pipe) : NULL;
    session->named = pipe && !shipped;
    session->save_to = session->named ? smp_strdup(pipe) : new_name(in, smp_base_name(shipped ? shipped : in));
    session->name = shipped ? shipped : session->save_to ? smp_strdup(session->save_to) : NULL;
    SMP_NEED(session->save_to && session->name, "a path", strlen(in), err);
    const bool there = pipe && access(pipe, F_OK) == 0;
    if (session->named && !there && !smp_ends_with(pipe, ".pipe")) { /* no new one: says what may be meant */
        smp_program *program = NULL;
        SMP_TRY(smp_cli_parse(&session->settings->base, pipe, &(smp_diags){0}, &program, err));
        smp_program_free(program);
    }
    if (shipped || there) {
        SMP_TRY(smp_pipe_read(session->name, true, &session->text, &length, err) ? smp_at(err, "%s", session->name)
                                                                                 : SMP_OK);
        if (!shipped)
            session->saved = smp_strdup(session->text);
    } else
        session->text = smp_strdup("");
    return session->text ? SMP_OK : smp_fail_memory(err, "a text", 1);
}

/* Whether the file has another text than `was`, by somebody else or another tab. */
static bool changed_elsewhere(const smp_edit_session *session, const char *was)
{
    char *text = NULL;
    size_t length;
    const bool read = !smp_pipe_read(session->save_to, true, &text, &length, &(smp_error){.code = SMP_OK});
    const bool same = read && !strcmp(text, was);
    smp_free(text);
    return !same && (read || access(session->save_to, F_OK) == 0);
}

smp_code smp_edit_save(smp_edit_session *session, const char *text, const char *was, bool force, smp_error *err)
{
    smp_output *output = NULL;
    char *copy = smp_strdup(text);
    const char *const inputs[] = {session->settings->in, NULL};
    SMP_NEED(copy, "a text", strlen(text), err);
    pthread_mutex_lock(&session->save);
    smp_code code = SMP_OK;
    if (!force && changed_elsewhere(session, was)) {
        smp_fail(err, SMP_E_WRITE, "was changed by somebody else");
        smp_hint(err, "save again to replace it");
        code = smp_at(err, "%s", session->save_to);
    }
    code = code ? code : smp_output_open(session->save_to, force || session->saved, inputs, &output, err);
    if (!code && (code = smp_output_write(output, text, strlen(text), err)))
        smp_output_abort(output);
    else if (!code)
        code = smp_output_commit(output, err);
    if (!code) {
        smp_free(session->saved);
        session->saved = copy;
        copy = NULL;
    }
    pthread_mutex_unlock(&session->save);
    smp_free(copy);
    return code;
}
