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
        SMP_JSON_OPEN(json, NULL, ("place", l->place), ("instruction", l->text), ("file", smp_lab_path(r, l->file)),
                      ("line", l->line), ("share", l->share));
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
        SMP_JSON_OPEN(json, NULL, ("file", smp_lab_path(r, l->file)), ("line", l->line),
                      ("text", smp_lab_line(sources, smp_lab_path(r, l->file), l->line)));
        if (l->place != UINT32_MAX)
            smp_json_integer(json, "place", l->place);
        if (l->text[0])
            smp_json_string(json, "instruction", l->text);
        SMP_JSON(json, ("share", l->share), ("us", l->share * p->us));
        if (smp_lab_time_waits_for(l))
            SMP_JSON(json, ("waits_for_file", smp_lab_path(r, l->for_file)), ("waits_for_line", l->for_line));
        put_reasons(json, l->reasons, 0);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

static void put_memory(smp_json *json, const smp_predicted *p)
{
    SMP_JSON_OBJECT(json, "memory", ("dram_read_bytes", p->dram_read), ("dram_write_bytes", p->dram_write),
                    ("l2_read_bytes", p->l2_read), ("l2_write_bytes", p->l2_write), ("l1_read_bytes", p->l1_read),
                    ("l1_hit", p->l1_hit), ("l2_hit", p->l2_hit));
}

/* What the dearest rows of the table cost, by their advice where there is one. */
static void put_mends(smp_json *json, const smp_warp_result *r, const smp_predicted *p)
{
    if (p->mend_count)
        smp_json_array(json, "mended");
    for (size_t i = 0; i < p->mend_count; i++) {
        const smp_predicted_mend *m = &p->mends[i];
        const smp_warp_row row = {.space = (smp_warp_space)m->space, .op = (smp_warp_op)m->op};
        SMP_JSON_OBJECT(json, NULL, ("file", smp_lab_path(r, m->file)), ("line", m->line),
                        ("access", smp_lab_access_name(&row)), ("width", m->width), ("us_saved", m->us),
                        ("low_us_saved", m->us * p->low_us / p->us), ("high_us_saved", m->us * p->high_us / p->us),
                        ("differs", smp_lab_time_differs(p, m->us)));
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
        SMP_JSON_OBJECT(json, NULL, ("blocks", fit->blocks), ("warps", fit->blocks * smp_lab_warps(r)),
                        ("occupancy", p->occupancy * fit->blocks / p->resident), ("now", now),
                        ("limit", now && r->fit.arch ? r->fit.limit : NULL),
                        ("registers_at_most", now && r->fit.arch ? r->fit.registers : fit->registers),
                        ("shared_bytes_at_most", now ? r->shared + r->dynamic_shared : fit->shared), ("us", fit->us),
                        ("low_us", fit->us * p->low_us / p->us), ("high_us", fit->us * p->high_us / p->us),
                        ("differs", smp_lab_time_differs(p, p->us - fit->us)));
    }
    if (p->fit_count)
        smp_json_end(json, ']');
}

static void put_prediction(smp_json *json, const smp_warp_result *r, const smp_predicted *p, smp_lab_sources *sources)
{
    SMP_JSON_OPEN(json, "predicted", ("gpu", p->gpu), ("not_modelled", p->refusal[0] ? p->refusal : NULL));
    if (p->refusal[0]) {
        smp_json_end(json, '}');
        return;
    }
    SMP_JSON(json, ("cycles", p->cycles), ("us", p->us), ("low_us", p->low_us), ("high_us", p->high_us),
             ("clock_ghz", p->clock_ghz), ("left_out", p->left_out[0] ? p->left_out : NULL), ("bound", p->bound));
    smp_json_object(json, "use");
    for (int i = 0; i < SMP_TIME_RESOURCES; i++)
        smp_json_number(json, smp_time_resource_names[i], p->use[i]);
    smp_json_end(json, '}');
    SMP_JSON(json, ("launch_share", p->launch_share), ("blocks_on_an_sm", p->resident),
             ("blocks_simulated", p->simulated), ("occupancy", p->occupancy), ("waves", p->waves), ("tail", p->tail),
             ("imbalance", p->imbalance));
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
            SMP_JSON_OPEN(json, NULL, ("launch", r->predictions->items[k].order), ("index", i), ("kernel", r->kernel),
                          ("grid", r->grid), ("block", r->block));
            put_prediction(json, r, &r->predictions->items[k], report->sources);
            smp_json_end(json, '}');
        }
    }
    if (any)
        smp_json_end(json, ']');
}
