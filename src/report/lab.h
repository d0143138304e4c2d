/* What kernels cost in the lab (warp/warp.h): a table with a row a source line, findings, JSON and CSV. */
#ifndef SMP_REPORT_LAB_H
#define SMP_REPORT_LAB_H

#include <stdio.h>

#include "report/json.h"
#include "warp/warp.h"

/* Source files by their paths, read when a line is shown. Zeroed to begin with. */
typedef struct smp_lab_sources {
    struct smp_lab_source *files;
    size_t count, capacity;
} smp_lab_sources;

/* The text of a line without its indentation; "" where the file is not there. */
const char *smp_lab_line(smp_lab_sources *sources, const char *path, uint32_t line);
void smp_lab_sources_free(smp_lab_sources *sources);

void smp_lab_table(FILE *to, const smp_warp_result *result, smp_lab_sources *sources, bool color);

/* One object with "kernels". code: what was executed ("ptx"). */
void smp_lab_json(FILE *to, const smp_warp_result *results, size_t count, const char *code, smp_lab_sources *sources);

void smp_lab_csv(FILE *to, const smp_warp_result *results, size_t count, smp_lab_sources *sources);

/* The file's name without folders. */
const char *smp_lab_file(const smp_warp_result *result, uint32_t file);

#endif
