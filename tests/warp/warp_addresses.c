/* Every instruction that takes an address, at the addresses where sums wrap and windows begin and end: what lies in no
 * memory is a finding with its line, whatever the address, and no access leaves what it may touch. */
#include <string.h>

#include "suite.h"

#include "lab/machine/warp.h"

enum { BUFFER = 512, SHARED = 256, LINE = 15 /* of the instruction */ };
#define SHARED_WINDOW (UINT64_C(1) << 60)
#define LOCAL_WINDOW  (UINT64_C(1) << 61)
#define PARAM_WINDOW  (UINT64_C(3) << 60)

/* %d1 is the address, %d0 and %r0 lie in good memory of both kinds. */
static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 16 .b8 c[64];\n"
    ".visible .entry op(.param .u64 p0, .param .u64 p1)\n{\n"
    ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<20>; .reg .b64 %%d<12>; .reg .f32 %%f<12>; .reg .f64 %%e<4>;\n"
    ".shared .align 128 .b8 s[256];\n.local .align 16 .b8 l[64];\n"
    "ld.param.u64 %%d0, [p0]; ld.param.u64 %%d1, [p1]; mov.u32 %%r0, s; mov.u64 %%d3, s;\n"
    "mov.b32 %%r1, 0; mov.b32 %%r2, 1; mov.b32 %%r3, 0; mov.b32 %%r4, 0; mov.b64 %%d4, 0; mov.b64 %%d5, 0;\n"
    "mov.b32 %%r10, 16; mov.f32 %%f0, 0f00000000; mov.f64 %%e0, 0d0000000000000000; mov.b16 %%h0, 0;\n"
    "cvt.u32.u64 %%r9, %%d1; mbarrier.init.shared::cta.b64 [%%r0+128], 1; mov.b64 %%d6, 0; add.u32 %%r11, %%r0, 128;\n"
    "\n%.200s\nret;\n}\n";

typedef enum space { GLOBAL, GENERIC, OTHER } space;

typedef struct operation {
    char text[200];
    uint32_t width; /* bytes that must lie in memory, at a multiple of their number */
    space kind;
} operation;

enum { MOST = 400 };
static operation operations[MOST];
static size_t operation_count;

static void add(space kind, uint32_t width, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(space kind, uint32_t width, const char *format, ...)
{
    va_list arguments;
    assert_true(operation_count < MOST);
    operation *o = &operations[operation_count++];
    va_start(arguments, format);
    vsnprintf(o->text, sizeof o->text, format, arguments);
    va_end(arguments);
    o->kind = kind;
    o->width = width;
}

static void list_loads_and_stores(void)
{
    static const struct {
        const char *type, *to;
        uint32_t width;
    } types[] = {{"u8", "%h1", 1},
                 {"s8", "%h1", 1},
                 {"u16", "%h1", 2},
                 {"u32", "%r1", 4},
                 {"f32", "%f1", 4},
                 {"u64", "%d4", 8},
                 {"f64", "%e1", 8},
                 {"v2.u32", "{%r1, %r2}", 8},
                 {"v4.u32", "{%r1, %r2, %r3, %r4}", 16},
                 {"v2.u64", "{%d4, %d5}", 16}};
    static const struct {
        const char *name;
        space kind;
    } spaces[] = {{".global", GLOBAL}, {"", GENERIC}, {".shared", OTHER}, {".local", OTHER}};
    for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            add(spaces[s].kind, types[t].width, "ld%s.%s %s, [%%d1];", spaces[s].name, types[t].type, types[t].to);
            add(spaces[s].kind, types[t].width, "st%s.%s [%%d1], %s;", spaces[s].name, types[t].type, types[t].to);
        }
    add(GLOBAL, 4, "ld.global.nc.u32 %%r1, [%%d1];");
    add(GLOBAL, 4, "ld.volatile.global.u32 %%r1, [%%d1];");
    add(OTHER, 4, "ld.const.u32 %%r1, [%%d1];");
    add(OTHER, 16, "ld.const.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%d1];");
    add(GLOBAL, 4, "ld.global.u32 %%r1, [%%d1+0];\nld.global.u32 %%r1, [%%d0];");
}

static void list_atomics(void)
{
    static const struct {
        const char *op, *to, *value;
        uint32_t width;
    } ops[] = {
        {"add.u32", "%r1", "%r2", 4},       {"add.u64", "%d4", "%d5", 8},        {"min.s32", "%r1", "%r2", 4},
        {"max.u32", "%r1", "%r2", 4},       {"and.b32", "%r1", "%r2", 4},        {"or.b32", "%r1", "%r2", 4},
        {"xor.b32", "%r1", "%r2", 4},       {"exch.b32", "%r1", "%r2", 4},       {"exch.b64", "%d4", "%d5", 8},
        {"inc.u32", "%r1", "%r2", 4},       {"dec.u32", "%r1", "%r2", 4},        {"add.f32", "%f1", "%f0", 4},
        {"add.f64", "%e1", "%e0", 8},       {"cas.b32", "%r1", "%r2, %r3", 4},   {"cas.b64", "%d4", "%d5, %d6", 8},
        {"add.noftz.f16", "%h1", "%h0", 2}, {"add.noftz.f16x2", "%r1", "%r2", 4}};
    static const struct {
        const char *name;
        space kind;
    } spaces[] = {{".global", GLOBAL}, {"", GENERIC}, {".shared", OTHER}};
    for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++)
        for (size_t t = 0; t < sizeof ops / sizeof ops[0]; t++) {
            add(spaces[s].kind, ops[t].width, "atom%s.%s %s, [%%d1], %s;", spaces[s].name, ops[t].op, ops[t].to,
                ops[t].value);
            if (strncmp(ops[t].op, "exch", 4) != 0 && strncmp(ops[t].op, "cas", 3) != 0)
                add(spaces[s].kind, ops[t].width, "red%s.%s [%%d1], %s;", spaces[s].name, ops[t].op, ops[t].value);
        }
}

static void list_copies_and_matrices(void)
{
    static const char *const lists[] = {"{%r1}", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}"};
    static const char eight[] = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    for (uint32_t width = 4; width <= 16; width *= 2) {
        add(GLOBAL, width, "cp.async.ca.shared.global [%%r0], [%%d1], %u;", width);
        add(OTHER, width, "cp.async.ca.shared.global [%%r9], [%%d0], %u;", width);
    }
    add(GLOBAL, 16, "cp.async.cg.shared.global [%%r0], [%%d1], 16;");
    add(OTHER, 16, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r9], [%%d0], %%r10, [%%r11];");
    add(GLOBAL, 16,
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r0], [%%d1], %%r10, [%%r11];");
    add(OTHER, 8, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r0], [%%d0], %%r10, [%%r9];");
    add(GLOBAL, 16, "cp.async.bulk.global.shared::cta.bulk_group [%%d1], [%%r0], %%r10;");
    add(OTHER, 16, "cp.async.bulk.global.shared::cta.bulk_group [%%d0], [%%r9], %%r10;");
    for (int i = 0; i < 3; i++) {
        add(OTHER, 16, "ldmatrix.sync.aligned.m8n8.x%d.shared.b16 %s, [%%r9];", 1 << i, lists[i]);
        add(OTHER, 16, "stmatrix.sync.aligned.m8n8.x%d.shared.b16 [%%r9], %s;", 1 << i, lists[i]);
    }
    add(GLOBAL, 16, "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 %s, [%%d1], %%r10;", eight);
    add(GLOBAL, 8, "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%%d1], %s, %%r10;", eight);
    add(OTHER, 16, "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 %s, [%%r9], %%r10;", eight);
    add(OTHER, 8, "mbarrier.arrive.shared::cta.b64 %%d4, [%%r9];");
    add(OTHER, 8, "mbarrier.init.shared::cta.b64 [%%d1], 1;");
    add(OTHER, 8, "mbarrier.test_wait.parity.shared::cta.b64 %%p1, [%%r9], %%r1;");
    add(OTHER, 128,
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r0], "
        "[%%d1, {%%r1}], [%%r11];");
}

/* Lists addresses where sums wrap, and where buffers, windows and address spaces begin and end. */
static size_t list_addresses(uint64_t start, uint32_t width, uint64_t *to)
{
    static const uint64_t bases[] = {0,
                                     UINT64_C(1) << 31,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 47,
                                     SHARED_WINDOW,
                                     SHARED_WINDOW + SHARED,
                                     SHARED_WINDOW + UINT32_MAX,
                                     LOCAL_WINDOW,
                                     LOCAL_WINDOW + 64,
                                     PARAM_WINDOW,
                                     PARAM_WINDOW + 16,
                                     UINT64_C(1) << 62,
                                     UINT64_C(7) << 60,
                                     UINT64_C(1) << 63};
    size_t n = 0;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        to[n++] = bases[i] - width;
        to[n++] = bases[i] - 1;
        to[n++] = bases[i];
        to[n++] = bases[i] + width;
    }
    const uint64_t own[] = {start - width,
                            start - 1,
                            start,
                            start + 1,
                            start + BUFFER - width,
                            start + BUFFER - width + 1,
                            start + BUFFER - 1,
                            start + BUFFER,
                            start + BUFFER + width,
                            start + (16 << 20)};
    memcpy(to + n, own, sizeof own);
    return n + sizeof own / sizeof own[0];
}

static bool is_own(uint64_t address, uint64_t start, uint32_t width)
{
    return address >= start && address - start <= BUFFER - width;
}

static void try_at(const operation *o, const smp_warp_module *module, smp_warp_memory *memory, uint64_t start,
                   uint64_t address)
{
    const uint64_t params[] = {start, address};
    smp_warp_result result;
    smp_error err = {0};
    const smp_warp_launch launch = {.kernel = smp_warp_kernel_at(module, 0),
                                    .grid = {1, 1, 1},
                                    .block = {32, 1, 1},
                                    .params = params,
                                    .memory = memory};
    const smp_code code = smp_warp_run(&launch, &result, &err);
    bool told = false, elsewhere = false;
    for (size_t i = 0; i < result.finding_count; i++) {
        const smp_warp_finding *f = &result.findings[i];
        told = told || f->fault == SMP_WARP_BOUNDS || f->fault == SMP_WARP_MISALIGNED;
        elsewhere = elsewhere || f->here.line != LINE;
    }
    const uint64_t window = address >> 60 & 7;
    const bool no_memory = o->kind == GLOBAL || (o->kind == GENERIC && (!window || window > 3));
    const bool good = is_own(address, start, o->width) && address % o->width == 0;
    if (no_memory && !strstr(o->text, "wmma") && (told != !good || code))
        fail_msg("%s at 0x%llx: %s (%s)", o->text, (unsigned long long)address, told ? "told" : "not told",
                 err.message);
    if (strstr(o->text, "wmma") && o->kind == GLOBAL && !is_own(address, start, o->width) && !told)
        fail_msg("%s at 0x%llx is not told", o->text, (unsigned long long)address);
    if (elsewhere)
        fail_msg("%s at 0x%llx is told at line %u", o->text, (unsigned long long)address, result.findings[0].here.line);
    smp_warp_result_free(&result);
}

SMP_TEST(no_address_wraps_into_memory)
{
    uint64_t addresses[100];
    size_t tried = 0;
    list_loads_and_stores();
    list_atomics();
    list_copies_and_matrices();
    for (size_t i = 0; i < operation_count; i++) {
        const operation *const o = &operations[i];
        char text[sizeof frame + sizeof o->text];
        smp_error err = {0};
        smp_warp_memory *memory;
        smp_warp_module *module;
        snprintf(text, sizeof text, frame, o->text);
        assert_int_equal(smp_warp_memory_open(&memory, &err), SMP_OK);
        if (smp_warp_load_ptx("a.ptx", text, strlen(text), memory, &module, &err) ||
            smp_warp_kernel_problem(smp_warp_kernel_at(module, 0)))
            fail_msg("%s: %s", o->text,
                     err.code ? err.message : smp_warp_kernel_problem(smp_warp_kernel_at(module, 0))->message);
        const uint64_t start = (uint64_t)(uintptr_t)smp_warp_buffer(memory, BUFFER, "x");
        const size_t count = list_addresses(start, o->width, addresses);
        for (size_t k = 0; k < count; k++, tried++)
            try_at(o, module, memory, start, addresses[k]);
        smp_warp_module_free(module);
        smp_warp_memory_close(memory);
    }
    assert_true(operation_count >= 125);
    assert_true(tried >= 4299);
}
