/* A plan on paper: the table and the JSON of `smempipe explain`. */
#include "commands/explain.h"
#include "lab/report/lab.h"
#include "report/json.h"
#include "report/report.h"
#include "report/text.h"

#include <string.h>

enum { STEP_COLUMNS = 40, TYPE_COLUMNS = 16, KEPT_COLUMNS = 7, SIZE_COLUMNS = 10, VARIANT_COLUMNS = 8, STEP_AT = 5 };
enum { TIME_COLUMNS = 20, TIMED_STEP_COLUMNS = STEP_COLUMNS - TIME_COLUMNS - 2 };

static int step_columns(const smp_explanation *e)
{
    return e->predicted ? TIMED_STEP_COLUMNS : STEP_COLUMNS;
}

static const char *output_path(const smp_explanation *e, const smp_sink *sink)
{
    return e->assumed && sink->save < 0 ? "(any format)" : sink->path;
}

/* A second line for what few steps have: another input than the step before, a second picture, reach. */
static void put_remarks(FILE *to, const smp_explanation *e, int index, const smp_paint *paint)
{
    const smp_plan *plan = e->plan;
    const smp_step *step = &plan->steps[index];
    char text[340] = "";
    size_t used = 0;
#define REMARK(...)                                                                                                    \
    do {                                                                                                               \
        if (used < sizeof text) {                                                                                      \
            int n_ = snprintf(text + used, sizeof text - used, __VA_ARGS__);                                           \
            used += n_ > 0 ? (size_t)n_ : 0;                                                                           \
        }                                                                                                              \
    } while (0)
    if (step->input >= 0 && step->input != index - 1)
        REMARK("; reads step %d", step->input);
    if (step->second >= 0)
        REMARK("; with step %d", step->second);
    if (step->reduced_by >= 0)
        REMARK("; uses what step %d found", step->reduced_by);
    if (step->whole_input && step->job != SMP_JOB_SOURCE)
        REMARK("; waits for its whole input");
    else {
        const smp_row_map *reads = &step->reads;
        if (reads->add)
            REMARK("; begins at row %lld of its input", (long long)reads->add);
        if (reads->den && reads->num != reads->den)
            REMARK("; makes %lld rows of %lld", (long long)reads->den, (long long)reads->num);
        if (reads->up == reads->down && reads->up > 0)
            REMARK("; reads %lld row%s above and below", (long long)reads->up, reads->up == 1 ? "" : "s");
        else if (reads->up || reads->down)
            REMARK("; reads %lld rows above and %lld below", (long long)reads->up, (long long)reads->down);
    }
    if (step->linear && step->out.curve > 0)
        REMARK("; linear light (the file's values ^ %.4g)", step->out.curve);
    else if (step->linear)
        REMARK("; linear light (of sRGB)");
    if (step->premultiplied)
        REMARK("; premultiplied");
#undef REMARK
    if (text[0])
        fprintf(to, "%*s%s%s%s\n", STEP_AT, "", paint->dim, text + 2, paint->off);
}

static int dimensions(const unsigned size[3])
{
    return size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
}

/* "4x2", "300". */
static const char *size_text(char *text, size_t size, const unsigned of[3])
{
    static const char *const forms[] = {"%u", "%ux%u", "%ux%ux%u"};
    snprintf(text, size, forms[dimensions(of) - 1], of[0], of[1], of[2]);
    return text;
}

/* Without a GPU kernels are compiled quickly and use other registers than a GPU would see (kernels/kernels.cmake). */
#ifdef SMP_HURRIED
#define HURRIED ", compiled in a hurry"
#else
#define HURRIED ""
#endif

/* Prints a launch's resources for a strip on a GPU, and what keeps more blocks from an SM. */
static void put_launch(FILE *to, const smp_cuda_launch_info *info, const smp_paint *paint)
{
    int64_t shared = info->static_shared + (int64_t)info->grid.shared_bytes;
    char text[500], grid[40], block[40], bytes[24];
    int used = 0;
#define SAY(...) used += used < (int)sizeof text ? snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__) : 0
    SAY("%s: grid %s, block %s", info->kernel, size_text(grid, sizeof grid, info->grid.grid),
        size_text(block, sizeof block, info->grid.block));
    if (info->registers)
        SAY(", %d registers", info->registers);
    if (info->compiled_for)
        SAY(" (sm_%d%s)", info->compiled_for, HURRIED);
    if (info->local_bytes)
        SAY(", %d bytes of local memory", info->local_bytes);
    smp_text_bytes(bytes, sizeof bytes, (double)shared);
    if (shared)
        SAY(", %s of shared memory", bytes);
    SAY(", %d block%s on an SM, occupancy %.0f%%, limited by %s", info->blocks_per_unit,
        info->blocks_per_unit == 1 ? "" : "s", 100 * info->occupancy, info->limit);
#undef SAY
    fprintf(to, "%*s%s", STEP_AT, "", paint->dim);
    smp_text_wrap(to, text, STEP_AT, STEP_AT + 2);
    fputs(paint->off, to);
}

static void put_launches(FILE *to, const smp_explanation *e, int index, const smp_paint *paint)
{
    const smp_explain_step *shown = &e->steps[index];
    if (!e->device->host_memory && shown->variant && !shown->launch_count)
        fprintf(to, "%*s%sthis variant has no kernel for GPUs%s\n", STEP_AT, "", paint->yellow, paint->off);
    for (int i = 0; i < shown->launch_count; i++)
        put_launch(to, &shown->launches[i], paint);
}

/* The variant, and the predicted time of a GPU's. */
static void put_variant(FILE *to, const smp_explanation *e, int index)
{
    const char *variant = e->steps[index].variant ? e->steps[index].variant : "-";
    const smp_compare_step *step = smp_explain_predicted(e, index);
    const smp_compare_predicted *p = step ? &step->variants[0].predicted : NULL;
    char text[64] = "-";
    if (!e->predicted || !e->predicted->predicted_gpu[0]) {
        fprintf(to, "%s\n", variant);
        return;
    }
    if (p && p->us > 0)
        snprintf(text, sizeof text, "%.3g (%.3g .. %.3g)", p->us, p->low_us, p->high_us);
    smp_text_column(to, variant, VARIANT_COLUMNS);
    fprintf(to, "  %s\n", text);
    if (p && !(p->us > 0) && p->why[0]) {
        fprintf(to, "%*s", STEP_AT, "");
        smp_text_clean(to, p->why);
        fputc('\n', to);
    } else if (p && strcmp(step->variants[0].name, variant) != 0)
        fprintf(to, "%*sthe time is that of the GPU's variant %s\n", STEP_AT, "", step->variants[0].name);
}

static void put_step(FILE *to, const smp_explanation *e, int index, const smp_paint *paint)
{
    const smp_step *step = &e->plan->steps[index];
    const smp_explain_step *shown = &e->steps[index];
    char type[64], kept[24] = "-", bytes[24] = "-";
    bool reduces = step->job == SMP_JOB_REDUCE;
    smp_shape_text(&step->out, step->out.format, type, sizeof type);
    if (step->frame)
        snprintf(kept, sizeof kept, "frame");
    else if (shown->rows)
        snprintf(kept, sizeof kept, "%lld", (long long)shown->rows);
    if (shown->bytes)
        smp_text_bytes(bytes, sizeof bytes, (double)shown->bytes);
    fprintf(to, "%3d  ", index);
    const int columns = step_columns(e);
    bool wide = (int)smp_text_columns(shown->text) > columns;
    if (wide) { /* a long statement has lines of its own */
        smp_text_wrap(to, shown->text, STEP_AT, STEP_AT + 2);
        fprintf(to, "%*s", STEP_AT, "");
    }
    smp_text_column(to, wide ? "" : shown->text, columns);
    fputs("  ", to);
    smp_text_column(to, reduces ? "(results)" : type, TYPE_COLUMNS);
    fprintf(to, "  %-4s  ", reduces ? "" : smp_format_name(step->storage));
    smp_text_column(to, kept, -KEPT_COLUMNS);
    fputs("  ", to);
    smp_text_column(to, bytes, -SIZE_COLUMNS);
    fputs("  ", to);
    put_variant(to, e, index);
    put_remarks(to, e, index, paint);
    put_launches(to, e, index, paint);
}

/* Explains the columns. */
static void put_legend(FILE *to, const smp_explanation *e, const smp_paint *paint)
{
    bool unknown = false;
    for (size_t i = 0; i < e->plan->step_count; i++)
        for (int k = 0; k < e->steps[i].launch_count; k++)
            unknown = unknown || !e->steps[i].launches[k].registers;
    fprintf(to, "\n%s", paint->dim);
    smp_text_wrap(
        to,
        "u8x3 640x480: samples u8, u16 or f32, 3 channels, 640 columns, 480 rows. as: how its samples are kept "
        "between steps. rows: of its output in memory at once (-: none, they are passed on; frame: all). Steps in "
        "parentheses are the planner's.",
        0, 0);
    if (unknown)
        smp_text_wrap(
            to, "Registers are not known here, so occupancy is what threads and shared memory allow; a GPU tells them.",
            0, 0);
    fprintf(to, "%s\n", paint->off);
}

/* The sum of the steps' times, and how far they are to be believed, or why there are none. */
static void put_predictions(FILE *to, const smp_explanation *e)
{
    const smp_compare *found = e->predicted;
    double us = 0, low = 0, high = 0;
    size_t known = 0, steps = 0;
    char text[SMP_LAB_ADVICE];
    for (size_t i = 0; i < e->plan->step_count; i++) {
        const smp_compare_step *step = smp_explain_predicted(e, (int)i);
        steps += step != NULL;
        if (!step || !(step->variants[0].predicted.us > 0))
            continue;
        known++;
        us += step->variants[0].predicted.us;
        low += step->variants[0].predicted.low_us;
        high += step->variants[0].predicted.high_us;
    }
    if (found->no_predictions[0]) {
        fputs("no predicted times: ", to);
        smp_text_wrap(to, found->no_predictions, 20, 2);
    }
    if (!known)
        return;
    smp_lab_time_error(found->predicted_gpu, text, sizeof text);
    fprintf(to, "%zu of %zu steps take about %.3g us (%.3g .. %.3g) on an %s, without copies to it and back\n", known,
            steps, us, low, high, found->predicted_title);
    smp_text_wrap(to, text, 0, 0);
}

void smp_explanation_table(FILE *to, const smp_explanation *e, bool color)
{
    const smp_plan *plan = e->plan;
    smp_paint paint = smp_paint_for(color);
    char type[64], size[24], most[24];
    smp_shape_text(&plan->steps[0].out, plan->steps[0].out.format, type, sizeof type);
    smp_text_clean(to, e->pipe);
    fputs(" on ", to);
    smp_text_clean(to, e->input);
    fprintf(to, " (%s)\n%s: %s\n\n%s  #  ", type, e->device->info.kind, e->device->info.name, paint.bold);
    smp_text_column(to, "step", step_columns(e));
    fprintf(to, "  %-*s  %-4s  %*s  %*s  ", TYPE_COLUMNS, "output", "as", KEPT_COLUMNS, "rows", SIZE_COLUMNS, "memory");
    if (e->predicted && e->predicted->predicted_gpu[0])
        fprintf(to, "%-*s  predicted %s us%s\n", VARIANT_COLUMNS, "variant", e->predicted->predicted_title, paint.off);
    else
        fprintf(to, "variant%s\n", paint.off);
    for (size_t i = 0; i < plan->step_count; i++) {
        if (plan->phases > 1 && (i == 0 || plan->steps[i].phase != plan->steps[i - 1].phase))
            fprintf(to, "%spass %d of %d%s\n", paint.dim, plan->steps[i].phase + 1, plan->phases, paint.off);
        put_step(to, e, (int)i, &paint);
    }
    put_legend(to, e, &paint);
    smp_report_drawn(to, plan->drawn);
    for (size_t i = 0; i < plan->sink_count; i++) {
        const smp_sink *sink = &plan->sinks[i];
        smp_shape_text(&sink->shape, sink->shape.format, type, sizeof type);
        fputs("writes ", to);
        smp_text_clean(to, output_path(e, sink));
        fprintf(to, ": %s, from step %d\n", type, sink->step);
    }
    smp_text_bytes(size, sizeof size, (double)e->stream_bytes);
    fprintf(to, "strips of up to %lld rows; %s of rows wait between codecs and steps\n", (long long)e->strip_rows,
            size);
    smp_text_bytes(size, sizeof size, (double)e->bytes);
    smp_text_bytes(most, sizeof most, (double)e->limit);
    fprintf(to, "memory about %s, codecs not counted (the limit is %s)\n", size, most);
    if (e->predicted)
        put_predictions(to, e);
}

static void size_json(smp_json *json, const char *name, const unsigned size[3])
{
    smp_json_array(json, name);
    for (int i = 0; i < 3; i++)
        smp_json_integer(json, NULL, size[i]);
    smp_json_end(json, ']');
}

/* Registers and static shared memory are left out where they are not known: in the emulator of a build without nvcc. */
static void launch_json(smp_json *json, const smp_cuda_launch_info *info)
{
    smp_json_object(json, NULL);
    smp_json_string(json, "kernel", info->kernel);
    size_json(json, "grid", info->grid.grid);
    size_json(json, "block", info->grid.block);
    if (info->registers) {
        smp_json_integer(json, "registers", info->registers);
        if (info->compiled_for)
            smp_json_integer(json, "compiled_for", info->compiled_for);
        SMP_JSON(json, ("local_bytes", info->local_bytes), ("static_shared_bytes", info->static_shared));
    }
    SMP_JSON(json, ("dynamic_shared_bytes", info->grid.shared_bytes), ("blocks_per_sm", info->blocks_per_unit),
             ("occupancy", info->occupancy), ("limited_by", info->limit));
    smp_json_end(json, '}');
}

static void step_json(smp_json *json, const smp_explanation *e, int index)
{
    const smp_step *step = &e->plan->steps[index];
    const smp_explain_step *shown = &e->steps[index];
    char type[64];
    SMP_JSON_OPEN(json, NULL, ("step", index), ("text", shown->text));
    smp_json_string(json, "stage", step->stage ? step->stage->name : NULL);
    if (step->part_count) {
        smp_json_array(json, "joins");
        for (size_t i = 0; i < step->part_count; i++)
            smp_json_string(json, NULL, step->parts[i].stage->name);
        smp_json_end(json, ']');
    }
    SMP_JSON(json,
             ("job", step->job == SMP_JOB_SOURCE   ? "source"
                     : step->job == SMP_JOB_REDUCE ? "reduce"
                                                   : "stage"),
             ("inserted", (bool)(step->stage && step->node == SMP_NODE_NONE)), ("pass", step->phase + 1));
    if (step->input >= 0)
        smp_json_integer(json, "reads", step->input);
    if (step->second >= 0)
        smp_json_integer(json, "by", step->second);
    if (step->reduced_by >= 0)
        smp_json_integer(json, "uses_results_of", step->reduced_by);
    smp_shape_text(&step->in, step->in.format, type, sizeof type);
    smp_json_string(json, "input_type", type);
    smp_shape_text(&step->out, step->out.format, type, sizeof type);
    SMP_JSON(json, ("output_type", type), ("stored_as", smp_format_name(step->storage)), ("frame", step->frame),
             ("waits_for_whole_input", step->whole_input), ("reach_up", step->reads.up),
             ("reach_down", step->reads.down), ("rows_num", step->reads.den ? step->reads.num : 1),
             ("rows_den", step->reads.den ? step->reads.den : 1), ("rows_add", step->reads.add),
             ("rows_kept", shown->rows), ("memory_bytes", shown->bytes), ("variant", shown->variant),
             ("linear_light", step->linear), ("premultiplied", step->premultiplied));
    const smp_compare_step *predicted = smp_explain_predicted(e, index);
    if (predicted)
        smp_compare_predicted_json(json, e->predicted, predicted, &predicted->variants[0]);
    if (!e->device->host_memory && step->stage) {
        smp_json_array(json, "launches");
        for (int i = 0; i < shown->launch_count; i++)
            launch_json(json, &shown->launches[i]);
        smp_json_end(json, ']');
    }
    smp_json_end(json, '}');
}

void smp_explanation_json(FILE *to, const smp_explanation *e)
{
    const smp_plan *plan = e->plan;
    smp_json writer, *json = &writer;
    char type[64];
    smp_json_begin(json, to, false);
    SMP_JSON_OPEN(json, NULL, ("pipeline", e->pipe), ("input", e->input), ("device", e->device->info.kind),
                  ("device_name", e->device->info.name));
    if (e->predicted && e->predicted->no_predictions[0])
        smp_json_string(json, "no_predictions", e->predicted->no_predictions);
    SMP_JSON(json, ("passes", plan->phases), ("strip_rows", e->strip_rows), ("stream_bytes", e->stream_bytes),
             ("thread_bytes", e->thread_bytes), ("memory_bytes", e->bytes));
    smp_json_array(json, "steps");
    for (size_t i = 0; i < plan->step_count; i++)
        step_json(json, e, (int)i);
    smp_json_end(json, ']');
    smp_report_drawn_json(json, plan->drawn);
    smp_json_array(json, "outputs");
    for (size_t i = 0; i < plan->sink_count; i++) {
        const smp_sink *sink = &plan->sinks[i];
        smp_json_object(json, NULL);
        smp_json_string(json, "path", e->assumed && sink->save < 0 ? NULL : sink->path);
        smp_shape_text(&sink->shape, sink->shape.format, type, sizeof type);
        SMP_JSON(json, ("type", type), ("from", sink->step));
        smp_json_end(json, '}');
    }
    smp_json_end(json, ']');
    smp_json_end(json, '}');
}
