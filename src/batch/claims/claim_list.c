/* The pieces of a list that tasks claim, or that have owners, shards or ranks: see claim_source.h. A piece is claimed,
 * read, looked at and noted by itself. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "batch/claims/claim_source.h"
#include "io/files/tar.h"

struct smp_list_source {
    smp_list_share share;
    smp_claims *claims; /* once started, or looked at */
    smp_ahead_queue ahead;
    smp_hash_set outputs; /* of pieces worked on, or looked at */
    uint8_t *met;         /* bits: the pieces whose outputs these are */
    double touched;       /* when claims were last said to be alive */
};

/* Pieces are done for outputs of these names: with others the same list is other work. */
static smp_hash work_of_names(const smp_todo_request *r)
{
    smp_hash work = r->work;
    const char *names[] = {r->pattern, r->extension};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i]) {
            smp_hash_add(&work, &i, sizeof i);
            smp_hash_add(&work, names[i], strlen(names[i]) + 1);
        }
    return work;
}

static smp_claims_request claims_request(const smp_todo *todo)
{
    const smp_todo_request *r = todo->request;
    return (smp_claims_request){.folder = r->folder,
                                .list = *smp_work_list_hash(todo->list),
                                .work = work_of_names(r),
                                .share = todo->listed->share,
                                .claim = r->claim,
                                .resume = r->resume,
                                .sync_pieces = r->sync_pieces,
                                .retake = r->retake,
                                .clock = todo->folder_lock};
}

/* Whether the same pipeline made files in this folder by another list. */
static bool other_list(const smp_todo *todo)
{
    const smp_claims_request request = claims_request(todo);
    return smp_claims_by_other_list(&request);
}

static smp_code open_list(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    struct smp_list_source *own = todo->listed = smp_alloc(sizeof *own);
    SMP_TRY(own ? smp_work_list_open(r->list, &todo->list, err) : smp_fail_memory(err, "a list", sizeof *own));
    SMP_TRY(smp_list_share_open(todo->list, r->shard, r->claim || r->deal ? 0 : r->shards, &own->share, err));
    own->share.deal = r->deal;
    own->met = smp_alloc_array(own->share.pieces / 8 + 1, 1);
    SMP_NEED(own->met, "pieces", own->share.pieces / 8 + 1, err);
    for (size_t i = 0; i < own->share.pieces; i++) {
        const smp_work_piece *piece = smp_work_list_piece(todo->list, i);
        if (!smp_list_share_has(&own->share, i))
            continue;
        todo->count.expected += (size_t)piece->files;
        todo->count.bytes += piece->bytes;
    }
    const char *root = smp_work_list_root(todo->list);
    return smp_output_folder_check(r->folder, &root, 1, err);
}

static void close_list(smp_todo *todo)
{
    struct smp_list_source *own = todo->listed;
    if (!own)
        return;
    smp_ahead_free(&own->ahead);
    smp_claims_close(own->claims);
    smp_list_share_close(&own->share);
    smp_hash_set_free(&own->outputs);
    smp_free_all(own->met, own);
    smp_work_list_close(todo->list);
}

/* ------------------------------------------------------------------------------------------------ reading a piece */

/* Whoever made the list meant the tar files in it. */
static smp_code passes_over(const smp_todo *todo, const char *name, smp_left_out *left_out, bool *left, smp_error *err)
{
    *left = false;
    return smp_is_tar(name) ? SMP_OK : smp_leave_out(name, todo->request->walk.kind, left_out, left, err);
}

/* The file of the unit, before the i-th, that has its output; null: none has. */
static const smp_todo_item *same_output(const smp_work_unit *unit, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(unit->items[k].output, unit->items[i].output))
            return &unit->items[k];
    return NULL;
}

/* Looks whether a file before this one in the list, which differs in the extension alone, becomes its output. */
static smp_code look_for_first(smp_todo *todo, smp_work_unit *unit, smp_todo_item *item, smp_error *err)
{
    smp_left_out passed_over = {0};
    smp_texts texts = {NULL};
    smp_code code = SMP_OK;
    for (smp_found other = {.collision = item->file->collision}; !code && other.collision && !item->second;) {
        bool left;
        const char *output = NULL;
        code = smp_work_list_read_line(todo->list, other.collision, &texts, &other, err);
        code = code ? code : passes_over(todo, other.name, &passed_over, &left, err);
        if (code || left)
            continue;
        output = smp_output_lookup_text(&todo->lookup, other.path, other.name);
        item->second = output && !strcmp(output, item->output);
        if (item->second)
            item->first = smp_texts_add(&unit->texts, other.path, strlen(other.path));
        if (!output || (item->second && !item->first))
            code = smp_fail_memory(err, "a name", strlen(other.name));
    }
    smp_texts_free(&texts);
    smp_left_out_free(&passed_over);
    return code;
}

/* No two inputs may have one output. Of all pieces that are only looked at one such pair is an error. Of those that are
 * worked on the first by the list makes it, and smp_todo_begin() fails the others, in this run and each other, whoever
 * has their pieces: the list says which files may. Names of one folder that become one though they differ in more are
 * found among the pieces of this run. alone: the names of the piece are compared with each other only, since they are
 * met already. */
static smp_code check_outputs(smp_todo *todo, smp_work_unit *unit, bool alone, smp_error *err)
{
    smp_hash_set own = {0}, *met = alone ? &own : &todo->listed->outputs;
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        const smp_todo_item *other;
        bool there;
        if (item->second) {
            if (!smp_todo_started(todo))
                code = smp_fail_collision(item->first, item->file->path, item->output, err);
        } else if (!smp_hash_set_add(met, smp_hash_name(item->output), &there)) {
            code = smp_fail_memory(err, "names", unit->count * sizeof(uint64_t));
        } else if (there && smp_todo_started(todo)) {
            other = same_output(unit, i);
            item->second = !alone || other;
            item->first = other ? other->file->path : NULL;
        } else if (there && (other = same_output(unit, i))) {
            code = smp_fail_collision(other->file->path, item->file->path, item->output, err);
        } else if (there) {
            smp_fail(err, SMP_E_USAGE, "%.150s and another file of the list would both become %.150s", item->file->path,
                     item->output);
            code = smp_hint(err, "nothing was written; " SMP_OUTPUTS_APART_HINT);
        }
    }
    smp_hash_set_free(&own);
    return code;
}

/* Whether the names of a piece are met already: a task that resumes comes to a piece of another again. */
static bool meet(smp_todo *todo, size_t piece)
{
    const uint8_t bit = (uint8_t)(1u << piece % 8);
    const bool met = (todo->listed->met[piece / 8] & bit) != 0;
    todo->listed->met[piece / 8] |= bit;
    return met;
}

static smp_code load(smp_todo *todo, size_t piece, smp_work_unit **out, smp_error *err)
{
    smp_found *found = NULL;
    smp_texts texts = {NULL};
    size_t count, wanted = 0;
    smp_work_unit *unit = NULL;
    const bool apart =
        strstr(todo->request->pattern, "{from}") != NULL; /* which tells collisions apart, however many */
    smp_code code = smp_work_list_read(todo->list, piece, &texts, &found, &count, err);
    for (size_t i = 0; !code && i < count; i++) {
        bool left;
        code = passes_over(todo, found[i].name, &todo->left_out, &left, err);
        if (!left)
            found[wanted++] = found[i];
    }
    code = code ? code : smp_work_unit_new(wanted, &unit, err);
    if (code) {
        smp_free(found);
        smp_texts_free(&texts);
        return code;
    }
    unit->found = found;
    unit->texts = texts;
    for (size_t i = 0; !code && i < wanted; i++) {
        unit->items[i].file = &found[i];
        code = smp_output_lookup_name(&todo->lookup, unit, &unit->items[i], err);
        if (!code && found[i].collision && !apart)
            code = look_for_first(todo, unit, &unit->items[i], err);
    }
    code = code ? code : check_outputs(todo, unit, smp_todo_started(todo) && meet(todo, piece), err);
    if (code)
        smp_work_unit_free(unit);
    else
        *out = unit;
    return code;
}

/* ------------------------------------------------------------------------------------------------ starting */

/* If an output of a recorded unit exists, a run without --resume fails before it touches anything: it was meant to
 * resume, and its own records would hide the earlier ones. */
static smp_code refuse_again(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    smp_claims_request request = claims_request(todo);
    smp_claims *pieces = NULL;
    smp_piece_past past;
    if (r->resume || r->force || r->skip_existing || r->claim)
        return SMP_OK;
    request.share.deal = NULL; /* ranks make the same mistake */
    smp_code code = smp_claims_open(&request, false, &pieces, err);
    for (size_t piece; !code && smp_claims_next(pieces, &piece, &past);) {
        smp_conflicts found = {0};
        smp_work_unit *unit = NULL;
        if (past.passed)
            code = load(todo, piece, &unit, err);
        if (!code && unit)
            code = smp_todo_examine(todo, unit, NULL, &found, err);
        if (!code && found.count)
            code = smp_todo_fail_conflicts(todo, &found, other_list(todo), err);
        smp_free(found.first);
        smp_work_unit_free(unit);
    }
    smp_claims_close(pieces);
    smp_left_out_free(&todo->left_out);
    smp_hash_set_free(&todo->listed->outputs);
    memset(todo->listed->met, 0, todo->listed->share.pieces / 8 + 1);
    return code;
}

static smp_code start(smp_todo *todo, smp_error *err)
{
    struct smp_list_source *own = todo->listed;
    SMP_TRY(refuse_again(todo, err));
    const smp_claims_request request = claims_request(todo);
    own->touched = smp_now();
    return smp_claims_open(&request, true, &own->claims, err);
}

/* ------------------------------------------------------------------------------------------------ piece by piece */

static smp_code tell_keys(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    for (size_t i = 0; i < unit->count; i++)
        if (unit->items[i].state == SMP_TODO_DO)
            SMP_TRY(smp_output_lookup_key(todo, &todo->lookup, &unit->items[i], err));
    return SMP_OK;
}

static size_t count_of(const smp_work_unit *unit, smp_todo_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < unit->count; i++)
        count += unit->items[i].state == state;
    return count;
}

/* Whether all outputs that are there were changed since they were made. */
static bool all_changed(const smp_work_unit *unit)
{
    const size_t changed = count_of(unit, SMP_TODO_CHANGED);
    size_t there = 0;
    for (size_t i = 0; i < unit->count; i++)
        there += unit->items[i].made_mtime != 0;
    return changed && changed == there;
}

/* Looks at the files of a piece. Where one of a piece that has a record is there, for a run that does not resume, it
 * ends (see refuse_again). Where outputs of all files of the first piece are there, the folder is taken for a
 * wrong one (*refused), and where one is that may be another list's, the list; else smp_todo_begin() fails those by
 * themselves. */
static smp_code look(smp_todo *todo, size_t piece, const smp_piece_past *past, smp_work_unit *unit, bool *refused,
                     smp_error *err)
{
    smp_conflicts found = {0};
    smp_journal_log *log = NULL;
    smp_code code = tell_keys(todo, unit, err);
    if (past->done && todo->request->resume) /* smp_ahead_next() has looked */
        return code;
    if (!code && past->begun)
        code = smp_claims_log(todo->listed->claims, piece, &log, err);
    code = code ? code : smp_todo_examine(todo, unit, log, &found, err);
    if (!code && log && all_changed(unit) && smp_journal_log_distrust(log))
        code = smp_todo_examine(todo, unit, log, &found, err);
    const bool many = smp_work_list_pieces(todo->list) > 1; /* one file of a piece of its own tells little */
    const bool known = found.count && smp_todo_started(todo) && todo->request->resume &&
                       smp_claims_any_done(todo->listed->claims); /* the folder is no wrong one */
    const bool later =
        smp_todo_started(todo) && (todo->count.pieces || found.count < unit->count || (unit->count == 1 && many));
    *refused = !code && found.count && (past->passed || (!known && (!later || other_list(todo))));
    if (*refused)
        code = smp_todo_fail_conflicts(todo, &found, other_list(todo), err);
    smp_journal_log_free(log);
    smp_free(found.first);
    return code;
}

/* Copies what is known of a finished unit to the journal of the task that takes it up again: if that task is stopped
 * too, its outputs are still known, and those that were changed since. */
static smp_code note_past(smp_todo *todo, smp_work_unit *unit, smp_journal *journal, const smp_piece_past *past,
                          smp_error *err)
{
    for (size_t i = 0; i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        if (!item->made_mtime || item->second)
            continue;
        const bool changed = item->made_mtime > past->newest;
        SMP_TRY(smp_output_lookup_key(todo, &todo->lookup, item, err));
        const smp_journal_entry entry = {.done = true,
                                         .input = item->input,
                                         .work = todo->request->work,
                                         .size = changed ? 0 : item->made_size,
                                         .mtime = changed ? past->newest : item->made_mtime};
        SMP_TRY(smp_journal_add(journal, smp_todo_under(todo, item->output), &entry, err));
    }
    return SMP_OK;
}

/* Before a start: every piece of the shard is only looked at. */
static smp_code open_to_look(smp_todo *todo, smp_error *err)
{
    smp_claims_request request = claims_request(todo);
    request.clock = -1;
    return todo->listed->claims ? SMP_OK : smp_claims_open(&request, false, &todo->listed->claims, err);
}

static smp_code take(smp_todo *todo, const smp_ahead *piece, smp_claim **claim, smp_error *err)
{
    return smp_claims_take(todo->listed->claims, piece->piece, &piece->past, claim, &todo->lockless, err);
}

/* Looks at a piece, and claims it: before, so that no other task looks at it too, or once it is known that something of
 * it is to be done. *out null without a failure: another task was quicker. */
static smp_code claim_piece(smp_todo *todo, const smp_ahead *piece, smp_work_unit **out, smp_error *err)
{
    const smp_piece_past *past = &piece->past;
    const bool working = smp_todo_started(todo), later = past->done || past->passed;
    smp_work_unit *unit = piece->unit;
    smp_claim *claim = NULL;
    bool refused = false;
    smp_code code = working && !later ? take(todo, piece, &claim, err) : SMP_OK;
    if (code || (working && !later && !claim))
        return code;
    if (!unit)
        code = load(todo, piece->piece, &unit, err);
    code = code ? code : look(todo, piece->piece, past, unit, &refused, err);
    if (!code && working && later && count_of(unit, SMP_TODO_DO)) {
        code = take(todo, piece, &claim, err);
        if (!code && !claim) {
            smp_work_unit_free(unit);
            return SMP_OK;
        }
        if (!code && past->done)
            code = note_past(todo, unit, smp_claim_journal(claim), past, err);
    }
    if (code) {
        const bool anybody = refused && !past->begun; /* whoever comes with another option takes it */
        smp_claim_give_back(claim, anybody ? SMP_CLAIM_UNTOUCHED : SMP_CLAIM_STOPPED);
        smp_work_unit_free(unit);
        return code;
    }
    unit->claim = claim;
    unit->journal = claim ? smp_claim_journal(claim) : NULL;
    todo->count.pieces += claim != NULL;
    smp_work_unit_collect(unit, &todo->count);
    *out = unit;
    return !unit->to_do && claim ? smp_work_unit_end(todo, unit, err) : SMP_OK; /* nothing is to do: noted as done */
}

static smp_code next(smp_todo *todo, smp_work_unit **out, smp_error *err)
{
    struct smp_list_source *own = todo->listed;
    smp_ahead piece;
    smp_code code = smp_todo_started(todo) ? SMP_OK : open_to_look(todo, err);
    while (!code && !*out && !(code = smp_ahead_next(todo, &own->ahead, own->claims, load, &piece, err)) && piece.there)
        code = claim_piece(todo, &piece, out, err);
    if (code) {
        smp_work_unit_free(*out);
        *out = NULL;
    }
    return code;
}

static smp_code done(smp_todo *, smp_work_unit *unit, smp_error *err)
{
    smp_piece_past past;
    smp_claim *claim = unit->claim;
    unit->claim = NULL;
    smp_work_unit_sum_up(unit, &past);
    return smp_claim_done(claim, &past, unit->count, err);
}

static smp_code give_back(smp_todo *todo, smp_work_unit *unit, smp_error *)
{
    smp_claim_give_back(unit->claim, unit->left ? SMP_CLAIM_STOPPED : SMP_CLAIM_FAILED);
    unit->claim = NULL;
    pthread_mutex_lock(&todo->lock);
    todo->count.undone++;
    pthread_mutex_unlock(&todo->lock);
    return SMP_OK;
}

const smp_claim_source smp_claim_list = {open_list, start, next, done, give_back, close_list};

/* ------------------------------------------------------------------------------------------------ claims that are held
 */

void smp_todo_count_pieces(smp_todo *todo)
{
    if (todo->listed && todo->listed->claims)
        todo->count.sum = smp_claims_sum_up(todo->listed->claims);
}

static void each_claim(smp_todo *todo, void (*fn)(smp_claim *claim))
{
    pthread_mutex_lock(&todo->lock);
    for (smp_work_unit *unit = todo->units; unit; unit = unit->next)
        if (unit->claim)
            fn(unit->claim);
    pthread_mutex_unlock(&todo->lock);
}

void smp_todo_tick(smp_todo *todo)
{
    enum { SILENCE = 20 }; /* seconds */
    const double now = smp_now();
    if (!todo->listed || now - todo->listed->touched < SILENCE)
        return;
    todo->listed->touched = now;
    each_claim(todo, smp_claim_touch);
}

void smp_todo_leave(smp_todo *todo)
{
    each_claim(todo, smp_claim_offer);
}
