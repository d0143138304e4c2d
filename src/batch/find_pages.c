/* Pages of files as files of their own: see find_files.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "batch/find_files.h"
#include "io/format.h"
#include "io/media.h"

static bool may_have_pages(const char *name)
{
    const smp_file_format *format;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        for (const char *const *extension = format->extensions; *extension; extension++)
            if (strcasecmp(dot + 1, *extension) == 0)
                return format->pages;
    return false;
}

static int64_t count_pages(const smp_found *file, const smp_limits *limits)
{
    smp_reader *reader;
    smp_error unread = {.code = SMP_OK};
    if (!file->regular || !may_have_pages(file->name) || smp_reader_open(file->path, limits, &reader, &unread))
        return 1;
    const int64_t pages = smp_reader_media(reader)->pages;
    smp_reader_close(reader);
    return pages > 1 ? pages : 1;
}

/* "scans/a.tif" becomes "scans/a-03.tif". */
static char *page_name(const char *name, int64_t page, int64_t pages)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name, *dot = strrchr(last, '.');
    const size_t stem = dot && dot > last ? (size_t)(dot - name) : strlen(name);
    const int width = snprintf(NULL, 0, "%lld", (long long)pages);
    return smp_asprintf("%.*s-%0*lld%s", (int)stem, name, width, (long long)page, name + stem);
}

static smp_code add_pages(smp_found_list *to, const smp_found *file, int64_t pages, smp_error *err)
{
    for (int64_t page = 1; page <= pages; page++) {
        if (!smp_grow(&to->items, &to->capacity, to->count + 1, sizeof *to->items))
            return smp_fail_memory(err, "the list of files", to->count);
        smp_found *at = &to->items[to->count];
        *at = *file;
        at->path = smp_strdup(file->path);
        at->name = pages > 1 ? page_name(file->name, page, pages) : smp_strdup(file->name);
        at->page = pages > 1 ? page : 0;
        to->count++;
        if (!at->path || !at->name)
            return smp_fail_memory(err, "the list of files", to->count);
    }
    return SMP_OK;
}

smp_code smp_found_pages(smp_found_list *list, const smp_limits *limits, smp_error *err)
{
    smp_found_list all = *list;
    smp_limits first = *limits;
    smp_code code = SMP_OK;
    first.page = 1;
    all.items = NULL;
    all.count = all.capacity = 0;
    for (size_t i = 0; i < list->count && !code; i++)
        code = add_pages(&all, &list->items[i], count_pages(&list->items[i], &first), err);
    for (size_t i = 0; i < list->count; i++) {
        smp_free(list->items[i].path);
        smp_free(list->items[i].name);
    }
    smp_free(list->items);
    *list = all;
    return code;
}
