/* What a batch has to do with a list of work: see todo.h. Pieces are claimed, read, looked at and noted one by one. */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "batch/outputs.h"
#include "batch/todo.h"

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

static smp_claims_request pieces_request(const smp_todo *todo)
{
    const smp_todo_request *r = todo->request;
    return (smp_claims_request){
        .folder = r->folder,
        .list = *smp_work_list_hash(todo->list),
        .work = work_of_names(r),
        .count = smp_work_list_pieces(todo->list),
        .owners = todo->owners,
        .shard = (uint32_t)r->shard,
        .claim = r->claim,
        .resume = r->resume,
        .sync_pieces = r->sync_pieces,
        .deal = r->deal,
        .retake = r->retake,
        .clock = todo->folder_lock,
    };
}

smp_code smp_todo_list_open(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    smp_code code = smp_work_list_open(r->list, &todo->list, err);
    if (code)
        return code;
    const size_t pieces = smp_work_list_pieces(todo->list);
    if (r->shards > 0 && !r->claim && !r->deal)
        code = smp_work_list_shares(todo->list, r->shards, &todo->owners, err);
    if (code)
        return code;
    for (size_t i = 0; i < pieces; i++) {
        const smp_work_piece *piece = smp_work_list_piece(todo->list, i);
        if (todo->owners && todo->owners[i] != (uint32_t)r->shard)
            continue;
        todo->count.expected += (size_t)piece->files;
        todo->count.bytes += piece->bytes;
    }
    const char *root = smp_work_list_root(todo->list);
    return smp_output_folder_check(r->folder, &root, 1, err);
}

/* Where an output of a piece that has a record is there, a run that does not resume ends before it touches anything:
 * it was meant to resume, and records of its own would hide what those of before know. */
static smp_code refuse_again(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    smp_claims_request request = pieces_request(todo);
    smp_claims *pieces = NULL;
    smp_piece_past past;
    if (r->resume || r->force || r->skip_existing || r->claim)
        return SMP_OK;
    request.deal = NULL; /* ranks make the same mistake */
    smp_code code = smp_claims_open(&request, false, &pieces, err);
    for (size_t piece; !code && smp_claims_next(pieces, &piece, &past);) {
        smp_conflicts found = {0};
        smp_work_unit *unit = NULL;
        if (past.passed)
            code = smp_todo_load(todo, piece, &unit, err);
        if (!code && unit)
            code = smp_todo_examine(todo, unit, NULL, &found, err);
        if (!code && found.count)
            code = smp_todo_fail_conflicts(todo, &found, err);
        smp_free(found.first);
        smp_work_unit_free(unit);
    }
    smp_claims_close(pieces);
    smp_left_out_free(&todo->left_out);
    smp_hash_set_free(&todo->outputs);
    memset(todo->met, 0, smp_work_list_pieces(todo->list) / 8 + 1);
    return code;
}

smp_code smp_todo_list_start(smp_todo *todo, smp_error *err)
{
    const smp_claims_request request = pieces_request(todo);
    todo->touched = smp_now();
    smp_hash_set_free(&todo->outputs); /* from here on those of pieces that are worked on */
    todo->met = smp_alloc_array(smp_work_list_pieces(todo->list) / 8 + 1, 1);
    if (!todo->met)
        return smp_fail_memory(err, "pieces", smp_work_list_pieces(todo->list) / 8 + 1);
    const smp_code code = refuse_again(todo, err);
    return code ? code : smp_claims_open(&request, true, &todo->pieces, err);
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
        if (!code)
            code = smp_leave_out(other.name, todo->request->walk.kind, &passed_over, &left, err);
        if (code || left)
            continue;
        output = smp_namer_output(&todo->lookup.namer, other.name);
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
    smp_hash_set own = {0}, *met = alone ? &own : &todo->outputs;
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
    const bool met = (todo->met[piece / 8] & bit) != 0;
    todo->met[piece / 8] |= bit;
    return met;
}

smp_code smp_todo_load(smp_todo *todo, size_t piece, smp_work_unit **out, smp_error *err)
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
        code = smp_leave_out(found[i].name, todo->request->walk.kind, &todo->left_out, &left, err);
        if (!left)
            found[wanted++] = found[i];
    }
    if (!code)
        code = smp_work_unit_new(wanted, &unit, err);
    if (code) {
        smp_free(found);
        smp_texts_free(&texts);
        return code;
    }
    unit->found = found;
    unit->texts = texts;
    for (size_t i = 0; !code && i < wanted; i++) {
        unit->items[i].file = &found[i];
        code = smp_todo_name(&todo->lookup, unit, &unit->items[i], err);
        if (!code && found[i].collision && !apart)
            code = look_for_first(todo, unit, &unit->items[i], err);
    }
    if (!code)
        code = check_outputs(todo, unit, smp_todo_started(todo) && meet(todo, piece), err);
    if (code)
        smp_work_unit_free(unit);
    else
        *out = unit;
    return code;
}

static smp_code tell_keys(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < unit->count; i++)
        if (unit->items[i].state == SMP_TODO_DO)
            code = smp_todo_key(todo, &todo->lookup, &unit->items[i], err);
    return code;
}

bool smp_todo_other_list(const smp_todo *todo)
{
    const smp_claims_request request = pieces_request(todo);
    return smp_claims_by_other_list(&request);
}

/* Whether all outputs that are there were changed since they were made. */
static bool all_changed(const smp_work_unit *unit)
{
    size_t there = 0, changed = 0;
    for (size_t i = 0; i < unit->count; i++) {
        there += unit->items[i].made_mtime != 0;
        changed += unit->items[i].state == SMP_TODO_CHANGED;
    }
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
    if (past->done && todo->request->resume) /* smp_todo_ahead_next() has looked */
        return code;
    if (!code && past->begun)
        code = smp_claims_log(todo->pieces, piece, &log, err);
    if (!code)
        code = smp_todo_examine(todo, unit, log, &found, err);
    if (!code && log && all_changed(unit) && smp_journal_log_distrust(log))
        code = smp_todo_examine(todo, unit, log, &found, err);
    const bool many = smp_work_list_pieces(todo->list) > 1; /* one file of a piece of its own tells little */
    const bool known = found.count && smp_todo_started(todo) && todo->request->resume &&
                       smp_claims_any_done(todo->pieces); /* the folder is no wrong one */
    const bool later =
        smp_todo_started(todo) && (todo->count.pieces || found.count < unit->count || (unit->count == 1 && many));
    *refused = !code && found.count && (past->passed || (!known && (!later || smp_todo_other_list(todo))));
    if (*refused)
        code = smp_todo_fail_conflicts(todo, &found, err);
    smp_journal_log_free(log);
    smp_free(found.first);
    return code;
}

/* What is known of a piece that was done goes on to the journal of whoever takes it up again: should that one be
 * stopped, too, outputs are still known, and those that were changed since. */
static smp_code note_past(smp_todo *todo, const smp_work_unit *unit, smp_claim *claim, const smp_piece_past *past,
                          smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        if (!item->made_mtime || item->second)
            continue;
        const bool changed = item->made_mtime > past->newest;
        code = smp_todo_key(todo, &todo->lookup, item, err);
        const smp_journal_entry entry = {.done = true,
                                         .input = item->input,
                                         .work = todo->request->work,
                                         .size = changed ? 0 : item->made_size,
                                         .mtime = changed ? past->newest : item->made_mtime};
        if (!code)
            code = smp_journal_add(smp_claim_journal(claim), smp_todo_under(todo, item->output), &entry, err);
    }
    return code;
}

static size_t wanting(const smp_work_unit *unit)
{
    size_t count = 0;
    for (size_t i = 0; i < unit->count; i++)
        count += unit->items[i].state == SMP_TODO_DO;
    return count;
}

/* Before a start: every piece of the shard is only looked at. */
static smp_code open_to_look(smp_todo *todo, smp_error *err)
{
    smp_claims_request request = pieces_request(todo);
    request.clock = -1;
    if (!todo->cursor) { /* from the beginning */
        smp_todo_ahead_free(todo);
        smp_claims_close(todo->pieces);
        todo->pieces = NULL;
        smp_hash_set_free(&todo->outputs);
    }
    todo->cursor = 1;
    return todo->pieces ? SMP_OK : smp_claims_open(&request, false, &todo->pieces, err);
}

smp_code smp_todo_list_next(smp_todo *todo, smp_work_unit **out, smp_error *err)
{
    const bool working = smp_todo_started(todo);
    smp_ahead next;
    smp_code code = working ? SMP_OK : open_to_look(todo, err);
    while (!code && !*out && !(code = smp_todo_ahead_next(todo, &next, err)) && next.there) {
        smp_claim *claim = NULL;
        bool refused = false;
        const bool later = next.past.done || next.past.passed; /* once it is known that something is to do */
        if (working && !later) {
            code = smp_claims_take(todo->pieces, next.piece, &next.past, &claim, &todo->lockless, err);
            if (code || !claim)
                continue;
        }
        *out = next.unit;
        if (!*out)
            code = smp_todo_load(todo, next.piece, out, err);
        if (!code)
            code = look(todo, next.piece, &next.past, *out, &refused, err);
        if (!code && working && later && wanting(*out)) {
            code = smp_claims_take(todo->pieces, next.piece, &next.past, &claim, &todo->lockless, err);
            if (!code && !claim) {
                smp_work_unit_free(*out);
                *out = NULL;
                continue;
            }
            if (!code && next.past.done)
                code = note_past(todo, *out, claim, &next.past, err);
        }
        if (code && refused && !next.past.begun) /* whoever comes with another option takes it */
            smp_claim_give_back(claim);
        else if (code)
            smp_claim_leave(claim, false);
        if (code)
            break;
        (*out)->claim = claim;
        todo->count.pieces += claim != NULL;
        smp_todo_collect(*out, &todo->count);
        if (!(*out)->to_do && claim) /* nothing is to do: it is noted as done */
            code = smp_todo_list_ended(todo, *out, err);
    }
    if (code) {
        smp_work_unit_free(*out);
        *out = NULL;
    }
    return code;
}

/* The unit is not among those in work any more. */
smp_code smp_todo_list_ended(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    smp_claim *claim = unit->claim;
    size_t changed = 0, gone = 0;
    smp_piece_past past;
    unit->claim = NULL;
    for (size_t i = 0; i < unit->count; i++) {
        changed += unit->items[i].state == SMP_TODO_CHANGED;
        gone += unit->items[i].state == SMP_TODO_DO;
    }
    if (unit->left || unit->failed || changed || gone) {
        smp_claim_leave(claim, unit->left == 0);
        pthread_mutex_lock(&todo->lock);
        todo->count.undone++;
        pthread_mutex_unlock(&todo->lock);
        return SMP_OK;
    }
    smp_todo_sum_up(unit, &past);
    return smp_claim_done(claim, &past, unit->count, err);
}

void smp_todo_count_pieces(smp_todo *todo)
{
    todo->count.sum = smp_claims_sum_up(todo->pieces);
}

void smp_todo_tick(smp_todo *todo)
{
    enum { SILENCE = 20 }; /* seconds */
    const double now = smp_now();
    if (now - todo->touched < SILENCE)
        return;
    todo->touched = now;
    pthread_mutex_lock(&todo->lock);
    for (smp_work_unit *unit = todo->units; unit; unit = unit->next)
        if (unit->claim)
            smp_claim_touch(unit->claim);
    pthread_mutex_unlock(&todo->lock);
}

void smp_todo_leave(smp_todo *todo)
{
    pthread_mutex_lock(&todo->lock);
    for (smp_work_unit *unit = todo->units; unit; unit = unit->next)
        if (unit->claim)
            smp_claim_offer(unit->claim);
    pthread_mutex_unlock(&todo->lock);
}
