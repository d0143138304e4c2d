/* Predicted times as JSON. */
#include "lab/report/lab.h"

static void put_reasons(smp_json *json, const double *reasons, double least)
{
    smp_json_object(json, "stalls");
    for (int i = 0; i < SMP_TIME_REASONS; i++)
        if (reasons[i] >= least)
            smp_json_number(json, smp_time_reason_names[i], reasons[i]);
    smp_json_end(json, '}');
}

/* Puts SASS, in its order: a program has thousands of instructions, so that rare reasons are left out. */
static void put_instructions(smp_json *json, const smp_warp_result *r, const smp_predicted *p)
{
    const double least = 0.005;
    if (!p->instruction_count)
        return;
    smp_json_array(json, "instructions");
    for (size_t i = 0; i < p->instruction_count; i++) {
        const smp_predicted_line *l = &p->instructions[i];
        smp_json_object(json, NULL);
        smp_json_integer(json, "place", l->place);
        smp_json_string(json, "instruction", l->text);
        smp_json_string(json, "file", smp_lab_path(r, l->file));
        smp_json_integer(json, "line", l->line);
        smp_json_number(json, "share", l->share);
        put_reasons(json, l->reasons, least);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void put_lines(smp_json *json, const smp_warp_result *r, const smp_predicted *p, smp_lab_sources *sources)
{
    smp_json_array(json, "lines");
    for (size_t i = 0; i < p->line_count; i++) {
        const smp_predicted_line *l = &p->lines[i];
        smp_json_object(json, NULL);
        smp_json_string(json, "file", smp_lab_path(r, l->file));
        smp_json_integer(json, "line", l->line);
        smp_json_string(json, "text", smp_lab_line(sources, smp_lab_path(r, l->file), l->line));
        if (l->place != UINT32_MAX)
            smp_json_integer(json, "place", l->place);
        if (l->text[0])
            smp_json_string(json, "instruction", l->text);
        smp_json_number(json, "share", l->share);
        smp_json_number(json, "us", l->share * p->us);
        put_reasons(json, l->reasons, 0);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void put_memory(smp_json *json, const smp_predicted *p)
{
    smp_json_object(json, "memory");
    smp_json_number(json, "dram_read_bytes", p->dram_read);
    smp_json_number(json, "dram_write_bytes", p->dram_write);
    smp_json_number(json, "l2_read_bytes", p->l2_read);
    smp_json_number(json, "l2_write_bytes", p->l2_write);
    smp_json_number(json, "l1_read_bytes", p->l1_read);
    smp_json_number(json, "l1_hit", p->l1_hit);
    smp_json_number(json, "l2_hit", p->l2_hit);
    smp_json_end(json, '}');
}

/* What the dearest rows of the table cost, by their advice where there is one. */
static void put_mends(smp_json *json, const smp_warp_result *r, const smp_predicted *p)
{
    if (p->mend_count)
        smp_json_array(json, "mended");
    for (size_t i = 0; i < p->mend_count; i++) {
        const smp_predicted_mend *m = &p->mends[i];
        const smp_warp_row row = {.space = (smp_warp_space)m->space, .op = (smp_warp_op)m->op};
        smp_json_object(json, NULL);
        smp_json_string(json, "file", smp_lab_path(r, m->file));
        smp_json_integer(json, "line", m->line);
        smp_json_string(json, "access", smp_lab_access_name(&row));
        smp_json_integer(json, "width", m->width);
        smp_json_number(json, "us_saved", m->us);
        smp_json_number(json, "low_us_saved", m->us * p->low_us / p->us);
        smp_json_number(json, "high_us_saved", m->us * p->high_us / p->us);
        smp_json_bool(json, "differs", smp_lab_time_differs(p, m->us));
        smp_json_end(json, '}');
    }
    if (p->mend_count)
        smp_json_end(json, ']');
}

static void put_fits(smp_json *json, const smp_warp_result *r, const smp_predicted *p)
{
    if (p->fit_count)
        smp_json_array(json, "occupancies");
    for (size_t i = 0; i < p->fit_count; i++) {
        const smp_predicted_fit *fit = &p->fits[i];
        const bool now = fit->blocks == p->resident;
        smp_json_object(json, NULL);
        smp_json_integer(json, "blocks", fit->blocks);
        smp_json_integer(json, "warps", fit->blocks * smp_lab_warps(r));
        smp_json_number(json, "occupancy", p->occupancy * fit->blocks / p->resident);
        smp_json_bool(json, "now", now);
        smp_json_string(json, "limit", now && r->fit.arch ? r->fit.limit : NULL);
        smp_json_integer(json, "registers_at_most", now && r->fit.arch ? r->fit.registers : fit->registers);
        smp_json_integer(json, "shared_bytes_at_most", now ? r->shared + r->dynamic_shared : fit->shared);
        smp_json_number(json, "us", fit->us);
        smp_json_number(json, "low_us", fit->us * p->low_us / p->us);
        smp_json_number(json, "high_us", fit->us * p->high_us / p->us);
        smp_json_bool(json, "differs", smp_lab_time_differs(p, p->us - fit->us));
        smp_json_end(json, '}');
    }
    if (p->fit_count)
        smp_json_end(json, ']');
}

static void put_prediction(smp_json *json, const smp_warp_result *r, const smp_predicted *p, smp_lab_sources *sources)
{
    smp_json_object(json, "predicted");
    smp_json_string(json, "gpu", p->gpu);
    smp_json_string(json, "not_modelled", p->refusal[0] ? p->refusal : NULL);
    if (p->refusal[0]) {
        smp_json_end(json, '}');
        return;
    }
    smp_json_number(json, "cycles", p->cycles);
    smp_json_number(json, "us", p->us);
    smp_json_number(json, "low_us", p->low_us);
    smp_json_number(json, "high_us", p->high_us);
    smp_json_number(json, "clock_ghz", p->clock_ghz);
    smp_json_string(json, "bound", p->bound);
    smp_json_object(json, "use");
    for (int i = 0; i < SMP_TIME_RESOURCES; i++)
        smp_json_number(json, smp_time_resource_names[i], p->use[i]);
    smp_json_end(json, '}');
    smp_json_number(json, "launch_share", p->launch_share);
    smp_json_integer(json, "blocks_on_an_sm", p->resident);
    smp_json_integer(json, "blocks_simulated", p->simulated);
    smp_json_number(json, "occupancy", p->occupancy);
    smp_json_number(json, "waves", p->waves);
    smp_json_number(json, "tail", p->tail);
    smp_json_number(json, "imbalance", p->imbalance);
    put_memory(json, p);
    put_reasons(json, p->reasons, 0);
    put_lines(json, r, p, sources);
    put_instructions(json, r, p);
    put_mends(json, r, p);
    put_fits(json, r, p);
    if (p->price_count) {
        smp_json_object(json, "what_if_us_saved");
        for (size_t i = 0; i < p->price_count; i++)
            smp_json_number(json, p->prices[i].what, p->prices[i].us);
        smp_json_end(json, '}');
    }
    smp_json_end(json, '}');
}

void smp_lab_time_json(smp_json *json, const smp_lab_report *report)
{
    bool any = false;
    smp_lab_time_model_json(json, report);
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        for (size_t k = 0; r->predictions && k < r->predictions->count; k++) {
            if (!any)
                smp_json_array(json, "launches");
            any = true;
            smp_json_object(json, NULL);
            smp_json_integer(json, "launch", r->predictions->items[k].order);
            smp_json_integer(json, "index", (int64_t)i);
            smp_json_string(json, "kernel", r->kernel);
            smp_json_triple(json, "grid", r->grid);
            smp_json_triple(json, "block", r->block);
            put_prediction(json, r, &r->predictions->items[k], report->sources);
            smp_json_end(json, '}');
        }
    }
    if (any)
        smp_json_end(json, ']');
}
