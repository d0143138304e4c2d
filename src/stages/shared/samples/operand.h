/* Shared by stages that combine a picture with a second one, or with a number: a check that the two fit, kernel
 * parameters, variants. */
#pragma once

#include "elementwise/arithmetic.h"
#include "stages/stage.h"

/* Fills work for `operation`. operand.value is a fraction of full scale. by: the tap's shape, null without one. Errors
 * (SMP_E_PIPE): the two differ in kind, size, rate or channels; the message names both shapes. */
smp_code smp_plan_arithmetic(smp_operation operation, const smp_operand *operand, double opacity, const smp_shape *in,
                             const smp_shape *by, smp_node_plan *work, smp_error *err);

extern const smp_variant smp_arithmetic_variants[];

/* Fields of the stages that have this operand alone as parameter. */
#define SMP_ARITHMETIC_STAGE(table)                                                                                    \
    .domain = SMP_BOTH, .access = SMP_POINT, .traits = SMP_TRAIT_KEEPS_ALPHA, SMP_PARAMS(table, smp_operand),          \
    .variants = smp_arithmetic_variants

/* The `by` parameter of a stage whose parameter struct begins with an smp_operand. */
#define SMP_OPERAND_PARAM(help) SMP_OPERAND_PARAM_OF(help, 0)
/* The same of stages to whom a number is a level, and not a factor. */
#define SMP_OPERAND_LEVEL(help) SMP_OPERAND_PARAM_OF(help, SMP_P_LEVEL)
#define SMP_OPERAND_PARAM_OF(help, flags)                                                                              \
    {                                                                                                                  \
        "by", 0, SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL, help, NULL, SMP_P_MAIN | SMP_P_REQUIRED | (flags)       \
    }

/* A parameter of stages whose second picture must be as large as the first. */
#define SMP_OPERAND_FIT(params)                                                                                        \
    SMP_PARAM_OF(params, "fit", fit, ENUM, NONE, 0, 0, "none",                                                         \
                 "how a second picture of another size gets this one's: cover keeps its middle, stretch all of it; "   \
                 "none: it is refused",                                                                                \
                 smp_operand_fit_words, 0)
extern const char *const smp_operand_fit_words[];
/* Wishes (smp_node_plan.second) for a second picture that fits. False: it does as it is, or none is wished. */
bool smp_operand_fits(int fit, const smp_shape *in, const smp_shape *by, smp_node_plan *work);

/* Paragraph for `about`. */
#define SMP_OPERAND_ABOUT                                                                                              \
    "\nThe second picture has the same size; its values are scaled when it has other bits (255 of 8 bits is 65535 of " \
    "16). "                                                                                                            \
    "With one colour channel it serves every channel. A number is a fraction of full scale: 0.5 and 50% are the "      \
    "same. Alpha "                                                                                                     \
    "stays as the first picture has it. What leaves the range is clamped once, when the result is stored, and "        \
    "counted. NaN "                                                                                                    \
    "in either gives NaN."
