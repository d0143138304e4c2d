/* The model of time: its record, results as text, refusals by code, and what a failed allocation leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "lab/machine/machine.h"
#include "lab/time/record.h"
#include "lab_case.h"

enum { LANES = 32, BLOCKS = 300, WORDS = BLOCKS * LANES * 2 };

static const char twin[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry op(.param .u64 p0)\n{\n.shared .align 16 .b8 s[1024];\nret;\n}\n";

/* Each thread doubles a word. R8: its address, R5: the block's number. */
static const char frame[] = "\t.target\tsm_90\n\t.section\t.text.op,\"ax\",@progbits\nop:\n"
                            "/**/ S2R R0, SR_TID.X ;\n/**/ S2R R5, SR_CTAID.X ;\n/**/ LDC.64 R8, c[0x0][0x210] ;\n"
                            "/**/ LEA R0, R5, R0, 0x5 ;\n/**/ IMAD.WIDE.U32 R8, R0, 0x4, R8 ;\n%s"
                            "/**/ LDG.E R1, desc[UR6][R8.64] ;\n/**/ IADD3 R4, R1, R1, RZ ;\n"
                            "/**/ STG.E desc[UR6][R8.64], R4 ;\n/**/ EXIT ;\n";

static void open_lab(lab *l, const char *instructions)
{
    lab_open_sass(l, twin, frame, instructions);
    smp_warp_kernel *kernel = (smp_warp_kernel *)smp_warp_kernel_at(l->sass, 0);
    kernel->code.controls = smp_alloc_array(kernel->code.count, sizeof *kernel->code.controls);
    assert_non_null(kernel->code.controls);
    kernel->code.control_count = kernel->code.count;
    for (size_t i = 0; i < kernel->code.count; i++) /* 4 cycles each, no scoreboard */
        kernel->code.controls[i] = (UINT64_C(4) | UINT64_C(7) << 5 | UINT64_C(7) << 8) << (105 - 64);
    l->words = smp_warp_buffer(l->memory, WORDS * sizeof *l->words, "words");
}

static const smp_warp_kernel *kernel_of(const lab *l)
{
    return smp_warp_kernel_at(l->sass, 0);
}

static smp_code predict(lab *l, const char *wanted, double seconds)
{
    const smp_warp_launch launch = {.kernel = kernel_of(l),
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {LANES, 1, 1},
                                    .params = &l->words,
                                    .seconds = seconds,
                                    .memory = l->memory};
    smp_warp_result_free(&l->result);
    return smp_time_run(wanted, 0, &launch, kernel_of(l), &l->result, &l->err);
}

/* The result as another process gets it; from malloc. */
static char *written(const smp_warp_result *result, size_t *size)
{
    char *bytes = NULL;
    FILE *to = open_memstream(&bytes, size);
    assert_non_null(to);
    smp_warp_result_write(to, result);
    fclose(to);
    return bytes;
}

static smp_code read_back(char *bytes, size_t size, smp_warp_result *out)
{
    smp_error err;
    bool end;
    size_t open = 0;
    FILE *from = fmemopen(bytes, size, "r");
    assert_non_null(from);
    const smp_code code = smp_warp_result_read(from, out, &open, &end, &err);
    fclose(from);
    return code;
}

static void assert_same_lines(const smp_predicted_line *a, const smp_predicted_line *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].line, b[i].line);
        assert_int_equal(a[i].place, b[i].place);
        assert_true(a[i].share == b[i].share);
        assert_memory_equal(a[i].reasons, b[i].reasons, sizeof a[i].reasons);
        assert_string_equal(a[i].text, b[i].text);
    }
}

static void assert_same_predictions(const smp_predictions *a, const smp_predictions *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const smp_predicted *p = &a->items[i], *q = &b->items[i];
        assert_memory_equal(p, q, offsetof(smp_predicted, lines));
        assert_int_equal(p->line_count, q->line_count);
        assert_int_equal(p->instruction_count, q->instruction_count);
        assert_same_lines(p->lines, q->lines, p->line_count);
        assert_same_lines(p->instructions, q->instructions, p->instruction_count);
        assert_int_equal(p->price_count, q->price_count);
        assert_memory_equal(p->prices, q->prices, p->price_count * sizeof *p->prices);
        assert_int_equal(p->fit_count, q->fit_count);
    }
}

/* ------------------------------------------------------------------------------------------------ tests */

SMP_TEST(a_launch_has_a_time_with_an_interval)
{
    lab l;
    open_lab(&l, "");
    assert_int_equal(predict(&l, "h100,what-if", 0), SMP_OK);
    const smp_predicted *p = &l.result.predictions->items[0];
    assert_string_equal(p->refusal, "");
    assert_true(p->us > 1 && p->us < 20 && p->low_us < p->us && p->high_us > p->us);
    assert_true(p->price_count > 0);
    lab_close(&l);
}

/* Arithmetic behind a barrier goes on; the warp waits at the load. */
SMP_TEST(a_warp_waits_where_its_barrier_stops_it)
{
    enum { SUM = 6, LOAD = 7 }; /* places */
    lab l;
    open_lab(&l, "/**/ BAR.SYNC.DEFER_BLOCKING 0x0 ;\n/**/ IADD3 R3, R5, R5, RZ ;\n");
    assert_int_equal(predict(&l, "h100,each", 0), SMP_OK);
    const smp_predicted *p = &l.result.predictions->items[0];
    double at[LOAD + 1] = {0};
    for (size_t i = 0; i < p->line_count; i++)
        if (p->lines[i].place <= LOAD)
            at[p->lines[i].place] = p->lines[i].reasons[SMP_TIME_BARRIER];
    assert_true(at[LOAD] > 0);
    assert_true(at[SUM] <= 0);
    lab_close(&l);
}

/* Half of the lanes jump; the others come to the end of their way, and then the first half goes on. */
SMP_TEST(a_warp_whose_lanes_have_parted_pays_to_go_on_with_others)
{
    enum { OTHERS = 11 }; /* the place where these go on */
    lab l;
    open_lab(&l, "/**/ LOP3.LUT R2, R0, 0x10, RZ, 0xc0, !PT ;\n/**/ ISETP.NE.AND P0, PT, R2, RZ, PT ;\n"
                 "/**/ BSSY B0, `(.L_2) ;\n/**/ @P0 BRA `(.L_1) ;\n/**/ IADD3 R3, R5, R5, RZ ;\n"
                 "/**/ BRA `(.L_2) ;\n.L_1:\n/**/ IADD3 R3, R5, R5, R5 ;\n.L_2:\n/**/ BSYNC B0 ;\n");
    assert_int_equal(predict(&l, "h100,each", 0), SMP_OK);
    const smp_predicted *p = &l.result.predictions->items[0];
    double waits = 0;
    for (size_t i = 0; i < p->line_count; i++)
        if (p->lines[i].place == OTHERS)
            waits = p->lines[i].reasons[SMP_TIME_BRANCH];
    assert_true(waits > 0.5);
    lab_close(&l);
}

SMP_TEST(predictions_are_the_same_twice)
{
    lab labs[2];
    for (int i = 0; i < 2; i++) {
        open_lab(&labs[i], "");
        void *other = smp_alloc((size_t)i * 4096 + 1); /* memory lies elsewhere */
        assert_int_equal(predict(&labs[i], "h100,each,listing,what-if", 0), SMP_OK);
        smp_free(other);
    }
    assert_same_predictions(labs[0].result.predictions, labs[1].result.predictions);
    lab_close(&labs[0]);
    lab_close(&labs[1]);
}

SMP_TEST(predictions_come_back_from_a_file)
{
    lab l;
    smp_warp_result back;
    size_t size;
    open_lab(&l, "");
    assert_int_equal(predict(&l, "h100,each,listing,what-if", 0), SMP_OK);
    char *bytes = written(&l.result, &size);
    assert_int_equal(read_back(bytes, size, &back), SMP_OK);
    assert_same_predictions(l.result.predictions, back.predictions);
    smp_warp_result_free(&back);
    free(bytes);
    lab_close(&l);
}

/* Cut files are refused; flipped bytes are taken or refused. Nothing is left behind (sanitizers look). */
SMP_TEST(broken_results_are_refused)
{
    lab l;
    smp_warp_result back;
    size_t size;
    open_lab(&l, "");
    assert_int_equal(predict(&l, "h100,each,what-if", 0), SMP_OK);
    char *bytes = written(&l.result, &size);
    for (size_t i = 1; i < size; i += 1 + i / 99) {
        assert_int_not_equal(read_back(bytes, i, &back), SMP_OK);
        smp_warp_result_free(&back);
        bytes[i] = (char)(bytes[i] ^ 1 << i % 7);
        (void)read_back(bytes, size, &back);
        smp_warp_result_free(&back);
        bytes[i] = (char)(bytes[i] ^ 1 << i % 7);
    }
    free(bytes);
    lab_close(&l);
}

SMP_TEST(a_failed_allocation_is_an_error_or_a_refusal)
{
    enum { MOST = 2000 };
    int failed = 0, refused = 0, n = 1;
    for (bool whole = false; !whole && n < MOST; n++) {
        lab l;
        open_lab(&l, "");
        smp_alloc_fail_at((uint64_t)n);
        const smp_code code = predict(&l, "h100,each", 0);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        const bool told = !code && l.result.predictions && l.result.predictions->items[0].refusal[0];
        failed += code != SMP_OK;
        refused += told;
        whole = !code && !told && l.result.predictions->items[0].us > 1;
        lab_close(&l);
    }
    assert_true(failed > 0 && refused > 0 && n < MOST);
}

SMP_TEST(a_launch_whose_model_takes_too_long_is_refused)
{
    lab l;
    open_lab(&l, "");
    smp_time_gpu gpu;
    smp_time_recorder *recorder;
    smp_predicted one;
    assert_true(smp_time_gpu_find("h100", &gpu));
    assert_int_equal(smp_time_record(&gpu, &recorder, &l.err), SMP_OK);
    const smp_warp_launch launch = {.kernel = kernel_of(&l),
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {LANES, 1, 1},
                                    .params = &l.words,
                                    .observer = smp_time_observer(recorder),
                                    .memory = l.memory};
    assert_int_equal(smp_warp_run(&launch, &l.result, &l.err), SMP_OK);
    const smp_time_wish wish = {.deadline = 1e-9};
    assert_int_equal(smp_time_predict(recorder, kernel_of(&l), &wish, &one, &l.err), SMP_E_LIMIT);
    assert_non_null(strstr(l.err.message, "--time-limit"));
    smp_time_record_free(recorder);
    lab_close(&l);
}

/* A loop of 100 rounds that loads one place past L1, and what ends it. */
static const char counted[] = "/**/ MOV R2, RZ ;\n.L_1:\n/**/ LDG.E.STRONG.GPU R3, desc[UR6][R8.64] ;\n"
                              "/**/ IADD3 R4, R4, R3, RZ ;\n/**/ IADD3 R2, R2, 0x1, RZ ;\n"
                              "/**/ ISETP.GE.AND P0, PT, %s, 0x64, PT ;\n/**/ @!P0 BRA `(.L_1) ;\n";

SMP_TEST(only_a_loop_that_ends_by_what_it_watches_is_refused)
{
    static const struct {
        const char *ends_by, *why;
    } cases[] = {{"R2", ""}, {"R3", "a loop in line 0 that waits for other blocks"}, {"R4", "a loop in line 0 that"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024], why[160];
        lab l;
        snprintf(text, sizeof text, counted, cases[i].ends_by);
        open_lab(&l, text);
        assert_int_equal(time_refuses_code(&kernel_of(&l)->code, "H100", why, sizeof why), cases[i].why[0] != 0);
        assert_int_equal(strncmp(why, cases[i].why, strlen(cases[i].why)), 0);
        lab_close(&l);
    }
}

/* Without stall counts and scoreboards nothing would wait. */
SMP_TEST(code_whose_control_bits_are_blank_is_refused)
{
    char why[160];
    lab l;
    open_lab(&l, "");
    const warp_code *code = &kernel_of(&l)->code;
    assert_false(time_refuses_code(code, "H100", why, sizeof why));
    memset(code->controls, 0, code->control_count * sizeof *code->controls);
    assert_true(time_refuses_code(code, "H100", why, sizeof why));
    assert_non_null(strstr(why, "is not at hand"));
    lab_close(&l);
}

SMP_TEST(units_are_counted_by_who_touched_them)
{
    smp_time_gpu gpu;
    time_units units;
    assert_true(smp_time_gpu_find("h100", &gpu));
    assert_true(time_units_open(&units, &gpu, 8));
    time_units_begin(&units, 0);
    assert_false(time_units_touch(&units, 100, WARP_READS, UINT32_MAX, 0));
    assert_false(time_units_touch(&units, 101, WARP_READS, UINT32_MAX, 0)); /* the same unit of 64 bytes */
    assert_false(time_units_touch(&units, 200, WARP_WRITES, UINT32_MAX, 0));
    assert_false(time_units_touch(&units, 202, WARP_WRITES, 15, 0));
    time_units_begin(&units, 1);
    assert_false(time_units_touch(&units, 100, WARP_READS, UINT32_MAX, 0));
    assert_true(time_units_touch(&units, 200, WARP_READS, UINT32_MAX, 0));  /* what block 0 wrote */
    assert_true(time_units_touch(&units, 100, WARP_WRITES, UINT32_MAX, 0)); /* what block 0 read */
    assert_false(time_units_touch(&units, 202, WARP_READS, 15 << 4, 0));    /* other bytes of it */
    assert_true(time_units_touch(&units, 101, WARP_WRITES, 15, 0));         /* its other bytes are there: it was read */
    const time_footprint f = time_units_end(&units);
    assert_true(f.fetches == 1);
    assert_true(f.written == 4 && f.written_units == 3 && f.partial == 1);
    assert_true(f.held_sectors == 4 && f.held_lines == 2); /* 100 and 101; 200 and 202 */
    assert_true(f.near == 3);                              /* 100, 200 and 202 by block 1 */
    time_units_close(&units);
}

/* Read after L2 has given it up, a written sector has been in DRAM, and is held anew once it is written again. */
SMP_TEST(what_is_written_again_after_l2_gave_it_up_is_held_twice)
{
    smp_time_gpu gpu;
    time_units units;
    assert_true(smp_time_gpu_find("h100", &gpu));
    assert_true(time_units_open(&units, &gpu, 8));
    time_units_begin(&units, 0);
    (void)time_units_touch(&units, 100, WARP_WRITES, UINT32_MAX, 0);
    units.clock += units.own_age + 1;
    (void)time_units_touch(&units, 100, WARP_READS, UINT32_MAX, 0);
    (void)time_units_touch(&units, 100, WARP_WRITES, UINT32_MAX, 0);
    const time_footprint f = time_units_end(&units);
    assert_true(f.fetches == 1 && f.held_sectors == 2);
    time_units_close(&units);
}

/* Warps run one after another in the lab: what one reads again of its local memory is as old as what all others wrote
 * meanwhile makes it. 1,280 words of 300 warps are 49 MB, 64 are 2. */
SMP_TEST(local_memory_of_many_warps_does_not_stay_in_l2)
{
    static const char stores[] = "/**/ MOV R2, RZ ;\n.L_1:\n/**/ STL [R2], R5 ;\n/**/ IADD3 R2, R2, 0x4, RZ ;\n"
                                 "/**/ ISETP.GE.AND P0, PT, R2, 0x%x, PT ;\n/**/ @!P0 BRA `(.L_1) ;\n"
                                 "/**/ LDL R3, [RZ] ;\n";
    static const uint32_t bytes[] = {64 * 4, 1280 * 4};
    enum { LINES = BLOCKS * 2 /* units of 64 bytes that a load of each block's touches */ };
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        lab l;
        smp_time_gpu gpu;
        smp_time_recorder *recorder;
        snprintf(text, sizeof text, stores, bytes[i]);
        open_lab(&l, text);
        ((smp_warp_kernel *)smp_warp_kernel_at(l.sass, 0))->code.local_bytes = bytes[i];
        assert_true(smp_time_gpu_find("h100", &gpu));
        assert_int_equal(smp_time_record(&gpu, &recorder, &l.err), SMP_OK);
        const smp_warp_launch launch = {.kernel = kernel_of(&l),
                                        .grid = {BLOCKS, 1, 1},
                                        .block = {LANES, 1, 1},
                                        .params = &l.words,
                                        .observer = smp_time_observer(recorder),
                                        .memory = l.memory};
        assert_int_equal(smp_warp_run(&launch, &l.result, &l.err), SMP_OK);
        const time_trace *trace = time_record_end(recorder);
        assert_non_null(trace);
        const double lines = LINES * (i ? 2 : 1), near = 0.05; /* of global and local memory; units are sampled */
        assert_true(trace->memory.fetches > (1 - near) * lines && trace->memory.fetches < (1 + near) * lines);
        smp_time_record_free(recorder);
        lab_close(&l);
    }
}

SMP_TEST(boards_with_other_memory_are_not_known)
{
    smp_time_gpu gpu;
    assert_true(smp_time_gpu_of("NVIDIA H100 80GB HBM3", 132, &gpu));
    assert_true(smp_time_gpu_of("NVIDIA H200", 132, &gpu));
    assert_true(smp_time_gpu_of("NVIDIA A100-SXM4-80GB", 108, &gpu));
    assert_false(smp_time_gpu_of("NVIDIA H100 NVL", 132, &gpu));
    assert_false(smp_time_gpu_of("NVIDIA H100 PCIe", 114, &gpu));
    assert_false(smp_time_gpu_of("NVIDIA A100-SXM4-40GB", 108, &gpu));
    assert_false(smp_time_gpu_of("NVIDIA A100-PCIE-40GB", 108, &gpu));
    assert_false(smp_time_gpu_of("NVIDIA L40S", 142, &gpu));
}
