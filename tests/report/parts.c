/* Totals over files and parts of a measurement: the same bytes in any order and grouping, and parts that are damaged,
 * cut, or made by somebody. Whole commands: tests/cli/test_measure_parts.py. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

#include "kernel_case.h"

#include "pipe/program.h"
#include "report/measure/part.h"

extern const smp_stage smp_stage_stats, smp_stage_histogram, smp_stage_loudness;

typedef struct stats_params { /* as the stages declare them */
    const char *name;
    smp_matrix percentiles;
} stats_params;
typedef struct histogram_params {
    const char *name;
    int64_t bins;
} histogram_params;
typedef struct loudness_params {
    double target;
    const char *name;
} loudness_params;

static const double some_percentiles[] = {5, 50, 99.5};
static const stats_params plain = {0}, percentiles = {.percentiles = {1, 3, some_percentiles}};
static const histogram_params few_bins = {.bins = 5}, many_bins = {.bins = 300};
static const loudness_params any_loudness = {.target = NAN};

enum { FILES = 24, KINDS = 7 };

/* Reports of single files: a step each. */
static const struct {
    const smp_stage *stage;
    const void *params;
    int64_t width, height;
    int channels;
    smp_format format;
    bool sound;
    case_values values;
} kinds[KINDS] = {
    {&smp_stage_stats, &percentiles, 9, 7, 3, SMP_U8, false, CASE_CODES},
    {&smp_stage_stats, &plain, 11, 5, 1, SMP_F32, false, CASE_ANY},
    {&smp_stage_stats, &plain, 1, 300, 2, SMP_F32, true, CASE_REALS},
    {&smp_stage_histogram, &few_bins, 13, 4, 4, SMP_U16, false, CASE_CODES},
    {&smp_stage_histogram, &many_bins, 8, 8, 1, SMP_U8, false, CASE_CODES},
    {&smp_stage_loudness, &any_loudness, 1, 16000, 2, SMP_F32, true, CASE_REALS},
    {&smp_stage_stats, &plain, 6, 6, 1, SMP_U8, false, CASE_CODES},
};

/* Measures picture `seed` of a kind. */
static void measure(int kind, uint64_t seed, smp_step_report *step)
{
    kernel_case c = {.stage = kinds[kind].stage,
                     .params = kinds[kind].params,
                     .in = case_shape(kinds[kind].width, kinds[kind].height + (int64_t)(seed % 3), kinds[kind].channels,
                                      kinds[kind].format)};
    smp_error err = {0};
    if (kinds[kind].sound) {
        c.in.kind = SMP_AUDIO;
        c.in.alpha = false;
        c.in.rate = 8000;
    }
    c.in_storage = c.out_storage = c.in.format;
    picture in = picture_make(&c.in, c.in.format);
    picture_fill(&in, seed, kinds[kind].values);
    smp_node_plan plan = case_plan(&c);
    void *result = case_result(&plan);
    case_run(&c, &plan, &c.stage->variants[1], SMP_ISA_BASE, &in, NULL, NULL, result, 0, 1);
    *step = (smp_step_report){.node = kind, .stage = c.stage, .in = c.in};
    snprintf(step->label, sizeof step->label, "%s of kind %d", c.stage->name, kind);
    snprintf(step->name, sizeof step->name, "%s", kind % 2 ? "odd" : "");
    assert_int_equal(c.stage->reduction->partials->make(c.params, &c.in, &plan, result, &step->partial, &err), SMP_OK);
    assert_int_equal(c.stage->reduction->finish(c.params, &c.in, result, &plan, &step->measurements, &err), SMP_OK);
    free(result);
    case_plan_free(&plan);
    picture_free(&in);
}

/* File `number`: one step, or two. */
static smp_run_report report_of(int number)
{
    smp_run_report report = {.input = number % 2 ? "set/odd \n\x1b name.png" : "set/even.png",
                             .steps = smp_alloc_array(2, sizeof *report.steps),
                             .step_count = number % 3 == 0 ? 2 : 1};
    assert_non_null(report.steps);
    for (size_t i = 0; i < report.step_count; i++)
        measure((number + 3 * (int)i) % KINDS, (uint64_t)number, &report.steps[i]);
    report.shape = report.steps[0].in;
    snprintf(report.shape_in, sizeof report.shape_in, "a kind %d", number % KINDS);
    if (number % 5 == 0)
        smp_note(&report.input_notes, "a note of %d", number);
    return report;
}

static smp_packer pack(const smp_totals *totals)
{
    smp_packer to = {0};
    smp_pack_uint(&to, totals->count);
    for (size_t i = 0; i < totals->count; i++)
        smp_total_pack(&totals->items[i], &to);
    assert_false(to.failed);
    return to;
}

static void unpack_into(smp_totals *totals, const smp_packer *bytes)
{
    smp_unpacker from = {.data = bytes->data, .size = bytes->size};
    smp_error err = {0};
    for (uint64_t left = smp_unpack_uint(&from); left > 0; left--) {
        smp_total total;
        assert_int_equal(smp_total_unpack(&from, &total, &err), SMP_OK);
        assert_false(from.failed);
        assert_int_equal(smp_totals_join(totals, &total, &err), SMP_OK);
    }
    assert_int_equal(from.at, from.size);
}

static void shuffle(int *order, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(case_random(state) % (uint32_t)(i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* ------------------------------------------------------------------------------------------------ any order */

SMP_TEST(stages_that_add_up_do_all_of_it)
{
    size_t found = 0;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *s = smp_stage_at(i);
        const smp_partial_ops *ops = smp_stage_partials(s);
        found += ops != NULL;
        if (s->reduction && !s->reduction->finish)
            fail_msg("%s measures without a finish", s->name);
        if (ops && !(ops->make && ops->merge && ops->report && ops->pack && ops->unpack))
            fail_msg("%s has some of make, merge, report, pack, unpack", s->name);
    }
    assert_true(found >= 3);
}

SMP_TEST(totals_are_the_same_in_any_order_and_grouping)
{
    enum { SHARDS = 6, ROUNDS = 30 };
    smp_packer files[FILES];
    smp_error err = {0};
    smp_totals all = {0};
    for (int i = 0; i < FILES; i++) {
        smp_run_report report = report_of(i);
        smp_totals one = {0};
        assert_int_equal(smp_totals_add(&one, (uint64_t)i, &report, &err), SMP_OK);
        files[i] = pack(&one);
        smp_totals_free(&one);
        smp_run_report_free(&report);
        unpack_into(&all, &files[i]);
    }
    assert_int_equal(all.count, KINDS);
    smp_packer want = pack(&all);
    smp_totals_free(&all);
    uint64_t state = 36;
    for (int round = 0; round < ROUNDS; round++) {
        int order[FILES], shards[SHARDS];
        smp_totals parts[SHARDS] = {{0}};
        shuffle(order, FILES, &state);
        shuffle(shards, SHARDS, &state);
        for (int i = 0; i < FILES; i++)
            unpack_into(&parts[case_random(&state) % (uint32_t)(1 + round % SHARDS)], &files[order[i]]);
        for (int i = 0; i < SHARDS; i++) {
            smp_packer part = pack(&parts[shards[i]]);
            unpack_into(&all, &part);
            smp_free(part.data);
            smp_totals_free(&parts[shards[i]]);
        }
        smp_packer got = pack(&all);
        assert_int_equal(got.size, want.size);
        assert_memory_equal(got.data, want.data, want.size);
        smp_free(got.data);
        smp_totals_free(&all);
    }
    smp_free(want.data);
    for (int i = 0; i < FILES; i++)
        smp_free(files[i].data);
}

/* A file, and a group that has it alone, are reported alike. */
SMP_TEST(one_file_together_is_that_file)
{
    for (int kind = 0; kind < KINDS; kind++) {
        smp_step_report step;
        smp_measurements got = {0};
        smp_error err = {0};
        measure(kind, 5, &step);
        assert_int_equal(step.stage->reduction->partials->report(step.partial, &got, &err), SMP_OK);
        assert_int_equal(got.count, step.measurements.count);
        for (size_t i = 0; i < got.count; i++) {
            const smp_measurement *a = &got.items[i], *b = &step.measurements.items[i];
            assert_string_equal(a->name, b->name);
            assert_memory_equal(&a->value, &b->value, sizeof a->value);
            assert_int_equal(a->list_len, b->list_len);
            if (a->list)
                assert_memory_equal(a->list, b->list, a->list_len * sizeof *a->list);
        }
        smp_measurements_free(&got);
        smp_measurements_free(&step.measurements);
        smp_free(step.partial);
    }
}

/* ------------------------------------------------------------------------------------------------ files */

static char place[] = "/tmp/smp-parts-XXXXXX", path[sizeof place + 16];

static int make_place(void **context)
{
    (void)context;
    if (!mkdtemp(place))
        return -1;
    snprintf(path, sizeof path, "%s/a.part", place);
    return 0;
}

static int remove_place(void **context)
{
    (void)context;
    unlink(path);
    return rmdir(place);
}

/* A part of the first `count` files, of which number 1 failed. */
static void write_part(int count, bool totals_only)
{
    const smp_part_head head = {.shard = 2,
                                .shards = 3,
                                .files = 100,
                                .list = {1, 2},
                                .work = {3, 4},
                                .totals_only = totals_only,
                                .left_out = 4,
                                .others = smp_strdup("4 .mov")};
    smp_part_writer writer;
    smp_totals totals = {0};
    smp_error err = {0};
    assert_int_equal(smp_part_create(path, true, NULL, &head, &writer, &err), SMP_OK);
    for (int i = 0; i < count; i++) {
        smp_run_report report = report_of(i);
        smp_error why = {.code = SMP_OK};
        if (i == 1)
            report.status = smp_fail(&why, SMP_E_DECODE, "it is broken");
        if (i == 1)
            smp_hint(&why, "mend it");
        assert_int_equal(smp_part_add(&writer, (uint64_t)i * 4, &report, &why, &err), SMP_OK);
        if (!report.status)
            assert_int_equal(smp_totals_add(&totals, (uint64_t)i * 4, &report, &err), SMP_OK);
        smp_run_report_free(&report);
    }
    assert_int_equal(smp_part_commit(&writer, &totals, &err), SMP_OK);
    smp_part_abort(&writer);
    smp_totals_free(&totals);
    smp_free(head.others);
}

static uint8_t *load(size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void store(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* All that --merge does with a part. */
static smp_code read_part(smp_error *err)
{
    smp_part_reader part;
    smp_totals totals = {0};
    smp_code code = smp_part_open(path, &part, err);
    if (!code)
        code = smp_part_check(&part, &totals, err);
    for (bool more = !code; more;) {
        smp_run_report report;
        smp_error why;
        code = smp_part_next(&part, &more, err);
        assert_int_equal(code, SMP_OK); /* since it was checked, but for memory */
        if (!more)
            break;
        code = smp_part_report(&part, &report, &why, err);
        smp_part_report_free(&report);
        more = !code;
    }
    for (size_t i = 0; !code && i < totals.count; i++) {
        smp_measurements measurements = {0};
        code = smp_total_measurements(&totals.items[i], &measurements, err);
        smp_measurements_free(&measurements);
    }
    smp_totals_free(&totals);
    smp_part_close(&part);
    return code;
}

static void check_measurements(const smp_step_report *got, const smp_step_report *want)
{
    assert_string_equal(got->label, want->label);
    assert_string_equal(got->name, want->name);
    assert_int_equal(got->in.channels, want->in.channels);
    assert_int_equal(got->measurements.count, want->measurements.count);
    for (size_t i = 0; i < got->measurements.count; i++) {
        const smp_measurement *a = &got->measurements.items[i], *b = &want->measurements.items[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->channel, b->channel);
        assert_int_equal(a->list_len, b->list_len);
        assert_int_equal(a->values, b->values);
        if (a->list)
            assert_memory_equal(a->list, b->list, a->list_len * sizeof *a->list);
        else
            assert_memory_equal(&a->value, &b->value, sizeof a->value);
    }
}

SMP_TEST(a_part_holds_what_files_gave)
{
    smp_part_reader part;
    smp_totals totals = {0};
    smp_error err = {0};
    write_part(FILES, false);
    assert_int_equal(smp_part_open(path, &part, &err), SMP_OK);
    assert_int_equal(smp_part_check(&part, &totals, &err), SMP_OK);
    assert_int_equal(part.head.shard, 2);
    assert_int_equal(part.head.shards, 3);
    assert_int_equal(part.head.files, 100);
    assert_int_equal(part.head.list.b, 2);
    assert_int_equal(part.head.work.a, 3);
    assert_string_equal(part.head.others, "4 .mov");
    assert_int_equal(part.done, FILES - 1);
    assert_int_equal(part.failed, 1);
    for (int i = 0; i < FILES; i++) {
        smp_run_report want = report_of(i), got;
        smp_error why;
        bool more;
        assert_int_equal(smp_part_next(&part, &more, &err), SMP_OK);
        assert_true(more);
        assert_int_equal(part.number, i * 4);
        assert_int_equal(smp_part_report(&part, &got, &why, &err), SMP_OK);
        assert_string_equal(got.input, want.input);
        assert_int_equal(got.status, i == 1 ? SMP_E_DECODE : SMP_OK);
        assert_string_equal(why.message, i == 1 ? "it is broken" : "");
        assert_string_equal(why.hint, i == 1 ? "mend it" : "");
        assert_int_equal(got.step_count, i == 1 ? 0 : want.step_count);
        for (size_t k = 0; k < got.step_count; k++)
            check_measurements(&got.steps[k], &want.steps[k]);
        if (i != 1) {
            assert_string_equal(got.shape_in, want.shape_in);
            assert_int_equal(got.input_notes.count, want.input_notes.count);
        }
        smp_part_report_free(&got);
        smp_run_report_free(&want);
    }
    assert_int_equal(totals.count, KINDS);
    smp_totals_free(&totals);
    smp_part_close(&part);
}

SMP_TEST(totals_alone_are_small)
{
    size_t few, many;
    write_part(7, true);
    free(load(&few));
    write_part(FILES, true);
    free(load(&many));
    smp_error err = {0};
    assert_int_equal(read_part(&err), SMP_OK);
    assert_true(many < few + FILES * 1000); /* loudness keeps its blocks */
}

SMP_TEST(every_damaged_byte_is_found)
{
    size_t size;
    smp_error err = {0};
    write_part(2, false);
    uint8_t *bytes = load(&size);
    assert_int_equal(read_part(&err), SMP_OK);
    for (size_t i = 0; i < size; i += i < 2000 ? 1 : 97) {
        bytes[i] ^= (uint8_t)(1 << i % 8);
        store(bytes, size);
        bytes[i] ^= (uint8_t)(1 << i % 8);
        if (read_part(&err) != SMP_E_DECODE)
            fail_msg("byte %zu of %zu: %s", i, size, err.message);
        assert_string_equal(err.where, path);
    }
    for (size_t cut = 0; cut < size; cut += cut < 2000 ? 1 : 97) {
        store(bytes, cut);
        if (read_part(&err) != SMP_E_DECODE)
            fail_msg("cut to %zu of %zu: %s", cut, size, err.message);
    }
    uint8_t *longer = malloc(size + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    longer[size] = 0;
    store(longer, size + 1);
    assert_int_equal(read_part(&err), SMP_E_DECODE);
    free(longer);
    free(bytes);
}

/* Bytes whose hashes are right and whose values are anything: an error, or values that can be told. */
SMP_TEST(whatever_a_part_says_is_checked)
{
    enum { ROUNDS = 3000, FRAME = 16 };
    size_t size;
    smp_error err = {0};
    uint64_t state = 11;
    int good = 0;
    write_part(7, false);
    uint8_t *bytes = load(&size), *changed = malloc(size);
    assert_non_null(changed);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(changed, bytes, size);
        size_t at = sizeof "smempipe part 3\n" - 1;
        for (size_t length; at < size; at += FRAME + length) {
            length = (size_t)changed[at] | (size_t)changed[at + 1] << 8 | (size_t)changed[at + 2] << 16;
            if (case_random(&state) % 3)
                continue;
            uint8_t *record = changed + at + FRAME;
            const size_t near = length < 200 || case_random(&state) % 4 == 0 ? length : 200;
            record[case_random(&state) % near] = (uint8_t)(case_random(&state) >> 7);
            smp_hash hash = smp_hash_start();
            smp_hash_add(&hash, record, length);
            for (int i = 0; i < 8; i++)
                changed[at + 8 + (size_t)i] = (uint8_t)(hash.a >> 8 * i);
        }
        store(changed, size);
        const smp_code code = read_part(&err);
        if (code != SMP_OK && code != SMP_E_DECODE)
            fail_msg("round %d: %d, %s", round, (int)code, err.message);
        good += code == SMP_OK;
    }
    assert_true(good > 0 && good < ROUNDS / 2);
    free(bytes);
    free(changed);
}

SMP_TEST(every_failing_allocation_is_reported)
{
    smp_error err = {0};
    smp_code code = SMP_E_MEMORY;
    write_part(7, false);
    for (uint64_t nth = 1; code; nth++) {
        smp_part_reader part;
        smp_totals totals = {0};
        smp_alloc_fail_at(nth);
        code = smp_part_open(path, &part, &err);
        if (!code)
            code = smp_part_check(&part, &totals, &err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_true(nth > 3 || code);
        smp_totals_free(&totals);
        smp_part_close(&part);
    }
}

SMP_TESTS_AROUND(make_place, remove_place)
