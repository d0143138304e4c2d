/* libFuzzer entry: files by which runs hand work on: a list of work, a part of a measurement, a journal. The first byte
 * says which. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "batch/claims/work_list.h"
#include "batch/journal.h"
#include "report/measure/part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_list(const char *path)
{
    smp_work_list *list = NULL;
    smp_error err = {0};
    if (smp_work_list_open(path, &list, &err))
        return;
    for (size_t i = 0; i < smp_work_list_pieces(list); i++) {
        smp_texts texts = {NULL};
        smp_found *found = NULL;
        size_t count;
        if (!smp_work_list_read(list, i, &texts, &found, &count, &err) && count != smp_work_list_piece(list, i)->files)
            abort();
        for (size_t k = 0; found && k < count; k++) {
            smp_found collision;
            if (found[k].collision)
                (void)smp_work_list_read_line(list, found[k].collision, &texts, &collision, &err);
        }
        smp_free(found);
        smp_texts_free(&texts);
    }
    smp_work_list_close(list);
}

static void read_part(const char *path)
{
    smp_part_reader part = {0};
    smp_totals totals = {0};
    smp_error err = {0};
    bool more = true;
    smp_code code = smp_part_open(path, &part, &err);
    if (!code)
        code = smp_part_check(&part, &totals, &err);
    while (!code && more && !(code = smp_part_next(&part, &more, &err)) && more) {
        smp_run_report report = {0};
        smp_error why = {0};
        code = smp_part_report(&part, &report, &why, &err);
        smp_part_report_free(&report);
    }
    smp_totals_free(&totals);
    smp_part_close(&part);
}

static void read_journal(const char *name)
{
    smp_journal_log *log = NULL;
    smp_journal_past past;
    smp_error err = {0};
    if (!smp_journal_log_new(&log, &err) && !smp_journal_log_add(log, AT_FDCWD, name, false, &err))
        smp_journal_find(log, "a.png", &past);
    smp_journal_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const char *path) = {read_list, read_part, read_journal};
    char path[64];
    if (!size)
        return 0;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    smp_alloc_limit(UINT64_C(1) << 28);
    const uint64_t live = smp_alloc_live();
    if (fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        readers[data[0] % 3](path);
    }
    if (fd >= 0)
        close(fd);
    if (smp_alloc_live() != live)
        abort();
    return 0;
}
