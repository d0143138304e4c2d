/* What if: the recorded launch again with something free, without what a row of the table wastes, with other blocks on
 * an SM. Its instructions stay as they are. */
#include <string.h>

#include "base/alloc.h"
#include "lab/counters/elements.h"
#include "lab/time/record.h"
#include "lab/time/time.h"

/* What is asked about. */
typedef struct base {
    const smp_time_gpu *gpu;
    const time_code *code;
    const time_trace *trace;
    const smp_time_wish *wish;
    uint8_t *least; /* for each instruction, as in time_free */
    smp_predicted *out;
} base;

static bool is_of_row(const warp_code *code, size_t place, const smp_warp_row *row)
{
    static const uint8_t spaces[] = {
        [SMP_WARP_SHARED] = WARP_SHARED, [SMP_WARP_GLOBAL] = WARP_GLOBAL, [SMP_WARP_LOCAL] = WARP_LOCAL};
    const warp_inst *inst = &code->insts[place];
    return inst->file == row->file && inst->line == row->line &&
           (inst->space == spaces[row->space] || inst->kind == WARP_COPIES) &&
           (uint32_t)inst->width * (inst->vec ? inst->vec : 1) == row->width &&
           warp_op_of(inst, row->space) == row->op && (!row->instruction[0] || row->place == place);
}

/* Cost beyond need in clocks of an SM, as the lab's reports rank rows: of local memory all. */
static double waste_of(const smp_warp_row *row)
{
    const uint64_t needed = row->space == SMP_WARP_LOCAL ? 0 : row->sectors_ideal;
    return (double)row->conflicts + (row->sectors > needed ? (double)(row->sectors - needed) / 2 : 0);
}

/* Takes away what a row wastes; as_advised: as much as the lab's advice for its worst access does. */
static void spare(const base *b, const smp_warp_row *row, bool as_advised)
{
    uint32_t least = row->space == SMP_WARP_SHARED && row->worst_ideal ? row->worst_ideal : 1;
    smp_bank_access access = {.op = row->worst_op, .width = (int)row->width, .active = row->worst_active};
    smp_bank_change change;
    memcpy(access.offset, row->worst_offset, sizeof access.offset);
    if (as_advised && row->space == SMP_WARP_SHARED && smp_advise_change(&access, &change))
        least = (uint32_t)change.wavefronts;
    for (size_t i = 0; i < b->code->count; i++)
        if (is_of_row(b->code->code, i, row))
            b->least[i] = (uint8_t)(least < UINT8_MAX ? least : UINT8_MAX);
}

static smp_code add_price(const base *b, const char *what, const time_free *free, smp_error *err)
{
    double us;
    smp_predicted_price *price = &b->out->prices[b->out->price_count];
    SMP_TRY(time_replay(b->gpu, b->code, b->trace, free, b->wish->deadline, &us, err));
    snprintf(price->what, sizeof price->what, "%s", what);
    price->us = b->out->us - us;
    b->out->price_count++;
    return SMP_OK;
}

/* The same launch with a kind of cost free. */
static smp_code set_prices(const base *b, smp_error *err)
{
    const struct {
        const char *what;
        time_free free;
    } wishes[] = {{"bank conflicts", {.least = b->least}},
                  {"uncoalesced access", {.least = b->least}},
                  {"barriers", {.barriers = true}},
                  {"DRAM", {.dram = true}},
                  {"L2 and DRAM", {.dram = true, .l2 = true}},
                  {"latency of L2 and DRAM", {.latency = true, .dram = true, .l2 = true}},
                  {"few blocks on an SM", {.resident = 2 * b->out->resident}},
                  {"launch", {.launch = true}}};
    smp_code status = SMP_OK;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0] && !status; i++) {
        memset(b->least, 0, b->code->count);
        for (size_t k = 0; k < b->wish->row_count && wishes[i].free.least; k++)
            if (b->wish->rows[k].space == (i ? SMP_WARP_GLOBAL : SMP_WARP_SHARED) && waste_of(&b->wish->rows[k]) > 0)
                spare(b, &b->wish->rows[k], false);
        status = add_price(b, wishes[i].what, &wishes[i].free, err);
    }
    return status;
}

enum { SPACES = SMP_WARP_LOCAL + 1 };

/* The dearest row that is not chosen yet, of a space (-1: any); null: there is none. */
static const smp_warp_row *dearest_of(const base *b, int space, const smp_warp_row *const *chosen, size_t count)
{
    const smp_warp_row *dearest = NULL;
    for (size_t i = 0; i < b->wish->row_count; i++) {
        const smp_warp_row *row = &b->wish->rows[i];
        bool had = (space >= 0 && (int)row->space != space) || !(waste_of(row) > 0);
        for (size_t k = 0; k < count; k++)
            had = had || chosen[k] == row;
        if (!had && (!dearest || waste_of(row) > waste_of(dearest)))
            dearest = row;
    }
    return dearest;
}

/* The dearest row of each space, with what_if further ones, each as the lab advises, or without all that it wastes. */
static smp_code set_mends(const base *b, smp_error *err)
{
    const smp_warp_row *chosen[SMP_PREDICTED_MENDS];
    smp_code status = SMP_OK;
    size_t count = 0;
    for (int n = 0; n < (b->wish->what_if ? SMP_PREDICTED_MENDS : SPACES) && !status; n++) {
        const smp_warp_row *row = dearest_of(b, n < SPACES ? n : -1, chosen, count);
        const time_free free = {.least = b->least};
        double us;
        if (!row)
            continue;
        chosen[count++] = row;
        memset(b->least, 0, b->code->count);
        spare(b, row, true);
        status = time_replay(b->gpu, b->code, b->trace, &free, b->wish->deadline, &us, err);
        b->out->mends[b->out->mend_count++] = (smp_predicted_mend){.file = row->file,
                                                                   .line = row->line,
                                                                   .place = row->place,
                                                                   .width = row->width,
                                                                   .space = (uint8_t)row->space,
                                                                   .op = (uint8_t)row->op,
                                                                   .us = b->out->us - us};
    }
    return status;
}

enum { MOST_REGISTERS = 255, SHARED_UNIT = 128 };

static uint32_t held(const base *b, uint32_t registers, uint32_t shared)
{
    smp_warp_fit fit;
    return smp_warp_fit_of(b->gpu->arch, registers, shared, b->trace->warps * WARP_LANES, &fit) ? fit.blocks : 0;
}

/* The launch with n blocks on an SM at a time, and what a block may take then. */
static smp_code add_fit(const base *b, uint32_t n, smp_error *err)
{
    smp_predicted_fit fit = {.blocks = n, .registers = MOST_REGISTERS, .shared = SMP_WARP_MAX_SHARED};
    while (fit.registers > 1 && held(b, fit.registers, 0) < n)
        fit.registers--;
    fit.shared -= fit.shared % SHARED_UNIT;
    while (fit.shared && held(b, 1, fit.shared) < n)
        fit.shared -= SHARED_UNIT;
    time_trace changed = *b->trace;
    changed.registers = changed.registers < fit.registers ? changed.registers : fit.registers;
    changed.shared = changed.shared < fit.shared ? changed.shared : fit.shared;
    const time_free free = {.resident = n};
    smp_code code = SMP_OK;
    fit.us = b->out->us;
    if (n != b->out->resident)
        code = time_replay(b->gpu, b->code, &changed, &free, b->wish->deadline, &fit.us, err);
    if (!code)
        b->out->fits[b->out->fit_count++] = fit;
    return code;
}

/* Numbers of blocks around the launch's own. None where an SM gets one block, or so few that the model knows only those
 * that run at a time. */
static smp_code set_fits(const base *b, smp_error *err)
{
    const uint64_t sms = (uint64_t)b->gpu->sms, of_sm = (b->trace->blocks + sms - 1) / sms;
    const uint32_t now = b->out->resident, room = held(b, 1, 0),
                   wanted[] = {now / 4, now / 2, now * 3 / 4, now, now + 1, now * 3 / 2, 2 * now, room};
    uint32_t last = 0;
    smp_code code = SMP_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !code; i++) {
        const uint32_t n = wanted[i];
        if (n <= last || n > room || (n != now && (n > of_sm || n > b->out->simulated)))
            continue;
        last = n;
        code = add_fit(b, n, err);
    }
    return code;
}

smp_code time_what_if(const smp_time_gpu *gpu, const time_code *code, const time_trace *trace,
                      const smp_time_wish *wish, smp_predicted *out, smp_error *err)
{
    const base b = {gpu, code, trace, wish, smp_alloc(code->count + 1), out};
    smp_code status = b.least ? SMP_OK : smp_fail_memory(err, "instructions", code->count);
    if (!status)
        status = set_mends(&b, err);
    if (!status && wish->what_if)
        status = set_prices(&b, err);
    if (!status && wish->what_if)
        status = set_fits(&b, err);
    smp_free(b.least);
    return status;
}
