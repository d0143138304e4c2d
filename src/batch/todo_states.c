/* What is to be done with the files of a walk: units of them are looked at by several threads, see todo.h. */
#include "base/alloc.h"
#include "base/pool.h"
#include "batch/todo.h"

smp_code smp_todo_spell_out(const smp_todo *todo, smp_output_lookup *lookup, size_t from, smp_work_unit **out,
                            smp_error *err)
{
    const size_t left = todo->found.count - from;
    smp_work_unit *unit;
    smp_code code = smp_work_unit_new(left < SMP_TODO_UNIT ? left : SMP_TODO_UNIT, &unit, err);
    for (size_t i = 0; !code && i < unit->count; i++) {
        unit->items[i].file = smp_found_at(&todo->found, from + i);
        code = smp_todo_name(lookup, unit, &unit->items[i], err);
        if (!code)
            code = smp_todo_key(todo, lookup, &unit->items[i], err);
    }
    if (code) {
        smp_work_unit_free(unit);
        unit = NULL;
    }
    *out = unit;
    return code;
}

void smp_output_lookup_open(const smp_todo *todo, smp_output_lookup *lookup)
{
    const smp_todo_request *r = todo->request;
    *lookup = (smp_output_lookup){.namer = smp_namer_for(r->folder, r->pattern, r->extension, r->program)};
}

typedef struct seen { /* of a unit */
    smp_conflicts conflicts;
    smp_todo_count count;
    smp_error err;
} seen;

typedef struct watch {
    smp_todo *todo;
    const smp_journal_log *log;
    seen *units;
} watch;

/* Looks at a unit, beside other threads. */
static void watch_unit(void *context, int part)
{
    const watch *w = context;
    smp_todo *todo = w->todo;
    seen *s = &w->units[part];
    const size_t from = (size_t)part * SMP_TODO_UNIT;
    smp_output_lookup lookup;
    smp_work_unit *unit = NULL;
    smp_output_lookup_open(todo, &lookup);
    smp_code code = smp_todo_spell_out(todo, &lookup, from, &unit, &s->err);
    if (!code)
        code = smp_todo_examine(todo, unit, w->log, &s->conflicts, &s->err);
    for (size_t i = 0; !code && i < unit->count; i++)
        todo->states[from + i] =
            (uint8_t)((unsigned)unit->items[i].state | (unit->items[i].replace ? SMP_TODO_REPLACE : 0U));
    if (!code)
        smp_todo_collect(unit, &s->count);
    for (size_t i = 0; !code && i < unit->to_do; i++)
        s->count.bytes += unit->files[i].bytes;
    smp_work_unit_free(unit);
    smp_output_lookup_close(&lookup);
}

/* What was seen of all units, in their order. */
static smp_code sum_up(smp_todo *todo, seen *units, int count, smp_error *err)
{
    smp_conflicts all = {0};
    smp_code code = SMP_OK;
    for (int i = 0; i < count; i++) {
        seen *s = &units[i];
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
    const int units = (int)((files + SMP_TODO_UNIT - 1) / SMP_TODO_UNIT), cores = smp_pool_cores();
    smp_pool *pool = NULL;
    watch w = {.todo = todo, .log = log, .units = smp_alloc_array((size_t)units, sizeof *w.units)};
    todo->states = smp_alloc(files);
    smp_code code = w.units && todo->states ? SMP_OK : smp_fail_memory(err, "the list of files", files);
    if (!code)
        code = smp_pool_open(units < 2 ? 1 : cores < MOST_THREADS ? cores : MOST_THREADS, &pool, err);
    if (!code) {
        smp_pool_run(pool, units, watch_unit, &w);
        code = sum_up(todo, w.units, units, err);
    }
    smp_pool_close(pool);
    smp_free(w.units);
    todo->count.expected = todo->count.to_do;
    smp_hash_set_free(&todo->inputs);
    smp_todo_rewind(todo);
    return code;
}
