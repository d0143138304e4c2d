/* The warp machine on PTX: texts, calls, counts and findings. */
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "lab_case.h"

/* ------------------------------------------------------------------------------------------------ running */

static void open_file(lab *l, const char *name)
{
    char path[512];
    static char text[1 << 18];
    snprintf(path, sizeof path, "%s/tests/lab/%s", SMP_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    lab_open(l, "%s", text);
    assert_int_equal(l->code, SMP_OK);
}

static void run(lab *l, const char *name, uint32_t grid, uint32_t block, const void *params)
{
    bool many;
    const smp_warp_launch launch = {.kernel = smp_warp_kernel_find(l->ptx, name, &many),
                                    .grid = {grid, grid, 1},
                                    .block = {block, block == 32 ? 8 : 1, 1},
                                    .params = params,
                                    .memory = l->memory};
    assert_non_null(launch.kernel);
    smp_warp_launch flat = launch;
    if (block != 32)
        flat.grid[1] = 1;
    smp_warp_result_free(&l->result);
    l->code = smp_warp_run(&flat, &l->result, &l->err);
}

static const smp_warp_row *row(const lab *l, uint32_t line, smp_warp_space space, smp_warp_op op)
{
    for (size_t i = 0; i < l->result.row_count; i++) {
        const smp_warp_row *r = &l->result.rows[i];
        if (r->line == line && r->space == space && r->op == op)
            return r;
    }
    fail_msg("no row for line %u", line);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ texts */

static const char pointers[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .align 8 .u64 table[2] = {less, more};\n" /* functions that come later */
    ".func (.param .b32 r) less(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "sub.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) more(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "add.u32 %r2, %r1, 100;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry f(.param .u64 p0, .param .u32 p1)\n{\n.reg .b32 %r<5>;\n.reg .b64 %d<6>;\n"
    "ld.param.u64 %d0, [p0];\nld.param.u32 %r3, [p1];\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 1;\n"
    "mul.wide.u32 %d1, %r1, 8;\nmov.u64 %d2, table;\nadd.u64 %d2, %d2, %d1;\nld.global.u64 %d3, [%d2];\n"
    "cvt.u64.u32 %d5, %r3;\nadd.u64 %d3, %d3, %d5;\n{\n.param .b32 x;\nst.param.b32 [x], %r0;\n.param .b32 y;\n"
    "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (y), %d3, (x), prototype;\n"
    "ld.param.b32 %r2, [y];\n}\nmul.wide.u32 %d4, %r0, 4;\nadd.u64 %d4, %d0, %d4;\n"
    "st.global.u32 [%d4], %r2;\nret;\n}\n";

SMP_TEST(functions_are_called_through_pointers)
{
    lab l;
    lab_open(&l, "%s", pointers);
    assert_int_equal(l.code, SMP_OK);
    uint32_t *out = smp_warp_buffer(l.memory, 64 * sizeof *out, "out");
    struct {
        uint64_t out;
        uint32_t off;
    } params = {(uint64_t)(uintptr_t)out, 0};
    run(&l, "f", 1, 64, &params);
    assert_int_equal(l.code, SMP_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 2 ? i + 100 : i - 1);
    params.off = 8; /* no function is there */
    run(&l, "f", 1, 64, &params);
    assert_int_equal(l.code, SMP_E_PROCESS);
    assert_non_null(strstr(l.err.message, "thread 0 calls a function at 0x"));
    lab_close(&l);
    char broken[sizeof pointers];
    snprintf(broken, sizeof broken, "%s", pointers);
    memcpy(strstr(broken, "{less"), "{lass", 5);
    lab_open(&l, "%s", broken);
    assert_int_equal(l.code, SMP_E_DECODE);
    assert_non_null(strstr(l.err.message, "'lass' is neither a variable nor a function"));
    lab_close(&l);
}

SMP_TEST(what_is_no_ptx_is_refused)
{
    static const char *const texts[] = {"",
                                        "int main() {}",
                                        ".version 8.0\n.entry f(",
                                        ".version 8.0\n.frob x;",
                                        ".version 8.0\n.global .u32 x[99999999999];",
                                        ".version 8.0\n.visible .entry f()\n{\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lab l;
        lab_open(&l, "%s", texts[i]);
        assert_int_equal(l.code, SMP_E_DECODE);
        assert_null(l.ptx);
        lab_close(&l);
    }
}

SMP_TEST(functions_are_called)
{
    lab l;
    open_file(&l, "calls.ptx");
    int32_t *out = smp_warp_buffer(l.memory, 64 * sizeof *out, "out");
    struct {
        uint64_t out;
        int32_t n;
    } params = {(uint64_t)(uintptr_t)out, 5};
    run(&l, "calls", 1, 64, &params);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(out[63], 0 + 1 + 4 + 9);
    assert_int_equal(out[4], 30);
    lab_close(&l);
}

/* A function that is given the address of the caller's local variable changes that one. */
SMP_TEST(a_function_writes_to_its_callers_variable)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func add(.param .u64 a, .param .u32 b)\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
        ".local .align 4 .b8 own[16];\nld.param.u64 %d0, [a]; ld.param.u32 %r0, [b]; mov.u32 %r2, 9;\n"
        "st.local.u32 [own], %r2; ld.u32 %r1, [%d0]; add.s32 %r1, %r1, %r0; st.u32 [%d0], %r1; ret;\n}\n"
        ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<4>; .reg .b64 %d<6>;\n.local .align 4 .b8 mine[16];\n"
        "ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; st.local.u32 [mine+4], %r0; mov.u64 %d1, mine;\n"
        "add.u64 %d2, %d1, 4; cvta.local.u64 %d3, %d2; mov.u32 %r1, 100;\n"
        "{\n.param .b64 x; st.param.b64 [x], %d3; .param .b32 y; st.param.b32 [y], %r1; call.uni add, (x, y);\n}\n"
        "ld.local.u32 %r2, [mine+4]; mul.wide.u32 %d4, %r0, 4; add.u64 %d4, %d0, %d4; st.global.u32 [%d4], %r2;\n"
        "ret;\n}\n";
    lab l;
    lab_open(&l, "%s", text);
    if (l.code)
        fail_msg("%s", l.err.message);
    uint32_t *out = smp_warp_buffer(l.memory, 32 * sizeof *out, "out");
    const uint64_t address = (uint64_t)(uintptr_t)out;
    run(&l, "op", 1, 16, &address);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(out[7], 107);
    lab_close(&l);
}

/* ------------------------------------------------------------------------------------------------ counts */

static void transpose(lab *l, const char *name)
{
    enum { SIDE = 64 };
    float *out = smp_warp_buffer(l->memory, SIDE * SIDE * sizeof *out, "out");
    float *in = smp_warp_buffer(l->memory, SIDE * SIDE * sizeof *in, "in");
    for (int i = 0; i < SIDE * SIDE; i++)
        in[i] = (float)i;
    struct {
        uint64_t out, in;
        int32_t width, height;
    } params = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in, SIDE, SIDE};
    run(l, name, 2, 32, &params);
    assert_int_equal(l->code, SMP_OK);
    assert_int_equal(l->result.finding_count, 0);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(out[i % SIDE * SIDE + i / SIDE] == in[i]);
}

SMP_TEST(a_column_conflicts_and_a_pad_helps)
{
    lab l;
    open_file(&l, "transpose.ptx");
    transpose(&l, "transposeTiled");
    const smp_warp_row *load = row(&l, 24, SMP_WARP_SHARED, SMP_WARP_LOAD);
    assert_int_equal(load->instructions, 128);
    assert_int_equal(load->wavefronts, 128 * 32);
    assert_int_equal(load->conflicts, 128 * 31);
    assert_int_equal(load->worst_wavefronts, 32);
    assert_string_equal(load->array, "tile");
    assert_int_equal(row(&l, 19, SMP_WARP_SHARED, SMP_WARP_STORE)->conflicts, 0);
    transpose(&l, "transposePadded");
    assert_int_equal(row(&l, 38, SMP_WARP_SHARED, SMP_WARP_LOAD)->conflicts, 0);
    transpose(&l, "transposeNaive");
    const smp_warp_row *store = row(&l, 10, SMP_WARP_GLOBAL, SMP_WARP_STORE);
    assert_int_equal(store->sectors, 128 * 32);
    assert_int_equal(store->sectors_ideal, 128 * 4);
    lab_close(&l);
}

/* A function of a header that is inlined into itself: what it loads is the line's that calls it from outside. */
SMP_TEST(lines_of_headers_are_the_callers)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".file 1 \"a.cu\"\n.file 2 \"/opt/cuda/include/cub/scan.cuh\"\n"
                               ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<3>; .reg .b64 %d<4>;\n.loc 1 3 1\n"
                               "ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
                               "add.u64 %d1, %d0, %d1;\nL0:\n.loc 1 7 5\n"
                               ".loc 2 50 9, function_name L0, inlined_at 1 7 5\n"
                               ".loc 2 60 9, function_name L0, inlined_at 2 50 9\n"
                               ".loc 2 60 9, function_name L0, inlined_at 2 60 9\n"
                               ".loc 2 59 9, function_name L0, inlined_at 2 60 9\n"
                               "ld.global.u32 %r1, [%d1];\n.loc 1 8 1\nst.global.u32 [%d1], %r1;\nret;\n}\n";
    lab l;
    lab_open(&l, "%s", text);
    assert_int_equal(l.code, SMP_OK);
    const uint64_t words = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "words");
    run(&l, "op", 1, 64, &words);
    assert_int_equal(l.code, SMP_OK);
    assert_int_equal(row(&l, 7, SMP_WARP_GLOBAL, SMP_WARP_LOAD)->instructions, 2);
    lab_close(&l);
}

/* nvdisasm names a place where it has changed: two kernels of one source line have it once. */
SMP_TEST(a_kernel_on_the_line_of_the_one_before_has_that_line)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
                              ".visible .entry a()\n{\n.loc 1 3 0\nret;\n}\n"
                              ".visible .entry b()\n{\n.loc 1 3 0\nret;\n}\n"
                              ".visible .entry c()\n{\nret;\n}\n";
    static const char text[] = "\t.target\tsm_90\n\t.section\t.text.a,\"ax\",@progbits\na:\n"
                               "\t//## File \"a.cu\", line 3\n/**/ STS [0x400], R0 ;\n/**/ EXIT ;\n"
                               "\t.section\t.text.b,\"ax\",@progbits\nb:\n/**/ STS [0x400], R0 ;\n/**/ EXIT ;\n"
                               "\t.section\t.text.c,\"ax\",@progbits\nc:\n/**/ STS [0x400], R0 ;\n/**/ EXIT ;\n";
    static const uint32_t lines[] = {3, 3, 0};
    lab l;
    smp_warp_module *sass;
    lab_open(&l, "%s", ptx);
    assert_int_equal(smp_warp_load_sass("a.sass", text, strlen(text), NULL, 0, l.ptx, l.memory, &sass, &l.err), SMP_OK);
    for (size_t i = 0; i < 3; i++) {
        const smp_warp_launch launch = {
            .kernel = smp_warp_kernel_at(sass, i), .grid = {1, 1, 1}, .block = {32, 1, 1}, .memory = l.memory};
        smp_warp_result_free(&l.result);
        (void)smp_warp_run(&launch, &l.result, &l.err);
        assert_int_equal(l.result.row_count, 1);
        assert_int_equal(l.result.rows[0].line, lines[i]);
    }
    smp_warp_module_free(sass);
    lab_close(&l);
}

SMP_TEST(some_blocks_are_enough)
{
    static const struct {
        const char *text;
        uint64_t count, last;
    } cases[] = {{"first,middle,last", 3, 99}, {"5", 5, 99}, {"1", 1, 0}, {"last,first,last", 2, 99}};
    smp_error err;
    uint64_t *list, count;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(smp_warp_choose_blocks(cases[i].text, 100, &list, &count, &err), SMP_OK);
        assert_int_equal(count, cases[i].count);
        assert_int_equal(list[count - 1], cases[i].last);
        smp_free(list);
    }
    assert_int_equal(smp_warp_choose_blocks("some", 100, &list, &count, &err), SMP_E_USAGE);
    smp_free(list);
}

/* ------------------------------------------------------------------------------------------------ findings */

SMP_TEST(planted_mistakes_are_found)
{
    static const struct {
        const char *kernel;
        uint32_t grid, block;
        int32_t n;
        smp_warp_fault fault;
        uint32_t line;
        const char *text;
    } cases[] = {{"raceNoSync", 1, 256, 0, SMP_WARP_RACE, 6, "without a barrier"},
                 {"uninit", 1, 256, 0, SMP_WARP_UNINITIALISED, 16, "byte 800 of 's'"},
                 {"outside", 1, 80, 0, SMP_WARP_BOUNDS, 22, "byte 256 of shared memory"},
                 {"outsideGlobal", 2, 256, 256, SMP_WARP_BOUNDS, 30, "past the end of 'b'"},
                 {"divergent", 1, 128, 40, SMP_WARP_BARRIER, 38, "different barriers"},
                 {"leaves", 1, 128, 100, SMP_WARP_BARRIER, 51, "28 of the block's 128 threads"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lab l;
        open_file(&l, "bugs.ptx");
        const uint64_t a = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a");
        const uint64_t b = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "b");
        const uint64_t two[] = {a, b}, one[] = {b, (uint64_t)cases[i].n};
        run(&l, cases[i].kernel, cases[i].grid, cases[i].block, i ? one : two);
        assert_int_equal(l.code, SMP_OK);
        bool found = false;
        for (size_t k = 0; k < l.result.finding_count; k++) {
            const smp_warp_finding *f = &l.result.findings[k];
            found = found ||
                    (f->fault == cases[i].fault && (f->here.line == cases[i].line || f->other.line == cases[i].line) &&
                     strstr(f->text, cases[i].text));
        }
        if (!found)
            fail_msg("%s: its mistake was not found", cases[i].kernel);
        lab_close(&l);
    }
}

/* Lanes write 1.0 and 2.0, whose lower words are alike, to one place. */
SMP_TEST(doubles_that_differ_in_one_word_race)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>;\n"
                               ".shared .align 8 .b8 s[8];\nmov.u32 %r0, %tid.x; and.b32 %r0, %r0, 1;\n"
                               "add.u32 %r0, %r0, 1; cvt.rn.f64.u32 %d1, %r0; st.shared.f64 [s], %d1;\nret;\n}\n";
    lab l;
    lab_open(&l, "%s", text);
    assert_int_equal(l.code, SMP_OK);
    const uint64_t none = 0;
    run(&l, "op", 1, 32, &none);
    assert_int_equal(l.code, SMP_OK);
    assert_int_not_equal(l.result.finding_count, 0);
    assert_int_equal(l.result.findings[0].fault, SMP_WARP_RACE);
    lab_close(&l);
}

SMP_TEST(a_race_names_both_threads)
{
    lab l;
    open_file(&l, "bugs.ptx");
    const uint64_t buffer = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a"), params[] = {buffer, buffer};
    run(&l, "raceNoSync", 1, 256, params);
    int races = 0;
    for (size_t k = 0; k < l.result.finding_count; k++) {
        const smp_warp_finding *f = &l.result.findings[k];
        if (f->fault != SMP_WARP_RACE)
            continue;
        races++;
        assert_int_equal(f->here.thread[0] + f->other.thread[0], 255); /* s[t] and s[255 - t] */
        assert_int_equal(f->here.line + f->other.line, 6 + 7);
    }
    assert_int_not_equal(races, 0);
    lab_close(&l);
}

/* A program writes them which may have overwritten them before. */
SMP_TEST(results_with_accesses_that_banks_do_not_serve_are_read_without_these)
{
    smp_warp_row rows[] = {{.width = 0, .worst_active = 1}, {.width = 8, .worst_active = 1, .worst_offset = {5}}};
    const smp_warp_result wrong = {.kernel = "k", .symbol = "k", .code = "sass", .rows = rows, .row_count = 2};
    smp_warp_result read;
    smp_error err;
    bool end;
    size_t open = 0;
    FILE *file = tmpfile();
    assert_non_null(file);
    smp_warp_result_write(file, &wrong);
    rewind(file);
    assert_int_equal(smp_warp_result_read(file, &read, &open, &end, &err), SMP_OK);
    fclose(file);
    assert_int_equal(read.rows[0].worst_active, 0);
    assert_int_equal(read.rows[1].worst_offset[0], 0);
    smp_warp_result_free(&read);
}

SMP_TEST(results_cross_a_pipe)
{
    lab l;
    smp_warp_result copy, none;
    smp_error err;
    bool end;
    size_t open = 0;
    open_file(&l, "bugs.ptx");
    const uint64_t buffer = (uint64_t)(uintptr_t)smp_warp_buffer(l.memory, 1024, "a"), params[] = {buffer, buffer};
    run(&l, "raceNoSync", 1, 256, params);
    FILE *file = tmpfile();
    assert_non_null(file);
    smp_warp_result_write(file, &l.result);
    rewind(file);
    assert_int_equal(smp_warp_result_read(file, &copy, &open, &end, &err), SMP_OK);
    assert_false(end);
    assert_int_equal(smp_warp_result_read(file, &none, &open, &end, &err), SMP_OK);
    assert_true(end);
    fclose(file);
    assert_int_equal(copy.row_count, l.result.row_count);
    assert_memory_equal(copy.rows, l.result.rows, copy.row_count * sizeof *copy.rows);
    assert_int_equal(copy.finding_count, l.result.finding_count);
    assert_memory_equal(copy.findings, l.result.findings, copy.finding_count * sizeof *copy.findings);
    assert_int_equal(copy.lane_instructions, l.result.lane_instructions);
    assert_true(smp_warp_result_add(&copy, &l.result));
    assert_int_equal(copy.launches, 2);
    assert_int_equal(copy.row_count, l.result.row_count);
    assert_int_equal(copy.rows[0].lanes, 2 * l.result.rows[0].lanes);
    smp_warp_result_free(&copy);
    lab_close(&l);
}
