/* Calls: of the module's own functions, by name or by pointer, of the system's (services.c), and of libdevice's __nv_*
 * functions, which compilers other than nvcc leave as calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/each.h"
#include "lab/ptx/execute.h"

enum { MOST_ARGUMENTS = 32, MOST_DEPTH = 500 };

typedef struct call {
    char name[128];
    const warp_code *code;               /* null: a builtin, or a call through a pointer */
    const warp_pointer *const *pointers; /* the module's functions whose address is taken */
    bool indirect;
    const struct builtin *builtin;
    const ptx_service *service;
    uint32_t results[MOST_ARGUMENTS], arguments[MOST_ARGUMENTS]; /* where they lie in the caller's local memory */
    uint32_t result_bytes[MOST_ARGUMENTS], argument_bytes[MOST_ARGUMENTS];
    uint32_t result_count, argument_count;
} call;

/* ------------------------------------------------------------------------------------------------ builtins */

typedef struct builtin {
    const char *name;
    const char *types; /* result and arguments: f float, d double, i int */
    union {
        float (*f1)(float);
        float (*f2)(float, float);
        float (*f3)(float, float, float);
        double (*d1)(double);
        double (*d2)(double, double);
        double (*d3)(double, double, double);
    } fn;
} builtin;

static float rsqrt_f(float x)
{
    return (float)(1.0 / sqrt((double)x));
}
static double rsqrt_d(double x)
{
    return 1.0 / sqrt(x);
}
static float divide_f(float x, float y)
{
    return x / y;
}

#define ROW(name, types, kind, function)                                                                               \
    {                                                                                                                  \
        "__nv_" name, types,                                                                                           \
        {                                                                                                              \
            .kind = function                                                                                           \
        }                                                                                                              \
    }
/* A function of C under its own name in both precisions: __nv_sin and __nv_sinf. */
#define BOTH1(with, name) ROW(#name "f", "ff", f1, name##f), ROW(#name, "dd", d1, name),
#define BOTH2(with, name) ROW(#name "f", "fff", f2, name##f), ROW(#name, "ddd", d2, name),
#define FAST(with, name)  ROW("fast_" #name, "ff", f1, name),
/* clang-format off */
static const builtin builtins[] = {
    SMP_EACH(BOTH1, , sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, sqrt, cbrt)
    SMP_EACH(BOTH1, , exp, exp2, expm1, log, log2, log10, log1p, erf, erfc, lgamma, tgamma)
    SMP_EACH(BOTH1, , floor, ceil, trunc, round, rint, nearbyint, fabs)
    SMP_EACH(BOTH2, , pow, atan2, fmod, hypot, fmin, fmax, copysign, fdim, remainder, nextafter)
    SMP_EACH(FAST, , sinf, cosf, tanf, expf, logf, log2f, log10f)
    ROW("rsqrtf", "ff", f1, rsqrt_f),
    ROW("rsqrt", "dd", d1, rsqrt_d),
    ROW("fast_powf", "fff", f2, powf),
    ROW("fast_fdividef", "fff", f2, divide_f),
    ROW("fsqrt_rn", "ff", f1, sqrtf),
    ROW("dsqrt_rn", "dd", d1, sqrt),
    ROW("fmaf", "ffff", f3, fmaf),
    ROW("fma", "dddd", d3, fma),
};
/* clang-format on */

static const builtin *find_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (!strcmp(builtins[i].name, name))
            return &builtins[i];
    return NULL;
}

static void run_builtin(const builtin *b, const call *c, warp_frame *frame, uint32_t lane)
{
    const size_t count = strlen(b->types) - 1;
    if (b->types[0] == 'f') {
        float x[3] = {0}, r;
        for (size_t i = 0; i < count; i++)
            memcpy(&x[i], ptx_local(frame, lane, c->arguments[i]), 4);
        r = count == 1 ? b->fn.f1(x[0]) : count == 2 ? b->fn.f2(x[0], x[1]) : b->fn.f3(x[0], x[1], x[2]);
        memcpy(ptx_local(frame, lane, c->results[0]), &r, 4);
    } else {
        double x[3] = {0}, r;
        for (size_t i = 0; i < count; i++)
            memcpy(&x[i], ptx_local(frame, lane, c->arguments[i]), 8);
        r = count == 1 ? b->fn.d1(x[0]) : count == 2 ? b->fn.d2(x[0], x[1]) : b->fn.d3(x[0], x[1], x[2]);
        memcpy(ptx_local(frame, lane, c->results[0]), &r, 8);
    }
}

/* ------------------------------------------------------------------------------------------------ functions */

/* Whether each value that is passed has the size that the other side takes. */
static bool sizes_fit(const uint32_t *bytes, uint32_t count, const smp_warp_param *params, size_t param_count)
{
    bool fit = true;
    for (uint32_t i = 0; i < count && i < param_count; i++)
        fit = fit && bytes[i] == params[i].size;
    return fit;
}

/* The lanes run the function in a frame of its own until all have returned. */
static void run_function(warp_block *block, warp_frame *frame, const warp_inst *inst, const call *c,
                         const warp_code *code, uint32_t lanes)
{
    enum { COST = 32 }; /* a call takes as long as so many jumps */
    if (block->calls >= MOST_DEPTH) {
        warp_stop(block, frame, inst, "calls are nested deeper than %d", MOST_DEPTH);
        return;
    }
    if (!sizes_fit(c->argument_bytes, c->argument_count, code->params, code->param_count) ||
        !sizes_fit(c->result_bytes, c->result_count, code->results, code->result_count)) {
        warp_stop(block, frame, inst, "it calls '%s' with parameters of other sizes", code->name);
        return;
    }
    block->jumps += COST; /* recursion without a loop has an end, too */
    warp_frame *inner = smp_alloc(sizeof *inner);
    unsigned char *rows = smp_alloc(code->register_bytes);
    unsigned char *local = smp_alloc_array(WARP_LANES, code->local_bytes);
    if (!inner || !rows || !local) {
        smp_free_all(inner, rows, local);
        warp_stop(block, frame, inst, "out of memory");
        return;
    }
    inner->code = code;
    inner->rows = rows;
    inner->local = local;
    inner->live = inner->ready = lanes;
    inner->depth = frame->depth + 1;
    inner->caller = frame;
    inner->warp = frame->warp;
    inner->turn = frame->turn;
    inner->turn_since = frame->turn_since;
    inner->seen = frame->seen;
    warp_fill_rows(block, inner);
    WARP_ACTIVE_LANES(lanes)
    for (uint32_t i = 0; i < c->argument_count && i < code->param_count; i++)
        memcpy(ptx_local(inner, l, code->params[i].offset), ptx_local(frame, l, c->arguments[i]), code->params[i].size);
    block->calls++;
    const bool returned = warp_run_frame(block, inner);
    block->calls--;
    if (returned)
        WARP_ACTIVE_LANES(lanes)
    for (uint32_t i = 0; i < c->result_count && i < code->result_count; i++)
        memcpy(ptx_local(frame, l, c->results[i]), ptx_local(inner, l, code->results[i].offset), code->results[i].size);
    frame->turn = inner->turn;
    frame->turn_since = inner->turn_since;
    frame->seen = inner->seen;
    smp_free_all(inner, rows, local);
}

/* Lanes whose pointers are alike call together. */
static void run_pointers(warp_block *block, warp_frame *frame, const warp_inst *inst, const call *c, uint32_t lanes)
{
    uint64_t address[WARP_LANES];
    memcpy(address, warp_longs(frame, inst->s[0]), sizeof address);
    while (lanes && !block->stop) {
        const uint64_t first = address[__builtin_ctz(lanes)];
        const warp_pointer *p = *c->pointers;
        uint32_t same = 0;
        WARP_ACTIVE_LANES(lanes)
        same |= (uint32_t)(address[l] == first) << l;
        while (p && (uint64_t)(uintptr_t)p != first)
            p = p->next;
        if (!p || !p->code) {
            warp_stop(block, frame, inst, "thread %u calls a function at 0x%llx, where none is",
                      warp_thread(frame, (uint32_t)__builtin_ctz(lanes)), (unsigned long long)first);
            return;
        }
        if (p->code->problem.code) {
            warp_stop(block, frame, inst, "it calls '%s': %s", p->code->name, p->code->problem.message);
            return;
        }
        run_function(block, frame, inst, c, p->code, same);
        lanes &= ~same;
    }
}

/* The words of a thread's arguments. */
static void take_words(const call *c, warp_frame *frame, uint32_t lane, uint32_t words[PTX_SERVICE_WORDS])
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const uint32_t count = (c->argument_bytes[i] + 3) / 4;
        at += count == 2 ? at & 1 : 0;
        if (at + count > PTX_SERVICE_WORDS)
            return;
        memcpy(words + at, ptx_local(frame, lane, c->arguments[i]), c->argument_bytes[i]);
        at += count;
    }
}

void ptx_run_call(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes)
{
    const call *c = inst->extra;
    if (c->indirect) {
        run_pointers(block, frame, inst, c, lanes);
        return;
    }
    if (c->code) {
        run_function(block, frame, inst, c, c->code, lanes);
        return;
    }
    WARP_ACTIVE_LANES(lanes)
    {
        if (c->builtin) {
            run_builtin(c->builtin, c, frame, l);
            continue;
        }
        uint32_t words[PTX_SERVICE_WORDS] = {0};
        take_words(c, frame, l, words);
        const uint64_t result = c->service->run(&(ptx_request){block, frame, inst, l, words});
        if (c->result_count)
            memcpy(ptx_local(frame, l, c->results[0]), &result, c->result_bytes[0] < 8 ? c->result_bytes[0] : 8);
        if (block->stop || block->asserted)
            return;
    }
}

/* ------------------------------------------------------------------------------------------------ decoding */

/* Whether a call that the machine itself answers passes what is read, and takes what is written. types: as in builtin
 * and services. */
static bool passes(const char *types, const uint32_t *bytes, uint32_t count)
{
    bool fit = count >= strlen(types);
    for (uint32_t i = 0; fit && types[i]; i++)
        fit = bytes[i] >= (types[i] == '3' ? 12u : types[i] == 'd' || types[i] == 'l' ? 8u : 4u);
    return fit;
}

static bool is_service(call *c)
{
    const int number = ptx_service_of(c->name);
    c->service = number < 0 ? NULL : &ptx_services[number];
    return c->service && passes(c->service->results, c->result_bytes, c->result_count) &&
           passes(c->service->arguments, c->argument_bytes, c->argument_count);
}

/* (a, b): parameters that lie in local memory */
static bool read_list(ptx_parser *parser, ptx_text list, uint32_t *offsets, uint32_t *bytes, uint32_t *count)
{
    ptx_text parts[MOST_ARGUMENTS];
    const int all = list.size >= 2 && list.at[0] == '('
                        ? ptx_split((ptx_text){list.at + 1, list.size - 2}, ',', parts, MOST_ARGUMENTS)
                        : -1;
    for (int i = 0; i < all; i++) {
        const ptx_symbol *s = ptx_find(parser, parts[i]);
        if (!s || s->kind != PTX_VARIABLE || !s->in_body) {
            ptx_refuse(parser, list.at, "a call whose arguments are not parameters is not supported");
            return false;
        }
        offsets[i] = (uint32_t)s->offset;
        bytes[i] = s->size;
    }
    if (all < 0)
        ptx_refuse(parser, list.at, "a call with these arguments is not supported");
    *count = all < 0 ? 0 : (uint32_t)all;
    return all >= 0;
}

bool ptx_decode_call(ptx_parser *parser, const ptx_statement *s, warp_inst *inst)
{
    int at = 0;
    call *c = smp_alloc(sizeof *c);
    if (!c)
        return false;
    inst->extra = c;
    inst->dests = 0;
    inst->execute = ptx_run_call;
    if (!ptx_only(parser, s, "uni"))
        return false;
    if (s->operand_count && s->operands[0].size && s->operands[0].at[0] == '(' &&
        !read_list(parser, s->operands[at++], c->results, c->result_bytes, &c->result_count))
        return false;
    if (at >= s->operand_count)
        return ptx_refuse(parser, s->opcode.at, "a call without a name"), false;
    const ptx_text name = s->operands[at++];
    if (!name.size || name.size >= sizeof c->name)
        return ptx_refuse(parser, s->opcode.at, "a call without a name of usual length"), false;
    c->indirect = name.at[0] == '%';
    if (c->indirect) {
        inst->s[0] = ptx_row(parser, name, 'd');
        inst->sources = 1;
        if (at < s->operand_count && s->operands[at].size && s->operands[at].at[0] != '(')
            return true; /* no arguments: the prototype follows */
    }
    snprintf(c->name, sizeof c->name, "%.*s", (int)name.size, name.at);
    return at >= s->operand_count ||
           read_list(parser, s->operands[at], c->arguments, c->argument_bytes, &c->argument_count);
}

bool ptx_is_malloc(const warp_inst *inst)
{
    const call *c = inst->extra;
    return inst->execute == ptx_run_call && c && !strcmp(c->name, "malloc");
}

static void link_code(struct smp_warp_module *module, warp_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        warp_inst *inst = &code->insts[i];
        call *c = (call *)(uintptr_t)inst->extra;
        if (inst->execute != ptx_run_call || !c)
            continue;
        c->pointers = (const warp_pointer *const *)&module->pointers;
        if (c->indirect)
            continue;
        c->code = ptx_function_of(module, c->name);
        c->builtin = c->code ? NULL : find_builtin(c->name);
        const char result[] = {c->builtin ? c->builtin->types[0] : '\0', '\0'};
        const bool is_builtin = c->builtin && c->argument_count == strlen(c->builtin->types) - 1 &&
                                passes(c->builtin->types + 1, c->argument_bytes, c->argument_count) &&
                                passes(result, c->result_bytes, c->result_count);
        inst->meets = !c->code && !is_builtin;
        inst->serves = inst->meets && !c->builtin && is_service(c);
        if (c->code || is_builtin || inst->serves)
            continue;
        if (!code->problem.code) {
            smp_fail(&code->problem, SMP_E_PROCESS, "kernel '%s' cannot run: it calls '%s', which is not there",
                     code->name, c->name);
            smp_hint(&code->problem, "where another file defines it, nvcc links both by -rdc=true (behind --)");
            smp_at(&code->problem, "line %u of the PTX", inst->text_line);
        }
    }
}

/* A kernel cannot run if a function that it calls cannot; true: something changed. */
static bool inherit_problem(warp_code *code)
{
    for (size_t i = 0; i < code->count && !code->problem.code; i++) {
        const call *c = code->insts[i].execute == ptx_run_call ? code->insts[i].extra : NULL;
        for (const warp_pointer *p = c && c->indirect ? *c->pointers : NULL; p; p = p->next)
            if (p->code && p->code->granule < code->granule)
                code->granule = p->code->granule;
        if (c && c->code && c->code->problem.code) {
            code->problem = c->code->problem;
            return true;
        }
        if (c && c->code && c->code->granule < code->granule)
            code->granule = c->code->granule;
    }
    return false;
}

uint64_t ptx_function_pointer(ptx_parser *parser, ptx_text name)
{
    struct smp_warp_module *module = parser->module;
    for (const warp_pointer *p = module->pointers; p; p = p->next)
        if (ptx_is(name, p->name))
            return (uint64_t)(uintptr_t)p;
    warp_pointer *p = smp_alloc(sizeof *p);
    char *copy = ptx_copy(name);
    if (!p || !copy) {
        smp_free_all(p, copy);
        parser->failed = true;
        smp_fail_memory(&parser->error, "names of functions", name.size);
        return 0;
    }
    p->name = copy;
    p->at = name.at;
    p->next = module->pointers;
    module->pointers = p;
    return (uint64_t)(uintptr_t)p;
}

void ptx_link_calls(struct smp_warp_module *module)
{
    for (warp_pointer *p = module->pointers; p; p = p->next) {
        p->code = ptx_function_of(module, p->name);
        for (size_t i = 0; i < module->kernel_count && !p->code && !p->kernel; i++)
            p->kernel = strcmp(module->kernels[i]->code.symbol, p->name) ? NULL : module->kernels[i];
    }
    for (size_t i = 0; i < module->kernel_count; i++)
        link_code(module, &module->kernels[i]->code);
    for (warp_function *f = module->functions; f; f = f->next)
        link_code(module, &f->code);
    for (bool changed = true; changed;) {
        changed = false;
        for (warp_function *f = module->functions; f; f = f->next)
            changed = inherit_problem(&f->code) || changed;
        for (size_t i = 0; i < module->kernel_count; i++)
            changed = inherit_problem(&module->kernels[i]->code) || changed;
    }
}
