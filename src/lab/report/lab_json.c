/* The lab's results as JSON, which a page draws, and CSV. */
#include <string.h>

#include "lab/report/bank_map.h"
#include "lab/report/lab.h"
#include "report/page.h"
#include "report/text.h"

static const char *const spaces[] = {"shared", "global", "local"};
static const char *const ops[] = {"load", "store", "atomic", "copy"};

smp_warp_space smp_lab_space_of(const char *name)
{
    return !strcmp(name, spaces[SMP_WARP_SHARED])  ? SMP_WARP_SHARED
           : !strcmp(name, spaces[SMP_WARP_LOCAL]) ? SMP_WARP_LOCAL
                                                   : SMP_WARP_GLOBAL;
}

const char *smp_lab_op_name(const smp_warp_row *row)
{
    return ops[row->op];
}

static void put_row(smp_json *json, const smp_lab_report *report, const smp_warp_result *r, const smp_warp_row *row)
{
    smp_bank_access access;
    SMP_JSON_OPEN(json, NULL, ("file", smp_lab_path(r, row->file)), ("line", row->line),
                  ("text", smp_lab_line(report->sources, smp_lab_path(r, row->file), row->line)),
                  ("space", spaces[row->space]), ("op", ops[row->op]), ("width", row->width));
    if (row->instruction[0])
        SMP_JSON(json, ("place", row->place), ("instruction", row->instruction),
                 ("executed", row->instructions + row->skipped));
    SMP_JSON(json, ("instructions", row->instructions), ("lanes", row->lanes));
    if (row->space == SMP_WARP_SHARED) {
        SMP_JSON(json, ("wavefronts", row->wavefronts), ("ideal", row->ideal), ("packed_ideal", row->packed),
                 ("conflicts", row->conflicts),
                 ("n_way", row->ideal ? (double)row->wavefronts / (double)row->ideal : 0),
                 ("array", row->array[0] ? row->array : NULL));
        if (smp_lab_access(row, report->live, &access)) {
            smp_bank_offsets_json(json, "worst_offsets", &access);
            smp_bank_access_json(json, &access, row->array);
        }
    } else {
        SMP_JSON(json, ("sectors", row->sectors), ("sectors_ideal", row->sectors_ideal));
    }
    if (row->space == SMP_WARP_LOCAL)
        SMP_JSON(json, ("spill", row->spill), ("bytes", row->lanes * row->width));
    smp_json_end(json, '}');
}

static void put_place(smp_json *json, const char *key, const smp_warp_result *r, const smp_warp_place *p)
{
    SMP_JSON_OBJECT(json, key, ("file", smp_lab_path(r, p->file)), ("line", p->line), ("thread", p->thread));
}

static void put_fit(smp_json *json, const smp_warp_fit *fit)
{
    SMP_JSON_OBJECT(json, "sm", ("arch", fit->arch), ("registers", fit->registers), ("blocks", fit->blocks),
                    ("occupancy", fit->occupancy), ("limit", fit->limit));
}

static void put_stack(smp_json *json, const smp_warp_stack *stack)
{
    SMP_JSON_OBJECT(json, "local_memory", ("bytes", stack->whole), ("spilled_bytes", stack->spilled),
                    ("spill_store_bytes", stack->stores), ("spill_load_bytes", stack->loads));
}

static void put_advice(smp_json *json, const smp_warp_result *r)
{
    char text[SMP_LAB_ADVICE];
    const smp_warp_row *row = smp_lab_dearest(r, ~0u);
    smp_json_array(json, "tips");
    for (size_t i = 0; i < r->array_count; i++)
        if (r->arrays[i].tip[0])
            SMP_JSON_OBJECT(json, NULL, ("array", r->arrays[i].name), ("tip", r->arrays[i].tip));
    smp_json_end(json, ']');
    if (!row)
        return;
    SMP_JSON_OPEN(json, "look_at", ("file", smp_lab_path(r, row->file)), ("line", row->line));
    smp_lab_verdict(row, text, sizeof text);
    SMP_JSON(json, ("what", text), ("advice", smp_lab_advice(r, row, text, sizeof text) ? text : NULL));
    smp_json_end(json, '}');
}

static void put_gpu(smp_json *json, const smp_lab_report *report)
{
    SMP_JSON_OBJECT(json, "gpu", ("same", report->gpu->same), ("differ", report->gpu->differ),
                    ("repeated", report->gpu->repeated), ("untold", report->gpu->untold),
                    ("kernels", report->gpu->kernels), ("left_out", report->gpu->left_out),
                    ("left_out_in_graphs", report->gpu->in_graphs), ("differences", report->gpu->differences));
}

static void put_findings(smp_json *json, const smp_warp_result *r)
{
    smp_json_array(json, "findings");
    for (size_t k = 0; k < r->finding_count; k++) {
        const smp_warp_finding *f = &r->findings[k];
        SMP_JSON_OPEN(json, NULL, ("kind", smp_warp_fault_name(f->fault)), ("text", f->text), ("count", f->count),
                      ("block", f->block));
        put_place(json, "at", r, &f->here);
        if (f->other.line) {
            put_place(json, "other", r, &f->other);
            smp_json_triple(json, "other_block", f->other_block);
        }
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

/* ------------------------------------------------------------------------------------------------ source lines */

enum { AROUND = 2 }; /* lines above and below one that accesses memory or has a predicted time */

static void look_near(uint32_t at, uint32_t line, bool *told, bool *more)
{
    *more = *more || (uint64_t)at + AROUND > line;
    *told = *told || ((uint64_t)line + AROUND >= at && line <= (uint64_t)at + AROUND);
}

/* Whether a line of the file is near one that accesses memory or has a predicted time, or is the place of a mistake.
 * *more: set where a later line is. */
static bool is_told(const smp_warp_result *r, uint32_t file, uint32_t line, bool *more)
{
    bool told = false;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].file == file && r->rows[i].line)
            look_near(r->rows[i].line, line, &told, more);
    for (size_t i = 0; r->predictions && i < r->predictions->count; i++)
        for (size_t k = 0; k < r->predictions->items[i].line_count; k++) {
            const smp_predicted_line *l = &r->predictions->items[i].lines[k];
            if (l->file == file && l->line)
                look_near(l->line, line, &told, more);
        }
    for (size_t i = 0; r->steps[SMP_WARP_LISTING].count && i < r->steps[SMP_WARP_LINES].count; i++)
        if (r->steps[SMP_WARP_LINES].items[i].file == file && r->steps[SMP_WARP_LINES].items[i].line)
            look_near(r->steps[SMP_WARP_LINES].items[i].line, line, &told, more);
    for (size_t i = 0; i < 2 * r->finding_count; i++) {
        const smp_warp_place *place = i % 2 ? &r->findings[i / 2].other : &r->findings[i / 2].here;
        if (place->file == file && place->line) {
            *more = *more || place->line > line;
            told = told || place->line == line;
        }
    }
    return told;
}

/* The lines that a page shows, by file and number. */
static void put_sources(smp_json *json, const smp_warp_result *r, smp_lab_sources *sources)
{
    char number[16];
    smp_json_object(json, "sources");
    for (uint32_t file = 0; file < r->file_count; file++) {
        bool more = false;
        (void)is_told(r, file, 0, &more);
        if (!more)
            continue;
        smp_json_object(json, smp_lab_path(r, file));
        const uint32_t last = smp_lab_line_count(sources, smp_lab_path(r, file));
        for (uint32_t line = 1; more && line <= last; line++) {
            more = false;
            const bool told = is_told(r, file, line, &more);
            snprintf(number, sizeof number, "%u", line);
            if (told)
                smp_json_string(json, number, smp_lab_text(sources, smp_lab_path(r, file), line));
        }
        smp_json_end(json, '}');
    }
    smp_json_end(json, '}');
}

static void put_kernel(smp_json *json, const smp_lab_report *report, size_t i)
{
    const smp_warp_result *r = &report->results[i];
    SMP_JSON_OPEN(json, NULL, ("kernel", r->kernel), ("symbol", r->symbol), ("code", r->code),
                  ("notes", r->notes[0] ? r->notes : NULL), ("differing_bytes", r->differing_bytes), ("grid", r->grid),
                  ("block", r->block), ("shared_bytes", (uint64_t)r->shared + r->dynamic_shared),
                  ("launches", r->launches), ("blocks", r->blocks), ("blocks_run", r->blocks_run),
                  ("warp_instructions", r->instructions), ("lane_instructions", r->lane_instructions));
    if (r->fit.arch)
        put_fit(json, &r->fit);
    if (r->stack.whole)
        put_stack(json, &r->stack);
    if (report->entries)
        SMP_JSON(json, ("source", report->entries[i].file), ("group", report->entries[i].group),
                 ("same", smp_lab_same_names[report->entries[i].same]),
                 ("difference", report->entries[i].difference[0] ? report->entries[i].difference : NULL));
    put_advice(json, r);
    smp_json_array(json, "rows");
    for (size_t k = 0; k < r->row_count; k++)
        put_row(json, report, r, &r->rows[k]);
    smp_json_end(json, ']');
    smp_lab_steps_json(json, r);
    put_sources(json, r, report->sources);
    put_findings(json, r);
    smp_json_string(json, "stopped", r->stopped ? r->error.message : NULL);
    smp_json_end(json, '}');
}

/* One object with "kernels". */
static void put_report(smp_json *json, const smp_lab_report *report)
{
    smp_json_object(json, NULL);
    smp_json_string(json, "code", report->code);
    if (report->gpu)
        put_gpu(json, report);
    smp_json_array(json, "kernels");
    for (size_t i = 0; i < report->count; i++)
        put_kernel(json, report, i);
    smp_json_end(json, ']');
    smp_lab_time_json(json, report);
    smp_json_end(json, '}');
}

void smp_lab_json(FILE *to, const smp_lab_report *report)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    put_report(&json, report);
}

void smp_lab_html(FILE *to, const smp_lab_report *report)
{
    smp_json json;
    smp_lab_report lines = *report;
    lines.entries = NULL; /* a row a source line, of compared kernels too */
    smp_page_begin(to, "kernel", report->count ? report->entries[0].file : "");
    smp_lab_time_plain(to, report);
    FILE *csv = smp_page_table(to);
    if (csv) { /* else browsers without scripts show nothing */
        smp_lab_csv(csv, &lines);
        fclose(csv);
    }
    smp_page_data(to, "kernel", &json);
    put_report(&json, report);
    smp_page_end(to);
}

/* ------------------------------------------------------------------------------------------------ CSV */

static void csv_kernels(FILE *to, const smp_lab_report *report)
{
    fputs("group,file,kernel,instructions,wavefronts,ideal,conflicts,sectors,sectors_ideal,registers,shared_bytes,"
          "blocks,occupancy,limit,same,findings\n",
          to);
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        const smp_lab_total t = smp_lab_total_of(r);
        fprintf(to, "%zu,", report->entries[i].group);
        smp_text_csv(to, report->entries[i].file);
        fputc(',', to);
        smp_text_csv(to, r->kernel);
        const uint64_t counts[] = {r->instructions, t.wavefronts, t.ideal, t.conflicts, t.sectors, t.sectors_ideal};
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
            fprintf(to, ",%llu", (unsigned long long)counts[n]);
        if (r->fit.arch)
            fprintf(to, ",%u,%u,%u,%.4g,%s", r->fit.registers, r->shared + r->dynamic_shared, r->fit.blocks,
                    r->fit.occupancy, r->fit.limit);
        else
            fprintf(to, ",,%u,,,", r->shared + r->dynamic_shared);
        fprintf(to, ",%s,%zu\n", smp_lab_same_names[report->entries[i].same], r->finding_count);
    }
}

void smp_lab_csv(FILE *to, const smp_lab_report *report)
{
    const smp_warp_result *const results = report->results;
    if (report->entries) {
        csv_kernels(to, report);
        return;
    }
    fputs("kernel,file,line,text,space,op,width,instructions,lanes,wavefronts,ideal,conflicts,sectors,sectors_ideal\n",
          to);
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < results[i].row_count; k++) {
            const smp_warp_result *r = &results[i];
            const smp_warp_row *row = &r->rows[k];
            smp_text_csv(to, r->kernel);
            fputc(',', to);
            smp_text_csv(to, smp_lab_path(r, row->file));
            fprintf(to, ",%u,", row->line);
            smp_text_csv(to, smp_lab_line(report->sources, smp_lab_path(r, row->file), row->line));
            fprintf(to, ",%s,%s,%u", spaces[row->space], ops[row->op], row->width);
            const uint64_t counts[] = {row->instructions, row->lanes,   row->wavefronts,   row->ideal,
                                       row->conflicts,    row->sectors, row->sectors_ideal};
            for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
                fprintf(to, ",%llu", (unsigned long long)counts[n]);
            fputc('\n', to);
        }
}
