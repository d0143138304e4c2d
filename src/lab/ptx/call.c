/* Calls: of the module's own functions, by name or by pointer, of printf, malloc, free and assert on the device, and of
 * libdevice's __nv_* functions, which compilers other than nvcc leave as calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/each.h"
#include "base/text/utf8.h"
#include "lab/machine/buffers.h"
#include "lab/ptx/execute.h"

enum { MOST_ARGUMENTS = 32, MOST_DEPTH = 500 };

typedef struct call {
    char name[128];
    const warp_code *code;               /* null: a builtin, or a call through a pointer */
    const warp_pointer *const *pointers; /* through a pointer: the module's functions whose address is taken */
    bool indirect;
    const struct builtin *builtin;
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

/* ------------------------------------------------------------------------------------------------ printf */

/* The bytes at a generic address that a thread passes on; null: none are there. */
static const char *bytes_at(const warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t address,
                            uint64_t *size)
{
    uint64_t start;
    if (ptx_space_of(address) == WARP_LOCAL) {
        uint64_t offset = address & ~WARP_WINDOW_MASK;
        const warp_frame *owner = ptx_frame_of(frame, &offset);
        *size = offset < owner->code->local_bytes ? owner->code->local_bytes - offset : 0;
        return *size ? (const char *)ptx_local(owner, lane, offset) : NULL;
    }
    if (!smp_warp_buffer_of(block->launch->memory, address, &start, size))
        return NULL;
    *size -= address - start;
    return (const char *)(uintptr_t)address;
}

/* One conversion of a format, its argument taken from `arguments` at *at. Returns where the format goes on. */
static const char *print_one(FILE *to, const warp_block *block, const warp_frame *frame, uint32_t lane,
                             const char *format, const char *end, const char *arguments, uint64_t size, uint64_t *at)
{
    char spec[32] = "%";
    size_t used = 1;
    bool wide = false;
    for (format++; format < end && !strchr("diouxXcsfFeEgGaAp%", *format); format++) {
        if (strchr("lzjt", *format))
            wide = true;
        else if (*format != 'h' && strchr("0123456789.+- #", *format) && used < sizeof spec - 6)
            spec[used++] = *format;
    }
    if (format >= end)
        return end;
    const char c = *format++;
    if (c == '%') {
        fputc('%', to);
        return format;
    }
    const bool is_float = strchr("fFeEgGaA", c) != NULL, eight = is_float || wide || c == 's' || c == 'p';
    const uint64_t bytes = eight ? 8 : 4;
    uint64_t value = 0;
    *at = (*at + bytes - 1) / bytes * bytes;
    if (*at + bytes > size)
        return format;
    memcpy(&value, arguments + *at, bytes);
    *at += bytes;
    if (is_float) {
        double number;
        memcpy(&number, &value, 8);
        snprintf(spec + used, sizeof spec - used, "%c", c);
        char text[400] = ""; /* a width may be too much */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, spec, number);
        fputs(text, to);
    } else if (c == 's') {
        uint64_t length;
        const char *string = bytes_at(block, frame, lane, value, &length);
        fprintf(to, "%.*s", string ? (int)(length < 4096 ? length : 4096) : 0, string ? string : "");
    } else if (c == 'p') {
        fprintf(to, "0x%llx", (unsigned long long)value);
    } else if (c == 'c') {
        fputc((int)(value & 255), to);
    } else {
        char text[400] = "";
        snprintf(spec + used, sizeof spec - used, "ll%c", c);
        const bool is_signed = c == 'd' || c == 'i';
        if (is_signed)
            snprintf(text, sizeof text, spec, wide ? (long long)value : (long long)(int32_t)value);
        else
            snprintf(text, sizeof text, spec, (unsigned long long)value);
#pragma GCC diagnostic pop
        fputs(text, to);
    }
    return format;
}

static void print_to(FILE *to, const warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t format_at,
                     uint64_t arguments_at)
{
    uint64_t format_size = 0, size = 0, at = 0;
    const char *format = bytes_at(block, frame, lane, format_at, &format_size);
    const char *arguments = arguments_at ? bytes_at(block, frame, lane, arguments_at, &size) : NULL;
    const char *end = format ? memchr(format, 0, (size_t)format_size) : NULL;
    while (end && format < end)
        if (*format != '%')
            fputc(*format++, to);
        else
            format = print_one(to, block, frame, lane, format, end, arguments ? arguments : "", size, &at);
}

/* As much as a GPU keeps of a launch: what a stranger's kernel prints beyond is cut. */
void ptx_print(warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t format_at, uint64_t arguments_at)
{
    enum { MOST = 1 << 20 };
    FILE *to = block->launch->print;
    if (!to || (block->launch->guarded && block->printed > MOST))
        return;
    if (!block->launch->guarded) {
        print_to(to, block, frame, lane, format_at, arguments_at);
        return;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    print_to(line, block, frame, lane, format_at, arguments_at);
    if (!fclose(line)) {
        smp_utf8_clean(text);
        fputs(text, to);
        block->printed += size;
        if (block->printed > MOST)
            fprintf(to, "\n(kernel %s prints more than 1 MiB: what follows is cut)\n", block->code->name);
    }
    free(text);
}

static void print(warp_block *block, warp_frame *frame, const call *c, uint32_t lane)
{
    uint64_t pointers[2];
    if (c->argument_count < 2)
        return;
    memcpy(&pointers[0], ptx_local(frame, lane, c->arguments[0]), 8);
    memcpy(&pointers[1], ptx_local(frame, lane, c->arguments[1]), 8);
    ptx_print(block, frame, lane, pointers[0], pointers[1]);
}

/* __assertfail(message, file, line, function, size) */
static void fail_assertion(warp_block *block, warp_frame *frame, const warp_inst *inst, const call *c, uint32_t lane)
{
    uint64_t pointers[2] = {0}, size;
    const char *texts[2] = {NULL, NULL};
    uint32_t line = 0;
    for (uint32_t i = 0; i < 2 && i < c->argument_count; i++) {
        memcpy(&pointers[i], ptx_local(frame, lane, c->arguments[i]), 8);
        texts[i] = bytes_at(block, frame, lane, pointers[i], &size);
        if (texts[i] && !memchr(texts[i], 0, (size_t)size))
            texts[i] = NULL;
    }
    if (c->argument_count > 2)
        memcpy(&line, ptx_local(frame, lane, c->arguments[2]), 4);
    block->asserted = true;
    warp_stop(block, frame, inst, "assertion '%s' fails in thread %u (%s:%u)", texts[0] ? texts[0] : "?",
              warp_thread(frame, lane), texts[1] ? texts[1] : "?", line);
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
    if (frame->depth >= MOST_DEPTH) {
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
    if (warp_run_frame(block, inner))
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
        if (!p) {
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

/* cudaGraphSetConditional(handle, value): a handle is the address of a word. */
static void set_condition(warp_block *block, warp_frame *frame, const warp_inst *inst, const call *c, uint32_t lane)
{
    uint64_t handle, start, size;
    memcpy(&handle, ptx_local(frame, lane, c->arguments[0]), sizeof handle);
    if (!smp_warp_buffer_of(block->launch->memory, handle, &start, &size) || size - (handle - start) < 4)
        warp_stop(block, frame, inst, "thread %u sets a condition of no graph", warp_thread(frame, lane));
    else
        memcpy((void *)(uintptr_t)handle, ptx_local(frame, lane, c->arguments[1]), 4);
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
        if (c->builtin)
            run_builtin(c->builtin, c, frame, l);
        else if (!strcmp(c->name, "vprintf"))
            print(block, frame, c, l);
        else if (!strcmp(c->name, "__assertfail")) {
            fail_assertion(block, frame, inst, c, l);
            return;
        } else if (!strcmp(c->name, "malloc")) {
            uint64_t size, address;
            memcpy(&size, ptx_local(frame, l, c->arguments[0]), 8);
            address = (uint64_t)(uintptr_t)warp_kernel_buffer(block->launch->memory, size);
            memcpy(ptx_local(frame, l, c->results[0]), &address, 8);
            block->buffer_start = block->buffer_end = 0;
        } else if (!strcmp(c->name, "free")) {
            uint64_t address;
            memcpy(&address, ptx_local(frame, l, c->arguments[0]), 8);
            if (address && !warp_kernel_buffer_free(block->launch->memory, address)) {
                warp_stop(block, frame, inst, "thread %u frees 0x%llx, which malloc did not give",
                          warp_thread(frame, l), (unsigned long long)address);
                return;
            }
            block->buffer_start = block->buffer_end = 0;
        } else
            set_condition(block, frame, inst, c, l);
    }
}

/* ------------------------------------------------------------------------------------------------ decoding */

/* Whether a call that the machine itself answers passes what is read, and takes what is written. types: as in builtin,
 * l: 8 bytes. */
static bool passes(const char *types, const uint32_t *bytes, uint32_t count)
{
    bool fit = count >= strlen(types);
    for (uint32_t i = 0; fit && types[i]; i++)
        fit = bytes[i] >= (types[i] == 'd' || types[i] == 'l' ? 8u : 4u);
    return fit;
}

static bool is_runtime(const call *c)
{
    static const struct {
        const char *name, *results, *arguments;
    } known[] = {{"vprintf", "", "ll"},
                 {"__assertfail", "", "lli"},
                 {"malloc", "l", "l"},
                 {"free", "", "l"},
                 {"cudaGraphSetConditional", "", "li"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(c->name, known[i].name))
            return passes(known[i].results, c->result_bytes, c->result_count) &&
                   passes(known[i].arguments, c->argument_bytes, c->argument_count);
    return false;
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

static void link_code(struct smp_warp_module *module, warp_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        warp_inst *inst = &code->insts[i];
        call *c = (call *)(uintptr_t)inst->extra;
        if (inst->execute != ptx_run_call || !c)
            continue;
        if (c->indirect) {
            c->pointers = (const warp_pointer *const *)&module->pointers;
            continue;
        }
        c->code = ptx_function_of(module, c->name);
        c->builtin = c->code ? NULL : find_builtin(c->name);
        const char result[] = {c->builtin ? c->builtin->types[0] : '\0', '\0'};
        const bool is_builtin = c->builtin && c->argument_count == strlen(c->builtin->types) - 1 &&
                                passes(c->builtin->types + 1, c->argument_bytes, c->argument_count) &&
                                passes(result, c->result_bytes, c->result_count);
        inst->meets = !c->code && !is_builtin;
        if (c->code || is_builtin || (!c->builtin && is_runtime(c)))
            continue;
        if (!code->problem.code) {
            smp_fail(&code->problem, SMP_E_PROCESS, "kernel '%s' cannot run: it calls '%s', which is not there",
                     code->name, c->name);
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
    for (warp_pointer *p = module->pointers; p; p = p->next)
        p->code = ptx_function_of(module, p->name);
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
