/* smempipe measure by the ranks of a team: each measures the pieces that it is dealt and keeps a part of it (part.h);
 * rank 0 tells what all parts say together. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "batch/claims/work_list.h"
#include "cli/team.h"
#include "commands/many/measure.h"

smp_code smp_measure_team_open(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                               smp_error *err)
{
    SMP_TRY(smp_work_list_open(settings->work_list, &work->list, err));
    work->kind = smp_many_walk(&settings->many, program).kind;
    work->starts = smp_alloc_array(smp_work_list_pieces(work->list), sizeof *work->starts);
    SMP_NEED(work->starts, "pieces", smp_work_list_pieces(work->list), err);
    work->head.shard = smp_cli_team->rank + 1;
    work->head.shards = smp_cli_team->size;
    work->head.list = *smp_work_list_hash(work->list);
    for (size_t i = 0; i < smp_work_list_pieces(work->list); i++) {
        work->starts[i] = work->head.files;
        work->head.files += smp_work_list_piece(work->list, i)->files;
    }
    return SMP_OK;
}

smp_code smp_measure_team_more(smp_measure_work *work, const smp_batch_file **files, size_t *count, smp_error *err)
{
    smp_code code = SMP_OK;
    size_t piece;
    *count = 0;
    while (!code && !*count && smp_cli_team->deal(smp_work_list_pieces(work->list), &piece)) {
        smp_measure_files *dealt = smp_alloc(sizeof *dealt);
        SMP_NEED(dealt, "a piece", sizeof *dealt, err);
        code = smp_measure_add_piece(work, work->list, piece, work->kind, work->starts[piece], dealt, err);
        dealt->next = work->pieces;
        work->pieces = dealt;
        *files = dealt->items;
        *count = dealt->count;
    }
    return code;
}

void smp_measure_team_close(smp_measure_work *work)
{
    for (smp_measure_files *piece = work->pieces, *next; piece; piece = next) {
        next = piece->next;
        smp_free_all(piece->items, piece);
    }
    smp_free(work->starts);
    smp_work_list_close(work->list);
}

smp_code smp_measure_team_folder(char folder[PATH_MAX], smp_error *err)
{
    const char *top = getenv("TMPDIR");
    const int length = snprintf(folder, PATH_MAX, "%s/smempipe-mpi-XXXXXX", top && top[0] ? top : "/tmp");
    if (length > 0 && length < PATH_MAX && mkdtemp(folder))
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot make a folder for what this rank measures");
    smp_hint(err, "TMPDIR says where");
    return smp_at(err, "%.*s", PATH_MAX - 1, folder);
}

/* The settings of a merge of these parts. */
static smp_code merge(const smp_measure_settings *settings, char **paths, smp_error *err)
{
    smp_measure_settings all = *settings;
    const size_t count = (size_t)smp_cli_team->size;
    const char **items = smp_alloc_array(count, sizeof *items);
    SMP_NEED(items, "the list of parts", count * sizeof *items, err);
    for (size_t i = 0; i < count; i++)
        items[i] = paths[i];
    all.many.inputs.items = items;
    all.many.inputs.count = count;
    const smp_code code = smp_measure_merge(&all, err);
    smp_free(items);
    return code;
}

smp_code smp_measure_team_end(const smp_measure_settings *settings, char *path, smp_code code, smp_error *err)
{
    uint64_t none = 0;
    const size_t count = (size_t)smp_cli_team->size;
    char **paths = smp_alloc_array(count, sizeof *paths);
    if (!code && !paths)
        code = smp_fail_memory(err, "the list of parts", count * sizeof *paths);
    if (smp_cli_team->rank && code)
        smp_cli_error(&settings->many.plan.base.common, err);
    code = smp_cli_team->finish(&none, 0, code);
    if (code) {
        smp_free(paths);
        return smp_cli_team->rank ? SMP_OK : code;
    }
    paths[0] = path;
    code = smp_cli_team->gather(path, paths, err);
    if (!code && !smp_cli_team->rank)
        code = merge(settings, paths, err);
    for (size_t i = 1; i < count; i++) {
        if (paths[i])
            unlink(paths[i]);
        smp_free(paths[i]);
    }
    smp_free(paths);
    return code;
}
