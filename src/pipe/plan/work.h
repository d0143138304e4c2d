/* Estimates the work of a pipeline before anything runs. */
#pragma once

#include "pipe/plan/plan.h"

/* Arithmetic operations that the stages take for a picture of that shape, as smp_node_plan.ops counts them; 0: it
 * cannot be planned alone. output: a path, or null. */
double smp_program_operations(const smp_program *program, const smp_shape *shape, const char *output);
