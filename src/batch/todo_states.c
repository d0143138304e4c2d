/* What is to be done with the files of a walk: portions of them are looked at by several threads, see todo.h. */
#include "base/alloc.h"
#include "base/pool.h"
#include "batch/todo.h"

smp_code smp_todo_spell_out(const smp_todo *todo, smp_todo_eye *eye, size_t from, smp_portion **out, smp_error *err)
{
    const size_t left = todo->found.count - from;
    smp_portion *portion;
    smp_code code = smp_portion_new(left < SMP_TODO_PORTION ? left : SMP_TODO_PORTION, &portion, err);
    for (size_t i = 0; !code && i < portion->count; i++) {
        portion->items[i].file = smp_found_at(&todo->found, from + i);
        code = smp_todo_name(eye, portion, &portion->items[i], err);
        if (!code)
            code = smp_todo_key(todo, eye, &portion->items[i], err);
    }
    if (code) {
        smp_portion_free(portion);
        portion = NULL;
    }
    *out = portion;
    return code;
}

void smp_todo_eye_open(const smp_todo *todo, smp_todo_eye *eye)
{
    const smp_todo_request *r = todo->request;
    *eye = (smp_todo_eye){.namer = smp_namer_for(r->folder, r->pattern, r->extension, r->program)};
}

typedef struct seen { /* of a portion */
    smp_conflicts conflicts;
    smp_todo_count count;
    smp_error err;
} seen;

typedef struct watch {
    smp_todo *todo;
    const smp_journal_log *log;
    seen *portions;
} watch;

/* Looks at a portion, beside other threads. */
static void watch_portion(void *context, int part)
{
    const watch *w = context;
    smp_todo *todo = w->todo;
    seen *s = &w->portions[part];
    const size_t from = (size_t)part * SMP_TODO_PORTION;
    smp_todo_eye eye;
    smp_portion *portion = NULL;
    smp_todo_eye_open(todo, &eye);
    smp_code code = smp_todo_spell_out(todo, &eye, from, &portion, &s->err);
    if (!code)
        code = smp_todo_examine(todo, portion, w->log, &s->conflicts, &s->err);
    for (size_t i = 0; !code && i < portion->count; i++)
        todo->states[from + i] =
            (uint8_t)((unsigned)portion->items[i].state | (portion->items[i].replace ? SMP_TODO_REPLACE : 0U));
    if (!code)
        smp_todo_collect(portion, &s->count);
    for (size_t i = 0; !code && i < portion->to_do; i++)
        s->count.bytes += portion->files[i].bytes;
    smp_portion_free(portion);
    smp_todo_eye_close(&eye);
}

/* What was seen of all portions, in their order. */
static smp_code sum_up(smp_todo *todo, seen *portions, int count, smp_error *err)
{
    smp_conflicts all = {0};
    smp_code code = SMP_OK;
    for (int i = 0; i < count; i++) {
        seen *s = &portions[i];
        if (!code && (code = s->err.code))
            *err = s->err;
        if (!all.count) { /* the first one is told */
            all.first = s->conflicts.first;
            s->conflicts.first = NULL;
        }
        all.count += s->conflicts.count;
        all.other_work += s->conflicts.other_work;
        todo->count.files += s->count.files;
        todo->count.to_do += s->count.to_do;
        todo->count.done += s->count.done;
        todo->count.kept += s->count.kept;
        todo->count.stale += s->count.stale;
        todo->count.left += s->count.left;
        todo->count.changed += s->count.changed;
        todo->count.lost += s->count.lost;
        todo->count.bytes += s->count.bytes;
        smp_free(s->conflicts.first);
    }
    if (!code && all.count)
        code = smp_todo_fail_conflicts(todo, &all, err);
    smp_free(all.first);
    return code;
}

smp_code smp_todo_set_states(smp_todo *todo, const smp_journal_log *log, smp_error *err)
{
    enum { MOST_THREADS = 8 }; /* which wait for the file system, for the greater part */
    const size_t files = todo->found.count;
    const int portions = (int)((files + SMP_TODO_PORTION - 1) / SMP_TODO_PORTION), cores = smp_pool_cores();
    smp_pool *pool = NULL;
    watch w = {.todo = todo, .log = log, .portions = smp_alloc_array((size_t)portions, sizeof *w.portions)};
    todo->states = smp_alloc(files);
    smp_code code = w.portions && todo->states ? SMP_OK : smp_fail_memory(err, "the list of files", files);
    if (!code)
        code = smp_pool_open(portions < 2 ? 1 : cores < MOST_THREADS ? cores : MOST_THREADS, &pool, err);
    if (!code) {
        smp_pool_run(pool, portions, watch_portion, &w);
        code = sum_up(todo, w.portions, portions, err);
    }
    smp_pool_close(pool);
    smp_free(w.portions);
    todo->count.expected = todo->count.to_do;
    smp_hash_set_free(&todo->inputs);
    smp_todo_rewind(todo);
    return code;
}
