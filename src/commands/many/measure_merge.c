/* smempipe measure --merge: tells what the parts of all shards say, as one process over all files would. */
#include "base/alloc.h"
#include "commands/many/measure.h"

typedef struct merging {
    smp_part_reader *parts;
    size_t count;
    size_t *heap; /* parts that have a file left, the one with the least number first: a binary heap */
    size_t left;
} merging;

static smp_code compare(const smp_part_reader *part, const smp_part_reader *first, const smp_measure_settings *settings,
                        smp_error *err)
{
    const smp_part_head *a = &part->head, *b = &first->head;
    if (!smp_hash_equal(&a->work, &b->work)) {
        smp_fail(err, SMP_E_USAGE, "the part is of another pipeline than '%.200s', or of other parameters",
                 first->path);
        smp_hint(err, "measure all shards alike");
        return smp_at(err, "%s", part->path);
    }
    if (a->shards != b->shards) {
        smp_fail(err, SMP_E_USAGE, "the part is one of %lld, '%.200s' is one of %lld", (long long)a->shards,
                 first->path, (long long)b->shards);
        smp_hint(err, "merge the parts of one division");
        return smp_at(err, "%s", part->path);
    }
    if (a->files != b->files || !smp_hash_equal(&a->list, &b->list)) {
        smp_fail(err, SMP_E_USAGE, "the part is of other files than '%.160s': its shard saw %llu, that one %llu%s",
                 first->path, (unsigned long long)a->files, (unsigned long long)b->files,
                 a->files == b->files ? " of other names or sizes" : "");
        smp_hint(err, "name the folder alike for all shards, and let no file come, go or change meanwhile");
        return smp_at(err, "%s", part->path);
    }
    if (a->totals_only && !settings->totals_only) {
        smp_fail(err, SMP_E_USAGE, "the part has only what its files are together");
        smp_hint(err, "merge with --together, or measure without it");
        return smp_at(err, "%s", part->path);
    }
    return SMP_OK;
}

/* " 2, 5 and 7", the first few shards without a part. */
static smp_code fail_missing(const size_t *part_of, int64_t shards, size_t missing, smp_error *err)
{
    enum { SHOWN = 8 };
    char text[160] = "";
    size_t used = 0, said = 0;
    for (int64_t k = 0; k < shards && said < SHOWN; k++)
        if (!part_of[k]) {
            const int n = snprintf(text + used, sizeof text - used, "%s%lld", said ? ", " : "", (long long)k + 1);
            used += n > 0 ? (size_t)n : 0;
            said++;
        }
    smp_fail(err, SMP_E_USAGE, "%zu of %lld parts %s missing: shard%s %s%s", missing, (long long)shards,
             missing == 1 ? "is" : "are", missing == 1 ? "" : "s", text, missing > said ? ", ..." : "");
    return smp_hint(err, "give all parts; one that was never written is made by --shard K/%lld --partial FILE",
                    (long long)shards);
}

/* Every shard once. */
static smp_code check_shards(const merging *m, smp_error *err)
{
    const int64_t shards = m->parts[0].head.shards;
    size_t *part_of = smp_alloc_array((size_t)shards, sizeof *part_of), missing = (size_t)shards; /* from 1 on */
    SMP_NEED(part_of, "the list of parts", (uint64_t)shards * sizeof *part_of, err);
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < m->count; i++) {
        size_t *of = &part_of[m->parts[i].head.shard - 1];
        if (*of) {
            smp_fail(err, SMP_E_USAGE, "the part is shard %lld of %lld, and so is '%.200s'",
                     (long long)m->parts[i].head.shard, (long long)shards, m->parts[*of - 1].path);
            smp_hint(err, "give each part once");
            code = smp_at(err, "%s", m->parts[i].path);
        }
        *of = i + 1;
        missing--;
    }
    if (!code && missing)
        code = fail_missing(part_of, shards, missing, err);
    smp_free(part_of);
    return code;
}

static uint64_t number(const merging *m, size_t at)
{
    return m->parts[m->heap[at]].number;
}

/* Moves an entry down to its place. */
static void sink(merging *m, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < m->left; at = child) {
        if (child + 1 < m->left && number(m, child + 1) < number(m, child))
            child++;
        if (number(m, at) <= number(m, child))
            return;
        const size_t part = m->heap[at];
        m->heap[at] = m->heap[child];
        m->heap[child] = part;
    }
}

/* Goes to the first file of each part. */
static smp_code start(merging *m, smp_error *err)
{
    smp_code code = SMP_OK;
    m->heap = smp_alloc_array(m->count, sizeof *m->heap);
    SMP_NEED(m->heap, "the list of parts", m->count * sizeof *m->heap, err);
    for (size_t i = 0; !code && i < m->count; i++) {
        bool more;
        code = smp_part_next(&m->parts[i], &more, err);
        if (more)
            m->heap[m->left++] = i;
    }
    for (size_t i = m->left / 2; !code && i-- > 0;)
        sink(m, i);
    return code;
}

static smp_code tell_files(merging *m, smp_measuring *told, smp_error *err)
{
    smp_code code = start(m, err);
    while (!code && m->left) {
        smp_part_reader *part = &m->parts[m->heap[0]];
        smp_run_report report;
        smp_error why;
        bool more = false;
        code = smp_part_report(part, &report, &why, err);
        code = code ? code : smp_measuring_file(told, &report, &why, err);
        smp_part_report_free(&report);
        code = code ? code : smp_part_next(part, &more, err);
        if (!more)
            m->heap[0] = m->heap[--m->left];
        sink(m, 0);
    }
    return code;
}

static smp_code open_parts(merging *m, const smp_measure_settings *settings, smp_error *err)
{
    for (size_t i = 0; i < settings->many.inputs.count; i++) {
        smp_part_reader *part = &m->parts[m->count++];
        SMP_TRY(smp_part_open(settings->many.inputs.items[i], part, err));
        SMP_TRY(compare(part, &m->parts[0], settings, err));
    }
    return check_shards(m, err);
}

/* Every byte of every part, before the first is told. *passed: files passed over, of which the parts of a list say
 * their own, without a text, and those of folders all. */
static smp_code check_parts(merging *m, smp_totals *totals, uint64_t *done, uint64_t *failed, uint64_t *passed,
                            smp_error *err)
{
    smp_code code = SMP_OK;
    uint64_t of_list = 0;
    for (size_t i = 0; !code && i < m->count; i++) {
        const smp_part_head *head = &m->parts[i].head;
        code = smp_part_check(&m->parts[i], totals, err);
        of_list += head->others[0] ? 0 : head->left_out; /* known at its end */
        *done += m->parts[i].done;
        *failed += m->parts[i].failed;
    }
    const uint64_t files = m->parts[0].head.files;
    *passed = m->parts[0].head.others[0] ? m->parts[0].head.left_out : of_list;
    if (!code && *done + *failed + of_list != files)
        code = smp_fail(err, SMP_E_DECODE, "the parts hold %llu files of %llu", (unsigned long long)(*done + *failed),
                        (unsigned long long)files);
    return code;
}

smp_code smp_measure_merge(const smp_measure_settings *settings, smp_error *err)
{
    const size_t given = settings->many.inputs.count;
    merging m = {.parts = smp_alloc_array(given, sizeof *m.parts)};
    smp_totals totals = {0};
    smp_measuring told;
    uint64_t done = 0, failed = 0, passed = 0;
    SMP_NEED(m.parts, "the list of parts", given * sizeof *m.parts, err);
    smp_code code = open_parts(&m, settings, err);
    code = code ? code : check_parts(&m, &totals, &done, &failed, &passed, err);
    if (code)
        smp_totals_free(&totals);
    else {
        smp_measuring_begin(&told, settings);
        told.totals = totals;
        code = tell_files(&m, &told, err);
        code = code ? code : smp_measuring_end(&told, (size_t)done, (size_t)failed, err);
        smp_many_others(told.common, passed, m.parts[0].head.others);
        smp_measuring_free(&told);
    }
    for (size_t i = 0; i < m.count; i++)
        smp_part_close(&m.parts[i]);
    smp_free_all(m.heap, m.parts);
    return code;
}
