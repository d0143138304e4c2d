/* A second picture of any size is kept whole, and the first one streams all the same. */
#include "suite.h"

#include "matrix_case.h"

static smp_code probe(void *context, const smp_operand_file *file, smp_shape *shape, int *orientation, smp_error *err)
{
    (void)context, (void)file, (void)err;
    *shape = case_shape(7, 500, 3, SMP_U8);
    *orientation = 1;
    return SMP_OK;
}

static smp_plan *plan_of(const char *const *lines, size_t count, smp_program **program)
{
    smp_plan *plan = NULL;
    smp_error err = {0};
    *program = parse_lines(lines, count);
    assert_non_null(*program);
    const smp_plan_request ask = {.program = *program,
                                  .input = case_shape(40, 3000, 3, SMP_U8),
                                  .orientation = 1,
                                  .output = "memory",
                                  .accepts = accepts_all,
                                  .probe = probe};
    if (smp_plan_make(&ask, NULL, &plan, &err))
        fail_msg("%s", err.message);
    return plan;
}

/* The last of them: a stage that measures first is two steps. */
static const smp_step *step_named(const smp_plan *plan, const char *label)
{
    for (size_t i = plan->step_count; i-- > 0;)
        if (!strcmp(plan->steps[i].stage ? plan->steps[i].stage->name : plan->steps[i].label, label))
            return &plan->steps[i];
    fail_msg("there is no step %s", label);
    return NULL;
}

SMP_TEST(the_first_streams_and_the_second_is_kept)
{
    smp_program *program;
    smp_plan *plan = plan_of((const char *const[]){"gaussian 2px", "overlay \"logo.png\"", "box 3"}, 3, &program);
    assert_true(step_named(plan, "(logo.png)")->frame);
    assert_int_equal(step_named(plan, "(logo.png)")->phase, 0);
    for (const char *const *label = (const char *const[]){"(input)", "gaussian", "overlay", "box", NULL}; *label;
         label++) {
        assert_false(step_named(plan, *label)->frame);
        assert_int_equal(step_named(plan, *label)->phase, 1);
    }
    smp_plan_free(plan);
    smp_program_free(program);
}

SMP_TEST(what_both_come_from_is_kept)
{
    smp_program *program;
    smp_plan *plan = plan_of((const char *const[]){"box 3 -> @soft", "sobel -> @edges", "from @soft", "overlay @edges"},
                             4, &program);
    assert_true(step_named(plan, "box")->frame); /* of it the second is made, before the first is laid on */
    assert_true(step_named(plan, "sobel")->frame);
    assert_false(step_named(plan, "(input)")->frame);
    smp_plan_free(plan);
    smp_program_free(program);
}

SMP_TEST(a_measured_picture_waits_for_what_was_found)
{
    smp_program *program;
    smp_plan *plan = plan_of((const char *const[]){"equalize", "overlay \"logo.png\""}, 2, &program);
    assert_true(step_named(plan, "(input)")->frame); /* it is measured in the first phase */
    assert_int_equal(step_named(plan, "equalize")->phase, 1);
    assert_false(step_named(plan, "equalize")->frame);
    smp_plan_free(plan);
    smp_program_free(program);
}
