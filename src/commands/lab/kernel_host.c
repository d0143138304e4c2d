/* Lines of the host's calls: a finding's place is the program and return addresses in it (lab/runtime/host.c). */
#include <stdlib.h>
#include <string.h>

#include "banks/trace.h"
#include "base/alloc.h"
#include "commands/lab/kernel.h"

/* "@PROGRAM 0x12 0x34" becomes the first file that has a line and is not the toolkit's; 0: none. */
static uint32_t find_line(char **place)
{
    char line[4096] = "", *program = *place + (**place == '@');
    char *rest = strstr(program, " 0x"), *found = NULL;
    uint32_t number = 0;
    if (rest)
        *rest++ = 0;
    while (rest && !number) {
        char *address = strsep(&rest, " "), *colon;
        if (!smp_trace_line(program, address, "-i", line, sizeof line) || !(colon = strrchr(line, ':')) ||
            strstr(line, "/cuda") || !strncmp(line, "/usr/", strlen("/usr/")))
            continue;
        *colon = 0;
        number = (uint32_t)strtoul(colon + 1, NULL, 10);
        found = number ? smp_strdup(line) : NULL;
    }
    smp_free(*place);
    *place = found ? found : smp_strdup("");
    return found ? number : 0;
}

void smp_kernel_find_host_lines(smp_warp_result *result)
{
    for (uint32_t file = 0; file < result->file_count && !result->grid[0]; file++) {
        const uint32_t line = find_line(&result->files[file]);
        for (size_t i = 0; i < result->finding_count; i++) {
            smp_warp_finding *f = &result->findings[i];
            if (f->here.line && f->here.file == file)
                f->here.line = line;
            if (f->other.line && f->other.file == file)
                f->other.line = line;
        }
    }
}
