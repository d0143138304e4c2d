/* Colour spaces of pictures that meet in a stage, or go to a file. */
#pragma once

#include "pipe/plan/plan.h"

/* Whether the values of two pictures stand for other colours; the names of both, for messages. False where one of them
 * is gray and the other is not. */
bool smp_colours_differ(const smp_shape *a, const smp_shape *b, char a_name[64], char b_name[64]);

/* Whether what a step gives is light by its file's format (not by an ICC profile, which the output may keep), so that a
 * file of integers should hold it encoded. */
bool smp_step_is_light(const smp_plan *plan, const smp_shape *input, int step);

/* A stage that does not work on such an input. */
smp_code smp_check_kind(const smp_node *node, const smp_shape *in, smp_error *err);
