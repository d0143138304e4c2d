/* The comparison for programs: as JSON, every sample and everything needed to repeat it, which a page draws; as CSV, a
 * line for each variant. */
#include <math.h>

#include "base/version.h"
#include "lab/report/bank_map.h"
#include "lab/report/lab.h"
#include "report/compare/compare.h"
#include "report/json.h"
#include "report/page.h"
#include "report/report.h"
#include "report/text.h"

static double or_null(double value)
{
    return value > 0 ? value : NAN;
}

static const char *text_or_null(const char *text)
{
    return text && text[0] ? text : NULL;
}

/* ------------------------------------------------------------------------------------------------ JSON */

static void put_environment(smp_json *json, const smp_compare *compare)
{
    const smp_device_info *device = &compare->device;
    SMP_JSON_OPEN(json, "environment", ("version", SMP_VERSION), ("device", device->kind),
                  ("device_index", device->index), ("device_name", device->name),
                  ("device_note", text_or_null(compare->device_note)));
    smp_report_code_json(json, device);
    SMP_JSON(json, ("threads", compare->threads), ("host", text_or_null(compare->host)),
             ("driver", text_or_null(compare->driver)), ("toolkit", text_or_null(compare->toolkit)),
             ("sm_clock_mhz", or_null(compare->sm_clock)), ("memory_clock_mhz", or_null(compare->memory_clock)),
             ("samples_dropped_throttled", compare->dropped), ("cache_bytes", compare->cache_bytes),
             ("copy_gb_per_second", or_null(compare->copy_gbs)), ("copy_gb_per_second_q1", or_null(compare->copy_low)),
             ("copy_gb_per_second_q3", or_null(compare->copy_high)), ("peak_gb_per_second", or_null(device->peak_gbs)));
    char code[120];
    SMP_JSON(json, ("counts_for", text_or_null(compare->counter_device)),
             ("counts_of", text_or_null(smp_compare_code(compare, code, sizeof code))),
             ("counts_not_of_sass", text_or_null(compare->model_notes)));
    if (smp_compare_any_predicted(compare)) {
        char error[300];
        smp_lab_time_error(compare->predicted_gpu, error, sizeof error);
        SMP_JSON(json, ("predicted_for", compare->predicted_title),
                 ("predicted_copy_gb_per_second", compare->predicted_copy_gbs), ("predicted_error", error));
    }
    if (compare->no_predictions[0])
        smp_json_string(json, "no_predictions", compare->no_predictions);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++)
        if (compare->source_note[kind][0]) {
            char key[32];
            snprintf(key, sizeof key, "no_%s_counts", smp_count_kind_name((smp_count_kind)kind));
            smp_json_string(json, key, compare->source_note[kind]);
        }
    smp_json_end(json, '}');
}

static void put_shared(smp_json *json, const char *key, const smp_shared_count *count)
{
    SMP_JSON_OBJECT(json, key, ("instructions", count->instructions), ("wavefronts", count->wavefronts),
                    ("ideal", count->ideal), ("conflicts", (int64_t)(count->wavefronts - count->ideal)),
                    ("n_way", smp_compare_ways(count)));
}

static void put_counts(smp_json *json, const smp_compare_variant *variant)
{
    smp_json_object(json, "counts");
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const smp_compare_count *count = &variant->counts[kind];
        if (!count->known && !count->why[0])
            continue;
        smp_json_object(json, smp_count_kind_name((smp_count_kind)kind));
        smp_json_bool(json, "known", count->known);
        if (count->why[0])
            smp_json_string(json, "note", count->why);
        if (count->known) {
            put_shared(json, "total", &count->total);
            for (int op = 0; op < SMP_SHARED_OPS; op++)
                if (count->ops[op].instructions || count->ops[op].wavefronts)
                    put_shared(json, smp_shared_op_name((smp_shared_op)op), &count->ops[op]);
        }
        if (count->faults)
            smp_json_integer(json, "mistakes", (int64_t)count->faults);
        smp_json_end(json, '}');
    }
    smp_json_end(json, '}');
}

static void put_three(smp_json *json, const char *key, const unsigned size[3])
{
    double values[3] = {size[0], size[1], size[2]};
    smp_json_numbers(json, key, values, 3);
}

static void put_kernels(smp_json *json, const smp_compare_variant *variant)
{
    smp_json_array(json, "launches");
    for (size_t i = 0; i < variant->launch_count; i++) {
        const smp_compare_launch *launch = &variant->launches[i];
        smp_json_object(json, NULL);
        smp_json_string(json, "kernel", launch->kernel);
        put_three(json, "grid", launch->grid);
        put_three(json, "block", launch->block);
        smp_json_integer(json, "shared_bytes", (int64_t)launch->shared_bytes);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    smp_json_array(json, "sites");
    for (size_t i = 0; i < variant->site_count; i++) {
        const smp_compare_site *site = &variant->sites[i];
        SMP_JSON_OPEN(json, NULL, ("where", site->where), ("kernel", site->kernel),
                      ("operation", smp_shared_op_name(site->op)), ("width", site->width));
        put_shared(json, "total", &site->count);
        smp_bank_offsets_json(json, "example_offsets", &site->example);
        smp_bank_access_json(json, &site->example, NULL);
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
}

void smp_compare_predicted_json(smp_json *json, const smp_compare *compare, const smp_compare_step *step,
                                const smp_compare_variant *variant)
{
    const smp_compare_predicted *p = &variant->predicted;
    if (!(p->us > 0) && !p->why[0])
        return;
    smp_json_object(json, "predicted");
    smp_json_string(json, "gpu", compare->predicted_gpu);
    if (p->why[0])
        smp_json_string(json, "not_predicted", p->why);
    else {
        const double gbs = smp_compare_predicted_gbs(step, variant);
        SMP_JSON(json, ("us", p->us), ("low_us", p->low_us), ("high_us", p->high_us), ("bound", p->bound), ("gbs", gbs),
                 ("percent_of_copy", 100 * gbs / compare->predicted_copy_gbs),
                 ("times_naive", or_null(smp_compare_predicted_speedup(step, variant))));
        if (smp_compare_measured_us(compare, variant) > 0)
            smp_json_number(json, "percent_of_measured", 100 * p->us / smp_compare_measured_us(compare, variant));
    }
    smp_json_end(json, '}');
}

static void put_variant(smp_json *json, const smp_compare *compare, const smp_compare_step *step,
                        const smp_compare_variant *variant)
{
    static const char *const checks[] = {"not run", "right", "WRONG"};
    smp_json_object(json, NULL);
    smp_json_string(json, "variant", variant->name);
    if (variant->help)
        smp_json_string(json, "help", variant->help);
    smp_json_string(json, "check", checks[variant->check]);
    if (variant->left_out)
        smp_json_bool(json, "left_out", true);
    if (variant->wrong[0])
        smp_json_string(json, "wrong", variant->wrong);
    if (variant->same_as)
        smp_json_string(json, "same_as", variant->same_as);
    if (variant->why[0])
        smp_json_string(json, "note", variant->why);
    if (variant->sample_count) {
        SMP_JSON(json, ("median_seconds", variant->time.median), ("q1_seconds", variant->time.low),
                 ("q3_seconds", variant->time.high));
        smp_json_number(json, "median_from_seconds", variant->time.from); /* 95 % confidence */
        SMP_JSON(json, ("median_to_seconds", variant->time.to), ("gb_per_second", smp_compare_gbs(step, variant)),
                 ("of_copy", or_null(smp_compare_of_copy(compare, step, variant))),
                 ("of_peak", or_null(smp_compare_of_peak(compare, step, variant))),
                 ("speedup", or_null(smp_compare_speedup(step, variant))),
                 ("verdict", text_or_null(smp_verdict_name(variant->verdict))));
        smp_json_numbers(json, "samples_seconds", variant->samples, variant->sample_count);
    }
    smp_compare_predicted_json(json, compare, step, variant);
    put_counts(json, variant);
    if (variant->launch_count || variant->site_count)
        put_kernels(json, variant);
    smp_json_end(json, '}');
}

static void put_step(smp_json *json, const smp_compare *compare, const smp_compare_step *step)
{
    char crop[120];
    SMP_JSON_OPEN(json, NULL, ("number", step->number), ("step", step->label), ("stage", step->stage),
                  ("inserted", (bool)(step->node < 0)));
    if (step->line)
        smp_json_integer(json, "line", step->line);
    SMP_JSON(json, ("input", step->type_in), ("output", text_or_null(step->type_out)), ("bytes", step->bytes),
             ("pixels", step->pixels), ("operations", step->ops), ("fits_cache", step->fits_cache),
             ("few_samples", step->timed_out));
    if (smp_compare_enlarge(compare, step))
        SMP_JSON(json, ("waves_of_blocks", smp_compare_waves(compare, step)),
                 ("enlarge", smp_compare_enlarge(compare, step)));
    if (step->count_rows) {
        smp_json_object(json, "counted");
        smp_json_bool(json, "crop", smp_compare_crop(step, crop, sizeof crop)[0] != '\0');
        if (crop[0])
            smp_json_string(json, "what", crop);
        SMP_JSON(json, ("first_row", step->count_from), ("rows", step->count_rows), ("of_rows", step->height),
                 ("columns", step->count_columns), ("of_columns", step->width));
        smp_json_end(json, '}');
    }
    smp_json_array(json, "variants");
    for (size_t i = 0; i < step->variant_count; i++)
        put_variant(json, compare, step, &step->variants[i]);
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

static void put_comparison(smp_json *json, const smp_compare *compare)
{
    SMP_JSON_OPEN(json, NULL, ("pipeline", compare->pipe), ("input", compare->input),
                  ("input_type", compare->input_type), ("enlarged", compare->enlarged > 1 ? compare->enlarged : 1),
                  ("input_sha256", text_or_null(compare->input_hash)), ("repeat", compare->repeat),
                  ("time_limit_seconds", compare->time_limit), ("hot", compare->hot),
                  ("wall_seconds", compare->wall_seconds));
    put_environment(json, compare);
    smp_json_array(json, "steps");
    for (size_t i = 0; i < compare->step_count; i++)
        put_step(json, compare, &compare->steps[i]);
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}

void smp_compare_json(FILE *to, const smp_compare *compare)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    put_comparison(&json, compare);
}

void smp_compare_html(FILE *to, const smp_compare *compare)
{
    smp_json json;
    smp_page_begin(to, "compare", compare->pipe ? compare->pipe : compare->input ? compare->input : "");
    FILE *csv = smp_page_table(to);
    if (csv) { /* else browsers without scripts show nothing */
        smp_compare_csv(csv, compare);
        fclose(csv);
    }
    smp_page_data(to, "compare", &json);
    put_comparison(&json, compare);
    smp_page_end(to);
}

/* ------------------------------------------------------------------------------------------------ CSV */

static void put_value(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, ",%.9g", value);
    else
        fputc(',', to);
}

static void put_row(FILE *to, const smp_compare *compare, const smp_compare_step *step,
                    const smp_compare_variant *variant)
{
    static const char *const checks[] = {"", "right", "WRONG"};
    bool timed = variant->sample_count > 0;
    fprintf(to, "%d,", step->number);
    smp_text_csv(to, step->label);
    fprintf(to, ",%s,%s,%s,%zu", step->stage, variant->name, checks[variant->check], variant->sample_count);
    put_value(to, timed ? variant->time.median : NAN);
    put_value(to, timed ? variant->time.low : NAN);
    put_value(to, timed ? variant->time.high : NAN);
    put_value(to, or_null(smp_compare_gbs(step, variant)));
    put_value(to, or_null(smp_compare_of_copy(compare, step, variant)));
    put_value(to, or_null(smp_compare_of_peak(compare, step, variant)));
    put_value(to, or_null(smp_compare_speedup(step, variant)));
    fprintf(to, ",%s,%lld,%lld,%lld,%lld,%lld", smp_verdict_name(variant->verdict), (long long)step->count_from,
            (long long)step->count_rows, (long long)step->height, (long long)step->count_columns,
            (long long)step->width);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const smp_compare_count *count = &variant->counts[kind];
        const smp_shared_count *total = &count->total;
        put_value(to, count->known ? (double)total->instructions : NAN);
        put_value(to, count->known ? (double)total->wavefronts : NAN);
        put_value(to, count->known ? (double)total->ideal : NAN);
        put_value(to, count->known ? (double)(total->wavefronts - total->ideal) : NAN);
    }
    fputs("\r\n", to);
}

void smp_compare_csv(FILE *to, const smp_compare *compare)
{
    fputs("number,step,stage,variant,check,samples,median_s,q1_s,q3_s,gb_per_s,of_copy,of_peak,speedup,verdict,"
          "counted_from_row,counted_rows,rows,counted_columns,columns",
          to);
    for (int kind = 0; kind < SMP_COUNT_KINDS; kind++) {
        const char *name = smp_count_kind_name((smp_count_kind)kind);
        fprintf(to, ",%s_instructions,%s_wavefronts,%s_ideal,%s_conflicts", name, name, name, name);
    }
    fputs("\r\n", to);
    for (size_t i = 0; i < compare->step_count; i++)
        for (size_t k = 0; k < compare->steps[i].variant_count; k++)
            put_row(to, compare, &compare->steps[i], &compare->steps[i].variants[k]);
}
