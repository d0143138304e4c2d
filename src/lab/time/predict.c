/* The time of a launch from its record. */
#include "lab/time/time.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/time/record.h"

enum { MOST_BLOCKS = 400 }; /* that are simulated */

static smp_code open_sm(time_sm *sm, const smp_time_gpu *gpu, const time_code *code, const time_trace *trace,
                        const time_free *free, double deadline, smp_error *err)
{
    uint32_t l1_bytes;
    *sm = (time_sm){.gpu = gpu, .code = code, .trace = trace, .deadline = deadline};
    const uint64_t sms = (uint64_t)gpu->sms;
    if (free)
        sm->free = *free;
    sm->resident = time_resident(trace, gpu, &l1_bytes);
    if (sm->free.resident)
        sm->resident = sm->free.resident;
    sm->per_sm = (trace->blocks - trace->sm + sms - 1) / sms;
    sm->active_sms = (uint32_t)(trace->blocks < sms ? trace->blocks : sms);
    sm->simulated = trace->kept < MOST_BLOCKS ? trace->kept : MOST_BLOCKS;
    sm->simulated = sm->simulated < sm->per_sm ? sm->simulated : sm->per_sm;
    if (sm->simulated < sm->per_sm && sm->simulated > sm->resident) /* whole waves */
        sm->simulated -= sm->simulated % sm->resident;
    return time_sm_open(sm, err);
}

/* ------------------------------------------------------------------------------------------------ what is told */

static void set_use(const time_sm *sm, double active, smp_predicted *out)
{
    const double times = sm->times / active / TIME_TICK, parts = TIME_PARTS;
    const time_ticks *busy = sm->busy;
    out->use[SMP_TIME_ISSUE] = (double)sm->issued * TIME_TICK / parts * times;
    out->use[SMP_TIME_FMA_PIPE] = (double)(busy[TIME_FMA] + busy[TIME_HEAVY]) / (parts * sm->gpu->fma_halves) * times;
    out->use[SMP_TIME_HEAVY_PIPE] = (double)busy[TIME_HEAVY] / parts * times;
    out->use[SMP_TIME_ALU_PIPE] = (double)busy[TIME_ALU] / parts * times;
    out->use[SMP_TIME_FP64_PIPE] = (double)busy[TIME_FP64] / parts * times;
    out->use[SMP_TIME_SPECIAL_PIPE] = (double)busy[TIME_SPECIAL] / parts * times;
    out->use[SMP_TIME_TENSOR_PIPE] = (double)busy[TIME_TENSOR] / parts * times;
    out->use[SMP_TIME_SHARED_MEMORY] = (double)sm->wavefronts * times;
    out->use[SMP_TIME_L2] = (double)sm->beyond.l2_busy * times;
    out->use[SMP_TIME_DRAM] =
        (sm->beyond.dram_read + sm->beyond.dram_write) / sm->beyond.dram_bytes * TIME_TICK * times;
    out->use[SMP_TIME_ATOMICS] = (double)sm->beyond.most_served * times;
    out->use[SMP_TIME_CONSTANTS] = (double)sm->constants_apart * times;
    out->use[SMP_TIME_BLOCKS] = (double)sm->interval * (double)sm->per_sm / active / TIME_TICK;
}

/* What bounds a launch: a resource, or one of these. */
enum { BY_LAUNCH = SMP_TIME_RESOURCES, BY_TAIL, BY_LATENCY };

static int bound_of(const smp_predicted *out)
{
    const double enough = 0.6, half = 0.5, third = 1.0 / 3;
    int busiest = 0;
    for (int i = 1; i < SMP_TIME_RESOURCES; i++)
        busiest = out->use[i] > out->use[busiest] ? i : busiest;
    return out->launch_share > half      ? BY_LAUNCH
           : out->use[busiest] >= enough ? busiest
           : out->tail > third           ? BY_TAIL
                                         : BY_LATENCY;
}

static void set_bound(const time_sm *sm, smp_predicted *out)
{
    static const char *const others[] = {"launch", "tail", "latency"};
    /* Within these factors of the prediction lie nine of ten measured times, by what bounds them. */
    static const struct {
        const char *bound;
        double low, high;
    } intervals[] = {
#define TIME_INTERVAL(bound, low, high) {bound, low, high},
#define TIME_ERROR(median, most, inside)
#include "lab/time/errors.def"
#undef TIME_INTERVAL
#undef TIME_ERROR
    };
    const double few_blocks = 1.3; /* at least, where an SM has one at most: nothing hides what it waits for */
    const int bound = bound_of(out);
    size_t row = 0;
    snprintf(out->bound, sizeof out->bound, "%s",
             bound < SMP_TIME_RESOURCES ? smp_time_resource_names[bound] : others[bound - BY_LAUNCH]);
    while (intervals[row].bound[0] && strcmp(intervals[row].bound, out->bound) != 0)
        row++;
    const double times = sm->gpu->measured ? 1 : 2, low = intervals[row].low, most = intervals[row].high,
                 high = sm->per_sm == 1 && most < few_blocks ? few_blocks : most;
    out->low_us = out->us / (1 + times * (1 / low - 1));
    out->high_us = out->us * (1 + times * (high - 1));
}

static void set_memory(const time_sm *sm, const time_trace *trace, smp_predicted *out)
{
    enum { SECTOR = 32 };
    const time_beyond *b = &sm->beyond;
    const double times = sm->times * (double)trace->blocks / (double)sm->per_sm;
    out->dram_read = b->dram_read * times;
    out->dram_write = b->dram_write * times;
    out->l2_read = (double)b->read_sectors * SECTOR * times;
    out->l2_write = (double)b->write_sectors * SECTOR * times;
    out->l1_read = (double)sm->l1_sectors * SECTOR * times;
    out->l1_hit = sm->l1_sectors ? (double)sm->l1_hits / (double)sm->l1_sectors : 0;
    out->l2_hit = out->l2_read > out->dram_read ? 1 - out->dram_read / out->l2_read : 0;
}

static int by_place(const void *a, const void *b)
{
    const smp_predicted_line *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Makes what each source line or instruction takes of the warps' time, and why. */
static smp_code make_lines(const time_sm *sm, bool each, smp_predicted_line **lines, size_t *line_count, smp_error *err)
{
    double all = 0;
    size_t count = 0, kept = 0;
    smp_predicted_line *const out = smp_alloc_array(sm->code->count + 1, sizeof *out);
    SMP_NEED(out, "lines", sm->code->count * sizeof *out, err);
    for (int k = 0; k < SMP_TIME_REASONS; k++)
        all += sm->stalls[k];
    for (size_t i = 0; i < sm->code->count; i++) {
        const warp_inst *inst = &sm->code->code->insts[i];
        smp_predicted_line line = {.file = inst->file, .line = inst->line, .place = each ? (uint32_t)i : UINT32_MAX};
        for (int k = 0; k < SMP_TIME_REASONS; k++) {
            line.reasons[k] = sm->inst_stalls[i][k];
            line.share += line.reasons[k];
        }
        if (sm->drained[i]) {
            line.for_file = sm->code->code->insts[sm->drained[i] - 1].file;
            line.for_line = sm->code->code->insts[sm->drained[i] - 1].line;
        }
        if (each && inst->text)
            snprintf(line.text, sizeof line.text, "%.*s", (int)inst->text_size, inst->text);
        if (line.share > 0)
            out[count++] = line;
    }
    qsort(out, count, sizeof *out, by_place);
    for (size_t i = 0; i < count; i++) {
        smp_predicted_line *line = &out[i], *last = kept ? &out[kept - 1] : NULL;
        if (!last || by_place(last, line)) {
            out[kept++] = *line;
            continue;
        }
        last->share += line->share;
        if (line->for_line) {
            last->for_file = line->for_file;
            last->for_line = line->for_line;
        }
        for (int k = 0; k < SMP_TIME_REASONS; k++)
            last->reasons[k] += line->reasons[k];
    }
    for (size_t i = 0; i < kept; i++) {
        for (int k = 0; k < SMP_TIME_REASONS; k++)
            out[i].reasons[k] /= out[i].share;
        out[i].share /= all;
    }
    *lines = out;
    *line_count = kept;
    return SMP_OK;
}

static smp_code set_lines(const time_sm *sm, const smp_time_wish *wish, smp_predicted *out, smp_error *err)
{
    double all = 0;
    for (int k = 0; k < SMP_TIME_REASONS; k++)
        all += sm->stalls[k];
    for (int k = 0; k < SMP_TIME_REASONS && all > 0; k++)
        out->reasons[k] = sm->stalls[k] / all;
    SMP_TRY(make_lines(sm, wish->each, &out->lines, &out->line_count, err));
    if (wish->listing)
        SMP_TRY(make_lines(sm, true, &out->instructions, &out->instruction_count, err));
    return SMP_OK;
}

static void set_launch(const time_sm *sm, double active, smp_predicted *out)
{
    const smp_time_gpu *gpu = sm->gpu;
    const time_trace *t = sm->trace;
    const bool uses_memory = sm->beyond.read_sectors || sm->beyond.write_sectors;
    const double spread = gpu->block_rate * sm->active_sms, memory = uses_memory ? gpu->launch_memory : 0,
                 launch = sm->free.launch ? 0 : gpu->launch + spread + memory, wave = gpu->sms * sm->resident,
                 waves = (double)t->blocks / wave, whole = (double)(uint64_t)waves;
    out->cycles = active + launch;
    out->clock_ghz = gpu->clock_ghz;
    out->us = out->cycles / gpu->clock_ghz / 1000;
    out->launch_share = launch / out->cycles;
    out->waves = waves;
    out->tail = waves > whole && waves > 1 ? (1 - (waves - whole)) / (whole + 1) : 0;
    out->resident = sm->resident;
    out->simulated = (uint32_t)sm->simulated;
    out->occupancy = sm->resident * t->warps / gpu->most_warps;
    out->occupancy = out->occupancy < 1 ? out->occupancy : 1;
    snprintf(out->gpu, sizeof out->gpu, "%s", gpu->name);
}

/* Cycles in which SMs work. */
static smp_code run(time_sm *sm, double *active, double *imbalance, smp_error *err)
{
    time_sm_run(sm);
    if (sm->late)
        return smp_fail(err, SMP_E_LIMIT, "its time was not found within the time limit (--time-limit)");
    if (sm->done_count < sm->simulated)
        return smp_fail(err, SMP_E_PROCESS, "the model of time came to a stop");
    *active = time_extrapolate(sm, imbalance);
    return SMP_OK;
}

static smp_code predict(const smp_time_gpu *gpu, const time_code *code, const time_trace *trace,
                        const smp_time_wish *wish, smp_predicted *out, smp_error *err)
{
    time_sm sm;
    double active = 0;
    smp_code status = open_sm(&sm, gpu, code, trace, NULL, wish->deadline, err);
    if (!status)
        status = run(&sm, &active, &out->imbalance, err);
    if (!status) {
        set_launch(&sm, active, out);
        set_use(&sm, active, out);
        set_bound(&sm, out);
        set_memory(&sm, trace, out);
        status = set_lines(&sm, wish, out, err);
    }
    time_sm_close(&sm);
    return status;
}

smp_code time_replay(const smp_time_gpu *gpu, const time_code *code, const time_trace *trace, const time_free *free,
                     double deadline, double *us, smp_error *err)
{
    time_sm sm;
    double active = 0, imbalance = 1;
    smp_predicted told = {.order = 0};
    smp_code status = open_sm(&sm, gpu, code, trace, free, deadline, err);
    if (!status)
        status = run(&sm, &active, &imbalance, err);
    if (!status)
        set_launch(&sm, active, &told);
    *us = told.us;
    time_sm_close(&sm);
    return status;
}

smp_code time_predict_trace(const smp_time_gpu *gpu, const warp_code *kernel, const time_trace *trace,
                            const smp_time_wish *wish, smp_predicted *out, smp_error *err)
{
    time_code code;
    SMP_NEED(time_code_make(kernel, gpu, &code), "instructions", kernel->count, err);
    smp_code status = predict(gpu, &code, trace, wish, out, err);
    if (!status)
        status = time_what_if(gpu, &code, trace, wish, out, err);
    smp_free(code.insts);
    return status;
}

smp_code smp_time_predict(smp_time_recorder *r, const smp_warp_kernel *kernel, const smp_time_wish *wish,
                          smp_predicted *out, smp_error *err)
{
    *out = (smp_predicted){.order = 0};
    snprintf(out->gpu, sizeof out->gpu, "%s", r->gpu.name);
    const time_trace *trace = time_record_end(r);
    SMP_NEED(trace, "a record of a launch", 0, err);
    if (time_refuses_record(&kernel->code, trace, out->refusal, sizeof out->refusal))
        return SMP_OK;
    return time_predict_trace(&r->gpu, &kernel->code, trace, wish, out, err);
}
