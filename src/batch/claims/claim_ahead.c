/* Pieces of a list that were done are looked at again, some hundred at a time and by several threads, which wait for
 * the file system: see claim_source.h. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "batch/claims/claim_source.h"

enum { MOST_PIECES = 128, MOST_FILES = 4096, FEW_FILES = 256 };

void smp_work_unit_sum_up(const smp_work_unit *unit, smp_piece_past *past)
{
    *past = (smp_piece_past){.done = true};
    for (size_t i = 0; i < unit->count; i++) {
        const smp_todo_item *item = &unit->items[i];
        past->sum = smp_piece_sum_add(past->sum, item->made_size, item->made_mtime);
        past->newest = item->made_mtime > past->newest ? item->made_mtime : past->newest;
    }
}

/* Whether an output was changed after its piece was done, as the time says that nobody can set. */
static bool changed_after(smp_last_folder *last, const smp_todo_item *item, int64_t noted)
{
    struct stat there;
    return smp_last_folder_has(last, item->output, &there) && smp_nanoseconds(there.st_ctim) > noted;
}

/* Outputs of a piece that do not sum up to what they did: those that are newer. Where none is newer and none is gone,
 * an older file took an output's place. */
static void find_changed(const smp_todo *todo, smp_work_unit *unit, const smp_piece_past *past)
{
    const smp_todo_request *r = todo->request;
    smp_last_folder last = {.length = 0};
    size_t other = 0;
    for (size_t i = 0; i < unit->count; i++)
        other += !unit->items[i].made_mtime || unit->items[i].made_mtime > past->newest;
    for (size_t i = 0; i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        if (item->state != SMP_TODO_DONE ||
            (item->made_mtime <= past->newest && (other || !changed_after(&last, item, past->noted))))
            continue;
        item->replace = r->force || r->redo_changed;
        item->state = item->replace ? SMP_TODO_DO : r->skip_existing ? SMP_TODO_KEPT : SMP_TODO_CHANGED;
    }
    smp_last_folder_close(&last);
}

/* Files of a piece that was done: as they were, gone, or changed since, or with an input that was. */
static void compare(const smp_todo *todo, smp_work_unit *unit, const smp_piece_past *past)
{
    smp_piece_past now;
    smp_last_folder last = {.length = 0}, inputs = {.length = 0};
    for (size_t i = 0; i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        struct stat there;
        const bool is = smp_last_folder_has(&last, item->output, &there);
        item->made_size = is ? (uint64_t)there.st_size : 0;
        item->made_mtime = is ? smp_nanoseconds(there.st_mtim) : 0;
        item->state = is && !item->second ? SMP_TODO_DONE : SMP_TODO_DO;
    }
    smp_last_folder_close(&last);
    smp_work_unit_sum_up(unit, &now);
    if (now.sum != past->sum)
        find_changed(todo, unit, past);
    for (size_t i = 0; i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        if (item->state == SMP_TODO_DONE && smp_todo_input_changed(&inputs, item->file, item->made_mtime)) {
            item->state = SMP_TODO_DO;
            item->replace = true;
        }
    }
    smp_last_folder_close(&inputs);
}

typedef struct watch {
    const smp_todo *todo;
    smp_ahead *items;
} watch;

static void compare_piece(void *context, int part)
{
    const watch *w = context;
    compare(w->todo, w->items[part].unit, &w->items[part].past);
}

/* The next pieces up to the first that was not done, which is looked at when it is taken. */
static smp_code fill(smp_todo *todo, smp_ahead_queue *q, smp_claims *claims, smp_load_piece *load, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    const size_t most = r->deal ? 1 : MOST_PIECES; /* ranks would take work from each other */
    size_t files = 0;
    int done = 0;
    smp_code code = SMP_OK;
    q->count = q->next = 0;
    if (!q->items && !(q->items = smp_alloc_array(MOST_PIECES, sizeof *q->items)))
        return smp_fail_memory(err, "pieces", MOST_PIECES * sizeof *q->items);
    while (!code && q->count < most && files < MOST_FILES && (size_t)done == q->count) {
        smp_ahead *item = &q->items[q->count];
        *item = (smp_ahead){.there = true};
        if (!smp_claims_next(claims, &item->piece, &item->past))
            break;
        if (item->past.done && r->resume) {
            code = load(todo, item->piece, &item->unit, err);
            files += item->unit ? item->unit->count : 0;
            done++;
        }
        q->count++;
    }
    if (code)
        smp_ahead_free(q);
    else
        smp_pool_wait(&q->pool, done > 1 && files >= FEW_FILES, done, compare_piece, &(watch){todo, q->items});
    return code;
}

smp_code smp_ahead_next(smp_todo *todo, smp_ahead_queue *q, smp_claims *claims, smp_load_piece *load, smp_ahead *out,
                        smp_error *err)
{
    *out = (smp_ahead){.there = false};
    SMP_TRY(q->next == q->count ? fill(todo, q, claims, load, err) : SMP_OK);
    if (q->next < q->count) {
        *out = q->items[q->next];
        q->items[q->next++].unit = NULL;
    }
    return SMP_OK;
}

void smp_ahead_free(smp_ahead_queue *q)
{
    for (size_t i = 0; i < q->count; i++)
        smp_work_unit_free(q->items[i].unit);
    smp_pool_close(q->pool);
    smp_free(q->items);
    *q = (smp_ahead_queue){.items = NULL};
}
