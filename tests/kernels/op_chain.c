/* Joined steps: the bytes and the clipped samples of the stages one by one, by their naive kernels, whatever the chain,
 * storage, device, variant and strip; and which steps are joined. */
#include "suite.h"

#include "matrix_case.h"

#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "elementwise/op_chain.h"
#include "stages/shared/samples/op_chains.h"

enum { MOST = 12, CHANNELS = 4 };

/* Statements whose result for a sample depends on that sample alone. */
static const char *const points[] = {"invert",
                                     "gamma 1.8",
                                     "gamma 0.4",
                                     "levels black=10% white=80%",
                                     "levels black=90% white=20%",
                                     "levels white=70% gamma=1.4",
                                     "threshold 40%",
                                     "posterise 5",
                                     "add 10%",
                                     "subtract 25%",
                                     "multiply 130%",
                                     "divide 60%",
                                     "depth 16bit",
                                     "depth float",
                                     "depth 8bit"};
/* And what may stand between them. */
static const char *const others[] = {"stats",     "gaussian 1px", "sobel",    "rotate 90",    "blend 20% mode=screen",
                                     "histogram", "light linear", "equalize", "flip vertical"};
enum { POINTS = sizeof points / sizeof points[0], OTHERS = sizeof others / sizeof others[0] };

static smp_plan *plan_of(smp_program *program, const smp_shape *in, bool plain, bool fuse)
{
    smp_plan_request ask = {.program = program,
                            .input = *in,
                            .orientation = 1,
                            .output = "memory",
                            .accepts = accepts_all,
                            .plain_storage = plain,
                            .fuse = fuse};
    smp_plan *plan = NULL;
    smp_diags diags = {0};
    smp_error err = {0};
    if (smp_plan_make(&ask, &diags, &plan, &err))
        fail_msg("plan: %s", err.message);
    smp_diags_free(&diags);
    return plan;
}

static uint64_t clipped(const outcome *o)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < o->report.step_count; i++)
        sum += o->report.steps[i].clipped;
    return sum;
}

static smp_device *device(const char *spec, const char *isa)
{
    smp_device *made = NULL;
    smp_error err = {0};
    smp_device_request ask = {.spec = spec, .threads = 2, .isa = isa};
    if (smp_device_open(&ask, &made, NULL, 0, &err))
        fail_msg("%s: %s", spec, err.message);
    return made;
}

/* Runs the chain joined on the device, and one by one by the naive kernels of a CPU. Returns how many steps fewer. */
static size_t same(const char *const *lines, size_t count, const smp_shape *shape, case_values values, bool plain,
                   smp_device *on, const char *variant, int64_t strip_rows)
{
    static smp_device *reference;
    if (!reference)
        reference = device("cpu", "base");
    smp_program *program = parse_lines(lines, count);
    assert_non_null(program);
    smp_plan *joined = plan_of(program, shape, plain, true);
    smp_plan *single = plan_of(program, shape, false, false);
    picture in = picture_make(shape, shape->format);
    picture_fill(&in, count * 7 + (uint64_t)shape->width, values);
    outcome a = {0}, b = {0};
    run_plan(joined, &in, variant, strip_rows, on, &a);
    run_plan(single, &in, "naive", 0, reference, &b);
    if (!picture_equal(&a.out, &b.out) || clipped(&a) != clipped(&b) || !same_measurements(&a.report, &b.report)) {
        for (size_t i = 0; i < count; i++)
            print_error("%s\n", lines[i]);
        fail_msg("%s %s, %d channels of %s%s: other %s than the stages one by one (%llu clipped, %llu)", on->info.kind,
                 variant ? variant : "", shape->channels, smp_format_name(shape->format),
                 plain ? ", plain storage" : "", picture_equal(&a.out, &b.out) ? "counts or findings" : "samples",
                 (unsigned long long)clipped(&a), (unsigned long long)clipped(&b));
    }
    const size_t fewer = single->step_count > joined->step_count ? single->step_count - joined->step_count : 0;
    outcome_free(&a);
    outcome_free(&b);
    picture_free(&in);
    smp_plan_free(joined);
    smp_plan_free(single);
    smp_program_free(program);
    return fewer;
}

/* ---------------------------------------------------------------------------------------------- the bytes */

static void every_pair_on(smp_device *on, int64_t width, int64_t height)
{
    size_t fewer = 0;
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < POINTS; k++) {
            const int turn = i * POINTS + k;
            const char *const lines[] = {points[i], points[k]};
            const smp_shape shape =
                case_shape(width, height, 1 + turn % CHANNELS, (smp_format)(turn / 4 % SMP_FORMATS));
            fewer += same(lines, 2, &shape, turn % 5 ? CASE_REALS : CASE_ANY, turn % 7 == 0, on, NULL, turn % 3);
        }
    assert_true(fewer > POINTS * POINTS / 2);
}

SMP_TEST(every_pair_on_each_instruction_set)
{
    for (int isa = 0; isa < 3; isa++) {
        smp_device *on = NULL;
        smp_error err = {0};
        smp_device_request ask = {.spec = "cpu", .threads = 2, .isa = (const char *const[]){"base", "v3", "v4"}[isa]};
        if (smp_device_open(&ask, &on, NULL, 0, &err))
            continue; /* this processor has none */
        every_pair_on(on, 131, 9);
        smp_device_close(on);
    }
}

SMP_TEST(every_pair_on_the_emulator)
{
    smp_device *on = device("simt", NULL);
    every_pair_on(on, 33, 5);
    smp_device_close(on);
}

/* Chains of everything: what is joined and what is not, taps, reductions in between. */
SMP_TEST(random_chains)
{
    enum { CHAINS = 400 };
    smp_device *cpu = device("cpu", NULL), *simt = device("simt", NULL);
    uint64_t seed = 20261121;
    size_t fewer = 0;
    for (int chain = 0; chain < CHAINS; chain++) {
        const char *lines[MOST];
        size_t count = 1 + case_random(&seed) % MOST;
        for (size_t i = 0; i < count; i++)
            lines[i] =
                case_random(&seed) % 5 ? points[case_random(&seed) % POINTS] : others[case_random(&seed) % OTHERS];
        if (!strcmp(lines[count - 1], "light linear")) /* of nothing */
            lines[count - 1] = "gamma 2";
        const smp_shape shape =
            case_shape(20 + case_random(&seed) % 50, 1 + case_random(&seed) % 20,
                       1 + (int)(case_random(&seed) % CHANNELS), (smp_format)(case_random(&seed) % SMP_FORMATS));
        const bool gpu = chain % 4 == 0;
        fewer += same(lines, count, &shape, chain % 3 ? CASE_REALS : CASE_ANY, chain % 8 == 1, gpu ? simt : cpu,
                      chain % 5 == 2 ? "naive" : NULL, chain % 3 ? 0 : 7);
    }
    assert_true(fewer > CHAINS);
    smp_device_close(cpu);
    smp_device_close(simt);
}

/* ---------------------------------------------------------------------------------------------- what is joined */

/* The labels of the plan's steps, source and all. */
static void assert_steps(const char *const *lines, size_t count, const smp_shape *shape, const char *want)
{
    char got[1000] = "";
    smp_program *program = parse_lines(lines, count);
    assert_non_null(program);
    smp_plan *plan = plan_of(program, shape, false, true);
    for (size_t i = 0, used = 0; i < plan->step_count && used < sizeof got; i++)
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%s", i ? ", " : "", plan->steps[i].label);
    assert_string_equal(got, want);
    smp_plan_free(plan);
    smp_program_free(program);
}
#define STEPS(shape, want, ...)                                                                                        \
    do {                                                                                                               \
        const char *const lines_[] = {__VA_ARGS__};                                                                    \
        assert_steps(lines_, sizeof lines_ / sizeof lines_[0], shape, want);                                           \
    } while (0)

SMP_TEST(neighbours_become_one_step)
{
    const smp_shape bytes = case_shape(16, 16, 3, SMP_U8), alpha = case_shape(16, 16, 4, SMP_U8);
    STEPS(&bytes, "(input), invert", "invert");
    STEPS(&bytes, "(input), invert + threshold", "invert", "threshold");
    STEPS(&bytes, "(input), levels white=50% + gamma 2 + threshold", "levels white=50%", "gamma 2", "threshold");
    STEPS(&alpha, "(input), levels white=50% + threshold", "levels white=50%", "threshold");
    STEPS(&bytes, "(input), (srgb_decode) + levels white=50% + (srgb_encode)", "light linear", "levels white=50%");
}

SMP_TEST(what_others_read_stays)
{
    const smp_shape bytes = case_shape(16, 16, 3, SMP_U8);
    STEPS(&bytes, "(input), invert, stats, threshold", "invert", "stats", "threshold");
    STEPS(&bytes, "(input), invert -> @a, gamma 2, subtract by=@a", "invert -> @a", "gamma 2", "subtract by=@a");
    STEPS(&bytes, "(input), (measure) levels auto, levels auto, invert", "levels auto", "invert");
    STEPS(&bytes, "(input), gray, levels white=50% + threshold", "gray", "levels white=50%", "threshold");
}

/* Operations that rise up to a step are one step; its program and that of the single operations agree on every kind of
 * float. */
SMP_TEST(steps_swallow_what_rises_before_them)
{
    const smp_sample_op line = SMP_SAMPLE_OP(levels_line, .black = 12.75f, .scale = 1.8181819f, .top = 255);
    const smp_sample_op falls = SMP_SAMPLE_OP(levels_line, .black = 255, .scale = -1.5f, .top = 255);
    const smp_sample_op step = SMP_SAMPLE_OP(threshold_step, .level = 102, .white = 255);
    const smp_sample_op never = SMP_SAMPLE_OP(threshold_step, .level = 255.5f, .white = 255);
    const smp_sample_op always = SMP_SAMPLE_OP(threshold_step, .level = -1, .white = 255);
    const smp_sample_op negative = SMP_SAMPLE_OP(invert, .white = 255);
    const struct {
        smp_op_chain map;
        int count;
    } cases[] = {
        {{2, {line, step}}, 1},           {{4, {line, line, step, negative}}, 2},
        {{3, {line, step, step}}, 1},     {{2, {line, never}}, 1},
        {{2, {line, always}}, 1},         {{2, {falls, step}}, 2},
        {{3, {negative, line, step}}, 3}, {{2, {step, line}}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_op_chain map = cases[i].map;
        uint64_t seed = i;
        smp_op_chain_shorten(&map);
        assert_int_equal(map.count, cases[i].count);
        for (int k = 0; k < 200000; k++) {
            const uint32_t r = case_random(&seed);
            /* any bits; values about the codes; floats next to each other about the step that came out */
            const float v = k % 3 == 0   ? smp_from_bits(r)
                            : k % 3 == 1 ? (float)(r % 512) - 100 + (float)(r >> 16) / 65536
                                         : smp_from_bits((uint32_t)map.op[0].params[0] + r % 64 - 32);
            const float want = smp_op_chain_sample(&cases[i].map, v, 0), got = smp_op_chain_sample(&map, v, 0);
            if (smp_bits(want) != smp_bits(got))
                fail_msg("case %zu: %a gives %a, not %a", i, (double)v, (double)got, (double)want);
        }
    }
}

/* A program has so many operations, and no more; the rest is a second step. Where the statements are too long for a
 * label, their stages are named. */
SMP_TEST(long_runs_are_cut)
{
    const smp_shape bytes = case_shape(16, 16, 1, SMP_U8);
    STEPS(&bytes,
          "(input), invert + invert + invert + invert + invert + invert + invert + invert, levels + levels + levels",
          "invert", "invert", "invert", "invert", "invert", "invert", "invert", "invert",
          "levels black=10% white=50% gamma=1.5", "levels black=10% white=50% gamma=1.5",
          "levels black=10% white=50% gamma=1.5");
}

/* There are no kernels from one format of integers to another. */
SMP_TEST(depths_of_integers_are_not_joined)
{
    const smp_shape bytes = case_shape(16, 16, 1, SMP_U8);
    STEPS(&bytes, "(input), invert, depth 16bit", "invert", "depth 16bit");
    STEPS(&bytes, "(input), invert + depth float", "invert", "depth float");
}
