/* Results as text: a program under the lab's runtime library writes them, `smempipe kernel` reads them. One record a
 * line, fields separated by tabs; a record's first letter says what it is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/predicted.h"
#include "lab/machine/warp.h"

enum { FIELDS = 80 };

void smp_result_put_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static void put_place(FILE *to, const smp_warp_place *p)
{
    fprintf(to, "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, p->file, p->line, p->thread[0],
            p->thread[1], p->thread[2]);
}

static void write_row(FILE *to, const smp_warp_row *w)
{
    fprintf(to, "R\t%" PRIu32 "\t%" PRIu32 "\t%d\t%d\t%" PRIu32, w->file, w->line, (int)w->space, (int)w->op, w->width);
    const uint64_t counts[] = {w->instructions, w->lanes,     w->wavefronts, w->ideal,
                               w->packed,       w->conflicts, w->sectors,    w->sectors_ideal};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        fprintf(to, "\t%" PRIu64, counts[k]);
    fprintf(to, "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%d", w->worst_wavefronts, w->worst_ideal, w->worst_active,
            (int)w->worst_op);
    for (int l = 0; l < SMP_WARP; l++)
        fprintf(to, "\t%" PRIu32, w->worst_offset[l]);
    fputc('\t', to);
    smp_result_put_text(to, w->array);
    fprintf(to, "\t%" PRIu64 "\t%" PRIu32 "\t", w->skipped, w->place);
    smp_result_put_text(to, w->instruction);
    fprintf(to, "\t%d\t%d\t%d\n", w->repeats, w->far, w->spill);
}

void smp_warp_result_write(FILE *to, const smp_warp_result *r)
{
    fputs("K\t", to);
    smp_result_put_text(to, r->kernel);
    fputc('\t', to);
    smp_result_put_text(to, r->symbol);
    for (int i = 0; i < 3; i++)
        fprintf(to, "\t%" PRIu32 "\t%" PRIu32, r->grid[i], r->block[i]);
    fprintf(to, "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.9g",
            r->shared, r->dynamic_shared, r->launches, r->blocks_run, r->blocks, r->instructions, r->lane_instructions,
            r->seconds);
    fprintf(to, "\t%s\t%" PRIu64 "\t%d\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\n", r->code,
            r->differing_bytes, r->unchecked, r->stack.whole, r->stack.spilled, r->stack.stores, r->stack.loads);
    for (const char *at = r->notes; *at;) {
        const size_t size = strcspn(at, "\n");
        fprintf(to, "N\t%.*s\n", (int)size, at);
        at += size + (at[size] == '\n');
    }
    for (size_t i = 0; i < r->file_count; i++) {
        fputs("F\t", to);
        smp_result_put_text(to, r->files[i]);
        fputc('\n', to);
    }
    for (size_t i = 0; i < r->row_count; i++)
        write_row(to, &r->rows[i]);
    for (size_t i = 0; i < r->finding_count; i++) {
        const smp_warp_finding *f = &r->findings[i];
        fprintf(to, "X\t%d\t%" PRIu64, (int)f->fault, f->count);
        for (int k = 0; k < 3; k++)
            fprintf(to, "\t%" PRIu32 "\t%" PRIu32, f->block[k], f->other_block[k]);
        put_place(to, &f->here);
        put_place(to, &f->other);
        fputc('\t', to);
        smp_result_put_text(to, f->text);
        fputc('\n', to);
    }
    smp_warp_steps_write(to, r);
    if (r->predictions)
        smp_predictions_write(to, r->predictions);
    if (r->stopped || r->error.code) {
        fprintf(to, "S\t%d\t", (int)r->error.code);
        smp_result_put_text(to, r->error.message);
        fputc('\t', to);
        smp_result_put_text(to, r->error.where);
        fputc('\t', to);
        smp_result_put_text(to, r->error.hint);
        fputc('\n', to);
    }
    fputs("E\n", to);
    fflush(to);
}

/* ------------------------------------------------------------------------------------------------ reading */

static int split(char *line, char **fields)
{
    int count = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && count < FIELDS;) {
        fields[count++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    return count;
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static uint32_t small(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static bool read_head(char **f, smp_warp_result *r)
{
    r->kernel = smp_strdup(f[1]);
    r->symbol = smp_strdup(f[2]);
    for (int i = 0; i < 3; i++) {
        r->grid[i] = small(f[3 + 2 * i]);
        r->block[i] = small(f[4 + 2 * i]);
    }
    r->shared = small(f[9]);
    r->dynamic_shared = small(f[10]);
    r->launches = number(f[11]);
    r->blocks_run = number(f[12]);
    r->blocks = number(f[13]);
    r->instructions = number(f[14]);
    r->lane_instructions = number(f[15]);
    r->seconds = strtod(f[16], NULL);
    snprintf(r->code, sizeof r->code, "%s", f[17]);
    r->differing_bytes = number(f[18]);
    r->unchecked = small(f[19]);
    r->stack = (smp_warp_stack){small(f[20]), small(f[21]), small(f[22]), small(f[23])};
    return r->kernel && r->symbol;
}

static void read_row(char **f, smp_warp_row *w)
{
    *w = (smp_warp_row){.file = small(f[1]), .line = small(f[2]), .width = small(f[5])};
    w->space = (smp_warp_space)(small(f[3]) % (SMP_WARP_LOCAL + 1));
    w->op = (smp_warp_op)(small(f[4]) % (SMP_WARP_COPY + 1));
    uint64_t *const counts[] = {&w->instructions, &w->lanes,     &w->wavefronts, &w->ideal,
                                &w->packed,       &w->conflicts, &w->sectors,    &w->sectors_ideal};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        *counts[k] = number(f[6 + k]);
    w->worst_wavefronts = small(f[14]);
    w->worst_ideal = small(f[15]);
    w->worst_active = small(f[16]);
    w->worst_op = (smp_bank_op)(small(f[17]) % (SMP_BANK_ASYNC_L2 + 1));
    for (int l = 0; l < SMP_WARP; l++)
        w->worst_offset[l] = small(f[18 + l]);
    snprintf(w->array, sizeof w->array, "%s", f[18 + SMP_WARP]);
    w->skipped = number(f[19 + SMP_WARP]);
    w->place = small(f[20 + SMP_WARP]);
    snprintf(w->instruction, sizeof w->instruction, "%s", f[21 + SMP_WARP]);
    w->repeats = small(f[22 + SMP_WARP]);
    w->far = small(f[23 + SMP_WARP]);
    w->spill = small(f[24 + SMP_WARP]);
}

static void read_place(char **f, smp_warp_place *p)
{
    *p = (smp_warp_place){small(f[0]), small(f[1]), {small(f[2]), small(f[3]), small(f[4])}};
}

static void read_finding(char **f, smp_warp_finding *x)
{
    *x = (smp_warp_finding){.count = number(f[2]),
                            .block = {small(f[3]), small(f[5]), small(f[7])},
                            .other_block = {small(f[4]), small(f[6]), small(f[8])}};
    x->fault = (smp_warp_fault)(small(f[1]) % (SMP_WARP_LEAK + 1));
    read_place(f + 9, &x->here);
    read_place(f + 14, &x->other);
    snprintf(x->text, sizeof x->text, "%s", f[19]);
}

static bool read_prediction(char **f, int count, smp_warp_result *r)
{
    r->predictions = r->predictions ? r->predictions : smp_alloc(sizeof *r->predictions);
    return r->predictions && smp_predictions_read(f, count, r->predictions);
}

static smp_code read_lines(FILE *from, char **line, smp_warp_result *r, bool *end, smp_error *err)
{
    enum { HEAD = 24, ROW = 25 + SMP_WARP, NOTE = 2, FINDING = 20, STOP = 5 };
    char *f[FIELDS];
    size_t line_size = 0, row_capacity = 0, finding_capacity = 0, file_capacity = 0;
    bool begun = false;
    memset(r, 0, sizeof *r);
    *end = false;
    while (getline(line, &line_size, from) > 0) {
        const int count = split(*line, f);
        if (f[0][0] == 'E')
            return SMP_OK;
        if (f[0][0] == 'K' && count == HEAD && !begun) {
            if (!read_head(f, r))
                return smp_fail_memory(err, "a result", line_size);
            begun = true;
        } else if (f[0][0] == 'N' && count == NOTE && begun) {
            smp_warp_note(r, "%s", f[1]);
        } else if (f[0][0] == 'F' && count == 2 && begun) {
            if (!smp_grow(&r->files, &file_capacity, r->file_count + 1, sizeof *r->files) ||
                !(r->files[r->file_count] = smp_strdup(f[1])))
                return smp_fail_memory(err, "a result", line_size);
            r->file_count++;
        } else if (f[0][0] == 'R' && count == ROW && begun) {
            if (!smp_grow(&r->rows, &row_capacity, r->row_count + 1, sizeof *r->rows))
                return smp_fail_memory(err, "a result", line_size);
            read_row(f, &r->rows[r->row_count++]);
        } else if (f[0][0] == 'X' && count == FINDING && begun) {
            if (!smp_grow(&r->findings, &finding_capacity, r->finding_count + 1, sizeof *r->findings))
                return smp_fail_memory(err, "a result", line_size);
            read_finding(f, &r->findings[r->finding_count++]);
        } else if (f[0][0] == 'S' && count == STOP && begun) {
            r->stopped = true;
            r->error.code = (smp_code)(small(f[1]) % (SMP_E_TERMINATED + 1));
            snprintf(r->error.message, sizeof r->error.message, "%s", f[2]);
            snprintf(r->error.where, sizeof r->error.where, "%s", f[3]);
            snprintf(r->error.hint, sizeof r->error.hint, "%s", f[4]);
        } else if (f[0][0] == 'O' && begun && smp_warp_steps_read(f, count, r)) {
            continue;
        } else if (begun && strchr("TUVLIWMQ", f[0][0]) && !f[0][1] && read_prediction(f, count, r)) {
            continue;
        } else
            return smp_fail(err, SMP_E_PROCESS, "the results that the program left cannot be read");
    }
    *end = true;
    return begun ? smp_fail(err, SMP_E_PROCESS, "the program ended in the middle of a result") : SMP_OK;
}

smp_code smp_warp_result_read(FILE *from, smp_warp_result *r, bool *end, smp_error *err)
{
    char *line = NULL;
    const smp_code code = read_lines(from, &line, r, end, err);
    free(line); /* of getline() */
    return code;
}
