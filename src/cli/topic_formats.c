/* `smempipe help formats`: made from the table of file formats. */
#include "cli/topics.h"

#include <string.h>

#include "cli/cli.h"
#include "io/format.h"

enum { WIDTH = 100, EXTENSIONS = 39 /* columns: of a line, and in front of the extensions */ };

/* Libraries that are opened while the program runs are not on every machine. */
static bool is_here(const smp_file_format *format)
{
    smp_libraries_open(format->library);
    return (smp_libraries_opened() & format->library) == format->library;
}

static bool is_read(const smp_file_format *format)
{
    return format->sniff && is_here(format);
}

static bool is_written(const smp_file_format *format)
{
    return format->write_shape && is_here(format);
}

void smp_formats_brief(FILE *to)
{
    static const char *const uses[] = {"not here: ", "read only: ", "written only: ", "read and written: "};
    for (int use = 3; use >= 0; use--) {
        const char *before = uses[use];
        const smp_file_format *format;
        for (size_t i = 0; (format = smp_format_at(i)); i++)
            if ((is_read(format) ? 1 : 0) + (is_written(format) ? 2 : 0) == use) {
                fprintf(to, "%s%s", before, format->name);
                before = ", ";
            }
        if (before != uses[use])
            fputc('\n', to);
    }
}

static void put_table(FILE *to)
{
    fputs("Files are recognised by their content when read, and by the name's extension when written.\n\n", to);
    fprintf(to, "  %-13s  %-12s  %-7s  %s\n", "format", "", "holds", "extensions");
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++) {
        const bool read = is_read(format), written = is_written(format);
        const char *use = read && written ? "read, written" : read ? "read" : written ? "written" : "not here";
        const char *kind = format->kind == SMP_IMAGE ? "image" : format->kind == SMP_AUDIO ? "audio" : "both";
        int at = fprintf(to, "  %-13s  %-13s  %-6s ", format->name, use, kind);
        for (const char *const *extension = format->extensions; *extension; extension++) {
            if (at + 2 + (int)strlen(*extension) > WIDTH)
                at = fprintf(to, "\n%*s", EXTENSIONS, "") - 1;
            at += fprintf(to, " .%s", *extension);
        }
        fputc('\n', to);
    }
    fputc('\n', to);
}

void smp_topic_formats(FILE *to)
{
    put_table(to);
    smp_help_expand(to, (const char *)smp_topic_formats_text);
}
