/* Finds the files that smempipe measure works on: of folders, or of a list (smempipe list), all of them or a
 * shard's. */
#include "base/alloc.h"
#include "batch/claims/work_list.h"
#include "cli/shard.h"
#include "cli/team.h"
#include "commands/many/measure.h"

/* listed: when the file was changed last, as a list says; 0: there is none. */
static smp_code add(smp_measure_files *to, const smp_found *file, int64_t listed, uint64_t number, smp_error *err)
{
    SMP_NEED(smp_grow(&to->items, &to->capacity, to->count + 1, sizeof *to->items), "the list of files",
             to->count * sizeof *to->items, err);
    to->items[to->count++] = (smp_batch_file){.input = file->path,
                                              .bytes = file->size,
                                              .mtime = listed,
                                              .number = number,
                                              .index = smp_hash_name(file->name)};
    return SMP_OK;
}

/* The shard's part of what a walk finds, by names. Whoever walks finds all of it, so that a part knows what the others
 * saw. */
static smp_code from_folders(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                             smp_error *err)
{
    smp_find_options walk = smp_many_walk(&settings->many, program);
    smp_found_list *found = &work->found;
    smp_part_head *head = &work->head;
    walk.standard_input = true;
    SMP_TRY(smp_many_find(&settings->many, &walk, found, NULL, err));
    for (size_t i = 0; i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        if (head->shards == 1 || smp_shard_of(file->name, head->shards) == head->shard)
            SMP_TRY(add(&work->files, file, 0, i, err));
    }
    head->files = found->count;
    head->list = smp_many_list(found);
    head->left_out = found->left_out.files;
    head->others = smp_left_out_text(&found->left_out);
    if (head->left_out && !head->others)
        return smp_fail_memory(err, "a list of extensions", found->left_out.other_count);
    return SMP_OK;
}

smp_code smp_measure_add_piece(smp_measure_work *work, const smp_work_list *list, size_t piece, smp_kind kind,
                               uint64_t number, smp_measure_files *to, smp_error *err)
{
    smp_found *files = NULL;
    size_t count = 0;
    smp_left_out passed = {0};
    smp_code code = smp_work_list_read(list, piece, &work->texts, &files, &count, err);
    for (size_t i = 0; !code && i < count; i++) {
        bool left = false;
        code = smp_leave_out(files[i].name, kind, &passed, &left, err);
        if (!code && !left)
            code = add(to, &files[i], files[i].mtime, number + i, err);
    }
    work->head.left_out += passed.files;
    smp_left_out_free(&passed);
    smp_free(files);
    return code;
}

/* The shard's pieces of a list. Only they are read. */
static smp_code from_list(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                          smp_error *err)
{
    const smp_kind kind = smp_many_walk(&settings->many, program).kind;
    smp_part_head *head = &work->head;
    smp_work_list *list = NULL;
    smp_list_share share = {.pieces = 0};
    smp_code code = smp_work_list_open(settings->work_list, &list, err);
    code = code ? code : smp_list_share_open(list, head->shard, head->shards, &share, err);
    for (size_t i = 0; !code && i < share.pieces; i++) {
        if (smp_list_share_has(&share, i))
            code = smp_measure_add_piece(work, list, i, kind, head->files, &work->files, err);
        head->files += smp_work_list_piece(list, i)->files;
    }
    if (!code)
        head->list = *smp_work_list_hash(list);
    if (!code && (!head->files || (head->shards == 1 && !work->files.count)))
        code = smp_many_fail_list(settings->work_list, head->left_out, err);
    smp_work_list_close(list);
    smp_list_share_close(&share);
    return code;
}

smp_code smp_measure_work_find(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                               smp_error *err)
{
    smp_shard shard = {.count = 0};
    SMP_TRY(smp_cli_shard(&settings->many.plan.base.common, settings->shard, smp_cli_team != NULL, &shard, err));
    if (shard.count) {
        work->head.shard = shard.number;
        work->head.shards = shard.count;
    }
    return settings->work_list ? from_list(settings, program, work, err) : from_folders(settings, program, work, err);
}

void smp_measure_work_free(smp_measure_work *work)
{
    smp_measure_team_close(work);
    smp_free_all(work->files.items, work->head.others);
    smp_texts_free(&work->texts);
    smp_found_free(&work->found);
}
