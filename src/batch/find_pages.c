/* Pages of files as files of their own: see find_files.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "batch/find_files.h"
#include "io/format.h"
#include "io/media.h"

static bool may_have_pages(const char *name)
{
    const smp_file_format *format;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        if (smp_format_extension(format, dot + 1))
            return format->pages;
    return false;
}

static int64_t count_pages(const smp_found *file, const smp_read_options *how)
{
    smp_reader *reader;
    smp_error unread = {.code = SMP_OK};
    if (!file->regular || !may_have_pages(file->name) || smp_reader_open(file->path, how, &reader, &unread))
        return 1;
    const int64_t pages = smp_reader_media(reader)->pages;
    smp_reader_close(reader);
    return pages > 1 ? pages : 1;
}

/* "scans/a.tif" becomes "scans/a-03.tif". */
static char *page_name(const char *name, int64_t page, int64_t pages)
{
    const size_t stem = smp_stem(name);
    const int width = snprintf(NULL, 0, "%lld", (long long)pages);
    return smp_asprintf("%.*s-%0*lld%s", (int)stem, name, width, (long long)page, name + stem);
}

static smp_code add_pages(smp_found_list *to, const smp_found *file, int64_t pages, smp_error *err)
{
    smp_code code = SMP_OK;
    for (int64_t page = 1; !code && page <= pages; page++) {
        char *name = pages > 1 ? page_name(file->name, page, pages) : NULL;
        smp_found at = *file;
        if (pages > 1) {
            at.name = name;
            at.page = page;
        }
        code = at.name ? smp_found_add(to, &at, err) : smp_fail_memory(err, "the list of files", to->count);
        smp_free(name);
    }
    return code;
}

smp_code smp_found_pages(smp_found_list *list, const smp_read_options *how, smp_error *err)
{
    smp_found_list all = {.count = 0};
    smp_read_options first = *how;
    smp_code code = SMP_OK;
    first.page = 1;
    for (size_t i = 0; i < list->count && !code; i++) {
        const smp_found *file = smp_found_at(list, i);
        code = add_pages(&all, file, count_pages(file, &first), err);
    }
    all.left_out = list->left_out;
    list->left_out = (smp_left_out){0};
    smp_found_free(list);
    *list = all;
    return code;
}
